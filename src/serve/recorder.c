// SPDX-License-Identifier: BSD-2-Clause
#include "recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <core/vec.h>
#include <store/rundir.h>
#include <store/writer.h>

#include "page.h"
#include "ring_files.h"

#define SEGMENTS 8 /* parts of a level's size: a segment ends when it has one */
#define RETRY_NS 1000000000ULL /* after an error */
#define PAGE 4096
#define NAME 32

static const struct level {
	const char *name;
	uint64_t keep_ns, segment_ns;
	unsigned int share; /* of the size, in quarters */
} levels[RECORDER_LEVELS] = {
	[RECORDER_FINE] = { "fine-", 300000000000ULL, 30000000000ULL, 1 },
	[RECORDER_COARSE] = { "coarse-", 3600000000000ULL, 300000000000ULL, 3 },
};

/* A segment that is on the disk. Times since the window opened. */
struct segment {
	uint64_t number, start_ns, end_ns, bytes;
};

/* Of one probe, as struct run_why has them. */
struct why_totals {
	uint64_t slow, slow_ns, sent, dropped, over_low_ns, over_high_ns;
};

struct ring {
	const struct level *level;
	uint64_t most; /* bytes */
	struct segment *all; /* owned; oldest first; the last one is being written if `dir` is */
	size_t nr;
	uint64_t number; /* of the last segment */
	int dir; /* of the segment that is being written; -1: none */
	char at[NAME]; /* its path for the writer */
	struct writer writer;
	struct why_totals why[RUN_PROBES]; /* of the segment that is being written */
	uint64_t retry_ns; /* after an error: when to go on */
};

struct recorder {
	struct run *run;
	struct recording *recording;
	struct ring rings[RECORDER_LEVELS];
	struct run_data sum[RUN_PROBES]; /* the coarse interval so far */
	uint64_t sum_start_ns, sum_end_ns;
	struct why_totals why[RUN_PROBES]; /* since the window opened, as of the last interval */
	unsigned int generation; /* sum of those of the probes */
	bool has_sum, is_summed; /* it has begun, it is complete */
	uint64_t lost;
	int err;
};

const char *recorder__level(enum recorder_level level)
{
	return levels[level].name;
}

/* What the page of a service that was killed has left. */
static void clean_ring(int parent, const char *name)
{
	int ring = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (ring < 0)
		return;
	ring_files__delete(ring, PAGE_SNAPSHOT, false);
	close(ring);
}

/* Deletes what does not fit into half of the size, oldest first. Returns the bytes of the rest. */
static uint64_t delete_rings(const struct rundir *rundir, uint64_t bytes)
{
	struct ring_name *names;
	long nr = ring_files__list(rundir->parent, NULL, "-" RECORDER_LABEL, &names);
	uint64_t size, sum = 0;

	while (nr-- > 0) {
		if (!strcmp(names[nr].name, rundir->name))
			continue;
		clean_ring(rundir->parent, names[nr].name);
		size = ring_files__size(rundir->parent, names[nr].name, true);
		if (sum + size > bytes / 2)
			ring_files__delete(rundir->parent, names[nr].name, true);
		else
			sum += size;
	}
	free(names);
	return sum;
}

int recorder__new(struct recorder **out, struct run *run, struct recording *recording,
		  const char *parent, uint64_t bytes)
{
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	int err;

	if (!recorder)
		return -ENOMEM;
	err = rundir__create(&recording->rundir, parent, time(NULL), RECORDER_LABEL, recording->dir,
			     sizeof(recording->dir));
	if (err) {
		recording->dir[0] = '\0';
		free(recorder);
		return err;
	}
	bytes -= delete_rings(&recording->rundir, bytes);
	recorder->run = run;
	recorder->recording = recording;
	for (unsigned int i = 0; i < RECORDER_LEVELS; i++) {
		recorder->rings[i].level = &levels[i];
		recorder->rings[i].most = bytes / 4 * levels[i].share;
		recorder->rings[i].dir = -1;
	}
	*out = recorder;
	return 0;
}

