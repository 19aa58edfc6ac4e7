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
	const char *method; /* of act_methods; NULL: nothing is moved */
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

/* Does the method set weights, which move no old page? */
bool act__weighs(const char *method);

/* Does DAMON move the pages? It takes no process as a target, and puts no page back. */
bool act__is_damon(const char *method);

/* Puts back what was found, unless it is kept, and frees. */
int act__close(struct act *act, char why[TIER_TEXT]);

/* Can the method work on this machine? 0 or -errno; `why` is the reason, or what it does. */
int act__look(const char *method, const char *root, char why[TIER_TEXT]);

/* The names of all methods; NULL-terminated. */
extern const char *const act_methods[];

#endif
