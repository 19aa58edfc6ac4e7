// SPDX-License-Identifier: BSD-2-Clause
/* Attribution of spans to processes, with records in any order and some of them lost. */
#include "unit.h"

#include "core/clock.h"
#include "probes/rmid/attribution.h"
#include "probes/rmid/cpus.h"
#include "probes/rmid/module.h"
#include "probes/rmid/phase.h"
#include "probes/rmid/conflict.h"
#include "probes/rmid/columns.h"

#define MS RMID_SLOT_NS
#define START (100 * MS)
#define BORN 77

static struct attribution attribution;
static uint64_t seq;

static void set_up(void)
{
	assert_int_equal(attribution__init(&attribution, 2), 0);
	slots__start(attribution.slots, START);
	slots__join(attribution.slots, 0, START);
	seq = 0;
}

static struct table *table;

static void tear_down(void)
{
	table__free(table);
	table = NULL;
	attribution__clear(&attribution);
}

static void take(const void *record, size_t size)
{
	assert_int_equal(attribution__take(&attribution, record, size), 0);
}

static void send_span(enum lat_rmid_who who, uint32_t id, uint64_t from, uint64_t to, uint8_t flags)
{
	struct lat_rmid_span span = {
		.head = { .time_ns = to, .record = RMID_SPAN, .flags = flags },
		.start_ns = from,
		.who = who,
		.id = id,
		.born_ns = BORN
	};

	take(&span, RMID_SPAN_SIZE);
}

static void send_owner(enum lat_rmid_fate fate, uint32_t rmid, uint32_t tgid, uint64_t time_ns)
{
	uint64_t number = ++seq;
	struct lat_rmid_owner record = {
		.head = { .time_ns = time_ns, .record = RMID_OWNER, .flags = fate },
		.owner = { .seq = number,
			   .time_ns = time_ns,
			   .since_ns = time_ns,
			   .start_ns = tgid,
			   .rmid = rmid,
			   .tgid = tgid,
			   .why = fate == RMID_LISTED ? LATSCOPE_RMID_DUMP : LATSCOPE_RMID_BIRTH },
	};

	snprintf(record.owner.comm, sizeof(record.owner.comm), "p%u", tgid);
	take(&record, sizeof(record));
}

static void send_process(uint32_t tgid, uint64_t born_ns, const char *comm)
{
	struct lat_rmid_process record = { .head = { .record = RMID_PROCESS },
					   .born_ns = born_ns,
					   .tgid = tgid };

	snprintf(record.comm, sizeof(record.comm), "%s", comm);
	take(&record, sizeof(record));
}

/* The process of the next slot, which must contain nothing else. */
static uint32_t next_process(void)
{
	const struct slot *slot = slots__next(attribution.slots);

	assert_non_null(slot);
	assert_int_equal(slot->nr, 1);
	return slot->cells[0].process;
}

static uint32_t next_tgid(void)
{
	return processes__at(attribution.processes, next_process())->tgid;
}

TEST(by_process_and_its_start, set_up, tear_down)
{
	uint32_t first, second;

	send_span(RMID_WHO_PROCESS, 500, START, START + MS, 0);
	first = next_process();
	assert_int_equal(first, processes__find(attribution.processes, 500, BORN));
	second = processes__find(attribution.processes, 500, BORN + 1); /* the number, used again */
	assert_int_not_equal(first, second);
	assert_int_not_equal(processes__at(attribution.processes, first)->number,
			     processes__at(attribution.processes, second)->number);
}

/* A thread may exit slowly: its process is the same until then. */
TEST(an_end_that_was_told_too_early, set_up, tear_down)
{
	const uint64_t second = 1000 * MS;
	const struct process *process;
	uint32_t index;

	send_span(RMID_WHO_PROCESS, 500, START, START + MS, RMID_SWITCHED | RMID_LAST);
	index = next_process();
	process = processes__at(attribution.processes, index);
	send_span(RMID_WHO_PROCESS, 500, START + MS, START + 2 * second, 0);
	processes__forget(attribution.processes, START + second);
	send_span(RMID_WHO_PROCESS, 500, START + 2 * second, START + 3 * second, RMID_LAST);
	assert_int_equal(processes__find(attribution.processes, 500, BORN), index);
	assert_int_equal(process->number, 1);
	assert_int_equal(process->ended_ns, START + 3 * second);
	send_span(RMID_WHO_PROCESS, 500, START, START + second, 0); /* late, and of before */
	assert_int_equal(process->ended_ns, START + 3 * second);
	processes__forget(attribution.processes, START + 3 * second + 1);
	assert_int_equal(process->tgid, 0);
}

