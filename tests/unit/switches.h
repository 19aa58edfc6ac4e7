/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The programs of runqlat, compiled for this machine, with their maps, on the simulated scheduler.
 * Included by one file, which defines switched().
 */
#ifndef LATSCOPE_TESTS_SWITCHES_H
#define LATSCOPE_TESTS_SWITCHES_H

#define const /* the test sets the config */
/* Only the kernel decides whether a task that sleeps may stay on its run queue. */
#define host_has_member(member) \
	(__builtin_strstr(member, "sched_delayed") ? has_sched_delayed() : 1)
_Bool has_sched_delayed(void);
#include <probes/runqlat/runqlat.bpf.c>
#undef const

#include "twins.h"
#include "scheduler.h"

#define ROWS 16
#define LINES 8 /* of task_lines, that threads have */

enum method { STAMPS, TP_BTF, METHODS };

static struct runqlat_cpu *counted; /* by CPU */

/* How this run is. */
static struct {
	__u64 seed;
	enum method method;
	__u32 hides; /* of so many switches, one runs no program, from the open on; 0: none */
	__u32 skipped; /* mask of 1 << event: programs that are skipped at times */
	bool skips_next; /* all programs */
	bool hides_threads, jumps;
	__u64 reading_ns; /* how long it takes to read a clock, before and after */
	__u64 late_ns; /* so much a sample may be too long */
	bool judged; /* each switch is compared with the account */
} kind;

static __u64 readings[CPUS];

/* What a switch has added to a metric. */
struct change {
	bool sampled;
	__u64 ns;
	__u64 counts[LAT_COUNTS];
};

static __u64 end_ns; /* of the wait that the switch ends */
static struct lat_cell earlier[CPUS][RUNQLAT_METRICS];
static struct change changes[RUNQLAT_METRICS];

_Bool has_sched_delayed(void)
{
	return scheduler.delays;
}

__s64 bpf_perf_event_read(void *map, __u64 flags)
{
	now_ns += kind.reading_ns;
	readings[current_cpu] = sched_clock_on(current_cpu);
	now_ns += kind.reading_ns;
	return 0;
}

static void forget(struct thread *thread)
{
	void *task = thread;

	bpf_map_delete_elem(&tasks, &task);
}

/* ---- a run ---- */

/* A run of this method and kernel begins. */
static void begin_programs(enum method method, bool delays, const struct lat_config *chosen)
{
	memset(&kind, 0, sizeof(kind));
	memset(&scheduler, 0, sizeof(scheduler));
	kind.method = method;
	scheduler.delays = delays;
	begin_kernel(chosen);
	counted = add_array(&cells, sizeof(*counted), CPUS);
	add_hash(&strays, sizeof(__u32), sizeof(__u64));
	add_hash(&tasks, sizeof(void *), sizeof(struct runqlat_task));
	memset(task_lines, 0, LINES * sizeof(task_lines[0]));
	memset(&waits_in_flight, 0, sizeof(waits_in_flight));
	memset(earlier, 0, sizeof(earlier));
	memset(readings, 0, sizeof(readings));
	control.next_row = 1;
	strays_lost = 0;
	for (__u32 on = 0; on < CPUS; on++)
		counted[on].clock.stamp = (__u64)&readings[on];
	begin_scheduler();
}

static bool is_skipped(enum event event)
{
	return kind.skips_next || (kind.skipped & 1U << event && one_in(6));
}

static void attach(void)
{
	static int (*of_method[METHODS][EVENTS])(__u64 *) = {
		{ stamps_switch, NULL, NULL, NULL, NULL, (void *)newtask, (void *)stamps_exec },
		{ stored_switch, NULL, (void *)stored_wakeup_old, (void *)stored_wakeup_new, NULL,
		  (void *)newtask, (void *)stored_exec },
	};

	memcpy(programs, of_method[kind.method], sizeof(programs));
	if (kind.method == STAMPS && scheduler.delays) {
		programs[WAKEUP] = (void *)stamps_wakeup;
		programs[MIGRATE] = (void *)stamps_migrate;
	}
	if (config.metrics & 1U << RUNQLAT_WAKEUP)
		programs[WAKING] = (void *)requested;
	attached_ns = now_ns;
}

/* The iterator shows a thread. */
static void show(struct thread *thread)
{
	struct bpf_iter__task shown = { .task = &thread->kernel };

	if (thread->status == FREE || thread->status == ZOMBIE || thread->hidden || thread->known)
		return;
	current = &cpus[0].idle.kernel;
	if (kind.method == STAMPS)
		prime(&shown);
	else
		stored_prime(&shown);
	thread->known = true;
	thread->account.run_delay = thread->kernel.sched_info.run_delay;
}

/* The close, and what comes until the iterator has shown all threads. */
static void open_window(void)
{
	control.opened_ns = now_ns;
	control.armed = 1;
}

static void close_window(void)
{
	control.closed_ns = now_ns;
	control.armed = 0;
}

static void count_all_in_flight(void)
{
	for (__u32 i = 0; i < THREADS; i++) {
		struct bpf_iter__task shown = { .task = &threads[i].kernel };

		if (threads[i].status == FREE || threads[i].hidden)
			continue;
		if (kind.method == STAMPS)
			stamps_in_flight(&shown);
		else
			stored_in_flight(&shown);
	}
}

/* What the switch has added to a metric: a sample is found where its slot has grown. */
static void note_change(__u32 on, enum runqlat_metric metric)
{
	struct lat_cell *cell = &counted[on].metrics[metric], *old = &earlier[on][metric];
	struct change *change = &changes[metric];
	__u32 slot;

	change->ns = cell->hist.sum_ns - old->hist.sum_ns;
	slot = hist_slot(change->ns);
	change->sampled = cell->hist.slots[slot] != old->hist.slots[slot];
	for (int i = 0; i < LAT_COUNTS; i++)
		change->counts[i] = cell->counts[i] - old->counts[i];
	memcpy(old->counts, cell->counts, sizeof(old->counts));
	old->hist.sum_ns = cell->hist.sum_ns;
	old->hist.slots[slot] = cell->hist.slots[slot];
	recorded += change->sampled;
}

static bool tell_switch(__u32 on, bool preempt, struct thread *prev, struct thread *next)
{
	bool seen;

	end_ns = now_ns;
	if (kind.hides && control.opened_ns && one_in(kind.hides))
		return false;
	seen = tell(SWITCH, on, preempt, (__u64)&prev->kernel, (__u64)&next->kernel);
	for (int metric = 0; metric < RUNQLAT_METRICS; metric++)
		note_change(on, metric);
	return seen;
}

#endif
