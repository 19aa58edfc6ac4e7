// SPDX-License-Identifier: BSD-2-Clause
#include "sample.h"

#include <sys/mman.h>

#include "core/counts.h"

TEST(conservation)
{
	struct lat_cell cell = { 0 };

	assert_int_equal(run__imbalance(&cell), 0);
	cell.hist.slots[3] = 40;
	cell.hist.slots[HIST_OVERFLOW_SLOT] = 2;
	cell.counts[LAT_SEEN] = 42;
	assert_int_equal(run__recorded(&cell), 42);
	assert_int_equal(run__imbalance(&cell), 0);
	for (unsigned int i = LAT_SEEN + 1; i < LAT_TERMS; i++) {
		cell.counts[i] = i;
		cell.counts[LAT_SEEN] += i;
	}
	assert_int_equal(run__imbalance(&cell), 0);
	for (unsigned int i = LAT_TERMS; i < LAT_COUNTS; i++)
		cell.counts[i] = 1000;
	assert_int_equal(run__imbalance(&cell), 0);
	cell.counts[LAT_SEEN]++;
	assert_int_equal(run__imbalance(&cell), 1);
	cell.counts[LAT_SEEN] -= 3;
	assert_int_equal(run__imbalance(&cell), -2);
}

#define PAGE 4096
_Static_assert(offsetof(struct lat_cell, counts) > PAGE, "slots have a page without counts");

static struct lat_cell *shared_cell;
static unsigned int counted;

/* While the first slots are read, an event is counted. */
static void count_event(int signal)
{
	mprotect(shared_cell, PAGE, PROT_READ | PROT_WRITE);
	shared_cell->counts[LAT_SEEN]++;
	shared_cell->hist.slots[5]++;
	counted++;
}

TEST(a_copy_has_no_half_events)
{
	struct sigaction action = { .sa_handler = count_event, .sa_flags = SA_NODEFER }, before;
	size_t size = (sizeof(struct lat_cell) / PAGE + 1) * PAGE;
	struct lat_cell copy;

	shared_cell = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(shared_cell != MAP_FAILED);
	shared_cell->counts[LAT_SEEN] = shared_cell->hist.slots[5] = 7;
	sigaction(SIGSEGV, &action, &before);
	assert_int_equal(mprotect(shared_cell, PAGE, PROT_NONE), 0);
	run__copy_cell(&copy, shared_cell);
	sigaction(SIGSEGV, &before, NULL);
	assert_int_equal(counted, 1);
	assert_int_equal(copy.counts[LAT_SEEN], 8);
	assert_int_equal(run__imbalance(&copy), 0);
	shared_cell->counts[LAT_SEEN]++; /* one that stays half counted is no reason to wait */
	run__copy_cell(&copy, shared_cell);
	assert_int_equal(run__imbalance(&copy), 1);
	munmap(shared_cell, size);
}

TEST(cells_of_all_cpus_are_added_without_unused_ones)
{
	enum { CPUS = 4, METRICS = 2 };
	struct lat_cell(*cells)[METRICS] = calloc(CPUS, sizeof(*cells)), sum = { 0 };

	assert_non_null(cells);
	cells[0][1].counts[LAT_SEEN] = cells[0][1].hist.slots[3] = 2;
	cells[0][1].hist.sum_ns = 200;
	cells[0][1].hist.max_ns = 120;
	cells[1][1].hist.slots[3] = 100; /* never counted: its slots are not read */
	cells[2][1].counts[LAT_ABANDONED] = 5; /* counted without an event */
	cells[3][1].counts[LAT_SEEN] = cells[3][1].hist.slots[HIST_SLOTS - 1] = 1;
	cells[3][1].hist.sum_ns = cells[3][1].hist.max_ns = 1000;
	cells[3][0].counts[LAT_SEEN] = cells[3][0].hist.slots[3] = 50; /* another metric */
	run__add_cells(&sum, &cells[0][1], sizeof(*cells), CPUS);
	assert_int_equal(sum.counts[LAT_SEEN], 3);
	assert_int_equal(sum.counts[LAT_ABANDONED], 5);
	assert_int_equal(sum.hist.slots[3], 2);
	assert_int_equal(sum.hist.slots[HIST_SLOTS - 1], 1);
	assert_int_equal(sum.hist.sum_ns, 1200);
	assert_int_equal(sum.hist.max_ns, 1000);
	run__add_cells(&sum, &cells[0][1], sizeof(*cells), 1); /* it adds */
	assert_int_equal(sum.counts[LAT_SEEN], 5);
	cells[1][1].hist.slots[0] = 1; /* a sample of 0, of which no event is counted */
	run__add_cells(&sum, &cells[1][1], sizeof(*cells), 1);
	assert_int_equal(sum.hist.slots[0], 1);
	cells[1][0].hist.sum_ns = cells[1][0].hist.slots[7] = 9;
	run__add_cells(&sum, &cells[1][0], sizeof(*cells), 1);
	assert_int_equal(sum.hist.slots[7], 9);
	free(cells);
}

