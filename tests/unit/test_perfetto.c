// SPDX-License-Identifier: BSD-2-Clause
/* A recording of known slow events, waits and parts, as a trace of Perfetto. */
#include "protobuf.h"
#include "recording.h"

#include <core/pressure.h>
#include <core/why.h>
#include <export/export.h>
#include <export/tracks.h>
#include <store/rundb.h>

#define MS 1000000ULL
#define START 5000000000000ULL /* CLOCK_MONOTONIC when the window opened */

enum { PACKET = 1, CLOCKS = 6, TIMESTAMP = 8, EVENT = 11, TRACK = 60 };
enum { BEGIN = 1, END, INSTANT, COUNTER };

static struct run *run;
static void (*fill)(unsigned int interval); /* adds the rows of an interval */
static char *trace;
static size_t size;

/* ---- the recording ---- */

#define COLUMN(of_name, of_unit, of_kind, is_key)                                           \
	{                                                                                   \
		.name = (of_name), .unit = (of_unit), .what = "made up", .kind = (of_kind), \
		.key = (is_key)                                                             \
	}

#define PART(of_name)                                                                          \
	{                                                                                      \
		.name = of_name "_ns", .unit = "ns", .what = "made up", .kind = TABLE_INTEGER, \
		.mean_of = of_name "_ns", .mean_per = "life_ns", .mean_scale = 1               \
	}

static void begin(void)
{
	static const struct table_column parts[] = {
		COLUMN("pid", "", TABLE_INTEGER, true),
		COLUMN("comm", "", TABLE_TEXT, true),
		COLUMN("life_ns", "ns", TABLE_INTEGER, false),
		PART("cpu"),
		PART("disk"),
		PART("unknown"),
		COLUMN("threads", "", TABLE_INTEGER, false),
	};
	static const struct table_column waits[] = {
		COLUMN("pid", "", TABLE_INTEGER, true),
		COLUMN("tid", "", TABLE_INTEGER, true),
		COLUMN("comm", "", TABLE_TEXT, true),
		COLUMN("state", "", TABLE_TEXT, true),
		COLUMN("call", "", TABLE_TEXT, true),
		COLUMN("chain", "", TABLE_TEXT, true),
		COLUMN("ns", "ns", TABLE_INTEGER, false),
		COLUMN("stack", "", TABLE_TEXT, false),
		COLUMN("waker_pid", "", TABLE_INTEGER, false),
		COLUMN("waker_tid", "", TABLE_INTEGER, false),
		COLUMN("waker", "", TABLE_TEXT, false),
	};
	struct run_probe *probe;

	run = recording_begin("runqlat", "tp_btf", "wait");
	run->start_mono_ns = START;
	run->real_offset_ns = 1700000000ULL * 1000 * MS;
	run->boot_offset_ns = 77;
	assert_int_equal(why__new(&run->probes[0].why, "runqlat"), 0);
	probe = sample_probe(run, "where", "tp_btf", "made up");
	assert_int_equal(table__new(&probe->table, parts, COUNT_OF(parts)), 0);
	assert_int_equal(table__new(&probe->more[RUN_WAITS], waits, COUNT_OF(waits)), 0);
	assert_int_equal(table__new(&run->pressure.table, pressure_columns, PRESSURE_FIRST_COLUMNS),
			 0);
	fill = NULL;
}

static void end(void)
{
	if (run)
		sample_free(run);
	run = NULL;
	free(trace);
	trace = NULL;
}

static void fill_interval(struct run_data *delta, unsigned int interval, const void *arg)
{
	sample_record(&delta[0].metrics[0], 20000, 100 * (interval + 1));
	fill(interval);
}

/* The trace of a recording of so many intervals of 1 s, by way of run.db. */
static void record(unsigned int intervals, void (*rows)(unsigned int interval))
{
	struct run read;
	struct rundb *db;
	FILE *out;

	fill = rows;
	recording_write(run, dir, "made", intervals, fill_interval, NULL);
	run = NULL;
	assert_int_equal(rundb__open(&db, unit_path(dir, "made"), &read), 0);
	out = open_memstream(&trace, &size);
	assert_int_equal(export__perfetto(out, db, &read), 0);
	fclose(out);
	rundb__close(db);
	run__clear(&read);
}

