// SPDX-License-Identifier: BSD-2-Clause
/* The sums of rmid by process, from the rows of an interval and from those of the whole window. */
#include "unit.h"

#include <probes/rmid/columns.h>

#include "probes/rmid/view_totals.h"

static struct table *table;
static struct rmid_totals totals;

static void tear_down(void)
{
	rmid_totals__clear(&totals);
	table__free(table);
}

/* switches -1: unknown */
static void add(int64_t process, const char *comm, int64_t cpu_ns, int64_t switches)
{
	assert_int_equal(table__add_row(table, 0), 0);
	table__set_integer(table, ROWS_PROCESS, process);
	table__set_integer(table, ROWS_PID, process + 1000);
	assert_int_equal(table__set_text(table, ROWS_COMM, comm), 0);
	table__set_integer(table, ROWS_CPU_NS, cpu_ns);
	if (switches >= 0)
		table__set_integer(table, ROWS_SWITCHES, switches);
}

static void set_up(void)
{
	const struct rows_layout layout = { .nr_counters = 0 };

	assert_int_equal(rows__new_table(&table, &layout), 0);
	add(0, "(lost)", 900, -1);
	add(2, "small", 10, 1);
	add(1, "old name", 30, 2);
	add(0, "(idle)", 800, -1);
	add(1, "new name", 40, -1);
	add(0, "(lost)", 50, -1);
}

static void assert_totals(void)
{
	const struct rmid_total *list = totals.list;

	assert_int_equal(totals.nr, 4);
	assert_int_equal(list[0].process, 1);
	assert_int_equal(list[0].pid.integer, 1001);
	assert_string_equal(list[0].comm, "new name");
	assert_int_equal(list[0].rows, 2);
	assert_true(list[0].sum[ROWS_CPU_NS] == 70);
	assert_int_equal(list[0].known[ROWS_CPU_NS], 2);
	assert_true(list[0].sum[ROWS_SWITCHES] == 2);
	assert_int_equal(list[0].known[ROWS_SWITCHES], 1);
	assert_int_equal(list[1].process, 2);
	assert_int_equal(list[2].process, 0);
	assert_string_equal(list[2].comm, "(lost)");
	assert_true(list[2].sum[ROWS_CPU_NS] == 950);
	assert_string_equal(list[3].comm, "(idle)");
	assert_true(totals.known[ROWS_CPU_NS] && totals.known[ROWS_SWITCHES]);
	assert_false(totals.known[ROWS_INCOMPLETE]);
}

TEST(an_interval_is_summed_by_process)
{
	assert_int_equal(rmid_totals__of(&totals, table, false), 0);
	assert_totals();
}

TEST(the_window_is_summed_alike)
{
	assert_int_equal(table__fold(table), 0);
	assert_int_equal(rmid_totals__of(&totals, table, true), 0);
	assert_totals();
	rmid_totals__clear(&totals);
	assert_int_equal(rmid_totals__of(&totals, table, false), 0);
	assert_int_equal(totals.nr, 0);
}

UNIT_FIXTURES(.each = { set_up, tear_down })
