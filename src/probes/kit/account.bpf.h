/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The account of each thread: how long it was in which state within the window. A thread is in one
 * state at a time, so the parts sum to its life. The probe where reads it. Its programs at the
 * scheduler's tracepoints are either those of where or, since each program at a switch costs, part
 * of the programs of a probe that is there anyway: see account_host.h.
 *
 * Maps are defined here, so only one file of an object may include this. The includer defines
 * `config`: the filters say whose accounts are read.
 *
 * All changes but those of `lock` are made under the lock of the thread's run queue.
 */
#ifndef LATSCOPE_PROBES_KIT_ACCOUNT_BPF_H
#define LATSCOPE_PROBES_KIT_ACCOUNT_BPF_H

#include "filter.bpf.h"

#include <latscope/why.h>

#include "account_types.h"

struct where_control account SEC(".data.account") = {};

/*
 * By TID: much cheaper than task storage. All are one value, so that one look-up is enough. User
 * space sets its size, and the number, which is a power of two.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(struct where_thread));
} lines SEC(".maps");

const volatile __u32 line_mask = 0; /* their number - 1 */

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct where_thread);
} accounts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, WHERE_ENDED);
	__type(key, struct where_key);
	__type(value, struct where_ended);
} ended SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__type(key, struct where_sleep_key);
	__type(value, struct where_sleep);
} sleeps SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 20);
} long_parts SEC(".maps");

/* ---- entries ---- */

/* The first of the lines; never NULL, but the verifier does not know that. */
static __always_inline struct where_thread *account_lines(void)
{
	__u32 only = 0;

	return bpf_map_lookup_elem(&lines, &only);
}

/* The account of a thread; NULL: it has none. `tid` is its. */
static __always_inline struct where_thread *account_by(struct where_thread *first,
						       struct task_struct *task, __u32 tid)
{
	struct where_thread *line = first + (tid & line_mask);

	barrier_var(line); /* else the compiler computes it again for each access */
	if (line->task == (__u64)task)
		return line;
	/* Another thread of its process executed a program, and got its ID before its end. */
	line = first + (task->tgid & line_mask);
	if (line->task == (__u64)task)
		return line;
	line = bpf_task_storage_get(&accounts, task, NULL, 0);
	return line && line->task ? line : NULL; /* 0: the thread has ended */
}

static __always_inline struct where_thread *account_of(struct task_struct *task)
{
	struct where_thread *first = account_lines();

	return first ? account_by(first, task, task->pid) : NULL;
}

/*
 * The key of what leaves the account of a thread: see struct where_key. One that moves to another
 * cgroup is in the old one until it is read.
 */
static __always_inline struct where_key account_key(struct task_struct *task,
						    const struct where_thread *own)
{
	__u32 pass = account.pass, by = account.by;
	struct where_key key = { .pass = own && own->pass != pass ? pass - 1 : pass };

	if (by == LAT_BY_CGROUP) {
		key.start = task_cgroup(task);
		if (own) /* volatile: the verifier refuses one load for both */
			key.start = *(const volatile __u64 *)&own->cgroup;
	} else if (by == LAT_BY_THREAD) {
		key.start = task->start_time;
		key.id = task->pid;
	} else {
		key.start = untrusted(task)->group_leader->start_time;
		key.id = task->tgid;
	}
	return key;
}

static __always_inline void account_name(char comm[LAT_COMM_LEN], struct task_struct *task)
{
	if (account.by == LAT_BY_THREAD)
		bpf_probe_read_kernel_str(comm, LAT_COMM_LEN, task->comm);
	else
		bpf_probe_read_kernel_str(comm, LAT_COMM_LEN, untrusted(task)->group_leader->comm);
}

/* Is the account of the task asked for? */
static __always_inline bool account_wanted(struct task_struct *task, const struct where_thread *own)
{
	__u32 workload = account.workload;

	if (workload && (__u32)task->tgid != workload && !(own && own->workload))
		return false;
	return task_wanted(&config, task);
}

