// SPDX-License-Identifier: BSD-2-Clause
/*
 * Runqlat counts each wait for a CPU once and in full, by its straight paths as by its general
 * functions. A simulated scheduler (scheduler.h) runs the programs for random schedules of a seed,
 * before and after their attach, and keeps an account of its own. Each switch is compared with it.
 *
 * LATSCOPE_SEED=N tries one seed and prints its events.
 */
#include "switches.h"

/* ---- a run ---- */

static void begin_run(__u64 seed, bool usual)
{
	static __u64 tails[] = { 1000, 8000, 1000000 };
	struct lat_config chosen = { .rows = ROWS };
	enum method method;

	random_begin(seed);
	method = below(METHODS);
	chosen.tail_ns = tails[below(3)];
	chosen.first_rows = one_in(3) ? 3 : ROWS;
	chosen.by = one_in(2) ? 0 : 1U << below(2);
	chosen.by |= one_in(3) ? 1U << LAT_BY_CPU : 0;
	begin_programs(method, one_in(2), &chosen);
	kind.seed = seed;
	scheduler.traces = getenv("LATSCOPE_SEED");
	kind.reading_ns = one_in(2) ? 0 : below(100);
	kind.late_ns = kind.method == STAMPS ? kind.reading_ns : 0;
	kind.hides_threads = one_in(3);
	plain = usual;
}

/* Time passes. */
static void step(void)
{
	static __u64 edges[] = { 0,    1,    31,   32,	    999,	   1000,      1001,
				 1999, 2000, 7999, 1 << 20, (1 << 20) + 1, 1ULL << 30 };

	if (one_in(2))
		now_ns += below(1U << (1 + below(14)));
	else if (!scheduler.calm && one_in(20))
		now_ns += edges[below(sizeof(edges) / sizeof(edges[0]))];
	else
		now_ns += edges[below(10)];
	if (kind.jumps && one_in(200))
		cpus[below(CPUS)].ahead_ns += below(2) ? below(300) : 0 - (__u64)below(3000);
}

static void act_times(int times)
{
	while (times--) {
		step();
		act();
	}
}

/* The first threads, before the attach. */
static void begin_threads(void)
{
	for (__u32 i = 0; i < THREADS / 2; i++) {
		make_thread(&threads[i], random_tid(), i ? &threads[below(i)] : NULL, one_in(2));
		threads[i].hidden = kind.hides_threads && one_in(3);
		wake_new(&threads[i], 0, below(CPUS));
	}
}

/* ---- each switch is compared with the account ---- */

static void is_within(const struct thread *thread, const char *what, __u64 got, __u64 least,
		      __u64 most)
{
	if (got < least || got > most)
		fail_msg("LATSCOPE_SEED=%llu, method %d: thread %d at %llu: %s is %llu, not %llu "
			 "to %llu",
			 kind.seed, kind.method, (int)(thread - threads), end_ns, what, got, least,
			 most);
}

static bool is_strict(void)
{
	return !kind.hides && !kind.skipped;
}

static bool is_wanted(const struct thread *thread)
{
	return !config.tgid || (__u32)thread->kernel.tgid == config.tgid;
}

/* One of the terms of the conservation line says what became of the wait. */
static void is_counted_once(const struct thread *next, const struct change *change)
{
	__u64 terms = change->sampled;

	for (unsigned int i = 0; i < LAT_TERMS; i++)
		if (counts__is_term(i))
			terms += change->counts[i];
	is_within(next, "seen", change->counts[LAT_SEEN], 1, 1);
	is_within(next, "the sum of the terms", terms, 1, 1);
	is_within(next, "filtered", change->counts[LAT_FILTERED], !is_wanted(next),
		  !is_wanted(next));
}

/* A wait that was in sight from its beginning to its end. */
static void is_in_full(const struct thread *next, const struct change *change, __u64 most)
{
	__u64 least = end_ns - next->account.latest;

	is_within(next, "recorded", change->sampled, 1, 1);
	is_within(next, "the sample", change->ns, least, most);
	is_within(next, "partial", change->counts[LAT_PARTIAL], 0, 0);
	is_within(next, "joined", change->counts[LAT_JOINED], 0, 0);
}

