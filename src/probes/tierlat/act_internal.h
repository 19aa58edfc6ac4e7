/* SPDX-License-Identifier: BSD-2-Clause */
/* Shared by act.c and what its processes do. */
#ifndef LATSCOPE_PROBES_TIERLAT_ACT_INTERNAL_H
#define LATSCOPE_PROBES_TIERLAT_ACT_INTERNAL_H

#include <stdio.h>
#include <stdlib.h>

#include <host/numa_maps.h>

#include "act.h"

/* The processes of a target. */
struct act_pids {
	pid_t *pids;
	size_t nr;
};

struct act_targets {
	struct act_target target;
	const char *root;
	int cgroup; /* its directory; -1: none */
	uint64_t started; /* of target.pid, in ticks: another process may get its number */
	pid_t own[2]; /* of latscope: left out */
};

/* Opens the cgroup, and checks that the process exists. */
int act_targets__open(struct act_targets *targets, char why[TIER_TEXT]);

/* Lists them; the caller frees pids->pids. -ESRCH: the process or cgroup is gone. */
int act_targets__list(const struct act_targets *targets, struct act_pids *pids);

/* When a process started, in ticks since boot; 0: it is gone. */
uint64_t act_targets__started(const char *root, pid_t pid);

/*
 * Where pages were before they were moved for the first time: a hash table in memory that the
 * restore process shares.
 */
struct act_page {
	uint64_t address; /* of the page; its node in the low bits */
	uint32_t pid; /* 0: free */
	uint32_t started; /* low bits of act_targets__started() */
};

struct act_memory {
	size_t size; /* entries, a power of two */
	size_t nr;
	struct act_page pages[];
};

/* Makes room for twice as many pages, at most ACT_MEMORY_MOST. NULL: no memory. */
struct act_memory *act_memory__new(uint64_t pages);
void act_memory__free(struct act_memory *memory);

/* Keeps the node of a page, unless it is known already. -ENOSPC: no room. */
int act_memory__keep(struct act_memory *memory, uint64_t address, pid_t pid, uint32_t started,
		     unsigned int node);

/* Moves all pages back. 0, or -EAGAIN: *left pages could not be moved. */
int act_memory__undo(const struct act_memory *memory, const char *root, uint64_t *left);

struct act_order {
	int64_t bytes; /* 0: only say where they are */
	bool weigh; /* set the weights for `share` first */
	double share;
	uint64_t limit_ns;
};

static inline uint64_t act_order__bytes(const struct act_order *order)
{
	return (uint64_t)llabs((long long)order->bytes);
}

struct act_reply {
	int err;
	char why[TIER_TEXT];
	struct act_place place;
	struct act_done done;
};

struct act_damon;
struct act_weights;

/* What the process that moves has. */
struct act_mover {
	const struct act_method *method;
	struct act_targets targets;
	struct act_nodes nodes;
	struct act_memory *memory; /* act_pages.c; NULL: pages are kept */
	uint64_t seed;
	bool large; /* the last piece that could be a large page was one */
	struct act_weights *weights; /* act_weights.c */
	struct act_damon *damon; /* act_damon.c */
};

/* The nodes to move pages from, as a mask. */
static inline uint64_t act_order__from(const struct act_mover *mover, const struct act_order *order)
{
	return order->bytes > 0 ? mover->nodes.far : mover->nodes.near;
}

/* Reads the placement, and bytes on the nodes of `from` by process (may be NULL). */
int act_mover__place(const struct act_mover *mover, const struct act_pids *pids,
		     struct act_place *place, uint64_t from, uint64_t *bytes);

/* Moves pages of a process: about `bytes`, from and to the nodes of masks. */
int act_pages__move(struct act_mover *mover, pid_t pid, uint64_t from, unsigned int to,
		    uint64_t bytes, uint64_t from_bytes, uint64_t until_ns, struct act_done *done);

/* Reads orders until the end of the socket; does not return. */
void act_mover__run(struct act_mover *mover, int socket) __attribute__((noreturn));

extern const struct act_method act_pages, act_weights, act_damon;

#endif
