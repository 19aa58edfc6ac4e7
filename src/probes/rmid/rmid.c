// SPDX-License-Identifier: BSD-2-Clause
#include "rmid.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <core/clock.h>
#include <host/host.h>
#include <host/pid_namespace.h>
#include <probes/kit/bpf_probe.h>
#include <probes/kit/methods.h>
#include <probes/kit/tracing.h>

#include "attribution.h"
#include "columns.h"
#include "conflict.h"
#include "counters.h"
#include "cpus.h"
#include "emulation.h"
#include "events.h"
#include "internal.h"
#include "module.h"
#include "resctrl_tree.h"
#include "rmid.skel.h"
#include "states.h"
#include "trace.h"

#define POLL_NS 50000000ULL /* how often records are read */
#define RING_OF_CPU (1U << 20) /* bytes per CPU: 100 ms of 180,000 switches per second */
#define RING_MOST (1U << 24)
#define AT_ONCE 1024 /* records to read before slots are returned */
#define LAG_NS 1000000000ULL /* a CPU without a record for so long will send none */
#define NICE (-20)
#define TIDY_NS 250000000ULL /* how often ended processes are removed */

enum { RMID_BY_MODULE, RMID_BY_RESCTRL, RMID_BY_SWITCHES };

/* The methods. Programs are in the order of attachment: see attach_programs(). */
static const struct probe_method rmid_methods[] = {
	[RMID_BY_MODULE] = {
		.name = "module",
		.mechanism = "by RMID, spans from the tracepoints of the kernel module rmid",
		.needs = "the kernel module: the package latscope-dkms or 'make modules' builds "
			 "it, 'sudo modprobe rmid' or "
			 "'sudo insmod .output/kmod/$(uname -r)/rmid.ko' "
			 "loads it",
		.programs = { "renamed", "allocated", "freed", "listed", "was_read", "sampled" },
		.loaded = { "existing" },
		.x86 = true,
	},
	[RMID_BY_RESCTRL] = {
		.name = "resctrl",
		.mechanism = "by process, spans between the switches of each CPU "
			     "(tp_btf/sched_switch); caches by groups of resctrl",
		.needs = "resctrl, BTF and the tracepoint sched_switch",
		.programs = { "switched", "began", "execed", "forked", "renamed" },
		.loaded = { "prime", "existing" },
	},
	[RMID_BY_SWITCHES] = {
		.name = "switches",
		.mechanism = "by process, spans between the switches of each CPU "
			     "(tp_btf/sched_switch)",
		.needs = "BTF and the tracepoint sched_switch",
		.programs = { "switched", "began", "execed", "forked", "renamed" },
		.loaded = { "prime", "existing" },
	},
};

/* ---- opening ---- */

/* By method. */
static const struct rmid_back_end *const back_ends[] = {
	[RMID_BY_MODULE] = &rmid_by_module,
	[RMID_BY_RESCTRL] = &rmid_by_resctrl,
	[RMID_BY_SWITCHES] = &rmid_by_switches,
};

/* Does a timer of latscope tick? */
static bool has_timer(const struct rmid *rmid)
{
	return rmid->back_end->emulated && rmid->nr_counters;
}

static int select_programs(struct rmid *rmid)
{
	int err = methods__select(rmid->method, false, rmid->skel->obj);

	if (!err && has_timer(rmid))
		err = bpf_program__set_autoload(rmid->skel->progs.tick, true);
	return err;
}

static int size_maps(struct rmid *rmid)
{
	unsigned int size = RING_OF_CPU;
	int err;

	while (size < RING_MOST && size < RING_OF_CPU * rmid->cpus.nr)
		size *= 2;
	err = bpf_map__set_max_entries(rmid->skel->maps.ring, size);
	if (!err)
		err = bpf_map__set_max_entries(rmid->skel->maps.cpus, rmid->cpus.nr);
	if (!err && rmid->nr_counters)
		err = bpf_map__set_max_entries(rmid->skel->maps.events,
					       rmid->nr_counters * rmid->cpus.nr);
	return err;
}

