/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_CMD_RINGLAT_HANDLER_H
#define LATSCOPE_CMD_RINGLAT_HANDLER_H

#include <base/run.h>

/*
 * Measures by memlat what lies between the crossings of a page fault: the handler, of faults of the
 * kind that ringlat's user backend makes (first read of an anonymous page), by a process of our own
 * and no other. *module is filled in, or refused; it owns what it has. Gives up privileges. -errno
 * with `why`.
 */
int ringlat__measure_handler(struct run_module *module, char why[RUN_TEXT]);

#endif
