/* SPDX-License-Identifier: BSD-2-Clause */
/* The environment of a measurement: without it the result means nothing. */
#ifndef LATSCOPE_PROBES_RINGLAT_WHERE_H
#define LATSCOPE_PROBES_RINGLAT_WHERE_H

#include <stdbool.h>
#include <stdint.h>

#include <core/run.h>

#define RING_MITIGATIONS_TEXT 640

enum ring_place { RING_BARE_METAL, RING_VIRTUAL, RING_NESTED, RING_EMULATED };

/* What the CPU itself says about the environment, beyond /proc and /sys. */
struct ring_facts {
	bool hypervisor; /* CPUID reports a hypervisor */
	char signature[13]; /* its name; may be empty */
	uint64_t cpuid_cycles; /* duration of CPUID, which exits a guest; 0: unknown */
	uint64_t empty_cycles; /* duration of an empty window; 0: unknown */
	uint64_t exit_cycles; /* duration of an exit of latscope's own guest; 0: unknown */
	bool guest; /* measured in latscope's own guest */
};

struct ring_where {
	enum ring_place place;
	char evidence[RUN_TEXT]; /* evidence */
	char cpu_model[RUN_TEXT];
	char microcode[RUN_NAME];
	char kpti[RUN_NAME], ibrs[RUN_NAME], retbleed[RUN_TEXT], verw[RUN_NAME], fred[RUN_NAME];
};

void ring_facts__read(struct ring_facts *facts);

/*
 * `host` is from host__describe(), `root` as for that: "" for this machine. "not known" where the
 * kernel does not say.
 */
void ring_where__judge(struct ring_where *where, const struct ring_facts *facts, const char *host,
		       const char *root);

const char *ring_place__name(enum ring_place place); /* "bare metal" */

/* The mitigations as one line. */
void ring_where__mitigations(const struct ring_where *where, char text[RING_MITIGATIONS_TEXT]);

#endif
