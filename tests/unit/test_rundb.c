// SPDX-License-Identifier: BSD-2-Clause
#include "sample.h"

#include <sched.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "store/rundb.h"
#include "store/rundir.h"
#include "store/writer.h"

/* Rounds of a soak are ten times those of a check. */
static int rounds(int normal)
{
	return getenv("LATSCOPE_SOAK") ? normal * 10 : normal;
}

/* The one that a test writes. */
static struct {
	struct run *run;
	struct run_data *deltas;
	struct writer writer;
	unsigned int intervals;
} recording;

static int begin(const char *where)
{
	recording.run = sample_bare();
	recording.deltas = calloc(RUN_PROBES, sizeof(struct run_data));
	recording.writer = (struct writer){ .ops = &writer_db, .dir = where };
	recording.intervals = 0;
	return recording.writer.ops->open(&recording.writer, recording.run);
}

static int add_interval(unsigned int seed)
{
	struct run_data *delta = &recording.deltas[0];
	uint64_t start = recording.intervals++ * 1000000000ULL;
	struct run_interval interval = { .start_ns = start,
					 .end_ns = start + 1000000000,
					 .delta = recording.deltas };
	int err;

	run__zero_data(delta);
	sample_fill(delta, seed);
	err = recording.writer.ops->interval(&recording.writer, recording.run, &interval);
	if (!err)
		assert_int_equal(run__add_data(&recording.run->probes[0].total, delta), 0);
	return err;
}

static void forget(void)
{
	run__clear_data(&recording.deltas[0]);
	free(recording.deltas);
	sample_free(recording.run);
}

static int finish(void)
{
	struct run_probe *probe = &recording.run->probes[0];

	probe->in_flight = (struct lat_in_flight){ 3, 1234000000, 2000000000, 2 };
	probe->in_flight_age_known = true;
	probe->recursion_missed = 7;
	probe->no_event = 9;
	strcpy(probe->in_flight_of, "web (7)");
	strcpy(probe->check.source, "/sys/block/*/stat");
	strcpy(probe->check.why, "not the time");
	probe->check.events = (struct run_checked){ true, 10, UINT64_MAX, 20, 30, 4 };
	probe->cost = (struct run_cost){ 2000, 123000, 100000000, 1000 };
	return recording.writer.ops->close(&recording.writer, recording.run);
}

/* A whole recording in the directory of the test. */
static void record(unsigned int intervals)
{
	assert_int_equal(begin(dir), 0);
	for (unsigned int i = 0; i < intervals; i++)
		assert_int_equal(add_interval(i), 0);
	assert_int_equal(finish(), 0);
	forget();
}

static struct run loaded; /* by a test; empty at its end */

static void unload(void)
{
	run__clear(&loaded);
	memset(&loaded, 0, sizeof(loaded));
}

static void assert_same_data(const struct run_data *a, const struct run_data *b)
{
	struct lat_hist of_a, of_b;

	assert_memory_equal(a->metrics, b->metrics, sizeof(a->metrics));
	assert_int_equal(a->nr_keys, b->nr_keys);
	for (size_t i = 0; i < a->nr_keys; i++) {
		assert_memory_equal(&a->keys[i].key, &b->keys[i].key, sizeof(a->keys[i].key));
		assert_string_equal(a->keys[i].name, b->keys[i].name);
		assert_memory_equal(sparse__expand(&a->keys[i].hist, &of_a),
				    sparse__expand(&b->keys[i].hist, &of_b), sizeof(of_a));
	}
}

