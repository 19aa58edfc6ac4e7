// SPDX-License-Identifier: BSD-2-Clause
/* Long sleeps by thread, reason and stack: sums, room, names; and what other tools get of them. */
#include "protobuf.h"
#include "sample.h"

#include <zlib.h>

#include <export/export.h>
#include <probes/where/stacks.h>
#include <symbols/symbols.h>

static struct stacks *stacks;
static struct run *run;
static struct table **table; /* of the run */
static unsigned int named; /* stacks that got names */

int symbols__add(struct symbols *symbols, uint32_t tgid, const uint64_t *addresses, size_t nr)
{
	assert_int_equal(tgid, 0);
	assert_true(nr && addresses[0]);
	return (int)named++;
}

static void begin(void)
{
	assert_int_equal(stacks__new(&stacks), 0);
	run = calloc(1, sizeof(*run));
	assert_non_null(run);
	table = &sample_probe(run, "where", "tp_btf", "made up")->more[RUN_STACKS];
	assert_int_equal(sleep_stacks__new(table), 0);
	named = 0;
}

static void end(void)
{
	stacks__free(stacks);
	sample_free(run);
}

#define FUTEX 202

static struct where_part part_of(uint32_t tgid, uint32_t state, uint64_t ns, uint64_t address)
{
	struct where_part part = { .tid = tgid,
				   .tgid = tgid,
				   .begin_ns = 1000,
				   .end_ns = 1000 + ns,
				   .what = WHERE_WHAT(state, FUTEX),
				   .comm = "worker",
				   .stack_size = 16,
				   .wanted = 1,
				   .stack = { address, 0xff00 } };

	return part;
}

static void add(struct where_part part)
{
	stacks__add(stacks, &part);
}

static void put(uint64_t time_ns)
{
	/* cppcheck-suppress nullPointer ; is not used */
	assert_int_equal(stacks__put(stacks, *table, time_ns, 5000, (struct symbols *)&named), 0);
}

static int64_t integer(size_t row, unsigned int column)
{
	const struct table_value value = table__value(*table, row, column);

	return value.known ? value.integer : -1;
}

static const char *text(size_t row, unsigned int column)
{
	const struct table_value value = table__value(*table, row, column);

	return value.known ? value.text : "(unknown)";
}

static uint64_t sum(unsigned int column)
{
	uint64_t all = 0;

	for (size_t row = 0; row < table__rows(*table); row++)
		all += (uint64_t)integer(row, column);
	return all;
}

TEST(sleeps_with_the_same_stack_are_one_row)
{
	add(part_of(7, WHERE_FUTEX, 100, 0xa0));
	add(part_of(7, WHERE_FUTEX, 20, 0xa0));
	put(9000);
	assert_int_equal(table__rows(*table), 1);
	assert_int_equal(integer(0, SLEEP_STACKS_NS), 120);
	assert_int_equal(integer(0, SLEEP_STACKS_TIMES), 2);
	assert_int_equal(integer(0, SLEEP_STACKS_PID), 7);
	assert_int_equal(integer(0, SLEEP_STACKS_OVER_NS), 5000);
	assert_string_equal(text(0, SLEEP_STACKS_COMM), "worker");
	assert_string_equal(text(0, SLEEP_STACKS_STATE), "futex");
	assert_string_equal(text(0, SLEEP_STACKS_STACK), "a0 ff00");
}

TEST(another_process_state_call_or_stack_is_another_row)
{
	struct where_part call = part_of(7, WHERE_FUTEX, 100, 0xa0), none = call, name = call;

	add(part_of(7, WHERE_FUTEX, 100, 0xa0));
	add(part_of(8, WHERE_FUTEX, 100, 0xa0));
	add(part_of(7, WHERE_DISK, 100, 0xa0));
	add(part_of(7, WHERE_FUTEX, 100, 0xa1));
	call.what = WHERE_WHAT(WHERE_FUTEX, WHERE_NO_CALL);
	none.stack_size = -14;
	name.comm[0] = 'W';
	add(call);
	add(none);
	add(name);
	put(9000);
	assert_int_equal(table__rows(*table), 7);
	assert_int_equal(sum(SLEEP_STACKS_NS), 700);
	assert_string_equal(text(4, SLEEP_STACKS_CALL), "");
	assert_string_equal(text(5, SLEEP_STACKS_STACK), "(unknown)");
}

TEST(time_on_a_cpu_or_waiting_for_one_is_no_sleep)
{
	add(part_of(7, WHERE_CPU, 100, 0xa0));
	add(part_of(7, WHERE_READY, 100, 0xa0));
	add(part_of(7, WHERE_UNKNOWN, 100, 0xa0));
	put(9000);
	assert_int_equal(table__rows(*table), 0);
}