static int load(struct rmid *rmid)
{
	int err;

	rmid->skel = rmid_bpf__open();
	if (!rmid->skel)
		return -errno;
	rmid->skel->rodata->counters = rmid->nr_counters;
	rmid->skel->rodata->cpus_possible = rmid->cpus.nr;
	rmid->skel->rodata->emulated = rmid->back_end->emulated;
	if (rmid->nr_counters)
		rmid->skel->rodata->cell_size = sizeof(struct lat_rmid_cell);
	err = select_programs(rmid);
	if (!err)
		err = size_maps(rmid);
	return err ? err : bpf_object__load_skeleton(rmid->skel->skeleton); /* also maps .bss */
}

static int settle(struct rmid *rmid);

int rmid__take_owner(void *context, const struct lat_rmid_owner *record, uint32_t runner)
{
	struct rmid *rmid = context;
	int err;

	if (rmid->trace)
		trace__print(rmid->trace, record, runner);
	err = attribution__take(&rmid->attribution, record, sizeof(*record));
	return err || !rmid->back_end->follow ? err : rmid->back_end->follow(rmid, record);
}

static int take_any(struct rmid *rmid, void *record, size_t size)
{
	const struct lat_rmid_head *head = record;
	bool whole = size >= sizeof(*head);

	if (whole && head->record == RMID_OWNER && size >= sizeof(struct lat_rmid_owner))
		return rmid__take_owner(rmid, record, 0);
	if (whole && head->record == RMID_TASK && size >= sizeof(struct lat_rmid_task))
		return rmid->back_end->take_task ? rmid->back_end->take_task(rmid, record) : 0;
	return attribution__take(&rmid->attribution, record, size);
}

/* After a delay the ring holds many slots: complete ones are returned at once, to save memory. */
static int take_record(void *context, void *record, size_t size)
{
	struct rmid *rmid = context;

	if (!rmid->err)
		rmid->err = take_any(rmid, record, size);
	if (!rmid->err && rmid->attribution.records % AT_ONCE == 0)
		rmid->err = settle(rmid);
	return 0;
}

static int open_ring(struct rmid *rmid)
{
	rmid->ring = ring_buffer__new(bpf_map__fd(rmid->skel->maps.ring), take_record, rmid, NULL);
	return rmid->ring ? 0 : -errno;
}

/* Reads all records of the ring. */
static int drain(struct rmid *rmid)
{
	int got = ring_buffer__consume(rmid->ring);

	return got < 0 ? got : rmid->err;
}

static int open_events(struct rmid *rmid)
{
	int map = bpf_map__fd(rmid->skel->maps.events), err = 0;

	for (unsigned int i = 0; !err && i < rmid->nr_counters; i++)
		err = events__open(&rmid->events, rmid->counters[i], map, i * rmid->cpus.nr,
				   rmid->cpus.online, rmid->cpus.nr);
	return err;
}

static int attach(struct rmid *rmid, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(rmid->skel->obj, name);
	struct bpf_link *link = tracing__attach(program);

	if (!link)
		return -errno;
	rmid->links[rmid->nr_links++] = link;
	return 0;
}

/*
 * Order: first the programs that see tasks begin and end, then the list of existing tasks, then
 * `sampled`, which sends spans. So no span comes from an unknown task. Those that see them end come
 * before those that see them begin. `switched` sends spans only once it is armed.
 */
static int attach_programs(struct rmid *rmid)
{
	const struct rmid_back_end *back_end = rmid->back_end;
	const char *const *names = rmid->method->programs;
	int err = 0;

	for (int i = 0; !err && names[i]; i++)
		if (!back_end->sends || strcmp(names[i], back_end->sends))
			err = attach(rmid, names[i]);
	if (!err && back_end->list)
		err = back_end->list(rmid);
	if (!err)
		err = probe__run_iterator(rmid->skel->progs.existing, NULL);
	if (!err)
		err = drain(rmid);
	return err || !back_end->sends ? err : attach(rmid, back_end->sends);
}