/* ---- time ---- */

/* The part of a time that is within the window. */
static __always_inline __u64 in_window(__u64 from, __u64 to)
{
	__u64 opened = account.opened_ns, closed = account.closed_ns;

	if (from < opened)
		from = opened;
	if (to > closed)
		to = closed;
	return to > from ? to - from : 0;
}

/* Keeps a sleep for which the entry of its thread has no room. */
static __noinline int keep_sleep(struct where_sleep_key *key, const struct where_sleep *from)
{
	struct where_sleep fresh = { .what = from->what }, *sleep;

	key->what = from->what;
	sleep = bpf_map_lookup_elem(&sleeps, key);
	if (!sleep) {
		bpf_map_update_elem(&sleeps, key, &fresh, BPF_NOEXIST);
		sleep = bpf_map_lookup_elem(&sleeps, key);
	}
	if (!sleep) {
		__sync_fetch_and_add(&account.lost_sleeps, from->times);
		return 0;
	}
	__sync_fetch_and_add(&sleep->times, from->times);
	__sync_fetch_and_add(&sleep->ns, from->ns);
	return 0;
}

/* What `sleeps` has of a state is not in `ns`. */
static __always_inline void give_state(__u64 ns[WHERE_STATES], const struct where_sleep *sleep)
{
	__u32 state = WHERE_STATE(sleep->what);

	barrier_var(state); /* else the verifier loses its bounds */
	if (sleep->what && state < WHERE_STATES)
		ns[state] += sleep->ns;
}

/* A reason for which the thread has not slept before. The last one gives way. */
static __noinline int add_reason(struct task_struct *task, struct where_thread *own, __u64 ns)
{
	struct where_sleep_key key = { .of = account_key(task, own) };
	struct where_sleep *sleep = own->sleeps;

#pragma unroll
	for (int i = 1; i < WHERE_SLEEPS; i++)
		if (sleep->what)
			sleep = &own->sleeps[i];
	if (sleep->what)
		keep_sleep(&key, sleep);
	give_state(own->ns, sleep);
	sleep->what = own->what;
	sleep->times = 1;
	sleep->ns = ns;
	return 0;
}

static __always_inline void add_sleep(struct task_struct *task, struct where_thread *own, __u64 ns)
{
	__u32 what = own->what;

	if (own->sleeps[0].what == what) { /* in few instructions */
		own->sleeps[0].times++;
		own->sleeps[0].ns += ns;
		return;
	}
#pragma unroll
	for (int i = 1; i < WHERE_SLEEPS; i++) {
		struct where_sleep *sleep = &own->sleeps[i];

		if (sleep->what == what) {
			sleep->times++;
			sleep->ns += ns;
			return;
		}
	}
	add_reason(task, own, ns);
}

/* A part that cannot have been what it seemed to be ends, and the next one begins. */
static __noinline int turn_unknown(struct where_thread *own, __u32 what, __u64 now)
{
	own->ns[WHERE_UNKNOWN] += in_window(own->since_ns, now);
	own->since_ns = now;
	own->woken_ns = 0;
	own->what = what;
	if (now > account.opened_ns)
		__sync_fetch_and_add(&account.hidden, 1);
	return 0;
}

/* ---- what a thread sleeps for ---- */

/* Is the system call one of the 32-bit table? */
static __always_inline bool is_32_bit(struct task_struct *task, struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return task->thread_info.status & TS_COMPAT;
#else
	return regs->pstate & PSR_MODE32_BIT;
#endif
}

static __always_inline __s64 call_number(struct pt_regs *regs)
{
#if defined(__TARGET_ARCH_x86)
	return (__s64)regs->orig_ax;
#else
	return regs->syscallno;
#endif
}

