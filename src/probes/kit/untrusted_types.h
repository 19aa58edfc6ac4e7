/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * IDs of types in the kernel's BTF, for untrusted.bpf.h; 0: the verifier has no such cost, or no
 * cure for it.
 */
#ifndef LATSCOPE_PROBES_KIT_UNTRUSTED_TYPES_H
#define LATSCOPE_PROBES_KIT_UNTRUSTED_TYPES_H

#include <latscope/event.h>

#define UNTRUSTED_MAP ".rodata.untrusted"

/*
 * The number of no helper: where the IDs are known, untrusted.c makes calls of it calls of the
 * kernel's bpf_rdonly_cast(). If that were an extern of the object, libbpf would load all types of
 * the kernel once more.
 */
#define UNTRUSTED_CAST 0x6c617473

struct untrusted_types {
	__u32 task, request;
};

#endif