TEST(what_is_no_process_stands_apart, set_up, tear_down)
{
	send_span(RMID_WHO_IDLE, 0, START, START + MS, 0);
	send_span(RMID_WHO_WAITING, 0, START + MS, START + 2 * MS, 0);
	send_span(RMID_WHO_KERNEL, 0, START + 2 * MS, START + 3 * MS, 0);
	send_span(RMID_WHO_RMID, 9, START + 3 * MS, START + 4 * MS, 0); /* never heard of */
	send_span(RMID_WHO_RMID, 5000, START + 4 * MS, START + 5 * MS, 0);
	assert_int_equal(next_process(), PROCESSES_IDLE);
	assert_int_equal(next_process(), PROCESSES_WAITING);
	assert_int_equal(next_process(), PROCESSES_KERNEL);
	assert_int_equal(next_process(), PROCESSES_UNKNOWN);
	assert_int_equal(next_process(), PROCESSES_UNKNOWN);
}

TEST(a_name_is_that_of_the_last_exec, set_up, tear_down)
{
	uint32_t index;

	send_process(500, BORN, "sh");
	send_process(500, BORN, "a-name-of-15-by"); /* as long as the kernel has them */
	index = processes__find(attribution.processes, 500, BORN);
	assert_string_equal(processes__at(attribution.processes, index)->comm, "a-name-of-15-by");
}

TEST(who_has_an_rmid_and_a_new_name, set_up, tear_down)
{
	uint32_t index;

	attribution.by_rmid = true;
	send_process(500, 500, "waits"); /* has no RMID, so it is nobody */
	assert_int_equal(processes__look(attribution.processes, 500, 500), 0);
	send_owner(RMID_ALLOCATED, 7, 500, START);
	index = processes__look(attribution.processes, 500, 500);
	assert_string_equal(processes__at(attribution.processes, index)->comm, "p500");
	send_process(500, 500, "worker");
	assert_string_equal(processes__at(attribution.processes, index)->comm, "worker");
	send_owner(RMID_LISTED, 7, 500, START); /* knows of exec only */
	assert_string_equal(processes__at(attribution.processes, index)->comm, "worker");
}

TEST(by_the_owner_of_the_rmid, set_up, tear_down)
{
	send_owner(RMID_ALLOCATED, 3, 500, START - MS);
	send_span(RMID_WHO_RMID, 3, START, START + MS, 0);
	send_owner(RMID_FREED, 3, 500, START + MS);
	send_owner(RMID_ALLOCATED, 3, 600, START + 4 * MS);
	send_span(RMID_WHO_RMID, 3, START + 4 * MS, START + 5 * MS, 0);
	assert_int_equal(next_tgid(), 500);
	assert_int_equal(slots__next(attribution.slots)->missing_ns, MS);
	slots__next(attribution.slots);
	slots__next(attribution.slots);
	assert_int_equal(next_tgid(), 600);
}

/* A CPU was delayed between the time of the span and the ring: the RMID has a new owner now. */
TEST(a_span_that_comes_late_is_its_old_owners, set_up, tear_down)
{
	send_owner(RMID_ALLOCATED, 3, 500, START - MS);
	send_owner(RMID_FREED, 3, 500, START + MS);
	send_owner(RMID_ALLOCATED, 3, 600, START + 3 * MS);
	send_span(RMID_WHO_RMID, 3, START, START + MS, 0);
	assert_int_equal(next_tgid(), 500);
}

/* The record of its last switch may come after that of its end. */
TEST(a_span_may_end_a_moment_after_its_owner, set_up, tear_down)
{
	send_owner(RMID_ALLOCATED, 3, 500, START - MS);
	send_owner(RMID_FREED, 3, 500, START + MS - 300);
	send_span(RMID_WHO_RMID, 3, START, START + MS, 0);
	assert_int_equal(next_tgid(), 500);
}

TEST(no_process_has_an_rmid_in_limbo_for_long, set_up, tear_down)
{
	send_owner(RMID_ALLOCATED, 3, 500, START - 9 * MS);
	send_owner(RMID_FREED, 3, 500, START - 8 * MS);
	send_span(RMID_WHO_RMID, 3, START, START + MS, 0);
	assert_int_equal(next_process(), PROCESSES_UNKNOWN);
}