/* What a task that is in a system call or an exception sleeps for: WHERE_WHAT(). */
static __always_inline __u32 what_in_call(struct task_struct *task, __u32 state)
{
	struct pt_regs *regs;
	__u32 kind, call;
	__u64 number;

	if (!bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		return WHERE_WHAT(WHERE_OTHER, WHERE_NO_CALL);
	regs = (struct pt_regs *)bpf_task_pt_regs(task);
	number = (__u64)call_number(regs);
	if (number == (__u64)-1 && !(task->flags & PF_EXITING)) /* else a signal ended the call */
		return WHERE_WHAT(WHERE_FAULT, WHERE_IN_FAULT);
	if (number >= WHERE_CALLS) /* x32, too: its numbers have a high bit */
		return WHERE_WHAT(WHERE_OTHER, WHERE_NO_CALL);
	call = number;
	if (is_32_bit(task, regs)) {
		call |= WHERE_CALL_32;
		number += WHERE_CALLS;
	}
	kind = account.call_states[number];
	if (kind == WHERE_STREAM)
		kind = state & (TASK_INTERRUPTIBLE | TASK_WAKING) ? WHERE_SOCKET : WHERE_OTHER;
	return WHERE_WHAT(kind, call);
}

static __always_inline __u32 what_of_kernel_thread(__u32 state)
{
	if (state & TASK_UNINTERRUPTIBLE && !(state & TASK_NOLOAD))
		return WHERE_WHAT(WHERE_OTHER, WHERE_NO_CALL);
	return WHERE_WHAT(WHERE_WORK, WHERE_NO_CALL);
}

/* The word that in_iowait is in, as are the other two in most kernels: fewer instructions. */
static __always_inline __u32 task_bits(struct task_struct *task)
{
	__u32 at = __builtin_preserve_field_info(task->in_iowait, BPF_FIELD_BYTE_OFFSET);

	return *(__u32 *)((void *)task + at);
}

/* The task loses its CPU, and sleeps: for what? WHERE_WHAT(). */
static __always_inline __u32 sleeps_for(struct where_thread *own, struct task_struct *task,
					__u32 state)
{
	__u32 what;

	if (!(task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)))
		what = what_in_call(task, state);
	else
		what = what_of_kernel_thread(state);
	if (own->lock)
		return WHERE_WHAT(WHERE_LOCK, WHERE_CALL(what));
	if (state & (TASK_STOPPED | TASK_TRACED | TASK_FROZEN))
		return WHERE_WHAT(WHERE_STOPPED, WHERE_CALL(what));
	if (account.reason_bits && !(task_bits(task) & account.reason_bits))
		return what;
	if (task_frozen(task))
		return WHERE_WHAT(WHERE_STOPPED, WHERE_CALL(what));
	if (task_waits_for_io(task))
		return WHERE_WHAT(WHERE_DISK, WHERE_CALL(what));
	if (task_waits_for_memory(task))
		return WHERE_WHAT(WHERE_MEMORY, WHERE_CALL(what));
	return what;
}

/* ---- long parts ---- */

/* The part that ends now. NULL: no room. The caller submits it; no wakeup, since a lock is held. */
static __always_inline struct where_part *begin_part(struct task_struct *task,
						     const struct where_thread *own, __u64 now)
{
	struct where_part *part = bpf_ringbuf_reserve(&long_parts, sizeof(*part), 0);

	if (!part) {
		__sync_fetch_and_add(&account.dropped, 1);
		return NULL;
	}
	part->begin_ns = own->since_ns;
	part->end_ns = now;
	part->what = own->what;
	part->tid = task->pid;
	part->tgid = task->tgid;
	part->waker_tid = part->waker_tgid = part->waker_source = 0;
	part->stack_size = 0;
	part->wanted = account_wanted(task, own);
	__builtin_memset(part->waker_comm, 0, sizeof(part->waker_comm));
	bpf_probe_read_kernel_str(part->comm, sizeof(part->comm), task->comm);
	return part;
}

