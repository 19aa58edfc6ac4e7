/* SPDX-License-Identifier: BSD-2-Clause */
/* What a crossing was measured on: without it the figure means nothing. */
#ifndef LATSCOPE_PROBES_RINGLAT_WHERE_H
#define LATSCOPE_PROBES_RINGLAT_WHERE_H

#include <stdbool.h>
#include <stdint.h>

#include <core/run.h>

#define RING_MITIGATIONS_TEXT 640

enum ring_place { RING_BARE_METAL, RING_VIRTUAL, RING_NESTED, RING_EMULATED };

/* What tells the place: of the CPU itself, as far as /proc and /sys do not have it. */
struct ring_facts {
	bool hypervisor; /* CPUID says that there is one */
	char signature[13]; /* its name for itself; may be empty */
	uint64_t cpuid_cycles; /* what CPUID takes: it leaves a guest; 0: not known */
	uint64_t empty_cycles; /* what an empty window takes; 0: not known */
	uint64_t exit_cycles; /* what an exit of a guest of our own takes; 0: not known */
	bool guest; /* measured in a guest of our own */
};

struct ring_where {
	enum ring_place place;
	char evidence[RUN_TEXT]; /* what says so */
	char cpu_model[RUN_TEXT];
	char microcode[RUN_NAME];
	char kpti[RUN_NAME], ibrs[RUN_NAME], retbleed[RUN_TEXT], verw[RUN_NAME], fred[RUN_NAME];
};

void ring_facts__read(struct ring_facts *facts);

/*
 * `host` is what host__describe() gave, `root` the same as for it: "" for this machine. "not known"
 * where the kernel does not tell.
 */
void ring_where__judge(struct ring_where *where, const struct ring_facts *facts, const char *host,
		       const char *root);

const char *ring_place__name(enum ring_place place); /* "bare metal" */

/* The mitigations as one line. */
void ring_where__mitigations(const struct ring_where *where, char text[RING_MITIGATIONS_TEXT]);

#endif