static void judge_wakeup(const struct thread *next)
{
	const struct account *account = &next->account;
	const struct change *change = &changes[RUNQLAT_WAKEUP];
	__u64 ns = account->asked ? end_ns - account->asked : 0;

	is_counted_once(next, change);
	if (!is_strict() || !is_wanted(next) || !account->sure)
		return;
	is_within(next, "excluded", change->counts[LAT_EXCLUDED], !account->asked, !account->asked);
	is_within(next, "the wakeup", change->ns, ns, ns);
}

/* The longest sample that is not false. */
static __u64 longest(const struct thread *next)
{
	const struct account *account = &next->account;
	/* An own stamp may stay if the kernel has none, or if nothing is kept of the task. */
	bool stays = account->on_way || account->unseen_on_way ||
		     ((!next->known || next->exec_from) && scheduler.delays);

	if (kind.method == STAMPS && !(account->unseen && stays))
		return account->unseen_ns + end_ns - account->stamped + kind.late_ns;
	return end_ns - (account->unseen ? account->unseen_first : account->earliest) +
	       kind.late_ns;
}

/*
 * While a task executes a program, nothing shows a sleep in which it was moved, if its wakeup is
 * not seen.
 */
static bool is_bounded(const struct thread *next)
{
	return !(next->exec_from && kind.skipped & 1U << WAKEUP);
}

static void judge(struct thread *next)
{
	struct account *account = &next->account;
	const struct change *change = &changes[RUNQLAT_RUN_QUEUE];
	__u64 most = end_ns - account->earliest + kind.late_ns, growth;

	account->most_ns += account->sure ? most : end_ns - account->stamped + kind.late_ns;
	is_counted_once(next, change);
	if (is_strict() && is_wanted(next) && account->sure) {
		account->least_ns += end_ns - account->latest;
		is_in_full(next, change, most);
	}
	if (change->sampled && is_bounded(next))
		is_within(next, "the sample", change->ns, 0, longest(next));
	if (config.metrics)
		judge_wakeup(next);
	account->recorded_ns += change->ns;
	account->lost_ns += change->sampled ? 0 : end_ns - account->earliest;
	if (kind.method != STAMPS || !next->known || next->exec_from)
		return;
	growth = next->kernel.sched_info.run_delay - account->run_delay;
	if (is_wanted(next) && !account->begun_anew)
		is_within(next, "kernel_ns", change->counts[LAT_KERNEL_NS], growth, growth);
	is_within(next, "joined", change->counts[LAT_JOINED], 0, account->unseen);
}

static void note_unseen(struct account *account)
{
	if (!account->unseen++)
		account->unseen_first =
			kind.method == STAMPS ? account->stamped : account->earliest;
	account->unseen_ns += end_ns - account->stamped;
	account->unseen_on_way |= account->on_way;
}

static void switched(__u32 on, struct thread *next, bool seen)
{
	struct account *account = &next->account;

	if (next == &cpus[on].idle) {
		if (kind.judged && seen && control.armed)
			is_within(next, "idle", changes[0].counts[LAT_IDLE], 1, 1);
		return;
	}
	if (seen && control.armed && kind.judged)
		judge(next);
	account->asked = 0;
	if (!seen) {
		note_unseen(account);
		return;
	}
	account->unseen = 0;
	account->unseen_ns = 0;
	account->unseen_on_way = account->begun_anew = false;
	account->run_delay = next->kernel.sched_info.run_delay;
}

static void is_conserved(const struct thread *thread)
{
	const struct account *account = &thread->account;

	is_within(thread, "recorded and lost", account->recorded_ns + account->lost_ns,
		  account->least_ns, account->most_ns);
}

/* ---- random schedules ---- */

/* What must be in flight at the close, and may be, by thread. */
static struct closed {
	__u64 number; /* of the thread */
	__u64 least, most, least_ns, most_ns;
} closed[THREADS];

static void note_close(void)
{
	memset(closed, 0, sizeof(closed));
	for (__u32 i = 0; i < THREADS; i++) {
		const struct account *account = &threads[i].account;
		struct cpu *cpu = &cpus[threads[i].cpu];

		closed[i].number = threads[i].number;
		closed[i].most = is_wanted(&threads[i]) && threads[i].status == WAITS;
		if (closed[i].most) {
			closed[i].least =
				account->sure && account->latest < now_ns && !threads[i].hidden;
			closed[i].least_ns = closed[i].least * (now_ns - account->latest);
			closed[i].most_ns = now_ns + kind.late_ns -
					    (account->sure ? account->earliest : account->stamped);
		} else if (cpu->runs == &threads[i] && cpu->skips_update) {
			/* It may lose its CPU after the close, with a stamp from before. */
			closed[i].most = 1;
			closed[i].most_ns =
				sched_clock_on(threads[i].cpu) - cpu->rq.clock + kind.late_ns;
		}
	}
}

