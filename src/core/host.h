/* SPDX-License-Identifier: BSD-2-Clause */
/* Description of the machine in a recording. */
#ifndef LATSCOPE_CORE_HOST_H
#define LATSCOPE_CORE_HOST_H

/*
 * A JSON object on one line; the caller frees it. NULL: no memory. `root` is a prefix of /proc and
 * /sys, "" for this machine. Fields that cannot be read are absent; docs/format.md lists them.
 */
char *host__describe(const char *root);

#endif