TEST(sleeps_of_threads_that_the_filters_refuse_do_not_count)
{
	struct where_part part = part_of(7, WHERE_FUTEX, 100, 0xa0);

	part.wanted = 0;
	add(part);
	put(9000);
	assert_int_equal(table__rows(*table), 0);
}

TEST(an_interval_has_only_its_own_sleeps)
{
	add(part_of(7, WHERE_FUTEX, 100, 0xa0));
	put(9000);
	assert_int_equal(table__fold(*table), 0);
	add(part_of(7, WHERE_FUTEX, 30, 0xa0));
	put(10000);
	assert_int_equal(sum(SLEEP_STACKS_NS), 30);
	assert_int_equal(sum(SLEEP_STACKS_TIMES), 1);
	assert_int_equal(table__fold(*table), 0);
	put(11000);
	assert_int_equal(table__rows(*table), 0);
	assert_int_equal(named, 1);
}

TEST(what_finds_no_room_is_added_up_by_state)
{
	for (uint64_t i = 0; i < STACKS_MOST + 500; i++)
		add(part_of(7, i % 2 ? WHERE_DISK : WHERE_FUTEX, 10, 0xa0 + i));
	put(9000);
	assert_int_equal(table__rows(*table), STACKS_MOST + 2);
	assert_int_equal(sum(SLEEP_STACKS_NS), 10 * (STACKS_MOST + 500));
	assert_int_equal(integer(STACKS_MOST, SLEEP_STACKS_NS), 2500);
	assert_int_equal(integer(STACKS_MOST, SLEEP_STACKS_PID), -1);
	assert_string_equal(text(STACKS_MOST, SLEEP_STACKS_COMM), "(other)");
	assert_string_equal(text(STACKS_MOST, SLEEP_STACKS_STATE), "disk");
	assert_int_equal(table__fold(*table), 0);
	for (uint64_t i = 0; i < STACKS_MOST; i++)
		add(part_of(8, WHERE_FUTEX, 10, 0xa0 + i));
	put(10000); /* the next interval has room again */
	assert_int_equal(table__rows(*table), STACKS_MOST);
}

TEST(names_are_sanitized)
{
	struct where_part part = part_of(7, WHERE_FUTEX, 100, 0xa0);

	memcpy(part.comm, "a\033[31m\xff\xfe;b------", LAT_COMM_LEN); /* without an end */
	add(part);
	put(9000);
	assert_string_equal(text(0, SLEEP_STACKS_COMM), "a?[31m??;b------");
}

/* ---- other tools ---- */

static void name_frame(uint64_t address, const char *name)
{
	const struct frame frame = { .address = address, .name = name, .place = "[kernel]" };

	assert_int_equal(frames__add(&run->frames, &frame), 0);
}

/* Two processes with one stack, one with another, one without. */
static void fill(void)
{
	struct where_part none = part_of(9, WHERE_OTHER, 3000, 0);

	none.stack_size = -14;
	none.what = WHERE_WHAT(WHERE_OTHER, WHERE_NO_CALL);
	memcpy(none.comm, "a;b c", 6);
	add(part_of(7, WHERE_FUTEX, 1400000, 0xa1));
	add(part_of(8, WHERE_FUTEX, 2000400, 0xa1));
	add(part_of(7, WHERE_DISK, 5000, 0xb0));
	add(none);
	put(9000);
	assert_int_equal(table__fold(*table), 0);
	name_frame(0xa1, "futex_wait+0x1d");
	name_frame(0xff00, "do_syscall_64+0x99");
	frames__sort(&run->frames);
}

TEST(folded_lines_have_the_outermost_function_first_and_us)
{
	FILE *out = unit_print();

	fill();
	assert_true(export__has_stacks(run));
	assert_int_equal(export__folded(out, run), 0);
	assert_string_equal(unit_printed(), "a:b c;other 3\n"
					    "worker;disk;futex;do_syscall_64;0xb0 5\n"
					    "worker;futex;futex;do_syscall_64;futex_wait 3400\n");
}

TEST(without_stacks_nothing_is_folded)
{
	FILE *out = unit_print();

	assert_int_equal(export__folded(out, run), 0);
	assert_string_equal(unit_printed(), "");
	table__free(*table);
	*table = NULL;
	assert_false(export__has_stacks(run));
}

/* ---- pprof ---- */

static unsigned char profile[1 << 16];

