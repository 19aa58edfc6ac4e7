/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A simulated scheduler: threads, CPUs, and the stamps and clocks that kernel/sched/core.c and
 * stats.h make. It keeps an account of each wait for a CPU by true time. Included by one file,
 * after tests/bpf/host/kernel.h; that file defines what is only declared here.
 */
#ifndef LATSCOPE_TESTS_SCHEDULER_H
#define LATSCOPE_TESTS_SCHEDULER_H

#define CPUS 3
#define THREADS 12
#define CLOCK_BEGAN_NS (1ULL << 39) /* the scheduler's clock was 0 then */
#define ASLEEP_STATE 1
#define MOVING 2 /* on_rq: TASK_ON_RQ_MIGRATING */

enum status { FREE, NEW, ASLEEP, WAITS, RUNS, ZOMBIE };

/* By true time. "Seen" is what the programs saw. */
struct account {
	/* When its wait began, or its last one: at the earliest and the latest to be measured. */
	__u64 earliest, latest;
	__u64 stamped; /* the same by the kernel's stamp */
	__u64 asked; /* when its wakeup was requested; 0: it was not */
	bool sure; /* it was known from the beginning of the wait */
	bool on_way; /* it was preempted on its way to sleep */
	/* Waits since it was last seen to get a CPU of which the end was not seen. */
	__u64 unseen_first, unseen_ns;
	__u32 unseen;
	bool unseen_on_way;
	__u64 run_delay; /* the kernel's sum when it was last seen to get a CPU */
	bool begun_anew; /* it has got another ID since */
	__u64 least_ns, most_ns, recorded_ns, lost_ns; /* of all waits */
};

struct thread {
	struct task_struct kernel; /* first: the two have one address */
	enum status status;
	__u64 number; /* no other one has the same */
	__u32 cpu;
	bool exits; /* it runs for the last time */
	bool released; /* another one may have its ID */
	int exec_from; /* its ID before it executed a program, until the kernel says so */
	bool hidden; /* no iterator shows it */
	bool known; /* the programs have seen it begin, or an iterator has shown it */
	struct account account;
};

static struct cpu {
	struct rq rq;
	struct thread idle, *runs;
	bool skips_update; /* of its clock, at the next switch */
	__u64 ahead_ns; /* its clock */
	/*
	 * The programs read `sched_delayed` in the first byte of `se`, where a pointer to a queue
	 * is here. Only the address of the second queue has a low byte other than 0.
	 */
	struct cfs_rq queues[2] __attribute__((aligned(256)));
} cpus[CPUS];

static struct thread threads[THREADS];

/* How the kernel is. */
static struct {
	bool delays; /* 6.12 and later: a task that sleeps may stay on its run queue */
	bool scripted; /* the first thread is picked; a random one otherwise */
	bool traces; /* prints each event */
	bool calm; /* no task ends or gets another ID */
} scheduler;

enum event { SWITCH, WAKING, WAKEUP, WAKEUP_NEW, MIGRATE, NEWTASK, EXEC, EVENTS };

static int (*programs[EVENTS])(__u64 *); /* NULL: none is attached */

/* Does the kernel run no program now? */
static bool is_skipped(enum event event);
/* Runs the program for a switch, before the kernel's account of it; returns whether one was run. */
static bool tell_switch(__u32 on, bool preempt, struct thread *prev, struct thread *next);
/* After that. */
static void switched(__u32 on, struct thread *next, bool seen);
/* The memory of a thread becomes free. */
static void forget(struct thread *thread);

/* The number of a thread; -1: it is none. */
static int name_of(__u64 address)
{
	bool is_one = address >= (__u64)threads && address < (__u64)(threads + THREADS);

	return is_one ? (int)((struct thread *)address - threads) : -1;
}

/* Returns whether a program was run. */
static bool tell(enum event event, __u32 on, __u64 first, __u64 second, __u64 third)
{
	__u64 arguments[] = { first, second, third };

	if (scheduler.traces)
		printf("# %llu CPU %u: event %d: %d, %d, %d\n", now_ns, on, event, name_of(first),
		       name_of(second), name_of(third));
	if (!programs[event] || is_skipped(event))
		return false;
	current_cpu = on;
	current = &cpus[on].runs->kernel;
	programs[event](arguments);
	return true;
}

/* ---- the kernel's clocks and stamps ---- */

static __u64 sched_clock_on(__u32 on)
{
	return now_ns - CLOCK_BEGAN_NS + cpus[on].ahead_ns;
}

static void update_clock(__u32 on)
{
	cpus[on].rq.clock = sched_clock_on(on);
}