TEST(what_was_before_an_owner_is_not_his, set_up, tear_down)
{
	send_owner(RMID_ALLOCATED, 3, 600, START + 5 * MS);
	send_span(RMID_WHO_RMID, 3, START, START + MS, 0);
	assert_int_equal(next_process(), PROCESSES_UNKNOWN);
}

TEST(being_told_again_changes_nothing, set_up, tear_down)
{
	send_owner(RMID_ALLOCATED, 3, 500, START - MS);
	send_owner(RMID_FREED, 3, 500, START);
	send_owner(RMID_ALLOCATED, 3, 600, START + 2 * MS);
	send_owner(RMID_LISTED, 3, 600, START + 2 * MS);
	send_owner(RMID_LISTED, 3, 600, START + 2 * MS);
	send_span(RMID_WHO_RMID, 3, START - MS, START, 0);
	send_span(RMID_WHO_RMID, 3, START + 2 * MS, START + 3 * MS, 0);
	assert_false(attribution.owners_lost);
	slots__next(attribution.slots);
	slots__next(attribution.slots);
	assert_int_equal(next_tgid(), 600);
}

TEST(a_record_on_owners_that_is_lost_is_noticed, set_up, tear_down)
{
	send_owner(RMID_ALLOCATED, 3, 500, START - MS);
	seq++; /* it was freed, and given to somebody else */
	send_span(RMID_WHO_RMID, 3, START, START + MS, 0);
	assert_false(attribution.owners_lost);
	send_owner(RMID_ALLOCATED, 4, 700, START + MS);
	assert_true(attribution.owners_lost);
	attribution__doubt(&attribution, START + MS);
	assert_false(attribution.owners_lost);
	assert_true(slots__next(attribution.slots)->doubtful);
	send_owner(RMID_LISTED, 3, 600, START + MS); /* the answer to being asked again */
	send_span(RMID_WHO_RMID, 3, START + MS, START + 2 * MS, 0);
	assert_int_equal(next_tgid(), 600);
}

TEST(numbers_are_used_again, set_up, tear_down)
{
	uint32_t gone, next;

	send_owner(RMID_ALLOCATED, 3, 500, START);
	gone = processes__find(attribution.processes, 500, 500);
	send_owner(RMID_FREED, 3, 500, START + MS);
	processes__forget(attribution.processes, START + MS);
	assert_int_equal(processes__find(attribution.processes, 500, 500), gone);
	processes__forget(attribution.processes, START + MS + 1);
	next = processes__find(attribution.processes, 900, BORN);
	assert_int_equal(next, gone);
	/* A process that starts now is not mistaken for the former owner of the RMID. */
	assert_int_equal(processes__owner(attribution.processes, 3, START + MS), PROCESSES_UNKNOWN);
}

/* An hour of forks must fit. */
TEST(processes_that_ended_take_no_room, set_up, tear_down)
{
	for (uint32_t i = 0; i < 100000; i++) {
		uint64_t at = START + i * 1000;

		send_process(1000 + i % 30000, at, "short");
		send_span(RMID_WHO_PROCESS, 1000 + i % 30000, at, at, RMID_LAST);
		processes__end(attribution.processes,
			       processes__find(attribution.processes, 1000 + i % 30000, at), at);
		processes__end(attribution.processes,
			       processes__find(attribution.processes, 1000 + i % 30000, BORN), at);
		if (i % 100 == 0)
			processes__forget(attribution.processes, at);
	}
	assert_true(processes__limit(attribution.processes) < 1000);
}

TEST(ticks_are_judged, set_up, tear_down)
{
	send_span(RMID_WHO_IDLE, 0, START, START + MS - 100000, RMID_TICKED);
	send_span(RMID_WHO_IDLE, 0, START, START + MS + 100000, RMID_TICKED);
	send_span(RMID_WHO_IDLE, 0, START, START + MS + 100001, RMID_TICKED);
	send_span(RMID_WHO_IDLE, 0, START, START + MS + 500000, RMID_TICKED);
	send_span(RMID_WHO_IDLE, 0, START, START + 2 * MS, 0);
	assert_int_equal(attribution.ticks, 4);
	assert_int_equal(attribution.ticks_in_time, 2);
}

struct pair {
	struct lat_rmid_batch batch;
	struct lat_rmid_cell cells[2];
};

