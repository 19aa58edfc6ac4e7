/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user's half of crossings by the kernel module, as include/uapi/latscope/ringlat.h has it, and
 * the same code without the crossing: module_code.S. All write `nr` samples.
 */
#ifndef LATSCOPE_PROBES_RINGLAT_MODULE_CODE_H
#define LATSCOPE_PROBES_RINGLAT_MODULE_CODE_H

#include "ring.h"

typedef void module_loop(struct ring_sample *samples, uint64_t nr, const void *absent);

module_loop module__page_fault, module__page_fault_empty;
module_loop module__syscall, module__syscall_empty;
module_loop module__syscall_fenced_empty; /* its crossing is that of module__syscall() */

/* The load that faults: where a SIGSEGV comes from if the module was not there. */
extern const char module__load[];

#endif
