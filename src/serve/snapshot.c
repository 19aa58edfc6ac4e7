// SPDX-License-Identifier: BSD-2-Clause
#include "snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <core/clock.h>
#include <core/sparse.h>
#include <store/rundb.h>

#include "recorder.h"
#include "ring_files.h"

#define INTERVALS_AT_ONCE 20
#define WORK_NS 10000000ULL
#define SECONDS_APART 2000000000ULL /* else the end of the coarse level is not that of all */

/* The segments of a level, open by their directories: deleted ones can still be read. */
struct level {
	int *dirs;
	size_t nr, next;
};

struct snapshot {
	struct level levels[RECORDER_LEVELS];
	enum recorder_level level; /* of the segment that is being read */
	struct run *segment; /* what it says of itself */
	struct rundb *db; /* NULL: none is open */
	size_t *key_of[RUN_PROBES]; /* by its key: the key of the recording */
	struct run *run; /* the recording */
	struct run_data delta[RUN_PROBES];
	uint64_t begin_ns, fine_ns, end_ns; /* CLOCK_MONOTONIC; the fine level begins at fine_ns */
	size_t damaged; /* segments */
	bool is_open; /* the recording is */
	bool is_aligned; /* keys were read at the end of the last interval */
};

static void path_of(int dir, char path[64])
{
	snprintf(path, 64, "/proc/self/fd/%d/run.db", dir);
}

