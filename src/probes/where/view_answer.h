/* SPDX-License-Identifier: BSD-2-Clause */
/* The first answer: one screen of what waited, for whom, because of whom, and what to do next. */
#ifndef LATSCOPE_PROBES_WHERE_VIEW_ANSWER_H
#define LATSCOPE_PROBES_WHERE_VIEW_ANSWER_H

#include <stdio.h>

#include "view_blame.h"

#define ANSWER_LINES 24

struct answer {
	const struct run *run;
	const struct run_probe *probe; /* where */
	struct accounts accounts;
	struct reasons reasons;
	struct blame blame;
};

/*
 * `by_name`: see accounts__read(). 0 or -ENOMEM; the caller must call answer__clear() in either
 * case.
 */
int answer__read(struct answer *answer, const struct run *run, const struct run_probe *probe,
		 bool by_name);
void answer__clear(struct answer *answer);

/* At most ANSWER_LINES lines. 0 or -ENOMEM. */
int answer__print(FILE *out, const struct run *run, const struct run_probe *probe);

/* See struct probe_view. */
int answer__sentences(char **text, const struct run *run, const struct run_probe *probe);

/* ---- view_sentences.c ---- */

/* Who waited for what because of whom, up to `most` sentences, a paragraph each. */
void sentences__print(FILE *out, const struct answer *answer, unsigned int most);

/* ---- view_resources.c ---- */

/* A line each for CPU, memory, disk and locks: how many tasks waited, and the pressure. */
void resources__print(FILE *out, const struct answer *answer);

#endif
