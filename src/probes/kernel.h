/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be learned of the running kernel: by asking it, never by its version. */
#ifndef LATSCOPE_PROBES_KERNEL_H
#define LATSCOPE_PROBES_KERNEL_H

#include <stdbool.h>

#include <core/run.h>

/* Does the running kernel have the tracepoint? */
bool kernel__has_tracepoint(const char *name);

/* Arguments of a tracepoint as BPF sees them; -ENOENT: no such tracepoint, or no BTF. */
int kernel__tracepoint_args(const char *name);

/* Is there a function of that name to attach to? */
bool kernel__has_function(const char *name);

/* Where the code of each function is. -ENOENT: one is not known, or hidden from this process. */
int kernel__code(size_t nr, const char *const names[], struct memlat_code *const codes[]);

/* Has a structure of the kernel a member of that name? */
bool kernel__has_member(const char *structure, const char *member);

/* Value of an enumerator, 0 or more, also of an enum that has no name; -ENOENT: there is none. */
int kernel__enum_value(const char *enumerator);

/* No more questions: gives back the memory of the kernel's type information, libbpf's too. */
void kernel__forget(void);

/* What every probe needs and this kernel does not have; NULL: it has all. */
const char *kernel__lacks(void);

/*
 * May the kernel preempt a task that runs in the kernel? True also where that cannot be found out:
 * the model in use is in debugfs only, where the kernel was built with PREEMPT_DYNAMIC.
 */
bool kernel__preempts(void);

/* And also in a program at a tracepoint, except where interrupts are off? */
bool kernel__preempts_tracepoints(void);

#endif