struct slow {
	uint64_t end_ns, ns;
	int64_t pid, tid;
	const char *comm;
	uint64_t parts[3]; /* the first ones of the probe */
};

static void add_slow(struct slow slow)
{
	struct table *events = run->probes[0].why->events;

	assert_int_equal(table__add_row(events, slow.end_ns), 0);
	table__set_integer(events, WHY_SLOW_NS, (int64_t)slow.ns);
	table__set_integer(events, WHY_SLOW_PID, slow.pid);
	table__set_integer(events, WHY_SLOW_TID, slow.tid);
	table__set_text(events, WHY_SLOW_PROCESS, slow.comm);
	table__set_text(events, WHY_SLOW_COMM, slow.comm);
	for (unsigned int i = 0; i < 3; i++)
		table__set_integer(events, WHY_SLOW_PARTS + i, (int64_t)slow.parts[i]);
	table__set_text(events, WHY_SLOW_CULPRITS, "backup (9)");
	table__set_text(events, WHY_SLOW_CULPRITS + 1, why__part("runqlat", 1)->name);
	table__set_integer(events, WHY_SLOW_CULPRITS + 2, (int64_t)slow.parts[1]);
}

static void add_wait(uint64_t end_ns, uint64_t ns, int64_t tid, int64_t waker, const char *comm)
{
	struct table *waits = run->probes[1].more[RUN_WAITS];

	assert_int_equal(table__add_row(waits, end_ns), 0);
	table__set_integer(waits, 0, 7);
	table__set_integer(waits, 1, tid);
	table__set_text(waits, 2, comm);
	table__set_text(waits, 3, "futex");
	table__set_text(waits, 4, "futex");
	table__set_text(waits, 5, "holder (8): disk 3.0 ms");
	table__set_integer(waits, 6, (int64_t)ns);
	if (!waker)
		return;
	table__set_integer(waits, 8, 8);
	table__set_integer(waits, 9, waker);
	table__set_text(waits, 10, "holder");
}

static void add_parts(uint64_t end_ns, int64_t pid, int64_t life, int64_t disk)
{
	struct table *parts = run->probes[1].table;

	assert_int_equal(table__add_row(parts, end_ns), 0);
	if (pid)
		table__set_integer(parts, 0, pid);
	table__set_text(parts, 1, "mysqld");
	table__set_integer(parts, 2, life);
	table__set_integer(parts, 3, life - disk);
	table__set_integer(parts, 4, disk);
	table__set_integer(parts, 5, 0);
}

/* ---- reading the trace ---- */

static struct message whole(void)
{
	return (struct message){ (unsigned char *)trace, (unsigned char *)trace + size };
}

/* The next packet that has such a field, which is *bytes. */
static bool next(struct message *message, unsigned int number, struct message *packet,
		 struct message *bytes)
{
	struct field field;

	while (message_next(message, &field)) {
		assert_int_equal(field.number, PACKET);
		assert_int_equal(message_number(field.bytes, 10), 1);
		*packet = field.bytes;
		if (!message_has(field.bytes, number, 0, &field))
			continue;
		*bytes = field.bytes;
		return true;
	}
	return false;
}

/* The description of a track. */
static struct message track_of(uint64_t uuid)
{
	struct message all = whole(), packet, track;

	while (next(&all, TRACK, &packet, &track))
		if (message_number(track, 1) == uuid)
			return track;
	fail_msg("track %lu is not described", (unsigned long)uuid);
	return (struct message){ 0 };
}

