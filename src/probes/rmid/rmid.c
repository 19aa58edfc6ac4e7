// SPDX-License-Identifier: BSD-2-Clause
#include "rmid.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <core/clock.h>
#include <core/host.h>
#include <core/pid_namespace.h>
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
#include "priority.h"
#include "resctrl_tree.h"
#include "rmid.skel.h"
#include "states.h"
#include "trace.h"

#define CHOOSE_NS 100000000ULL /* how often groups may pass to busier processes */
#define LEAST_NS 2000000 /* CPU time by which one must be busier at least */
#define POLL_NS 50000000ULL /* how often records are read */
#define RING_OF_CPU (1U << 20) /* bytes per CPU: 100 ms of 180,000 switches per second */
#define RING_MOST (1U << 24)
#define AT_ONCE 1024 /* records to read before slots are returned */
#define LAG_NS 1000000000ULL /* a CPU without a record for so long will send none */
#define TIDY_NS 250000000ULL /* how often ended processes are removed */

/* The methods. Programs are in the order of attachment: see attach_programs(). */
const struct probe_method rmid_methods[] = {
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

static int select_programs(struct rmid *rmid)
{
	bool tick = !rmid__uses(rmid, RMID_BY_MODULE) && rmid->nr_counters;
	int err = methods__select(rmid->method, false, rmid->skel->obj);

	return err || !tick ? err : bpf_program__set_autoload(rmid->skel->progs.tick, true);
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
	rmid->skel->rodata->emulated = !rmid__uses(rmid, RMID_BY_MODULE);
	if (rmid->nr_counters)
		rmid->skel->rodata->cell_size = sizeof(struct lat_rmid_cell);
	err = select_programs(rmid);
	if (!err)
		err = size_maps(rmid);
	return err ? err : bpf_object__load_skeleton(rmid->skel->skeleton); /* also maps .bss */
}

static int settle(struct rmid *rmid);

/* A process has got, lost or not found a group of resctrl. */
static int follow_owner(struct rmid *rmid, const struct lat_rmid_owner *record)
{
	const struct latscope_rmid_owner *owner = &record->owner;

	switch (record->head.flags) {
	case RMID_ALLOCATED:
		return resctrl__give(rmid->resctrl, owner->rmid, owner->tgid);
	case RMID_FREED:
	case RMID_YIELDED:
		return resctrl__take(rmid->resctrl, owner->rmid, owner->time_ns);
	case RMID_AWAITED:
		return resctrl__wait(rmid->resctrl, owner->tgid);
	}
	return 0;
}

static int take_owner(void *context, const struct lat_rmid_owner *record, uint32_t runner)
{
	struct rmid *rmid = context;
	int err;

	if (rmid->trace)
		trace__print(rmid->trace, record, runner);
	err = attribution__take(&rmid->attribution, record, sizeof(*record));
	return err || !rmid->resctrl ? err : follow_owner(rmid, record);
}

static int take_reading(void *context, const struct latscope_rmid_read *read)
{
	struct rmid *rmid = context;
	struct lat_rmid_read record = {
		.head = { .time_ns = read->time_ns, .record = RMID_READ },
		.read = *read,
	};

	return attribution__take(&rmid->attribution, &record, sizeof(record));
}

/* Tasks after the end of the window are not taken: --dump is of then. */
static int take_any(struct rmid *rmid, void *record, size_t size)
{
	const struct lat_rmid_head *head = record;
	bool whole = size >= sizeof(*head);

	if (whole && head->record == RMID_OWNER && size >= sizeof(struct lat_rmid_owner))
		return take_owner(rmid, record, 0);
	if (!whole || head->record != RMID_TASK || size < sizeof(struct lat_rmid_task))
		return attribution__take(&rmid->attribution, record, size);
	if (!rmid->emulation)
		return 0;
	if (!rmid->end_ns || head->time_ns <= rmid->end_ns)
		return emulation__take(rmid->emulation, record);
	emulation__ended_later(rmid->emulation, record);
	return 0;
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
	const char *const *names = rmid->method->programs;
	int err = 0, i = 0;

	for (; !err && names[i + rmid__uses(rmid, RMID_BY_MODULE)]; i++)
		err = attach(rmid, names[i]);
	if (!err && rmid__uses(rmid, RMID_BY_MODULE))
		err = module__dump(rmid->module);
	if (!err)
		err = probe__run_iterator(rmid->skel->progs.existing, NULL);
	if (!err)
		err = drain(rmid);
	return err || !names[i] ? err : attach(rmid, names[i]);
}

static int open_module(struct rmid *rmid)
{
	rmid->module = module__open(LATSCOPE_RMID_PROC);
	if (rmid->module >= 0)
		return 0;
	return rmid->module == -ENOENT ? -ENODEV : rmid->module;
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
	emulation__free(rmid->emulation);
	rmid->emulation = NULL;
	err = resctrl__close(rmid->resctrl);
	rmid->resctrl = NULL;
	if (rmid->module >= 0)
		close(rmid->module);
	rmid->ring = NULL;
	rmid->skel = NULL;
	rmid->module = -1;
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

static int64_t weigh(void *context, uint32_t tgid, uint64_t start_ns, const char *comm)
{
	const struct rmid *rmid = context;

	return choice__weight(&rmid->choice, tgid, start_ns, comm);
}

/* Those that use most CPU time get groups. Once rows were made, by the time that they show. */
static int choose(struct rmid *rmid, uint64_t now)
{
	int err;

	if (!rmid->resctrl || (rmid->started && now < rmid->chosen_ns + CHOOSE_NS))
		return 0;
	rmid->chosen_ns = now;
	rmid->choice.processes = rmid->slots ? rmid->attribution.processes : NULL;
	if (!rmid->slots && rmid->started)
		return 0;
	err = emulation__choose(rmid->emulation, LEAST_NS, now);
	processes__age(rmid->attribution.processes);
	return err;
}

/* The groups of resctrl stand for RMIDs. If there are too few, the busiest processes get them. */
static int emulate(struct rmid *rmid, char reason[RUN_TEXT])
{
	uint32_t rmids = rmid->rmids ? rmid->rmids : emulation__rmids();
	int err;

	if (rmid__uses(rmid, RMID_BY_RESCTRL)) {
		err = resctrl__open(&rmid->resctrl, rmid->resctrl_root, rmid->rmids, take_reading,
				    rmid, reason);
		if (err)
			return err;
		rmids = resctrl__groups(rmid->resctrl);
	}
	err = emulation__new(&rmid->emulation, rmids, take_owner, rmid);
	if (!err && rmid->resctrl)
		emulation__weigh(rmid->emulation, weigh);
	return err;
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
	int err = 0;

	rmid->method = method;
	if (choice__selects(&rmid->choice) && !rmid__uses(rmid, RMID_BY_RESCTRL)) {
		snprintf(reason, RUN_TEXT,
			 "it has no groups to give to the selected processes; leave out the "
			 "filter");
		return -EOPNOTSUPP;
	}
	if (rmid__uses(rmid, RMID_BY_MODULE) && rmid->rmids) {
		snprintf(reason, RUN_TEXT, "its RMIDs are not emulated; leave out --rmids");
		return -EOPNOTSUPP;
	}
	if (rmid__uses(rmid, RMID_BY_MODULE))
		err = open_module(rmid);
	if (!err)
		err = attribution__init(&rmid->attribution, rmid->cpus.nr);
	if (!err && !rmid__uses(rmid, RMID_BY_MODULE))
		err = emulate(rmid, reason);
	rmid->attribution.by_rmid = rmid__uses(rmid, RMID_BY_MODULE);
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
	if (!err && !rmid__uses(rmid, RMID_BY_MODULE) && rmid->nr_counters)
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

static int free_rmid(struct rmid *rmid)
{
	int err;

	priority__restore();
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
	const struct conflict *conflict = NULL;

	if (rmid__uses(rmid, RMID_BY_MODULE) && module__uses_rdt(rmid->module))
		conflict = conflict__find("");
	if (conflict)
		snprintf(rmid->notes[rmid->nr_notes++], sizeof(rmid->notes[0]),
			 "cache values may be wrong, another tool may use RDT: %s; %s",
			 conflict->why, conflict->todo);
	if (why[0] && !rmid->rmids && !host__not_x86())
		snprintf(rmid->notes[rmid->nr_notes++], sizeof(rmid->notes[0]), "%s: %s",
			 rmid->resctrl ? "using resctrl instead of the kernel module"
				       : "attributing by process instead of by RMID",
			 why);
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
	priority__raise(); /* if that fails, the accounting shows the lost records */
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

/* Makes this CPU record which process runs. Fails on offline CPUs. */
static int prime(const struct rmid *rmid, unsigned int cpu)
{
	struct bpf_test_run_opts opts = { .sz = sizeof(opts),
					  .flags = BPF_F_TEST_RUN_ON_CPU,
					  .cpu = cpu };
	int err = bpf_prog_test_run_opts(bpf_program__fd(rmid->skel->progs.prime), &opts);

	return err == -ENXIO ? 0 : err;
}

/* From now on the programs measure. Spans before start() are ignored. */
static int prepare(struct probe *probe, uint64_t at_ns)
{
	struct rmid *rmid = rmid__of(probe);
	int err = rmid__uses(rmid, RMID_BY_MODULE) ? module__read(rmid->module, &rmid->before) : 0;

	(void)at_ns;
	if (!err && rmid__uses(rmid, RMID_BY_MODULE))
		err = cpus__parse(rmid->before.unsampled, rmid->unsampled, rmid->cpus.nr);
	if (err)
		return err;
	__atomic_store_n(&rmid->skel->bss->control.armed, 1, __ATOMIC_SEQ_CST);
	for (unsigned int cpu = 0; !err && cpu < rmid->cpus.nr; cpu++)
		if (!rmid__uses(rmid, RMID_BY_MODULE) && rmid->cpus.online[cpu])
			err = prime(rmid, cpu);
	if (!err)
		err = choose(rmid, clock__now_ns());
	return err || !rmid->resctrl ? err : resctrl__begin(rmid->resctrl);
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
	return rmid->resctrl ? resctrl__start(rmid->resctrl) : 0;
}

/*
 * Without the kernel module a lost record costs a name, and the next reading of /proc finds it.
 * With it, the owners of the RMIDs are no longer known, and latscope asks for them again.
 */
static int mend_losses(struct rmid *rmid)
{
	uint64_t lost = states__lost_others(&rmid->states);
	bool any = lost != rmid->lost_others || rmid->attribution.owners_lost;

	rmid->lost_others = lost;
	if (!any || rmid->emulation)
		return 0;
	attribution__doubt(&rmid->attribution, clock__now_ns());
	return module__dump(rmid->module);
}

/* A CPU with a timer sends its records at each tick, but an idle one may have no more ticks. */
static int take_states(struct rmid *rmid, uint64_t until)
{
	int err = 0;

	for (unsigned int cpu = 0; !err && cpu < rmid->cpus.nr; cpu++)
		if (rmid->cpus.online[cpu] && (!rmid->timed[cpu] || rmid->stopped))
			err = states__take(&rmid->states, cpu, &rmid->attribution, until,
					   rmid->stopped);
	return err;
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
	err = mend_losses(rmid);
	while (!err && (slot = slots__next(rmid->attribution.slots)))
		err = put_slot(rmid, slot);
	return err;
}

/* With an emulation: records of tasks were lost, or not written, since the last check. */
static bool missed_any(struct rmid *rmid)
{
	struct rmid_account account = { 0 };
	uint64_t before = rmid->missed;

	states__add_up(&rmid->states, &account);
	rmid->missed = account.lost_others + account.hidden;
	return rmid->missed != before;
}

/* Not where /proc has other processes under these numbers, or none. */
static int find_lost_ends(struct rmid *rmid, uint64_t now)
{
	bool missed = missed_any(rmid);

	if ((!missed && !emulation__has_gone(rmid->emulation)) || pid_namespace__differs())
		return 0;
	return emulation__check(rmid->emulation, "", now);
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
	return rmid->emulation ? find_lost_ends(rmid, now) : 0;
}

/* `until` is before the ring is read, so all records up to then are in it. */
static int take_all(struct rmid *rmid, uint64_t until)
{
	int err;

	err = drain(rmid);
	if (!err && rmid->emulation)
		err = emulation__serve(rmid->emulation, until);
	if (!err && rmid->resctrl)
		err = rmid->end_ns ? resctrl__stop(rmid->resctrl, rmid->end_ns)
				   : resctrl__poll(rmid->resctrl);
	if (rmid->trace)
		fflush(rmid->trace);
	if (!err && !rmid__uses(rmid, RMID_BY_MODULE))
		err = take_states(rmid, until);
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
	if (!err)
		err = choose(rmid, until);
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

	if (rmid__uses(rmid, RMID_BY_MODULE) || rmid->nr_counters)
		nanosleep(&two_ticks, NULL);
	__atomic_store_n(&rmid->skel->bss->control.armed, 0, __ATOMIC_SEQ_CST);
	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&two_ticks, NULL);
}

/* Writes who has an RMID now. */
static int write_dump(struct rmid *rmid)
{
	int err = 0;

	if (rmid->trace)
		trace__end(rmid->trace, rmid->end_ns);
	if (!rmid->dump)
		return 0;
	if (!rmid->emulation)
		return module__copy(rmid->module, rmid->dump);
	err = find_lost_ends(rmid, rmid->end_ns);
	emulation__dump(rmid->emulation, rmid->missed, rmid->dump);
	return err;
}

static int stop(struct probe *probe, uint64_t end_ns)
{
	struct rmid *rmid = rmid__of(probe);
	const struct slot *slot;
	int err;

	rmid->end_ns = end_ns;
	slots__end(rmid->attribution.slots, end_ns);
	err = rmid__uses(rmid, RMID_BY_MODULE) ? module__read(rmid->module, &rmid->after) : 0;
	if (rmid->dump && rmid->emulation)
		emulation__look(rmid->emulation, "");
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
	return err ? err : write_dump(rmid);
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
