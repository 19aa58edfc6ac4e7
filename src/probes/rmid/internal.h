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

struct conflict;
struct rmid;

/*
 * What a method does in its own way: by_module.c, by_resctrl.c, by_switches.c. The functions are
 * called in this order; they return 0 or -errno. open, prepare, stop, dump, tell and close must be
 * set; the others may be NULL: nothing to do.
 */
struct rmid_back_end {
	/* The RMIDs are emulated: BPF programs record tasks and switches, and tick for counters. */
	bool emulated;
	bool selects; /* the filters of the request say who gets an RMID */
	const char *lacks; /* what is said of caches that are not read; NULL: they are read */
	const char *instead; /* what is said if a better method does not work; NULL: nothing */
	const char *sends; /* program that is attached last, as it sends spans; NULL: none */

	/* -errno, with `reason` if that says more. Always followed by close(). */
	int (*open)(struct rmid *rmid, char reason[RUN_TEXT]);
	int (*list)(struct rmid *rmid); /* asks for the owners so far */
	const struct conflict *(*conflict)(const struct rmid *rmid); /* another user of RDT */
	int (*prepare)(struct rmid *rmid); /* calls rmid__arm() */
	int (*start)(struct rmid *rmid); /* the window opens */

	/* Each time that records were read, and at the end: */
	int (*take_task)(struct rmid *rmid, const struct lat_rmid_task *task);
	int (*follow)(struct rmid *rmid, const struct lat_rmid_owner *record); /* of an RMID */
	int (*take)(struct rmid *rmid, uint64_t until); /* what is in no record, up to then */
	int (*mend)(struct rmid *rmid); /* records may be lost */
	int (*choose)(struct rmid *rmid, uint64_t now); /* who gets an RMID */
	int (*tidy)(struct rmid *rmid, uint64_t now); /* from time to time */

	int (*stop)(struct rmid *rmid); /* the window is closed, the programs still send */
	int (*dump)(struct rmid *rmid); /* who has an RMID, to rmid->dump */
	void (*tell)(const struct rmid *rmid, const struct rmid_account *account, FILE *out);
	int (*close)(struct rmid *rmid);
};

extern const struct rmid_back_end rmid_by_module, rmid_by_resctrl, rmid_by_switches;

struct rmid {
	struct probe common; /* first */
	const struct probe_method *method;
	const struct rmid_back_end *back_end; /* of the method; NULL: none was tried */
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
	struct attribution attribution;
	struct choice choice;
	FILE *trace, *dump; /* see struct rmid_config */
	uint32_t rmids; /* to emulate; 0: the default */
	uint64_t end_ns; /* of the window; 0: it is open */
	uint64_t start_ns, tidied_ns;
	bool started; /* the window is open: rows go to the table */
	uint64_t slots, incomplete_slots, missing_ns;
	/* CPU time of the window, and the part of it that is in rows. */
	uint64_t wall_ns, told_ns;
	bool raised; /* the priority of latscope */
	bool stopped; /* the programs are detached */
	int err; /* of reading a record */
	char notes[2][2 * RUN_TEXT]; /* messages for the user */
	unsigned int nr_notes; /* that were not returned yet */

	/* by_module.c */
	int module; /* descriptor of its file; -1: not used */
	struct module_state before, after; /* at the start and end of the window */
	uint64_t lost_others; /* at the last reading */

	/* by_switches.c */
	struct emulation *emulation;
	uint64_t missed; /* records and switches, at its last check */

	/* by_resctrl.c, which uses by_switches.c */
	struct resctrl *resctrl;
	const char *resctrl_root;
	uint64_t chosen_ns; /* the last time */
};

static inline struct rmid *rmid__of(struct probe *probe)
{
	return (struct rmid *)probe;
}

/* Why perf_event_open() failed. */
const char *rmid__explain_lack(int err);

struct rows_layout rmid__layout(const struct rmid *rmid);

/* Takes a record of an owner: of the ring, or an emulation_told of the emulation. */
int rmid__take_owner(void *context, const struct lat_rmid_owner *record, uint32_t runner);

/* From now on, the programs measure. */
void rmid__arm(struct rmid *rmid);

/* Makes each CPU record which process runs, after rmid__arm(). */
int rmid__prime(const struct rmid *rmid);

/* by_switches.c, for all that emulate: */
int rmid_switches__emulate(struct rmid *rmid, uint32_t rmids);
int rmid_switches__take_task(struct rmid *rmid, const struct lat_rmid_task *task);
int rmid_switches__prepare(struct rmid *rmid);
int rmid_switches__take_states(struct rmid *rmid, uint64_t until);
int rmid_switches__tidy(struct rmid *rmid, uint64_t now);
int rmid_switches__stop(struct rmid *rmid);
int rmid_switches__dump(struct rmid *rmid);
/* `groups`: of resctrl stand for the RMIDs. */
void rmid_switches__tell(const struct rmid *rmid, bool groups, FILE *out);
int rmid_switches__close(struct rmid *rmid);

/* The probe's describe(). */
int rmid__describe(struct probe *probe);

#endif
