/* SPDX-License-Identifier: BSD-2-Clause */
/* Takes a BPF histogram that is open through one window, and describes it before and after. */
#ifndef LATSCOPE_PROBES_KIT_BPF_STEPS_H
#define LATSCOPE_PROBES_KIT_BPF_STEPS_H

#include "bpf_open.h"

/* As struct probe_ops has them. */
int bpf_probe__describe(struct probe *probe);
const char *bpf_probe__trouble(struct probe *probe);
probe_step_fn bpf_probe__prepare, bpf_probe__before_open, bpf_probe__arm, bpf_probe__after_open,
	bpf_probe__start, bpf_probe__poll, bpf_probe__before_close, bpf_probe__disarm,
	bpf_probe__in_flight, bpf_probe__after_close, bpf_probe__stop, bpf_probe__interval;

/* The fields of struct probe_ops that are the same for all. */
#define BPF_PROBE_LIFECYCLE                                                                \
	.needs_bpf = true, .open = bpf_probe__open, .describe = bpf_probe__describe,       \
	.close = bpf_probe__close, .poll_ns = COST_POLL_NS, .trouble = bpf_probe__trouble, \
	.steps = {                                                                         \
		[PROBE_PREPARE] = bpf_probe__prepare,                                      \
		[PROBE_BEFORE_OPEN] = bpf_probe__before_open,                              \
		[PROBE_OPEN] = bpf_probe__arm,                                             \
		[PROBE_AFTER_OPEN] = bpf_probe__after_open,                                \
		[PROBE_START] = bpf_probe__start,                                          \
		[PROBE_POLL] = bpf_probe__poll,                                            \
		[PROBE_BEFORE_CLOSE] = bpf_probe__before_close,                            \
		[PROBE_CLOSE] = bpf_probe__disarm,                                         \
		[PROBE_IN_FLIGHT] = bpf_probe__in_flight,                                  \
		[PROBE_AFTER_CLOSE] = bpf_probe__after_close,                              \
		[PROBE_STOP] = bpf_probe__stop,                                            \
		[PROBE_INTERVAL] = bpf_probe__interval,                                    \
	}

#endif
