// SPDX-License-Identifier: BSD-2-Clause
#include "sleep_stacks.h"

#include <string.h>

static const struct table_column columns[SLEEP_STACKS_COLUMNS] = {
	[SLEEP_STACKS_PID] = { "pid", "", "process ID", TABLE_INTEGER, true },
	[SLEEP_STACKS_COMM] = { "comm", "", "name of the thread", TABLE_TEXT, true },
	[SLEEP_STACKS_STATE] = { "state", "", "what it waited for", TABLE_TEXT, true },
	[SLEEP_STACKS_CALL] = { "call", "", "system call in which it slept", TABLE_TEXT, true },
	[SLEEP_STACKS_STACK] = { "stack", "", "addresses in the kernel, innermost first",
				 TABLE_TEXT, true },
	[SLEEP_STACKS_NS] = { "ns", "ns", "how long, sleeps over the threshold", TABLE_INTEGER,
			      false },
	[SLEEP_STACKS_TIMES] = { "times", "", "how often", TABLE_INTEGER, false },
	[SLEEP_STACKS_OVER_NS] = { "over_ns", "ns", "the threshold", TABLE_INTEGER, false },
};

int sleep_stacks__new(struct table **table)
{
	return *table ? 0 : table__new(table, columns, SLEEP_STACKS_COLUMNS);
}

bool sleep_stacks__is(const struct table *table)
{
	if (!table || table__columns(table) < SLEEP_STACKS_COLUMNS)
		return false;
	for (unsigned int i = 0; i < SLEEP_STACKS_COLUMNS; i++) {
		const struct table_column *column = table__column(table, i);

		if (strcmp(column->name, columns[i].name) || column->kind != columns[i].kind ||
		    column->key != columns[i].key)
			return false;
	}
	return true;
}

size_t sleep_stacks__nr(const struct table *table)
{
	return table__keys(table) + (table__others_keys(table) > 0);
}

static const char *text_of(const struct table *table, size_t key, unsigned int column)
{
	struct table_value value = table__key(table, key, column);

	return value.known ? value.text : "";
}

static uint64_t sum_of(const struct table_aggregate *sum)
{
	return sum->sum > 0 ? (uint64_t)sum->sum : 0;
}

struct sleep_stack sleep_stacks__nth(const struct table *table, size_t nth)
{
	struct sleep_stack stack = { .comm = SLEEP_STACKS_OTHER };
	struct table_value pid;

	if (nth >= table__keys(table)) {
		stack.state = stack.call = stack.stack = "";
		stack.ns = sum_of(table__others(table, SLEEP_STACKS_NS));
		stack.times = sum_of(table__others(table, SLEEP_STACKS_TIMES));
		return stack;
	}
	pid = table__key(table, nth, SLEEP_STACKS_PID);
	stack.pid = pid.known ? pid.integer : 0;
	stack.comm = text_of(table, nth, SLEEP_STACKS_COMM);
	stack.state = text_of(table, nth, SLEEP_STACKS_STATE);
	stack.call = text_of(table, nth, SLEEP_STACKS_CALL);
	stack.stack = text_of(table, nth, SLEEP_STACKS_STACK);
	stack.ns = sum_of(table__aggregate(table, nth, SLEEP_STACKS_NS));
	stack.times = sum_of(table__aggregate(table, nth, SLEEP_STACKS_TIMES));
	return stack;
}