TEST(what_is_no_record_is_counted, set_up, tear_down)
{
	struct lat_rmid_span span = { .head = { .record = RMID_SPAN, .cpu = 99 } };
	struct lat_rmid_head head = { .record = 200 };
	struct pair batch = { .batch = { .head = { .time_ns = START + 9,
						   .record = RMID_COUNTED_BATCH },
					 .start_ns = START } };

	take(&head, sizeof(head));
	take(&head, 3);
	head.record = RMID_PROCESS;
	take(&head, sizeof(head));
	take(&span, RMID_SPAN_SIZE);
	send_owner(RMID_ALLOCATED, 0, 500, START);
	send_owner(RMID_ALLOCATED, LATSCOPE_RMID_MAX + 1, 500, START);
	assert_int_equal(attribution.malformed, 6);
	batch.batch.nr = 3;
	take(&batch, sizeof(batch)); /* cut off */
	batch.batch.nr = UINT32_MAX / sizeof(batch.cells[0]) + 1;
	take(&batch, sizeof(batch));
	batch.batch.nr = 2;
	take(&batch, sizeof(batch)); /* its cells do not fill it */
	assert_int_equal(attribution.malformed, 9);
	assert_null(slots__next(attribution.slots));
}

/* One record of what several processes had, one of which ended. */
TEST(a_batch_is_of_several, set_up, tear_down)
{
	struct pair batch = {
		.batch = { .head = { .time_ns = START + 500, .record = RMID_COUNTED_BATCH },
			   .start_ns = START,
			   .nr = 2 },
		.cells = { { .who = RMID_WHO_PROCESS, .id = 500, .born_ns = BORN, .cpu_ns = 400 },
			   { .who = RMID_WHO_PROCESS, .id = 501, .born_ns = BORN, .cpu_ns = 100 } },
	};
	const struct process *process;
	const struct slot *slot;

	batch.cells[1].flags = RMID_LAST;
	take(&batch, sizeof(batch));
	send_span(RMID_WHO_IDLE, 0, START + 500, START + MS, 0);
	slot = slots__next(attribution.slots);
	assert_non_null(slot);
	assert_int_equal(slot->nr, 3);
	assert_int_equal(slot->missing_ns, 0);
	process = processes__at(attribution.processes, slot->cells[0].process);
	assert_int_equal(process->tgid, 500);
	assert_int_equal(process->ended_ns, 0);
	assert_int_equal(slot->cells[0].sums.cpu_ns, 400);
	process = processes__at(attribution.processes, slot->cells[1].process);
	assert_int_equal(process->tgid, 501);
	assert_int_equal(process->ended_ns, START + 500);
}

TEST(a_reading_without_a_value_is_none, set_up, tear_down)
{
	struct lat_rmid_read record = { .head = { .record = RMID_READ },
					.read = { .time_ns = START + 5,
						  .since_ns = START + 5,
						  .rmid = 3,
						  .event = LATSCOPE_RMID_OCCUPANCY,
						  .status = LATSCOPE_RMID_UNAVAILABLE } };
	const struct slot *slot;

	send_owner(RMID_ALLOCATED, 3, 500, START);
	take(&record, sizeof(record));
	assert_int_equal(attribution.no_value, 1);
	record.read.status = LATSCOPE_RMID_VALUE;
	record.read.bytes = 1 << 20;
	take(&record, sizeof(record));
	send_span(RMID_WHO_IDLE, 0, START, START + MS, 0);
	slot = slots__next(attribution.slots);
	assert_int_equal(slot->nr, 2);
	assert_int_equal(slot->cells[0].sums.cache[0].bytes, 1 << 20);
	assert_int_equal(processes__at(attribution.processes, slot->cells[0].process)->tgid, 500);
}

/* ---- rows ---- */

static const unsigned int two_counters[] = { 0, 2 };
static const struct rows_layout layout = { two_counters, 2, true, true };

static void make_rows(void)
{
	const struct slot *slot;

	assert_int_equal(rows__new_table(&table, &layout), 0);
	while ((slot = slots__next(attribution.slots)))
		assert_int_equal(rows__add(table, &layout, slot, attribution.processes, START), 0);
}

static struct table_value value(size_t row, unsigned int column)
{
	return table__value(table, row, column);
}

