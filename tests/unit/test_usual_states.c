// SPDX-License-Identifier: BSD-2-Clause
/*
 * What runqlat records and counts of a wait, state by state: each row is a schedule for the
 * simulated scheduler, and what must be left of each task that gets a CPU. Times are in us.
 *
 *   +N   time passes             @    attach; the iterator shows all threads but hidden ones
 *   wA0  A is woken on CPU 0     {    the window opens; without it, at the attach
 *   r0   CPU 0 switches          }    the window closes
 *   p0   CPU 0 preempts          !    no program is run for what is next
 *   s0   its task sleeps         hA   no iterator shows A
 *   g0   it is about to sleep    fA0  its task makes A, a new process; nA0: a new thread
 *   x0   it ends                 eA   A takes the ID of its leader; EA: it has executed
 *   t0   its clock is updated    c0   its clock cannot be read
 *   mA1  A is moved to CPU 1     a0   its clock goes ahead by 1 ms
 *   k    a kernel since 6.12     T1   only the process 1 is wanted; both come first
 *
 * CPU 2 wakes and moves. A CPU prefers A to B, and B to C. Without @, A, B and C sleep on CPU 0 at
 * the attach, which comes first.
 */
#include "switches.h"

static void say_change(const struct change *change)
{
	if (change->sampled)
		fprintf(unit_output.out, " %g", (double)change->ns / 1000);
	for (unsigned int i = LAT_SEEN + 1; i < LAT_COUNTS; i++) {
		const char *name = counts__name(i);

		if (!change->counts[i])
			continue;
		if (strstr(name, "_ns"))
			fprintf(unit_output.out, " %s %g", name, (double)change->counts[i] / 1000);
		else
			fprintf(unit_output.out, " %s %llu", name, change->counts[i]);
	}
}

static void switched(__u32 on, struct thread *next, bool seen)
{
	if (!seen || !control.armed || next == &cpus[on].idle)
		return;
	fprintf(unit_output.out, "%s%c", ftell(unit_output.out) ? "; " : "",
		(char)('A' + (next - threads)));
	say_change(&changes[RUNQLAT_RUN_QUEUE]);
	if (!config.metrics)
		return;
	fprintf(unit_output.out, ", wakeup");
	say_change(&changes[RUNQLAT_WAKEUP]);
}

/* ---- scripts ---- */

static void attach_to_all(void)
{
	attach();
	for (__u32 i = 0; i < THREADS; i++)
		show(&threads[i]);
}

static void run_thread(char act, struct thread *thread, __u32 on)
{
	switch (act) {
	case 'w':
		ask(thread, 2);
		cpus[on].skips_update = thread->status == ASLEEP;
		wake(thread, 2, on, 0);
		break;
	case 'm':
		move(thread, 2, on);
		break;
	case 'h':
		thread->hidden = true;
		break;
	case 'f':
	case 'n':
		fork_thread(on, thread, 1 + (int)(thread - threads), act == 'f', on);
		break;
	case 'e':
		take_id(thread);
		break;
	case 'E':
		finish_exec(thread);
		break;
	default:
		fail_msg("unknown act %c", act);
	}
}

static void run_cpu(char act, __u32 on)
{
	struct task_struct *task = &cpus[on].runs->kernel;

	if (act == 's' || act == 'g')
		task->__state = ASLEEP_STATE;
	if (act == 'x')
		task->__state = TASK_DEAD;
	if (act == 't')
		update_clock(on);
	else if (act == 'c')
		counted[on].clock = (struct runqlat_clock){ 0 };
	else if (act == 'a')
		cpus[on].ahead_ns += 1000000;
	else if (act != 'g')
		schedule(on, act == 'p');
}

static void run_word(const char *word)
{
	char act = word[0];

	if (act == 'k' || act == 'T')
		return; /* see begin() */
	if (act == '+')
		now_ns += (__u64)(strtod(word + 1, NULL) * 1000 + 0.5);
	else if (act == '@')
		attach_to_all();
	else if (act == '{')
		open_window();
	else if (act == '}')
		close_window();
	else if (word[1] >= 'A')
		run_thread(act, &threads[word[1] - 'A'], (__u32)atoi(word + 2));
	else
		run_cpu(act, (__u32)atoi(word + 1));
}

