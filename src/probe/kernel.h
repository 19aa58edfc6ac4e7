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

/* Gives back the memory that the answers took; a later question loads the BTF again. */
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
