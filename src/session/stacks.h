/* SPDX-License-Identifier: BSD-2-Clause */
/* Names for the stacks of slow samples, in a process with few privileges and one with none. */
#ifndef LATSCOPE_SESSION_STACKS_H
#define LATSCOPE_SESSION_STACKS_H

#include <core/run.h>
#include <symbols/symbols.h>

/*
 * Call before probes are opened and privileges are dropped. If it fails, run->frames_why says so,
 * and *symbols is NULL: the window continues without names.
 */
void stacks__begin(struct symbols **symbols, struct run *run);

/* Call after the window: fills in run->frames. 0 or -ENOMEM. symbols NULL: nothing to do. */
int stacks__describe(struct symbols *symbols, struct run *run);

#endif
