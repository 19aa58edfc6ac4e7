// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include <probes/kit/bpf_probe.h>
#include <probes/memlat/fault_count.h>

static struct run_probe probe;

/* No program runs here. */
int bpf_probe__iterate(struct bpf_probe *of, const char *program)
{
	(void)of;
	(void)program;
	return -ENOSYS;
}

int bpf_probe__usage(const struct bpf_probe *of, struct bpf_probe_usage *usage)
{
	(void)of;
	(void)usage;
	return -ENOSYS;
}

void bpf_probe__add_cells(const struct bpf_probe *of, unsigned int metric, struct lat_cell *sum)
{
	(void)of;
	(void)metric;
	(void)sum;
}

/* What remains of 40 ends that programs missed on the whole machine, and 5 before the window. */
static void apply(struct fault_count count)
{
	memset(&probe, 0, sizeof(probe));
	probe.recursion_missed = 40;
	count.known = true;
	fault_count__apply(&count, 5, &probe);
}

TEST(faults_without_an_event_are_those_that_nothing_saw)
{
	apply((struct fault_count){ .by_events = true,
				    .faults = 2000,
				    .before = 3,
				    .after = 4,
				    .next = 1500,
				    .last = 1503 });
	assert_int_equal(probe.no_event, 2000 - 1500 - 40);
}

TEST(what_was_seen_around_the_count_makes_none)
{
	apply((struct fault_count){ .by_events = true, .faults = 100, .last = 130 });
	assert_int_equal(probe.no_event, 0);
	assert_int_equal(probe.recursion_missed, 40);
}

TEST(with_a_filter_those_of_others_are_not_missing)
{
	apply((struct fault_count){
		.by_events = true, .filters = true, .faults = 7, .last = 1500 });
	assert_int_equal(probe.recursion_missed, 7);
	apply((struct fault_count){ .by_events = true, .filters = true, .faults = 100 });
	assert_int_equal(probe.recursion_missed, 40);
	assert_int_equal(probe.no_event, 60);
}

TEST(a_method_that_sees_all_misses_no_more_than_the_kernel_counts)
{
	apply((struct fault_count){ .filters = true,
				    .faults = 1010,
				    .after = 100,
				    .next = 1100,
				    .missed_after = 6,
				    .missed_next = 43 });
	assert_int_equal(probe.recursion_missed, 10 + 1 + 2);
	assert_int_equal(probe.no_event, 0);
	apply((struct fault_count){ .faults = 1010, .missed_after = 5, .missed_next = 45 });
	assert_int_equal(probe.recursion_missed, 40);
}
