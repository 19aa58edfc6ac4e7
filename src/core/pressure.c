// SPDX-License-Identifier: BSD-2-Clause
#include "pressure.h"

/* clang-format off */
const struct table_column pressure_columns[PRESSURE_COLUMNS] = {
	[PRESSURE_CPU_SOME] = { "cpu_some_ns", "ns", "time in which a task waited for a CPU (PSI)",
				TABLE_INTEGER, false },
	[PRESSURE_MEMORY_SOME] = { "memory_some_ns", "ns", "time in which a task waited for memory "
				   "(PSI)", TABLE_INTEGER, false },
	[PRESSURE_MEMORY_FULL] = { "memory_full_ns", "ns", "of it, while no task did any work",
				   TABLE_INTEGER, false },
	[PRESSURE_IO_SOME] = { "io_some_ns", "ns", "time in which a task waited for I/O (PSI)",
			       TABLE_INTEGER, false },
	[PRESSURE_IO_FULL] = { "io_full_ns", "ns", "of it, while no task did any work",
			       TABLE_INTEGER, false },
	[PRESSURE_THROTTLED] = { "cpu_throttled_ns", "ns", "time in which CPUs of cgroups were "
				 "stopped by a CPU limit, added up", TABLE_INTEGER, false },
	[PRESSURE_MAJOR_FAULTS] = { "major_faults", "", "page faults that read from a disk",
				    TABLE_INTEGER, false },
	[PRESSURE_REFAULTS] = { "refaults", "", "pages that were reclaimed and needed again soon",
				TABLE_INTEGER, false },
	[PRESSURE_SCANNED] = { "pages_scanned", "", "pages that reclaim examined, also for the "
			       "limits of cgroups", TABLE_INTEGER, false },
	[PRESSURE_RECLAIMED] = { "pages_reclaimed", "", "pages that it took, likewise",
				 TABLE_INTEGER, false },
	[PRESSURE_SCANNED_KSWAPD] = { "pages_scanned_kswapd", "", "pages examined by kswapd, for "
				      "the whole machine", TABLE_INTEGER, false },
	[PRESSURE_SCANNED_DIRECT] = { "pages_scanned_direct", "", "the same by tasks that needed "
				      "memory", TABLE_INTEGER, false },
	[PRESSURE_DIRECT_STALLS] = { "direct_stalls", "", "times that a task had to reclaim before "
				     "it got memory", TABLE_INTEGER, false },
	[PRESSURE_SWAPPED_IN] = { "pages_swapped_in", "", "pages read from swap", TABLE_INTEGER,
				  false },
	[PRESSURE_SWAPPED_OUT] = { "pages_swapped_out", "", "pages written to swap", TABLE_INTEGER,
				   false },
	[PRESSURE_OOM_KILLS] = { "oom_kills", "", "processes killed because memory ran out",
				 TABLE_INTEGER, false },
	[PRESSURE_MEMORY_HIGH] = { "memory_high_events", "", "times that memory.high of the cgroup "
				   "held a task up", TABLE_INTEGER, false },
	[PRESSURE_MEMORY_MAX] = { "memory_max_events", "", "times that the cgroup was about to "
				  "exceed memory.max", TABLE_INTEGER, false },
};
/* clang-format on */

bool pressure__gained(const struct table *table, enum pressure_column column, uint64_t *gained)
{
	const struct table_aggregate *sum;

	*gained = 0;
	if (!table || column >= table__columns(table) || !table__keys(table))
		return false;
	sum = table__aggregate(table, 0, column);
	if (!sum->rows)
		return false;
	*gained = (uint64_t)sum->sum;
	return true;
}

bool pressure__rate(const struct table *table, enum pressure_column column, double *rate)
{
	uint64_t gained;

	if (!pressure__gained(table, column, &gained) || !table__last_ns(table))
		return false;
	*rate = (double)gained / (double)table__last_ns(table);
	return true;
}
