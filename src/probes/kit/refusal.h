/* SPDX-License-Identifier: BSD-2-Clause */
/* Why the kernel refuses a program, or BPF as a whole, in one line for the user. */
#ifndef LATSCOPE_PROBES_KIT_REFUSAL_H
#define LATSCOPE_PROBES_KIT_REFUSAL_H

#include <stdbool.h>
#include <stdio.h>

#include <core/run.h>

/* Output for the verifier's log of each refused program; NULL (default): none. */
void refusal__show_log(FILE *to);

/*
 * Captures the messages of libbpf and the verifier about the next attempt instead of printing them.
 */
void refusal__capture(void);

/*
 * Why the attempt failed with `err` (-errno); `needs` is what the attempt requires. Distinguishes a
 * refusal by the verifier, a missing permission, and a missing feature of the kernel.
 */
void refusal__explain(int err, const char *needs, char reason[RUN_TEXT]);

/* Sets the reason of an attempt that did not fail in libbpf. */
void refusal__note(const char *complaint);

/* Did the verifier refuse a program of the last attempt? */
bool refusal__by_verifier(void);

/*
 * 0 if this process may use BPF here, else -EPERM (no privilege), -EOPNOTSUPP (a container or a
 * policy forbids it) or -ENOENT (the kernel has no BTF), and the one line that says so.
 */
int refusal__check(char why[RUN_TEXT]);

#endif
