/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a BPF probe costs: the run time of its programs as the kernel measures it. Measuring has a
 * cost, too (two clock reads a run), so it is done only over the first part of the window, until
 * each probe has had enough events.
 */
#ifndef LATSCOPE_PROBES_KIT_COST_H
#define LATSCOPE_PROBES_KIT_COST_H

#include <core/run.h>
#include <core/summary.h>

struct bpf_probe;

#define COST_POLL_NS SUMMARY_TIMED_NS /* how often to call cost__poll() */

struct cost {
	bool timed; /* the kernel times the programs for this probe */
	uint64_t runs, run_ns, recursion_missed; /* when the window opened */
};

/*
 * The kernel times programs from the first probe that requests it (`timed`) to the last one that
 * ends. This needs a privilege; without it, the cost stays unknown.
 */
void cost__new(struct cost *cost, bool timed);
void cost__free(struct cost *cost);

/* Call shortly before the window opens. */
void cost__begin(struct cost *cost, const struct bpf_probe *probe);

/* Ends the timing for this probe if `elapsed_ns` of the window are enough. */
void cost__poll(struct cost *cost, const struct bpf_probe *probe, uint64_t elapsed_ns,
		struct run_cost *out);

/* Ends the timing. */
void cost__end(struct cost *cost, const struct bpf_probe *probe, uint64_t elapsed_ns,
	       struct run_cost *out);

/* Sets the number of ends since cost__begin() for which the kernel ran no program. */
void cost__missed(const struct cost *cost, const struct bpf_probe *probe, struct run_probe *entry);

#endif
