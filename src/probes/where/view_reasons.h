/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who caused the waits of an account. Waits for a CPU, a disk or in page faults: what the probes
 * that explain these say, see why.h. Others: who ended them, and what that thread did meanwhile.
 */
#ifndef LATSCOPE_PROBES_WHERE_VIEW_REASONS_H
#define LATSCOPE_PROBES_WHERE_VIEW_REASONS_H

#include <stats/why.h>

#include "view_accounts.h"

struct reason {
	char text[2 * WHY_CROWD]; /* "behind backup (12)" */
	char kind[2 * WHY_CROWD]; /* those of one kind are one: the text without IDs of tasks */
	char who[2 * WHY_CROWD]; /* "backup (12)" */
	double share; /* of the part */
	const struct why_part *part; /* NULL: it is who ended the waits */
	bool is_named; /* `who` is somebody else; else it is the process itself, or what it was */
};

struct reasons_cause {
	const struct where_account *row; /* that waited; NULL: it has none */
	int state; /* for what; negative: unknown */
};

struct reasons {
	const struct run *run;
	const struct run_probe *probe; /* where */
	const struct accounts *accounts;
	/* Of the probes of the run that explain samples, by their place; total_ns 0: nothing. */
	struct why_summary of[RUN_PROBES];
	struct reasons_cause *causes; /* by key of the table of causes; owned */
};

/* 0 or -ENOMEM; the caller must call reasons__clear() in either case. */
int reasons__of(struct reasons *reasons, const struct run *run, const struct run_probe *probe,
		const struct accounts *accounts);
void reasons__clear(struct reasons *reasons);

/*
 * The reasons of a part of a row, or of all rows if it is &accounts->all, the largest first.
 * Returns how many; *list is to be freed. Without memory, some are left out.
 */
size_t reasons__list(const struct reasons *reasons, const struct where_account *account,
		     unsigned int state, struct reason **list);

/* Is it, "web (12)", one of the tasks of the row? */
bool reasons__is_of_row(const struct where_account *row, const char *name);

/* Is the reason the row itself? */
bool reasons__is_itself(const struct where_account *row, const struct reason *reason);

#define REASONS_MOST 3

/* The first ones of the list: those with less than a tenth of the part are left out. */
unsigned int reasons__find(const struct reasons *reasons, const struct where_account *account,
			   unsigned int state, struct reason found[REASONS_MOST]);

/* The disk that slow requests were for, of the filtered tasks; NULL: several, or unknown. */
const char *reasons__disk(const struct reasons *reasons);

/* The probe that explains such waits, of the same tasks; NULL: none ran. */
const struct run_probe *reasons__probe(const struct reasons *reasons, unsigned int state);

/* Time in page faults, with the waits in them; 0: unknown. */
double reasons__faults_ns(const struct reasons *reasons);

#endif
