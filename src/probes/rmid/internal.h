/* SPDX-License-Identifier: BSD-2-Clause */
/* The open probe, for the files that implement it. */
#ifndef LATSCOPE_PROBES_RMID_INTERNAL_H
#define LATSCOPE_PROBES_RMID_INTERNAL_H

#include <probes/kit/probe.h>

#include "attribution.h"
#include "choice.h"
#include "columns.h"
#include "cpus.h"
#include "emulation.h"
#include "events.h"
#include "module.h"
#include "resctrl.h"
#include "states.h"

struct bpf_link;
struct ring_buffer;
struct rmid_bpf;

enum rmid_method { RMID_BY_MODULE, RMID_BY_RESCTRL, RMID_BY_SWITCHES };

extern const struct probe_method rmid_methods[];

struct rmid {
	struct probe common; /* first */
	const struct probe_method *method;
	struct rmid_bpf *skel;
	struct bpf_link *links[PROBE_PROGRAMS];
	unsigned int nr_links;
	struct ring_buffer *ring;
	struct states states;
	struct cpus cpus; /* possible CPUs */
	bool *unsampled; /* by CPU: the kernel module does not sample it */
	bool *timed; /* by CPU: latscope's timer ticks there */
	unsigned int counters[RMID_COUNTERS];
	unsigned int nr_counters;
	uint32_t lacking; /* requested counters that this machine lacks */
	int lacking_why; /* errno for the first of these */
	struct events events;
	struct module_state before, after; /* at the start and end of the window */
	int module; /* descriptor of its file; -1: not used */
	struct attribution attribution;
	struct emulation *emulation; /* NULL: method module */
	struct resctrl *resctrl; /* NULL: another method */
	const char *resctrl_root;
	struct choice choice; /* with resctrl */
	uint64_t chosen_ns; /* the last time */
	FILE *trace, *dump; /* see struct rmid_config */
	uint32_t rmids; /* to emulate; 0: the default */
	uint64_t end_ns; /* of the window; 0: it is open */
	uint64_t lost_others; /* at the last reading */
	uint64_t missed; /* records and switches, at the last check of the emulation */
	uint64_t start_ns, tidied_ns;
	bool started; /* the window is open: rows go to the table */
	uint64_t slots, incomplete_slots, missing_ns;
	/* CPU time of the window, and the part of it that is in rows. */
	uint64_t wall_ns, told_ns;
	bool stopped; /* the programs are detached */
	int err; /* of reading a record */
	char notes[2][2 * RUN_TEXT]; /* messages for the user */
	unsigned int nr_notes; /* that were not returned yet */
};

static inline struct rmid *rmid__of(struct probe *probe)
{
	return (struct rmid *)probe;
}

static inline bool rmid__uses(const struct rmid *rmid, enum rmid_method method)
{
	return rmid->method == &rmid_methods[method];
}

/* Why perf_event_open() failed. */
const char *rmid__explain_lack(int err);

struct rows_layout rmid__layout(const struct rmid *rmid);

/* The probe's describe(). */
int rmid__describe(struct probe *probe);

#endif
