/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Allocates RMIDs 1 to `count`: first the one that has been free for longest, and none before it
 * has been free for `limbo_ns`. RMID 0 is never allocated and means failure.
 *
 * Plain C: the module, the tests and the model checker compile the same file. Both operations take
 * constant time and allocate no memory. The caller serializes them; only rmid_alloc__ready_ns() may
 * run at the same time as another function.
 */
#ifndef LATSCOPE_RMID_ALLOC_H
#define LATSCOPE_RMID_ALLOC_H

#include <linux/types.h>

#define RMID_NOBODY 0xffffffffU
#define RMID_NEVER_NS (~0ULL)

struct rmid_info {
	__u64 ready_ns; /* free: not to be allocated before this time */
	__u32 owner; /* in use: the owner passed to get(); free: RMID_NOBODY */
	__u32 next; /* free: the next one in the queue; 0: none */
};

struct rmid_alloc {
	struct rmid_info *infos; /* by RMID; the first is not used */
	__u64 limbo_ns;
	__u64 last_ns; /* time of the latest free */
	__u64 ready_ns; /* ready_ns of the head of the queue, for readers without the lock */
	__u32 count;
	__u32 head; /* the queue of free ones; 0: empty */
	__u32 tail;
};

/* The caller owns `infos`, which has count + 1 elements. All RMIDs are free and ready. */
void rmid_alloc__init(struct rmid_alloc *alloc, struct rmid_info *infos, __u32 count,
		      __u64 limbo_ns);

/* Returns an RMID for the owner; 0: none has been free for long enough. */
__u32 rmid_alloc__get(struct rmid_alloc *alloc, __u32 owner, __u64 now_ns);

/*
 * Frees an RMID. A clock that goes back does not shorten its limbo. Returns false, and does
 * nothing, if it is not in use.
 */
_Bool rmid_alloc__put(struct rmid_alloc *alloc, __u32 rmid, __u64 now_ns);

/* The owner of an RMID; RMID_NOBODY if it is free or does not exist. */
__u32 rmid_alloc__owner(const struct rmid_alloc *alloc, __u32 rmid);

/* The time from which get() can succeed; RMID_NEVER_NS while all are in use. */
__u64 rmid_alloc__ready_ns(const struct rmid_alloc *alloc);

#endif