TEST(idle_slots_have_rows_like_others, set_up, tear_down)
{
	send_span(RMID_WHO_IDLE, 0, START, START + 2 * MS, 0);
	send_process(500, BORN, "one\033[31m");
	send_span(RMID_WHO_PROCESS, 500, START + 2 * MS, START + 2 * MS + 5, 0);
	send_span(RMID_WHO_IDLE, 0, START + 2 * MS + 5, START + 3 * MS, 0);
	make_rows();
	assert_int_equal(table__rows(table), 4);
	assert_int_equal(table__time_ns(table, 1), 2 * MS);
	assert_string_equal(value(1, ROWS_COMM).text, "(idle)");
	assert_int_equal(value(1, ROWS_CPU_NS).integer, MS);
	assert_int_equal(table__time_ns(table, 2), 3 * MS);
	assert_int_equal(value(2, ROWS_PID).integer, 500);
	assert_string_equal(value(2, ROWS_COMM).text, "one?[31m");
	assert_int_equal(value(2, ROWS_CPU_NS).integer, 5);
	assert_int_equal(value(2, ROWS_INCOMPLETE).integer, 0);
	assert_string_equal(value(3, ROWS_COMM).text, "(idle)");
	assert_false(value(3, ROWS_PID).known);
}

TEST(lost_time_has_a_row_and_marks_the_slot, set_up, tear_down)
{
	send_span(RMID_WHO_PROCESS, 500, START, START + 400, 0);
	send_span(RMID_WHO_PROCESS, 500, START + 900, START + MS, 0);
	make_rows();
	assert_int_equal(table__rows(table), 2);
	assert_int_equal(value(0, ROWS_INCOMPLETE).integer, 1);
	assert_string_equal(value(1, ROWS_COMM).text, ROWS_LOST);
	assert_int_equal(value(1, ROWS_CPU_NS).integer, 500);
	assert_false(value(1, ROWS_SWITCHES).known);
}

/* A gap in a counter makes an empty field, not the rest of the value. */
TEST(a_gap_is_not_known, set_up, tear_down)
{
	struct lat_rmid_span span = { .head = { .time_ns = START + MS - 9,
						.record = RMID_COUNTED_SPAN },
				      .start_ns = START,
				      .who = RMID_WHO_PROCESS,
				      .id = 500,
				      .counters = { { 40, 10, 10 }, { 60, 10, 10 } } };

	take(&span, sizeof(span));
	span.start_ns = START + MS - 9;
	span.head.time_ns = START + MS;
	span.counters[1] = (struct lat_rmid_counter){ 0, 10, 0 };
	take(&span, sizeof(span));
	make_rows();
	assert_int_equal(value(0, ROWS_COLUMNS).integer, 80);
	assert_true(value(0, ROWS_COLUMNS).known);
	assert_false(value(0, ROWS_COLUMNS + 1).known);
	assert_false(value(0, ROWS_COLUMNS + 3).known); /* LLC: nothing was read */
}

/* ---- what is read of the system ---- */

TEST(lists_of_counters)
{
	uint32_t mask = 0;

	assert_int_equal(counters__parse("page-faults,cycles", &mask), 0);
	assert_int_equal(mask, 1 | 1 << 5);
	assert_int_equal(counters__parse("cycles,", &mask), -EINVAL);
	assert_int_equal(counters__parse("", &mask), -EINVAL);
	assert_int_equal(counters__parse("cycle", &mask), -EINVAL);
	assert_int_equal(
		counters__parse("cycles,instructions,llc-misses,llc-references,page-faults", &mask),
		-E2BIG);
	assert_int_equal(mask, 1 | 1 << 5);
}

TEST(cpus_that_are_online)
{
	bool online[8];

	unit_write(dir, "online", "0-1,4,7-9\n");
	assert_int_equal(cpus__read(unit_path(dir, "online"), online, 8), 0);
	for (int cpu = 0; cpu < 8; cpu++)
		assert_int_equal(online[cpu], cpu < 2 || cpu == 4 || cpu == 7);
	unit_write(dir, "online", "0-x\n");
	assert_int_equal(cpus__read(unit_path(dir, "online"), online, 8), -EUCLEAN);
	unit_write(dir, "online", "");
	assert_int_equal(cpus__read(unit_path(dir, "online"), online, 8), -EUCLEAN);
	assert_int_equal(cpus__read(unit_path(dir, "none"), online, 8), -ENOENT);
}

