// SPDX-License-Identifier: BSD-2-Clause
#include "columns.h"

#include <core/sanitize.h>

static const struct table_column fixed[ROWS_COLUMNS] = {
	[ROWS_PROCESS] = { "process", "", "number of the process in this recording; 0: none",
			   TABLE_INTEGER, true },
	[ROWS_PID] = { "pid", "", "process ID", TABLE_INTEGER, true },
	[ROWS_COMM] = { "comm", "", "its name at the time", TABLE_TEXT, true },
	[ROWS_CPU_NS] = { "cpu_ns", "ns", "time on CPUs, all threads", TABLE_INTEGER, false },
	[ROWS_SWITCHES] = { "switches", "", "times that a thread left a CPU", TABLE_INTEGER,
			    false },
	[ROWS_INCOMPLETE] = { "incomplete", "",
			      "1: records of the slot were lost, and values may be too low",
			      TABLE_INTEGER, false },
};

/* After the counters, with RMIDs only. */
static const struct table_column of_rmid = {
	.name = "rmid",
	.unit = "",
	.what = "resource monitoring ID; 0: the process waits for one",
	.kind = TABLE_INTEGER,
};

/* After that, with readings of the caches only. */
enum { LLC_BYTES, TOTAL_BYTES, TOTAL_NS, LOCAL_BYTES, LOCAL_NS, CACHE_COLUMNS };

static const struct table_column of_caches[CACHE_COLUMNS] = {
	[LLC_BYTES] = { "llc_bytes", "B", "occupancy of the L3 caches that were read",
			TABLE_INTEGER, false },
	[TOTAL_BYTES] = { "mbm_total_bytes", "B", "memory traffic since the previous reading",
			  TABLE_INTEGER, false },
	[TOTAL_NS] = { "mbm_total_ns", "ns", "time that mbm_total_bytes covers", TABLE_INTEGER,
		       false },
	[LOCAL_BYTES] = { "mbm_local_bytes", "B", "the same to memory of the own socket",
			  TABLE_INTEGER, false },
	[LOCAL_NS] = { "mbm_local_ns", "ns", "time that mbm_local_bytes covers", TABLE_INTEGER,
		       false },
};

int rows__new_table(struct table **table, const struct rows_layout *layout)
{
	struct table_column columns[ROWS_COLUMNS + RMID_COUNTERS + 1 + CACHE_COLUMNS];
	unsigned int nr = 0;

	for (; nr < ROWS_COLUMNS; nr++)
		columns[nr] = fixed[nr];
	for (unsigned int i = 0; i < layout->nr_counters; i++) {
		const struct counters_kind *kind = &counters_kinds[layout->counters[i]];

		columns[nr++] = (struct table_column){
			.name = kind->column, .unit = "", .what = kind->what, .kind = TABLE_INTEGER
		};
	}
	if (layout->rmids)
		columns[nr++] = of_rmid;
	for (unsigned int i = 0; layout->caches && i < CACHE_COLUMNS; i++)
		columns[nr++] = of_caches[i];
	return table__new(table, columns, nr);
}

static void set_cache(struct table *table, unsigned int column, const struct rmid_cache *cache,
		      bool span)
{
	if (!cache->domains)
		return;
	table__set_integer(table, column, (int64_t)cache->bytes);
	if (span)
		table__set_integer(table, column + 1, (int64_t)cache->span_ns);
}

static void set_caches(struct table *table, unsigned int at, const struct rmid_sums *sums)
{
	set_cache(table, at + LLC_BYTES, &sums->cache[LATSCOPE_RMID_OCCUPANCY - 1], false);
	set_cache(table, at + TOTAL_BYTES, &sums->cache[LATSCOPE_RMID_MBM_TOTAL - 1], true);
	set_cache(table, at + LOCAL_BYTES, &sums->cache[LATSCOPE_RMID_MBM_LOCAL - 1], true);
}

/* If a part of a counter is unknown, the counter is unknown: the rest would look like all of it. */
static void set_sums(struct table *table, const struct rows_layout *layout, uint64_t end_ns,
		     const struct process *process, const struct rmid_sums *sums)
{
	unsigned int at = ROWS_COLUMNS + layout->nr_counters;
	uint32_t rmid;

	table__set_integer(table, ROWS_CPU_NS, (int64_t)sums->cpu_ns);
	table__set_integer(table, ROWS_SWITCHES, (int64_t)sums->switches);
	for (unsigned int i = 0; i < layout->nr_counters; i++)
		if (sums->cpu_ns && sums->counted_ns[i] == sums->cpu_ns)
			table__set_integer(table, ROWS_COLUMNS + i, (int64_t)sums->values[i]);
	if (layout->rmids && processes__rmid_before(process, end_ns, &rmid))
		table__set_integer(table, at, rmid);
	if (layout->caches)
		set_caches(table, at + layout->rmids, sums);
}

static int begin_row(struct table *table, uint64_t time_ns, const struct slot *slot,
		     const struct process *process, const char *comm)
{
	char clean[RMID_COMM_LEN];
	int err;

	err = table__add_row(table, time_ns);
	if (err)
		return err;
	table__set_integer(table, ROWS_PROCESS, process ? process->number : 0);
	if (process && process->tgid)
		table__set_integer(table, ROWS_PID, process->tgid);
	table__set_integer(table, ROWS_INCOMPLETE, slot->missing_ns || slot->doubtful);
	return table__set_text(table, ROWS_COMM, sanitize__text(clean, sizeof(clean), comm));
}

int rows__add(struct table *table, const struct rows_layout *layout, const struct slot *slot,
	      const struct processes *processes, uint64_t start_ns)
{
	uint64_t time_ns = slot->start_ns + RMID_SLOT_NS - start_ns;
	int err = 0;

	for (size_t i = 0; !err && i < slot->nr; i++) {
		const struct process *process = processes__at(processes, slot->cells[i].process);

		err = begin_row(table, time_ns, slot, process, process->comm);
		if (!err)
			set_sums(table, layout, slot->start_ns + RMID_SLOT_NS, process,
				 &slot->cells[i].sums);
	}
	if (err || !slot->missing_ns)
		return err;
	err = begin_row(table, time_ns, slot, NULL, ROWS_LOST);
	if (!err)
		table__set_integer(table, ROWS_CPU_NS, (int64_t)slot->missing_ns);
	return err;
}
