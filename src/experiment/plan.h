/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an experiment is to do, and its looks so far. Kept as plan.json in its directory, so that an
 * interrupted experiment can go on.
 */
#ifndef LATSCOPE_EXPERIMENT_PLAN_H
#define LATSCOPE_EXPERIMENT_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <stats/judge.h>

#define PLAN_FORMAT 1
#define PLAN_MOST_RUNS 1000 /* on each side */
#define PLAN_LOOKS 8

struct plan_look {
	size_t runs; /* on each side */
	double level; /* error probability that it spent */
};

/* All strings and lists are owned; the lists end with NULL. */
struct plan {
	char *commands[2]; /* of OFF and ON, for sh */
	char **workload; /* NULL: the commands are the workloads */
	char **record; /* further options of record */
	char *probe; /* judge only this one; NULL: all */
	struct judge_rules rules;
	uint64_t seed; /* of the order of the sides */
	size_t most; /* runs on each side */
	double effect; /* the ratio to find is 1 + effect; 0: none was asked for */
	size_t planned; /* runs on each side, as far as is known */
	struct plan_look looks[PLAN_LOOKS];
	size_t nr_looks;
	bool concluded; /* after the last look */
};

/* Which side comes first in this pair: 0 OFF, 1 ON. */
unsigned int plan__first(const struct plan *plan, size_t pair);

double plan__spent(const struct plan *plan);

/* `dir` is the directory, for example "/proc/self/fd/3". 0 or -errno. */
int plan__write(const struct plan *plan, const char *dir);

/*
 * Reads plan.json. -EBADMSG: it is not a plan; -EPROTONOSUPPORT: of a later version; -EPERM: it
 * belongs to another user than root and `uid`, or others may change it. The caller must always
 * call plan__clear().
 */
int plan__read(struct plan *plan, int dir, unsigned int uid);

void plan__clear(struct plan *plan);

/* A copy of a list that ends with NULL. NULL: out of memory. */
char **plan__copy_list(char *const *list);

#endif
