/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The programs of --why that see interrupts, softirqs and timers begin and end (in kit), works and
 * wakers.
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

#include <probes/kit/interrupt_programs.bpf.h>

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

#endif
