// SPDX-License-Identifier: BSD-2-Clause
#include "view_states.h"

const char *const where_states[WHERE_STATES] = {
	[WHERE_CPU] = "cpu",	   [WHERE_READY] = "ready",	[WHERE_DISK] = "disk",
	[WHERE_MEMORY] = "memory", [WHERE_FAULT] = "fault",	[WHERE_LOCK] = "lock",
	[WHERE_FUTEX] = "futex",   [WHERE_SOCKET] = "socket",	[WHERE_WORK] = "work",
	[WHERE_TIMER] = "timer",   [WHERE_CHILD] = "child",	[WHERE_STOPPED] = "stopped",
	[WHERE_OTHER] = "other",   [WHERE_UNKNOWN] = "unknown",
};
