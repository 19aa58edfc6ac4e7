/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs that see interrupts, softirqs and timers begin and end. The file of programs that
 * includes this defines before it:
 *
 *   struct interrupts *interrupts_here(void)   those of this CPU; NULL: not kept
 */
#ifndef LATSCOPE_PROBES_KIT_INTERRUPT_PROGRAMS_BPF_H
#define LATSCOPE_PROBES_KIT_INTERRUPT_PROGRAMS_BPF_H

#include "interrupts.bpf.h"
#include "sample.bpf.h"

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
