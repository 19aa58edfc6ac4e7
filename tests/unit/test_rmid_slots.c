// SPDX-License-Identifier: BSD-2-Clause
/* Spans of CPU time and their slots: nothing is counted twice, nothing is lost silently. */
#include "unit.h"

#include "probes/rmid/processes.h"
#include "probes/rmid/slots.h"

#define MS RMID_SLOT_NS
#define START (100 * MS)
#define CPUS 3

static struct slots *slots;

static void set_up(void)
{
	assert_int_equal(slots__new(&slots, CPUS), 0);
	slots__start(slots, START);
}

static void tear_down(void)
{
	slots__free(slots);
}

static void join(unsigned int cpus)
{
	for (unsigned int cpu = 0; cpu < cpus; cpu++)
		slots__join(slots, cpu, START);
}

/* Most tests have one CPU. */
static void set_up_one(void)
{
	set_up();
	join(1);
}

static void add(unsigned int cpu, uint32_t process, uint64_t from, uint64_t to)
{
	struct lat_rmid_span span = { .head = { .time_ns = to, .cpu = (__u16)cpu },
				      .start_ns = from };

	assert_int_equal(slots__add(slots, &span, process), 0);
}

/* The next slot, which is the one that begins then. */
static const struct slot *next(uint64_t start_ns)
{
	const struct slot *slot = slots__next(slots);

	assert_non_null(slot);
	assert_int_equal(slot->start_ns, start_ns);
	return slot;
}

/* Zeros if the process has no part in it. */
static struct rmid_sums sums_of(const struct slot *slot, uint32_t process)
{
	for (size_t i = 0; i < slot->nr; i++)
		if (slot->cells[i].process == process)
			return slot->cells[i].sums;
	return (struct rmid_sums){ 0 };
}

static uint64_t cpu_ns(const struct slot *slot, uint32_t process)
{
	return sums_of(slot, process).cpu_ns;
}

struct part {
	uint32_t process;
	uint64_t ns;
};

static void assert_parts(const struct slot *slot, uint64_t missing_ns, const struct part *parts,
			 size_t nr)
{
	assert_non_null(slot);
	for (size_t i = 0; i < nr; i++)
		if (cpu_ns(slot, parts[i].process) != parts[i].ns)
			fail_msg("slot %.3f, process %u: %llu ns", (double)slot->start_ns / MS,
				 parts[i].process,
				 (unsigned long long)cpu_ns(slot, parts[i].process));
	if (slot->missing_ns != missing_ns)
		fail_msg("slot %.3f: %llu ns are missing", (double)slot->start_ns / MS,
			 (unsigned long long)slot->missing_ns);
}

#define assert_slot(slot, missing_ns, ...)                                   \
	assert_parts(slot, missing_ns, (const struct part[]){ __VA_ARGS__ }, \
		     sizeof((const struct part[]){ __VA_ARGS__ }) / sizeof(struct part))

TEST(a_slot_waits_for_every_cpu, set_up, tear_down)
{
	join(2);
	add(0, 7, START, START + 5 * MS);
	assert_null(slots__next(slots));
	add(1, 8, START, START + MS - 1);
	assert_null(slots__next(slots));
	add(1, 9, START + MS - 1, START + MS);
	assert_int_equal(cpu_ns(next(START), 9), 1);
	assert_null(slots__next(slots));
}

TEST(only_the_window_counts)
{
	slots__end(slots, START + MS + 500);
	add(0, 7, START - 9 * MS, START - 8 * MS);
	add(0, 7, START - 8 * MS, START + 300);
	add(0, 8, START + 300, START + 7 * MS);
	assert_slot(next(START), 0, { 7, 300 }, { 8, MS - 300 });
	assert_slot(next(START + MS), 0, { 8, 500 });
	assert_null(slots__next(slots));
}

TEST(an_open_span_is_not_counted_twice)
{
	assert_int_equal(slots__extend(slots, 0, 7, START - 5, START + MS + 200), 0);
	assert_int_equal(cpu_ns(next(START), 7), MS);
	add(0, 7, START - 5, START + MS + 900);
	add(0, 8, START + MS + 900, START + 2 * MS);
	assert_slot(next(START + MS), 0, { 7, 900 }, { 8, MS - 900 });
}

/* The state of a CPU may be newer than the records read from the ring. */
TEST(an_open_span_waits_for_those_before_it)
{
	assert_int_equal(slots__extend(slots, 0, 8, START + 500, START + 2 * MS), 0);
	assert_null(slots__next(slots));
	add(0, 7, START, START + 500);
	assert_int_equal(slots__extend(slots, 0, 8, START + 500, START + 2 * MS), 0);
	assert_int_equal(cpu_ns(next(START), 7), 500);
	assert_int_equal(next(START + MS)->missing_ns, 0);
}