static void assert_same_probe(const struct run_probe *a, const struct run_probe *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->method, b->method);
	assert_string_equal(a->mechanism, b->mechanism);
	assert_string_equal(a->refused, b->refused);
	assert_int_equal(a->nr_metrics, b->nr_metrics);
	assert_memory_equal(a->metrics, b->metrics, sizeof(a->metrics));
	assert_int_equal(a->by, b->by);
	assert_memory_equal(&a->in_flight, &b->in_flight, sizeof(a->in_flight));
	assert_int_equal(a->in_flight_age_known, b->in_flight_age_known);
	assert_int_equal(a->recursion_missed, b->recursion_missed);
	assert_int_equal(a->no_event, b->no_event);
	assert_string_equal(a->in_flight_of, b->in_flight_of);
	assert_memory_equal(&a->cost, &b->cost, sizeof(a->cost));
	assert_int_equal(a->tail_ns, b->tail_ns);
	assert_string_equal(a->check.source, b->check.source);
	assert_string_equal(a->check.why, b->check.why);
	assert_memory_equal(&a->check.events, &b->check.events, sizeof(a->check.events));
	assert_memory_equal(&a->check.time, &b->check.time, sizeof(a->check.time));
	assert_same_data(&a->total, &b->total);
}

static void assert_same_run(const struct run *a, const struct run *b)
{
	assert_string_equal(a->start_utc, b->start_utc);
	assert_int_equal(a->start_mono_ns, b->start_mono_ns);
	assert_int_equal(a->duration_ns, b->duration_ns);
	assert_int_equal(a->interval_ns, b->interval_ns);
	assert_string_equal(a->workload, b->workload);
	assert_int_equal(a->workload_status, b->workload_status);
	assert_int_equal(a->complete, b->complete);
	assert_string_equal(a->host, b->host);
	assert_string_equal(a->filter, b->filter);
	assert_int_equal(a->nr_labels, b->nr_labels);
	assert_memory_equal(a->labels, b->labels, sizeof(a->labels));
	assert_int_equal(a->why_by, b->why_by);
	assert_int_equal(a->nr_probes, b->nr_probes);
	for (unsigned int i = 0; i < a->nr_probes; i++)
		assert_same_probe(&a->probes[i], &b->probes[i]);
}

TEST(what_was_written_is_read)
{
	struct run_data *total;

	assert_int_equal(begin(dir), 0);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(add_interval(i), 0);
	/* a task has taken another name since */
	total = &recording.run->probes[0].total;
	snprintf(total->keys[1].name, sizeof(total->keys[1].name), "renamed");
	assert_int_equal(finish(), 0);
	assert_int_equal(rundb__load(unit_path(dir, "run.db"), &loaded), 0);
	assert_same_run(&loaded, recording.run);
	unload();
	/* by its directory too; and a finished recording has no other file next to run.db */
	assert_int_equal(rundb__load(dir, &loaded), 0);
	assert_int_equal(access(unit_path(dir, "run.db-wal"), F_OK), -1);
	assert_int_equal(access(unit_path(dir, "run.db-shm"), F_OK), -1);
	assert_int_equal(access(unit_path(dir, "run.db.new"), F_OK), -1);
	forget();
}

TEST(intervals_are_walked)
{
	struct run_data *sum = calloc(1, sizeof(*sum)), *expected = calloc(1, sizeof(*expected));
	const struct run_data *total;
	struct run_interval interval;
	struct rundb *db;

	record(5);
	assert_int_equal(rundb__open(&db, dir, &loaded), 0);
	total = &loaded.probes[0].total;
	/* Only the keys: those of an interval are in the order of the totals. */
	for (size_t i = 0; i < total->nr_keys; i++)
		assert_int_equal(run__add_key(expected, &total->keys[i].key, total->keys[i].name),
				 0);
	for (unsigned int i = 0; i < 5; i++) {
		assert_int_equal(rundb__next(db, &interval), 1);
		assert_int_equal(interval.start_ns, i * 1000000000ULL);
		assert_int_equal(interval.end_ns, (i + 1) * 1000000000ULL);
		run__zero_data(expected);
		sample_fill(expected, i);
		assert_same_data(&interval.delta[0], expected);
		assert_int_equal(interval.delta[2].nr_keys, 0);
		assert_int_equal(run__add_data(sum, &interval.delta[0]), 0);
	}
	assert_int_equal(rundb__next(db, &interval), 0);
	assert_same_data(sum, total);
	rundb__close(db);
	run__clear_data(sum);
	run__clear_data(expected);
	free(sum);
	free(expected);
}

/* A recording of a run that knows nothing. */
static struct run bare;
static struct writer writer;

