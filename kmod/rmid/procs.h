/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of processes, by a key that no two living ones share.
 *
 * A key may lie in any of the eight places of two lines, and nowhere else: so a process is found
 * without a lock while others come and go, as long as it does not go itself. The lines have twice
 * as many places as there may be processes; with the emptier of two lines taken each time, one
 * finds both of its lines full about never. Plain C, see rmid_alloc.h.
 */
#ifndef LATSCOPE_RMID_PROCS_H
#define LATSCOPE_RMID_PROCS_H

#include <linux/types.h>
#include <uapi/latscope/rmid.h>

#define PROCS_WAYS 8
#define PROCS_NONE 0xffffffffU

struct rmid_process {
	__u64 start_ns;
	__u64 since_ns; /* has its RMID, or waits for one, since then */
	__u32 tgid;
	__u32 threads; /* that have yet to be switched out for the last time */
	__u32 rmid; /* 0: waits */
	__u32 why; /* what to say when it gets one at once */
	__u32 next; /* waits: the places of those that wait after it and before it, or PROCS_NONE */
	__u32 prev;
	char comm[LATSCOPE_RMID_COMM_LEN];
	__u64 pad;
};
_Static_assert(sizeof(struct rmid_process) == 64, "rmid_process fills a line");

struct rmid_procs {
	__u64 *keys; /* by place; 0: free */
	struct rmid_process *places;
	__u32 lines; /* of PROCS_WAYS places; a power of 2 */
	__u32 limit;
	__u32 count;
};

/* How many lines procs__init() wants for so many processes: each is PROCS_WAYS keys and places. */
__u32 procs__lines(__u32 limit);

/* `keys` is all 0. Both arrays stay the caller's. */
void procs__init(struct rmid_procs *procs, __u64 *keys, struct rmid_process *places, __u32 limit);

/* Returns the place, PROCS_NONE if it is not there. Needs no lock while the process lives. */
__u32 procs__find(const struct rmid_procs *procs, __u64 key);

/* Takes a place for a key that has none. Returns PROCS_NONE if there is no room. */
__u32 procs__add(struct rmid_procs *procs, __u64 key, const struct rmid_process *process);

void procs__remove(struct rmid_procs *procs, __u32 place);

static inline __u32 procs__size(const struct rmid_procs *procs)
{
	return procs->lines * PROCS_WAYS;
}

#endif
