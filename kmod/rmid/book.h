/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/*
 * Which process has which RMID: births, threads, deaths and the queue. A process that finds no free
 * RMID waits in a queue; the one that has waited longest is served first.
 *
 * Operations that change an owner fill in a record, and return whether there is one. The caller
 * serializes all functions except book__place(), book__rmid() and book__may_serve(). If the clock
 * of `now_ns` goes back, the latest time is used. Plain C, see rmid_alloc.h.
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
	__u64 miscounted; /* processes that had more threads than were counted */
};

struct rmid_book {
	struct rmid_alloc alloc;
	struct rmid_procs procs;
	struct rmid_counts counts;
	__u64 seq; /* of the next record */
	__u64 last_ns;
	__u32 assigned;
	__u32 waiting;
	__u32 first; /* first and last place in the queue, or PROCS_NONE */
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

/* The caller owns the memory: see rmid_alloc__init() and procs__init(). */
void book__init(struct rmid_book *book);

/*
 * Adds a process to the queue; book__serve() may serve it at once. False: no room, which is
 * counted.
 */
_Bool book__birth(struct rmid_book *book, const struct rmid_birth *birth, __u64 now_ns);

/* Gives an RMID to the process that has waited longest. */
_Bool book__serve(struct rmid_book *book, __u64 now_ns, struct latscope_rmid_owner *record);

/* The process at a place, which waits, is served next. */
void book__prefer(struct rmid_book *book, __u32 place);

/* The process at a place, which lives, loses its RMID and waits again. False: it had none. */
_Bool book__yield(struct rmid_book *book, __u32 place, __u64 now_ns,
		  struct latscope_rmid_owner *record);

/* A new thread is going to run. False: its process is unknown. */
_Bool book__thread(struct rmid_book *book, __u64 key);

/*
 * A thread has run for the last time. `live` is the number of threads of its process that have not
 * begun to exit: while it is not 0, the process has not ended, even if too few threads were
 * counted.
 */
_Bool book__thread_gone(struct rmid_book *book, __u64 key, __u32 live, __u64 now_ns,
			struct latscope_rmid_owner *record);

/*
 * Ends a process, whatever the count of its threads. False also if it had no RMID, or is unknown.
 */
_Bool book__bury(struct rmid_book *book, __u64 key, __u64 now_ns,
		 struct latscope_rmid_owner *record);

/* A process has a new name. `comm` has LATSCOPE_RMID_COMM_LEN bytes. */
_Bool book__exec(struct rmid_book *book, __u64 key, const char *comm, __u64 now_ns,
		 struct latscope_rmid_owner *record);

/* Fills in the record of the process at a place. False: no process, or it has no RMID. */
_Bool book__tell(struct rmid_book *book, __u32 place, __u64 now_ns,
		 struct latscope_rmid_owner *record);

/* The place of a process, which must be alive. PROCS_NONE: unknown. */
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
