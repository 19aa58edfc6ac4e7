// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run-queue latency: from runnable to running.
 *
 * Two methods, of which user space loads one:
 *   stamps  sched_info.last_queued is the time at which the scheduler enqueued the task, by the run
 *           queue's clock. The end is our own clock at the switch, converted to that clock, because
 *           the run queue's clock stands still from a wakeup to the switch that it causes. If a
 *           task migrates while it waits, the kernel moves the first part into run_delay; so we
 *           keep run_delay as of the last switch-in and add the difference. If the kernel's stamp
 *           is missing or wrong, our own stamp replaces all of that.
 *   tp_btf  wakeup to switch by our own clock, the start in task storage.
 *
 * sched_switch runs under the run-queue lock, so nothing is allocated there: the iterator makes the
 * entries of existing tasks, task_newtask those of new ones (life.bpf.h).
 *
 * What is kept of a task (struct runqlat_task), by method; `tid` and `task` say whose entry it is.
 *
 *   state of the task             stamps                           tp_btf
 *   asleep, or it runs            run_delay and arrivals, as of    nothing
 *                                 the last switch-in
 *   waits                         the same; queued_ns, if an own   queued_ns
 *                                 stamp replaces the kernel's
 *   waits: it lost the CPU on     queued_ns, preempted             queued_ns, preempted
 *   its way to sleep
 *   asleep, and was moved (6.12)  moved                            nothing
 *   waits at the attach, and may  unknown                          nothing
 *   have been moved (6.12)
 *   its wait was in flight at     ended; the start of the wait     ended, queued_ns
 *   the close, and has ended      in queued_ns
 *   its wakeup was requested      request_ns, with metric wakeup   the same
 *
 * Which program changes it, from which state to which, and what it counts:
 *
 *   program             the task                      its entry                  counted
 *   *prime, newtask     exists, or begins             is made
 *   *_exec              gets another ID               is made anew
 *   requested           asleep, or it runs            request_ns = now
 *   stamps_wakeup       asleep to waits, and the      queued_ns = now; without
 *                       stamp is of a move            an entry: in `strays`
 *   stamps_migrate      asleep, is moved              moved = 1
 *   stored_wakeup_*     asleep to waits               queued_ns = now
 *   *_switch, of prev   runs to asleep                queued_ns = 0 (tp_btf)
 *                       runs to waits                 queued_ns = now (stamps:
 *                                                     if the clock is stale);
 *                                                     request_ns = 0
 *                       the same on its way to sleep  queued_ns, preempted       unstamped
 *                       has ended                     is dropped
 *   *_switch, of next   waits to runs                 all but the account is     seen, and one
 *                                                     cleared                    of those below
 *                       the same after the close      ended
 *                       is the idle task                                         idle
 *   *_in_flight         waits at the close            is read                    in flight
 *
 *   A wait that ends is counted under the first of these names that applies, or it is a sample:
 *     filtered      a filter excludes the task or the CPU
 *     map_full      tp_btf: the task has no entry (stamps: partial, and what follows)
 *     missed_start  no stamp is known; stamps: or `unknown`, without an own stamp
 *     unmatched     stamps: without an own stamp, `moved`, or the clock cannot be read
 *     negative      the end is before the start
 *   With stamps, a sample by an own stamp is also a fallback. One after ends that were missed has
 *   them in joined. In metric wakeup it is map_full; excluded, if there was no request: the task
 *   is new, or had lost the CPU; negative; or a sample from request_ns.
 *
 * What is kept of a CPU:
 *
 *   what                      changed by
 *   cells (cpu.bpf.h)         each switch, while the window is open
 *   clock (cpu.bpf.h)         find_stamps finds the place of the reading. A switch reads it again
 *                             after 1 ms; a CPU that was offline, or a suspend, ends it
 *   place: turns, names,      each switch adds the turn that ends; irq_*, softirq_* and hrtimer_*
 *   interrupts (turns.bpf.h,  change what interrupts it; only with --why
 *   interrupts.bpf.h)
 */
#include "count.bpf.h"

#include <probes/kit/account.bpf.h>

#include "life.bpf.h"
#include "sources.bpf.h"
#include "stamps.bpf.h"
#include "task.bpf.h"
#include "why.bpf.h"

/* ---- usual switches ---- */

