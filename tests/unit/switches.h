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
#include <runqlat.bpf.c>
#undef const

#include "unit.h"

#include <core/counts.h>
#include <core/run.h>

#include "../bpf/host/kernel.h"
#include "scheduler.h"

#define ROWS 16
#define ENTRIES 64
#define LINES 8 /* of task_lines, that threads have */

enum method { STAMPS, TP_BTF, RAW_TP, METHODS };

/* All memory of the maps. */
struct memory {
	struct runqlat_cpu cells[CPUS];
	struct lat_hist rows[LAT_ROWS_TOTAL(ROWS)];
	struct lat_owner owners[ROWS];
	unsigned char hash_keys[4][ENTRIES * HOST_KEY];
	__u32 keys[ENTRIES];
	struct lat_light light[ENTRIES];
	__u64 start_ts[ENTRIES], strays[ENTRIES];
	struct runqlat_task storage[THREADS];
	bool has_storage[THREADS];
};

static struct memory memory __attribute__((aligned(64)));

/* How this run is. */
static struct {
	__u64 seed;
	enum method method;
	__u32 hides; /* of so many switches, one runs no program, from the open on; 0: none */
	__u32 skipped; /* mask of 1 << event: programs that are skipped at times */
	bool no_storage, hides_threads, jumps;
	__u64 reading_ns; /* how long it takes to read a clock, before and after */
	__u64 early_ns, late_ns; /* so much a sample may be too short or too long */
	bool judged; /* each switch is compared with the account */
} kind;

static __u64 readings[CPUS];
static __u64 recorded; /* samples of all runs */

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

void *bpf_task_storage_get(void *map, void *task, void *value, __u64 flags)
{
	struct thread *thread = task;
	size_t at = (size_t)(thread - threads);

	if (thread < threads || thread >= threads + THREADS)
		return NULL; /* an idle task */
	if (!memory.has_storage[at] && (!flags || kind.no_storage))
		return NULL;
	if (!memory.has_storage[at])
		memcpy(&memory.storage[at], value, sizeof(struct runqlat_task));
	memory.has_storage[at] = true;
	return &memory.storage[at];
}

static void forget(struct thread *thread)
{
	size_t at = (size_t)(thread - threads);

	memory.has_storage[at] = false;
	memset(&memory.storage[at], 0, sizeof(struct runqlat_task));
}

/* ---- a run ---- */

static void set_map(size_t at, void *map, size_t key_size, size_t value_size, size_t max,
		    void *values)
{
	host_maps[at] = (struct host_map){ map,	  key_size, value_size,
					   max,	  0,	    at < 4 ? memory.hash_keys[at] : NULL,
					   values };
}

static void begin_maps(size_t room)
{
	memset(&memory, 0, sizeof(memory));
	set_map(0, &keys, sizeof(struct lat_key), sizeof(__u32), ENTRIES, memory.keys);
	set_map(1, &light, sizeof(struct lat_key), sizeof(struct lat_light), ENTRIES, memory.light);
	set_map(2, &start_ts, sizeof(__u32), sizeof(__u64), room, memory.start_ts);
	set_map(3, &strays, sizeof(__u32), sizeof(__u64), room, memory.strays);
	set_map(4, &cells, sizeof(__u32), sizeof(memory.cells[0]), CPUS, memory.cells);
	set_map(5, &owners, sizeof(__u32), sizeof(struct lat_owner), ROWS, memory.owners);
	set_map(6, &rows, sizeof(__u32), sizeof(struct lat_hist), LAT_ROWS_TOTAL(ROWS),
		memory.rows);
	memset(task_lines, 0, LINES * sizeof(task_lines[0]));
	memset(&control, 0, sizeof(control));
	memset(&waits_in_flight, 0, sizeof(waits_in_flight));
	memset(earlier, 0, sizeof(earlier));
	memset(readings, 0, sizeof(readings));
	control.next_row = 1;
	strays_lost = 0;
	for (__u32 on = 0; on < CPUS; on++)
		memory.cells[on].clock.stamp = (__u64)&readings[on];
}

static bool is_skipped(enum event event)
{
	return kind.skipped & 1U << event && one_in(6);
}

static void attach(void)
{
	static int (*of_method[METHODS][EVENTS])(__u64 *) = {
		{ stamps_switch, NULL, NULL, NULL, NULL, (void *)newtask, (void *)stamps_exec },
		{ stored_switch, NULL, (void *)stored_wakeup_old, (void *)stored_wakeup_new, NULL,
		  (void *)newtask, (void *)stored_exec },
		{ (void *)hashed_switch, NULL, (void *)hashed_wakeup, (void *)hashed_wakeup_new },
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

	if (thread->status == FREE || thread->status == ZOMBIE || thread->hidden || thread->known ||
	    kind.method == RAW_TP)
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
	struct lat_cell *cell = &memory.cells[on].metrics[metric], *old = &earlier[on][metric];
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