TEST(switches_stand_where_they_were)
{
	struct lat_rmid_span span = { .head = { .time_ns = START + MS + 10,
						.flags = RMID_SWITCHED },
				      .start_ns = START,
				      .switches = 4 };

	assert_int_equal(slots__add(slots, &span, 7), 0);
	add(0, 0, START + MS + 10, START + 2 * MS);
	assert_int_equal(sums_of(next(START), 7).switches, 3);
	assert_int_equal(sums_of(next(START + MS), 7).switches, 1);
}

static struct lat_rmid_span counted(uint64_t from, uint64_t to, struct lat_rmid_counter counter)
{
	return (struct lat_rmid_span){ .head = { .time_ns = to, .record = RMID_COUNTED_SPAN },
				       .start_ns = from,
				       .counters = { counter } };
}

TEST(counters_are_divided_and_add_up)
{
	struct lat_rmid_counter counter = { 1000, (__u32)(2 * MS), (__u32)(2 * MS) };
	struct lat_rmid_span span = counted(START + MS / 2, START + 2 * MS + MS / 2, counter);
	uint64_t sum = 0;

	add(0, 1, START, START + MS / 2);
	assert_int_equal(slots__add(slots, &span, 7), 0);
	add(0, 1, START + 2 * MS + MS / 2, START + 3 * MS);
	for (int i = 0; i < 3; i++) {
		struct rmid_sums sums = sums_of(next(START + i * MS), 7);

		assert_int_equal(sums.counted_ns[0], sums.cpu_ns);
		assert_int_equal(sums.values[0], i == 1 ? 500 : 250);
		sum += sums.values[0];
	}
	assert_int_equal(sum, 1000);
}

/* Four events on two counters: each ran for half of the time. */
TEST(counters_that_shared_are_scaled)
{
	struct lat_rmid_counter counter = { 1 << 30, 900000, 225000 };
	struct lat_rmid_span span = counted(START, START + MS, counter);

	assert_int_equal(slots__add(slots, &span, 7), 0);
	assert_int_equal(sums_of(next(START), 7).values[0], 4ULL << 30);
}

TEST(a_failed_read_is_a_gap_and_not_zero)
{
	struct lat_rmid_span read =
		counted(START, START + 600, (struct lat_rmid_counter){ 50, 600, 600 });
	struct lat_rmid_span failed =
		counted(START + 600, START + MS, (struct lat_rmid_counter){ 0 });
	struct rmid_sums sums;

	assert_int_equal(slots__add(slots, &read, 7), 0);
	assert_int_equal(slots__add(slots, &failed, 7), 0);
	sums = sums_of(next(START), 7);
	assert_int_equal(sums.cpu_ns, MS);
	assert_int_equal(sums.counted_ns[0], 600);
	assert_int_equal(sums.values[0], 50);
}

TEST(silent_cpus_are_given_up, set_up, tear_down)
{
	join(2);
	add(0, 7, START, START + 2 * MS);
	assert_int_equal(slots__give_up(slots, START + MS + 250), 0);
	assert_int_equal(next(START)->missing_ns, MS);
	assert_null(slots__next(slots));
	add(1, 8, START, START + 2 * MS); /* too late for what was given up */
	assert_int_equal(cpu_ns(next(START + MS), 8), MS - 250);
}

TEST(cpus_come_and_go, set_up, tear_down)
{
	join(2);
	add(0, 7, START, START + 2 * MS);
	slots__leave(slots, 1, PROCESSES_OFFLINE);
	assert_int_equal(next(START)->missing_ns, 0);
	assert_non_null(slots__next(slots));
	add(1, 8, START - 50 * MS, START + 2 * MS + 500); /* offline for most of this */
	assert_null(slots__next(slots));
	add(0, 7, START + 2 * MS, START + 3 * MS);
	add(1, 9, START + 2 * MS + 500, START + 3 * MS);
	assert_slot(next(START + 2 * MS), 0, { 8, 500 }, { 7, MS });
}

TEST(no_such_cpu)
{
	struct lat_rmid_span span = { .head = { .time_ns = START + 1, .cpu = CPUS },
				      .start_ns = START };

	assert_int_equal(slots__add(slots, &span, 7), -EINVAL);
	assert_int_equal(slots__extend(slots, CPUS, 7, START, START + MS), 0);
}