static void open_bare(void)
{
	memset(&bare, 0, sizeof(bare));
	writer = (struct writer){ .ops = &writer_db, .dir = dir };
	assert_int_equal(writer.ops->open(&writer, &bare), 0);
}

static void close_bare(bool complete)
{
	bare.complete = complete;
	assert_int_equal(writer.ops->close(&writer, &bare), 0);
}

TEST(the_least_recording)
{
	open_bare();
	close_bare(true);
	assert_int_equal(rundb__load(dir, &loaded), 0);
	assert_null(loaded.workload);
	assert_null(loaded.host);
	assert_true(loaded.complete);
	assert_int_equal(loaded.nr_probes, 0);
}

/* Returns whether the recording in the directory is still running. */
static bool is_running(const char *path)
{
	unload();
	assert_int_equal(rundb__load(path, &loaded), 0);
	assert_false(loaded.running && loaded.complete);
	return loaded.running;
}

TEST(one_that_goes_on)
{
	open_bare();
	assert_true(is_running(dir));
	assert_true(is_running(unit_path(dir, "run.db")));
	close_bare(false);
	assert_false(is_running(dir));
}

/* Its recorder has not gone yet. */
TEST(one_that_is_complete_does_not_go_on)
{
	int mark;

	open_bare();
	close_bare(true);
	mark = rundir__hold(dir);
	assert_true(mark >= 0 && rundir__is_held(dir));
	assert_false(is_running(dir));
	close(mark);
}

TEST(nothing_is_overwritten)
{
	unit_write(dir, "run.db", "somebody's");
	assert_int_equal(begin(dir), -EEXIST);
	forget();
	unlink(unit_path(dir, "run.db"));
	assert_int_equal(begin(unit_path(dir, "nonesuch")), -ENOENT);
	forget();
}

/* Every integer that may be large must keep its sign. */
TEST(large_numbers)
{
	struct run_interval interval;
	struct lat_hist *hist;

	assert_int_equal(begin(dir), 0);
	interval = (struct run_interval){ .end_ns = 1ULL << 62, .delta = recording.deltas };
	hist = &recording.deltas[2].metrics[0].hist;
	hist->slots[HIST_OVERFLOW_SLOT] = INT64_MAX;
	hist->sum_ns = hist->max_ns = hist->tail = INT64_MAX;
	recording.deltas[2].metrics[0].counts[LAT_SEEN] = INT64_MAX;
	sample_key(&recording.deltas[0], UINT64_MAX - 1, LAT_BY_CGROUP, 0, "x", 1, 1);
	assert_int_equal(
		recording.writer.ops->interval(&recording.writer, recording.run, &interval), 0);
	assert_int_equal(finish(), 0);
	assert_int_equal(rundb__load(dir, &loaded), 0);
	assert_memory_equal(&loaded.probes[2].total.metrics[0], &recording.deltas[2].metrics[0],
			    sizeof(struct lat_cell));
	assert_true(loaded.probes[0].total.keys[0].key.id == UINT64_MAX - 1);
	forget();
}

static void sleep_us(unsigned int us)
{
	struct timespec time = { us / 1000000, us % 1000000 * 1000 };

	nanosleep(&time, NULL);
}

static pid_t writing; /* the child of start_writer(); 0: there is none */

/* Writes until stop_writer(), or until a failed test ends. */
static void start_writer(const char *where)
{
	writing = unit_fork();
	assert_true(writing >= 0);
	if (writing)
		return;
	if (begin(where))
		_exit(1);
	while (!add_interval(1))
		;
	_exit(1);
}

