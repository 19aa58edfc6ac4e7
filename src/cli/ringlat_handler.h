/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_CLI_RINGLAT_HANDLER_H
#define LATSCOPE_CLI_RINGLAT_HANDLER_H

#include <core/run.h>

/*
 * Measures with memlat what lies between the crossings of a page fault: the handler. The faults are
 * those that ringlat's user method makes (first read of an anonymous page), by a process of our own
 * and no other. *probe is filled in, or refused; it owns its data. -errno with `why`.
 */
int ringlat__measure_handler(struct run_probe *probe, char why[RUN_TEXT]);

#endif
