/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * The table of processes, by a key that is unique among living processes.
 *
 * A key is in one of the eight places of two lines, and nowhere else. So a living process is found
 * without a lock while others come and go. The lines have twice as many places as the maximum
 * number of processes. A new key goes to the line with more room, so both lines of a key are
 * practically never full. Plain C, see rmid_alloc.h.
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
	__u32 threads; /* threads that have yet to be switched out for the last time */
	__u32 rmid; /* 0: the process waits */
	__u32 why; /* enum latscope_rmid_why of its record if it gets one at once */
	__u32 next; /* waits: the next and the previous place in the queue, or PROCS_NONE */
	__u32 prev;
	char comm[LATSCOPE_RMID_COMM_LEN];
	__u64 pad;
};
_Static_assert(sizeof(struct rmid_process) == 64, "rmid_process fills a line");

struct rmid_procs {
	__u64 *keys; /* by place; 0: free */
	struct rmid_process *places;
	__u32 lines; /* of PROCS_WAYS places each; a power of 2 */
	__u32 limit;
	__u32 count;
};

/* Number of lines for so many processes: each has PROCS_WAYS keys and places. */
__u32 procs__lines(__u32 limit);

/* `keys` is all 0. The caller owns both arrays. */
void procs__init(struct rmid_procs *procs, __u64 *keys, struct rmid_process *places, __u32 limit);

/* Returns the place; PROCS_NONE: unknown. Needs no lock while the process lives. */
__u32 procs__find(const struct rmid_procs *procs, __u64 key);

/* Takes a place for a new key. Returns PROCS_NONE if there is no room. */
__u32 procs__add(struct rmid_procs *procs, __u64 key, const struct rmid_process *process);

void procs__remove(struct rmid_procs *procs, __u32 place);

static inline __u32 procs__size(const struct rmid_procs *procs)
{
	return procs->lines * PROCS_WAYS;
}

#endif