void recorder__free(struct recorder *recorder)
{
	if (!recorder)
		return;
	for (unsigned int i = 0; i < RUN_PROBES; i++)
		run__clear_data(&recorder->sum[i]);
	for (unsigned int i = 0; i < RECORDER_LEVELS; i++)
		free(recorder->rings[i].all);
	free(recorder);
}

static void name_segment(const struct ring *ring, uint64_t number, char name[NAME])
{
	snprintf(name, NAME, "%s%06llu", ring->level->name, (unsigned long long)number);
}

static void delete_first(const struct recorder *recorder, struct ring *ring)
{
	char name[NAME];

	name_segment(ring, ring->all[0].number, name);
	ring_files__delete(recorder->recording->rundir.fd, name, false);
	memmove(ring->all, ring->all + 1, --ring->nr * sizeof(*ring->all));
}

/* Makes room for one more segment. */
static void delete_old(const struct recorder *recorder, struct ring *ring, uint64_t now)
{
	uint64_t bytes = ring->most / SEGMENTS;

	for (size_t i = 0; i < ring->nr; i++)
		bytes += ring->all[i].bytes;
	while (ring->nr &&
	       (bytes > ring->most || ring->all[0].end_ns + ring->level->keep_ns <= now)) {
		bytes -= ring->all[0].bytes;
		delete_first(recorder, ring);
	}
}

/* ---- why: a segment has what came in its intervals ---- */

static struct why_totals totals_of(const struct run_why *why)
{
	return (struct why_totals){ why->slow,	  why->slow_ns,	    why->sent,
				    why->dropped, why->over_low_ns, why->over_high_ns };
}

static void set_totals(struct run_why *why, const struct why_totals *totals)
{
	why->slow = totals->slow;
	why->slow_ns = totals->slow_ns;
	why->sent = totals->sent;
	why->dropped = totals->dropped;
	why->over_low_ns = totals->over_low_ns;
	why->over_high_ns = totals->over_high_ns;
}

/* All rows of an interval have one threshold. */
static void add_threshold(struct why_totals *to, const struct table *parts)
{
	uint64_t over;

	if (!table__rows(parts))
		return;
	over = (uint64_t)table__value(parts, 0, WHY_OVER_NS).integer;
	if (!to->over_low_ns || over < to->over_low_ns)
		to->over_low_ns = over;
	if (over > to->over_high_ns)
		to->over_high_ns = over;
}

static void add_gains(const struct recorder *recorder, struct ring *ring)
{
	for (unsigned int i = 0; i < recorder->run->nr_probes; i++) {
		const struct run_why *why = recorder->run->probes[i].why;
		const struct why_totals *before = &recorder->why[i];
		struct why_totals *to = &ring->why[i];

		if (!why)
			continue;
		to->slow += why->slow - before->slow;
		to->slow_ns += why->slow_ns - before->slow_ns;
		to->sent += why->sent - before->sent;
		to->dropped += why->dropped - before->dropped;
		add_threshold(to, why->parts);
	}
}

static void exchange_totals(struct run *run, struct why_totals totals[RUN_PROBES])
{
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		struct run_why *why = run->probes[i].why;
		struct why_totals before;

		if (!why)
			continue;
		before = totals_of(why);
		set_totals(why, &totals[i]);
		totals[i] = before;
	}
}

/* What a segment says of itself differs from what the run says. */
struct head {
	char start_utc[RUN_NAME];
	uint64_t start_mono_ns, duration_ns;
	bool complete;
};

static struct head exchange(struct run *run, const struct head *head)
{
	struct head before = { .start_mono_ns = run->start_mono_ns,
			       .duration_ns = run->duration_ns,
			       .complete = run->complete };

	memcpy(before.start_utc, run->start_utc, sizeof(before.start_utc));
	memcpy(run->start_utc, head->start_utc, sizeof(run->start_utc));
	run->start_mono_ns = head->start_mono_ns;
	run->duration_ns = head->duration_ns;
	run->complete = head->complete;
	return before;
}

