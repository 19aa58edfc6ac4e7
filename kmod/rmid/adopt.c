// SPDX-License-Identifier: GPL-2.0-only
#include <linux/delay.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/stop_machine.h>
#include <linux/workqueue.h>

#include "adopt.h"
#include "owners.h"
#include "pace.h"

/*
 * To know when the last thread of a process has ended, its threads must be counted, and threads
 * that start or end in between must be neither missed nor counted twice. While all other CPUs are
 * stopped, a thread either has passed sched_wakeup_new or is in TASK_NEW, and either has had its
 * last switch or is not in TASK_DEAD.
 *
 * One kind of thread cannot be seen: a thread that is not the leader leaves the list of threads
 * some time before it runs for the last time. But it holds a reference to the signal_struct. If
 * there are more references than threads in the list, the process is tried again a little later.
 * Dead threads with a remaining reference look the same, so the last try takes all processes.
 */
#define TRIES 5
#define WATCH_TRIES 2
#define PAUSE_MS 10
#define WATCH_MS 2000

static struct pace pace; /* of processes that may still be adopted */
static u32 stops;

struct pass {
	bool last;
	u32 left; /* processes left for the next try */
};

/* Number of its threads that will have a last switch. Sets *unsure if there may be more. */
static u32 count_threads(struct task_struct *leader, bool *unsure)
{
	struct task_struct *thread;
	u32 listed = 0, count = 0;

	for_each_thread(leader, thread)
	{
		unsigned int state = READ_ONCE(thread->__state);

		listed++;
		count += state != TASK_NEW && state != TASK_DEAD;
	}
	*unsure = refcount_read(&leader->signal->sigcnt) != listed;
	return count;
}

/* The machine is stopped, interrupts are off. */
static int adopt_pass(void *data)
{
	struct pass *pass = data;
	struct task_struct *leader;
	u64 now_ns = owners__now();
	bool unsure;
	u32 count;

	pass->left = 0;
	rcu_read_lock();
	for_each_process(leader)
	{
		/* A leader in TASK_NEW is born a little later. */
		if (leader->flags & PF_KTHREAD || READ_ONCE(leader->__state) == TASK_NEW)
			continue;
		count = count_threads(leader, &unsure);
		if (count && unsure && !pass->last)
			pass->left++;
		else if (count)
			owners__adopt(leader, count, now_ns);
	}
	rcu_read_unlock();
	return 0;
}

static void adopt(int tries)
{
	struct pass pass = {};
	int i;

	for (i = 1; i <= tries; i++) {
		pass.last = i == tries;
		WRITE_ONCE(stops, stops + 1);
		stop_machine(adopt_pass, &pass, NULL);
		if (!pass.left)
			return;
		msleep(PAUSE_MS);
	}
}

void adopt__all(void)
{
	adopt(TRIES);
}

u32 adopt__count(void)
{
	return READ_ONCE(stops);
}

static void watch(struct work_struct *work)
{
	if (pace__may(&pace, owners__now()) && owners__take_untracked()) {
		adopt(WATCH_TRIES);
		pace__did(&pace, owners__now());
	}
	schedule_delayed_work(to_delayed_work(work), msecs_to_jiffies(WATCH_MS));
}

static DECLARE_DEFERRABLE_WORK(watching, watch);

void adopt__watch(void)
{
	schedule_delayed_work(&watching, msecs_to_jiffies(WATCH_MS));
}

void adopt__unwatch(void)
{
	cancel_delayed_work_sync(&watching);
}
