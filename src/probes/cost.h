/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a BPF probe costs: the run time of its programs as the kernel measures it. Measuring has a
 * cost, too (two clock reads a run), so it is done only over the first part of the window, until
 * each probe has had enough events.
 */
#ifndef LATSCOPE_PROBES_COST_H
#define LATSCOPE_PROBES_COST_H

#include <core/run.h>
#include <core/summary.h>

struct bpf_probe;

#define COST_POLL_NS SUMMARY_TIMED_NS /* how often cost__poll() is to be called */

struct cost {
	bool timed; /* the kernel measures for this probe */
	uint64_t runs, run_ns, recursion_missed; /* when the window opened */
};

/*
 * The kernel measures programs from the first probe that wants it (`timed`) to the last one that
 * ends. It needs a privilege; where that is missing, the cost stays unknown.
 */
void cost__new(struct cost *cost, bool timed);
void cost__free(struct cost *cost);

/* The window opens soon. */
void cost__begin(struct cost *cost, const struct bpf_probe *probe);

/* Ends the measuring for this probe if `elapsed_ns` of the window are enough. */
void cost__poll(struct cost *cost, const struct bpf_probe *probe, uint64_t elapsed_ns,
		struct run_cost *out);

/* Ends it in any case. */
void cost__end(struct cost *cost, const struct bpf_probe *probe, uint64_t elapsed_ns,
	       struct run_cost *out);

/* Sets how many ends the kernel ran no program for since cost__begin(). */
void cost__missed(const struct cost *cost, const struct bpf_probe *probe, struct run_probe *entry);

#endif