static void stop_writer(void)
{
	pid_t child = writing;

	writing = 0;
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void end_test(void)
{
	if (writing > 0)
		stop_writer();
	unload();
}

/* The totals are those of a whole number of intervals, in every counter and every slot. */
static void assert_whole(const struct run *read, uint64_t intervals)
{
	const struct run_probe *probe = &read->probes[0];
	struct run_data *one = calloc(1, sizeof(*one));

	sample_fill(one, 1);
	for (unsigned int i = 0; i < LAT_COUNTS; i++)
		assert_int_equal(probe->total.metrics[0].counts[i],
				 one->metrics[0].counts[i] * intervals);
	for (unsigned int i = 0; i < HIST_SLOTS; i++)
		assert_int_equal(probe->total.metrics[0].hist.slots[i],
				 one->metrics[0].hist.slots[i] * intervals);
	assert_int_equal(run__imbalance(&probe->total.metrics[0]), 0);
	assert_int_equal(probe->total.nr_keys, intervals ? one->nr_keys : 0);
	for (size_t i = 0; i < probe->total.nr_keys; i++)
		assert_int_equal(probe->total.keys[i].hist.sum_ns,
				 one->keys[i].hist.sum_ns * intervals);
	assert_int_equal(read->duration_ns, intervals * 1000000000);
	run__clear_data(one);
	free(one);
}

/* The number of complete intervals of the recording in a directory; -1: it had not begun. */
static int check_cut_off(const char *where)
{
	struct run_interval interval;
	struct rundb *db;
	int nr = 0, err;

	unload();
	err = rundb__open(&db, where, &loaded);
	if (err) {
		assert_int_equal(err, -ENOENT);
		return -1;
	}
	while ((err = rundb__next(db, &interval)) > 0)
		nr++;
	assert_int_equal(err, 0);
	assert_false(loaded.complete);
	assert_string_equal(loaded.workload, "fio --name=\"a b\"");
	assert_whole(&loaded, (uint64_t)nr);
	rundb__close(db);
	return nr;
}

TEST(killed_at_any_moment)
{
	unsigned int longest_us = 60000;
	int begun = 0;

	for (int i = 0; i < rounds(30) || begun < rounds(30) / 3; i++) {
		char *where = unit_tmpdir();

		start_writer(where);
		sleep_us((unsigned int)(unit_random() % longest_us));
		stop_writer();
		if (check_cut_off(where) > 0)
			begun++;
		else
			longest_us += longest_us / 4; /* the machine is slower than that */
		unit_remove(where);
	}
}

/* Until there are two intervals, but so many times at least. */
static void read_what_is_written(int times)
{
	int last = -1, now = -1;

	start_writer(dir);
	for (int i = 0; i < times || (now < 2 && i < 6000); i++) {
		sleep_us(10000);
		now = check_cut_off(dir);
		assert_true(now >= last);
		last = now;
	}
	assert_true(now >= 2);
	stop_writer();
}

TEST(read_while_it_is_written)
{
	read_what_is_written(10);
}

/* For children, where cmocka must not jump: the number of complete intervals, or -1. */
static int peek(const char *where)
{
	struct run *read = calloc(1, sizeof(*read));
	struct run_interval interval;
	struct rundb *db;
	int nr = 0, err;

	err = rundb__open(&db, where, read);
	while (!err && rundb__next(db, &interval) > 0)
		nr++;
	return err || read->complete ? -1 : nr;
}

static int read_as_nobody(void)
{
	if (setgid(65534) || setuid(65534))
		return 1;
	if (!access(dir, W_OK))
		return 2;
	return peek(dir) > 0 ? 0 : 3;
}

TEST(cut_off_is_read_without_writing)
{
	if (geteuid()) {
		print_message("# skipped: only root can become somebody who may not write\n");
		skip();
	}
	read_what_is_written(1);
	assert_int_equal(chmod(unit_path(dir, "run.db"), 0444), 0);
	assert_int_equal(chmod(unit_path(dir, "run.db-wal"), 0444), 0);
	assert_int_equal(chmod(dir, 0555), 0);
	assert_int_equal(unit_in_child(read_as_nobody), 0);
}

/* Fills up, then closes, as a command that continues with its other outputs. */
static int fill_up(const char *where, int wanted, int or_else)
{
	int err;

	err = begin(where);
	if (err)
		return 10;
	for (int i = 0; !err && i < 100000; i++)
		err = add_interval(1);
	if (err != wanted && err != or_else)
		return 11;
	/* Room may be free again; what was lost stays lost. */
	if (recording.writer.ops->close(&recording.writer, recording.run) != err)
		return 12;
	forget();
	return 0;
}

static int fill_disk(void)
{
	int status;

	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("tmpfs", dir, "tmpfs", 0, "size=1m"))
		return 77;
	status = fill_up(dir, -ENOSPC, -ENOSPC);
	if (status)
		return status;
	return peek(dir) > 3 ? 0 : 2;
}

