/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Programs of tracepoints with BTF, of functions and of iterators name what they trace by its
 * number in the kernel's types. To find it, libbpf loads all these types once more for each object:
 * 6 ms, and 6 to 12 MB while the object loads. Here the types that are loaded anyway are asked.
 */
#ifndef LATSCOPE_PROBES_KIT_TRACING_H
#define LATSCOPE_PROBES_KIT_TRACING_H

#include <bpf/libbpf.h>

/* From now on, for all objects that are opened. May be called again. */
void tracing__begin(void);

/* As bpf_program__attach(), for all programs. */
struct bpf_link *tracing__attach(const struct bpf_program *program);

#endif
