// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <core/clock.h>
#include <probes/kit/account_host.h>
#include <probes/kit/account_types.h>
#include <probes/kit/bpf_steps.h>
#include <probes/kit/kernel.h>
#include <symbols/kallsyms.h>

#include "queue_clock.h"
#include "types.h"
#include "runqlat.skel.h"

/* Maximum delay of latscope's stamp of a wakeup after the kernel's. */
#define OWN_CLOCK_NS 20000
#define OVER_NS 250000

#define WAKEUP (1U << RUNQLAT_WAKEUP)
#define SPLITS (1U << LAT_BY_PROCESS | 1U << LAT_BY_THREAD | 1U << LAT_BY_CGROUP | 1U << LAT_BY_CPU)

/* Iterators of each method, in `loaded`. */
enum { PRIME, IN_FLIGHT };

static const struct probe_method methods[] = {
	{
		.name = "stamps",
		.mechanism = "scheduler's stamp to sched_switch, by the scheduler's clock",
		.needs =
			"BPF tracepoints with BTF, CONFIG_SCHED_INFO, CONFIG_FAIR_GROUP_SCHED, and "
			"a fine clock of the scheduler that is the same on all CPUs, readable by "
			"perf event cpu-clock",
		.programs = { "stamps_switch", "newtask", "stamps_exec" },
		.end_program = "stamps_switch",
		.copies = { "newtask_again" },
		.loaded = { [PRIME] = "prime", [IN_FLIGHT] = "stamps_in_flight", "find_stamps" },
		.explains = true,
	},
	{
		.name = "tp_btf",
		.mechanism = "own clock from wakeup or preemption to sched_switch, in task storage",
		.needs = "BPF tracepoints with BTF",
		.programs = { "stored_switch", "stored_wakeup_old", "stored_wakeup_new", "newtask",
			      "stored_exec" },
		.end_program = "stored_switch",
		.copies = { "newtask_again" },
		.loaded = { [PRIME] = "stored_prime", [IN_FLIGHT] = "stored_in_flight" },
	},
};

struct runqlat {
	struct runqlat_bpf *skel;
	struct queue_clock clock; /* method stamps */
	bool blind; /* the programs cannot read preempt_count */
	struct account_host *account; /* that its programs change; NULL: none */
};

static bool uses_stamps(const struct bpf_probe *probe)
{
	return probe->method == &methods[0];
}

#define MORE_PROGRAMS 20

/*
 * The programs that only some kernels or options need. Since 6.12 a stamp does not always mean a
 * wait: stamps_migrate and stamps_wakeup find out.
 */
static int more_programs(const struct bpf_probe *probe, const char *names[MORE_PROGRAMS])
{
	static const char *const why[] = {
		"stamps_migrate_why", "stamps_wakeup_why", "why_waking",	 "why_raised",
		"why_irq_begins",     "why_irq_ends",	   "why_softirq_begins", "why_softirq_ends",
		"why_timer_begins",   "why_timer_ends",	   "why_work_starts",
	};
	static const char *const vectors[] = { "why_work_begins",   "why_work_ends",
					       "why_call_begins",   "why_call_ends",
					       "why_single_begins", "why_single_ends" };
	const struct runqlat *runqlat = probe->skel;
	int nr = 0;

	if (uses_stamps(probe) && probe->config.why) {
		for (size_t i = 0; i < sizeof(why) / sizeof(why[0]); i++)
			names[nr++] = why[i];
		for (size_t i = 0; runqlat->blind && i < sizeof(vectors) / sizeof(vectors[0]); i++)
			names[nr++] = vectors[i];
	} else if (uses_stamps(probe) && kernel__has_member("sched_entity", "sched_delayed")) {
		names[nr++] = "stamps_migrate";
		names[nr++] = "stamps_wakeup";
	}
	if (probe->config.metrics & WAKEUP)
		names[nr++] = "requested";
	return nr;
}

/* Tells the programs where x86 keeps preempt_count, if the kernel tells. */
static void find_preempt_count(struct runqlat *runqlat)
{
#ifdef __x86_64__
	struct kallsyms symbols;
	struct kallsym symbol;
	uint64_t count = 0, offsets = 0;

	runqlat->blind = true;
	if (kallsyms__open(&symbols, KALLSYMS_PATH))
		return;
	while (!(count && offsets) && kallsyms__next(&symbols, &symbol)) {
		if (!strcmp(symbol.name, "__preempt_count") || !strcmp(symbol.name, "pcpu_hot"))
			count = symbol.address;
		else if (!strcmp(symbol.name, "__per_cpu_offset"))
			offsets = symbol.address;
	}
	kallsyms__close(&symbols);
	runqlat->blind = !count || !offsets;
	if (runqlat->blind)
		return;
	runqlat->skel->rodata->preempt_count_at = count;
	runqlat->skel->rodata->per_cpu_offsets_at = offsets;
#else
	(void)runqlat;
#endif
}

