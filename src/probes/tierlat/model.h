/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What can be measured on which CPU, and how: events, tiers, registers. docs/tierlat.md has the
 * same tables with the source of every value.
 *
 * On Intel a box is a caching and home agent (CHA) with four 48-bit counters and a table of
 * requests (TOR). Its event TOR_OCCUPANCY, of counter 0 only, adds, in every uncore clock, the
 * number of open requests of a kind. TOR_INSERTS counts each request when it begins. On AMD a box
 * is an L3 whose events give the latency of sampled requests and their number.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_MODEL_H
#define LATSCOPE_PROBES_TIERLAT_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#define TIER_MOST 8 /* tiers of a model */
#define TIER_COUNTERS 4 /* of an Intel box */
#define TIER_BOXES 128 /* of a socket, more than any known */
#define TIER_BITS 48 /* of a counter */
#define TIER_AMD_SCALE 10 /* a unit of AMD's latency event */
#define TIER_LINE 64 /* bytes of a request */

enum tier_kind { TIER_TOR, TIER_AMD_L3 };

/* What a machine must have for a tier to be measured by default. */
enum tier_needs { TIER_ALWAYS, TIER_IF_PMM, TIER_IF_CXL };

/* One tier of a model. Both configs are those of perf; config1 is of SKX and CLX only. */
struct tier_class {
	const char *name; /* "local-ddr" */
	const char *what;
	uint64_t occupancy; /* AMD: latency of the samples */
	uint64_t inserts; /* AMD: number of samples */
	uint64_t config1; /* filter1 of the box in bits 63:32 */
	enum tier_needs needs;
};

/* Box numbers in one range of addresses. */
struct tier_range {
	unsigned int first;
	uint32_t base, stride;
};

/* The registers of a box, as offsets from its address, and their bits. */
struct tier_layout {
	struct tier_range
		ranges[3]; /* ordered by `first`; the list ends at the second entry with base 0 */
	unsigned int boxes; /* maximum number of boxes */
	uint32_t control, counter, filter0, filter1; /* offsets; filter1 0: there is none */
	uint64_t filter1_initial; /* value after power-on */
	uint64_t reset, freeze; /* bits of the box control */
	uint64_t enable; /* bit of a counter control; 0: any non-zero control counts */
	uint32_t boxes_msr; /* MSR with the number of boxes; 0: none */
	uint64_t boxes_mask;
	uint16_t boxes_pci; /* Intel PCI device with one bit per box at 0x9c and 0xa0; 0: none */
};

struct tier_model {
	const char *name; /* "icx", what --model takes */
	const char *title; /* "Ice Lake-SP" */
	enum tier_kind kind;
	const struct tier_layout *layout; /* NULL: perf only */
	uint64_t clock; /* config of CLOCKTICKS */
	/* the event files list inserts by tier, but occupancy only of all tiers together */
	bool derived;
	unsigned int dies; /* with a clock of their own, at most; 0: one clock for the socket */
	bool in_ns; /* AMD: the scaled latency is ns; else it is clocks */
	struct tier_class tiers[TIER_MOST];
	unsigned int nr_tiers;
};

/* A CPU as described by /proc/cpuinfo. */
struct tier_cpu {
	char vendor[16];
	char name[64]; /* "model name" */
	unsigned int family, model, stepping;
	bool hypervisor; /* the flag of that name */
};

/* All models, NULL after the last. */
extern const struct tier_model *const tier_models[];

/* NULL: no such model, CPU not known. */
const struct tier_model *tier_model__find(const char *name);
const struct tier_model *tier_model__of(const struct tier_cpu *cpu);

/* First processor of /proc/cpuinfo below `root` ("": this machine). 0, -ENOENT, -EUCLEAN. */
int tier_cpu__read(struct tier_cpu *cpu, const char *root);

/* Address of the control of box n; its other registers are at the offsets of the layout. */
uint32_t tier_layout__box(const struct tier_layout *layout, unsigned int n);

/* What is written to a counter's control for a config of perf. */
uint64_t tier_layout__control(const struct tier_layout *layout, uint64_t config);

/* Does this counter control count? */
bool tier_layout__counts(const struct tier_layout *layout, uint64_t box, uint64_t control);

#endif
