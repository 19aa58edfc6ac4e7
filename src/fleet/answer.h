/* SPDX-License-Identifier: BSD-2-Clause */
/* The answer to a question, from what a source found; and how it is printed. */
#ifndef LATSCOPE_FLEET_ANSWER_H
#define LATSCOPE_FLEET_ANSWER_H

#include <stdio.h>

#include <stats/hosts.h>

#include "data.h"

struct json_object;

/* One group. Of a comparison both sides, else only the first. */
struct fleet_row {
	const struct fleet_group *group;
	size_t hosts[2]; /* with events */
	struct lat_hist *hists; /* of both sides; owned */
	uint64_t events[2];
	struct hosts_interval intervals[FLEET_QUANTILES]; /* not of a comparison */
	struct judged judged[FLEET_QUANTILES]; /* of a comparison */
	uint64_t ns, life_ns; /* of FLEET_SHARE, as in a cell */
	const struct fleet_cell *highest; /* of FLEET_SHARE: that of the host with most of it */
};

struct fleet_answer {
	const struct fleet_question *question;
	const struct fleet_data *data;
	struct fleet_row *rows; /* the most time first; of FLEET_SHARE the largest share */
	size_t nr;
	size_t more; /* the others, which are left out */
	size_t hosts; /* with data */
	size_t sides[2], both; /* with data on one side; on both */
	size_t tests; /* of a comparison: verdicts are corrected for so many */
	size_t verdicts[JUDGE_VERDICTS];
	struct notes notes; /* what the reader must know */
};

/* 0 or -ENOMEM. The data must stay until fleet_answer__clear(), which must always be called. */
int fleet_answer__make(struct fleet_answer *answer, const struct fleet_data *data);
void fleet_answer__clear(struct fleet_answer *answer);

/* answer_notes.c: adds what is to be said about the hosts. 0 or -ENOMEM. */
int fleet_answer__add_notes(struct fleet_answer *answer);

/* A share; NAN of no time. */
double fleet_answer__share(uint64_t ns, uint64_t life_ns);

/* A quantile of one side in us; NAN without events. */
double fleet_answer__us(const struct fleet_row *row, unsigned int side, double quantile);

void fleet_answer__text(FILE *out, const struct fleet_answer *answer);
void fleet_answer__csv(FILE *out, const struct fleet_answer *answer);
struct json_object *fleet_answer__json(const struct fleet_answer *answer);

#endif