TEST(full_disk)
{
	int status;

	status = unit_in_child(fill_disk);
	if (status == 77) {
		print_message("# skipped: a small tmpfs cannot be mounted here\n");
		skip();
	}
	assert_int_equal(status, 0);
}

/* Any user can have this one: no file may grow above the limit. */
static int fill_limit(void)
{
	struct rlimit limit = { 600000, 600000 };

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit))
		return 1;
	/* SQLite does not always keep the kernel's error of a write */
	return fill_up(dir, -EFBIG, -EIO);
}

TEST(file_size_limit)
{
	assert_int_equal(unit_in_child(fill_limit), 0);
	assert_true(check_cut_off(dir) > 3);
}

static void write_bytes(const char *path, const char *bytes, size_t size)
{
	FILE *stream = fopen(path, "w");
	int err;

	assert_non_null(stream);
	assert_int_equal(fwrite(bytes, 1, size, stream), size);
	err = fclose(stream);
	assert_int_equal(err, 0);
}

static char *read_bytes(const char *path, size_t *size)
{
	FILE *stream = fopen(path, "r");
	char *bytes = malloc(1 << 20);

	assert_non_null(stream);
	*size = fread(bytes, 1, 1 << 20, stream);
	fclose(stream);
	return bytes;
}

static void assert_sane(const struct run *run)
{
	assert_true(run->nr_probes <= RUN_PROBES && run->nr_labels <= RUN_LABELS);
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		const struct run_probe *probe = &run->probes[i];

		assert_true(probe->nr_metrics <= RUN_METRICS);
		assert_true(strlen(probe->name) < RUN_NAME && strlen(probe->method) < RUN_NAME);
		for (size_t k = 0; k < probe->total.nr_keys; k++) {
			const struct run_key *key = &probe->total.keys[k];
			struct lat_hist hist;

			assert_true(key->key.by < LAT_BY_COUNT);
			assert_true(key->key.metric < probe->nr_metrics);
			sparse__expand(&key->hist, &hist);
			assert_true(hist__quantile_ns(&hist, 0.99) <= key->hist.max_ns);
		}
	}
}

/* Whatever the bytes are: an error, or a run that can be used. */
static bool try_bytes(const char *bytes, size_t size)
{
	struct run_interval interval;
	struct rundb *db;

	unload();
	write_bytes(unit_path(dir, "bad.db"), bytes, size);
	if (rundb__open(&db, unit_path(dir, "bad.db"), &loaded))
		return false;
	assert_sane(&loaded);
	while (rundb__next(db, &interval) > 0)
		;
	rundb__close(db);
	return true;
}

TEST(damaged_files)
{
	unsigned int opened = 0;
	char *bytes, *copy;
	size_t size;

	record(3);
	bytes = read_bytes(unit_path(dir, "run.db"), &size);
	copy = malloc(size);
	for (int i = 0; i < rounds(500); i++) {
		memcpy(copy, bytes, size);
		for (uint64_t n = unit_random() % 8 + 1; n--;) {
			/* one in two into the first page: the header and the schema */
			size_t range = unit_random() % 2 ? 4096 : size;

			copy[unit_random() % range] = (char)unit_random();
		}
		opened += try_bytes(copy, size);
	}
	for (int i = 0; i < rounds(50); i++)
		opened += try_bytes(bytes, unit_random() % size);
	assert_true(opened > 0);
	free(copy);
	free(bytes);
}

static int load_error(const char *name)
{
	unload();
	return rundb__load(unit_path(dir, name), &loaded);
}