/*
 * After a failed attempt, frees only what the next one makes again. -errno: groups of resctrl could
 * not be removed.
 */
static int release(struct rmid *rmid)
{
	int err;

	while (rmid->nr_links)
		bpf_link__destroy(rmid->links[--rmid->nr_links]);
	events__close(&rmid->events);
	ring_buffer__free(rmid->ring);
	states__unmap(&rmid->states);
	rmid_bpf__destroy(rmid->skel);
	attribution__clear(&rmid->attribution);
	err = rmid->back_end ? rmid->back_end->close(rmid) : 0;
	rmid->ring = NULL;
	rmid->skel = NULL;
	return err;
}

/* No timer on isolated CPUs: counters are known there only for slots within one span. */
static int start_timers(struct rmid *rmid)
{
	for (unsigned int cpu = 0; cpu < rmid->cpus.nr; cpu++)
		rmid->timed[cpu] = rmid->cpus.online[cpu] && !rmid->cpus.isolated[cpu];
	return events__tick(&rmid->events, bpf_program__fd(rmid->skel->progs.tick), rmid->timed,
			    rmid->cpus.nr);
}

static void explain(int err, const struct probe_method *method, char reason[RUN_TEXT])
{
	if (err == -ENODEV)
		snprintf(reason, RUN_TEXT, "not loaded; needs %s", method->needs);
	else if (err == -EPROTONOSUPPORT || err == -EUCLEAN)
		snprintf(reason, RUN_TEXT, "of another version; needs %s", method->needs);
}

static int attempt(void *context, const struct probe_method *method, char reason[RUN_TEXT])
{
	struct rmid *rmid = context;
	int err;

	rmid->method = method;
	rmid->back_end = back_ends[method - rmid_methods];
	if (choice__selects(&rmid->choice) && !rmid->back_end->selects) {
		snprintf(reason, RUN_TEXT,
			 "it has no groups to give to the selected processes; leave out the "
			 "filter");
		return -EOPNOTSUPP;
	}
	err = attribution__init(&rmid->attribution, rmid->cpus.nr);
	rmid->attribution.by_rmid = !rmid->back_end->emulated;
	if (!err)
		err = rmid->back_end->open(rmid, reason);
	if (!err)
		err = load(rmid);
	if (!err)
		err = states__map(&rmid->states, bpf_map__fd(rmid->skel->maps.cpus), rmid->cpus.nr);
	if (!err)
		err = open_ring(rmid);
	if (!err)
		err = open_events(rmid);
	if (!err)
		err = attach_programs(rmid);
	if (!err && has_timer(rmid))
		err = start_timers(rmid);
	if (err) {
		release(rmid);
		explain(err, method, reason);
	}
	return err;
}

/* Opens the counters that this machine has. */
static int choose_counters(struct rmid *rmid, const struct rmid_config *config, char why[RUN_TEXT])
{
	int err;

	for (unsigned int kind = 0; kind < COUNTERS_KINDS; kind++) {
		if (!(config->counters & 1U << kind) || rmid->nr_counters == RMID_COUNTERS)
			continue;
		err = events__probe(kind, rmid->cpus.online, rmid->cpus.nr);
		if (!err) {
			rmid->counters[rmid->nr_counters++] = kind;
		} else if (!config->counters_optional) {
			snprintf(why, RUN_TEXT, "no perf event %s: %s", counters_kinds[kind].name,
				 rmid__explain_lack(-err));
			return -EOPNOTSUPP;
		} else {
			rmid->lacking |= 1U << kind;
			rmid->lacking_why = -err;
		}
	}
	return 0;
}

static int read_cpus(struct rmid *rmid)
{
	int err = cpus__new(&rmid->cpus, (unsigned int)libbpf_num_possible_cpus());

	rmid->unsampled = calloc(rmid->cpus.nr, sizeof(*rmid->unsampled));
	rmid->timed = calloc(rmid->cpus.nr, sizeof(*rmid->timed));
	if (!err && (!rmid->unsampled || !rmid->timed))
		err = -ENOMEM;
	return err;
}