/* Writers and readers share the table, so two names that changed places would pass there. */
TEST(counts_have_the_names_of_the_documentation)
{
	static const struct {
		enum lat_count count;
		const char *name;
	} names[] = {
		{ LAT_SEEN, "seen" },
		{ LAT_FILTERED, "filtered" },
		{ LAT_MISSED_START, "missed_start" },
		{ LAT_UNMATCHED, "unmatched" },
		{ LAT_MAP_FULL, "map_full" },
		{ LAT_NEGATIVE, "negative" },
		{ LAT_EXCLUDED, "excluded" },
		{ LAT_CONTINUED, "continued" },
		{ LAT_ABANDONED, "abandoned" },
		{ LAT_JOINED, "joined" },
		{ LAT_REQUEUED, "requeued" },
		{ LAT_ERRORS, "errors" },
		{ LAT_FALLBACK, "fallback" },
		{ LAT_FALLBACK_NS, "fallback_ns" },
		{ LAT_OTHER_KEY, "other_key" },
		{ LAT_NOT_KEPT, "not_kept" },
		{ LAT_CHECKED, "checked" },
		{ LAT_SKEW_NS, "skew_ns" },
		{ LAT_PARTIAL, "partial" },
		{ LAT_OTHER_MOST_NS, "other_most_ns" },
		{ LAT_FILTERED_NS, "filtered_ns" },
		{ LAT_MISSED_START_NS, "missed_start_ns" },
		{ LAT_UNMATCHED_NS, "unmatched_ns" },
		{ LAT_UNTIMED, "untimed" },
		{ LAT_UNSTAMPED, "unstamped" },
		{ LAT_IDLE, "idle" },
		{ LAT_KERNEL_NS, "kernel_ns" },
		{ LAT_EARLY_NS, "early_ns" },
		{ LAT_ERRORS_TIMEOUT, "errors_timeout" },
		{ LAT_ERRORS_IO, "errors_io" },
		{ LAT_ERRORS_MEDIUM, "errors_medium" },
	};

	assert_int_equal(COUNT_OF(names), LAT_ERRORS_MEDIUM + 1);
	for (unsigned int i = 0; i < LAT_COUNTS + 5; i++) {
		if (i >= COUNT_OF(names)) {
			assert_null(counts__name(i));
			continue;
		}
		assert_int_equal(names[i].count, i);
		assert_string_equal(counts__name(i), names[i].name);
		assert_int_equal(counts__find(names[i].name), i);
	}
	assert_int_equal(counts__find("recorded"), -ENOENT);
	assert_false(counts__is_term(LAT_SEEN));
	assert_true(counts__is_term(LAT_CONTINUED));
	assert_false(counts__is_term(LAT_ABANDONED));
}

TEST(keys_are_found_and_added)
{
	struct run_data data = { 0 };

	for (uint32_t i = 0; i < 1000; i++) {
		struct lat_key key = { .id = i / 4, .by = i % 2, .metric = i / 2 % 2 };

		assert_null(run__find_key(&data, &key));
		assert_int_equal(run__add_key(&data, &key, "a name"), 0);
		assert_ptr_equal(run__find_key(&data, &key), &data.keys[i]);
		assert_int_equal(sparse__count(&data.keys[i].hist), 0);
	}
	assert_int_equal(data.nr_keys, 1000);
	run__clear_data(&data);
	assert_null(data.keys);
}

TEST(long_names_are_cut)
{
	struct lat_key key = { .id = 1 };
	struct run_data data = { 0 };
	char name[200];

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(run__add_key(&data, &key, name), 0);
	assert_int_equal(strlen(data.keys[0].name), RUN_NAME - 1);
	run__clear_data(&data);
}

TEST(keys_rank_by_time_other_last)
{
	const struct run_key **ranked;
	struct run_data data = { 0 };
	struct lat_key unused = { .id = 9, .by = LAT_BY_DISK };

	sample_key(&data, RUN_OTHER_ID, LAT_BY_DISK, 0, "disk", 1000000, 1);
	sample_key(&data, 1, LAT_BY_DISK, 0, "disk", 10, 1);
	sample_key(&data, 2, LAT_BY_DISK, 0, "disk", 3000, 1);
	sample_key(&data, 3, LAT_BY_DISK, 0, "disk", 200, 1);
	assert_int_equal(run__add_key(&data, &unused, "idle"), 0);
	assert_int_equal(run__ranked_keys(&data, LAT_BY_DISK, 0, &ranked), 4);
	assert_int_equal(ranked[0]->key.id, 2);
	assert_int_equal(ranked[1]->key.id, 3);
	assert_int_equal(ranked[2]->key.id, 1);
	assert_int_equal(ranked[3]->key.id, RUN_OTHER_ID);
	free(ranked);
	assert_int_equal(run__ranked_keys(&data, LAT_BY_OP, 0, &ranked), 0);
	free(ranked);
	assert_int_equal(run__ranked_keys(&data, LAT_BY_DISK, 1, &ranked), 0);
	free(ranked);
	run__clear_data(&data);
}

TEST(data_adds_up)
{
	struct run_data *total = calloc(1, sizeof(*total)), *delta = calloc(1, sizeof(*delta));

	for (uint64_t round = 1; round <= 5; round++) {
		run__zero_data(delta);
		delta->metrics[1].counts[LAT_SEEN] = 1;
		sample_key(delta, 1, LAT_BY_DISK, 0, "disk", 100, 1);
		sample_key(delta, round, LAT_BY_DISK, 0, "disk", 100, 1);
		assert_int_equal(run__add_data(total, delta), 0);
	}
	assert_int_equal(total->metrics[1].counts[LAT_SEEN], 5);
	assert_int_equal(total->nr_keys, 5);
	assert_int_equal(total->keys[0].hist.sum_ns, 600);
	assert_int_equal(total->keys[4].hist.sum_ns, 100);
	run__clear_data(total);
	run__clear_data(delta);
	free(total);
	free(delta);
}

TEST(test_tables_of_a_run_begin_with_pressure)
{
	static struct run run = { .nr_probes = 1, .probes = { { .name = "rmid" } } };
	char name[RUN_NAME];

	run.pressure.table = (void *)1;
	run.probes[0].table = (void *)2;
	assert_ptr_equal(run__nth_table(&run, 0, name), (void *)1);
	assert_string_equal(name, "pressure");
	assert_ptr_equal(run__nth_table(&run, 1, name), (void *)2);
	assert_string_equal(name, "rmid");
}