static void change(const char *name, const char *sql)
{
	sqlite3 *db;

	assert_int_equal(sqlite3_open(unit_path(dir, name), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

/* Two intervals may begin at the same time, but none before the one before it. */
TEST(intervals_are_in_order)
{
	struct run_interval interval;
	struct rundb *db;

	record(2);
	for (int late = 0; late < 2; late++) {
		change("run.db", unit_text("UPDATE interval SET start_ns = 100000000%d, "
					   "end_ns = 100000000%d WHERE id = 1",
					   late, late));
		unload();
		assert_int_equal(rundb__open(&db, dir, &loaded), 0);
		assert_int_equal(rundb__next(db, &interval), 1);
		assert_int_equal(rundb__next(db, &interval), late ? -EUCLEAN : 1);
		rundb__close(db);
	}
}

TEST(errors_are_distinct)
{
	static const struct {
		const char *sql;
		int err;
	} changes[] = {
		{ "UPDATE probe SET tail_ns = 'x'", -EUCLEAN },
		{ "UPDATE meta SET value = 'x' WHERE name = 'why_by'", -EUCLEAN },
		{ "UPDATE slots SET slot = 5000 WHERE slot = (SELECT max(slot) FROM slots)",
		  -EUCLEAN },
		{ "UPDATE slots SET count = -1 WHERE series = 1", -EUCLEAN },
		{ "UPDATE slots SET count = count + 1 WHERE series = 1", -EUCLEAN },
		{ "UPDATE sums SET tail = count + 1", -EUCLEAN },
		{ "UPDATE sums SET count = 9223372036854775807", -EUCLEAN },
		{ "DELETE FROM series", -EUCLEAN },
		{ "DELETE FROM probe", -EUCLEAN },
		{ "DROP TABLE acct", -EUCLEAN },
		{ "ALTER TABLE interval RENAME COLUMN end_ns TO ended", 0 },
		{ "UPDATE series SET split = 'moon' WHERE split = 'disk'", -EUCLEAN },
		{ "INSERT INTO acct VALUES(1, 1, 'of_a_later_version', 5)", 0 },
		{ "CREATE TABLE later(x)", 0 },
		{ "CREATE TABLE process(id, lived_ns, thread_ns, ended);" /* as 0.1 had */
		  "INSERT INTO process VALUES(12, -1, 'x', 1)",
		  0 },
		{ "UPDATE kernel_check SET kernel_high = -9223372036854775808", -EUCLEAN },
		{ "UPDATE kernel_check SET ours_high = -2", -EUCLEAN },
		{ "UPDATE probe SET in_flight_sum_ns = -1", -EUCLEAN },
		{ "UPDATE probe SET in_flight_before = in_flight_count + 1", -EUCLEAN },
		{ "ALTER TABLE probe DROP COLUMN in_flight_before", -EUCLEAN },
		{ "PRAGMA user_version = 4", -EPROTONOSUPPORT },
		{ "PRAGMA user_version = 2", -EPROTONOSUPPORT },
		{ "PRAGMA application_id = 7", -EMEDIUMTYPE },
	};

	assert_int_equal(load_error("nonesuch.db"), -ENOENT);
	unit_write(dir, "text.db",
		   "This is a text that is long enough to be taken for a header, or "
		   "is it not? One hundred bytes is what it takes.\n");
	assert_int_equal(load_error("text.db"), -EMEDIUMTYPE);
	unit_write(dir, "empty.db", "");
	assert_int_equal(load_error("empty.db"), -EMEDIUMTYPE);
	change("foreign.db", "CREATE TABLE x(y)");
	assert_int_equal(load_error("foreign.db"), -EMEDIUMTYPE);
	assert_int_equal(load_error("."), -ENOENT);

	record(2);
	for (size_t i = 0; i < COUNT_OF(changes); i++) {
		unit_shell("cp '%s/run.db' '%s/changed.db'", dir, dir);
		change("changed.db", changes[i].sql);
		if (load_error("changed.db") != changes[i].err)
			fail_msg("%s: %d", changes[i].sql, load_error("changed.db"));
	}
}

/* Errors that name nothing are no help. */
TEST(errors_are_explained)
{
	assert_string_equal(rundb__explain(-EMEDIUMTYPE), "this is not a recording of latscope");
	assert_string_equal(rundb__explain(-EACCES), strerror(EACCES));
}

UNIT_FIXTURES(.each = { .tear_down = end_test })
