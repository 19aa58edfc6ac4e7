/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Interrupts and softirqs of this CPU, which are no work of the task that has it, with --why. Their
 * time is taken from the turn of the task that they interrupt; and a task that they wake up was not
 * woken up by the one that they interrupted. Included by turns.bpf.h alone.
 *
 * A softirq that a task itself has raised is the task's own work. With PREEMPT_RT, softirqs run in
 * threads, which have turns of their own.
 */
#ifndef LATSCOPE_PROBES_RUNQLAT_INTERRUPTS_BPF_H
#define LATSCOPE_PROBES_RUNQLAT_INTERRUPTS_BPF_H

#include <probes/kit/kernel.bpf.h>
#include <latscope/why.h>

#include "types.h"

#define SOURCES 4 /* in one turn; the time of others has no name */

struct source {
	__u64 ns;
	__u32 source; /* enum why_source */
	__u32 pad;
};

/* Of one CPU. */
struct interrupts {
	__u64 since_ns; /* when what runs now began or went on */
	__u16 hard, soft; /* enum why_source of what runs; 0: none */
	__u16 timer; /* a timer expires */
	__u16 raised; /* softirqs that tasks raised: mask of 1 << vector */
	__u16 lent; /* a softirq runs that the task has raised */
	__u16 vector; /* an interrupt of x86 that has no number */
	__u32 pad;
	__u64 data_at; /* x86: where the kernel has the data of this CPU; 0: not read yet */
	/* Since the turn began. */
	__u64 ns;
	struct source sources[SOURCES];
};

/* ---- the context ---- */

/*
 * x86: symbols of the kernel, which user space sets; 0: unknown, as a kernel may keep the names of
 * its data to itself. Then the programs that see interrupts begin and end must do.
 */
const volatile __u64 preempt_count_at =
	0; /* or what it is in, pcpu_hot: at this distance from... */
const volatile __u64 per_cpu_offsets_at = 0; /* ...these, one for each CPU */

/* preempt_count also counts how often interrupts were disabled. Set before the load. */
const volatile bool counts_disable = false;

static __always_inline __u32 hardirq_mask(void)
{
	return counts_disable ? HARDIRQ_MASK_BESIDE_DISABLE : HARDIRQ_MASK;
}

static __always_inline __u32 nmi_mask(void)
{
	return counts_disable ? NMI_MASK_BESIDE_DISABLE : NMI_MASK;
}

/* The kernel's preempt_count of this CPU; -1: unknown. */
static __always_inline __s64 preempt_count(struct interrupts *interrupts,
					   struct task_struct *current)
{
#if defined(__TARGET_ARCH_x86)
	__u64 at = preempt_count_at;
	__u32 count = 0;

	if (!at)
		return -1;
	if (bpf_core_field_exists(struct pcpu_hot, preempt_count))
		at += bpf_core_field_offset(struct pcpu_hot, preempt_count);
	if (!interrupts->data_at)
		bpf_probe_read_kernel(
			&interrupts->data_at, sizeof(interrupts->data_at),
			(void *)(per_cpu_offsets_at + 8 * bpf_get_smp_processor_id()));
	if (bpf_probe_read_kernel(&count, sizeof(count), (void *)(interrupts->data_at + at)))
		return -1;
	return count;
#else
	return (__u32)current->thread_info.preempt_count;
#endif
}

static __always_inline bool softirqs_are_threads(void)
{
	return bpf_core_field_exists(struct task_struct, softirq_disable_cnt);
}

/* What preempt_count must be, as far as the programs see it. */
static __always_inline __u32 seen_count(const struct interrupts *interrupts)
{
	if (interrupts->timer || interrupts->hard || interrupts->vector)
		return hardirq_mask();
	return interrupts->soft ? SOFTIRQ_OFFSET : 0;
}

/* In which context does this CPU run now? */
static __always_inline __u32 context_of(struct interrupts *interrupts, struct task_struct *current)
{
	__s64 count = preempt_count(interrupts, current);

	if (count < 0)
		count = seen_count(interrupts);
	if (count & nmi_mask())
		return WHY_INTERRUPT;
	if (count & hardirq_mask()) {
		if (interrupts->timer)
			return WHY_TIMER;
		return interrupts->hard ? interrupts->hard : WHY_INTERRUPT;
	}
	if (softirqs_are_threads() || !(count & SOFTIRQ_OFFSET) || interrupts->lent)
		return WHY_NO_SOURCE;
	return interrupts->soft ? interrupts->soft : WHY_INTERRUPT;
}

/* ---- time ---- */

static __always_inline void add_source(struct interrupts *interrupts, __u32 of, __u64 ns)
{
	interrupts->ns += ns;
#pragma unroll
	for (int i = 0; i < SOURCES; i++) {
		struct source *source = &interrupts->sources[i];

		if (source->ns && source->source != of)
			continue;
		source->source = of;
		source->ns += ns;
		return;
	}
}

/* Adds the time of what ran until now, and notes what runs from now on. */
static __always_inline void change_source(struct interrupts *interrupts, __u32 hard, __u32 soft)
{
	__u64 now = bpf_ktime_get_ns();
	__u32 ran = interrupts->hard ? interrupts->hard : interrupts->soft;

	if (ran)
		add_source(interrupts, ran, now - interrupts->since_ns);
	interrupts->since_ns = now;
	interrupts->hard = hard;
	interrupts->soft = soft;
}

/*
 * The source with the most time of the turn, which ends; forgets all. Tasks are never switched in
 * an interrupt, so an end that no program saw has no effect on the next turn.
 */
static __always_inline __u32 end_sources(struct interrupts *interrupts)
{
	__u32 most = 0;
	__u64 ns = 0;

	interrupts->hard = interrupts->soft = interrupts->timer = interrupts->lent = 0;
	interrupts->vector = 0;
	interrupts->ns = 0;
#pragma unroll
	for (int i = 0; i < SOURCES; i++) {
		struct source *source = &interrupts->sources[i];

		if (source->ns > ns) {
			ns = source->ns;
			most = source->source;
		}
		source->ns = 0;
	}
	return most;
}

static __always_inline __u32 irq_source(__u32 irq)
{
	return irq < WHY_LAST_SOURCE - WHY_FIRST_IRQ ? WHY_FIRST_IRQ + irq : WHY_LAST_SOURCE;
}

#endif
