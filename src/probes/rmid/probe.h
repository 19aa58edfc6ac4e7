/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who has the CPUs, their counters and the caches, by process and slot of 1 ms. Opened, made ready,
 * started with the window, polled while it is open, stopped when it shuts; rows go to a table as
 * slots become whole. All return 0 or -errno and print nothing.
 */
#ifndef LATSCOPE_PROBES_RMID_PROBE_H
#define LATSCOPE_PROBES_RMID_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include <core/run.h>

#include "account.h"

struct rmid;

#define RMID_PROBE "rmid" /* in a recording */
#define RMID_POLL_NS 50000000ULL /* how often rmid__poll() wants to be called */

/* One way to measure. */
struct rmid_method {
	const char *name;
	const char *mechanism;
	const char *needs;
};

#define RMID_METHODS 2
extern const struct rmid_method rmid_methods[RMID_METHODS]; /* best first */

struct rmid_config {
	const char *method; /* NULL: the best that works */
	uint32_t counters; /* mask of 1 << counters_kinds[] */
	bool counters_optional; /* those that this machine lacks are left out */
};

/*
 * On failure `why` tells the reason and what to do. -EINVAL: no such method; -EOPNOTSUPP: none
 * works here; -ENOENT: a counter is not there. Where a better method than the one taken did not
 * work, `why` says so; else it is empty.
 */
int rmid__open(struct rmid **rmid, const struct rmid_config *config, char why[RUN_TEXT]);
void rmid__close(struct rmid *rmid); /* detaches all; NULL is fine */

bool rmid__uses_rdt(const struct rmid *rmid); /* is PQR_ASSOC written, by the module? */

/* What it is, for the recording, and an empty table for the rows. */
int rmid__describe(const struct rmid *rmid, struct run_probe *module);

/* From here on it measures; what comes before rmid__start() is left out. */
int rmid__ready(struct rmid *rmid);
void rmid__start(struct rmid *rmid, uint64_t start_ns);

/* Takes what there is. Rows go to the table, in order of time; not yet those of slots in flight. */
int rmid__poll(struct rmid *rmid, struct table *table);

/* Takes what there is before an interval is told of: then its rows are those of its slots. */
int rmid__interval(struct rmid *rmid, struct table *table);

/* Measures no more; the table gets all that is left. */
int rmid__stop(struct rmid *rmid, struct table *table, uint64_t end_ns);

void rmid__account(const struct rmid *rmid, struct rmid_account *account);

#endif
