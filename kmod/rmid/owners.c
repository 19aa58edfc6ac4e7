// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpumask.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "owners.h"
#include "trace.h"

/* Processes to serve at a time: more than can start to wait, so that the queue becomes empty. */
#define SERVE_MOST 2

static DEFINE_RAW_SPINLOCK(lock);
static struct rmid_book book; /* protected by `lock`; book.h lists the exceptions */
static u64 *owned_since_ns; /* by RMID; written under `lock` */
static u64 untracked_taken; /* part of book.counts.untracked that was adopted again */

static u64 key_of(const struct task_struct *task)
{
	return (uintptr_t)task->signal;
}

int owners__init(u32 rmids, u64 limbo_ns, u32 processes)
{
	u32 places = procs__lines(processes) * PROCS_WAYS;
	struct rmid_info *infos = kvcalloc(rmids + 1, sizeof(*infos), GFP_KERNEL);
	struct rmid_process *processes_at = vzalloc(array_size(places, sizeof(*processes_at)));
	u64 *keys = vzalloc(array_size(places, sizeof(*keys)));

	owned_since_ns = kvcalloc(rmids + 1, sizeof(*owned_since_ns), GFP_KERNEL);
	if (!infos || !processes_at || !keys || !owned_since_ns)
		goto free;
	rmid_alloc__init(&book.alloc, infos, rmids, limbo_ns);
	procs__init(&book.procs, keys, processes_at, processes);
	book__init(&book);
	return 0;

free:
	kvfree(owned_since_ns);
	vfree(keys);
	vfree(processes_at);
	kvfree(infos);
	return -ENOMEM;
}

void owners__exit(void)
{
	kvfree(owned_since_ns);
	kvfree(book.alloc.infos);
	vfree(book.procs.places);
	vfree(book.procs.keys);
}

static void tell_free(const struct latscope_rmid_owner *record)
{
	WRITE_ONCE(owned_since_ns[record->rmid], 0);
	trace_rmid_free(record);
}

static void serve(u64 now_ns, int most)
{
	struct latscope_rmid_owner record;

	while (most-- > 0 && book__serve(&book, now_ns, &record)) {
		WRITE_ONCE(owned_since_ns[record.rmid], record.time_ns);
		trace_rmid_alloc(&record);
	}
}

/* The key cannot exist yet. If it does, the count of threads of its previous owner was wrong. */
static void bury_stale(u64 key, u64 now_ns)
{
	struct latscope_rmid_owner record;

	if (likely(book__place(&book, key) == PROCS_NONE))
		return;
	book.counts.miscounted++;
	if (book__bury(&book, key, now_ns, &record))
		tell_free(&record);
}

static bool give_birth(struct task_struct *leader, u32 threads, u32 why, u64 now_ns, int serve_most)
{
	struct rmid_birth birth = {
		.key = key_of(leader),
		.start_ns = leader->start_boottime,
		.tgid = leader->tgid,
		.threads = threads,
		.why = why,
	};

	memcpy(birth.comm, leader->comm, sizeof(birth.comm));
	if (!book__birth(&book, &birth, now_ns))
		return false;
	serve(now_ns, serve_most);
	return true;
}

void owners__new_task(struct task_struct *task)
{
	unsigned long flags;
	u64 now_ns;

	if (task->flags & PF_KTHREAD)
		return;
	raw_spin_lock_irqsave(&lock, flags);
	now_ns = owners__now();
	if (thread_group_leader(task)) {
		bury_stale(key_of(task), now_ns);
		give_birth(task, 1, LATSCOPE_RMID_BIRTH, now_ns, SERVE_MOST);
	} else {
		book__thread(&book, key_of(task));
	}
	raw_spin_unlock_irqrestore(&lock, flags);
}

bool owners__adopt(struct task_struct *leader, u32 threads, u64 now_ns)
{
	unsigned long flags;
	bool adopted;

	raw_spin_lock_irqsave(&lock, flags);
	adopted = book__place(&book, key_of(leader)) == PROCS_NONE &&
		  give_birth(leader, threads, LATSCOPE_RMID_FOUND, now_ns, 1);
	raw_spin_unlock_irqrestore(&lock, flags);
	return adopted;
}

bool owners__take_untracked(void)
{
	unsigned long flags;
	bool taken;

	raw_spin_lock_irqsave(&lock, flags);
	taken = book.counts.untracked != untracked_taken && book.procs.count < book.procs.limit;
	if (taken)
		untracked_taken = book.counts.untracked;
	raw_spin_unlock_irqrestore(&lock, flags);
	return taken;
}

void owners__dead_task(struct task_struct *task)
{
	struct latscope_rmid_owner record;
	unsigned long flags;

	if (task->flags & PF_KTHREAD)
		return;
	raw_spin_lock_irqsave(&lock, flags);
	if (book__thread_gone(&book, key_of(task), atomic_read(&task->signal->live), owners__now(),
			      &record))
		tell_free(&record);
	raw_spin_unlock_irqrestore(&lock, flags);
}

void owners__exec(struct task_struct *task)
{
	struct latscope_rmid_owner record;
	char comm[LATSCOPE_RMID_COMM_LEN];
	unsigned long flags;

	memcpy(comm, task->comm, sizeof(comm));
	raw_spin_lock_irqsave(&lock, flags);
	if (book__exec(&book, key_of(task), comm, owners__now(), &record))
		trace_rmid_existing(&record);
	raw_spin_unlock_irqrestore(&lock, flags);
}

u32 owners__rmid(struct task_struct *task)
{
	u32 place = book__place(&book, key_of(task));
	unsigned long flags;
	u32 rmid;

	if (unlikely(place == PROCS_NONE))
		return 0;
	rmid = book__rmid(&book, place);
	if (likely(rmid) || !book__may_serve(&book, owners__now()))
		return rmid;
	raw_spin_lock_irqsave(&lock, flags);
	serve(owners__now(), SERVE_MOST);
	raw_spin_unlock_irqrestore(&lock, flags);
	return book__rmid(&book, place);
}

u64 owners__since_ns(u32 rmid)
{
	return READ_ONCE(owned_since_ns[rmid]);
}

u32 owners__assigned(void)
{
	return READ_ONCE(book.assigned);
}

/* One record per critical section, to keep interrupts off only briefly. */
void owners__dump(void)
{
	struct latscope_rmid_owner record;
	unsigned long flags;
	u32 place;

	for (place = 0; place < owners__places(); place++) {
		if (!READ_ONCE(book.procs.keys[place]))
			continue;
		raw_spin_lock_irqsave(&lock, flags);
		if (book__tell(&book, place, owners__now(), &record))
			trace_rmid_existing(&record);
		raw_spin_unlock_irqrestore(&lock, flags);
		cond_resched();
	}
}

bool owners__get(u32 place, struct rmid_process *process)
{
	unsigned long flags;
	bool there;

	if (!READ_ONCE(book.procs.keys[place]))
		return false;
	raw_spin_lock_irqsave(&lock, flags);
	there = book.procs.keys[place] != 0;
	*process = book.procs.places[place];
	raw_spin_unlock_irqrestore(&lock, flags);
	return there;
}

u32 owners__places(void)
{
	return procs__size(&book.procs);
}

void owners__totals(struct owners_totals *totals)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	*totals = (struct owners_totals){
		.counts = book.counts,
		.rmids = book.alloc.count,
		.assigned = book.assigned,
		.waiting = book.waiting,
		.limbo_ns = book.alloc.limbo_ns,
	};
	raw_spin_unlock_irqrestore(&lock, flags);
}