static int end_segment(struct recorder *recorder, struct ring *ring)
{
	struct segment *segment = &ring->all[ring->nr - 1];
	struct run *run = recorder->run;
	struct head head = { .start_mono_ns = run->start_mono_ns + segment->start_ns,
			     .duration_ns = segment->end_ns - segment->start_ns,
			     .complete = true };
	int err;

	if (ring->dir < 0)
		return 0;
	head = exchange(run, &head);
	exchange_totals(run, ring->why);
	err = ring->writer.ops->close(&ring->writer, run);
	exchange_totals(run, ring->why);
	exchange(run, &head);
	segment->bytes = ring_files__size(ring->dir, ".", false);
	close(ring->dir);
	ring->dir = -1;
	return err;
}

static int open_segment(struct recorder *recorder, struct ring *ring, const char *name,
			uint64_t start_ns)
{
	struct run *run = recorder->run;
	struct head head = { .start_mono_ns = run->start_mono_ns + start_ns };
	int parent = recorder->recording->rundir.fd, err;

	if (mkdirat(parent, name, 0700))
		return -errno;
	ring->dir = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (ring->dir < 0)
		return -errno;
	snprintf(ring->at, sizeof(ring->at), "/proc/self/fd/%d", ring->dir);
	/* Twenty syncs per segment would delay what it measures. */
	ring->writer = (struct writer){ .ops = &writer_db,
					.dir = ring->at,
					.no_sync = true,
					.log_pages = (int)(ring->most / SEGMENTS / 4 / PAGE) };
	rundir__utc(time(NULL), head.start_utc, sizeof(head.start_utc));
	head = exchange(run, &head);
	err = ring->writer.ops->open(&ring->writer, run);
	exchange(run, &head);
	if (err) {
		close(ring->dir);
		ring->dir = -1;
	}
	return err;
}

