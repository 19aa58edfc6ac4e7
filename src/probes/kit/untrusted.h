/* SPDX-License-Identifier: BSD-2-Clause */
/* What objects whose programs cast pointers (untrusted.bpf.h) need to be loaded. */
#ifndef LATSCOPE_PROBES_KIT_UNTRUSTED_H
#define LATSCOPE_PROBES_KIT_UNTRUSTED_H

#include <bpf/libbpf.h>

/* Tells the programs the IDs of types. Call between open and load. 0 or -errno. */
int untrusted__tell(const struct bpf_object *obj);

/* Makes the casts calls of the kernel's function. Call just before the load. 0 or -errno. */
int untrusted__call(struct bpf_program *program);

#endif
