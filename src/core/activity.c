// SPDX-License-Identifier: BSD-2-Clause
#include "activity.h"

#include <string.h>

/* clang-format off */
const struct table_column activity_columns[ACTIVITY_COLUMNS] = {
	[ACTIVITY_PROCESS] = { "process", "", "name of the process", TABLE_TEXT, true },
	[ACTIVITY_PID] = { "pid", "", "its ID", TABLE_INTEGER, true },
	[ACTIVITY_CHOSEN] = { "chosen", "", "1: the filters chose it; 0: there are none, and it "
			      "was awake longer than others", TABLE_INTEGER, false },
	[ACTIVITY_THREADS] = { "threads", "", "threads that it had", TABLE_INTEGER, false },
	[ACTIVITY_LIVED_NS] = { "lived_ns", "ns", "how long they lived within the window, added up",
				TABLE_INTEGER, false },
	[ACTIVITY_RUN_NS] = { "run_ns", "ns", "of it, on a CPU (sum_exec_runtime)", TABLE_INTEGER,
			      false },
	[ACTIVITY_QUEUE_NS] = { "queue_ns", "ns", "of it, waiting for a CPU (run_delay); the rest "
				"is sleep", TABLE_INTEGER, false },
	[ACTIVITY_LOOKS] = { "looks", "", "how often one of its threads was looked at",
			     TABLE_INTEGER, false },
	[ACTIVITY_ASLEEP] = { "asleep", "", "of these, asleep", TABLE_INTEGER, false },
	[ACTIVITY_BLOCKED] = { "blocked", "", "of these, uninterruptible (state D)", TABLE_INTEGER,
			       false },
	[ACTIVITY_CALL] = { "asleep_in", "", "the system call in which it was asleep most often",
			    TABLE_TEXT, true },
	[ACTIVITY_IN_CALL] = { "in_call", "", "how often", TABLE_INTEGER, false },
};
/* clang-format on */

bool activity__is(const struct table *table)
{
	bool is = table__columns(table) == ACTIVITY_COLUMNS;

	for (unsigned int i = 0; is && i < ACTIVITY_COLUMNS; i++) {
		const struct table_column *column = table__column(table, i);

		is = !strcmp(column->name, activity_columns[i].name) &&
		     column->kind == activity_columns[i].kind &&
		     column->key == activity_columns[i].key;
	}
	return is;
}

static uint64_t sum(const struct table *table, size_t key, unsigned int column)
{
	const struct table_aggregate *of = table__aggregate(table, key, column);

	return of && of->sum > 0 ? (uint64_t)of->sum : 0;
}

struct activity activity__of(const struct table *table, size_t key)
{
	const struct table_value process = table__key(table, key, ACTIVITY_PROCESS);
	const struct table_value pid = table__key(table, key, ACTIVITY_PID);
	const struct table_value call = table__key(table, key, ACTIVITY_CALL);

	return (struct activity){
		.process = process.known ? process.text : "?",
		.pid = pid.known ? (uint64_t)pid.integer : 0,
		.call = call.known ? call.text : NULL,
		.chosen = sum(table, key, ACTIVITY_CHOSEN),
		.threads = sum(table, key, ACTIVITY_THREADS),
		.lived_ns = sum(table, key, ACTIVITY_LIVED_NS),
		.run_ns = sum(table, key, ACTIVITY_RUN_NS),
		.queue_ns = sum(table, key, ACTIVITY_QUEUE_NS),
		.looks = sum(table, key, ACTIVITY_LOOKS),
		.asleep = sum(table, key, ACTIVITY_ASLEEP),
		.blocked = sum(table, key, ACTIVITY_BLOCKED),
		.in_call = sum(table, key, ACTIVITY_IN_CALL),
	};
}

uint64_t activity__sleep_ns(const struct activity *activity)
{
	uint64_t awake_ns = activity->run_ns + activity->queue_ns;

	return activity->lived_ns > awake_ns ? activity->lived_ns - awake_ns : 0;
}
