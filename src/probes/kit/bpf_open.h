/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens a BPF histogram: chooses its method, loads and attaches the programs, maps the memory. */
#ifndef LATSCOPE_PROBES_KIT_BPF_OPEN_H
#define LATSCOPE_PROBES_KIT_BPF_OPEN_H

#include "bpf_probe.h"

/* As struct probe_ops has them. */
int bpf_probe__open(struct probe **out, const struct probe_ops *ops,
		    const struct probe_request *request, char why[RUN_TEXT]);
int bpf_probe__close(struct probe *probe, char why[RUN_TEXT]);

/* Loads an object, for ops->open(): meanwhile other probes have their turn, see opening.h. */
int bpf_open__load(struct bpf_object_skeleton *skeleton);

#endif