static int begin_segment(struct recorder *recorder, struct ring *ring, uint64_t start_ns)
{
	struct segment *grown;
	char name[NAME];
	int err;

	delete_old(recorder, ring, start_ns);
	grown = vec__grow(ring->all, ring->nr, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	ring->all = grown;
	name_segment(ring, ++ring->number, name);
	err = open_segment(recorder, ring, name, start_ns);
	if (err) {
		ring_files__delete(recorder->recording->rundir.fd, name, false);
		return err;
	}
	ring->all[ring->nr++] = (struct segment){ ring->number, start_ns, start_ns, 0 };
	memset(ring->why, 0, sizeof(ring->why));
	return 0;
}

static int write_interval(struct recorder *recorder, struct ring *ring,
			  const struct run_interval *interval)
{
	struct run_interval own = *interval;
	struct segment *segment;
	int err = 0;

	if (ring->dir < 0)
		err = begin_segment(recorder, ring, interval->start_ns);
	if (err)
		return err;
	segment = &ring->all[ring->nr - 1];
	own.start_ns -= segment->start_ns;
	own.end_ns -= segment->start_ns;
	own.rows_ns = segment->start_ns;
	err = ring->writer.ops->interval(&ring->writer, recorder->run, &own);
	if (!err) {
		segment->end_ns = interval->end_ns;
		add_gains(recorder, ring);
	}
	segment->bytes = ring_files__size(ring->dir, ".", false);
	return err;
}

/* The disk may be full: the oldest segment gives way. */
static void recover(struct recorder *recorder, struct ring *ring, uint64_t now)
{
	if (ring->dir >= 0)
		end_segment(recorder, ring);
	if (ring->nr > 1)
		delete_first(recorder, ring);
	ring->retry_ns = now + RETRY_NS;
}

/* `may_end`: the segment may end here. */
static void add_to(struct recorder *recorder, struct ring *ring,
		   const struct run_interval *interval, bool may_end)
{
	const struct segment *segment;
	int err = recorder->err;

	if (interval->end_ns < ring->retry_ns) {
		recorder->lost++;
		return;
	}
	err = write_interval(recorder, ring, interval);
	recorder->err = err;
	if (err) {
		recorder->lost++;
		recover(recorder, ring, interval->end_ns);
		return;
	}
	segment = &ring->all[ring->nr - 1];
	if (may_end && (segment->end_ns - segment->start_ns >= ring->level->segment_ns ||
			segment->bytes >= ring->most / SEGMENTS))
		recorder->err = end_segment(recorder, ring);
}

static int add_up(struct recorder *recorder, const struct run_interval *interval)
{
	int err = 0;

	if (!recorder->has_sum)
		recorder->sum_start_ns = interval->start_ns;
	recorder->has_sum = true;
	for (unsigned int i = 0; !err && i < recorder->run->nr_probes; i++)
		err = run__add_data(&recorder->sum[i], &interval->delta[i]);
	return err;
}

static void forget_sum(struct recorder *recorder)
{
	for (unsigned int i = 0; i < recorder->run->nr_probes; i++)
		run__zero_data(&recorder->sum[i]);
	recorder->has_sum = recorder->is_summed = false;
}

static void end_sum(struct recorder *recorder)
{
	const struct run_interval sum = { .start_ns = recorder->sum_start_ns,
					  .end_ns = recorder->sum_end_ns,
					  .delta = recorder->sum };

	add_to(recorder, &recorder->rings[RECORDER_COARSE], &sum, true);
	recorder->is_summed = true;
}

static unsigned int generation(const struct run *run)
{
	unsigned int sum = 0;

	for (unsigned int i = 0; i < run->nr_probes; i++)
		sum += run->probes[i].generation;
	return sum;
}

/* A segment knows keys by their positions, which have changed: new segments begin. */
static void forget_keys(struct recorder *recorder)
{
	if (recorder->has_sum)
		end_sum(recorder);
	recorder__end(recorder);
	for (unsigned int i = 0; i < RUN_PROBES; i++)
		run__clear_data(&recorder->sum[i]);
	forget_sum(recorder);
	recorder->generation = generation(recorder->run);
}

int recorder__add(struct recorder *recorder, const struct run_interval *interval, bool whole)
{
	int err;

	if (recorder->is_summed)
		forget_sum(recorder);
	if (generation(recorder->run) != recorder->generation)
		forget_keys(recorder);
	err = add_up(recorder, interval);
	if (err)
		return err;
	add_to(recorder, &recorder->rings[RECORDER_FINE], interval, whole);
	recorder->sum_end_ns = interval->end_ns;
	if (whole)
		end_sum(recorder);
	for (unsigned int i = 0; i < recorder->run->nr_probes; i++)
		if (recorder->run->probes[i].why)
			recorder->why[i] = totals_of(recorder->run->probes[i].why);
	return 0;
}

const struct run_data *recorder__sum(const struct recorder *recorder, uint64_t *start_ns)
{
	*start_ns = recorder->sum_start_ns;
	return recorder->sum;
}

void recorder__end(struct recorder *recorder)
{
	if (recorder->has_sum && !recorder->is_summed)
		end_sum(recorder);
	for (unsigned int i = 0; i < RECORDER_LEVELS; i++)
		if (recorder->rings[i].dir >= 0)
			end_segment(recorder, &recorder->rings[i]);
}

struct recorder_state recorder__state(const struct recorder *recorder)
{
	struct recorder_state state = { .lost = recorder->lost, .err = recorder->err };

	for (unsigned int i = 0; i < RECORDER_LEVELS; i++) {
		const struct ring *ring = &recorder->rings[i];

		for (size_t j = 0; j < ring->nr; j++)
			state.bytes += ring->all[j].bytes;
		if (ring->nr)
			state.span_ns[i] = ring->all[ring->nr - 1].end_ns - ring->all[0].start_ns;
	}
	return state;
}