/* The line of a task of which nothing special is known; else NULL. */
static __always_inline struct runqlat_task *usual_line(struct task_struct *task)
{
	__u32 tid = task->pid;
	struct runqlat_task *line = line_of(tid);

	barrier_var(line); /* else the compiler computes it again for each access */
	return line->task == (__u64)task && line->tid_alone == tid ? line : NULL;
}

/* This CPU, while samples count; else NULL. */
static __always_inline struct runqlat_cpu *armed_cpu(void)
{
	return control.armed ? cpu_here() : NULL;
}

/* ---- metric wakeup, on the methods that have task storage ---- */

/*
 * Runs under the task's pi_lock. The task may be about to sleep on another CPU, so a running task
 * is stamped, too. If it continues, the stamp is dropped when it loses the CPU, or replaced by the
 * next wakeup.
 */
SEC("tp_btf/sched_waking")
int BPF_PROG(requested, struct task_struct *task)
{
	struct runqlat_task *own;

	if (task == bpf_get_current_task_btf())
		return 0; /* continues at once */
	if (task_is_active(task) && !task_runs(task))
		return 0; /* already waits: it was preempted on its way to sleep */
	own = find_own(task);
	if (own)
		own->request_ns = bpf_ktime_get_ns();
	return 0;
}

static __always_inline void end_request(struct lat_cell *cells_of_cpu, struct task_struct *next,
					struct runqlat_task *own, __u64 now)
{
	struct lat_cell *cell = &cells_of_cpu[RUNQLAT_WAKEUP];
	__u64 start = own ? own->request_ns : 0;

	if (own)
		own->request_ns = 0;
	if (!cells_of_cpu)
		return;
	if (!own)
		cell->counts[LAT_MAP_FULL]++;
	else if (!start)
		cell->counts[LAT_EXCLUDED]++; /* is new, or had lost the CPU */
	else if (start > now)
		cell->counts[LAT_NEGATIVE]++;
	else
		record(cell, RUNQLAT_WAKEUP, next, now - start);
}

/* ---- stamps ---- */

#define OFFSET_STEP_NS 10000 /* where_control.offset_ns is so exact */

/*
 * The kernel stamps each task that it moves to another run queue as if it waited there. A sleeping
 * task does not wait: the stamp stays until the task gets a CPU, and further moves add the time
 * between them to run_delay. If no program sees the wakeup, the sample is dropped.
 */
static __always_inline int check_move(struct task_struct *task)
{
	struct runqlat_task *own;

	if (!task_delayed(task))
		return 0;
	own = find_own(task);
	if (own)
		own->moved = 1;
	return 0;
}

SEC("tp_btf/sched_migrate_task")
int BPF_PROG(stamps_migrate, struct task_struct *task)
{
	return check_move(task);
}

/* The same with --why, on all kernels. */
SEC("tp_btf/sched_migrate_task")
int BPF_PROG(stamps_migrate_why, struct task_struct *task)
{
	if (task_is_active(task))
		note_move(task);
	return stamps_deceive() ? check_move(task) : 0;
}

static __noinline int stamp_woken(struct task_struct *task)
{
	struct runqlat_task *own = find_own(task);
	__u64 now = bpf_ktime_get_ns();
	__u32 tid = task->pid;

	if (!own) {
		if (bpf_map_update_elem(&strays, &tid, &now, BPF_ANY))
			strays_lost = 1;
	} else if (!own->preempted && !own->ended) {
		own->queued_ns = now;
	}
	return 0;
}

/*
 * The kernel has just stamped the task that wakes up, so the stamp equals the run queue's clock.
 * Otherwise the stamp comes from a move during its sleep. Then our own stamp replaces the kernel's
 * stamp, and what the kernel has added for this wait.
 */
