/* SPDX-License-Identifier: BSD-2-Clause */
/* What a recording says about the machine it was made on. */
#ifndef LATSCOPE_CORE_HOST_H
#define LATSCOPE_CORE_HOST_H

/*
 * A JSON object on one line, to be freed; NULL: no memory. `root` stands before /proc and /sys, ""
 * for this machine. What cannot be read is absent. docs/format.md lists the fields and their
 * sources.
 */
char *host__describe(const char *root);

#endif
