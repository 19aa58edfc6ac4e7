// SPDX-License-Identifier: BSD-2-Clause
#include "recording.h"

#include <sqlite3.h>

#include "store/rundb.h"

static struct frames frames; /* of the test that runs */

static void add(struct frames *to, uint64_t pid, uint64_t address, const char *name,
		const char *place, bool truncated)
{
	const struct frame frame = { pid, address, truncated, name, place };

	assert_int_equal(frames__add(to, &frame), 0);
}

static void clear(void)
{
	frames__clear(&frames);
}

TEST(each_process_has_its_own_addresses)
{
	add(&frames, 7, 0x1000, "main+0x1", "a+0x1000", false);
	add(&frames, 8, 0x1000, "other+0x2", "b+0x1000", false);
	add(&frames, 0, 0xffffffff81000000, "vfs_read+0x3", "[kernel]", false);
	frames__sort(&frames);
	assert_string_equal(frames__find(&frames, 7, 0x1000)->name, "main+0x1");
	assert_string_equal(frames__find(&frames, 8, 0x1000)->name, "other+0x2");
	assert_string_equal(frames__find(&frames, 0, 0xffffffff81000000)->place, "[kernel]");
	assert_null(frames__find(&frames, 0, 0x1000));
	clear();
	assert_null(frames__find(&frames, 7, 0x1000));
}

/* As an address at the top of one stack and the end of another. */
TEST(one_address_is_one_frame)
{
	add(&frames, 7, 0x1000, "", "", true);
	add(&frames, 7, 0x1000, "main+0x1", "a+0x1000", false);
	add(&frames, 7, 0x1000, "", "", false);
	frames__sort(&frames);
	assert_int_equal(frames.nr, 1);
	assert_string_equal(frames.frames[0].name, "main+0x1");
	assert_true(frames.frames[0].truncated);
}

static void assert_text(const char *name, const char *place, const char *text, const char *brief)
{
	const struct frame frame = { .name = name, .place = place };
	char out[FRAME_TEXT];

	assert_string_equal(frame__text(&frame, 0x7f00, false, out), text);
	assert_string_equal(frame__text(&frame, 0x7f00, true, out), brief);
}

TEST(the_text_says_what_is_known)
{
	char out[FRAME_TEXT];

	assert_text("read+0x1d", "libc.so.6+0x2a1c3 (8f3e)", "read+0x1d libc.so.6+0x2a1c3 (8f3e)",
		    "read+0x1d");
	assert_text("", "libc.so.6+0x2a1c3 (8f3e)", "libc.so.6+0x2a1c3 (8f3e)",
		    "libc.so.6+0x2a1c3");
	assert_text("", "[jit]", "0x7f00 [jit]", "0x7f00 [jit]");
	assert_text("", "", "0x7f00", "0x7f00");
	assert_string_equal(frame__text(NULL, 0x7f00, true, out), "0x7f00");
}

TEST(a_stack_is_taken_apart)
{
	const char *stack = "ffffffff81000000 7f00", *none = "";
	uint64_t address;

	assert_true(frames__next(&stack, &address));
	assert_int_equal(address, 0xffffffff81000000);
	assert_true(frames__next(&stack, &address));
	assert_int_equal(address, 0x7f00);
	assert_false(frames__next(&stack, &address));
	assert_false(frames__next(&none, &address));
}

TEST(frames_of_the_tracing_program_are_skipped)
{
	const char *stack = "81 82 83 84", *none = "84 81";

	add(&frames, 0, 0x81, "bpf_prog_1234_stamps_switch+0x1", "[bpf]", false);
	add(&frames, 0, 0x82, "bpf_trace_run4+0x2", "[kernel]", false);
	add(&frames, 0, 0x83, "__traceiter_sched_switch+0x3", "[kernel]", false);
	add(&frames, 0, 0x84, "__schedule+0x4", "[kernel]", false);
	frames__sort(&frames);
	frames__skip_tracing(&frames, &stack);
	assert_string_equal(stack, " 84");
	frames__skip_tracing(&frames, &none);
	assert_string_equal(none, "84 81");
}

