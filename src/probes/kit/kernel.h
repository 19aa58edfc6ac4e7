/* SPDX-License-Identifier: BSD-2-Clause */
/* What the running kernel has: found by asking it, never by its version. */
#ifndef LATSCOPE_PROBES_KIT_KERNEL_H
#define LATSCOPE_PROBES_KIT_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <core/run.h>

struct btf;

/* The kernel's type information; NULL: there is none. Valid until kernel__forget(). */
const struct btf *kernel__btf(void);

/* The number of a type in it, by its name and BTF_KIND_...; -errno: there is none. */
int kernel__find(const char *name, uint32_t kind);

/* Does the running kernel have the tracepoint? */
bool kernel__has_tracepoint(const char *name);

/* Is an argument of a tracepoint, counted from 0 as BPF sees them, of the type of that name? */
bool kernel__tracepoint_takes(const char *name, int arg, const char *type_name);

/* Is there a function of that name to attach to? */
bool kernel__has_function(const char *name);

/* May a BPF program be attached to the entry of that function? Loads one, and attaches it. */
bool kernel__has_fentry(const char *function);

/* Does a structure of the kernel have this member? */
bool kernel__has_member(const char *structure, const char *member);

/* The bit at which a member begins that is not in a nested structure; -1: there is none. */
int kernel__bit(const char *structure, const char *member);

/* Value of an enumerator, 0 or more, also of an enum that has no name; -ENOENT: there is none. */
int kernel__enum_value(const char *enumerator);

/* Call after the last question: frees the kernel's type information, including libbpf's copy. */
void kernel__forget(void);

/* The version of Linux whose features every probe needs, if this kernel is older; else NULL. */
const char *kernel__lacks(void);

/*
 * A file of debugfs, also if that is not mounted; NULL: it cannot be opened. Needs CAP_SYS_ADMIN if
 * it is not mounted. The caller closes it.
 */
FILE *kernel__open_debugfs(const char *path);

/*
 * May the kernel preempt a task that runs in the kernel? True also if unknown: with
 * PREEMPT_DYNAMIC, only debugfs shows the model in use.
 */
bool kernel__preempts(void);

/* Also in a program at a tracepoint, except with interrupts off? */
bool kernel__preempts_tracepoints(void);

#endif