static int open_level(struct level *level, int dir, enum recorder_level which)
{
	struct ring_name *names;
	long nr = ring_files__list(dir, recorder__level(which), NULL, &names);

	if (nr < 0)
		return (int)nr;
	level->dirs = calloc((size_t)nr + 1, sizeof(*level->dirs));
	for (long i = 0; level->dirs && i < nr; i++) {
		int fd =
			openat(dir, names[i].name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

		if (fd >= 0) /* else it was deleted since it was listed */
			level->dirs[level->nr++] = fd;
	}
	free(names);
	return level->dirs ? 0 : -ENOMEM;
}

/* Also a file that is empty or full of zeros: its directory reached the disk, its data did not. */
static bool is_damage(int err)
{
	return err == -EUCLEAN || err == -EMEDIUMTYPE;
}

/* A segment that was being made when its recorder was killed has no run.db yet. */
static int load(struct snapshot *snapshot, int dir)
{
	char path[64];
	int err;

	path_of(dir, path);
	err = rundb__load(path, snapshot->segment);
	snapshot->damaged += is_damage(err);
	return err;
}

/* When a level begins and ends; both 0 if it has nothing. */
static void find_span(struct snapshot *snapshot, enum recorder_level which, uint64_t *begin,
		      uint64_t *end)
{
	const struct level *level = &snapshot->levels[which];
	struct run *run = snapshot->segment;

	*begin = *end = 0;
	for (size_t i = 0; i < level->nr && !*begin; i++) {
		if (load(snapshot, level->dirs[i]))
			continue;
		if (run->duration_ns)
			*begin = run->start_mono_ns;
		run__clear(run);
	}
	for (size_t i = level->nr; i > 0 && !*end; i--) {
		if (load(snapshot, level->dirs[i - 1]))
			continue;
		if (run->duration_ns)
			*end = run->start_mono_ns + run->duration_ns;
		run__clear(run);
	}
}

static bool has_keys(const struct run *segment, const struct run_interval *interval)
{
	for (unsigned int i = 0; i < segment->nr_probes; i++)
		for (size_t j = 0; j < interval->delta[i].nr_keys; j++)
			if (interval->delta[i].keys[j].hist.nr)
				return true;
	return false;
}

/* When keys were last read in a segment; 0: they were not. */
static uint64_t find_keys(int dir, struct run *run)
{
	struct run_interval interval;
	struct rundb *db;
	uint64_t end = 0;
	char path[64];

	path_of(dir, path);
	if (rundb__open(&db, path, run))
		return 0;
	while (rundb__next(db, &interval) > 0)
		if (has_keys(run, &interval))
			end = run->start_mono_ns + interval.end_ns;
	rundb__close(db);
	run__clear(run);
	return end;
}

/* The coarse level has failed, or the machine is so busy that its intervals are long. */
static uint64_t last_keys(const struct snapshot *snapshot, uint64_t coarse_end)
{
	const struct level *fine = &snapshot->levels[RECORDER_FINE];
	uint64_t end = 0;

	for (size_t i = fine->nr; i > 0 && !end; i--)
		end = find_keys(fine->dirs[i - 1], snapshot->segment);
	return end > coarse_end ? end : coarse_end;
}

static int find_spans(struct snapshot *snapshot, uint64_t last_ns)
{
	uint64_t fine_end, coarse_begin, coarse_end;

	find_span(snapshot, RECORDER_FINE, &snapshot->fine_ns, &fine_end);
	find_span(snapshot, RECORDER_COARSE, &coarse_begin, &coarse_end);
	snapshot->end_ns = coarse_end; /* keys were read then */
	if (fine_end > coarse_end + SECONDS_APART)
		snapshot->end_ns = last_keys(snapshot, coarse_end);
	if (!snapshot->end_ns)
		return snapshot->damaged ? -EUCLEAN : -ENOENT;
	snapshot->damaged = 0; /* counted again when they are read */
	if (!snapshot->fine_ns)
		snapshot->fine_ns = UINT64_MAX;
	snapshot->begin_ns = snapshot->end_ns > last_ns ? snapshot->end_ns - last_ns : 0;
	return 0;
}

int snapshot__new(struct snapshot **out, int dir, uint64_t last_ns)
{
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	int err = 0;

	if (!snapshot)
		return -ENOMEM;
	snapshot->run = calloc(1, sizeof(*snapshot->run));
	snapshot->segment = calloc(1, sizeof(*snapshot->segment));
	snapshot->level = RECORDER_COARSE;
	if (!snapshot->run || !snapshot->segment)
		err = -ENOMEM;
	for (unsigned int i = 0; !err && i < RECORDER_LEVELS; i++)
		err = open_level(&snapshot->levels[i], dir, i);
	if (!err)
		err = find_spans(snapshot, last_ns);
	if (err) {
		snapshot__free(snapshot);
		return err;
	}
	*out = snapshot;
	return 0;
}

struct run *snapshot__run(struct snapshot *snapshot)
{
	return snapshot->run;
}

size_t snapshot__damaged(const struct snapshot *snapshot)
{
	return snapshot->damaged;
}

static void close_segment(struct snapshot *snapshot)
{
	if (!snapshot->db)
		return;
	rundb__close(snapshot->db);
	run__clear(snapshot->segment);
	snapshot->db = NULL;
	for (unsigned int i = 0; i < RUN_PROBES; i++) {
		free(snapshot->key_of[i]);
		snapshot->key_of[i] = NULL;
	}
}

void snapshot__free(struct snapshot *snapshot)
{
	if (!snapshot)
		return;
	close_segment(snapshot);
	for (unsigned int i = 0; i < RECORDER_LEVELS; i++) {
		for (size_t j = 0; j < snapshot->levels[i].nr; j++)
			close(snapshot->levels[i].dirs[j]);
		free(snapshot->levels[i].dirs);
	}
	for (unsigned int i = 0; i < RUN_PROBES; i++)
		run__clear_data(&snapshot->delta[i]);
	run__free(snapshot->run);
	free(snapshot->segment);
	free(snapshot);
}

/* ---- the recording's head, from the first segment ---- */

static int copy_text(char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return from && !*to ? -ENOMEM : 0;
}

/* Everything but what is counted, and what is known only after the window. */
static void copy_probe(struct run_probe *to, const struct run_probe *from)
{
	memcpy(to->name, from->name, sizeof(to->name));
	memcpy(to->method, from->method, sizeof(to->method));
	memcpy(to->mechanism, from->mechanism, sizeof(to->mechanism));
	memcpy(to->refused, from->refused, sizeof(to->refused));
	to->nr_metrics = from->nr_metrics;
	memcpy(to->metrics, from->metrics, sizeof(to->metrics));
	to->by = from->by;
	to->tail_ns = from->tail_ns;
	snprintf(to->check.why, sizeof(to->check.why),
		 "the flight recorder has no part of the kernel's account");
}

/* An empty table with the columns of another one. */
static int copy_columns(struct table **to, const struct table *from)
{
	struct table_column columns[TABLE_COLUMNS];
	unsigned int nr = from ? table__columns(from) : 0;

	for (unsigned int i = 0; i < nr; i++)
		columns[i] = *table__column(from, i);
	return nr ? table__new(to, columns, nr) : 0;
}

static int copy_tables(struct run_probe *to, const struct run_probe *from)
{
	int err = copy_columns(&to->table, from->table);

	for (unsigned int i = 0; !err && i < RUN_MORE; i++)
		err = copy_columns(&to->more[i], from->more[i]);
	return err;
}

static void shift_utc(char text[RUN_NAME], uint64_t ns)
{
	struct tm tm = { 0 };

	if (strptime(text, "%Y-%m-%dT%H:%M:%SZ", &tm))
		rundir__utc(timegm(&tm) + (time_t)(ns / 1000000000), text, RUN_NAME);
}

static int begin_recording(struct snapshot *snapshot, struct recording *recording, uint64_t at)
{
	const struct run *from = snapshot->segment;
	struct run *run = snapshot->run;
	const struct writer *failed;
	int err = 0;

	memcpy(run->start_utc, from->start_utc, sizeof(run->start_utc));
	shift_utc(run->start_utc, at - from->start_mono_ns);
	run->start_mono_ns = at;
	run->interval_ns = from->interval_ns;
	run->workload_status = RUN_NOT_ENDED;
	run->nr_probes = from->nr_probes;
	run->why_by = from->why_by;
	for (unsigned int i = 0; i < from->nr_probes; i++) {
		copy_probe(&run->probes[i], &from->probes[i]);
		if (from->probes[i].why)
			err = why__new(&run->probes[i].why, run->probes[i].name);
		if (!err)
			err = copy_tables(&run->probes[i], &from->probes[i]);
		if (err)
			return err;
	}
	err = copy_text(&run->host, from->host);
	if (!err)
		err = recording__open(recording, run, &failed);
	snapshot->is_open = !err;
	return err;
}

/* ---- segments ---- */

/* The position of a key in the recording; it is added if it is new. */
static ssize_t place_of(struct snapshot *snapshot, unsigned int probe, const struct run_key *key)
{
	struct run_data *total = &snapshot->run->probes[probe].total;
	const struct run_key *found = run__find_key(total, &key->key);
	int err;

	if (found)
		return found - total->keys;
	err = run__add_key(total, &key->key, key->name);
	if (!err)
		err = run__add_key(&snapshot->delta[probe], &key->key, key->name);
	return err ? err : (ssize_t)total->nr_keys - 1;
}

static int map_keys(struct snapshot *snapshot)
{
	for (unsigned int i = 0; i < snapshot->segment->nr_probes; i++) {
		const struct run_data *total = &snapshot->segment->probes[i].total;

		snapshot->key_of[i] = calloc(total->nr_keys + 1, sizeof(size_t));
		if (!snapshot->key_of[i])
			return -ENOMEM;
		for (size_t j = 0; j < total->nr_keys; j++) {
			ssize_t at = place_of(snapshot, i, &total->keys[j]);

			if (at < 0)
				return (int)at;
			snapshot->key_of[i][j] = (size_t)at;
		}
	}
	return 0;
}

static bool same_probes(const struct run *a, const struct run *b)
{
	for (unsigned int i = 0; i < b->nr_probes; i++)
		if (strcmp(a->probes[i].name, b->probes[i].name) ||
		    a->probes[i].nr_metrics != b->probes[i].nr_metrics)
			return false;
	return a->nr_probes == b->nr_probes;
}

/* They are timed once, and the segments that are complete have them. */
static void copy_costs(struct snapshot *snapshot)
{
	for (unsigned int i = 0; i < snapshot->segment->nr_probes; i++)
		if (snapshot->segment->probes[i].cost.runs)
			snapshot->run->probes[i].cost = snapshot->segment->probes[i].cost;
}

/* Opens the next segment. 0: there are no more. One that a power cut damaged is left out. */
static int open_segment(struct snapshot *snapshot)
{
	struct level *level = &snapshot->levels[snapshot->level];
	char path[64];
	int err;

	if (level->next == level->nr && snapshot->level == RECORDER_FINE)
		return 0;
	if (level->next == level->nr) {
		snapshot->level = RECORDER_FINE;
		return 1;
	}
	path_of(level->dirs[level->next++], path);
	err = rundb__open(&snapshot->db, path, snapshot->segment);
	if (err == -ENOENT || is_damage(err)) { /* see load() */
		snapshot->damaged += is_damage(err);
		snapshot->db = NULL;
		return 1;
	}
	if (err)
		return err;
	snapshot->is_aligned = true;
	if (snapshot->is_open && !same_probes(snapshot->segment, snapshot->run))
		close_segment(snapshot);
	else
		copy_costs(snapshot);
	return 1;
}

static bool is_wanted(const struct snapshot *snapshot, const struct run_interval *interval)
{
	uint64_t start = snapshot->segment->start_mono_ns;

	if (start + interval->end_ns <= snapshot->begin_ns ||
	    start + interval->end_ns > snapshot->end_ns)
		return false;
	if (!snapshot->is_open && !snapshot->is_aligned)
		return false;
	return snapshot->level == RECORDER_FINE || start + interval->end_ns <= snapshot->fine_ns;
}

static int fill_delta(struct snapshot *snapshot, const struct run_interval *interval)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < snapshot->segment->nr_probes; i++) {
		const struct run_data *from = &interval->delta[i];
		struct run_data *delta = &snapshot->delta[i];

		run__zero_data(delta);
		memcpy(delta->metrics, from->metrics, sizeof(delta->metrics));
		for (size_t j = 0; !err && j < from->nr_keys; j++)
			err = sparse__add(&delta->keys[snapshot->key_of[i][j]].hist,
					  &from->keys[j].hist);
		if (!err)
			err = run__add_data(&snapshot->run->probes[i].total, delta);
	}
	return err;
}