static __always_inline int check_stamp(struct task_struct *task, __u64 queued)
{
	if (queued && queued != queue_clock(task))
		stamp_woken(task);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(stamps_wakeup, struct task_struct *task)
{
	return check_stamp(task, task->sched_info.last_queued);
}

/* The same with --why, on all kernels. */
SEC("tp_btf/sched_wakeup")
int BPF_PROG(stamps_wakeup_why, struct task_struct *task)
{
	__u64 queued = task->sched_info.last_queued;

	begin_quota(task, NULL);
	return stamps_deceive() ? check_stamp(task, queued) : 0;
}

/* When the wait began, by our own clock. Too early if ends of earlier waits were missed. */
static __always_inline __u64 began_at(const struct wait *wait)
{
	__u64 last = wait->kernel_ns;

	if (wait->own_start)
		return wait->own_start;
	if (wait->queued && wait->now > wait->queued)
		last = wait->now - wait->queued;
	return wait->own_now - wait->before - last;
}

/*
 * Reads the wait of `next` that ends, by the kernel's stamp and both clocks. Returns the clock of
 * the run queue.
 */
static __always_inline __u64 read_wait(struct wait *wait, struct task_struct *next, __u64 own_now)
{
	__u64 stale = queue_clock(next);

	wait->own_now = own_now;
	wait->now = scheduler_clock(wait->own_now, stale);
	wait->queued = next->sched_info.last_queued;
	/* The kernel adds exactly this right after us. */
	wait->kernel_ns = wait->queued && stale > wait->queued ? stale - wait->queued : 0;
	return stale;
}

/*
 * A wait ends after the close: if it was in flight then, keeps its start for the iterator. Returns
 * when it began; 0: unknown.
 */
static __always_inline __u64 stamps_keep(struct task_struct *next)
{
	struct runqlat_task *own = next->pid ? find_own(next) : NULL;
	struct wait wait = {};
	__u64 began;

	if (!own)
		return 0;
	read_wait(&wait, next, bpf_ktime_get_ns());
	if (own->ended)
		return wait.queued ? began_at(&wait) : 0;
	take_wait(&wait, own, &next->sched_info);
	if (wait.unseen) { /* these are of earlier waits */
		wait.before = 0;
		if (wait.queued)
			wait.own_start = 0;
	}
	began = began_at(&wait);
	if (began >= control.closed_ns)
		return began;
	if (wait.own_start || !(wait.unknown || wait.moved))
		own->queued_ns = began;
	own->unknown = wait.unknown;
	own->moved = wait.moved;
	*(volatile __u8 *)&own->ended = 1; /* last, as the iterator may read meanwhile */
	return began;
}

/*
 * May the kernel have added `before` before the window opened? It is unknown when if the task was
 * moved in its sleep, or if ends of earlier waits were missed. Global, so that the verifier does
 * not follow both answers to the end.
 */
__noinline int added_early(const struct wait *wait)
{
	return wait && (__s64)wait->before > 0 &&
	       (wait->moved || wait->unseen || began_at(wait) < control.opened_ns);
}

/* The same as began_at(), if it is known. */
static __always_inline __u64 wait_began(const struct wait *wait)
{
	if (wait->unseen || wait->unknown || (!wait->own_start && (wait->moved || !wait->queued)))
		return 0;
	return began_at(wait);
}

/*
 * `own_now`: the time, or 0 if nobody has read it. Returns when the wait began, by our own clock;
 * 0: unknown.
 */
static __noinline __u64 stamps_switch_any(__u64 *ctx, struct task_struct *prev,
					  struct task_struct *next, __u64 own_now)
{
	__u32 state = ctx[0] ? 0 : task_state(prev); /* ctx[0]: preempted */
	bool queues = prev->pid && !state;
	struct slow slow = { .victim = next, .prev = prev };
	struct wait wait = {};
	struct runqlat_task *own;
	struct lat_cell *cell;
	__u64 stale;

	if (control.closed_ns)
		return stamps_keep(next);
	if (state & TASK_DEAD)
		drop_own(prev);
	if (!queues && !next->pid) {
		note_turn(prev, next, queue_clock(next));
		count_switch(LAT_IDLE);
		return 0;
	}
	stale = read_wait(&wait, next, own_now ? own_now : bpf_ktime_get_ns());
	note_turn(prev, next, wait.now ? wait.now : stale);
	if (queues)
		stamps_out(prev, wait.own_now, wait.now ? wait.now - stale : 0);
	if (!next->pid) {
		count_switch(LAT_IDLE);
		return 0;
	}
	own = find_own(next);
	if (own)
		take_wait(&wait, own, &next->sched_info);
	cell = seen(next, wait.moved || wait.unknown ? 0 : wait.before + wait.kernel_ns);
	if (!own)
		guess_wait(&wait, cell, next->pid);
	if (wakeups_wanted())
		end_request(cell, next, own, wait.own_now);
	if (!cell)
		return wait_began(&wait);
	cell->counts[LAT_KERNEL_NS] += wait.before + wait.kernel_ns;
	if (added_early(&wait))
		cell->counts[LAT_EARLY_NS] += wait.before;
	record_wait(cell, next, &wait, &slow);
	if (config.why && slow.ns) {
		slow.own = own;
		slow.now = wait.now;
		slow.end_ns = wait.own_now;
		explain(ctx, &slow);
	}
	return wait_began(&wait);
}

/*
 * The task that loses the CPU: it sleeps, is preempted or is the idle task; otherwise returns
 * false. If it is preempted, `stamp` says whether it needs our own stamp.
 */
static __always_inline bool stamps_out_usual(__u64 *ctx, bool stamp, __u64 now, __u32 *state)
{
	struct runqlat_task *own;

	*state = task_state(PREV);
	if (*state)
		return !(*state & TASK_DEAD) && !ctx[0];
	if (!stamp || !PREV->pid)
		return true;
	own = usual_line(PREV);
	if (own)
		own->queued_ns = now;
	return own;
}

/*
 * The usual switch, in as few instructions as possible: the kernel has stamped the wait that ends,
 * and the task that loses the CPU sleeps, is preempted or is the idle task. Returns false, and has
 * changed nothing, if anything else is the case: then stamps_switch_any() counts.
 */
static __always_inline bool stamps_switch_usual(__u64 *ctx, __u64 own_now, __u64 *began,
						__u32 *state)
{
	struct runqlat_task *own = usual_line(NEXT);
	__u64 stale, now, queued, arrivals, delay, start, ns;
	struct runqlat_cpu *here;
	struct lat_cell *cell;

	if (!own)
		return false;
	if (!own_now)
		own_now = bpf_ktime_get_ns();
	here = armed_cpu();
	if (!here || own_now - here->clock.at_ns > OFFSET_AGE_NS)
		return false;
	now = own_now - here->clock.offset_ns;
	stale = queue_clock(NEXT);
	queued = NEXT->sched_info.last_queued;
	if ((__s64)(now - stale) < 0 || stale < queued || !queued)
		return false;
	arrivals = own->arrivals;
	if (NEXT->sched_info.pcount != arrivals)
		return false;
	delay = NEXT->sched_info.run_delay - own->run_delay;
	start = own->queued_ns;
	ns = start ? own_now - start : delay + now - queued;
	if ((__s64)ns < 0 || (delay && own_now - ns < control.opened_ns) ||
	    !stamps_out_usual(ctx, now - stale >= STALE_NS, own_now, state))
		return false;

	cell = &here->metrics[RUNQLAT_RUN_QUEUE];
	if (start) {
		own->queued_ns = 0;
		cell->counts[LAT_FALLBACK]++;
		cell->counts[LAT_FALLBACK_NS] += ns;
	}
	own->arrivals = arrivals + 1;
	delay += stale - queued; /* as the kernel will have counted */
	own->run_delay += delay;
	cell->counts[LAT_KERNEL_NS] += delay;
	cell->counts[LAT_SEEN]++;
	record(cell, RUNQLAT_RUN_QUEUE, NEXT, ns);
	*began = own_now - ns;
	return true;
}

/*
 * For the readers of the account, who meet waits that have not ended: what CLOCK_MONOTONIC is more
 * than the scheduler's clock. All CPUs read it, so it is seldom written.
 */
static __always_inline void tell_offset(void)
{
	struct runqlat_cpu *here = cpu_here();
	__u64 offset = here && here->clock.at_ns ? here->clock.offset_ns : account.offset_ns;

	if (offset - account.offset_ns + OFFSET_STEP_NS > 2 * OFFSET_STEP_NS)
		account.offset_ns = offset;
}

/* The end of a sleep is the beginning of the wait. Offsets are read in unusual switches. */
static __always_inline void switch_of_account(__u64 *ctx)
{
	__u64 now = bpf_ktime_get_ns(), woken = 0;
	__u32 state = 0;

	if (!stamps_switch_usual(ctx, now, &woken, &state)) {
		woken = stamps_switch_any(ctx, PREV, NEXT, now);
		state = ctx[0] ? 0 : task_state(PREV);
		tell_offset();
	}
	account_switch(ctx, state, now, woken);
}

/* Not on the stack of stamps_switch(): with --why, its callees need most of that. */
static __noinline int account_any(__u64 *ctx, __u64 now, __u64 woken)
{
	tell_offset();
	account_switch(ctx, ctx[0] ? 0 : task_state(PREV), now, woken);
	return 0;
}

SEC("tp_btf/sched_switch")
int stamps_switch(__u64 *ctx)
{
	__u64 woken, now;
	__u32 state;

	if (!hosts_account) {
		if (!plain || !stamps_switch_usual(ctx, 0, &woken, &state))
			stamps_switch_any(ctx, PREV, NEXT, 0);
	} else if (plain) {
		switch_of_account(ctx);
	} else {
		now = bpf_ktime_get_ns();
		account_any(ctx, now, stamps_switch_any(ctx, PREV, NEXT, now));
	}
	return 0;
}

/* What the kernel has added to run_delay when the task migrated in the wait that is in flight. */
static __always_inline __u64 moved_before(struct task_struct *task, const struct runqlat_task *own)
{
	if (!own || own->arrivals != task->sched_info.pcount)
		return 0; /* unknown, or it includes earlier waits */
	return task->sched_info.run_delay - own->run_delay;
}

/* Counts a wait that began at `start`, by our own clock, if the window was open then. */
static __always_inline void count_until_close(__u64 start)
{
	if (start < control.closed_ns)
		count_in_flight(&waits_in_flight, start, control.closed_ns);
}

/* The same for a wait since the kernel's stamp `queued`. */
static __always_inline void count_since_stamp(struct task_struct *task, __u64 queued,
					      const struct runqlat_task *own)
{
	struct runqlat_clock *clock = other_clock(bpf_ktime_get_ns());

	queued -= moved_before(task, own);
	if (clock)
		count_until_close(queued + clock->offset_ns);
	else
		count_in_flight(&waits_in_flight, queued, queue_clock(task));
}

/* Do the filters accept a wait in flight, in the queue where it is? */
static __always_inline bool waits_where_wanted(struct task_struct *task)
{
	if (config.cpus && !cpu_wanted(&config, untrusted(task)->se.cfs_rq->rq->cpu))
		return false;
	return task_wanted(&config, task);
}

/* Runs once, when the window has closed: counts the waits in flight at the close, and their age. */
SEC("iter/task")
int stamps_in_flight(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct runqlat_task *own;
	__u64 queued, own_start;
	bool ended;

	if (!task || !task->pid)
		return 0;
	queued = *(volatile __u64 *)&task->sched_info.last_queued;
	own = find_own(task);
	ended = own && *(volatile __u8 *)&own->ended;
	/* A task that was moved during its sleep has a stamp, too. */
	if (!ended && !task_is_active(task))
		return 0;
	own_start = own ? *(volatile __u64 *)&own->queued_ns : 0;
	if (!queued && !own_start && !ended)
		return 0;
	if (!waits_where_wanted(task))
		return 0;
	if (own_start)
		count_until_close(own_start);
	else if (own && own->unknown)
		count_in_flight_before(&waits_in_flight, 1, attached_ns, control.closed_ns);
	else if (own && own->moved) /* it is unknown since when it is runnable */
		count_in_flight(&waits_in_flight, control.closed_ns, control.closed_ns);
	else if (queued)
		count_since_stamp(task, queued, own);
	note_oldest(&oldest_in_flight, waits_in_flight.oldest_ns, task);
	return 0;
}

/* ---- tp_btf ---- */

static __always_inline int stored_wakeup(struct task_struct *task)
{
	struct runqlat_task *own;

	if (control.closed_ns || task_runs(task))
		return 0;
	own = find_own(task);
	if (own && !own->preempted)
		own->queued_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(stored_wakeup_old, struct task_struct *task)
{
	return stored_wakeup(task);
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(stored_wakeup_new, struct task_struct *task)
{
	return stored_wakeup(task);
}

/* Counts the end of a wait by our own clock; `queued_ns` is 0 if no start was seen. */
static __always_inline void record_since(struct lat_cell *cell, struct task_struct *next,
					 __u64 queued_ns, __u64 now)
{
	if (!queued_ns)
		cell->counts[LAT_MISSED_START]++;
	else if (queued_ns > now)
		cell->counts[LAT_NEGATIVE]++;
	else
		record(cell, RUNQLAT_RUN_QUEUE, next, now - queued_ns);
}

static __always_inline void stored_out(struct task_struct *prev, bool preempt, __u64 now)
{
	struct runqlat_task *own = find_own(prev);
	__u32 state = task_state(prev);
	bool asleep = state;

	if (preempt && asleep)
		count_switch(LAT_UNSTAMPED);
	if (!preempt && state & TASK_DEAD) {
		drop_own(prev);
		return;
	}
	if (!own)
		return;
	own->preempted = preempt && asleep;
	own->queued_ns = preempt || !asleep ? now : 0;
	if (own->queued_ns)
		own->request_ns = 0; /* as in stamps_out() */
}

/* As stamps_keep(). */
static __always_inline int stored_keep(struct task_struct *next)
{
	struct runqlat_task *own = find_own(next);

	if (own && own->queued_ns)
		own->ended = 1;
	return 0;
}

static __noinline int stored_switch_any(bool preempt, struct task_struct *prev,
					struct task_struct *next)
{
	__u64 now = bpf_ktime_get_ns(), queued;
	struct runqlat_task *own;
	struct lat_cell *cell;

	if (control.closed_ns)
		return stored_keep(next);
	if (prev->pid)
		stored_out(prev, preempt, now);
	if (!next->pid)
		return count_switch(LAT_IDLE);
	own = find_own(next);
	queued = own ? own->queued_ns : 0;
	cell = seen(next, queued ? now - queued : 0);
	if (wakeups_wanted())
		end_request(cell, next, own, now);
	if (!own) {
		if (cell)
			cell->counts[LAT_MAP_FULL]++;
		return 0;
	}
	own->queued_ns = 0;
	own->preempted = 0;
	if (cell)
		record_since(cell, next, queued, now);
	return 0;
}

/* As stamps_out_usual(), but deletes the stamp of a task that sleeps. */
static __always_inline bool stored_out_usual(__u64 *ctx, __u64 now)
{
	struct runqlat_task *own = usual_line(PREV);
	__u32 state = task_state(PREV);

	if (!own)
		return !PREV->pid;
	if (state && (state & TASK_DEAD || ctx[0]))
		return false;
	own->queued_ns = state ? 0 : now;
	return true;
}

/* As stamps_switch_usual(). */
static __always_inline bool stored_switch_usual(__u64 *ctx)
{
	struct runqlat_task *own = usual_line(NEXT);
	struct runqlat_cpu *here;
	__u64 now, queued;

	if (!own)
		return false;
	now = bpf_ktime_get_ns();
	here = armed_cpu();
	queued = own->queued_ns;
	if (!here || !queued || queued > now || !stored_out_usual(ctx, now))
		return false;
	own->queued_ns = 0;
	here->metrics[RUNQLAT_RUN_QUEUE].counts[LAT_SEEN]++;
	record(&here->metrics[RUNQLAT_RUN_QUEUE], RUNQLAT_RUN_QUEUE, NEXT, now - queued);
	return true;
}

SEC("tp_btf/sched_switch")
int stored_switch(__u64 *ctx)
{
	if (plain && stored_switch_usual(ctx))
		return 0;
	return stored_switch_any(ctx[0], PREV, NEXT);
}

SEC("iter/task")
int stored_in_flight(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct runqlat_task *own;
	__u64 queued;
	bool runs;

	if (!task || !task->pid || !waits_where_wanted(task))
		return 0;
	runs = task_runs(task); /* before `ended`, which is set when it gets a CPU */
	own = find_own(task);
	queued = own ? *(volatile __u64 *)&own->queued_ns : 0;
	if (!queued || (runs && !*(volatile __u8 *)&own->ended))
		return 0;
	count_until_close(queued);
	note_oldest(&oldest_in_flight, waits_in_flight.oldest_ns, task);
	return 0;
}

SEC("raw_tp/task_rename")
int BPF_PROG(renamed, struct task_struct *task, const char *comm)
{
	const struct split split = { &keys, &owners, &rows, &light, &control, &config };

	if (config.why)
		__sync_fetch_and_add(&names_changed, 1);
	split_rename(&split, RUNQLAT_METRICS, task, comm);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