static bool is_plain(const struct lat_config *config)
{
	return !config->why && !(config->metrics & WAKEUP) && !config->cpus &&
	       !probe__filters_tasks(config);
}

static int runqlat_open(struct bpf_probe *probe, struct bpf_object_skeleton **skeleton)
{
	struct runqlat *runqlat = calloc(1, sizeof(*runqlat));
	int err;

	if (!runqlat)
		return -ENOMEM;
	runqlat->skel = runqlat_bpf__open_opts(&probe->types.options);
	if (!runqlat->skel) {
		err = -errno;
		free(runqlat);
		return err;
	}
	PROBE_CONFIGURE(runqlat->skel, probe);
	runqlat->skel->rodata->plain = is_plain(&probe->config);
	if (probe->config.why) {
		find_preempt_count(runqlat);
		/* It and the layout of the count came together, in 7.x. */
		runqlat->skel->rodata->counts_disable =
			kernel__has_function("_raw_spin_lock_irq_disable");
	}
	probe->skel = runqlat;
	*skeleton = runqlat->skel->skeleton;
	return 0;
}

/* The account of threads, in the programs of method stamps. */
static int host_account(const struct bpf_probe *probe)
{
	struct runqlat *runqlat = probe->skel;
	int err = account_host__share(runqlat->skel->skeleton, &runqlat->account);

	if (err || !uses_stamps(probe))
		runqlat->account = NULL;
	runqlat->skel->rodata->hosts_account = runqlat->account;
	if (runqlat->account)
		runqlat->skel->rodata->line_mask = runqlat->account->line_mask;
	return err;
}

static int runqlat_prepare(struct bpf_probe *probe, struct bpf_object *obj)
{
	struct runqlat *runqlat = probe->skel;
	const char *names[MORE_PROGRAMS];
	int nr = more_programs(probe, names), err = host_account(probe);

	if (!err && uses_stamps(probe))
		err = bpf_map__set_max_entries(runqlat->skel->maps.events, probe->cpus);
	for (int i = 0; !err && i < nr; i++)
		err = probe__load_too(obj, names[i]);
	return err;
}

/*
 * libbpf maps all data of the programs. Nobody reads the lines of tasks here, so nothing is put in
 * their place, which libbpf unmaps at the end. With pages of more than 4 KiB they stay.
 */