TEST(the_state_of_the_module)
{
	struct module_state module;
	int fd;

	unit_write(dir, "rmid",
		   "version 1\nrmids 8\nlimbo_ns 2000000\nrdt off\nnew-name 4\nl3_scale 0\n"
		   "assigned 3\nwaiting 2\nunsampled 2-3\n\n1 500 77 1 99 version 5\n");
	fd = module__open(unit_path(dir, "rmid"));
	assert_true(fd >= 0);
	assert_int_equal(module__read(fd, &module), 0);
	assert_int_equal(module.rmids, 8);
	assert_int_equal(module.waiting, 2);
	assert_int_equal(module.version, 1);
	assert_string_equal(module.rdt, "off");
	assert_string_equal(module.unsampled, "2-3");
	close(fd);
	unit_write(dir, "rmid", "version 2\n\n");
	assert_int_equal(module__open(unit_path(dir, "rmid")), -EPROTONOSUPPORT);
	unit_write(dir, "rmid", "what\n");
	assert_int_equal(module__open(unit_path(dir, "rmid")), -EUCLEAN);
	assert_int_equal(module__open(unit_path(dir, "none")), -ENOENT);
}

/* Something to start that is delayed for the first so many times. */
struct held_up {
	int stops, starts, times;
	uint64_t asked_ns, done_ns; /* the last time */
};

static int stop_it(void *of)
{
	((struct held_up *)of)->stops++;
	return 0;
}

static int start_it(void *of)
{
	struct held_up *held = of;
	uint64_t until = clock__now_ns();

	held->asked_ns = until;
	if (held->starts++ < held->times)
		until += 2 * PHASE_LATE_NS;
	do
		held->done_ns = clock__now_ns();
	while (held->done_ns < until);
	return 0;
}

static const struct phase_ops held_up_ops = { stop_it, start_it };

TEST(who_misses_an_edge_waits_for_the_next)
{
	struct held_up held = { .times = 3 };
	bool met;

	assert_int_equal(phase__start(&held_up_ops, &held, &met), 0);
	assert_true(held.starts > held.times);
	assert_int_equal(held.stops, held.starts);
	if (met) /* else this machine held us up every time */
		assert_true(held.done_ns % MS <= PHASE_LATE_NS &&
			    held.asked_ns / MS == held.done_ns / MS);
	held = (struct held_up){ .times = PHASE_TRIES };
	assert_int_equal(phase__start(&held_up_ops, &held, &met), 0);
	assert_int_equal(held.starts, PHASE_TRIES);
	assert_false(met);
}

static int refuse(void *of)
{
	return -ENODEV;
}

TEST(failed_starts_are_not_repeated)
{
	static const struct phase_ops unstoppable = { refuse, start_it };
	static const struct phase_ops dead = { stop_it, refuse };
	struct held_up held = { 0 };
	bool met;

	assert_int_equal(phase__start(&unstoppable, &held, &met), -ENODEV);
	assert_int_equal(held.starts, 0);
	assert_int_equal(phase__start(&dead, &held, &met), -ENODEV);
	assert_int_equal(held.stops, 1);
}

static const char *told(const struct module_state *before, const struct module_state *now)
{
	module__tell(before, now, 12, unit_print());
	return unit_printed();
}

TEST(the_coverage_of_the_caches)
{
	struct module_state before = {
		.rdt = "on", .l3_scale = 64, .reads = 500, .reads_due = 1000
	};
	struct module_state now = before;

	assert_string_equal(told(&before, &now), "RDT is on; no cache was read");
	now.reads += 97;
	now.reads_due += 100;
	assert_string_equal(told(&before, &now), "RDT is on; 97.0 % of the due cache readings "
						 "were done, 12 without a value");
	snprintf(now.rdt, sizeof(now.rdt), "conflict");
	assert_has(told(&before, &now), "another tool uses it", "97.0 %");
	before.refused = 5;
	now = (struct module_state){ .rdt = "off", .refused = 8, .waiting = 2 };
	assert_string_equal(told(&before, &now),
			    "RDT is off: the machine has none, or rdt=off; no cache was read; "
			    "no RMID was free 3 times, 2 processes wait for one");
}

TEST(others_that_use_rdt)
{
	const struct conflict *pqos;

	assert_null(conflict__find(dir));
	unit_write(dir, "proc/self/cpu_resctrl_groups", "res:\nmon:\n");
	assert_null(conflict__find(dir));
	unit_write(dir, "var/lock/libpqos", "");
	pqos = conflict__find(dir);
	assert_has(pqos->why, "pqos");
	unit_write(dir, "proc/self/cpu_resctrl_groups", "res:/\nmon:/\n");
	assert_has(conflict__find(dir)->why, "resctrl is mounted");
}
