// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "rmid_alloc.h"

/* Free RMIDs become ready in the order of the queue, so checking its head is enough. */
static void publish_ready(struct rmid_alloc *alloc)
{
	__u64 ready_ns = alloc->head ? alloc->infos[alloc->head].ready_ns : RMID_NEVER_NS;

	__atomic_store_n(&alloc->ready_ns, ready_ns, __ATOMIC_RELAXED);
}

static void append(struct rmid_alloc *alloc, __u32 rmid, __u64 ready_ns)
{
	alloc->infos[rmid] = (struct rmid_info){ .ready_ns = ready_ns, .owner = RMID_NOBODY };
	if (alloc->tail)
		alloc->infos[alloc->tail].next = rmid;
	else
		alloc->head = rmid;
	alloc->tail = rmid;
}

void rmid_alloc__init(struct rmid_alloc *alloc, struct rmid_info *infos, __u32 count,
		      __u64 limbo_ns)
{
	__u32 rmid;

	*alloc = (struct rmid_alloc){ .infos = infos, .count = count, .limbo_ns = limbo_ns };
	infos[0] = (struct rmid_info){ .owner = RMID_NOBODY };
	for (rmid = 1; rmid <= count; rmid++)
		append(alloc, rmid, 0);
	publish_ready(alloc);
}

__u32 rmid_alloc__get(struct rmid_alloc *alloc, __u32 owner, __u64 now_ns)
{
	__u32 rmid = alloc->head;

	if (!rmid || alloc->infos[rmid].ready_ns > now_ns)
		return 0;
	alloc->head = alloc->infos[rmid].next;
	if (!alloc->head)
		alloc->tail = 0;
	alloc->infos[rmid] = (struct rmid_info){ .owner = owner };
	publish_ready(alloc);
	return rmid;
}

_Bool rmid_alloc__put(struct rmid_alloc *alloc, __u32 rmid, __u64 now_ns)
{
	if (rmid_alloc__owner(alloc, rmid) == RMID_NOBODY)
		return 0;
	if (alloc->last_ns < now_ns)
		alloc->last_ns = now_ns;
	append(alloc, rmid, alloc->last_ns + alloc->limbo_ns);
	publish_ready(alloc);
	return 1;
}

__u32 rmid_alloc__owner(const struct rmid_alloc *alloc, __u32 rmid)
{
	return rmid && rmid <= alloc->count ? alloc->infos[rmid].owner : RMID_NOBODY;
}

__u64 rmid_alloc__ready_ns(const struct rmid_alloc *alloc)
{
	return __atomic_load_n(&alloc->ready_ns, __ATOMIC_RELAXED);
}