/* "mysqld (7) < where < disk": from the outermost one. */
static char *path_of(uint64_t uuid)
{
	struct message track = track_of(uuid);
	struct message thread = message_in(track, 4), process = message_in(track, 3);
	uint64_t parent = message_number(track, 5);
	char *name;

	if (thread.at)
		name = unit_text("%s (%lu)", message_text(thread, 5),
				 (unsigned long)message_number(thread, 2));
	else if (process.at)
		name = unit_text("%s (%lu)", message_text(process, 6),
				 (unsigned long)message_number(process, 1));
	else
		name = message_text(track, 2);
	return parent ? unit_text("%s < %s", path_of(parent), name) : name;
}

#define EVENTS 8192

/* All but counters, in order of time; those of one time as they are in the file. */
static struct event {
	uint64_t at;
	size_t place;
	unsigned int type;
	uint64_t track, flow_from, flow_to;
	struct message event;
} events[EVENTS];
static size_t nr_events;

static int by_time(const void *left, const void *right)
{
	const struct event *a = left, *b = right;

	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return a->place < b->place ? -1 : 1;
}

static void sort_events(void)
{
	struct message all = whole(), packet, event;

	nr_events = 0;
	while (next(&all, EVENT, &packet, &event)) {
		if (message_number(event, 9) == COUNTER)
			continue;
		assert_true(nr_events < EVENTS);
		events[nr_events] = (struct event){
			.at = message_number(packet, TIMESTAMP),
			.place = nr_events,
			.type = (unsigned int)message_number(event, 9),
			.track = message_number(event, 11),
			.flow_from = message_number(event, 47),
			.flow_to = message_number(event, 48),
			.event = event,
		};
		nr_events++;
	}
	qsort(events, nr_events, sizeof(events[0]), by_time);
}

/* As a reader of traces does it: "[10000 wait [2500 quota]]" by track, us since the start. */
static char *slices_of(uint64_t track)
{
	char *text = unit_text("%s", "");
	unsigned int depth = 0;

	for (size_t i = 0; i < nr_events; i++) {
		const struct event *event = &events[i];
		unsigned long us = (unsigned long)(event->at - START) / 1000;

		if (event->track != track)
			continue;
		if (event->type == BEGIN)
			text = unit_text("%s[%lu %s ", text, us, message_text(event->event, 23));
		else if (event->type == INSTANT)
			text = unit_text("%s(%lu %s) ", text, us, message_text(event->event, 23));
		else
			text = unit_text("%s%lu]", text, us);
		depth += event->type == BEGIN;
		if (event->type == END)
			assert_true(depth--);
	}
	assert_int_equal(depth, 0);
	return text;
}

/* The nth track with slices, in order of their first one. */
static uint64_t nth_track(unsigned int nth)
{
	uint64_t seen[64];
	unsigned int nr = 0;

	for (size_t i = 0; i < nr_events; i++) {
		unsigned int at = 0;

		while (at < nr && seen[at] != events[i].track)
			at++;
		if (at < nr)
			continue;
		assert_true(nr < COUNT_OF(seen));
		seen[nr++] = events[i].track;
		if (nr == nth + 1)
			return events[i].track;
	}
	return 0;
}

/* "0 2.5, 1000 0": ms and values of the counter with this path. */
static char *counter(const char *path)
{
	struct message all = whole(), packet, event;
	static char text[512];
	size_t len = 0;

	text[0] = '\0';
	while (next(&all, EVENT, &packet, &event)) {
		if (message_number(event, 9) != COUNTER ||
		    strcmp(path_of(message_number(event, 11)), path))
			continue;
		len += (size_t)snprintf(
			text + len, sizeof(text) - len, "%s%lu %.6g", len ? ", " : "",
			(unsigned long)((message_number(packet, TIMESTAMP) - START) / MS),
			message_double(event, 44));
		assert_true(len < sizeof(text));
	}
	return text;
}

/* ---- tests ---- */

static void add_one(unsigned int interval)
{
	if (interval != 1)
		return;
	add_slow((struct slow){ .end_ns = 1500 * MS,
				.ns = 10 * MS,
				.pid = 7,
				.tid = 8,
				.comm = "shop",
				.parts = { 1 * MS, 6 * MS, 3 * MS } });
}