static void run_script(const char *script)
{
	char *copy = strdup(script), *rest = copy, *word;

	if (!strchr(script, '@')) {
		attach_to_all();
		open_window();
	}
	while ((word = strsep(&rest, " "))) {
		if (word[0] == '!') {
			kind.skips_next = true;
			continue;
		}
		run_word(word);
		kind.skips_next = false;
		if (word[0] == '@' && !strchr(script, '{'))
			open_window();
	}
	free(copy);
	if (!control.closed_ns)
		return;
	count_all_in_flight();
	fprintf(unit_output.out, "%sin flight %llu, oldest %g, all %g",
		ftell(unit_output.out) ? "; " : "", waits_in_flight.count,
		(double)waits_in_flight.oldest_ns / 1000, (double)waits_in_flight.sum_ns / 1000);
}

/* Threads of their own process, which sleep. */
static void begin(enum method method, const char *script, bool wakeups)
{
	struct lat_config chosen = { .rows = ROWS, .tail_ns = 1000000 };
	const char *wanted = strchr(script, 'T');

	chosen.metrics = wakeups ? 1U << RUNQLAT_WAKEUP : 0;
	chosen.tgid = wanted ? (__u32)atoi(wanted + 1) : 0;
	begin_programs(method, strchr(script, 'k'), &chosen);
	scheduler.scripted = true;
	unit_print();
	for (__u32 on = 0; on < CPUS; on++) { /* it has been read, so the straight path counts */
		counted[on].clock.offset_ns = CLOCK_BEGAN_NS;
		counted[on].clock.at_ns = now_ns;
	}
	for (int i = 0; i < 3; i++) {
		make_thread(&threads[i], 1 + i, NULL, true);
		threads[i].status = ASLEEP;
	}
}

/* ---- the states ---- */

/* What is left by each method; with wakeups, by stamps. NULL: not tried. */
struct row {
	const char *state, *script;
	const char *stamps, *tp_btf, *wakeups;
};

