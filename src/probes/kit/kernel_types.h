/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's types that a BPF object refers to. libbpf searches all types of the kernel, more
 * than a hundred thousand, for each type of an object. Searching these few takes hardly any time.
 */
#ifndef LATSCOPE_PROBES_KIT_KERNEL_TYPES_H
#define LATSCOPE_PROBES_KIT_KERNEL_TYPES_H

#include <bpf/btf.h>
#include <bpf/libbpf.h>

struct kernel_types {
	int fd; /* a file in memory; negative: libbpf searches all types */
	char path[32]; /* of that file */
	struct bpf_object_open_opts options; /* to open the object with */
};

void kernel_types__begin(struct kernel_types *types);

/*
 * Call between open and load of an object that was opened with the options. Also tells its
 * programs the IDs of types (untrusted_types.h). 0 or -errno.
 */
int kernel_types__write(const struct kernel_types *types, const struct bpf_object *obj);

/* Call when the object is loaded. */
void kernel_types__end(struct kernel_types *types);

#endif
