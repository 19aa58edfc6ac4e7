/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocates RMIDs 1 to `count`: the one that has been free for longest first, and none before it
 * has been free for `limbo_ns`. RMID 0 is never allocated and means failure.
 *
 * Plain C: the module, the tests and the model checker compile the same file. Both operations take
 * constant time, nothing is allocated. The caller serializes; only rmid_alloc__ready_ns() may be
 * called beside the others.
 */
#ifndef LATSCOPE_RMID_ALLOC_H
#define LATSCOPE_RMID_ALLOC_H

#include <linux/types.h>

#define RMID_NOBODY 0xffffffffU
#define RMID_NEVER_NS (~0ULL)

struct rmid_info {
	__u64 ready_ns; /* free: not to be handed out before */
	__u32 owner; /* in use: whose, as told to get(); free: RMID_NOBODY */
	__u32 next; /* free: the one that was freed after it, 0 if none was */
};

struct rmid_alloc {
	struct rmid_info *infos; /* by RMID; the first is not used */
	__u64 limbo_ns;
	__u64 last_ns; /* the latest free */
	__u64 ready_ns; /* of the head of the queue, for those without the lock */
	__u32 count;
	__u32 head; /* the queue of free ones, 0 if it is empty */
	__u32 tail;
};

/* `infos` has count + 1 places and stays the caller's. All are free, and have been for long. */
void rmid_alloc__init(struct rmid_alloc *alloc, struct rmid_info *infos, __u32 count,
		      __u64 limbo_ns);

/* Returns an RMID, now the owner's; 0: none has been free for long enough. */
__u32 rmid_alloc__get(struct rmid_alloc *alloc, __u32 owner, __u64 now_ns);

/*
 * Frees it. A clock that goes back does not shorten a limbo. Returns false, and does nothing, if it
 * is not in use.
 */
_Bool rmid_alloc__put(struct rmid_alloc *alloc, __u32 rmid, __u64 now_ns);

/* Whose it is; RMID_NOBODY if it is free or does not exist. */
__u32 rmid_alloc__owner(const struct rmid_alloc *alloc, __u32 rmid);

/* From when on get() can succeed; RMID_NEVER_NS while all are in use. */
__u64 rmid_alloc__ready_ns(const struct rmid_alloc *alloc);

#endif
