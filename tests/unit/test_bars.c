// SPDX-License-Identifier: BSD-2-Clause
/* Bars: the parts of the time of processes, threads and cgroups, made from the tables of where. */
#include "unit.h"

#include <probes/where/columns.h>
#include <probes/where/view_bars.h>
#include <probes/where/waits.h>

#define LENGTH 1000

static struct run_probe probe, one;
static struct bars bars;
static unsigned int cells[BAR_PARTS];

static void begin(void)
{
	memset(&probe, 0, sizeof(probe));
	memset(&one, 0, sizeof(one));
	memset(&bars, 0, sizeof(bars));
	assert_int_equal(columns__new(&probe.table, &probe.more[RUN_SLEEPS], &probe.more[RUN_GAPS]),
			 0);
	assert_int_equal(waits__new_tables(probe.more), 0);
}

static void end(void)
{
	bars__clear(&bars);
	bars__free_rows(&probe);
	bars__free_rows(&one);
}

/* tid 0: parts are of processes. */
static void add_parts(int64_t pid, int64_t tid, const char *comm, const char *cgroup)
{
	assert_int_equal(table__add_row(probe.table, 0), 0);
	if (pid)
		table__set_integer(probe.table, PARTS_PID, pid);
	if (tid)
		table__set_integer(probe.table, PARTS_TID, tid);
	assert_int_equal(table__set_text(probe.table, PARTS_COMM, comm), 0);
	assert_int_equal(table__set_text(probe.table, PARTS_CGROUP, cgroup), 0);
	table__set_integer(probe.table, PARTS_LIFE_NS, LENGTH);
}

static void add_part(enum where_state state, int64_t ns)
{
	table__set_integer(probe.table, PARTS_STATES + state, ns);
}

static void add_sleep(int64_t pid, const char *state, int64_t ns, int64_t times)
{
	struct table *table = probe.more[RUN_SLEEPS];

	assert_int_equal(table__add_row(table, 0), 0);
	table__set_integer(table, PARTS_PID, pid);
	assert_int_equal(table__set_text(table, SLEEPS_STATE, state), 0);
	assert_int_equal(table__set_text(table, SLEEPS_CALL, "read"), 0);
	table__set_integer(table, SLEEPS_NS, ns);
	table__set_integer(table, SLEEPS_TIMES, times);
}

static void add_cause(int64_t pid, const char *state, const char *cause, int64_t ns)
{
	struct table *table = probe.more[RUN_CAUSES];

	assert_int_equal(table__add_row(table, 0), 0);
	table__set_integer(table, CAUSES_PID, pid);
	assert_int_equal(table__set_text(table, CAUSES_STATE, state), 0);
	assert_int_equal(table__set_text(table, CAUSES_CAUSE, cause), 0);
	table__set_integer(table, CAUSES_NS, ns);
}

static void add_wait(int64_t pid, int64_t tid, const char *chain, int64_t ns)
{
	struct table *table = probe.more[RUN_WAITS];

	assert_int_equal(table__add_row(table, 7), 0);
	table__set_integer(table, WAITS_PID, pid);
	table__set_integer(table, WAITS_TID, tid);
	assert_int_equal(table__set_text(table, WAITS_COMM, "t"), 0);
	assert_int_equal(table__set_text(table, WAITS_STATE, "futex"), 0);
	assert_int_equal(table__set_text(table, WAITS_CHAIN, chain), 0);
	table__set_integer(table, WAITS_NS, ns);
}

static void fold(void)
{
	assert_int_equal(table__fold(probe.table), 0);
	for (unsigned int i = RUN_SLEEPS; i <= RUN_STACKS; i++)
		assert_int_equal(table__fold(probe.more[i]), 0);
}

static void make(enum lat_by by)
{
	fold();
	assert_int_equal(view_bars__make(&bars, &probe, by, LENGTH), 0);
}

static const struct bar *bar_of(uint64_t id, const char *name)
{
	const struct bar *bar = bars__find(&bars, id, name);

	assert_non_null(bar);
	return bar;
}

TEST(parts_of_a_process_sum_to_its_life)
{
	const struct bar *bar;
	uint64_t sum = 0;

	add_parts(5, 0, "db", "/a");
	for (unsigned int state = 0; state < WHERE_STATES; state++)
		add_part(state, 10);
	make(LAT_BY_PROCESS);
	bar = bar_of(5, "db (5)");
	for (unsigned int i = 0; i < BAR_PARTS; i++)
		sum += bar->ns[i];
	assert_int_equal(sum, 10 * WHERE_STATES);
	assert_int_equal(bar->ns[BAR_MEMORY], 20);
	assert_int_equal(bar->ns[BAR_IDLE], 40);
	assert_int_equal(bar->ns[BAR_OTHER], 20);
	/* All but what is idle, on a CPU or unknown. */
	assert_int_equal(bar__waited(bar), 10 * (WHERE_STATES - 4 - 2));
}

