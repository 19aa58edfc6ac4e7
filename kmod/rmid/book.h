/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which process has which RMID: births, threads, deaths and the queue. A process that finds no free
 * RMID waits in a queue; the one that has waited longest is served first.
 *
 * Operations that change who has what fill in the record to be told; they return whether there is
 * one. The caller serializes all but book__place(), book__rmid() and book__may_serve(). `now_ns` of
 * a clock that goes back counts as the latest. Plain C, see rmid_alloc.h.
 */
#ifndef LATSCOPE_RMID_BOOK_H
#define LATSCOPE_RMID_BOOK_H

#include "procs.h"
#include "rmid_alloc.h"

struct rmid_counts {
	__u64 allocs;
	__u64 frees;
	__u64 refused; /* times that a process waited and no RMID had been free for long enough */
	__u64 late;
	__u64 untracked; /* processes that found no room in the table */
	__u64 miscounted; /* processes whose threads were found to be more than counted */
};

struct rmid_book {
	struct rmid_alloc alloc;
	struct rmid_procs procs;
	struct rmid_counts counts;
	__u64 seq; /* of the next record */
	__u64 last_ns;
	__u32 assigned;
	__u32 waiting;
	__u32 first; /* places of the ends of the queue of those that wait, or PROCS_NONE */
	__u32 last;
};

/* A new process. */
struct rmid_birth {
	__u64 key;
	__u64 start_ns;
	__u32 tgid;
	__u32 threads;
	__u32 why; /* LATSCOPE_RMID_BIRTH or _FOUND */
	char comm[LATSCOPE_RMID_COMM_LEN];
};

/* The memory is the caller's: see rmid_alloc__init() and procs__init(). */
void book__init(struct rmid_book *book);

/* It waits from now on; book__serve() may serve it at once. False: no room, which is counted. */
_Bool book__birth(struct rmid_book *book, const struct rmid_birth *birth, __u64 now_ns);

/* Gives the process that has waited longest an RMID. */
_Bool book__serve(struct rmid_book *book, __u64 now_ns, struct latscope_rmid_owner *record);

/* A thread that will run. False: its process is not here. */
_Bool book__thread(struct rmid_book *book, __u64 key);

/*
 * A thread of it has run for the last time. `live` is how many of its threads have not begun to
 * exit: while there are any, it is not over, however few had been counted.
 */
_Bool book__thread_gone(struct rmid_book *book, __u64 key, __u32 live, __u64 now_ns,
			struct latscope_rmid_owner *record);

/* It is over, whatever the count of its threads. False also if it had no RMID, or is not here. */
_Bool book__bury(struct rmid_book *book, __u64 key, __u64 now_ns,
		 struct latscope_rmid_owner *record);

/* It has a new name. `comm` has LATSCOPE_RMID_COMM_LEN bytes. */
_Bool book__exec(struct rmid_book *book, __u64 key, const char *comm, __u64 now_ns,
		 struct latscope_rmid_owner *record);

/* What there is to tell of the process at a place, if there is one and it has an RMID. */
_Bool book__tell(struct rmid_book *book, __u32 place, __u64 now_ns,
		 struct latscope_rmid_owner *record);

/* The place of a process; it must be alive. PROCS_NONE: it is not here. */
static inline __u32 book__place(const struct rmid_book *book, __u64 key)
{
	return procs__find(&book->procs, key);
}

/* The RMID of the living process at a place; 0: it waits. */
static inline __u32 book__rmid(const struct rmid_book *book, __u32 place)
{
	return __atomic_load_n(&book->procs.places[place].rmid, __ATOMIC_RELAXED);
}

/* Would book__serve() find an RMID? Asks without the lock, so the answer may be old. */
static inline _Bool book__may_serve(const struct rmid_book *book, __u64 now_ns)
{
	return __atomic_load_n(&book->waiting, __ATOMIC_RELAXED) &&
	       rmid_alloc__ready_ns(&book->alloc) <= now_ns;
}

#endif
