/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who has the CPUs, their counters and the caches, by process and slot of 1 ms. Opened, made ready,
 * started with the window, polled while it is open, stopped when it shuts; rows go to a table as
 * slots become whole. All return 0 or -errno and print nothing.
 */
#ifndef LATSCOPE_PROBE_RMID_H
#define LATSCOPE_PROBE_RMID_H

#include <stdbool.h>
#include <stdint.h>

#include <base/run.h>

struct rmid;

#define RMID_MODULE "rmid" /* in a recording */
#define RMID_POLL_NS 50000000ULL /* how often rmid__poll() wants to be called */

/* One way to measure. */
struct rmid_rung {
	const char *name;
	const char *mechanism;
	const char *needs;
};

#define RMID_RUNGS 2
extern const struct rmid_rung rmid_rungs[RMID_RUNGS]; /* best first */

struct rmid_config {
	const char *rung; /* NULL: the best that works */
	uint32_t counters; /* mask of 1 << counters_kinds[] */
	bool counters_optional; /* those that this machine lacks are left out */
};

/*
 * On failure `why` tells the reason and what to do. -EINVAL: no such rung; -EOPNOTSUPP: none works
 * here; -ENOENT: a counter is not there. Where a better rung than the one taken did not work, `why`
 * says so; else it is empty.
 */
int rmid__open(struct rmid **rmid, const struct rmid_config *config, char why[RUN_TEXT]);
void rmid__close(struct rmid *rmid); /* detaches all; NULL is fine */

bool rmid__uses_rdt(const struct rmid *rmid); /* is PQR_ASSOC written, by the module? */

/* What it is, for the recording, and an empty table for the rows. */
int rmid__describe(const struct rmid *rmid, struct run_module *module);

/* From here on it measures; what comes before rmid__start() is left out. */
int rmid__ready(struct rmid *rmid);
void rmid__start(struct rmid *rmid, uint64_t start_ns);

/* Takes what there is. Rows go to the table, in order of time; not yet those of slots in flight. */
int rmid__poll(struct rmid *rmid, struct table *table);

/* Measures no more; the table gets all that is left. */
int rmid__stop(struct rmid *rmid, struct table *table, uint64_t end_ns);

struct rmid_account {
	uint64_t records; /* that came */
	uint64_t lost_spans, lost_others; /* that did not */
	uint64_t hidden; /* switches that no program was run for */
	uint64_t malformed;
	uint64_t failed_reads; /* of a perf event */
	uint64_t no_value; /* readings of caches that gave none */
	uint64_t ticks, ticks_in_time; /* near the edge of a slot: ATTRIBUTION_EDGE_NS */
	uint64_t slots, incomplete_slots; /* that came out */
	uint64_t missing_ns; /* of all CPUs: nobody knows who had them */
};
void rmid__account(const struct rmid *rmid, struct rmid_account *account);

#endif