/* ---- rows ---- */

static int copy_rows(struct table *to, const struct table *from, int64_t shift_ns)
{
	int err = 0;

	for (size_t row = 0; !err && row < table__rows(from); row++) {
		int64_t at = (int64_t)table__time_ns(from, row) + shift_ns;

		err = table__copy_row(to, from, row, at > 0 ? (uint64_t)at : 0);
	}
	return err;
}

/* How many samples were slow is known of whole segments only. */
static void add_totals(struct run_why *to, const struct table *parts)
{
	for (size_t row = 0; row < table__rows(parts); row++) {
		uint64_t over = (uint64_t)table__value(parts, row, WHY_OVER_NS).integer;

		to->slow_ns += (uint64_t)table__value(parts, row, WHY_NS).integer;
		if (!to->over_low_ns || over < to->over_low_ns)
			to->over_low_ns = over;
		if (over > to->over_high_ns)
			to->over_high_ns = over;
	}
}

static int copy_why(struct snapshot *snapshot)
{
	int64_t shift = (int64_t)(snapshot->segment->start_mono_ns - snapshot->run->start_mono_ns);
	int err = 0;

	for (unsigned int i = 0; !err && i < snapshot->segment->nr_probes; i++) {
		const struct run_why *from = snapshot->segment->probes[i].why;
		struct run_why *to = snapshot->run->probes[i].why;

		if (!from || !to)
			continue;
		err = copy_rows(to->parts, from->parts, shift);
		if (!err)
			err = copy_rows(to->events, from->events, shift);
		if (err)
			return err;
		add_totals(to, from->parts);
		why__keep_slowest(to);
	}
	return err;
}

