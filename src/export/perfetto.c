// SPDX-License-Identifier: BSD-2-Clause
#include "export.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>
#include <core/why.h>

#include "counters.h"
#include "waits.h"

struct perfetto {
	struct packets packets;
	struct tracks *tracks;
	struct counters *counters;
	struct packet_args *args;
	const struct run *run;
	uint64_t groups[RUN_PROBES]; /* tracks; 0: the probe was refused */
};

static void make_groups(struct perfetto *perfetto)
{
	for (unsigned int i = 0; i < perfetto->run->nr_probes; i++) {
		const struct run_probe *probe = &perfetto->run->probes[i];
		const struct packet_track track = { .name = probe->name,
						    .what = probe->mechanism,
						    .ranks = true };

		if (!probe->refused[0])
			perfetto->groups[i] = packets__track(&perfetto->packets, &track);
	}
}

/* ---- slow events ---- */

/* Who made it wait in this part; WHY_PARTS: in all. */
static void add_culprits(struct packet_args *args, const struct why_slow *slow, const char *part)
{
	static const char *const names[WHY_CULPRITS] = { "culprit 1", "culprit 2", "culprit 3",
							 "culprit 4" };
	char ns[UNITS_TEXT];

	for (unsigned int i = 0; i < WHY_CULPRITS; i++) {
		const struct why_slow_culprit *culprit = &slow->culprits[i];

		if (culprit->name[0] && (!part || !strcmp(part, culprit->part)))
			packet_args__text(args, names[i], "%s: %s%s%s", culprit->name,
					  part ? "" : culprit->part, part ? "" : " ",
					  units__ns(ns, (double)culprit->ns));
	}
}

static void describe(struct perfetto *perfetto, const struct why_slow *slow)
{
	struct packet_args *args = perfetto->args;

	packet_args__clear(args);
	packet_args__number(args, "ns", (int64_t)slow->ns);
	packet_args__text(args, "process", "%s", slow->process);
	packet_args__text(args, "thread", "%s", slow->comm);
	packet_args__text(args, "cgroup", "%s", slow->cgroup);
	packet_args__number(args, "cpu", slow->cpu);
	if (slow->waker[0] && slow->waker_tid)
		packet_args__text(args, "waker", "%s (%" PRId64 ")", slow->waker, slow->waker_tid);
	else
		packet_args__text(args, "waker", "%s", slow->waker);
	add_culprits(args, slow, NULL);
	if (slow->op[0]) {
		packet_args__text(args, "disk", "%s", slow->disk);
		packet_args__text(args, "operation", "%s", slow->op);
		if (slow->sector != WHY_NO_SECTOR)
			packet_args__number(args, "sector", (int64_t)slow->sector);
		packet_args__number(args, "bytes", (int64_t)slow->bytes);
	}
	if (slow->stack_tid)
		packet_args__text(args, "stacks of", "%" PRId64 " (thread %" PRId64 ")",
				  slow->stack_pid, slow->stack_tid);
	packet_args__stack(args, "kernel stack", &perfetto->run->frames, 0, slow->kernel_stack);
	if (slow->stack_pid)
		packet_args__stack(args, "user stack", &perfetto->run->frames, slow->stack_pid,
				   slow->user_stack);
}

/*
 * One after the other within the event: they sum to it, and when it was in which is not recorded.
 */
static void put_parts(struct perfetto *perfetto, const struct run_why *why,
		      const struct why_slow *slow, struct packet_slice slice)
{
	int64_t end_ns = (int64_t)slow->time_ns, at_ns = end_ns - (int64_t)slow->ns;

	for (unsigned int i = 0; i < why->nr_parts; i++) {
		const struct why_part *part = why__part(why->probe, i);
		int64_t ns = (int64_t)slow->part_ns[i];

		if (ns <= 0 || at_ns >= end_ns)
			continue;
		packet_args__clear(perfetto->args);
		packet_args__number(perfetto->args, "ns", ns);
		packet_args__text(perfetto->args, "what", "%s", part->what ? part->what : "");
		add_culprits(perfetto->args, slow, part->name);
		slice.name = part->name;
		slice.args = perfetto->args;
		packets__slice_begin(&perfetto->packets, at_ns, &slice);
		at_ns = ns < end_ns - at_ns ? at_ns + ns : end_ns;
		packets__slice_end(&perfetto->packets, at_ns, slice.track);
	}
}

static void put_slow(struct perfetto *perfetto, unsigned int probe, size_t row)
{
	const struct run_why *why = perfetto->run->probes[probe].why;
	const struct why_words *words = why__words(why->probe);
	struct packet_slice slice = { .category = why->probe, .name = words->wait };
	uint64_t parent = perfetto->groups[probe];
	char name[2 * WHY_NAME];
	struct why_slow slow;
	int64_t end_ns, start_ns;

	why__read_slow(why, row, &slow);
	if (slow.ns > INT64_MAX)
		slow.ns = 0;
	end_ns = (int64_t)slow.time_ns;
	start_ns = end_ns - (int64_t)slow.ns;
	if (slow.pid > 0) {
		tracks__process(perfetto->tracks, slow.pid, slow.process);
		parent = tracks__thread(perfetto->tracks, slow.pid,
					slow.tid > 0 ? slow.tid : slow.pid, slow.comm);
	}
	snprintf(name, sizeof(name), "%s: %s", why->probe, words->waits);
	slice.track = tracks__lane(perfetto->tracks, parent, probe, name, start_ns, end_ns);
	if (slow.op[0]) {
		snprintf(name, sizeof(name), "%s %s", slow.disk, slow.op);
		slice.name = name;
	}
	describe(perfetto, &slow);
	slice.args = perfetto->args;
	packets__slice_begin(&perfetto->packets, start_ns, &slice);
	put_parts(perfetto, why, &slow, slice);
	packets__slice_end(&perfetto->packets, end_ns, slice.track);
}

