/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A question about many hosts: which latency, or which share of the time of threads, of which of
 * them, grouped how. A name is `host`, `kernel`, `service` (systemd unit or container) or else a
 * label.
 */
#ifndef LATSCOPE_FLEET_QUESTION_H
#define LATSCOPE_FLEET_QUESTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <core/run.h>

#define FLEET_BY 4 /* most names to group by */
#define FLEET_CONDITIONS 8 /* of one side */
#define FLEET_QUANTILES 8
#define FLEET_VALUE 128 /* most bytes of a value, with '\0' */

enum fleet_kind { FLEET_QUANTILE, FLEET_TOP, FLEET_COMPARE, FLEET_SHARE };

struct fleet_condition {
	char name[RUN_NAME];
	char value[FLEET_VALUE];
};

/* All of them must hold. */
struct fleet_side {
	struct fleet_condition conditions[FLEET_CONDITIONS];
	size_t nr;
};

struct fleet_question {
	enum fleet_kind kind;
	char probe[RUN_NAME];
	char metric[RUN_NAME]; /* empty: the first one; of FLEET_SHARE a state */
	double quantiles[FLEET_QUANTILES]; /* 0.999 */
	size_t nr_quantiles;
	char by[FLEET_BY][RUN_NAME];
	size_t nr_by;
	struct fleet_side sides[2]; /* --where, and of compare --against */
	uint64_t from_s, to_s; /* seconds since 1970; before to_s is what is not in the future */
	unsigned int top; /* most groups; 0: all */
	double confidence, min_effect;
};

/* "p99.9", "p50,p99". -EINVAL: not a list of percentiles; -E2BIG: too many. */
int fleet_question__quantiles(struct fleet_question *question, const char *text);

/* "p99.9" of a quantile. Returns text. */
const char *fleet_question__name(double quantile, char text[RUN_NAME]);

/* "runqlat", "iolat.total". -EINVAL. */
int fleet_question__metric(struct fleet_question *question, const char *text);

/* "service,kernel". -EINVAL: no name; -E2BIG: too many; -EEXIST: one is there twice. */
int fleet_question__by(struct fleet_question *question, const char *text);

/* "kernel=6.1". -EINVAL: no NAME=VALUE; -E2BIG: too many, or too long. */
int fleet_question__condition(struct fleet_side *side, const char *text);

/*
 * Does it hold for this value? That of a kernel also holds for what follows it after anything but a
 * digit: 6.1 is 6.1.0-27, and not 6.12.
 */
bool fleet_condition__holds(const struct fleet_condition *condition, const char *value);

/* Needs the question the services of a host? Otherwise what it measured as a whole. */
bool fleet_question__needs_services(const struct fleet_question *question);

unsigned int fleet_question__sides(const struct fleet_question *question); /* 1 or 2 */

#endif