static const struct row waits[] = {
	{ "woken on an idle CPU, whose clock stands still", "wA0 +5 r0", .stamps = "A 5",
	  .tp_btf = "A 5", .wakeups = "A 5, wakeup 5" },
	{ "woken, by a clock that is updated", "wA0 +2 t0 +3 r0", .stamps = "A 5 kernel_ns 2" },
	{ "preempted at a clock that is up to date", "wA0 r0 wB1 mB0 +4 p0 +6 p0",
	  .stamps = "A 0; B 4 kernel_ns 4; A 6 kernel_ns 6",
	  .wakeups =
		  "A 0, wakeup 0; B 4 kernel_ns 4, wakeup 4; A 6 kernel_ns 6, wakeup excluded 1" },
	{ "preempted at a clock that is 4 us old: the own stamp", "wA0 r0 wB0 +4 p0 +6 p0",
	  .stamps = "A 0; B 4; A 6 fallback 1 fallback_ns 6 kernel_ns 10",
	  .tp_btf = "A 0; B 4; A 6" },
	{ "preempted at a clock that is less than 1 us old", "wA0 r0 wB0 +0.9 p0 +6 p0",
	  .stamps = "A 0; B 0.9; A 6.9 kernel_ns 6.9" },
	{ "moved twice as it waits", "wA0 +3 mA1 +4 mA0 +5 r0", .stamps = "A 12 kernel_ns 7" },
	{ "woken before it sleeps", "wA0 r0 wB1 mB0 g0 wA0 r0 +4 r0",
	  .stamps = "A 0; B 0; A 4 kernel_ns 4" },
	{ "preempted on its way to sleep, and woken", "wA0 r0 g0 wB0 +2 p0 +6 wA0 +3 p0",
	  .stamps = "A 0; B 2 unstamped 1; A 9 fallback 1 fallback_ns 9",
	  .tp_btf = "A 0; B 2 unstamped 1; A 9" },
	{ "preempted on its way to sleep, and moved", "wA0 r0 g0 wB0 +2 p0 +6 mA1 +3 r1",
	  .stamps = "A 0; B 2 unstamped 1; A 9 fallback 1 fallback_ns 9 kernel_ns 3" },
	{ "the same, then woken", "k wA0 r0 g0 wB0 +2 p0 +6 mA1 +2 wA1 +1 r1",
	  .stamps = "A 0; B 2 unstamped 1; A 9 fallback 1 fallback_ns 9 kernel_ns 3" },
	{ "woken on another CPU", "wA0 r0 s0 +10 wA1 +5 r1", .stamps = "A 0; A 5" },
	{ "slept on its run queue", "k wA0 r0 s0 +10 wA0 +5 r0", .stamps = "A 0; A 5" },
	{ "moved in its sleep", "k wA0 r0 s0 +10 mA1 +20 wA1 +5 r1",
	  .stamps = "A 0; A 5 fallback 1 fallback_ns 5 kernel_ns 20", .tp_btf = "A 0; A 5" },
	{ "moved twice in its sleep", "k wA0 r0 s0 +10 mA1 +20 mA0 +30 wA0 +5 r0",
	  .stamps = "A 0; A 5 fallback 1 fallback_ns 5 kernel_ns 50 early_ns 20" },
	{ "moved in its sleep before the attach", "k wA0 r0 s0 +10 mA1 +20 @ +30 wA1 +5 r1",
	  .stamps = "A 5 fallback 1 fallback_ns 5 kernel_ns 50" },
	{ "the same, and no program saw the wakeup", "k wA0 r0 s0 +10 mA1 +20 @ +30 ! wA1 +5 r1",
	  .stamps = "A unmatched 1 unmatched_ns 50 kernel_ns 50" },
	{ "the same, and no program saw the end",
	  "k wA0 r0 s0 +10 mA1 +20 @ +30 wA1 +5 ! r1 +1 wB0 mB1 +3 p1 +4 p1",
	  .stamps = "B 3 kernel_ns 3; A unmatched 1 unmatched_ns 54 kernel_ns 54 early_ns 50" },
	{ "moved in its sleep, and no program saw the wakeup",
	  "k wA0 r0 s0 +10 mA1 +20 ! wA1 +5 r1",
	  .stamps = "A 0; A unmatched 1 unmatched_ns 20 kernel_ns 20" },
	{ "no program saw the end: joined", "wA0 +5 t0 ! r0 +2 wB1 mB0 +3 p0 +4 p0",
	  .stamps = "B 3 kernel_ns 3; A 9 joined 1 kernel_ns 9 early_ns 5" },
	{ "no program saw the end, which the kernel counts as 0", "wA0 +5 ! r0 wB1 mB0 +3 p0 +4 p0",
	  .stamps = "B 3 kernel_ns 3; A 4 joined 1 kernel_ns 4" },
	{ "moved in its sleep, and no program saw the end",
	  "k wA0 r0 s0 +10 mA1 +20 wA1 +5 ! r1 +1 wB0 mB1 +3 p1 +4 p1",
	  .stamps =
		  "A 0; B 3 kernel_ns 3; A unmatched 1 unmatched_ns 24 kernel_ns 24 early_ns 20" },
	{ "hidden from the iterator: partial", "hA @ wA0 +5 r0", .stamps = "A 5 partial 1",
	  .tp_btf = "A map_full 1", .wakeups = "A 5 partial 1, wakeup map_full 1" },
	{ "hidden, and moved as it waits", "hA @ wA0 +5 mA1 +3 r1",
	  .stamps = "A 3 partial 1 kernel_ns 3" },
	{ "hidden, and moved in its sleep", "k wA0 r0 hA s0 @ +1 mA1 +10 wA1 +5 r1",
	  .stamps = "A 5 fallback 1 fallback_ns 5 partial 1 kernel_ns 10" },
	{ "hidden, and waits at the attach", "k wA0 hA +3 @ +2 t0 r0",
	  .stamps = "A missed_start 1 partial 1 missed_start_ns 5 kernel_ns 5" },
	{ "waits at the attach", "wA0 +3 @ +4 r0", .stamps = "A 7", .tp_btf = "A missed_start 1" },
	{ "waits at the attach, and may have been moved in its sleep", "k wA0 +3 @ +4 t0 r0",
	  .stamps = "A missed_start 1 missed_start_ns 7 kernel_ns 7" },
	{ "moved before the attach as it waits", "wA0 +3 mA1 +2 @ +4 r1",
	  .stamps = "A 6 kernel_ns 6" },
	{ "preempted on its way to sleep before the attach", "wA0 r0 g0 wB0 p0 +3 @ +4 p0",
	  .stamps = "A missed_start 1 untimed 1" },
	{ "moved before the window as it waits", "@ wA0 +3 mA1 +2 { +4 r1",
	  .stamps = "A 9 kernel_ns 9 early_ns 3" },
	{ "not of the filter's process", "T1 wA0 r0 wB1 mB0 +4 p0 +6 p0",
	  .stamps = "A 0; B filtered 1 filtered_ns 4; A 6 kernel_ns 6" },
	{ "new", "wA0 r0 fD0 +2 p0", .stamps = "A 0; D 2 kernel_ns 2", .tp_btf = "A 0; D 2",
	  .wakeups = "A 0, wakeup 0; D 2 kernel_ns 2, wakeup excluded 1" },
	{ "new, and no program saw it", "wA0 r0 ! fD0 +2 p0",
	  .stamps = "A 0; D 2 partial 1 kernel_ns 2", .tp_btf = "A 0; D map_full 1" },
	{ "new, with the ID and the memory of one that has ended", "wA0 r0 fD0 +3 p0 x0 fD0 +2 p0",
	  .stamps = "A 0; D 3 kernel_ns 3; A 0; D 2 kernel_ns 2" },
	{ "with the ID of its leader", "wA0 r0 nD0 +1 x0 eD ED wB1 mB0 +2 p0 +3 p0",
	  .stamps = "A 0; D 1 kernel_ns 1; B 2 kernel_ns 2; D 3 kernel_ns 3",
	  .tp_btf = "A 0; D 1; B 2; D 3" },
	{ "with the ID of its leader, and it still executes",
	  "wA0 r0 nD0 +1 x0 eD wB1 mB0 +2 p0 +3 p0",
	  .stamps = "A 0; D 1 kernel_ns 1; B 2 kernel_ns 2; D 3 partial 1 kernel_ns 3" },
	{ "on a CPU whose clock cannot be read", "c0 c1 wA0 +5 t0 r0",
	  .stamps = "A unmatched 1 unmatched_ns 5 kernel_ns 5" },
	{ "just after the clock has jumped", "wA0 r0 s0 a0 wA0 +5 r0 s0 wA0 +6 r0",
	  .stamps = "A 0; A 0; A 6" },
	{ "woken as it runs, then preempted", "wA0 r0 g0 wA0 wB1 mB0 p0 +6 p0",
	  .wakeups = "A 0, wakeup 0; B 0, wakeup 0; A 6 kernel_ns 6, wakeup excluded 1" },
	{ "preempted on its way to sleep, and woken", "wA0 r0 g0 wB0 p0 +6 wA0 p0",
	  .wakeups = "A 0, wakeup 0; B 0 unstamped 1, wakeup 0; "
		     "A 6 fallback 1 fallback_ns 6, wakeup excluded 1" },
	{ "not of the filter's process", "T2 wA0 +5 r0",
	  .wakeups = "A filtered 1, wakeup filtered 1" },
	{ "moved as it waits", "wA0 +3 mA1 +4 r1", .tp_btf = "A 7" },
	{ "woken before it sleeps", "wA0 r0 wB0 g0 wA0 r0 +4 r0", .tp_btf = "A 0; B 0; A 4" },
	{ "slept", "wA0 r0 wB0 s0 +8 wA0 +5 p0", .tp_btf = "A 0; B 0; A 5" },
	{ "preempted on its way to sleep, no program saw that it went on",
	  "wA0 r0 g0 wB0 +2 p0 +6 ! p0 s0 +9 wA0 +4 r0",
	  .tp_btf = "A 0; B 2 unstamped 1; B missed_start 1; A 4" },
	{ "no program saw the wakeup", "! wA0 +5 r0", .tp_btf = "A missed_start 1" },
	{ "no program saw it begin to run", "wA0 +5 ! r0 s0 +9 wA0 +4 r0", .tp_btf = "A 4" },
	{ "not of the filter's process", "T1 wA0 r0 wB0 +4 p0 +6 p0",
	  .tp_btf = "A 0; B filtered 1 filtered_ns 4; A 6" },
	{ "in flight", "wA0 r0 wB0 +2 wC1 +3 } +1 p0",
	  .tp_btf = "A 0; in flight 2, oldest 5, all 8" },
};