/* A wait for a CPU, or a time on one. */
static __noinline int send_part(struct task_struct *task, struct where_thread *own, __u64 now)
{
	struct where_part *part = begin_part(task, own, now);

	if (part)
		bpf_ringbuf_submit(part, BPF_RB_NO_WAKEUP);
	return 0;
}

/*
 * Ends a wait for a CPU, or a time on one, that began at `since`: `state`. `inside`: surely within
 * the window.
 */
static __always_inline void end_turn(struct task_struct *task, struct where_thread *own,
				     enum where_state state, __u64 since, __u64 now, bool inside)
{
	__u64 ns = now - since;

	if (!inside) {
		ns = in_window(since, now);
	} else if (ns >= account.over_ns) {
		own->since_ns = since;
		own->what = WHERE_WHAT(state, WHERE_NO_CALL);
		send_part(task, own, now);
	}
	own->ns[state] += ns;
}

/* ---- its end ---- */

/*
 * See where_witness.io_ns. Since 6.12 a task that sleeps may stay on its run queue, and the kernel
 * can miss when its sleep began: then its sum is wrong.
 */
static __always_inline void add_io(struct where_witness *to, struct task_struct *task)
{
	struct task_delay_info *delays = NULL;

	if (bpf_core_field_exists(task->delays) &&
	    !bpf_core_field_exists(struct sched_entity___delayed, sched_delayed))
		delays = task->delays;
	if (delays)
		__sync_fetch_and_add(&to->io_ns, delays->blkio_delay);
	else
		__sync_fetch_and_add(&to->no_io, 1);
}

static __always_inline void add_witness(struct where_witness *to, struct task_struct *task)
{
	add_io(to, task);
	__sync_fetch_and_add(&to->run_ns, task->se.sum_exec_runtime);
	__sync_fetch_and_add(&to->queue_ns, task->sched_info.run_delay);
	__sync_fetch_and_add(&to->user_ns, task->utime);
	__sync_fetch_and_add(&to->system_ns, task->stime);
}

static __always_inline struct where_ended *ended_of(struct task_struct *task,
						    const struct where_thread *own)
{
	static const struct where_ended fresh; /* the stack has no room for it */
	struct where_key key = account_key(task, own);
	struct where_ended *found = bpf_map_lookup_elem(&ended, &key);

	if (found)
		return found;
	__sync_fetch_and_add(&account.ended, 1);
	bpf_map_update_elem(&ended, &key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&ended, &key);
}

static __always_inline void keep_parts(struct where_ended *to, struct task_struct *task,
				       struct where_thread *own)
{
	struct where_sleep_key key = { .of = account_key(task, own) };

	for (int i = 0; i < WHERE_SLEEPS && own->sleeps[i].what; i++) {
		give_state(own->ns, &own->sleeps[i]);
		keep_sleep(&key, &own->sleeps[i]);
	}
#pragma unroll
	for (int i = 0; i < WHERE_STATES; i++)
		if (own->ns[i])
			__sync_fetch_and_add(&to->ns[i], own->ns[i]);
}

static __always_inline void free_account(struct where_thread *own)
{
	store_ordered(&own->tid, 0);
	store_ordered(&own->task, 0);
}

