/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Moves pages of processes between two sets of NUMA nodes, and says where they are. A process of
 * its own does both: it keeps the one capability that this needs; latscope drops all of root. A
 * second one, the restore process, puts everything back at the end, also if latscope is killed.
 */
#ifndef LATSCOPE_PROBES_TIERLAT_ACT_H
#define LATSCOPE_PROBES_TIERLAT_ACT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "tier.h"

/* Whose pages; exactly one is set. */
struct act_target {
	pid_t pid; /* 0: not by process */
	const char *cgroup; /* with those below it; NULL: not by cgroup */
	bool system; /* every process but latscope */
};

#define ACT_WEIGHTS "/sys/kernel/mm/mempolicy/weighted_interleave"

struct act_config {
	const char *method; /* a name of act_methods; NULL: nothing is moved */
	struct act_target target;
	bool dry_run; /* measure the placement, move nothing */
	bool keep; /* at the end, pages stay where they are; with damon they always do */
	int socket; /* whose tiers; -1: the only one */
	const char *root; /* path prefix of /proc, /sys and /run; "": this machine */
};

/* The nodes of two tiers, as masks. */
struct act_nodes {
	uint64_t near, far;
};

/* Where the pages of the target are. */
struct act_place {
	uint64_t near_bytes, far_bytes;
	unsigned int processes; /* that were read */
	unsigned int unread; /* that ended meanwhile, or may not be read */
	double weighted; /* share of new pages that the weights give to the near nodes */
};

/* What a move did. */
struct act_done {
	uint64_t tried, moved; /* bytes: of pages that were asked to move; that are there now */
	uint64_t applied; /* bytes that DAMON says it moved */
	uint64_t large; /* bytes of a large page, if some moved as a whole; 0: none did */
	bool full; /* the nodes have no room */
	bool late; /* the time was over before all was tried */
	bool early; /* nothing was tried: DAMON has not watched for long enough */
};

struct act;
struct act_mover;
struct act_order;
struct act_pids;

/* A way to act. NULL: there is nothing to do. Functions return 0 or -errno, some with a `why`. */
struct act_method {
	const char *name;
	const char *no_pid; /* why no process can be the target; NULL: it can */
	const char *no_keep; /* why there is nothing to keep; NULL: pages or weights are kept */
	const char *left; /* what is said if undo() fails */

	/* Can it work on this machine? Writes nothing; `why` is the reason, or what it does. */
	int (*look)(const char *root, char why[TIER_TEXT]);
	int (*open)(struct act_mover *mover, const struct act_config *config, char why[TIER_TEXT]);
	/* Begins what undo() ends, once the restore process runs. */
	int (*start)(struct act_mover *mover, char why[TIER_TEXT]);
	/*
	 * Sets weights if that is the order, and says which share the near nodes get now. Weights
	 * move no old page.
	 */
	int (*weigh)(struct act_mover *mover, const struct act_order *order, double *now);
	/* Moves pages to node `to`. `from_bytes`: by process, on the nodes to move them from. */
	int (*move)(struct act_mover *mover, const struct act_order *order, unsigned int to,
		    const struct act_pids *pids, const uint64_t *from_bytes, struct act_done *done);
	/* What a move did, and what did not move, by the placements before and after it. */
	int (*judge)(struct act_mover *mover, const struct act_order *order,
		     const struct act_place *before, const struct act_place *after,
		     struct act_done *done);
	/* What its own errors mean; NULL: nothing special. */
	const char *(*explain)(int err);
	int (*undo)(const struct act_mover *mover); /* in the restore process */
	void (*free)(struct act_mover *mover);
};

extern const struct act_method *const act_methods[]; /* NULL-terminated */

/* NULL: there is no such method. */
const struct act_method *act_method__find(const char *name);

/* Share of the bytes on the near nodes; NAN: there are none. */
double act_place__share(const struct act_place *place);

/* Errors, as those of all functions here, with one line in `why`. -EBUSY: another one acts. */
int act__open(struct act **act, const struct act_config *config, const struct act_nodes *nodes,
	      char why[TIER_TEXT]);

/* Reads the placement. -ESRCH: the process or cgroup is gone, or no process can be read. */
int act__place(struct act *act, struct act_place *place, char why[TIER_TEXT]);

/* Moves about so many bytes, to the near nodes if > 0. Takes about `limit_ns` at most. */
int act__move(struct act *act, int64_t bytes, uint64_t limit_ns, struct act_done *done,
	      char why[TIER_TEXT]);

/* Sets the weights for that share of new pages, reads them back, and reads the placement. */
int act__weigh(struct act *act, double share, struct act_place *place, char why[TIER_TEXT]);

/* Puts back what was found, unless it is kept, and frees. */
int act__close(struct act *act, char why[TIER_TEXT]);

/*
 * Can the method work on this machine? 0 or -errno; `why` is the reason, or what it does. NULL: it
 * is unknown.
 */
int act__look(const struct act_method *method, const char *root, char why[TIER_TEXT]);

/* The weights of each near and far node, 1 to 255, for a share. */
void act_weights__fit(double share, unsigned int near_nodes, unsigned int far_nodes,
		      unsigned int fit[2]);

/* The share that the weights should give: see act_weights.c. */
double act_weights__aim(double placement, double now, double shift);

#endif