TEST(doubt_is_about_what_did_not_come_out)
{
	add(0, 7, START, START + 2 * MS);
	assert_false(next(START)->doubtful);
	slots__doubt(slots, START + 2 * MS + 1);
	assert_true(next(START + MS)->doubtful);
	add(0, 7, START + 2 * MS, START + 4 * MS);
	assert_true(next(START + 2 * MS)->doubtful);
	assert_false(next(START + 3 * MS)->doubtful);
}

TEST(the_last_slot_is_cut)
{
	add(0, 7, START, START + 300);
	assert_int_equal(slots__give_up(slots, START + 400), 0);
	assert_null(slots__next(slots));
	assert_slot(slots__rest(slots), 100, { 7, 300 });
	assert_null(slots__rest(slots));
}

TEST(readings_of_caches)
{
	struct latscope_rmid_read read = { .time_ns = START + 10,
					   .since_ns = START + 10,
					   .bytes = 4096,
					   .event = LATSCOPE_RMID_OCCUPANCY };
	struct rmid_cache cache;

	assert_int_equal(slots__add_reading(slots, &read, 7), 0);
	assert_int_equal(slots__add_reading(slots, &read, 7), 0); /* what is in it, once more */
	read.domain = 4;
	assert_int_equal(slots__add_reading(slots, &read, 7), 0);
	read.event = LATSCOPE_RMID_MBM_TOTAL;
	read.since_ns = START - 3 * MS;
	assert_int_equal(slots__add_reading(slots, &read, 7), 0);
	assert_int_equal(slots__add_reading(slots, &read, 7), 0); /* traffic, more of it */
	add(0, 7, START, START + MS);
	cache = sums_of(next(START), 7).cache[LATSCOPE_RMID_OCCUPANCY - 1];
	assert_int_equal(cache.bytes, 2 * 4096);
	assert_int_equal(cache.domains, 1 | 1 << 4);
}

TEST(readings_after_the_end_do_not_count)
{
	static const uint64_t times[] = { START + 499, START + 500, START + 2 * MS };
	struct latscope_rmid_read read = { .since_ns = START,
					   .bytes = 64,
					   .event = LATSCOPE_RMID_MBM_TOTAL };
	const struct slot *slot;

	slots__end(slots, START + 500);
	for (unsigned int i = 0; i < COUNT_OF(times); i++) {
		read.time_ns = times[i];
		assert_int_equal(slots__add_reading(slots, &read, 7), 0);
	}
	assert_int_equal(slots__give_up(slots, START + 500), 0);
	slot = slots__rest(slots);
	assert_non_null(slot);
	assert_int_equal(sums_of(slot, 7).cache[LATSCOPE_RMID_MBM_TOTAL - 1].bytes, 64);
	assert_null(slots__rest(slots));
}

/* ---- batches ---- */

#define MOST_CELLS 8

struct batch {
	struct lat_rmid_batch batch;
	char cells[MOST_CELLS * sizeof(struct lat_rmid_cell)];
	uint32_t owners[MOST_CELLS];
};

static struct batch batch_at(unsigned int cpu, uint64_t start_ns, enum lat_rmid_record record)
{
	return (struct batch){ .batch = { .head = { .time_ns = start_ns,
						    .cpu = (__u16)cpu,
						    .record = (__u8)record },
					  .start_ns = start_ns } };
}

static struct lat_rmid_cell *append(struct batch *batch, uint32_t process, uint32_t ns)
{
	struct lat_rmid_cell *added;

	added = (struct lat_rmid_cell *)slots__cell(&batch->batch, batch->batch.nr);
	batch->owners[batch->batch.nr++] = process;
	batch->batch.head.time_ns += ns;
	added->cpu_ns = ns;
	return added;
}

static void send(struct batch *batch)
{
	assert_int_equal(slots__add_batch(slots, &batch->batch, batch->owners), 0);
}

TEST(a_batch_counts_once)
{
	struct batch batch = batch_at(0, START, RMID_BATCH);
	const struct slot *slot;

	append(&batch, 7, 300)->switches = 5;
	append(&batch, 8, 200)->switches = 2;
	assert_true(slots__reaches(slots, 0, START));
	send(&batch);
	send(&batch); /* once from the state of the CPU, once from the ring */
	add(0, 9, START + 500, START + MS);
	slot = next(START);
	assert_slot(slot, 0, { 7, 300 }, { 8, 200 }, { 9, MS - 500 });
	assert_int_equal(sums_of(slot, 7).switches, 5);
	assert_int_equal(sums_of(slot, 8).switches, 2);
}