TEST(a_slow_event_has_its_parts_within_it)
{
	record(2, add_one);
	sort_events();
	assert_string_equal(path_of(nth_track(0)),
			    "shop (7) < shop (8) < runqlat: waits for a CPU");
	assert_string_equal(slices_of(nth_track(0)),
			    unit_text("[1490000 wait for a CPU [1490000 %s 1491000]"
				      "[1491000 %s 1497000][1497000 %s 1500000]1500000]",
				      why__part("runqlat", 0)->name, why__part("runqlat", 1)->name,
				      why__part("runqlat", 2)->name));
	assert_int_equal(nth_track(1), 0);
}

static struct message arg_of(struct message event, const char *name)
{
	struct field field;

	for (unsigned int i = 0; message_has(event, 4, i, &field); i++)
		if (!strcmp(message_text(field.bytes, 10), name))
			return field.bytes;
	return (struct message){ 0 };
}

TEST(the_culprit_is_an_argument_of_the_event_and_of_its_part)
{
	record(2, add_one);
	sort_events();
	assert_string_equal(message_text(arg_of(events[0].event, "culprit 1"), 6),
			    unit_text("backup (9): %s 6.00 ms", why__part("runqlat", 1)->name));
	assert_int_equal(message_number(arg_of(events[0].event, "ns"), 4), 10 * MS);
	assert_null(arg_of(events[1].event, "culprit 1").at);
	assert_string_equal(message_text(arg_of(events[3].event, "culprit 1"), 6),
			    "backup (9): 6.00 ms");
}

static void add_overlapping(unsigned int interval)
{
	struct slow slow = { .pid = 7, .tid = 7, .comm = "shop" };

	if (interval)
		return;
	slow.end_ns = 500 * MS, slow.ns = 100 * MS;
	add_slow(slow); /* 400 to 500 */
	slow.end_ns = 550 * MS, slow.ns = 100 * MS;
	add_slow(slow); /* 450 to 550: overlaps */
	slow.end_ns = 600 * MS, slow.ns = 200 * MS;
	add_slow(slow); /* 400 to 600: around both */
	slow.end_ns = 650 * MS, slow.ns = 150 * MS;
	add_slow(slow); /* 500 to 650: follows the first one */
	slow.end_ns = 700 * MS, slow.ns = 900 * MS;
	add_slow(slow); /* it began before the window */
}

TEST(events_that_overlap_are_on_tracks_of_one_name)
{
	record(1, add_overlapping);
	sort_events();
	assert_int_equal(nr_events, 10);
	assert_int_equal(events[0].at, START - 200 * MS);
	for (unsigned int i = 0; i < 4; i++) {
		assert_string_equal(path_of(nth_track(i)),
				    "shop (7) < shop (7) < runqlat: waits for a CPU");
		slices_of(nth_track(i));
	}
	assert_int_equal(nth_track(4), 0);
	assert_string_equal(slices_of(nth_track(1)),
			    "[400000 wait for a CPU 500000][500000 wait for a CPU 650000]");
}

static void add_two_waits(unsigned int interval)
{
	if (interval)
		return;
	add_parts(900 * MS, 7, 2000 * (int64_t)MS, 0); /* names the process */
	add_wait(500 * MS, 80 * MS, 17, 8, "client");
	add_wait(600 * MS, 50 * MS, 17, 0, "client");
}

TEST(an_arrow_leads_from_the_thread_that_ended_a_wait_to_it)
{
	const struct event *from, *to;

	record(1, add_two_waits);
	sort_events();
	assert_int_equal(nr_events, 6);
	from = &events[1], to = &events[2];
	assert_int_equal(from->flow_from, to->flow_to);
	assert_int_not_equal(from->flow_from, 0);
	assert_int_equal(from->at, to->at);
	assert_string_equal(path_of(from->track),
			    "holder (8) < holder (8) < where: waits of others that it ended");
	assert_string_equal(path_of(to->track), "mysqld (7) < client (17) < where: long waits");
	assert_string_equal(slices_of(to->track),
			    "[420000 futex (500000 ended by holder (8)) 500000]"
			    "[550000 futex 600000]");
	assert_string_equal(slices_of(from->track), "(500000 ended the wait of client (17)) ");
	assert_string_equal(message_text(arg_of(events[0].event, "chain"), 6),
			    "holder (8): disk 3.0 ms");
	for (size_t i = 3; i < nr_events; i++)
		assert_false(events[i].flow_from || events[i].flow_to);
}