static int copy_samples(struct snapshot *snapshot)
{
	int64_t shift = (int64_t)(snapshot->segment->start_mono_ns - snapshot->run->start_mono_ns);
	int err = 0;

	for (unsigned int i = 0; !err && i < snapshot->segment->nr_probes; i++) {
		const struct run_probe *from = &snapshot->segment->probes[i];
		struct run_probe *to = &snapshot->run->probes[i];

		if (to->table && from->table)
			err = copy_rows(to->table, from->table, shift);
		for (unsigned int j = 0; !err && j < RUN_MORE; j++)
			if (to->more[j] && from->more[j])
				err = copy_rows(to->more[j], from->more[j], shift);
	}
	return err;
}

static int copy_interval(struct snapshot *snapshot, struct recording *recording,
			 const struct run_interval *interval)
{
	uint64_t start = snapshot->segment->start_mono_ns;
	struct run_interval own = { .delta = snapshot->delta };
	int err = 0;

	if (!is_wanted(snapshot, interval)) {
		/* It begins where keys were read: they have no samples of an earlier time. */
		snapshot->is_aligned = has_keys(snapshot->segment, interval);
		return 0;
	}
	if (!snapshot->is_open)
		err = begin_recording(snapshot, recording, start + interval->start_ns);
	if (!err && !snapshot->key_of[0])
		err = map_keys(snapshot);
	if (!err)
		err = fill_delta(snapshot, interval);
	if (!err)
		err = copy_why(snapshot);
	if (!err)
		err = copy_samples(snapshot);
	if (err)
		return err;
	own.start_ns = start + interval->start_ns - snapshot->run->start_mono_ns;
	own.end_ns = start + interval->end_ns - snapshot->run->start_mono_ns;
	snapshot->run->duration_ns = own.end_ns;
	return recording__interval(recording, snapshot->run, &own, NULL);
}

