// SPDX-License-Identifier: BSD-2-Clause
/* Which processes are selected for a group of resctrl, and how much they should have one. */
#include "unit.h"

#include <linux/types.h>
#include <time.h>

#include <latscope/event.h>

#include "probes/rmid/choice.h"

static struct choice choice;

static void set_up(void)
{
	choice = (struct choice){ .root = dir };
	unit_write(dir, "proc/7/cgroup", "4:cpu:/other\n0::/web/a\n");
	unit_write(dir, "proc/8/cgroup", "0::/website\n");
	unit_write(dir, "proc/9/cgroup", "0::/\n");
	/* 300 and 50 ticks of user and system time, begun 1 s after boot */
	unit_write(dir, "proc/7/stat",
		   "7 (a b) c) S 1 0 0 0 0 0 0 0 0 0 300 50 0 0 0 0 3 0 100 1\n");
}

static bool is_selected(uint32_t tgid, const char *comm)
{
	return choice__weight(&choice, tgid, 0, comm) >= 0;
}

TEST(without_a_filter_all_are_selected, set_up)
{
	assert_false(choice__selects(&choice));
	assert_true(is_selected(7, "a"));
	assert_true(is_selected(4999999, ""));
}

TEST(a_process_is_selected_by_its_number, set_up)
{
	choice.tgid = 7;
	assert_true(choice__selects(&choice));
	assert_true(is_selected(7, "a"));
	assert_false(is_selected(77, "a"));
}

TEST(a_process_is_selected_by_its_name, set_up)
{
	strcpy(choice.comm, "nginx");
	assert_true(is_selected(7, "nginx"));
	assert_false(is_selected(7, "nginx2"));
	assert_false(is_selected(7, "ngin"));
}

/* /web has /web/a, and not /website. */
TEST(a_cgroup_has_those_below_it, set_up)
{
	static const struct {
		const char *cgroup;
		bool selected[3]; /* 7, 8, 9 */
	} cases[] = { { "/web", { true, false, false } },
		      { "/web/a", { true, false, false } },
		      { "/web/b", { false, false, false } },
		      { "/other", { false, false, false } }, /* of version 1 */
		      { "/website", { false, true, false } },
		      { "/", { true, true, true } } };

	for (unsigned int i = 0; i < COUNT_OF(cases); i++) {
		strcpy(choice.cgroup, cases[i].cgroup);
		for (uint32_t pid = 7; pid <= 9; pid++)
			assert_int_equal(is_selected(pid, "a"), cases[i].selected[pid - 7]);
		assert_false(is_selected(10, "a")); /* it has ended */
	}
}

TEST(filters_apply_together, set_up)
{
	strcpy(choice.comm, "nginx");
	strcpy(choice.cgroup, "/web");
	assert_true(is_selected(7, "nginx"));
	assert_false(is_selected(7, "other"));
	assert_false(is_selected(8, "nginx"));
}

/* Before rows were made: 3.5 s of its life. Then that of the rows, of which old ones count less. */
TEST(the_weight_is_the_cpu_time, set_up)
{
	struct processes *processes;
	struct timespec now;
	uint32_t index;
	int64_t used;

	clock_gettime(CLOCK_BOOTTIME, &now);
	used = choice__weight(&choice, 7, 1000000000, "a");
	assert_true(fabs((double)used - 3.5e9 / ((double)now.tv_sec - 1)) < 0.05 * (double)used);
	assert_int_equal(choice__weight(&choice, 8, 1000000000, "a"), 0);
	assert_int_equal(processes__new(&processes), 0);
	index = processes__find(processes, 7, 5);
	choice.processes = processes;
	processes__use(processes, index, 600);
	assert_int_equal(choice__weight(&choice, 7, 5, "a"), 600);
	assert_int_equal(choice__weight(&choice, 7, 6, "a"),
			 0); /* another process of that number */
	processes__age(processes);
	assert_int_equal(choice__weight(&choice, 7, 5, "a"), 300);
	processes__free(processes);
}

/* Its last readings are its own, and later ones the next owner's. */
TEST(an_rmid_that_was_passed_on_has_two_owners, set_up)
{
	struct processes *processes;
	uint32_t first, second, rmid;

	assert_int_equal(processes__new(&processes), 0);
	first = processes__find(processes, 7, 5);
	second = processes__find(processes, 8, 6);
	processes__give_rmid(processes, 3, first, 100);
	processes__yield_rmid(processes, 3, 200);
	processes__await_rmid(processes, first, 200);
	processes__give_rmid(processes, 3, second, 300);
	assert_int_equal(processes__owner(processes, 3, 150), first);
	assert_int_equal(processes__owner(processes, 3, 200), first);
	assert_int_equal(processes__owner(processes, 3, 301), second);
	/* In the slot of its last readings it has the number still. */
	assert_true(
		processes__rmid_before(processes__at(processes, first), 200 + RMID_SLOT_NS, &rmid));
	assert_int_equal(rmid, 3);
	assert_true(
		processes__rmid_before(processes__at(processes, first), 201 + RMID_SLOT_NS, &rmid));
	assert_int_equal(rmid, 0);
	assert_int_equal(processes__at(processes, first)->ended_ns, 0); /* it lives */
	processes__free(processes);
}
