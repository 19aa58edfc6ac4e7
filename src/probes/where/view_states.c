// SPDX-License-Identifier: BSD-2-Clause
#include "view_states.h"

#include <errno.h>
#include <string.h>

const char *const where_states[WHERE_STATES + 1] = {
	[WHERE_CPU] = "cpu",	   [WHERE_READY] = "ready",	[WHERE_DISK] = "disk",
	[WHERE_MEMORY] = "memory", [WHERE_FAULT] = "fault",	[WHERE_LOCK] = "lock",
	[WHERE_FUTEX] = "futex",   [WHERE_SOCKET] = "socket",	[WHERE_WORK] = "work",
	[WHERE_TIMER] = "timer",   [WHERE_CHILD] = "child",	[WHERE_STOPPED] = "stopped",
	[WHERE_OTHER] = "other",   [WHERE_UNKNOWN] = "unknown",
};

const char *const where_labels[WHERE_STATES] = {
	[WHERE_CPU] = "on a CPU",
	[WHERE_READY] = "waited for a CPU",
	[WHERE_DISK] = "waited for a disk",
	[WHERE_MEMORY] = "waited for memory",
	[WHERE_FAULT] = "asleep in page faults",
	[WHERE_LOCK] = "waited for kernel lock",
	[WHERE_FUTEX] = "waited for a futex",
	[WHERE_SOCKET] = "socket or pipe",
	[WHERE_WORK] = "waited for work",
	[WHERE_TIMER] = "timer",
	[WHERE_CHILD] = "waited for a child",
	[WHERE_STOPPED] = "stopped",
	[WHERE_OTHER] = "other",
	[WHERE_UNKNOWN] = "unknown",
};

const char *const where_gaps[WHERE_GAPS] = {
	[GAP_SWITCH] = "switch", [GAP_ACCOUNT] = "account", [GAP_TORN] = "torn", [GAP_END] = "end",
	[GAP_CALL] = "call",	 [GAP_CHAIN] = "chain",	    [GAP_LATE] = "late",
};

int where_state(const char *name)
{
	for (int i = 0; name && i < WHERE_STATES; i++)
		if (!strcmp(where_states[i], name))
			return i;
	return -ENOENT;
}

bool where_is_idle(unsigned int state)
{
	return state == WHERE_WORK || state == WHERE_TIMER || state == WHERE_CHILD ||
	       state == WHERE_STOPPED;
}

bool where_is_wait(unsigned int state)
{
	return state != WHERE_CPU && state != WHERE_UNKNOWN && !where_is_idle(state);
}

bool where_is_short(unsigned int state)
{
	return where_is_wait(state) && state != WHERE_FUTEX && state != WHERE_SOCKET;
}

const char where_lacks[] = "this kernel does not show ";

const char where_delayed[] = "this kernel counts the sleep of tasks that it moves as run delay";
