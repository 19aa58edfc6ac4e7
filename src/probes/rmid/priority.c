// SPDX-License-Identifier: BSD-2-Clause
#include "priority.h"

#include <errno.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NICE (-20)

static bool raised;

int priority__raise(void)
{
	struct sched_attr attr = { .size = sizeof(attr) };

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0))
		return -errno;
	if (attr.sched_policy != SCHED_NORMAL || attr.sched_nice)
		return 0;
	attr.sched_nice = NICE;
	attr.sched_flags = SCHED_FLAG_RESET_ON_FORK;
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		return -errno;
	raised = true;
	return 0;
}

void priority__restore(void)
{
	if (raised)
		setpriority(PRIO_PROCESS, 0, 0);
	raised = false;
}