TEST(a_cause_of_a_state_that_is_unknown_here_is_nobodys)
{
	add_parts(5, 0, "db", "/a");
	add_part(WHERE_FUTEX, 10);
	add_cause(5, "later", "backup (9): disk", 10);
	add_cause(5, "", "backup (9): disk", 10);
	make(LAT_BY_PROCESS);
	assert_string_equal(bar_of(5, "db (5)")->cause, "");
}

TEST(a_sleep_in_a_read_that_lasts_all_the_time_is_no_wait)
{
	add_parts(5, 0, "shell", "/a");
	add_part(WHERE_SOCKET, LENGTH);
	add_sleep(5, "socket", LENGTH, 0);
	add_parts(6, 0, "began", "/a");
	add_part(WHERE_SOCKET, LENGTH);
	add_sleep(6, "socket", LENGTH, 1);
	add_parts(7, 0, "client", "/a");
	add_part(WHERE_SOCKET, LENGTH);
	add_sleep(7, "socket", LENGTH, 2);
	make(LAT_BY_PROCESS);
	assert_int_equal(bar__waited(bar_of(5, "shell (5)")), 0);
	assert_true(bar__is_idle(bar_of(5, "shell (5)")));
	assert_int_equal(bar__waited(bar_of(6, "began (6)")), 0);
	assert_int_equal(bar__waited(bar_of(7, "client (7)")), LENGTH);
	assert_int_equal(bar_of(5, "shell (5)")->ns[BAR_SOCKET], LENGTH);
}

TEST(a_wait_for_a_disk_counts_however_long_it_is)
{
	add_parts(5, 0, "hung", "/a");
	add_part(WHERE_DISK, LENGTH);
	add_sleep(5, "disk", LENGTH, 0);
	make(LAT_BY_PROCESS);
	assert_int_equal(bar__waited(bar_of(5, "hung (5)")), LENGTH);
}

TEST(a_wait_that_timed_out_is_no_wait)
{
	add_parts(5, 0, "pool", "/a");
	add_part(WHERE_FUTEX, 900);
	add_sleep(5, "futex", 900, 9);
	add_cause(5, "futex", "timer", 700);
	add_cause(5, "futex", "peer (9): cpu", 100);
	make(LAT_BY_PROCESS);
	assert_int_equal(bar__waited(bar_of(5, "pool (5)")), 200);
}

TEST(the_cause_is_that_of_the_largest_part)
{
	const struct bar *bar;

	add_parts(5, 0, "db", "/a");
	add_part(WHERE_DISK, 300);
	add_part(WHERE_FUTEX, 200);
	add_cause(5, "futex", "peer (9)", 200);
	add_cause(5, "disk", "an interrupt", 10);
	add_cause(5, "disk", "softirq block", 290);
	make(LAT_BY_PROCESS);
	bar = bar_of(5, "db (5)");
	assert_int_equal(bar__largest(bar), BAR_DISK);
	assert_string_equal(bar->cause, "softirq block");
}

TEST(bars_of_cgroups_are_sums_of_processes)
{
	add_parts(5, 0, "a", "/x");
	add_part(WHERE_CPU, 100);
	add_parts(6, 0, "b", "/x");
	add_part(WHERE_SOCKET, LENGTH);
	add_sleep(6, "socket", LENGTH, 0);
	add_parts(7, 0, "c", "/y");
	add_part(WHERE_DISK, 30);
	make(LAT_BY_CGROUP);
	assert_int_equal(bars.splits, 1 << LAT_BY_PROCESS | 1 << LAT_BY_CGROUP);
	assert_int_equal(bars.nr, 2);
	assert_int_equal(bar_of(0, "/x")->life_ns, 2 * LENGTH);
	assert_int_equal(bar_of(0, "/x")->ns[BAR_CPU], 100);
	assert_int_equal(bar__waited(bar_of(0, "/x")), 0);
	assert_int_equal(bar__waited(bar_of(0, "/y")), 30);
}

TEST(processes_that_have_ended_share_a_bar_by_name)
{
	add_parts(0, 0, "sh", "/x");
	add_part(WHERE_CPU, 100);
	add_parts(0, 0, "sh", "/y");
	add_part(WHERE_CPU, 50);
	add_parts(5, 0, "sh", "/x");
	make(LAT_BY_PROCESS);
	assert_int_equal(bars.nr, 2);
	assert_int_equal(bar_of(0, "sh (ended)")->ns[BAR_CPU], 150);
}

TEST(by_thread_the_cause_is_that_of_its_longest_wait)
{
	add_parts(5, 51, "db", "/a");
	add_part(WHERE_FUTEX, 300);
	add_parts(5, 52, "db", "/a");
	add_part(WHERE_FUTEX, 200);
	add_wait(5, 51, "peer (9)", 300);
	make(LAT_BY_THREAD);
	assert_string_equal(bar_of(51, "db (51)")->cause, "peer (9)");
	assert_string_equal(bar_of(52, "db (52)")->cause, "");
}

TEST(by_thread_a_long_wait_that_timed_out_is_no_wait)
{
	add_parts(5, 51, "pool", "/a");
	add_part(WHERE_FUTEX, 300);
	add_wait(5, 51, "timer", 290);
	make(LAT_BY_THREAD);
	assert_int_equal(bar__waited(bar_of(51, "pool (51)")), 10);
}

