// SPDX-License-Identifier: BSD-2-Clause
/*
 * The registers of the CHAs, read and written through /dev/cpu/N/msr. Nobody arbitrates them: what
 * is found is kept and put back, who has them already is not disturbed, and who takes them later is
 * noticed at the next read, as all controls are read with the counters.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "guard.h"
#include "msr.h"

/* All are looked at before the first is touched: a refusal leaves no trace. */
static int keep_all(struct tier *tier, struct msr *msr)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < tier->nr_sockets; i++) {
		for (unsigned int b = 0; !err && b < tier->sockets[i].nr_boxes; b++)
			err = msr_box__keep(tier, &msr->sockets[i], &msr->sockets[i].boxes[b]);
	}
	return err;
}

static int restore_socket(struct tier *tier, struct msr_socket *socket, unsigned int boxes)
{
	int first = 0, err;

	for (unsigned int b = 0; b < boxes; b++) {
		struct msr_box *box = &socket->boxes[b];

		if (!box->touched)
			continue;
		err = msr_box__restore(tier, socket, box);
		if (err == -ENXIO && !msr__next_cpu(tier, socket))
			err = msr_box__restore(tier, socket, box);
		box->touched = err;
		if (err && !first)
			first = tier__fail(tier, err, "the registers are as latscope had set them",
					   "CHA %u (CPU %u) could not be put back: %s", box->id,
					   socket->cpus[socket->at], msr__text(err));
	}
	return first;
}

/* In a process of its own, after ours was killed: descriptors are not shared, all else is. */
static void undo(void *arg)
{
	struct tier *tier = arg;
	struct msr *msr = tier->state;

	for (unsigned int i = 0; i < tier->nr_sockets; i++) {
		msr->sockets[i].fd = -1;
		if (!msr__next_cpu(tier, &msr->sockets[i]))
			restore_socket(tier, &msr->sockets[i], tier->sockets[i].nr_boxes);
	}
}

static int msr__start(struct tier *tier)
{
	struct msr *msr = tier->state;
	int err;

	err = keep_all(tier, msr);
	if (err || tier->config.look)
		return err;
	if (tier->config.guard)
		err = guard__begin(&msr->guard, undo, tier);
	if (err)
		tier__fail(tier, err, NULL,
			   "cannot start the process that would put back the "
			   "registers: %s",
			   strerror(-err));
	for (unsigned int i = 0; !err && i < tier->nr_sockets; i++) {
		struct msr_socket *socket = &msr->sockets[i];

		for (unsigned int b = 0; !err && b < tier->sockets[i].nr_boxes; b++)
			err = msr_box__start(tier, socket, &socket->boxes[b],
					     &tier->sockets[i].shares[b]);
	}
	return err;
}

static void note_failure(struct tier *tier, const struct msr_socket *socket,
			 const struct msr_box *box, int err)
{
	const struct msr *msr = tier->state;
	char what[TIER_TEXT];

	snprintf(what, sizeof(what), "cannot be %s: %s", msr->failed_write ? "written" : "read",
		 err == -ENXIO ? "the CPU went offline" : msr__text(err));
	tier__note(tier, what, "", "CHA %u (CPU %u)", box->id, socket->cpus[socket->at]);
}

static int read_socket(struct tier *tier, unsigned int i, unsigned int *good)
{
	struct msr *msr = tier->state;
	struct msr_socket *socket = &msr->sockets[i];
	struct tier_socket *of = &tier->sockets[i];
	int err, last = 0;

	for (unsigned int b = 0; b < of->nr_boxes; b++) {
		struct msr_box *box = &socket->boxes[b];
		struct tier_share *share = &of->shares[b];

		err = msr_box__read(tier, socket, box, share, &of->deltas[b]);
		if (err == -ENXIO && !msr__next_cpu(tier, socket))
			err = msr_box__read(tier, socket, box, share, &of->deltas[b]);
		if (err) {
			last = err;
			note_failure(tier, socket, box, err);
		}
		*good += of->deltas[b].valid;
	}
	return last;
}

static bool all_lost(const struct tier *tier)
{
	const struct msr *msr = tier->state;

	for (unsigned int i = 0; i < tier->nr_sockets; i++) {
		for (unsigned int b = 0; b < tier->sockets[i].nr_boxes; b++) {
			if (!msr->sockets[i].boxes[b].lost)
				return false;
		}
	}
	return true;
}

static int msr__read(struct tier *tier)
{
	unsigned int good = 0;
	int err, last = 0;

	for (unsigned int i = 0; i < tier->nr_sockets; i++) {
		err = read_socket(tier, i, &good);
		last = err ? err : last;
	}
	if (all_lost(tier))
		return tier__fail(tier, -EBUSY, "end what uses them (perf, pcm)",
				  "every CHA was reprogrammed by somebody else");
	return good || !last ? 0 : tier__fail(tier, last, NULL, "%s", tier__say(tier));
}

static int msr__close(struct tier *tier)
{
	struct msr *msr = tier->state;
	int first = 0, err;

	for (unsigned int i = 0; i < tier->nr_sockets; i++) {
		struct msr_socket *socket = &msr->sockets[i];

		if (!socket->nr_cpus)
			continue;
		err = restore_socket(tier, socket, tier->sockets[i].nr_boxes);
		first = first ? first : err;
		if (socket->fd >= 0)
			tier->sys->close(socket->fd);
	}
	guard__end(msr->guard);
	munmap(msr, sizeof(*msr));
	return first;
}

static void msr__describe(const struct tier *tier, char text[TIER_TEXT])
{
	snprintf(text, TIER_TEXT,
		 "registers of the CHAs through %.48s/N/msr, each frozen while it is read, its "
		 "controls checked with it",
		 tier->config.msr_root ? tier->config.msr_root : "/dev/cpu");
}

const struct tier_backend_ops tier_msr = {
	.name = "msr",
	.describe = msr__describe,
	.find = msr__find,
	.start = msr__start,
	.read = msr__read,
	.close = msr__close,
};