/* ---- long waits ---- */

/* An arrow from the thread that ended the wait, and where it ends. */
static uint64_t put_waker(struct perfetto *perfetto, unsigned int probe, const struct wait *wait)
{
	struct packet_slice slice = { .category = perfetto->run->probes[probe].name };
	char name[2 * RUN_NAME];
	uint64_t parent;

	if (!wait->waker_tid || !wait->waker_pid)
		return 0;
	parent = tracks__thread(perfetto->tracks, wait->waker_pid, wait->waker_tid, wait->waker);
	snprintf(name, sizeof(name), "%s: waits of others that it ended",
		 perfetto->run->probes[probe].name);
	slice.track = tracks__lane(perfetto->tracks, parent, RUN_PROBES + probe, name, wait->end_ns,
				   wait->end_ns);
	snprintf(name, sizeof(name), "ended the wait of %s (%" PRId64 ")", wait->comm, wait->tid);
	slice.name = name;
	slice.flow_from = packets__new_flow(&perfetto->packets);
	packets__instant(&perfetto->packets, wait->end_ns, &slice);
	return slice.flow_from;
}

static void put_wait(struct perfetto *perfetto, unsigned int probe, const struct wait *wait)
{
	struct packet_slice slice = { .category = perfetto->run->probes[probe].name,
				      .name = wait->state };
	struct packet_args *args = perfetto->args;
	uint64_t parent = perfetto->groups[probe];
	char name[2 * RUN_NAME];

	if (wait->pid > 0 && wait->tid > 0)
		parent = tracks__thread(perfetto->tracks, wait->pid, wait->tid, wait->comm);
	snprintf(name, sizeof(name), "%s: long waits", perfetto->run->probes[probe].name);
	slice.track = tracks__lane(perfetto->tracks, parent, probe, name, wait->end_ns - wait->ns,
				   wait->end_ns);
	packet_args__clear(args);
	packet_args__number(args, "ns", wait->ns);
	packet_args__text(args, "thread", "%s", wait->comm);
	packet_args__text(args, "call", "%s", wait->call);
	packet_args__text(args, "chain", "%s", wait->chain);
	packet_args__stack(args, "kernel stack", &perfetto->run->frames, 0, wait->stack);
	slice.args = args;
	packets__slice_begin(&perfetto->packets, wait->end_ns - wait->ns, &slice);
	slice.flow_to = put_waker(perfetto, probe, wait);
	if (slice.flow_to) {
		snprintf(name, sizeof(name), "ended by %s (%" PRId64 ")", wait->waker,
			 wait->waker_tid);
		slice.name = name;
		slice.args = NULL;
		packets__instant(&perfetto->packets, wait->end_ns, &slice);
	}
	packets__slice_end(&perfetto->packets, wait->end_ns, slice.track);
}

/* ---- all ---- */

/* Counters first: the account knows the names of processes. */
static void put_interval(struct perfetto *perfetto, const struct run_interval *interval)
{
	const struct run *run = perfetto->run;

	counters__interval(perfetto->counters, interval);
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		const struct run_why *why = run->probes[i].why;
		const struct table *waits = run->probes[i].more[RUN_WAITS];
		struct waits columns;

		for (size_t row = 0; why && row < table__rows(why->events); row++)
			put_slow(perfetto, i, row);
		if (!waits__find(waits, &columns))
			continue;
		for (size_t row = 0; row < table__rows(waits); row++) {
			struct wait wait = waits__read(waits, &columns, row);

			put_wait(perfetto, i, &wait);
		}
	}
}

static int put_all(struct perfetto *perfetto, struct rundb *db)
{
	struct run_interval interval;
	int err = 0;

	rundb__rewind(db, false);
	while (!perfetto->packets.messages.err && (err = rundb__next(db, &interval)) > 0)
		put_interval(perfetto, &interval);
	if (err >= 0)
		counters__end(perfetto->counters);
	return err < 0 ? err : 0;
}

int export__perfetto(FILE *out, struct rundb *db, const struct run *run)
{
	struct perfetto perfetto = { .run = run, .args = packet_args__new() };
	int err = perfetto.args ? 0 : -ENOMEM, failed;

	packets__begin(&perfetto.packets, out, run);
	make_groups(&perfetto);
	if (!err)
		err = tracks__new(&perfetto.tracks, &perfetto.packets);
	if (!err)
		err = counters__new(&perfetto.counters, &perfetto.packets, perfetto.tracks, run,
				    perfetto.groups);
	if (!err)
		err = put_all(&perfetto, db);
	counters__free(perfetto.counters);
	tracks__free(perfetto.tracks);
	packet_args__free(perfetto.args);
	failed = packets__end(&perfetto.packets);
	return err ? err : failed;
}
