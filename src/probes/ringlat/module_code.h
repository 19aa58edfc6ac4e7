/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The user half of crossings with the kernel module (include/uapi/latscope/ringlat.h), and the same
 * code without the crossing. Each writes `nr` samples.
 */
#ifndef LATSCOPE_PROBES_RINGLAT_MODULE_CODE_H
#define LATSCOPE_PROBES_RINGLAT_MODULE_CODE_H

#include "ring.h"

typedef void module_loop(struct ring_sample *samples, uint64_t nr, const void *absent);

module_loop module__page_fault, module__page_fault_empty;
/* `absent`: pages that are not mapped yet, one for each sample, which it maps. */
module_loop module__fresh, module__fresh_empty;
module_loop module__syscall, module__syscall_empty;
module_loop module__syscall_fenced_empty; /* with the crossing of module__syscall() */

/* The faulting load: the address of a SIGSEGV if the module's code is not in place. */
extern const char module__load[];

#endif