static void add_accounts(unsigned int interval)
{
	const uint64_t end_ns = (interval + 1) * 1000 * MS;

	if (interval != 1) /* it is gone for one interval */
		add_parts(end_ns, 7, 4000 * (int64_t)MS, (1000 + interval) * (int64_t)MS);
	if (interval == 2)
		add_parts(end_ns, 0, 500 * (int64_t)MS, 500 * (int64_t)MS);
}

TEST(parts_are_threads_on_average_from_the_start_of_an_interval)
{
	record(3, add_accounts);
	assert_string_equal(counter("mysqld (7) < where < life"), "0 4, 1000 0, 2000 4, 3000 0");
	assert_string_equal(counter("mysqld (7) < where < disk"),
			    "0 1, 1000 0, 2000 1.002, 3000 0");
	assert_string_equal(counter("mysqld (7) < where < cpu"), "0 3, 1000 0, 2000 2.998, 3000 0");
	assert_string_equal(counter("mysqld (7) < where < unknown"), "");
	assert_string_equal(counter("where < mysqld < disk"), "2000 0.5, 3000 0");
}

static void add_pressure(unsigned int interval)
{
	struct table *table = run->pressure.table;

	assert_int_equal(table__add_row(table, (interval + 1) * 1000 * MS), 0);
	table__set_integer(table, PRESSURE_IO_SOME, 250 * (int64_t)MS);
	table__set_integer(table, PRESSURE_MAJOR_FAULTS, 40 * interval);
}

TEST(metrics_and_pressure_are_counters)
{
	record(2, add_pressure);
	assert_string_equal(counter("runqlat < wait events"), "0 100, 1000 200, 2000 0");
	assert_string_equal(counter("runqlat < wait max"), "0 20, 2000 0");
	assert_string_equal(counter("pressure < io_some_ns"), "0 25, 2000 0");
	assert_string_equal(counter("pressure < major_faults"), "1000 40, 2000 0");
	assert_string_equal(counter("pressure < cpu_some_ns"), "");
}

static void add_nothing(unsigned int interval)
{
}

TEST(the_clocks_are_those_of_the_start_of_the_window)
{
	static const uint64_t wanted[][2] = { { 3, START },
					      { 1, START + 1700000000ULL * 1000 * MS },
					      { 6, START + 77 } };
	struct message all, packet, clocks;
	struct field clock;

	record(1, add_nothing);
	all = whole();
	assert_true(next(&all, CLOCKS, &packet, &clocks));
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(message_has(clocks, 1, i, &clock));
		assert_int_equal(message_number(clock.bytes, 1), wanted[i][0]);
		assert_int_equal(message_number(clock.bytes, 2), wanted[i][1]);
	}
	assert_int_equal(message_number(clocks, 2), 3);
	assert_false(next(&all, CLOCKS, &packet, &clocks));
}

TEST(a_recording_without_the_offsets_has_the_time_of_day_to_the_second)
{
	struct message all, packet, clocks;
	struct field clock;

	run->real_offset_ns = run->boot_offset_ns = 0;
	record(1, add_nothing);
	all = whole();
	assert_true(next(&all, CLOCKS, &packet, &clocks));
	assert_true(message_has(clocks, 1, 1, &clock));
	assert_int_equal(message_number(clock.bytes, 2), 1795216500ULL * 1000 * MS);
	assert_false(message_has(clocks, 1, 2, &clock));
}

/* ---- names ---- */