/* What was added of it was the time of its first process alone; no switch was added with it. */
TEST(an_open_span_that_a_batch_begins_with)
{
	struct batch batch = batch_at(0, START + 100, RMID_BATCH);
	const struct slot *slot;

	add(0, 9, START, START + 100);
	assert_int_equal(slots__extend(slots, 0, 7, START + 100, START + 250), 0);
	assert_int_equal(slots__extend(slots, 0, 7, START + 100, START + 300), 0);
	append(&batch, 7, 400)->switches = 7;
	append(&batch, 8, 300)->switches = 5;
	send(&batch);
	add(0, 9, START + 800, START + MS);
	slot = next(START);
	assert_slot(slot, 0, { 7, 400 }, { 8, 300 });
	assert_int_equal(sums_of(slot, 7).switches, 7);
	assert_int_equal(sums_of(slot, 8).switches, 5);
}

/* Before the window, the batch may have had other processes than that of the open span. */
TEST(an_open_span_in_a_batch_that_the_window_cuts, set_up, tear_down)
{
	struct batch batch = batch_at(0, START - 500, RMID_BATCH);

	slots__start(slots, START - 300);
	slots__end(slots, START - 100);
	slots__join(slots, 0, START - 300);
	assert_int_equal(slots__extend(slots, 0, 8, START - 400, START - 200), 0);
	append(&batch, 7, 200)->switches = 4;
	append(&batch, 8, 200)->switches = 4;
	send(&batch);
	assert_slot(slots__rest(slots), 0, { 8, 100 + 50 }, { 7, 50 });
}

TEST(a_batch_that_was_lost_is_missing)
{
	struct batch batch = batch_at(0, START + 400, RMID_BATCH);

	append(&batch, 7, 100);
	assert_false(slots__reaches(slots, 0, START + 400));
	send(&batch);
	add(0, 8, START + 500, START + MS);
	assert_slot(next(START), 400, { 7, 100 });
}

static uint64_t sum_of(const struct slot *slot)
{
	uint64_t sum = slot->missing_ns;

	for (uint32_t i = 0; i < slot->nr; i++)
		sum += slot->cells[i].sums.cpu_ns;
	return sum;
}

/* If the window cuts a batch, the shares still add up to the nanosecond. */
TEST(the_window_cuts_a_batch, set_up, tear_down)
{
	const uint32_t ns[] = { 333, 1, 77, 589 };
	struct batch first = batch_at(0, START + 100, RMID_BATCH);
	struct batch last = batch_at(0, START + 2000, RMID_BATCH);
	const struct slot *slot;

	slots__start(slots, START + 807);
	slots__end(slots, START + 2501);
	slots__join(slots, 0, START + 807);
	for (uint32_t i = 0; i < 4; i++) {
		append(&first, i + 7, ns[i]);
		append(&last, i + 20, ns[i])->switches = 10;
	}
	send(&first);
	add(0, 9, START + 1100, START + 2000);
	send(&last);
	slot = slots__rest(slots);
	assert_int_equal(sum_of(slot), 2501 - 807);
	assert_int_equal(slot->missing_ns, 0);
	assert_int_equal(cpu_ns(slot, 7) + cpu_ns(slot, 8) + cpu_ns(slot, 10), 293 - 23);
	assert_int_equal(cpu_ns(slot, 23), 296);
	assert_int_equal(sums_of(slot, 23).switches, 5);
}

TEST(a_batch_that_cannot_be_right_is_refused)
{
	struct batch batch = batch_at(0, START + MS - 100, RMID_BATCH);

	append(&batch, 7, 50);
	batch.batch.head.time_ns++;
	assert_int_equal(slots__add_batch(slots, &batch.batch, batch.owners), -EINVAL);
	append(&batch, 7, 100)->cpu_ns = 101; /* beyond its slot */
	assert_int_equal(slots__add_batch(slots, &batch.batch, batch.owners), -EINVAL);
	batch = batch_at(CPUS, START, RMID_BATCH);
	append(&batch, 7, 50);
	assert_int_equal(slots__add_batch(slots, &batch.batch, batch.owners), -EINVAL);
}

TEST(counters_of_a_batch)
{
	struct batch batch = batch_at(0, START, RMID_COUNTED_BATCH);
	struct lat_rmid_cell *added;
	struct rmid_sums sums;

	added = append(&batch, 7, 600);
	added->counters[0] = (struct lat_rmid_counter){ 100, 600, 300 };
	added->counters[1] = (struct lat_rmid_counter){ 100, 600, 600 };
	added->unknown = 2;
	append(&batch, 8, 400)->counters[0] = (struct lat_rmid_counter){ 9, 400, 400 };
	send(&batch);
	add(0, 9, START + 1000, START + MS);
	sums = sums_of(next(START), 7);
	assert_int_equal(sums.values[0], 200);
	assert_int_equal(sums.counted_ns[0], 600);
	assert_int_equal(sums.counted_ns[1], 0);
}