/* It has lost its CPU for the last time. Without an account, its life is unknown. */
static __noinline int account_end(struct task_struct *task, __u64 now)
{
	struct where_thread *own = account_of(task);
	__u64 life, begin = task->start_time;
	struct where_ended *sum;

	barrier_var(begin); /* the verifier refuses one load for both */
	if (own) {
		if (own->what == WHERE_ON_CPU)
			own->ns[WHERE_CPU] += in_window(own->since_ns, now);
		else
			turn_unknown(own, WHERE_WHAT(WHERE_UNKNOWN, WHERE_NO_CALL), now);
		if (own->inherits)
			begin = own->begin_ns;
	}
	life = in_window(begin, now);
	if (!life || !account_wanted(task, own))
		goto free;
	sum = ended_of(task, own);
	if (sum) {
		if (own)
			keep_parts(sum, task, own);
		else
			__sync_fetch_and_add(&sum->ns[WHERE_UNKNOWN], life);
		__sync_fetch_and_add(&sum->life_ns, life);
		__sync_fetch_and_add(&sum->threads, 1);
		add_witness(&sum->kernel, task);
		sum->cgroup = task_cgroup(task);
		sum->tgid = task->tgid;
		account_name(sum->comm, task);
	} else {
		__sync_fetch_and_add(&account.lost_ends, 1);
		__sync_fetch_and_add(&account.lost_ns, life);
	}
free:
	if (own)
		free_account(own);
	return 0;
}

/* ---- what happens to a thread ---- */

/* It loses its CPU. `state`: 0 if it stays runnable. */
static __always_inline void account_out(struct where_thread *first, struct task_struct *task,
					__u32 tid, __u32 state, __u64 now)
{
	struct where_thread *own = account_by(first, task, tid);
	__u32 what;

	if (!own)
		return;
	what = state ? sleeps_for(own, task, state) : WHERE_IS_READY;
	if (own->what != WHERE_ON_CPU) {
		turn_unknown(own, what, now);
		return;
	}
	end_turn(task, own, WHERE_CPU, own->since_ns, now, own->since_ns >= account.inside_ns);
	own->since_ns = now;
	own->what = what;
}

/* A sleep ended at `woken`. Returns when the wait for a CPU began. */
static __always_inline __u64 end_sleep(struct task_struct *task, struct where_thread *own,
				       __u64 woken, __u64 now, bool inside)
{
	__u64 since = own->since_ns, ns;

	if (woken < since) /* by another clock */
		woken = since;
	if (woken > now)
		woken = now;
	ns = woken - since;
	if (!inside)
		ns = in_window(since, woken);
	if (ns)
		add_sleep(task, own, ns);
	return woken;
}

/* It gets a CPU. `woken`: when its sleep ended, if it slept; 0: unknown. */
static __always_inline void account_in(struct where_thread *first, struct task_struct *task,
				       __u32 tid, __u64 now, __u64 woken)
{
	struct where_thread *own = account_by(first, task, tid);
	__u64 since;
	bool inside;

	if (!own)
		return;
	since = own->since_ns;
	inside = since >= account.inside_ns;
	if (WHERE_IS_SLEEP(own->what) && woken) {
		since = end_sleep(task, own, woken, now, inside);
	} else if (own->what != WHERE_IS_READY) {
		turn_unknown(own, WHERE_ON_CPU, now);
		return;
	}
	end_turn(task, own, WHERE_READY, since, now, inside);
	own->since_ns = now;
	own->what = WHERE_ON_CPU;
}

/* ---- what the includer's programs call ---- */

#ifdef LATSCOPE_FAULTS
__u64 nr_switches;

/* The fault that tests inject: each thousandth switch is not seen. */
static __always_inline bool misses_switch(void)
{
	return __sync_fetch_and_add(&nr_switches, 1) % 1000 == 999;
}
#else
#define misses_switch() false
#endif

/*
 * At sched_switch, with its context. `state` of prev: 0 if it stays runnable. `woken`: when the
 * sleep of next ended; 0: unknown.
 */
static __always_inline void account_switch(__u64 *ctx, __u32 state, __u64 now, __u64 woken)
{
	struct where_thread *first = account_lines();
	__u32 tid = PREV->pid;

	if (misses_switch() || !first)
		return;
	if (state & TASK_DEAD)
		account_end(PREV, now);
	else if (tid)
		account_out(first, PREV, tid, state, now);
	tid = NEXT->pid;
	if (tid)
		account_in(first, NEXT, tid, now, woken);
}

#endif