static struct message unzip(const char *zipped, size_t size)
{
	z_stream stream = { .next_in = (unsigned char *)zipped,
			    .avail_in = (unsigned int)size,
			    .next_out = profile,
			    .avail_out = sizeof(profile) };

	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	assert_int_equal(stream.avail_in, 0);
	inflateEnd(&stream);
	return (struct message){ profile, profile + stream.total_out };
}

static struct message make_profile(void)
{
	FILE *out = unit_print();
	struct message message;

	assert_int_equal(export__pprof(out, run), 0);
	fclose(unit_output.out);
	message = unzip(unit_output.text, unit_output.size);
	free(unit_output.text);
	return message;
}

enum { SAMPLE_TYPE = 1, SAMPLE, MAPPING, LOCATION, FUNCTION, STRING, DEFAULT_TYPE = 14 };

static char *string_of(struct message message, uint64_t nth)
{
	struct field field;

	assert_true(message_has(message, STRING, (unsigned int)nth, &field));
	return unit_text("%.*s", (int)(field.bytes.end - field.bytes.at),
			 (const char *)field.bytes.at);
}

/* Its function, by the ID of a location. */
static char *function_of(struct message message, uint64_t id)
{
	struct field location, function;

	for (unsigned int i = 0; message_has(message, LOCATION, i, &location); i++) {
		if (message_number(location.bytes, 1) != id)
			continue;
		id = message_number(message_in(location.bytes, 4), 1);
		for (i = 0; message_has(message, FUNCTION, i, &function); i++)
			if (message_number(function.bytes, 1) == id)
				return string_of(message, message_number(function.bytes, 2));
	}
	fail_msg("no location %lu", (unsigned long)id);
	return NULL;
}

/* "us times function < function": of a sample. */
static char *sample_of(struct message message, struct message sample)
{
	struct message ids = message_in(sample, 1), values = message_in(sample, 2);
	char *names = unit_text("%s", "");
	unsigned long us, times;

	while (ids.at < ids.end)
		names = unit_text("%s %s", names, function_of(message, message_varint(&ids)));
	us = (unsigned long)message_varint(&values) / 1000;
	times = (unsigned long)message_varint(&values);
	return unit_text("%lu %lu%s", us, times, names);
}

TEST(a_profile_has_each_stack_with_its_time_and_number)
{
	struct message message;
	struct field field;

	fill();
	message = make_profile();
	assert_true(message_has(message, SAMPLE_TYPE, 0, &field));
	assert_string_equal(string_of(message, message_number(field.bytes, 1)), "off-cpu");
	assert_string_equal(string_of(message, message_number(field.bytes, 2)), "nanoseconds");
	assert_true(message_has(message, SAMPLE_TYPE, 1, &field));
	assert_string_equal(string_of(message, message_number(field.bytes, 1)), "sleeps");
	assert_string_equal(string_of(message, message_number(message, DEFAULT_TYPE)), "off-cpu");
	assert_string_equal(string_of(message, 0), "");
	assert_true(message_has(message, SAMPLE, 0, &field));
	assert_string_equal(sample_of(message, field.bytes), "1400 1 futex_wait do_syscall_64");
	assert_true(message_has(message, SAMPLE, 1, &field));
	assert_string_equal(sample_of(message, field.bytes), "2000 1 futex_wait do_syscall_64");
	assert_true(message_has(message, SAMPLE, 2, &field));
	assert_string_equal(sample_of(message, field.bytes), "5 1 0xb0 do_syscall_64");
	assert_true(message_has(message, SAMPLE, 3, &field));
	assert_string_equal(sample_of(message, field.bytes), "3 1 (no stack)");
	assert_false(message_has(message, SAMPLE, 4, &field));
}

TEST(labels_of_a_sample_say_whose_it_is_and_why)
{
	struct message message;
	struct field sample, label;
	char *labels = unit_text("%s", "");

	fill();
	message = make_profile();
	assert_true(message_has(message, SAMPLE, 0, &sample));
	for (unsigned int i = 0; message_has(sample.bytes, 3, i, &label); i++)
		labels = unit_text("%s%s=%s%lu ", labels,
				   string_of(message, message_number(label.bytes, 1)),
				   string_of(message, message_number(label.bytes, 2)),
				   (unsigned long)message_number(label.bytes, 3));
	assert_string_equal(labels, "comm=worker0 state=futex0 call=futex0 pid=7 ");
}

TEST(a_profile_that_cannot_be_written_is_an_error)
{
	FILE *full = fopen("/dev/full", "w");

	assert_non_null(full);
	fill();
	assert_int_equal(export__pprof(full, run), -ENOSPC);
	fclose(full);
}

UNIT_FIXTURES(.each = { begin, end })
