/* SPDX-License-Identifier: BSD-2-Clause */
/* Where x86 keeps preempt_count, from which interrupts.bpf.h reads the context. */
#ifndef LATSCOPE_PROBES_KIT_PREEMPT_COUNT_H
#define LATSCOPE_PROBES_KIT_PREEMPT_COUNT_H

#include <stdbool.h>
#include <stdint.h>

/* The variables of interrupts.bpf.h, by the skeleton's .rodata. */
#define PREEMPT_COUNT_FIND(rodata)                                     \
	preempt_count__find((uint64_t *)&(rodata)->preempt_count_at,   \
			    (uint64_t *)&(rodata)->per_cpu_offsets_at, \
			    (bool *)&(rodata)->counts_disable)

/*
 * False: the kernel does not tell where it is (x86). Then the programs that see interrupts begin
 * and end must do, and those of interrupts without a number are needed, too.
 */
bool preempt_count__find(uint64_t *count_at, uint64_t *offsets_at, bool *counts_disable);

/* The programs of interrupt_programs.bpf.h; NULL-terminated. The others: without a number. */
extern const char *const preempt_count_programs[], *const preempt_count_vectors[];

#endif
