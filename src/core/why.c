// SPDX-License-Identifier: BSD-2-Clause
#include "why.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "split.h"

#define PROBE(name) extern const struct why_words name##_words __attribute__((weak));
#include <all_probes.h>
#undef PROBE

#define PROBE(name) &name##_words,
static const struct why_words *const all_words[] = {
#include <all_probes.h>
	NULL
};
#undef PROBE

const struct why_words *why__words(const char *probe)
{
	static const struct why_words none = { .wait = "wait", .waits = "waits" };

	for (size_t i = 0; i < sizeof(all_words) / sizeof(all_words[0]); i++)
		if (all_words[i] && !strcmp(all_words[i]->probe, probe))
			return all_words[i];
	return &none;
}

const struct why_part *why_words__part(const struct why_words *words, unsigned int part)
{
	static const struct why_part none;

	return part < words->nr_parts ? &words->parts[part] : &none;
}

const struct why_part *why__part(const char *probe, unsigned int part)
{
	return why_words__part(why__words(probe), part);
}

const struct why_part *why__named(const char *probe, const char *name)
{
	return why__part(probe, (unsigned int)why__find_part(probe, name));
}

int why__find_part(const char *probe, const char *name)
{
	const struct why_words *words = why__words(probe);

	for (unsigned int i = 0; i < words->nr_parts; i++)
		if (!strcmp(words->parts[i].name, name))
			return (int)i;
	return -ENOENT;
}

static const struct table_column part_columns[WHY_COLUMNS] = {
	[WHY_VICTIM_ID] = { "victim_id", "", "ID of who waited", TABLE_INTEGER, true },
	[WHY_VICTIM] = { "victim", "", "who waited", TABLE_TEXT, true },
	[WHY_PART] = { "part", "", "what it waited for", TABLE_TEXT, true },
	[WHY_CULPRIT_ID] = { "culprit_id", "", "ID of who made it wait", TABLE_INTEGER, true },
	[WHY_CULPRIT] = { "culprit", "", "who made it wait", TABLE_TEXT, true },
	[WHY_NS] = { "ns", "ns", "time of slow samples", TABLE_INTEGER, false },
	[WHY_EVENTS] = { "events", "events", "slow samples that it is part of", TABLE_INTEGER,
			 false },
	[WHY_OVER_NS] = { "over_ns", "ns", "threshold of slow samples", TABLE_INTEGER, false },
};

static const struct table_column part_columns_of_requests[] = {
	[WHY_READ_BYTES - WHY_COLUMNS] = { "read_bytes", "bytes",
					   "what the disk read for it meanwhile", TABLE_INTEGER,
					   false },
	[WHY_WRITTEN_BYTES - WHY_COLUMNS] = { "written_bytes", "bytes",
					      "what the disk wrote or discarded for it meanwhile",
					      TABLE_INTEGER, false },
};

static const struct table_column part_columns_of_traits[] = {
	[WHY_VICTIM_TRAITS - WHY_COLUMNS] = { "victim_traits", "",
					      "policy, nice value and weight of who waited",
					      TABLE_TEXT, true },
	[WHY_CULPRIT_TRAITS - WHY_COLUMNS] = { "culprit_traits", "",
					       "the same of who made it wait, or its workqueue",
					       TABLE_TEXT, true },
};

static const struct table_column name_columns[] = {
	[WHY_NAME_VICTIM] = { "victim", "", "who waited", TABLE_TEXT, true },
	[WHY_NAME_PART] = { "part", "", "what it waited for", TABLE_TEXT, true },
	[WHY_NAME_CULPRIT] = { "culprit", "", "who made it wait", TABLE_TEXT, true },
	[WHY_NAME_NS] = { "ns", "ns", "time of slow samples", TABLE_INTEGER, false },
};

static const struct table_column event_columns[WHY_SLOW_CULPRITS] = {
	[WHY_SLOW_NS] = { "ns", "ns", "the sample", TABLE_INTEGER, false },
	[WHY_SLOW_PID] = { "pid", "", "process that waited", TABLE_INTEGER, true },
	[WHY_SLOW_PROCESS] = { "process", "", "its name", TABLE_TEXT, true },
	[WHY_SLOW_TID] = { "tid", "", "thread that waited", TABLE_INTEGER, true },
	[WHY_SLOW_COMM] = { "comm", "", "its name", TABLE_TEXT, false },
	[WHY_SLOW_CGROUP] = { "cgroup", "", "its cgroup", TABLE_TEXT, false },
	[WHY_SLOW_CPU] = { "cpu", "", "CPU at the end", TABLE_INTEGER, false },
	[WHY_SLOW_WAKER_TID] = { "waker_tid", "", "thread that woke it up", TABLE_INTEGER, false },
	[WHY_SLOW_WAKER] = { "waker", "", "its name, or what else did", TABLE_TEXT, false },
	[WHY_SLOW_STACK_PID] = { "stack_pid", "", "process of the stacks", TABLE_INTEGER, false },
	[WHY_SLOW_STACK_TID] = { "stack_tid", "", "thread of the stacks", TABLE_INTEGER, false },
	[WHY_SLOW_KERNEL_STACK] = { "kernel_stack", "", "addresses, the innermost first",
				    TABLE_TEXT, false },
	[WHY_SLOW_USER_STACK] = { "user_stack", "", "addresses, the innermost first", TABLE_TEXT,
				  false },
};

