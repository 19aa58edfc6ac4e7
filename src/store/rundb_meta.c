// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <string.h>

#include <core/split.h>

#include "rundb_internal.h"

static int read_status(sqlite3_stmt *row, int column, int *status)
{
	uint64_t value = 0;
	int err;

	err = rundb_row__number(row, column, &value);
	*status = (int)(value & 0xffff);
	return err;
}

static int read_split(sqlite3_stmt *row, int column, uint32_t *by)
{
	char name[RUN_NAME];
	int split;

	rundb_row__text(row, column, name, sizeof(name));
	split = split__find(name);
	*by = split < 0 ? 0 : 1 + (uint32_t)split;
	return split < 0 ? -EUCLEAN : 0;
}

int rundb_meta__take(struct run *run, sqlite3_stmt *row)
{
	char name[RUN_NAME];

	rundb_row__text(row, 0, name, sizeof(name));
	if (!strcmp(name, "start_mono_ns"))
		return rundb_row__number(row, 1, &run->start_mono_ns);
	if (!strcmp(name, "duration_ns"))
		return rundb_row__number(row, 1, &run->duration_ns);
	if (!strcmp(name, "interval_ns"))
		return rundb_row__number(row, 1, &run->interval_ns);
	if (!strcmp(name, "workload"))
		return rundb_row__owned(row, 1, &run->workload);
	if (!strcmp(name, "workload_status"))
		return read_status(row, 1, &run->workload_status);
	if (!strcmp(name, "workload_outlived"))
		return rundb_row__number(row, 1, &run->workload_outlived);
	if (!strcmp(name, "workload_uncounted"))
		return rundb_row__flag(row, 1, &run->workload_uncounted);
	if (!strcmp(name, "filter"))
		return rundb_row__owned(row, 1, &run->filter);
	if (!strcmp(name, "host"))
		return rundb_row__owned(row, 1, &run->host);
	if (!strcmp(name, "complete"))
		return rundb_row__flag(row, 1, &run->complete);
	if (!strcmp(name, "process_why"))
		rundb_row__text(row, 1, run->lives_why, sizeof(run->lives_why));
	if (!strcmp(name, "why_by"))
		return read_split(row, 1, &run->why_by);
	if (!strcmp(name, "pressure_why"))
		rundb_row__text(row, 1, run->pressure.why, sizeof(run->pressure.why));
	if (!strcmp(name, "pressure_cgroup"))
		return rundb_row__owned(row, 1, &run->pressure.cgroup);
	if (!strcmp(name, "frames_why"))
		rundb_row__text(row, 1, run->frames_why, sizeof(run->frames_why));
	if (!strcmp(name, "start_utc"))
		rundb_row__text(row, 1, run->start_utc, sizeof(run->start_utc));
	return 0;
}