/* The helper that reads the stack, and a program that the kernel does not name. */
TEST(nor_is_the_helper_of_latscope_shown)
{
	const char *stack = "a1 b2 c3 d4 e5", *rest = "d4 e5";

	add(&frames, 0, 0xa1, "bpf_get_task_stack+0x4", "[kernel]", false);
	add(&frames, 0, 0xc3, "bpf_trace_run4+0x8", "[kernel]", false);
	add(&frames, 0, 0xe5, "bpf_trace_run4+0x8", "[kernel]", false);
	add(&frames, 0, 0xd4, "lock_mm_and_find_vma+0x9", "[kernel]", false);
	frames__sort(&frames);
	frames__skip_tracing(&frames, &stack);
	assert_string_equal(stack, " d4 e5");
	frames__skip_tracing(&frames, &rest);
	assert_string_equal(rest, "d4 e5");
	clear();
}

static void assert_walk(uint64_t pid, const char *stack, unsigned int most, const char *wanted)
{
	struct frames_walk walk = frames__walk(&frames, pid, stack, most);
	char out[FRAME_TEXT], all[4 * FRAME_TEXT] = "";
	const char *text;

	while ((text = frames__walk_next(&walk, out)))
		strcat(strcat(all, text), " ");
	assert_null(frames__walk_next(&walk, out));
	assert_string_equal(all, wanted);
}

TEST(a_walk_says_how_the_stack_ends)
{
	add(&frames, 0, 0x81, "bpf_prog_1234_stamps_switch+0x1", "[bpf]", false);
	add(&frames, 0, 0x84, "__schedule+0x4", "[kernel]", false);
	add(&frames, 7, 0x1, "read+0x1", "libc+0x1", false);
	add(&frames, 7, 0x2, "main+0x2", "a+0x2", true);
	frames__sort(&frames);
	assert_walk(0, "81 84 ff", 6, "__schedule+0x4 0xff ");
	assert_walk(7, "1 2", 2, "read+0x1 main+0x2 (truncated: no frame pointer) ");
	assert_walk(7, "1 2", 1, "read+0x1 ... ");
	assert_walk(7, "2 1", 6, "main+0x2 read+0x1 ");
	assert_walk(7, "", 6, "");
}

TEST(names_longer_than_a_text_are_cut)
{
	char name[2 * FRAME_TEXT], out[FRAME_TEXT];

	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	add(&frames, 7, 1, name, name, false);
	assert_true(strlen(frame__text(&frames.frames[0], 1, false, out)) < FRAME_TEXT);
}

/* A recording with these frames. */
static void write_run(void)
{
	struct run *run = sample_bare();

	add(&run->frames, 0, 0xffffffff81000000, "vfs_read+0x3", "[kernel]", false);
	add(&run->frames, 7, 0x1000, "main+0x1", "a+0x1000 (8f3e)", true);
	frames__sort(&run->frames);
	strcpy(run->frames_why, "some are hidden");
	recording_write(run, dir, "run", 1, NULL, NULL);
}

static struct run read_run;
static struct rundb *db;

static int open_run(void)
{
	return rundb__open(&db, unit_path(dir, "run"), &read_run);
}

TEST(frames_are_read_back)
{
	const struct frame *frame;

	write_run();
	assert_int_equal(open_run(), 0);
	assert_int_equal(read_run.frames.nr, 2);
	frame = frames__find(&read_run.frames, 0, 0xffffffff81000000);
	assert_string_equal(frame->name, "vfs_read+0x3");
	assert_string_equal(frame->place, "[kernel]");
	assert_false(frame->truncated);
	frame = frames__find(&read_run.frames, 7, 0x1000);
	assert_string_equal(frame->place, "a+0x1000 (8f3e)");
	assert_true(frame->truncated);
	assert_string_equal(read_run.frames_why, "some are hidden");
	rundb__close(db);
	run__clear(&read_run);
}

static void change(const char *sql)
{
	sqlite3 *file;

	assert_int_equal(sqlite3_open(unit_path(dir, "run/run.db"), &file), SQLITE_OK);
	assert_int_equal(sqlite3_exec(file, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(file);
}

TEST(damaged_frames_are_refused)
{
	static const char *const changes[] = { "UPDATE frame SET address = 'not hexadecimal'",
					       "UPDATE frame SET pid = -1",
					       "UPDATE frame SET truncated = 'yes'",
					       "DROP TABLE frame" };

	for (size_t i = 0; i < COUNT_OF(changes); i++) {
		write_run();
		change(changes[i]);
		assert_int_equal(open_run(), -EUCLEAN);
		run__clear(&read_run);
		unit_empty_dir();
	}
}

UNIT_FIXTURES(.each = { .tear_down = clear })
