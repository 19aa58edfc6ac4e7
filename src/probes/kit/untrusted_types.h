/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * IDs of types in the kernel's BTF, for untrusted.bpf.h; 0: the verifier has no such cost, or no
 * cure for it.
 */
#ifndef LATSCOPE_PROBES_KIT_UNTRUSTED_TYPES_H
#define LATSCOPE_PROBES_KIT_UNTRUSTED_TYPES_H

#include <latscope/event.h>

#define UNTRUSTED_MAP ".rodata.untrusted"

struct untrusted_types {
	__u32 task, request;
};

#endif