static const struct table_column request_columns[WHY_REQUEST] = {
	[WHY_REQUEST_DISK] = { "disk", "", "disk of the request", TABLE_TEXT, false },
	[WHY_REQUEST_OP] = { "op", "", "its operation", TABLE_TEXT, false },
	[WHY_REQUEST_SECTOR] = { "sector", "", "its first sector, of 512 bytes", TABLE_INTEGER,
				 false },
	[WHY_REQUEST_BYTES] = { "bytes", "bytes", "its size", TABLE_INTEGER, false },
};

static struct table_column column_of(const char *name, const char *unit, const char *what,
				     enum table_kind kind)
{
	return (struct table_column){ .name = name, .unit = unit, .what = what, .kind = kind };
}

static int make_events(struct table **table, const struct why_words *of)
{
	struct table_column columns[TABLE_COLUMNS];
	char names[3 * WHY_CULPRITS + WHY_PARTS][WHY_NAME];
	unsigned int nr = WHY_SLOW_CULPRITS, name = 0;

	memcpy(columns, event_columns, sizeof(event_columns));
	for (unsigned int i = 1; i <= WHY_CULPRITS; i++) {
		snprintf(names[name], WHY_NAME, "culprit%u", i);
		columns[nr++] = column_of(names[name++], "", "who made it wait", TABLE_TEXT);
		snprintf(names[name], WHY_NAME, "culprit%u_part", i);
		columns[nr++] = column_of(names[name++], "", "in which part", TABLE_TEXT);
		snprintf(names[name], WHY_NAME, "culprit%u_ns", i);
		columns[nr++] = column_of(names[name++], "ns", "for how long", TABLE_INTEGER);
	}
	for (unsigned int i = 0; i < of->nr_parts; i++) {
		snprintf(names[name], WHY_NAME, "%s_ns", of->parts[i].name);
		columns[nr++] = column_of(names[name++], "ns", of->parts[i].what, TABLE_INTEGER);
	}
	for (unsigned int i = 0; of->requests && i < WHY_REQUEST; i++)
		columns[nr++] = request_columns[i];
	return table__new(table, columns, nr);
}

static int make_parts(struct table **table, const struct why_words *of)
{
	struct table_column columns[WHY_COLUMNS + 2];
	const struct table_column *more = NULL;

	if (of->requests)
		more = part_columns_of_requests;
	else if (of->traits)
		more = part_columns_of_traits;
	memcpy(columns, part_columns, sizeof(part_columns));
	if (more)
		memcpy(columns + WHY_COLUMNS, more, 2 * sizeof(*more));
	return table__new(table, columns, more ? WHY_COLUMNS + 2 : WHY_COLUMNS);
}

int why__new(struct run_why **why, const char *probe)
{
	const struct why_words *of = why__words(probe);
	int err;

	if (!of->nr_parts)
		return -EINVAL;
	if (!*why)
		*why = calloc(1, sizeof(**why));
	if (!*why)
		return -ENOMEM;
	(*why)->probe = of->probe;
	(*why)->nr_parts = of->nr_parts;
	err = make_parts(&(*why)->parts, of);
	if (!err)
		err = table__new(&(*why)->names, name_columns,
				 sizeof(name_columns) / sizeof(name_columns[0]));
	return err ? err : make_events(&(*why)->events, of);
}

void why__free(struct run_why *why)
{
	if (!why)
		return;
	table__free(why->parts);
	table__free(why->names);
	table__free(why->events);
	free(why);
}

/* Copies the name in a row of `parts`, without the ID of a task, to the newest row of `names`. */
static int sum_name(struct run_why *why, size_t row, unsigned int from, unsigned int to)
{
	struct table_value value = table__value(why->parts, row, from);
	char name[WHY_NAME];

	if (!value.known)
		return 0;
	snprintf(name, sizeof(name), "%.*s", (int)split__name_length(value.text), value.text);
	return table__set_text(why->names, to, name);
}

