/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a probe costs: the run time of its programs as the kernel measures it. Measuring costs
 * itself (two clock reads a run), so it is done over the first part of the window only, until each
 * probe has had events enough.
 */
#ifndef LATSCOPE_SESSION_COST_H
#define LATSCOPE_SESSION_COST_H

#include <probes/probe.h>

struct cost {
	struct probe_usage before;
};

/* Has the kernel time BPF programs until the descriptor is closed. -errno: it will not. */
int cost__start(void);

void cost__begin(struct cost *cost, const struct probe *probe);

/* `elapsed_ns` of the window have been timed. */
void cost__end(const struct cost *cost, const struct probe *probe, uint64_t elapsed_ns,
	       struct run_cost *out);

/* Sets how many ends the kernel ran no program for since cost__begin(). */
void cost__missed(const struct cost *cost, const struct probe *probe, struct run_probe *entry);

#endif