/*
 * So that latscope gets a CPU soon on an overloaded machine: otherwise the kernel's buffers
 * overflow. Children do not inherit that. Does nothing if the user chose a nice value other than 0,
 * or another policy. 0 or -errno: needs CAP_SYS_NICE.
 */
static int raise_priority(struct rmid *rmid)
{
	struct sched_attr attr = { .size = sizeof(attr) };

	if (syscall(SYS_sched_getattr, 0, &attr, sizeof(attr), 0))
		return -errno;
	if (attr.sched_policy != SCHED_NORMAL || attr.sched_nice)
		return 0;
	attr.sched_nice = NICE;
	attr.sched_flags = SCHED_FLAG_RESET_ON_FORK;
	if (syscall(SYS_sched_setattr, 0, &attr, 0))
		return -errno;
	rmid->raised = true;
	return 0;
}

static int free_rmid(struct rmid *rmid)
{
	int err;

	if (rmid->raised)
		setpriority(PRIO_PROCESS, 0, 0);
	err = release(rmid);
	cpus__free(&rmid->cpus);
	free(rmid->unsampled);
	free(rmid->timed);
	free(rmid);
	return err;
}

/* Messages: a better method does not work, or another tool uses RDT. */
static void take_notes(struct rmid *rmid, const char *why)
{
	const struct rmid_back_end *back_end = rmid->back_end;
	const struct conflict *conflict = back_end->conflict ? back_end->conflict(rmid) : NULL;

	if (conflict)
		snprintf(rmid->notes[rmid->nr_notes++], sizeof(rmid->notes[0]),
			 "cache values may be wrong, another tool may use RDT: %s; %s",
			 conflict->why, conflict->todo);
	if (why[0] && back_end->instead && !rmid->rmids && !host__not_x86())
		snprintf(rmid->notes[rmid->nr_notes++], sizeof(rmid->notes[0]), "%s: %s",
			 back_end->instead, why);
}

static int open_rmid(struct probe **out, const struct probe_ops *ops,
		     const struct probe_request *request, char why[RUN_TEXT])
{
	static const struct rmid_config none;
	const struct rmid_config *config = request->own ? request->own : &none;
	struct rmid *rmid = calloc(1, sizeof(*rmid));
	int err;

	if (!rmid)
		return -ENOMEM;
	rmid->common.ops = ops;
	rmid->module = -1;
	rmid->rmids = config->rmids;
	rmid->trace = config->trace;
	rmid->dump = config->dump;
	rmid->resctrl_root = config->resctrl_root;
	err = choice__init(&rmid->choice, config->selects ? request->config : NULL, why);
	if (!err)
		err = read_cpus(rmid);
	if (!err)
		err = choose_counters(rmid, config, why);
	if (!err)
		err = methods__try(ops, request->method, attempt, rmid, why);
	if (err) {
		free_rmid(rmid);
		return err;
	}
	raise_priority(rmid); /* if that fails, the accounting shows the lost records */
	take_notes(rmid, why);
	*out = &rmid->common;
	return 0;
}

static int close_rmid(struct probe *probe, char why[RUN_TEXT])
{
	int err = free_rmid(rmid__of(probe));

	if (err)
		snprintf(why, RUN_TEXT,
			 "cannot remove the groups of resctrl: %s; use rmdir %s/mon_groups/%s*",
			 strerror(-err), RESCTRL_TREE, RESCTRL_PREFIX);
	return err;
}

/* ---- running ---- */

void rmid__arm(struct rmid *rmid)
{
	__atomic_store_n(&rmid->skel->bss->control.armed, 1, __ATOMIC_SEQ_CST);
}