static int sum_row(struct run_why *why, size_t row)
{
	struct table_value part = table__value(why->parts, row, WHY_PART);
	int64_t ns = table__value(why->parts, row, WHY_NS).integer;
	int found = part.known ? why__find_part(why->probe, part.text) : -ENOENT;
	int err = table__add_row(why->names, 0);

	why->part_ns[found < 0 ? WHY_UNKNOWN : found] += (uint64_t)ns;
	if (!err)
		err = sum_name(why, row, WHY_VICTIM, WHY_NAME_VICTIM);
	if (!err)
		err = table__set_text(why->names, WHY_NAME_PART, part.known ? part.text : NULL);
	if (!err)
		err = sum_name(why, row, WHY_CULPRIT, WHY_NAME_CULPRIT);
	if (!err)
		table__set_integer(why->names, WHY_NAME_NS, ns);
	return err;
}

int why__sum(struct run_why *why)
{
	int err = 0;

	for (size_t row = 0; !err && row < table__rows(why->parts); row++)
		err = sum_row(why, row);
	return err ? err : table__fold(why->names);
}

static int64_t integer(const struct run_why *why, size_t row, unsigned int column)
{
	struct table_value value = table__value(why->events, row, column);

	return value.known && value.kind == TABLE_INTEGER ? value.integer : 0;
}

static void text(const struct run_why *why, size_t row, unsigned int column, char *to, size_t size)
{
	struct table_value value = table__value(why->events, row, column);

	snprintf(to, size, "%s", value.known && value.kind == TABLE_TEXT ? value.text : "");
}

void why__read_slow(const struct run_why *why, size_t row, struct why_slow *slow)
{
	const unsigned int request = WHY_SLOW_PARTS + why->nr_parts;

	memset(slow, 0, sizeof(*slow));
	slow->time_ns = table__time_ns(why->events, row);
	slow->ns = (uint64_t)integer(why, row, WHY_SLOW_NS);
	slow->pid = integer(why, row, WHY_SLOW_PID);
	slow->tid = integer(why, row, WHY_SLOW_TID);
	slow->cpu = integer(why, row, WHY_SLOW_CPU);
	slow->waker_tid = integer(why, row, WHY_SLOW_WAKER_TID);
	slow->stack_pid = integer(why, row, WHY_SLOW_STACK_PID);
	slow->stack_tid = integer(why, row, WHY_SLOW_STACK_TID);
	text(why, row, WHY_SLOW_PROCESS, slow->process, WHY_NAME);
	text(why, row, WHY_SLOW_COMM, slow->comm, WHY_NAME);
	text(why, row, WHY_SLOW_CGROUP, slow->cgroup, WHY_NAME);
	text(why, row, WHY_SLOW_WAKER, slow->waker, WHY_NAME);
	text(why, row, WHY_SLOW_KERNEL_STACK, slow->kernel_stack, WHY_STACK);
	text(why, row, WHY_SLOW_USER_STACK, slow->user_stack, WHY_STACK);
	for (unsigned int i = 0; i < WHY_CULPRITS; i++) {
		unsigned int column = WHY_SLOW_CULPRITS + 3 * i;

		text(why, row, column, slow->culprits[i].name, WHY_NAME);
		text(why, row, column + 1, slow->culprits[i].part, WHY_NAME);
		slow->culprits[i].ns = (uint64_t)integer(why, row, column + 2);
	}
	for (unsigned int i = 0; i < why->nr_parts; i++)
		slow->part_ns[i] = (uint64_t)integer(why, row, WHY_SLOW_PARTS + i);
	if (table__columns(why->events) == request + WHY_REQUEST) {
		text(why, row, request + WHY_REQUEST_DISK, slow->disk, WHY_NAME);
		text(why, row, request + WHY_REQUEST_OP, slow->op, WHY_NAME);
		slow->sector = (uint64_t)integer(why, row, request + WHY_REQUEST_SECTOR);
		slow->bytes = (uint64_t)integer(why, row, request + WHY_REQUEST_BYTES);
	}
}

unsigned int why__add_slowest(const struct run_why *why, struct why_slow *slowest, unsigned int nr,
			      unsigned int most)
{
	unsigned int at;

	for (size_t row = 0; row < table__rows(why->events); row++) {
		uint64_t ns = (uint64_t)integer(why, row, WHY_SLOW_NS);

		for (at = nr; at && slowest[at - 1].ns < ns; at--)
			if (at < most)
				slowest[at] = slowest[at - 1];
		if (at == most)
			continue;
		why__read_slow(why, row, &slowest[at]);
		if (nr < most)
			nr++;
	}
	return nr;
}

void why__keep_slowest(struct run_why *why)
{
	why->nr_slowest = why__add_slowest(why, why->slowest, why->nr_slowest, WHY_SLOWEST);
}