static int end_recording(struct snapshot *snapshot, struct recording *recording)
{
	if (!snapshot->is_open)
		return snapshot->damaged ? -EUCLEAN : -ENOENT;
	snapshot->run->complete = true;
	return recording__close(recording, snapshot->run, NULL);
}

int snapshot__step(struct snapshot *snapshot, struct recording *recording)
{
	struct run_interval interval;
	int got, err = 0;

	if (!snapshot->db) {
		got = open_segment(snapshot);
		return got ? got : end_recording(snapshot, recording);
	}
	for (int i = 0; !err && i < INTERVALS_AT_ONCE; i++) {
		got = rundb__next(snapshot->db, &interval);
		if (got < 0 && !is_damage(got))
			return got;
		snapshot->damaged += got < 0;
		if (got <= 0) {
			close_segment(snapshot);
			return 1;
		}
		err = copy_interval(snapshot, recording, &interval);
	}
	return err ? err : 1;
}

int snapshot__work(struct snapshot *snapshot, struct recording *recording)
{
	uint64_t end = clock__now_ns() + WORK_NS;
	int got = 1;

	while (got > 0 && clock__now_ns() < end)
		got = snapshot__step(snapshot, recording);
	return got;
}

int snapshot__find(const char *path)
{
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), found;
	struct ring_name *names;
	long nr;

	if (dir < 0)
		return -errno;
	nr = ring_files__list(dir, recorder__level(RECORDER_FINE), NULL, &names);
	free(names);
	if (nr)
		return nr > 0 ? dir : (int)nr;
	nr = ring_files__list(dir, NULL, "-" RECORDER_LABEL, &names);
	found = nr > 0 ? openat(dir, names[nr - 1].name,
				O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
		       : -1;
	if (found < 0)
		found = nr > 0 ? -errno : nr ? (int)nr : -ENOENT;
	free(names);
	close(dir);
	return found;
}
