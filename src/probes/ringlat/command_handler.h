/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_PROBES_RINGLAT_COMMAND_HANDLER_H
#define LATSCOPE_PROBES_RINGLAT_COMMAND_HANDLER_H

#include <core/run.h>

/*
 * Measures the handler of a page fault with memlat: the part between ringlat's crossings. Measures
 * only the faults of a process of its own, which are those of ringlat's user method (first read of
 * an anonymous page). *probe is filled in, or refused; it owns its data. -errno with `why`.
 */
int ringlat__measure_handler(struct run_probe *probe, char why[RUN_TEXT]);

#endif
