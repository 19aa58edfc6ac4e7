/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one book of RMIDs, behind its lock, with its tracepoints. A process is identified by its
 * signal_struct: threads share it, it survives exec by any thread, and its address is not reused
 * while a task of it is left. So reuse of PIDs does not matter.
 *
 * The lock nests inside run-queue locks: no wakeup is allowed under it.
 */
#ifndef LATSCOPE_RMID_OWNERS_H
#define LATSCOPE_RMID_OWNERS_H

#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>

#include "book.h"

/* The clock of BPF programs. Safe in every context. */
static inline u64 owners__now(void)
{
	return ktime_get_mono_fast_ns();
}

int owners__init(u32 rmids, u64 limbo_ns, u32 processes);
void owners__exit(void);

/* A task is about to run for the first time. */
void owners__new_task(struct task_struct *task);

/*
 * Adds an existing process, with this many threads that have not ended. False: it is known, or
 * there is no room.
 */
bool owners__adopt(struct task_struct *leader, u32 threads, u64 now_ns);

/*
 * Is there room for processes that found none? Returns true once for them, unless the table fills
 * up again.
 */
bool owners__take_untracked(void);

/* A task has run for the last time. Of its thread group, only the signal_struct may be accessed. */
void owners__dead_task(struct task_struct *task);

void owners__exec(struct task_struct *task);

/*
 * RMID of the task's process, which is alive. If the process waits, tries to serve the queue.
 * Otherwise lock-free.
 */
u32 owners__rmid(struct task_struct *task);

/* Since when the RMID has its owner; 0: it has none. Lock-free. */
u64 owners__since_ns(u32 rmid);

/* Number of processes that have an RMID. Lock-free. */
u32 owners__assigned(void);

/* Fires rmid_existing for each process that has an RMID. */
void owners__dump(void);

/* Reads the process at a place. False: there is none. */
bool owners__get(u32 place, struct rmid_process *process);
u32 owners__places(void);

struct owners_totals {
	struct rmid_counts counts;
	u32 rmids;
	u32 assigned;
	u32 waiting;
	u64 limbo_ns;
};
void owners__totals(struct owners_totals *totals);

#endif
