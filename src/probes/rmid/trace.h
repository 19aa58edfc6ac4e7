/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints records of owners as the trace of the kernel module's tracepoints has them. */
#ifndef LATSCOPE_PROBES_RMID_TRACE_H
#define LATSCOPE_PROBES_RMID_TRACE_H

#include <stdint.h>
#include <stdio.h>

#include <latscope/rmid_record.h>

/* One line; none for RMID_AWAITED, of which the kernel module does not tell. */
void trace__print(FILE *out, const struct lat_rmid_owner *record, uint32_t runner);

/* The last line: the trace has everything up to then. */
void trace__end(FILE *out, uint64_t time_ns);

#endif