static int leave_out_lines(struct runqlat_bpf *skel)
{
	void *lines = skel->bss->task_lines;

	if ((uintptr_t)lines % (size_t)sysconf(_SC_PAGESIZE))
		return 0;
	lines = mmap(lines, sizeof(skel->bss->task_lines), PROT_NONE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	return lines == MAP_FAILED ? -errno : 0;
}

/* What the method needs in addition to its programs. */
static int start_method(struct bpf_probe *probe)
{
	struct runqlat *runqlat = probe->skel;
	const char *names[MORE_PROGRAMS];
	int nr = more_programs(probe, names), err = 0;

	for (int i = 0; !err && i < nr; i++)
		err = bpf_probe__attach(probe, names[i]);
	if (err || !uses_stamps(probe))
		return err;
	if (runqlat->account)
		runqlat->account->is_hosted = true;
	runqlat->skel->bss->attached_ns = clock__now_ns();
	return queue_clock__open(&runqlat->clock, runqlat->skel->maps.events,
				 runqlat->skel->maps.cells, runqlat->skel->progs.find_stamps);
}

static int runqlat_start(struct bpf_probe *probe, struct lat_control **control)
{
	struct runqlat *runqlat = probe->skel;
	int err = leave_out_lines(runqlat->skel);

	if (!err)
		err = start_method(probe);
	*control = &runqlat->skel->bss->control;
	probe->why_control = &runqlat->skel->bss->why_control;
	return err ? err : bpf_probe__iterate(probe, probe->method->loaded[PRIME]);
}

static int runqlat_in_flight(struct bpf_probe *probe, struct lat_in_flight *waits, bool *age_known)
{
	struct runqlat_bpf *skel = ((struct runqlat *)probe->skel)->skel;
	int err;

	*age_known = true;
	skel->bss->waits_in_flight = (struct lat_in_flight){ 0 };
	skel->bss->oldest_in_flight = (struct lat_oldest){ 0 };
	err = bpf_probe__iterate(probe, probe->method->loaded[IN_FLIGHT]);
	*waits = skel->bss->waits_in_flight;
	probe->oldest = skel->bss->oldest_in_flight;
	return err;
}

/* Why the kernel's sum of waits cannot be compared with ours; NULL: it can. */
static const char *beyond_time(const struct bpf_probe *probe, const struct run_probe *entry)
{
	const __u64 *counts = entry->total.metrics[0].counts;

	if (probe__filters_tasks(&probe->config) || probe->config.cpus)
		return "time not, as a filter leaves out waits";
	if (counts[LAT_PARTIAL] || counts[LAT_MAP_FULL])
		return "time not, as some tasks are hidden from BPF";
	/* With stamps, a wait without a known start matters if it goes on: the task may move. */
	if ((probe->method != &methods[0] && counts[LAT_MISSED_START]) || entry->in_flight.before)
		return "time not, as the start of some waits is unknown";
	if (probe->method != &methods[0] && kernel__has_member("sched_entity", "sched_delayed"))
		return "time not, as this kernel counts the sleep of moved tasks as waits";
	return NULL;
}

/*
 * The kernel counts an arrival for each stamp it made. It makes none for tasks that are preempted
 * on their way to sleep. Own clocks show more time than the kernel's, which reads most wakeups of
 * an idle CPU as 0.
 */
static void runqlat_expect(const struct bpf_probe *probe, const struct run_probe *entry,
			   enum account_kind kind, struct run_check *check)
{
	const struct lat_cell *cell = &entry->total.metrics[0];
	const __u64 *counts = cell->counts;
	const char *why = beyond_time(probe, entry);
	uint64_t unstamped = counts[LAT_UNSTAMPED];

	if (probe->method == &methods[0])
		unstamped += counts[LAT_MISSED_START];
	check->events.known = true;
	check->events.ours_low = counts[LAT_SEEN] > unstamped ? counts[LAT_SEEN] - unstamped : 0;
	check->events.ours_high = counts[LAT_SEEN] + counts[LAT_JOINED] + run__unseen(entry, 0);
	if (kind == ACCOUNT_SWITCHES) {
		check->events.ours_low = counts[LAT_SEEN] + counts[LAT_IDLE];
		check->events.ours_high += counts[LAT_IDLE];
		why = "time not, as this kernel has no /proc/schedstat (CONFIG_SCHEDSTATS)";
	}
	if (why) {
		snprintf(check->why, RUN_TEXT, "%s", why);
		return;
	}
	check->time.known = true;
	/* A migration moves the first part of a wait into the sum before the wait has ended. */
	check->time.ours_high = entry->in_flight.sum_ns;
	if (probe->method == &methods[0]) {
		check->time.ours_low = counts[LAT_KERNEL_NS] > counts[LAT_EARLY_NS]
					       ? counts[LAT_KERNEL_NS] - counts[LAT_EARLY_NS]
					       : 0;
		check->time.ours_high += counts[LAT_KERNEL_NS];
		return;
	}
	check->time.ours_high += cell->hist.sum_ns;
	check->time.tolerance = counts[LAT_SEEN] * OWN_CLOCK_NS;
	snprintf(check->why, RUN_TEXT,
		 "the kernel reads most wakeups of an idle CPU as waits of 0");
}

static void runqlat_close(struct bpf_probe *probe)
{
	struct runqlat *runqlat = probe->skel;

	if (runqlat->account)
		account_host__leave();
	queue_clock__close(&runqlat->clock);
	runqlat_bpf__destroy(runqlat->skel);
	free(runqlat);
}

static const struct why_map why_maps[] = {
	{ "why_traits", WHY_TRAITS },
	{ "places", 0 },
	{ NULL, 0 },
};

static const struct bpf_probe_ops ops = {
	.why_maps = why_maps,
	.hosts_account = true,
	.open = runqlat_open,
	.prepare = runqlat_prepare,
	.start = runqlat_start,
	.in_flight = runqlat_in_flight,
	.account = ACCOUNT_WAITS,
	.expect = runqlat_expect,
	.close = runqlat_close,
};

const struct probe_ops runqlat_probe = {
	BPF_PROBE_LIFECYCLE,
	.by_default = true,
	.explains = true,
	.over_ns = OVER_NS,
	.name = "runqlat",
	.help = "run queue: time that runnable tasks wait for a CPU",
	.examples = "  latscope runqlat -d 5s                    how long tasks wait for a CPU\n"
		    "  latscope runqlat --by process -i 1s       which ones, second by second\n"
		    "  latscope runqlat --why --over 5ms -p 1234 who had the CPU meanwhile\n",
	.tail_ns = PROBE_TAIL_NS,
	.nr_metrics = RUNQLAT_METRICS,
	.metrics = { [RUNQLAT_RUN_QUEUE] = { "run_queue", "wait for a CPU, runnable to running" },
		     [RUNQLAT_WAKEUP] = { "wakeup", "wakeup, requested to running" } },
	.optional = WAKEUP,
	.splits = SPLITS,
	.methods = methods,
	.nr_methods = sizeof(methods) / sizeof(methods[0]),
	.bpf = &ops,
};
