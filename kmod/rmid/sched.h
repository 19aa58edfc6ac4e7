/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hooks on the scheduler's tracepoints. They are not exported to modules by name, so they are
 * looked up among all tracepoints of the kernel.
 *
 *   sched_wakeup_new    every task that will ever run, before it does: also the threads of io_uring
 *                       and vhost, for which sched_process_fork does not fire
 *   sched_switch        with TASK_DEAD: a task has run for the last time
 *   sched_process_exec  a process has a new name
 */
#ifndef LATSCOPE_RMID_SCHED_H
#define LATSCOPE_RMID_SCHED_H

int sched__hook(void);

/* When it returns, no hook runs any more. */
void sched__unhook(void);

#endif
