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
#define PLAN_MOST_SIDES 512

struct plan_look {
	size_t runs; /* on each side */
	double level; /* error probability that it spent */
};

struct plan_side {
	char *name; /* "OFF", "ON", or that of a cell */
	char *command; /* for sh */
};

/* All strings and lists are owned; the lists of words end with NULL. */
struct plan {
	bool matrix; /* the sides are the cells of a matrix; otherwise they are OFF and ON */
	struct plan_side *sides;
	size_t nr_sides;
	size_t reference; /* the side that the others are compared with: 0, OFF */
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

/*
 * Which side comes next, if each has `done` runs? All sides have a run before one has another;
 * their order is random each time.
 */
size_t plan__next(const struct plan *plan, const size_t *done);

/* A copy of both texts is added. 0 or -ENOMEM. */
int plan__add_side(struct plan *plan, const char *name, const char *command);

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
void plan__free_list(char **list); /* or NULL */

#endif