static void judge_in_flight(void)
{
	struct closed all = { 0 };

	for (__u32 i = 0; i < THREADS; i++) {
		if (threads[i].status == FREE || threads[i].number != closed[i].number)
			continue; /* it has ended since */
		all.least += closed[i].least;
		all.most += closed[i].most;
		all.least_ns += closed[i].least_ns;
		all.most_ns += closed[i].most_ns;
		if ((!threads[i].known || threads[i].exec_from) &&
		    scheduler.delays) /* its stamp may be of its sleep */
			all.most_ns = ~0ULL >> 1;
	}
	is_within(threads, "in flight", waits_in_flight.count, all.least, all.most);
	is_within(threads, "their age", waits_in_flight.sum_ns, all.least_ns, all.most_ns);
}

static void simulate(void)
{
	begin_threads();
	act_times(150);
	attach();
	for (__u32 i = 0; i < THREADS; i++) {
		show(&threads[i]);
		act_times(3);
	}
	act_times(20);
	open_window();
	act_times(600);
	scheduler.calm = true;
	act_times(100);
	note_close();
	close_window();
	now_ns += 2 * kind.late_ns; /* else a wait after it may seem to begin before it */
	act_times(40);
	count_all_in_flight();
	for (__u32 i = 0; kind.judged && is_strict() && i < THREADS; i++)
		is_conserved(&threads[i]);
}

/* ---- tests ---- */

static void compare_with_account(__u64 seed)
{
	bool filters, wakeups;

	begin_run(seed, false);
	kind.judged = true;
	filters = one_in(4);
	wakeups = one_in(3);
	config.tgid = filters ? 1 + below(6) : 0;
	config.metrics = wakeups ? 1U << RUNQLAT_WAKEUP : 0;
	plain = !filters && !wakeups && one_in(2);
	simulate();
	judge_in_flight();
}

TEST(each_wait_is_counted_once_and_in_full)
{
	for_seeds(compare_with_account, 600, 50 * 600);
}

static void begin_gaps(__u64 seed, bool usual)
{
	begin_run(seed, usual);
	if (one_in(6))
		host_map_of(&strays)->max = 2;
	kind.hides = one_in(2) ? 0 : 3 + below(30);
	kind.skipped = kind.hides ? 0 : below(1U << EVENTS) & ~(1U << SWITCH | 1U << EXEC);
	/* If no program notes a move in the sleep, and none sees the wakeup, nothing shows it. */
	if (kind.method == STAMPS &&
	    (kind.hides_threads || kind.skipped & (1U << MIGRATE | 1U << NEWTASK)))
		kind.skipped &= ~(1U << WAKEUP);
}

static void compare_gaps_with_account(__u64 seed)
{
	begin_gaps(seed, seed % 2);
	kind.judged = true;
	simulate();
}

TEST(no_wait_is_too_long_if_programs_are_skipped)
{
	for_seeds(compare_gaps_with_account, 600, 50 * 600);
}

static void simulate_twin(__u64 seed, bool usual, struct left *left)
{
	begin_gaps(seed, usual);
	kind.jumps = one_in(4);
	no_storage = one_in(6);
	if (one_in(4))
		counted[CPUS - 1].clock.stamp = 0;
	simulate();
	keep_maps(left);
	for (int i = 0; i < LINES; i++)
		if (!task_lines[i].task)
			memset(&task_lines[i], 0, sizeof(task_lines[0]));
	keep_bytes(left, task_lines, LINES * sizeof(task_lines[0]));
	keep_bytes(left, &waits_in_flight, sizeof(waits_in_flight));
	keep_bytes(left, &strays_lost, sizeof(strays_lost));
}

static void compare_paths(__u64 seed)
{
	simulate_twin(seed, false, &general);
	simulate_twin(seed, true, &straight);
	for (__u32 on = 0; on < CPUS; on++)
		same_cells(seed, counted[on].metrics, RUNQLAT_METRICS);
	same_left(seed);
}

TEST(straight_paths_do_what_the_general_ones_do)
{
	for_seeds(compare_paths, 600, 50 * 600);
}