/* Makes this CPU record which process runs. Fails on offline CPUs. */
static int prime(const struct rmid *rmid, unsigned int cpu)
{
	struct bpf_test_run_opts opts = { .sz = sizeof(opts),
					  .flags = BPF_F_TEST_RUN_ON_CPU,
					  .cpu = cpu };
	int err = bpf_prog_test_run_opts(bpf_program__fd(rmid->skel->progs.prime), &opts);

	return err == -ENXIO ? 0 : err;
}

int rmid__prime(const struct rmid *rmid)
{
	int err = 0;

	for (unsigned int cpu = 0; !err && cpu < rmid->cpus.nr; cpu++)
		if (rmid->cpus.online[cpu])
			err = prime(rmid, cpu);
	return err;
}

/* From now on the programs measure. Spans before start() are ignored. */
static int prepare(struct probe *probe, uint64_t at_ns)
{
	struct rmid *rmid = rmid__of(probe);

	(void)at_ns;
	return rmid->back_end->prepare(rmid);
}

/* Leaves out CPUs that will send nothing for a known reason. Others join with their first span. */
static void part_with_silent(struct rmid *rmid)
{
	struct slots *slots = rmid->attribution.slots;

	for (unsigned int cpu = 0; cpu < rmid->cpus.nr; cpu++) {
		if (!rmid->cpus.present[cpu])
			continue;
		if (rmid->unsampled[cpu])
			slots__leave(slots, cpu, PROCESSES_UNSAMPLED);
		if (rmid->cpus.online[cpu])
			continue;
		slots__leave(slots, cpu, PROCESSES_OFFLINE);
		states__leave(&rmid->states, cpu);
		rmid->timed[cpu] = false; /* the kernel has disabled its events */
	}
}

static int start(struct probe *probe, uint64_t start_ns)
{
	struct rmid *rmid = rmid__of(probe);

	rmid->start_ns = start_ns;
	rmid->started = true;
	slots__start(rmid->attribution.slots, start_ns);
	for (unsigned int cpu = 0; cpu < rmid->cpus.nr; cpu++)
		if (rmid->cpus.present[cpu])
			slots__join(rmid->attribution.slots, cpu, start_ns);
	part_with_silent(rmid);
	return rmid->back_end->start ? rmid->back_end->start(rmid) : 0;
}

static int put_slot(struct rmid *rmid, const struct slot *slot)
{
	struct rows_layout layout = rmid__layout(rmid);

	rmid->slots++;
	rmid->incomplete_slots += slot->missing_ns || slot->doubtful;
	rmid->missing_ns += slot->missing_ns;
	rmid->told_ns += slot->missing_ns;
	for (size_t i = 0; i < slot->nr; i++) {
		rmid->told_ns += slot->cells[i].sums.cpu_ns;
		processes__use(rmid->attribution.processes, slot->cells[i].process,
			       slot->cells[i].sums.cpu_ns);
		processes__name_by_proc(rmid->attribution.processes, slot->cells[i].process);
	}
	return rows__add(rmid->common.entry->table, &layout, slot, rmid->attribution.processes,
			 rmid->start_ns);
}

/* Updates the lost counts before it returns the slots that they belong to. */
static int settle(struct rmid *rmid)
{
	const struct slot *slot;
	int err;

	if (!rmid->started)
		return 0;
	err = rmid->back_end->mend ? rmid->back_end->mend(rmid) : 0;
	while (!err && (slot = slots__next(rmid->attribution.slots)))
		err = put_slot(rmid, slot);
	return err;
}

/* Removes processes that have ended. */
static int tidy_up(struct rmid *rmid, uint64_t now)
{
	uint64_t settled = slots__settled_ns(rmid->attribution.slots);

	if (now < rmid->tidied_ns + TIDY_NS)
		return 0;
	rmid->tidied_ns = now;
	if (settled > LAG_NS)
		processes__forget(rmid->attribution.processes, settled - LAG_NS);
	return rmid->back_end->tidy ? rmid->back_end->tidy(rmid, now) : 0;
}

