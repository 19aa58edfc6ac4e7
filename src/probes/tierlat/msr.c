// SPDX-License-Identifier: BSD-2-Clause
/*
 * Reads and writes the registers of the CHAs through /dev/cpu/N/msr. Nothing arbitrates them, so
 * the found state is saved and restored, and registers that another program uses are left alone.
 * All controls are read with the counters: a program that takes them later is noticed at the next
 * read.
 */
#include "msr.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <host/restore.h>

typedef int visit_box(struct tier *tier, const struct msr_socket *socket, struct msr_box *box);

/* Calls a function for all boxes of all sockets until it returns other than 0. */
static int each_box(struct tier *tier, visit_box *visit)
{
	struct msr *msr = tier->state;
	int err = 0;

	for (unsigned int i = 0; !err && i < tier->nr_sockets; i++) {
		for (unsigned int b = 0; !err && b < tier->sockets[i].nr_boxes; b++)
			err = visit(tier, &msr->sockets[i], &msr->sockets[i].boxes[b]);
	}
	return err;
}

static int refuse_running(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	int counter = msr_box__running(tier, box);
	const struct msr *msr = tier->state;

	(void)socket;
	if (counter < 0)
		return 0;
	if (msr->left)
		return tier__fail(tier, -EBUSY,
				  "reset them by latscope tierlat --reset, unless perf uses them",
				  "a killed latscope left the CHAs programmed");
	return tier__fail(tier, -EBUSY, "end the program that uses it (perf, pcm), or use --take",
			  "counter %d of CHA %u is in use, its control is 0x%llx", counter, box->id,
			  (unsigned long long)box->registers[counter].found);
}

/*
 * Reads all boxes before it writes the first: a refusal changes nothing. What a killed latscope
 * left is not worth restoring: the power-on state is restored instead.
 */
static int keep_all(struct tier *tier, struct msr *msr)
{
	int err;

	err = each_box(tier, msr_box__keep);
	if (err)
		return err;
	msr->left = msr__is_left(tier);
	if (msr->left && tier->config.look)
		err = msr__lock(tier); /* a running one holds the lock */
	if (err)
		return err;
	if (!tier->config.take)
		err = each_box(tier, refuse_running);
	return err || !msr->left ? err : each_box(tier, msr_box__forget);
}

int msr__reset(struct tier *tier, char done[TIER_TEXT])
{
	const struct msr *msr = tier->state;
	unsigned int boxes = 0, running = 0;
	int err;

	err = each_box(tier, msr_box__keep);
	if (err)
		return err;
	for (unsigned int i = 0; i < tier->nr_sockets; i++)
		for (unsigned int b = 0; b < tier->sockets[i].nr_boxes; b++, boxes++)
			running += msr_box__running(tier, &msr->sockets[i].boxes[b]) >= 0;
	err = each_box(tier, msr_box__reset);
	if (err)
		return err;
	snprintf(done, TIER_TEXT,
		 "reset %u CHA%s on %u socket%s: all off, filters and counts as after power-on; "
		 "%u counted%s",
		 boxes, boxes == 1 ? "" : "s", tier->nr_sockets, tier->nr_sockets == 1 ? "" : "s",
		 running,
		 !running	      ? ""
		 : msr__is_left(tier) ? ", as a latscope that was killed left them"
				      : ", as another program had set them");
	return 0;
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
					   "CHA %u (CPU %u) could not be restored: %s", box->id,
					   socket->cpus[socket->at], msr__text(err));
	}
	return first;
}

/*
 * Runs in the restoring process, after this one was killed or failed. It has its own descriptors;
 * the rest of the memory is shared.
 */
static int undo(void *arg)
{
	struct tier *tier = arg;
	struct msr *msr = tier->state;
	int first = 0, err;

	for (unsigned int i = 0; i < tier->nr_sockets; i++) {
		msr__forget_files(&msr->sockets[i]);
		msr__next_cpu(tier, &msr->sockets[i]);
		err = restore_socket(tier, &msr->sockets[i], tier->sockets[i].nr_boxes);
		first = first ? first : err;
	}
	return first;
}

static const struct restore_ops restore_ops = { .undo = undo };

static int msr__start(struct tier *tier)
{
	struct msr *msr = tier->state;
	int err;

	err = keep_all(tier, msr);
	if (err || tier->config.look)
		return err;
	if (tier->config.restore)
		err = restore__begin(&msr->restore, &restore_ops, tier);
	if (err)
		tier__fail(tier, err, NULL,
			   "cannot start the process that restores the "
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

static int is_in_use(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	(void)tier, (void)socket;
	return !box->lost && !box->reset;
}

static int msr__read(struct tier *tier)
{
	unsigned int good = 0;
	int err, last = 0;

	for (unsigned int i = 0; i < tier->nr_sockets; i++) {
		err = read_socket(tier, i, &good);
		last = err ? err : last;
	}
	if (!each_box(tier, is_in_use))
		return tier__fail(tier, -EBUSY, "end the program that uses them (perf, pcm)",
				  "another program reprogrammed or reset every CHA");
	return good || !last ? 0 : tier__fail(tier, last, NULL, "%s", tier__say(tier));
}

static void msr__reject(struct tier *tier, unsigned int socket, unsigned int box, const char *what,
			const char *number)
{
	struct msr *msr = tier->state;

	msr_box__reject(tier, &msr->sockets[socket], &msr->sockets[socket].boxes[box], what,
			number);
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
		msr__close_files(tier, socket);
	}
	/* The restoring process has its own descriptors and retries. */
	if (msr->restore)
		first = restore__end(msr->restore, !first);
	if (msr->lock >= 0)
		tier->sys->close(msr->lock);
	munmap(msr, sizeof(*msr));
	return first;
}

static void msr__describe(const struct tier *tier, char text[TIER_TEXT])
{
	const struct msr *msr = tier->state;

	snprintf(text, TIER_TEXT,
		 "registers of the CHAs through %.48s/N/msr, each CHA frozen during its "
		 "read, its controls checked%s",
		 msr__device_root(tier),
		 msr->left ? "; a killed latscope left them programmed; reset at the end" : "");
}

const struct tier_method_ops tier_msr = {
	.name = "msr",
	.describe = msr__describe,
	.find = msr__find,
	.start = msr__start,
	.read = msr__read,
	.reject = msr__reject,
	.close = msr__close,
};
