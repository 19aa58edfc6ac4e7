/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads what a probe's programs found out about slow samples, and sets which samples are slow. All
 * maps are in memory: no system call for a map is made while the window is open.
 */
#ifndef LATSCOPE_PROBES_KIT_WHY_H
#define LATSCOPE_PROBES_KIT_WHY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <latscope/why.h>

#define WHY_EVENTS_DEFAULT 256
#define WHY_QUANTILE 0.99
#define WHY_LEAST_NS 1000 /* least threshold that is chosen by a quantile */
/*
 * Maximum slow samples per second: above a threshold that the user has set, and above one that is
 * chosen. One that many turns passed costs 10 us.
 */
#define WHY_MOST_SLOW 10000
#define WHY_MOST_CHOSEN 1000
#define WHY_WANTED_EVENTS 100 /* per second */

/* Which samples are slow. */
struct why_request {
	uint64_t over_ns; /* 0: by the quantile */
	double quantile; /* 0: WHY_QUANTILE */
	unsigned int events; /* room of the ring buffer; 0: WHY_EVENTS_DEFAULT */
	bool skips_stacks;
	bool counts_latscope; /* processes that latscope has forked are as all others */
	bool is_optional; /* rather a method that cannot explain than none */
};

/* A map of programs that explain samples. */
struct why_map {
	const char *name;
	uint32_t entries; /* 0: one per CPU */
};

struct bpf_probe;
struct why_reader;

/* Between open and load. Without config.why the maps are not created. */
int why__size(struct bpf_probe *probe);

/* After load. `control` is in the memory of the programs. */
int why__open(struct bpf_probe *probe, struct why_control *control,
	      const struct why_request *request);
void why__close(struct bpf_probe *probe);

/* The entry's tables. */
int why__describe(struct bpf_probe *probe);

/* The steps; at_ns is on CLOCK_MONOTONIC. Nothing happens in a probe without config.why. */
void why__poll(struct bpf_probe *probe, uint64_t at_ns);
int why__interval(struct bpf_probe *probe, uint64_t at_ns);

/* As struct probe_ops has it. */
const char *why__trouble(struct bpf_probe *probe);

#endif
