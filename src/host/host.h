/* SPDX-License-Identifier: BSD-2-Clause */
/* The machine: its description in a recording, and what it lacks. */
#ifndef LATSCOPE_HOST_HOST_H
#define LATSCOPE_HOST_HOST_H

/*
 * A JSON object on one line; the caller frees it. NULL: no memory. `root` is a prefix of /proc and
 * /sys, "" for this machine. Fields that cannot be read are absent; docs/format.md lists them.
 */
char *host__describe(const char *root);

/* NULL on x86-64; elsewhere the reason why a part that needs it does not work. */
const char *host__not_x86(void);

#define HOST_X86_TODO "use an x86-64 machine"

#endif