static const struct row in_flight[] = {
	{ "it waits", "wB0 r0 wA0 +7 }", .stamps = "B 0; in flight 1, oldest 7, all 7" },
	{ "it waits, and was moved", "wB0 r0 wA0 +3 mA1 +4 }",
	  .stamps = "B 0; in flight 1, oldest 7, all 7" },
	{ "its wait ends after the close", "wB1 r1 wA0 +3 mA1 +4 } +5 p1",
	  .stamps = "B 0; in flight 1, oldest 7, all 7" },
	{ "two wait", "wA0 r0 wB0 +2 wC1 +3 }", .stamps = "A 0; in flight 2, oldest 5, all 8" },
	{ "preempted on its way to sleep", "wA0 r0 g0 wB0 p0 +3 }",
	  .stamps = "A 0; B 0 unstamped 1; in flight 1, oldest 3, all 3" },
	{ "its wait begins after the close", "wB0 r0 } +1 wA0 +3",
	  .stamps = "B 0; in flight 0, oldest 0, all 0" },
	{ "it sleeps, and was moved", "k wA0 r0 s0 +1 mA1 +9 }",
	  .stamps = "A 0; in flight 0, oldest 0, all 0" },
	{ "moved in its sleep, then woken", "k wA0 r0 s0 +1 mA1 +9 wA1 +3 }",
	  .stamps = "A 0; in flight 1, oldest 3, all 3" },
	{ "moved in its sleep, and no program saw the wakeup", "k wA0 r0 s0 +1 mA1 +9 ! wA1 +3 }",
	  .stamps = "A 0; in flight 1, oldest 0, all 0" },
	{ "it waits at the attach", "k wA0 +3 @ +4 }", .stamps = "in flight 1, oldest 4, all 4" },
};