TEST(a_split_that_the_rows_lack_gives_no_bars)
{
	add_parts(5, 0, "db", "/a");
	make(LAT_BY_THREAD);
	assert_int_equal(bars.nr, 0);
}

TEST(only_the_rows_of_the_bar_are_selected)
{
	add_parts(5, 0, "db", "/a");
	add_part(WHERE_FUTEX, 300);
	add_parts(6, 0, "web", "/a");
	add_sleep(5, "futex", 300, 2);
	add_sleep(6, "socket", 100, 2);
	add_wait(5, 51, "peer (9)", 200);
	add_wait(6, 6, "timer", 90);
	add_cause(6, "socket", "timer", 90);
	make(LAT_BY_PROCESS);
	assert_int_equal(bars__new_rows(&one, &probe), 0);
	assert_int_equal(view_bars__select(&one, &probe, LAT_BY_PROCESS, bar_of(5, "db (5)")), 0);
	assert_int_equal(table__keys(one.table), 1);
	assert_int_equal(table__aggregate(one.table, 0, PARTS_STATES + WHERE_FUTEX)->sum, 300);
	assert_int_equal(table__keys(one.more[RUN_SLEEPS]), 1);
	assert_int_equal(table__keys(one.more[RUN_WAITS]), 1);
	assert_int_equal(table__aggregate(one.more[RUN_WAITS], 0, WAITS_NS)->high, 200);
	assert_int_equal(table__keys(one.more[RUN_CAUSES]), 0);
}

TEST(rows_of_intervals_add_up)
{
	for (int i = 0; i < 2; i++) {
		add_parts(5, 0, "db", "/a");
		add_part(WHERE_CPU, 10 + i);
		assert_int_equal(bars__keep_rows(&one, &probe), 0);
		table__rewind(probe.table);
	}
	assert_int_equal(view_bars__make(&bars, &one, LAT_BY_PROCESS, 2 * LENGTH), 0);
	assert_int_equal(bar_of(5, "db (5)")->ns[BAR_CPU], 21);
	assert_int_equal(bar_of(5, "db (5)")->life_ns, 2 * LENGTH);
}

TEST(a_wait_is_read_from_its_row)
{
	struct bar_wait wait;

	add_wait(5, 51, "peer (9)", 300);
	assert_true(view_bars__wait(&probe, 0, &wait));
	assert_false(view_bars__wait(&probe, 1, &wait));
	assert_true(view_bars__wait(&probe, 0, &wait));
	assert_int_equal(wait.ns, 300);
	assert_int_equal(wait.time_ns, 7);
	assert_int_equal(wait.part, BAR_FUTEX);
	assert_int_equal(wait.tid, 51);
	assert_string_equal(wait.chain, "peer (9)");
}

TEST(links_of_a_chain_are_read_one_by_one)
{
	struct bar_link link;
	const char *rest = view_bars__link("a (1): disk 1.50 ms < b (2): cpu < timer", &link);

	assert_string_equal(link.text, "a (1): disk 1.50 ms");
	assert_int_equal(link.part, BAR_DISK);
	assert_int_equal(link.ns, 1500000);
	rest = view_bars__link(rest, &link);
	assert_string_equal(link.text, "b (2): cpu");
	assert_int_equal(link.part, BAR_CPU);
	assert_int_equal(link.ns, 0);
	rest = view_bars__link(rest, &link);
	assert_string_equal(link.text, "timer");
	assert_int_equal(link.ns, 0);
	assert_null(view_bars__link(rest, &link));
}

TEST(cells_sum_to_the_width_and_are_in_proportion)
{
	const struct bar bar = { .life_ns = 1000,
				 .ns = { [BAR_CPU] = 250, [BAR_DISK] = 333, [BAR_IDLE] = 417 } };
	unsigned int sum = 0;

	bar__cells(&bar, 40, cells);
	for (unsigned int i = 0; i < BAR_PARTS; i++)
		sum += cells[i];
	assert_int_equal(sum, 40);
	assert_int_equal(cells[BAR_CPU], 10);
	assert_int_equal(cells[BAR_DISK], 13);
	assert_int_equal(cells[BAR_IDLE], 17);
}

TEST(a_bar_without_life_has_no_cells)
{
	const struct bar bar = { 0 };

	bar__cells(&bar, 40, cells);
	for (unsigned int i = 0; i < BAR_PARTS; i++)
		assert_int_equal(cells[i], 0);
	assert_int_equal(bar__largest(&bar), BAR_IDLE);
}

TEST(who_waited_most_comes_first_then_who_ran_most)
{
	bars__add(&bars, 1, "idle");
	bars__add(&bars, 2, "runs")->ns[BAR_CPU] = 5;
	bars__add(&bars, 3, "waits")->waits_ns[BAR_DISK] = 1;
	bars__sort(&bars);
	assert_string_equal(bars.bars[0].name, "waits");
	assert_string_equal(bars.bars[1].name, "runs");
	assert_string_equal(bars.bars[2].name, "idle");
}

UNIT_FIXTURES(.each = { begin, end })
