/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the kernel refuses a program, or BPF as a whole, in one line for the user. */
#ifndef LATSCOPE_PROBES_REFUSAL_H
#define LATSCOPE_PROBES_REFUSAL_H

#include <stdbool.h>
#include <stdio.h>

#include <core/run.h>

/* Where the verifier's log of each refused program goes; NULL, the default: nowhere. */
void refusal__show_log(FILE *to);

/* Keeps what libbpf and the verifier say of the attempt that comes, instead of printing it. */
void refusal__capture(void);

/*
 * Why the attempt failed with `err` (-errno); `needs` is what the attempt requires. An error from
 * the verifier is told from a missing permission and from what this kernel does not have.
 */
void refusal__explain(int err, const char *needs, char reason[RUN_TEXT]);

/* The reason of an attempt that fails for another one than libbpf would give. */
void refusal__note(const char *complaint);

/* Did the verifier refuse a program of the last attempt? */
bool refusal__by_verifier(void);

/*
 * 0 if this process may use BPF here, else -EPERM (no privilege), -EOPNOTSUPP (a container or a
 * policy forbids it) or -ENOENT (the kernel has no BTF), and the one line that says so.
 */
int refusal__check(char why[RUN_TEXT]);

#endif