static void info_enqueue(struct thread *thread)
{
	struct sched_info *info = &thread->kernel.sched_info;

	if (!info->last_queued)
		info->last_queued = cpus[thread->cpu].rq.clock;
}

/* Also when it gets a CPU. */
static void info_dequeue(struct thread *thread, bool arrives)
{
	struct sched_info *info = &thread->kernel.sched_info;

	if (!info->last_queued)
		return;
	info->run_delay += cpus[thread->cpu].rq.clock - info->last_queued;
	info->last_queued = 0;
	if (!arrives)
		return;
	info->last_arrival = cpus[thread->cpu].rq.clock;
	info->pcount++;
}

static void set_place(struct thread *thread, __u32 on, bool delayed)
{
	thread->cpu = on;
	thread->kernel.se.cfs_rq = &cpus[on].queues[delayed];
}

/* ---- the account ---- */

static void begin_wait(struct thread *thread, __u64 earliest)
{
	struct account *account = &thread->account;

	account->earliest = account->stamped = earliest;
	account->latest = now_ns;
	account->sure = thread->known && !thread->exec_from;
	account->on_way = false;
}

/* It loses its CPU and can go on. A stamp may be too early by less than 1 us. */
static void begin_wait_of_loser(struct thread *thread, __u64 stale_ns)
{
	begin_wait(thread, now_ns - (stale_ns < 1000 ? stale_ns : 0));
	thread->account.stamped = now_ns - stale_ns;
	thread->account.on_way = thread->kernel.__state;
	thread->account.asked = 0;
}

/* ---- switches ---- */

static struct thread *pick(__u32 on, struct thread *prev)
{
	__u32 from = scheduler.scripted ? 0 : below(THREADS);
	struct thread *thread;

	for (__u32 i = 0; i < THREADS; i++) {
		thread = &threads[(from + i) % THREADS];
		if (thread != prev && thread->status == WAITS && thread->cpu == on)
			return thread;
	}
	return prev->status == WAITS ? prev : &cpus[on].idle;
}

static bool of_same_process(const struct thread *a, const struct thread *b)
{
	return a != b && a->status != FREE && a->kernel.tgid == b->kernel.tgid;
}

/* Its process; a leader whose threads live on stays a zombie. */
static void reap(struct thread *thread)
{
	struct thread *leader = NULL;
	bool last = true;

	for (__u32 i = 0; i < THREADS; i++) {
		if (!of_same_process(&threads[i], thread))
			continue;
		if (threads[i].status == ZOMBIE)
			leader = &threads[i];
		else
			last = false;
	}
	if (thread->kernel.pid == thread->kernel.tgid && !last) {
		thread->status = ZOMBIE;
		return;
	}
	thread->status = FREE;
	forget(thread);
	if (leader && last)
		reap(leader);
}

/* What __schedule() does with the task that has the CPU. */
static void leave(struct thread *prev, bool preempt)
{
	__u32 state = prev->kernel.__state;
	bool delayed;

	prev->status = WAITS;
	if (preempt || !state)
		return;
	prev->status = ASLEEP;
	info_dequeue(prev, false);
	delayed = !(state & TASK_DEAD) && scheduler.delays && (scheduler.scripted || one_in(2));
	set_place(prev, prev->cpu, delayed);
	prev->kernel.on_rq = delayed;
}

static void schedule(__u32 on, bool preempt)
{
	struct cpu *cpu = &cpus[on];
	struct thread *prev = cpu->runs, *next;
	bool seen;

	if (!cpu->skips_update)
		update_clock(on);
	cpu->skips_update = false;
	if (prev != &cpu->idle)
		leave(prev, preempt);
	next = pick(on, prev);
	if (next == prev) {
		if (prev != &cpu->idle)
			prev->status = RUNS;
		return;
	}
	if (prev->status == WAITS)
		begin_wait_of_loser(prev, sched_clock_on(on) - cpu->rq.clock);
	seen = tell_switch(on, preempt && prev != &cpu->idle, prev, next);
	if (prev->status == WAITS && !prev->kernel.__state)
		info_enqueue(prev);
	info_dequeue(next, true);
	prev->kernel.on_cpu = 0;
	next->kernel.on_cpu = 1;
	if (next != &cpu->idle)
		next->status = RUNS;
	cpu->runs = next;
	switched(on, next, seen);
	if (prev->kernel.__state & TASK_DEAD && prev->status == ASLEEP)
		reap(prev);
}

/* ---- wakeups and moves ---- */

static void ask(struct thread *thread, __u32 from)
{
	if (thread->status == ASLEEP || (thread->status == RUNS && thread != cpus[from].runs))
		thread->account.asked = now_ns;
	tell(WAKING, from, (__u64)&thread->kernel, 0, 0);
}

