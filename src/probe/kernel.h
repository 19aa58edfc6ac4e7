/* SPDX-License-Identifier: BSD-2-Clause */
/* What can be learned of the running kernel: by asking it, never by its version. */
#ifndef LATSCOPE_PROBE_KERNEL_H
#define LATSCOPE_PROBE_KERNEL_H

#include <stdbool.h>

#include <base/run.h>

/* Does the running kernel have the tracepoint? */
bool kernel__has_tracepoint(const char *name);

/* Arguments of a tracepoint as BPF sees them; -ENOENT: no such tracepoint, or no BTF. */
int kernel__tracepoint_args(const char *name);

/* Is there a function of that name to attach to? */
bool kernel__has_function(const char *name);

/* Has a structure of the kernel a member of that name? */
bool kernel__has_member(const char *structure, const char *member);

/* Value of an enumerator, 0 or more, also of an enum that has no name; -ENOENT: there is none. */
int kernel__enum_value(const char *enumerator);

/* No more questions: gives back the memory of the kernel's type information, libbpf's too. */
void kernel__forget(void);

/* From now on keeps libbpf's complaints instead of having them printed. */
void kernel__capture_log(void);

/*
 * One line on why the last attempt failed with `err`: the errno in words and, if it helps, what the
 * kernel or libbpf said; `needs` is what the attempt requires.
 */
void kernel__explain(int err, const char *needs, char reason[RUN_TEXT]);

/* 0, or -EPERM (not root), -ENOENT (no BTF) with the one line that says so. */
int kernel__check(char why[RUN_TEXT]);

#endif