/* By both paths. */
static void check_row(const struct row *row, const char *left, enum method method, bool wakeups)
{
	const char *said;

	for (int usual = 0; left && usual < 2; usual++) {
		begin(method, row->script, wakeups);
		plain = usual && !config.tgid && !wakeups;
		run_script(row->script);
		said = unit_printed();
		if (strcmp(said, left))
			fail_msg("%s: %s\n%s, not\n%s", row->state, row->script, said, left);
	}
}

static void check_waits(enum method method, bool wakeups)
{
	for (size_t i = 0; i < COUNT_OF(waits); i++) {
		const char *left[] = { waits[i].stamps, waits[i].tp_btf };

		check_row(&waits[i], wakeups ? waits[i].wakeups : left[method], method, wakeups);
	}
}

TEST(stamps_record_or_count_each_wait)
{
	check_waits(STAMPS, false);
}

TEST(stamps_know_what_is_in_flight)
{
	for (size_t i = 0; i < COUNT_OF(in_flight); i++)
		check_row(&in_flight[i], in_flight[i].stamps, STAMPS, false);
}

TEST(a_wakeup_is_recorded_or_excluded)
{
	check_waits(STAMPS, true);
}

TEST(tp_btf_records_or_counts_each_wait)
{
	check_waits(TP_BTF, false);
}