/* ---- CPUs of which nothing comes ---- */

TEST(time_offline_is_not_lost, set_up, tear_down)
{
	join(2);
	add(0, 7, START, START + 4 * MS);
	add(1, 8, START, START + 300);
	slots__leave(slots, 1, PROCESSES_OFFLINE);
	assert_slot(next(START), 0, { 8, 300 }, { PROCESSES_OFFLINE, MS - 300 });
	assert_int_equal(cpu_ns(next(START + MS), PROCESSES_OFFLINE), MS);
	assert_true(slots__reaches(slots, 1, START + 2 * MS + 200));
	add(1, 9, START + 2 * MS + 200, START + 3 * MS);
	assert_slot(next(START + 2 * MS), 0, { PROCESSES_OFFLINE, 200 }, { 9, MS - 200 });
	assert_null(slots__next(slots)); /* it is waited for again */
}

TEST(time_offline_ends_with_the_window, set_up, tear_down)
{
	join(2);
	slots__leave(slots, 1, PROCESSES_OFFLINE);
	slots__end(slots, START + 400);
	add(0, 7, START, START + 4 * MS);
	assert_int_equal(slots__give_up(slots, START + 9 * MS), 0);
	assert_slot(slots__rest(slots), 0, { PROCESSES_OFFLINE, 400 }, { 7, 400 });
	assert_null(slots__rest(slots)); /* nothing is missing after the end */
}

/* ---- random input, against the simplest of all accounts ---- */

#define ROUNDS 200
#define SPANS 300
#define PROCESSES 40
#define MOST_MS 400

struct reference {
	uint64_t ns[MOST_MS][PROCESSES];
	uint64_t lost[MOST_MS];
};

static void account(uint64_t *at, size_t stride, uint64_t from, uint64_t to)
{
	for (uint64_t edge; from < to; from = edge) {
		edge = (from / MS + 1) * MS < to ? (from / MS + 1) * MS : to;
		at[(from - START) / MS * stride] += edge - from;
	}
}

static void compare(struct reference *reference, uint64_t *came)
{
	const struct slot *slot;

	while ((slot = slots__next(slots))) {
		uint64_t n = (slot->start_ns - START) / MS, sum = slot->missing_ns;

		assert_int_equal(n, (*came)++);
		assert_int_equal(slot->missing_ns, reference->lost[n]);
		for (uint32_t process = 0; process < PROCESSES; process++) {
			assert_int_equal(cpu_ns(slot, process), reference->ns[n][process]);
			sum += reference->ns[n][process];
		}
		assert_int_equal(sum, CPUS * MS);
	}
}

TEST(any_spans_with_any_losses_balance, set_up, tear_down)
{
	struct reference *reference = malloc(sizeof(*reference));
	uint64_t at[CPUS], came;

	assert_non_null(reference);
	for (int round = 0; round < ROUNDS; round++) {
		memset(reference, 0, sizeof(*reference));
		came = 0;
		join(CPUS);
		for (int cpu = 0; cpu < CPUS; cpu++)
			at[cpu] = START;
		for (int i = 0; i < SPANS; i++) {
			unsigned int cpu = unit_random() % CPUS;
			uint32_t process = unit_random() % PROCESSES;
			uint64_t to = at[cpu] + unit_random() % (unit_random() % 8 ? MS : 5 * MS);

			if (to >= START + MOST_MS * MS)
				continue;
			if (unit_random() % 10) {
				account(&reference->ns[0][process], PROCESSES, at[cpu], to);
				if (unit_random() % 4 == 0)
					slots__extend(slots, cpu, process, at[cpu],
						      at[cpu] + (to - at[cpu]) / 2);
				add(cpu, process, at[cpu], to);
			} else {
				account(reference->lost, 1, at[cpu], to);
			}
			at[cpu] = to;
			/* Slots are returned with no span open: a loss shows with the next one. */
			add(cpu, 0, at[cpu], at[cpu] + 1);
			reference->ns[(at[cpu] - START) / MS][0]++;
			at[cpu]++;
			compare(reference, &came);
		}
		assert_true(came > 10);
		tear_down();
		set_up();
	}
	free(reference);
}

UNIT_FIXTURES(.each = { set_up_one, tear_down })