/* The rest of try_to_wake_up(): the tracepoint is `late_ns` after the stamp. */
static void wake(struct thread *thread, __u32 from, __u32 to, __u64 late_ns)
{
	bool slept = thread->status == ASLEEP;

	if (slept && !thread->kernel.on_rq && to != thread->cpu) {
		tell(MIGRATE, from, (__u64)&thread->kernel, to, 0);
		set_place(thread, to, false);
	}
	update_clock(thread->cpu);
	if (slept) {
		info_enqueue(thread);
		set_place(thread, thread->cpu, false);
		thread->kernel.on_rq = 1;
		thread->status = WAITS;
		begin_wait(thread, now_ns);
		now_ns += late_ns;
		thread->account.latest = now_ns;
	}
	thread->kernel.__state = 0;
	tell(WAKEUP, from, (__u64)&thread->kernel, 0, 0);
}

/* A task that waits, or sleeps on its run queue, gets another one. */
static void move(struct thread *thread, __u32 from, __u32 to)
{
	bool delayed = thread->kernel.se.cfs_rq != &cpus[thread->cpu].queues[0];

	update_clock(thread->cpu);
	thread->kernel.on_rq = MOVING;
	info_dequeue(thread, false);
	tell(MIGRATE, from, (__u64)&thread->kernel, to, 0);
	set_place(thread, to, delayed);
	update_clock(to);
	info_enqueue(thread);
	thread->kernel.on_rq = 1;
}

/* ---- threads begin and end ---- */

static __u64 made;

static void make_thread(struct thread *thread, int tid, struct thread *parent, bool is_process)
{
	struct task_struct *leader = parent ? parent->kernel.group_leader : NULL;

	memset(thread, 0, sizeof(*thread));
	if (is_process || !leader)
		leader = &thread->kernel;
	thread->kernel.pid = tid;
	thread->kernel.tgid = leader == &thread->kernel ? tid : leader->tgid;
	thread->kernel.group_leader = leader;
	thread->status = NEW;
	thread->number = ++made;
	thread->account.earliest = now_ns;
	set_place(thread, 0, false);
}

static void wake_new(struct thread *thread, __u32 from, __u32 to)
{
	set_place(thread, to, false);
	update_clock(to);
	info_enqueue(thread);
	thread->kernel.on_rq = 1;
	thread->status = WAITS;
	begin_wait(thread, now_ns);
	tell(WAKEUP_NEW, from, (__u64)&thread->kernel, 0, 0);
}

/* Its new thread waits for a CPU. */
static void fork_thread(__u32 on, struct thread *thread, int tid, bool is_process, __u32 to)
{
	make_thread(thread, tid, cpus[on].runs, is_process);
	thread->known = tell(NEWTASK, on, (__u64)&thread->kernel, 0, 0);
	wake_new(thread, on, to);
}

/* The last thread of its process executes a program: it takes the ID of the leader, which ends. */
static void take_id(struct thread *thread)
{
	struct thread *leader = (struct thread *)thread->kernel.group_leader;

	thread->exec_from = thread->kernel.pid;
	thread->kernel.pid = leader->kernel.pid;
	thread->kernel.group_leader = &thread->kernel;
	leader->kernel.pid = thread->exec_from;
	leader->kernel.group_leader = &thread->kernel;
	leader->released = true;
	leader->known = leader->account.sure = false;
	leader->account.begun_anew = thread->account.begun_anew = true;
	if (leader->status == ZOMBIE)
		reap(leader);
}

static void finish_exec(struct thread *thread)
{
	if (tell(EXEC, thread->cpu, (__u64)&thread->kernel, thread->exec_from, 0))
		thread->known = thread->account.begun_anew = true;
	thread->exec_from = 0;
}

/* ---- random acts ---- */

static struct thread *random_thread(bool (*wanted)(const struct thread *thread))
{
	__u32 from = below(THREADS);

	for (__u32 i = 0; i < THREADS; i++)
		if (wanted(&threads[(from + i) % THREADS]))
			return &threads[(from + i) % THREADS];
	return NULL;
}

static bool is_free(const struct thread *thread)
{
	return thread->status == FREE;
}

static bool can_be_woken(const struct thread *thread)
{
	return thread->status == ASLEEP ||
	       ((thread->status == RUNS || thread->status == WAITS) && thread->kernel.__state);
}

static bool can_move(const struct thread *thread)
{
	return thread->status == WAITS || (thread->status == ASLEEP && thread->kernel.on_rq);
}

static bool is_on_queue_asleep(const struct thread *thread)
{
	return thread->status == ASLEEP && thread->kernel.on_rq;
}

