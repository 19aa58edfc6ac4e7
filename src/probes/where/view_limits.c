// SPDX-License-Identifier: BSD-2-Clause
#include "view_limits.h"

#include <stdio.h>
#include <string.h>

#include <core/sleep_stacks.h>

#include "view_states.h"

/* By the function in which the task slept, or that called it: the first one in the stack counts. */
static const struct {
	const char *function;
	bool of_cgroup;
	const char *name;
} known[] = {
	{ "mem_cgroup_handle_over_high", true, "memory.high" },
	{ "__mem_cgroup_handle_over_high", true, "memory.high" },
	{ "try_charge_memcg", true, "memory.max" },
	{ "mem_cgroup_oom_synchronize", true, "memory.max" },
	{ "__alloc_pages_slowpath", false, "reclaim: the machine is short of memory" },
	{ "__alloc_frozen_pages_slowpath", false, "reclaim: the machine is short of memory" },
};
#define KNOWN (sizeof(known) / sizeof(known[0]))

static bool is_function(const struct frame *frame, const char *function)
{
	size_t len = frame ? strcspn(frame->name, "+.") : 0;

	return len == strlen(function) && !strncmp(frame->name, function, len);
}

/* Index of `known`, or KNOWN. */
static size_t limit_of(const struct frames *frames, const char *stack)
{
	uint64_t address;

	while (frames__next(&stack, &address)) {
		const struct frame *frame = frames__find(frames, 0, address);

		for (size_t i = 0; i < KNOWN; i++)
			if (is_function(frame, known[i].function))
				return i;
	}
	return KNOWN;
}

static bool has_function(const struct frames *frames, const char *stack, const char *function)
{
	uint64_t address;

	while (frames__next(&stack, &address))
		if (is_function(frames__find(frames, 0, address), function))
			return true;
	return false;
}

static bool is_of(const struct where_account *row, const struct sleep_stack *sleep)
{
	if (row->comm && !strcmp(row->comm, sleep->comm))
		return true;
	return row->pid && row->pid == sleep->pid;
}

double limits__full_queue_ns(const struct reasons *reasons, const struct where_account *row)
{
	const struct table *stacks = reasons->probe->more[RUN_STACKS];
	size_t nr = sleep_stacks__is(stacks) ? sleep_stacks__nr(stacks) : 0;
	double ns = 0;

	for (size_t i = 0; i < nr; i++) {
		const struct sleep_stack sleep = sleep_stacks__nth(stacks, i);

		if (!strcmp(sleep.state, where_states[WHERE_DISK]) &&
		    (row == &reasons->accounts->all || is_of(row, &sleep)) &&
		    has_function(&reasons->run->frames, sleep.stack, "blk_mq_get_tag"))
			ns += (double)sleep.ns;
	}
	return ns;
}

bool limits__find(struct limit *limit, const struct reasons *reasons,
		  const struct where_account *row)
{
	const struct table *stacks = reasons->probe->more[RUN_STACKS];
	size_t nr = sleep_stacks__is(stacks) ? sleep_stacks__nr(stacks) : 0, most = KNOWN;
	double all_ns = 0, ns[KNOWN + 1] = { 0 };

	for (size_t i = 0; i < nr; i++) {
		const struct sleep_stack sleep = sleep_stacks__nth(stacks, i);

		if (strcmp(sleep.state, where_states[WHERE_MEMORY]) != 0 || !is_of(row, &sleep))
			continue;
		all_ns += (double)sleep.ns;
		ns[limit_of(&reasons->run->frames, sleep.stack)] += (double)sleep.ns;
	}
	for (size_t i = 0; i < KNOWN; i++)
		if (ns[i] > 0 && (most == KNOWN || ns[i] > ns[most]))
			most = i;
	if (most == KNOWN)
		return false;
	limit->share = accounts__share(ns[most], all_ns);
	snprintf(limit->who, sizeof(limit->who), "%s%s%s", known[most].name,
		 known[most].of_cgroup ? " of " : "",
		 !known[most].of_cgroup ? ""
		 : row->cgroup		? row->cgroup
					: "its cgroup");
	return true;
}
