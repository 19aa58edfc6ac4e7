// SPDX-License-Identifier: BSD-2-Clause
#include "waits.h"

static const struct {
	const char *name;
	enum table_kind kind;
} columns[WAIT_COLUMNS] = {
	[WAIT_PID] = { "pid", TABLE_INTEGER },
	[WAIT_TID] = { "tid", TABLE_INTEGER },
	[WAIT_COMM] = { "comm", TABLE_TEXT },
	[WAIT_STATE] = { "state", TABLE_TEXT },
	[WAIT_CALL] = { "call", TABLE_TEXT },
	[WAIT_CHAIN] = { "chain", TABLE_TEXT },
	[WAIT_NS] = { "ns", TABLE_INTEGER },
	[WAIT_STACK] = { "stack", TABLE_TEXT },
	[WAIT_WAKER_PID] = { "waker_pid", TABLE_INTEGER },
	[WAIT_WAKER_TID] = { "waker_tid", TABLE_INTEGER },
	[WAIT_WAKER] = { "waker", TABLE_TEXT },
};

bool waits__find(const struct table *table, struct waits *waits)
{
	for (unsigned int i = 0; table && i < WAIT_COLUMNS; i++) {
		int found = table__find_column(table, columns[i].name);

		if (found >= 0 &&
		    table__column(table, (unsigned int)found)->kind != columns[i].kind)
			found = -1;
		if (found < 0 && i < WAIT_FIRST_COLUMNS)
			return false;
		waits->columns[i] = found;
	}
	return table != NULL;
}

static struct table_value value_of(const struct table *table, const struct waits *waits, size_t row,
				   enum wait_column column)
{
	if (waits->columns[column] < 0)
		return (struct table_value){ 0 };
	return table__value(table, row, (unsigned int)waits->columns[column]);
}

static int64_t integer(const struct table *table, const struct waits *waits, size_t row,
		       enum wait_column column)
{
	const struct table_value value = value_of(table, waits, row, column);

	return value.known ? value.integer : 0;
}

static const char *text(const struct table *table, const struct waits *waits, size_t row,
			enum wait_column column)
{
	const struct table_value value = value_of(table, waits, row, column);

	return value.known ? value.text : "";
}

struct wait waits__read(const struct table *table, const struct waits *waits, size_t row)
{
	struct wait wait = {
		.end_ns = (int64_t)table__time_ns(table, row),
		.ns = integer(table, waits, row, WAIT_NS),
		.pid = integer(table, waits, row, WAIT_PID),
		.tid = integer(table, waits, row, WAIT_TID),
		.comm = text(table, waits, row, WAIT_COMM),
		.state = text(table, waits, row, WAIT_STATE),
		.call = text(table, waits, row, WAIT_CALL),
		.chain = text(table, waits, row, WAIT_CHAIN),
		.stack = text(table, waits, row, WAIT_STACK),
		.waker_pid = integer(table, waits, row, WAIT_WAKER_PID),
		.waker_tid = integer(table, waits, row, WAIT_WAKER_TID),
		.waker = text(table, waits, row, WAIT_WAKER),
	};

	if (wait.ns < 0)
		wait.ns = 0;
	return wait;
}
