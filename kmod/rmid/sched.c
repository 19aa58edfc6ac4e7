// SPDX-License-Identifier: GPL-2.0-only
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/binfmts.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "cpu.h"
#include "owners.h"
#include "sched.h"

/* The run queue is locked, interrupts are off, prev is still the current task. */
static void on_switch(void *data, bool preempt, struct task_struct *prev, struct task_struct *next,
		      unsigned int prev_state)
{
	cpu__switch(prev, next);
	/* The RMID can be freed only now, when this CPU no longer uses it. */
	if (unlikely(prev_state == TASK_DEAD && !preempt))
		owners__dead_task(prev);
}

/* The lock of the task's run queue is held. */
static void on_wakeup_new(void *data, struct task_struct *task)
{
	owners__new_task(task);
}

static void on_exec(void *data, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	owners__exec(task);
}

static struct hook {
	const char *name;
	void *function;
	struct tracepoint *tracepoint;
	bool registered;
} hooks[] = {
	/* Deaths first: a process born under the second hook must not die unseen. */
	{ .name = "sched_switch", .function = on_switch },
	{ .name = "sched_wakeup_new", .function = on_wakeup_new },
	{ .name = "sched_process_exec", .function = on_exec },
};

/* Compile-time check that the functions fit the tracepoints of this kernel. */
static void __maybe_unused check_types(void)
{
	check_trace_callback_type_sched_wakeup_new(on_wakeup_new);
	check_trace_callback_type_sched_switch(on_switch);
	check_trace_callback_type_sched_process_exec(on_exec);
}

static void find(struct tracepoint *tracepoint, void *unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (!strcmp(hooks[i].name, tracepoint->name))
			hooks[i].tracepoint = tracepoint;
}

int sched__hook(void)
{
	size_t i;
	int err;

	for_each_kernel_tracepoint(find, NULL);
	for (i = 0; i < ARRAY_SIZE(hooks); i++) {
		err = hooks[i].tracepoint ? tracepoint_probe_register(hooks[i].tracepoint,
								      hooks[i].function, NULL)
					  : -ENOENT;
		if (err) {
			pr_err("cannot hook the tracepoint %s: %d\n", hooks[i].name, err);
			goto unhook;
		}
		hooks[i].registered = true;
	}
	return 0;

unhook:
	sched__unhook();
	return err;
}

void sched__unhook(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(hooks); i++)
		if (hooks[i].registered)
			tracepoint_probe_unregister(hooks[i].tracepoint, hooks[i].function, NULL);
	tracepoint_synchronize_unregister();
}