/* An ID that is free. Several threads have one place in the array of the programs. */
static int random_tid(void)
{
	int tid = (int)(1 + below(6) + RUNQLAT_LINES * below(3));

	for (__u32 i = 0; i < THREADS; i++)
		if (threads[i].status != FREE && !threads[i].released &&
		    threads[i].kernel.pid == tid)
			return random_tid();
	return tid;
}

static void act_wakeup(void)
{
	struct thread *thread = random_thread(can_be_woken);
	__u32 from = below(CPUS);

	if (!thread)
		return;
	ask(thread, from);
	wake(thread, from, below(CPUS), one_in(2) ? 0 : below(5000));
	cpus[thread->cpu].skips_update |= one_in(2);
}

static void act_fork(__u32 on)
{
	struct thread *thread = random_thread(is_free);

	if (!thread || !cpus[on].runs->kernel.pid || cpus[on].runs->exits)
		return;
	fork_thread(on, thread, random_tid(), one_in(2), below(CPUS));
	cpus[thread->cpu].skips_update |= one_in(2);
}

/* With a wakeup that was requested before the task slept, and is carried out after that. */
static void act_sleep(__u32 on)
{
	struct thread *thread = cpus[on].runs;
	bool woken = thread->kernel.pid && !thread->exits && one_in(6);

	if (thread->kernel.pid)
		thread->kernel.__state = thread->exits ? TASK_DEAD : ASLEEP_STATE;
	if (woken)
		ask(thread, (on + 1) % CPUS);
	schedule(on, false);
	if (woken)
		wake(thread, (on + 1) % CPUS, below(CPUS), 0);
}

static bool is_last_of_process(const struct thread *thread)
{
	for (__u32 i = 0; i < THREADS; i++)
		if (of_same_process(&threads[i], thread) && threads[i].status != ZOMBIE &&
		    !threads[i].exits)
			return false;
	return true;
}

/* It begins its end: from then on another task may have its ID. */
static void act_exit(__u32 on)
{
	struct thread *thread = cpus[on].runs;

	if (!thread->kernel.pid || thread->exits || thread->exec_from)
		return;
	thread->exits = true;
	thread->kernel.__state = 0;
	if (one_in(2) && (thread->kernel.pid != thread->kernel.tgid || is_last_of_process(thread)))
		thread->released = true;
}

static void act_exec(__u32 on)
{
	struct thread *thread = cpus[on].runs;

	if (!thread->kernel.pid || thread->exits)
		return;
	if (thread->exec_from)
		finish_exec(thread);
	else if (thread->kernel.pid != thread->kernel.tgid && is_last_of_process(thread) &&
		 of_same_process((struct thread *)thread->kernel.group_leader, thread))
		take_id(thread);
}

static void act_move(void)
{
	struct thread *thread = random_thread(can_move);

	if (!thread)
		return;
	move(thread, below(CPUS), (thread->cpu + 1 + below(CPUS - 1)) % CPUS);
	now_ns++; /* a stamp of that time is of no wakeup */
}

static void act(void)
{
	__u32 on = below(CPUS), what = below(24);
	struct thread *runs = cpus[on].runs, *sleeper;

	if (what < 6)
		act_wakeup();
	else if (what < 10)
		act_sleep(on);
	else if (what < 11 && runs->kernel.pid && !runs->exits)
		runs->kernel.__state = ASLEEP_STATE;
	else if (what < 15)
		schedule(on, true);
	else if (what < 16)
		schedule(on, false);
	else if (what < 19)
		act_move();
	else if (what < 20)
		act_fork(on);
	else if (what < 21 && !scheduler.calm)
		act_exec(on);
	else if (what < 22 && !scheduler.calm && one_in(3))
		act_exit(on);
	else if (what < 23)
		update_clock(on);
	else if ((sleeper = random_thread(is_on_queue_asleep))) {
		/* The CPU has picked it. */
		set_place(sleeper, sleeper->cpu, false);
		sleeper->kernel.on_rq = 0;
	}
}

static void begin_scheduler(void)
{
	memset(threads, 0, sizeof(threads));
	memset(cpus, 0, sizeof(cpus));
	memset(programs, 0, sizeof(programs));
	for (__u32 on = 0; on < CPUS; on++) {
		cpus[on].queues[0].rq = cpus[on].queues[1].rq = &cpus[on].rq;
		cpus[on].idle.kernel.se.cfs_rq = &cpus[on].queues[0];
		cpus[on].idle.kernel.on_cpu = 1;
		cpus[on].idle.cpu = on;
		cpus[on].runs = &cpus[on].idle;
	}
}

#endif
