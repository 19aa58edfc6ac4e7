// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "book.h"

void book__init(struct rmid_book *book)
{
	book->counts = (struct rmid_counts){ 0 };
	book->seq = 0;
	book->last_ns = 0;
	book->assigned = 0;
	book->waiting = 0;
	book->first = PROCS_NONE;
	book->last = PROCS_NONE;
}

static __u64 clock_of(struct rmid_book *book, __u64 now_ns)
{
	if (book->last_ns < now_ns)
		book->last_ns = now_ns;
	return book->last_ns;
}

static void copy_comm(char *to, const char *from)
{
	int i;

	for (i = 0; i < LATSCOPE_RMID_COMM_LEN; i++)
		to[i] = from[i];
}

static void fill(struct rmid_book *book, const struct rmid_process *process, __u32 why,
		 __u64 now_ns, struct latscope_rmid_owner *record)
{
	*record = (struct latscope_rmid_owner){
		.seq = book->seq++,
		.time_ns = now_ns,
		.start_ns = process->start_ns,
		.since_ns = process->since_ns,
		.rmid = process->rmid,
		.tgid = process->tgid,
		.why = why,
		.threads = process->threads,
	};
	copy_comm(record->comm, process->comm);
}

static void set_waiting(struct rmid_book *book, __u32 waiting)
{
	__atomic_store_n(&book->waiting, waiting, __ATOMIC_RELAXED);
}

static void enqueue(struct rmid_book *book, __u32 place)
{
	struct rmid_process *process = &book->procs.places[place];

	process->prev = book->last;
	process->next = PROCS_NONE;
	if (book->last == PROCS_NONE)
		book->first = place;
	else
		book->procs.places[book->last].next = place;
	book->last = place;
	set_waiting(book, book->waiting + 1);
}

static void dequeue(struct rmid_book *book, const struct rmid_process *process)
{
	if (process->prev == PROCS_NONE)
		book->first = process->next;
	else
		book->procs.places[process->prev].next = process->next;
	if (process->next == PROCS_NONE)
		book->last = process->prev;
	else
		book->procs.places[process->next].prev = process->prev;
	set_waiting(book, book->waiting - 1);
}

_Bool book__birth(struct rmid_book *book, const struct rmid_birth *birth, __u64 now_ns)
{
	struct rmid_process process = {
		.start_ns = birth->start_ns,
		.since_ns = clock_of(book, now_ns),
		.tgid = birth->tgid,
		.threads = birth->threads,
		.why = birth->why,
	};
	__u32 place;

	copy_comm(process.comm, birth->comm);
	place = procs__add(&book->procs, birth->key, &process);
	if (place == PROCS_NONE) {
		book->counts.untracked++;
		return 0;
	}
	enqueue(book, place);
	return 1;
}

_Bool book__serve(struct rmid_book *book, __u64 now_ns, struct latscope_rmid_owner *record)
{
	struct rmid_process *process;
	__u32 rmid, why;

	now_ns = clock_of(book, now_ns);
	if (book->first == PROCS_NONE)
		return 0;
	rmid = rmid_alloc__get(&book->alloc, book->first, now_ns);
	if (!rmid) {
		book->counts.refused++;
		return 0;
	}
	process = &book->procs.places[book->first];
	dequeue(book, process);
	why = process->since_ns == now_ns ? process->why : LATSCOPE_RMID_LATE;
	book->assigned++;
	book->counts.allocs++;
	book->counts.late += why == LATSCOPE_RMID_LATE;
	__atomic_store_n(&process->rmid, rmid, __ATOMIC_RELAXED);
	fill(book, process, why, now_ns, record);
	process->since_ns = now_ns;
	return 1;
}

void book__prefer(struct rmid_book *book, __u32 place)
{
	struct rmid_process *process = &book->procs.places[place];

	if (book->first == place)
		return;
	dequeue(book, process);
	process->prev = PROCS_NONE;
	process->next = book->first;
	if (book->first == PROCS_NONE)
		book->last = place;
	else
		book->procs.places[book->first].prev = place;
	book->first = place;
	set_waiting(book, book->waiting + 1);
}

_Bool book__yield(struct rmid_book *book, __u32 place, __u64 now_ns,
		  struct latscope_rmid_owner *record)
{
	struct rmid_process *process = &book->procs.places[place];
	__u32 rmid = process->rmid;

	now_ns = clock_of(book, now_ns);
	if (!rmid)
		return 0;
	rmid_alloc__put(&book->alloc, rmid, now_ns);
	book->assigned--;
	book->counts.frees++;
	fill(book, process, LATSCOPE_RMID_LATE, now_ns, record);
	__atomic_store_n(&process->rmid, 0, __ATOMIC_RELAXED);
	process->since_ns = now_ns;
	enqueue(book, place);
	return 1;
}

_Bool book__thread(struct rmid_book *book, __u64 key)
{
	__u32 place = procs__find(&book->procs, key);

	if (place == PROCS_NONE)
		return 0;
	book->procs.places[place].threads++;
	return 1;
}

/* The process at a place has ended. */
static _Bool end(struct rmid_book *book, __u32 place, __u64 now_ns,
		 struct latscope_rmid_owner *record)
{
	struct rmid_process *process = &book->procs.places[place];
	__u32 rmid = process->rmid;

	process->threads = 0;
	if (rmid) {
		rmid_alloc__put(&book->alloc, rmid, now_ns);
		book->assigned--;
		book->counts.frees++;
		fill(book, process, LATSCOPE_RMID_EXIT, now_ns, record);
	} else {
		dequeue(book, process);
	}
	procs__remove(&book->procs, place);
	return rmid != 0;
}

_Bool book__thread_gone(struct rmid_book *book, __u64 key, __u32 live, __u64 now_ns,
			struct latscope_rmid_owner *record)
{
	__u32 place = procs__find(&book->procs, key);
	struct rmid_process *process;

	now_ns = clock_of(book, now_ns);
	if (place == PROCS_NONE)
		return 0;
	process = &book->procs.places[place];
	if (process->threads > 1) {
		process->threads--;
		return 0;
	}
	if (live) {
		book->counts.miscounted++;
		process->threads = live;
		return 0;
	}
	return end(book, place, now_ns, record);
}

_Bool book__bury(struct rmid_book *book, __u64 key, __u64 now_ns,
		 struct latscope_rmid_owner *record)
{
	__u32 place = procs__find(&book->procs, key);

	now_ns = clock_of(book, now_ns);
	return place != PROCS_NONE && end(book, place, now_ns, record);
}

_Bool book__tell(struct rmid_book *book, __u32 place, __u64 now_ns,
		 struct latscope_rmid_owner *record)
{
	struct rmid_process *process = &book->procs.places[place];

	now_ns = clock_of(book, now_ns);
	if (!book->procs.keys[place] || !process->rmid)
		return 0;
	fill(book, process, LATSCOPE_RMID_DUMP, now_ns, record);
	return 1;
}

_Bool book__exec(struct rmid_book *book, __u64 key, const char *comm, __u64 now_ns,
		 struct latscope_rmid_owner *record)
{
	__u32 place = procs__find(&book->procs, key);

	now_ns = clock_of(book, now_ns);
	if (place == PROCS_NONE)
		return 0;
	copy_comm(book->procs.places[place].comm, comm);
	if (!book__tell(book, place, now_ns, record))
		return 0;
	record->why = LATSCOPE_RMID_EXEC;
	return 1;
}