/* `until` is before the ring is read, so all records up to then are in it. */
static int take_all(struct rmid *rmid, uint64_t until)
{
	int err;

	err = drain(rmid);
	if (!err && rmid->back_end->take)
		err = rmid->back_end->take(rmid, until);
	if (rmid->trace)
		fflush(rmid->trace);
	return err;
}

/* Does not use `at_ns`: time passes while the probes before this one take the step. */
static int poll_rmid(struct probe *probe, uint64_t at_ns)
{
	struct rmid *rmid = rmid__of(probe);
	uint64_t until = clock__now_ns();
	int err;

	(void)at_ns;
	err = take_all(rmid, until);
	if (!err && until > rmid->start_ns + LAG_NS)
		err = slots__give_up(rmid->attribution.slots, until - LAG_NS);
	if (!err)
		err = settle(rmid);
	if (!err && rmid->back_end->choose)
		err = rmid->back_end->choose(rmid, until);
	if (err)
		return err;
	if (!cpus__look(&rmid->cpus))
		part_with_silent(rmid);
	return tidy_up(rmid, until);
}

/* Reads the records first, so that the rows of an interval are those of its slots. */
static int end_interval(struct probe *probe, uint64_t at_ns)
{
	return rmid__of(probe)->stopped ? 0 : poll_rmid(probe, at_ns);
}

/*
 * With a timer, waits until every CPU that has ticks has reported up to the end. The state of each
 * CPU stays as it was when the programs were detached; the kernel waits for running ones.
 */
static void fall_silent(struct rmid *rmid)
{
	const struct timespec two_ticks = { .tv_nsec = 2 * RMID_SLOT_NS };

	if (!rmid->back_end->emulated || has_timer(rmid))
		nanosleep(&two_ticks, NULL);
	__atomic_store_n(&rmid->skel->bss->control.armed, 0, __ATOMIC_SEQ_CST);
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&two_ticks, NULL);
}

static int stop(struct probe *probe, uint64_t end_ns)
{
	struct rmid *rmid = rmid__of(probe);
	const struct slot *slot;
	int err;

	rmid->end_ns = end_ns;
	slots__end(rmid->attribution.slots, end_ns);
	err = rmid->back_end->stop(rmid);
	fall_silent(rmid);
	rmid->stopped = true;
	for (unsigned int cpu = 0; cpu < rmid->cpus.nr; cpu++)
		rmid->wall_ns += rmid->cpus.present[cpu] ? end_ns - rmid->start_ns : 0;
	if (!err)
		err = take_all(rmid, end_ns);
	if (!err)
		err = slots__give_up(rmid->attribution.slots, end_ns);
	if (!err)
		err = settle(rmid);
	while (!err && (slot = slots__rest(rmid->attribution.slots)))
		err = put_slot(rmid, slot);
	if (!err && rmid->trace)
		trace__end(rmid->trace, end_ns);
	return err || !rmid->dump ? err : rmid->back_end->dump(rmid);
}

/* ---- the probe ---- */

static const char *trouble(struct probe *probe)
{
	struct rmid *rmid = rmid__of(probe);

	return rmid->nr_notes ? rmid->notes[--rmid->nr_notes] : NULL;
}

const struct probe_ops rmid_probe = {
	.name = "rmid",
	.help = "per-process CPU time, cache occupancy and memory bandwidth, every ms",
	.what = "CPU time, counters and caches by process and millisecond",
	.needs_bpf = true,
	.methods = rmid_methods,
	.nr_methods = sizeof(rmid_methods) / sizeof(rmid_methods[0]),
	.open = open_rmid,
	.describe = rmid__describe,
	.steps = {
		[PROBE_PREPARE] = prepare,
		[PROBE_START] = start,
		[PROBE_POLL] = poll_rmid,
		[PROBE_STOP] = stop,
		[PROBE_INTERVAL] = end_interval,
	},
	.poll_ns = POLL_NS,
	.trouble = trouble,
	.close = close_rmid,
};
