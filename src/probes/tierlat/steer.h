/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which share of the pages to move in a quantum so that both tiers become equally slow: Colloid's
 * aim and dead band, with the measured placement of the pages as the variable. Colloid's search is
 * on the share of the requests, a noisy mean of the past, and needs no knowledge of the placement.
 * Here a filter keeps the ratio of the latencies at the present placement, with its error, and
 * learns from each move how steep it is. Pure functions.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_STEER_H
#define LATSCOPE_PROBES_TIERLAT_STEER_H

#include "colloid.h"

#define STEER_PATIENCE 3 /* quanta or moves in a row that may contradict */
#define STEER_RISES 5 /* moves in a row after which both tiers are slower than before */

struct steer_config {
	double delta; /* relative difference of the latencies that counts as equal */
	double max_shift; /* share of the pages, in one quantum */
};

/* What was measured in a quantum. */
struct steer_load {
	bool known; /* false: a tier had too few requests; `load` is unset */
	struct colloid_load load;
	bool stolen; /* counters of a box were used by another program */
	/* nobody uses the tier: its latency in `load` is the one without load, and not measured */
	bool idle_l, idle_r;
	double placement; /* share of the bytes on the default tier */
};

enum steer_verdict {
	STEER_UNKNOWN, /* no latency in this quantum */
	STEER_STAY, /* the tiers are equally slow */
	STEER_WAIT, /* more quanta are needed to tell */
	STEER_MOVE,
	STEER_STOP, /* what is measured contradicts itself: move nothing from now on */
};

struct steer_answer {
	enum steer_verdict verdict;
	double shift; /* share of the bytes: > 0 to the default tier, < 0 to the alternate one */
	const char *why; /* static */
};

struct steer {
	struct steer_config config;
	double ratio, error2; /* ln(L_r / L_l) at the present placement, and its variance */
	bool begun; /* the ratio is known */
	double noise2; /* variance of a ratio measured in one quantum */
	double drift; /* mean of the last few distances from the ratio */
	double odd; /* distance of a quantum that does not fit */
	double slope; /* by how much the ratio falls if the placement rises by 1 */
	double fresh; /* the move before this quantum; 0: none */
	double last_shift; /* 0: none yet, or the load changed since */
	bool idle_l, idle_r; /* of the load before */
	double unit; /* share of the bytes that a large page is; 0: none is known */
	double credit; /* share that may move in this quantum; counts only with large pages */
	double seen; /* placement that steer__follow() has taken into account; NAN: none */
	/* Contradictions: */
	unsigned int stolen, not_followed, rises;
	double moved_l, moved_r; /* latencies when the last move was decided; 0: none */
	bool stopped;
};

void steer__begin(struct steer *steer, const struct steer_config *config);

/* One quantum. After STEER_MOVE the caller moves pages and calls steer__moved(). */
struct steer_answer steer__decide(struct steer *steer, const struct steer_load *load);

/* How much of the shift was found on the other tier afterwards; of the same sign. */
void steer__moved(struct steer *steer, double asked, double done);

/* Nothing of what was decided could be done, for a reason that is no contradiction. */
void steer__deferred(struct steer *steer);

/*
 * Pages are so large: a share of all bytes, before a decision. What is less than three quarters of
 * it does not move: afterwards the placement would be farther away on the other side, or so near
 * that noise moves the page back. A page that is more than the largest shift moves when as much has
 * been allowed in several quanta.
 */
void steer__set_unit(struct steer *steer, double unit);

/*
 * For an actor whose pages follow late: before each steer__decide(), instead of steer__moved(). A
 * placement that does not follow, and latencies that rise meanwhile, are then no contradictions.
 */
void steer__follow(struct steer *steer, double placement);

#endif