static bool is_utf8(struct message text)
{
	while (text.at < text.end) {
		unsigned int more = *text.at < 0x80	  ? 0
				    : *text.at >> 5 == 6  ? 1
				    : *text.at >> 4 == 14 ? 2
				    : *text.at >> 3 == 30 ? 3
							  : 9;

		if (more > (size_t)(text.end - text.at) - 1)
			return false;
		for (unsigned int i = 1; i <= more; i++)
			if (text.at[i] >> 6 != 2)
				return false;
		text.at += 1 + more;
	}
	return true;
}

static char *random_name(char name[64])
{
	size_t len = unit_random() % 63;

	for (size_t i = 0; i < len; i++)
		name[i] = (char)(1 + unit_random() % 255);
	name[len] = '\0';
	return name;
}

static void add_odd_names(unsigned int interval)
{
	char name[64];

	for (uint64_t i = 0; i < 100; i++) {
		const uint64_t end_ns = (1000 * interval + i * 10) * MS;

		add_slow((struct slow){ .end_ns = end_ns,
					.ns = MS,
					.pid = (int64_t)(i + 1),
					.tid = (int64_t)(i + 1),
					.comm = random_name(name) });
		add_wait(end_ns, MS, (int64_t)i + 1000, 8, random_name(name));
	}
}

/* All texts of these messages: of descriptions, events, and what is in them. */
static unsigned int check_texts(struct message message, unsigned int depth)
{
	static const unsigned int texts[][8] = { { 2, 14 }, { 6, 5 }, { 22, 23 }, { 6, 10 } };
	static const unsigned int inner[] = { 3, 4, 4, 12 };
	struct field field;
	unsigned int nr = 0;

	while (message_next(&message, &field)) {
		if (field.wire != 2)
			continue;
		for (unsigned int i = 0; i < 8 && texts[depth][i]; i++) {
			if (field.number != texts[depth][i])
				continue;
			assert_true(is_utf8(field.bytes));
			nr++;
		}
		if (field.number == inner[depth] || (!depth && field.number == 4))
			nr += check_texts(field.bytes, depth + 1);
	}
	return nr;
}

TEST(names_of_odd_bytes_are_valid_text)
{
	struct message all, packet, inner;
	unsigned int nr = 0;

	record(10, add_odd_names);
	all = whole();
	while (next(&all, TRACK, &packet, &inner))
		nr += check_texts(inner, 0);
	all = whole();
	while (next(&all, EVENT, &packet, &inner))
		nr += check_texts(inner, 2);
	assert_true(nr > 5000);
}

/* ---- room, errors ---- */

TEST(tracks_of_too_many_tasks_are_made_again)
{
	struct packets packets;
	struct tracks *tracks;
	uint64_t first, again;
	FILE *out = fopen("/dev/null", "w");

	assert_non_null(out);
	packets__begin(&packets, out, run);
	assert_int_equal(tracks__new(&tracks, &packets), 0);
	first = tracks__process(tracks, 1, "init");
	for (int64_t pid = 2; pid < TRACKS_MOST; pid++)
		tracks__process(tracks, pid, "x");
	assert_int_equal(tracks__process(tracks, 1, "init"), first);
	tracks__thread(tracks, TRACKS_MOST, TRACKS_MOST, "x");
	again = tracks__process(tracks, 1, "init");
	assert_int_not_equal(again, first);
	assert_int_equal(tracks__process(tracks, 1, "init"), again);
	tracks__free(tracks);
	assert_int_equal(packets__end(&packets), 0);
	fclose(out);
}

TEST(a_disk_without_room_is_an_error)
{
	struct run read;
	struct rundb *db;
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	fill = add_odd_names;
	recording_write(run, dir, "made", 3, fill_interval, NULL);
	run = NULL;
	assert_int_equal(rundb__open(&db, unit_path(dir, "made"), &read), 0);
	assert_int_equal(export__perfetto(full, db, &read), -ENOSPC);
	fclose(full);
	rundb__close(db);
	run__clear(&read);
}

UNIT_FIXTURES(.each = { begin, end })
