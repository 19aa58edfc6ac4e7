/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs of --why that see interrupts, softirqs and timers begin and end, and wakers.
 * Programs are defined here, so only runqlat.bpf.c may include this.
 */
#ifndef LATSCOPE_PROBES_RUNQLAT_SOURCES_BPF_H
#define LATSCOPE_PROBES_RUNQLAT_SOURCES_BPF_H

#include <probes/kit/account_waking.bpf.h>

#include "why.bpf.h"

static __always_inline struct interrupts *interrupts_here(void)
{
	struct place *place = place_of(bpf_get_smp_processor_id());

	return place ? &place->interrupts : NULL;
}

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(why_irq_begins, int irq)
{
	struct interrupts *here = interrupts_here();

	if (here)
		change_source(here, irq_source(irq), here->soft);
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(why_irq_ends, int irq)
{
	struct interrupts *here = interrupts_here();

	if (here)
		change_source(here, 0, here->soft);
	return 0;
}

/*
 * If a task raised the softirq, its work is that of the task; if an interrupt did, it is of no
 * task.
 */
SEC("tp_btf/softirq_raise")
int BPF_PROG(why_raised, unsigned int vector)
{
	struct interrupts *here = interrupts_here();
	__u32 bit = 1U << (vector & 15);

	if (!here)
		return 0;
	if (context_of(here, bpf_get_current_task_btf()) == WHY_NO_SOURCE)
		here->raised |= bit;
	else
		here->raised &= ~bit;
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(why_softirq_begins, unsigned int vector)
{
	struct interrupts *here = interrupts_here();
	__u32 bit = 1U << (vector & 15);

	if (!here || softirqs_are_threads())
		return 0;
	here->lent = injected(RAISED) ? 0 : here->raised & bit;
	here->raised &= ~bit;
	if (!here->lent)
		change_source(here, here->hard, WHY_SOFTIRQ + vector);
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(why_softirq_ends, unsigned int vector)
{
	struct interrupts *here = interrupts_here();

	if (!here)
		return 0;
	here->lent = 0;
	if (here->soft)
		change_source(here, here->hard, 0);
	return 0;
}

SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(why_timer_begins)
{
	struct interrupts *here = interrupts_here();

	if (here)
		here->timer = 1;
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(why_timer_ends)
{
	struct interrupts *here = interrupts_here();

	if (here)
		here->timer = 0;
	return 0;
}

/* ---- workqueues ---- */

/* The kworker works for it by now. Works of softirqs (6.9) are not of the task. */
SEC("tp_btf/workqueue_execute_start")
int BPF_PROG(why_work_starts)
{
	struct place *place = place_of(bpf_get_smp_processor_id());
	struct task_struct *task = bpf_get_current_task_btf();
	__u64 pwq, now = bpf_ktime_get_ns();
	struct runqlat_cpu *here = cpu_here();
	struct runqlat_clock *clock;

	if (!place || !here || context_of(&place->interrupts, task) != WHY_NO_SOURCE)
		return 0;
	pwq = pwq_of(task);
	clock = here->clock.at_ns ? &here->clock : other_clock(now);
	if (pwq && clock && pwq != place->works.pwq)
		note_work(&place->works, pwq, now - clock->offset_ns);
	return 0;
}

/* ---- wakers ---- */

SEC("tp_btf/sched_waking")
int BPF_PROG(why_waking, struct task_struct *task)
{
	struct task_struct *waker = bpf_get_current_task_btf();
	struct interrupts *here = interrupts_here();

	note_waker(task);
	if (hosts_account)
		account_waking(task, waker, here ? context_of(here, waker) : WHY_INTERRUPT);
	return 0;
}

/* ---- where preempt_count is unknown ---- */

#define VECTOR_PROGRAM(name, point, begins)                  \
	SEC("tp_btf/" #point)                                \
	int name(void *ctx)                                  \
	{                                                    \
		struct interrupts *here = interrupts_here(); \
                                                             \
		if (here)                                    \
			here->vector = begins;               \
		return 0;                                    \
	}

VECTOR_PROGRAM(why_work_begins, irq_work_entry, 1)
VECTOR_PROGRAM(why_work_ends, irq_work_exit, 0)
VECTOR_PROGRAM(why_call_begins, call_function_entry, 1)
VECTOR_PROGRAM(why_call_ends, call_function_exit, 0)
VECTOR_PROGRAM(why_single_begins, call_function_single_entry, 1)
VECTOR_PROGRAM(why_single_ends, call_function_single_exit, 0)

#endif
