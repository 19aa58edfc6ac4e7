// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include <core/clock.h>
#include <probes/kit/bpf_steps.h>
#include <probes/kit/kernel.h>
#include <probes/kit/refusal.h>

#include "fault_count.h"
#include "fault_events.h"
#include "types.h"
#include "memlat.skel.h"

#define TASK_SPLITS (1U << LAT_BY_PROCESS | 1U << LAT_BY_THREAD | 1U << LAT_BY_CGROUP)
#define CALL_SPLITS (1U << LAT_BY_ACCESS | 1U << LAT_BY_PAGE | 1U << LAT_BY_KIND)

/* Each kernel handles writes to pages that are mapped for reading, but may have it inlined. */
#define COW_FUNCTION "do_wp_page"
#define SWAP_FUNCTION "get_swap_device"
#define KIND_NAME 32 /* room for the name of a program */

/* For the ends of tasks. */
#define TASK_NEEDS "BPF tracepoints with BTF"

struct memlat {
	struct memlat_bpf *skel;
	struct fault_events *events; /* by perf-event; else NULL */
	struct fault_count count;
	/* why faults in progress at the start are unknown; NULL: they are known */
	const char *unmarked;
};

static struct memlat *memlat(const struct bpf_probe *probe)
{
	return probe->skel;
}

enum { FENTRY, KPROBE, PERF_EVENT };

static const struct probe_method methods[] = {
	[FENTRY] = {
		.name = "fentry",
		.mechanism = "fentry and fexit of handle_mm_fault(); table of calls in progress",
		.needs = "a kernel that has BPF trampolines "
			 "(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS) and permits them",
		/* In this order every start that is seen has its end seen. */
		.programs = { "fault_leave", "task_exit", "task_exec", "fault_enter" },
		.end_program = "fault_leave",
		.end_copy = "fault_leave_again",
		.start_program = "fault_enter",
		.start_copy = "fault_enter_again",
		.copies = { "fault_leave_again", "task_exit_again", "fault_enter_again" },
		.loaded = { "mark", "in_flight" },
		.explains = true,
		.by_trampoline = true,
	},
	[KPROBE] = {
		.name = "kprobe",
		.mechanism =
			"kprobe and kretprobe of handle_mm_fault(); table of calls in progress",
		.needs = "CONFIG_KPROBE_EVENTS, no lockdown, and " TASK_NEEDS,
		.programs = { "fault_enter_kprobe", "fault_leave_kprobe", "task_exit",
			      "task_exec" },
		.end_program = "fault_leave_kprobe",
		.loaded = { "mark", "in_flight" },
		.explains = true,
	},
	[PERF_EVENT] = {
		.name = "perf-event",
		.mechanism =
			"software perf events at entry and end of the whole fault (VMA lookup and "
			"mmap_lock wait included; GUP and failed faults not)",
		.needs = "software perf events on every CPU (CONFIG_PERF_EVENTS), and " TASK_NEEDS,
		.metric = "page_fault",
		.what = "page fault, start of the handler to its accounting",
		.programs = { "task_exit", "task_exec" },
		.loaded = { "mark", "in_flight", "event_start", "event_minor", "event_major" },
		.lacks = CALL_SPLITS,
		.explains = true,
	},
};

/* Can fentry be at functions with a structure as an argument? Since Linux 6.1 (720e6a435194). */
static bool takes_structures(void)
{
	return kernel__has_member("btf_func_model", "arg_flags");
}

/* Looking is cheaper than a failed load. */
static int memlat_suits(const struct bpf_probe *probe, const struct probe_method *method,
			char why[RUN_TEXT])
{
	if (probe->config.by & 1U << LAT_BY_KIND && !kernel__has_function(COW_FUNCTION)) {
		snprintf(why, RUN_TEXT, "%s",
			 "cannot do --by kind: this kernel has no function " COW_FUNCTION
			 "() to attach to");
		return -EOPNOTSUPP;
	}
	if (probe->config.by & 1U << LAT_BY_KIND && method == &methods[FENTRY] &&
	    !takes_structures()) {
		snprintf(why, RUN_TEXT, "%s",
			 "cannot do --by kind: this kernel has no fentry for " SWAP_FUNCTION "()");
		return -EOPNOTSUPP;
	}
	if (method != &methods[KPROBE] ||
	    !access("/sys/bus/event_source/devices/kprobe/type", F_OK) ||
	    !access("/sys/kernel/tracing/kprobe_events", F_OK))
		return 0;
	refusal__explain(-ENOENT, method->needs, why);
	return -EOPNOTSUPP;
}

static int memlat_open(struct bpf_probe *probe, struct bpf_object_skeleton **skeleton)
{
	struct memlat *memlat = calloc(1, sizeof(*memlat));
	struct memlat_bpf *skel;
	int err;

	if (!memlat)
		return -ENOMEM;
	skel = memlat->skel = memlat_bpf__open_opts(&probe->types.options);
	if (!skel) {
		err = -errno;
		free(memlat);
		return err;
	}
	PROBE_CONFIGURE(skel, probe);
	probe->skel = memlat;
	*skeleton = skel->skeleton;
	return 0;
}

/* Huge pages are recognized at the return of the function that maps them. */
static const char *thp_program(const struct bpf_probe *probe)
{
	if (!(probe->config.by & 1U << LAT_BY_PAGE) || probe->method->metric ||
	    !kernel__has_function("do_huge_pmd_anonymous_page"))
		return NULL;
	return probe->method == &methods[FENTRY] ? "thp_leave" : "thp_leave_kprobe";
}

/*
 * The programs that recognize kinds of faults, and the functions of the kernel that they are at.
 * Without such a function the kernel has no faults of that kind.
 */
static const struct {
	const char *program, *function;
} kind_programs[] = {
	{ "kind_uffd", "handle_userfault" },
	{ "kind_migration", "migration_entry_wait" },
	{ "kind_migration_thp", "pmd_migration_entry_wait" },
	{ "kind_migration_huge", "migration_entry_wait_huge" },
	{ "kind_numa", "mpol_misplaced" },
	{ "kind_cow", COW_FUNCTION },
	{ "kind_cow_thp", "do_huge_pmd_wp_page" },
	{ "kind_swap", SWAP_FUNCTION },
};

#define KIND_PROGRAMS (sizeof(kind_programs) / sizeof(kind_programs[0]))

/* Calls `use` for each of them that this method and kernel have. */
static int each_kind_program(struct bpf_probe *probe,
			     int (*use)(struct bpf_probe *probe, const char *program))
{
	bool fentry = probe->method == &methods[FENTRY];
	char name[KIND_NAME];
	int err = 0;

	if (!(probe->config.by & 1U << LAT_BY_KIND))
		return 0;
	for (unsigned int i = 0; !err && i < KIND_PROGRAMS; i++) {
		if (!kernel__has_function(kind_programs[i].function))
			continue;
		snprintf(name, sizeof(name), "%s%s", kind_programs[i].program,
			 fentry ? "" : "_kprobe");
		err = use(probe, name);
		if (err || !probe->config.again)
			continue;
		snprintf(name, sizeof(name), "%s_again", kind_programs[i].program);
		err = use(probe, name);
	}
	return err;
}

static int load_program(struct bpf_probe *probe, const char *program)
{
	return probe__load_too(probe->obj, program);
}

/* The programs that follow open calls, and the tracepoints that not all kernels have. */
static const struct {
	const char *program, *point;
} why_programs[] = {
	{ "why_switch", NULL },
	{ "why_migrate", NULL }, /* see needs_migrate() */
	{ "why_reclaim_begin", "mm_vmscan_direct_reclaim_begin" },
	{ "why_reclaim_end", "mm_vmscan_direct_reclaim_end" },
	{ "why_memcg_begin", "mm_vmscan_memcg_reclaim_begin" },
	{ "why_memcg_end", "mm_vmscan_memcg_reclaim_end" },
	{ "why_node_begin", "mm_vmscan_node_reclaim_begin" },
	{ "why_node_end", "mm_vmscan_node_reclaim_end" },
	{ "why_compaction_begin", "mm_compaction_begin" },
	{ "why_compaction_end", "mm_compaction_end" },
	{ "why_lock_begin", "contention_begin" },
	{ "why_lock_end", "contention_begin" },
	{ "why_lock_waking", "contention_begin" },
};

/*
 * The programs that find the disk of a swap-in, and who served userfaultfd, for the methods fentry
 * and kprobe; and the functions of the kernel that they are about.
 */
static const struct {
	const char *fentry, *kprobe, *function;
} culprit_programs[] = {
	{ "why_answer", "why_answer_kprobe", "userfaultfd_wake_function" },
	{ "why_answer_waking", "why_answer_waking", "userfaultfd_wake_function" },
	{ "why_swap", "why_swap_kprobe", SWAP_FUNCTION },
};

#define CULPRIT_PROGRAMS (sizeof(culprit_programs) / sizeof(culprit_programs[0]))

static int each_culprit_program(struct bpf_probe *probe,
				int (*use)(struct bpf_probe *probe, const char *program))
{
	bool fentry = probe->method == &methods[FENTRY];
	int err = 0;

	if (probe->method->metric)
		return 0;
	for (unsigned int i = 0; !err && i < CULPRIT_PROGRAMS; i++) {
		if (!kernel__has_function(culprit_programs[i].function) ||
		    (fentry && !strcmp(culprit_programs[i].function, SWAP_FUNCTION) &&
		     !takes_structures()))
			continue;
		err = use(probe, fentry ? culprit_programs[i].fentry : culprit_programs[i].kprobe);
	}
	return err;
}

#define WHY_PROGRAMS (sizeof(why_programs) / sizeof(why_programs[0]))

static bool wants_why_program(unsigned int i)
{
	const char *name = why_programs[i].program, *point = why_programs[i].point;

	if (!strcmp(name, "why_migrate"))
		return kernel__has_member("sched_entity", "sched_delayed");
	return !point || kernel__has_tracepoint(point);
}

static int prepare_why(struct bpf_probe *probe, struct bpf_object *obj)
{
	struct memlat_bpf *skel = memlat(probe)->skel;
	int err = 0;

	if (!probe->config.why) {
		bpf_map__set_autocreate(skel->maps.why_calls, false);
		bpf_map__set_autocreate(skel->maps.why_stacks, false);
		return 0;
	}
	for (unsigned int i = 0; !err && i < WHY_PROGRAMS; i++)
		if (wants_why_program(i))
			err = probe__load_too(obj, why_programs[i].program);
	if (!err && !probe->method->metric)
		err = probe__load_too(obj, "fault_entry");
	if (!err)
		err = each_culprit_program(probe, load_program);
	if (!err)
		err = bpf_map__set_max_entries(skel->maps.why_calls, MEMLAT_CALLS);
	return err ? err : bpf_map__set_max_entries(skel->maps.why_stacks, WHY_STACKS);
}

/* Of faults that are explained by fentry or kprobe: the wait for mmap_lock is a part of them. */
static const struct run_metric whole_fault = {
	"page_fault",
	"page fault, start of the exception's handler (GUP: entry of handle_mm_fault()) to return",
};

static int attach_why(struct bpf_probe *probe)
{
	struct memlat_bpf *skel = memlat(probe)->skel;
	int err = 0;

	/* Without perf events, samples begin where handle_mm_fault() does. */
	if (!probe->method->metric && !fault_events__attach_start(probe, skel->progs.fault_entry))
		probe->metric = &whole_fault;

	for (unsigned int i = 0; !err && i < WHY_PROGRAMS; i++)
		if (wants_why_program(i))
			err = bpf_probe__attach(probe, why_programs[i].program);
	if (!err)
		err = each_culprit_program(probe, bpf_probe__attach);
	skel->bss->why_attached_ns = clock__now_ns();
	return err;
}

/*
 * Before 6.10 rethook_find_ret_addr() warns, which for some machines is a panic, if a kretprobe is
 * on the stack of a task that begins to run while another one reads it. The kernel's types do not
 * show it; this member came with 6.9.
 */
static bool stacks_are_safe(void)
{
	return kernel__has_member("blk_plug", "cur_ktime");
}

/* Does the kernel's count of tasks tell more than the programs? */
static bool counts_faults(const struct bpf_probe *probe)
{
	return memlat(probe)->count.by_events || memlat(probe)->count.filters;
}

static int memlat_prepare(struct bpf_probe *probe, struct bpf_object *obj)
{
	const char *thp = thp_program(probe);
	int err = thp ? probe__load_too(obj, thp) : 0;

	if (!err)
		err = each_kind_program(probe, load_program);
	memlat(probe)->count.by_events = probe->method->metric;
	memlat(probe)->count.filters = probe__filters_tasks(&probe->config);
	if (!err && counts_faults(probe))
		err = probe__load_too(obj, "unseen_begin");
	if (!err && counts_faults(probe))
		err = probe__load_too(obj, "unseen_end");

	if (!err && stacks_are_safe())
		err = probe__load_too(obj, "find_code");
	return err ? err : prepare_why(probe, obj);
}

static int attach_events(struct bpf_probe *probe)
{
	struct memlat_bpf *skel = memlat(probe)->skel;
	struct bpf_program *const ends[] = {
		[FAULT_END_MINOR] = skel->progs.event_minor,
		[FAULT_END_MAJOR] = skel->progs.event_major,
	};

	return fault_events__attach(&memlat(probe)->events, probe, skel->progs.event_start, ends);
}

static int attach_more(struct bpf_probe *probe)
{
	struct memlat_bpf *skel = memlat(probe)->skel;
	const char *thp = thp_program(probe);

	int err;

	if (probe->method->metric)
		return attach_events(probe);
	err = each_kind_program(probe, bpf_probe__attach);
	/*
	 * The kprobe that was attached last runs first. It is the one of the return, so that its
	 * work is not in the sample. Calls that began between the two attachments would stay open.
	 * Those that began before the programs above were attached may have another kind.
	 */
	if (probe->method == &methods[KPROBE] || probe->config.by & 1U << LAT_BY_KIND)
		for (int i = 0; i < MEMLAT_CALLS; i++)
			skel->bss->calls[i].id = 0;
	return err || !thp ? err : bpf_probe__attach(probe, thp);
}

/* The kernel's exception handler: perf-event sees only faults that come through it. */
#if defined(__x86_64__)
#define EXCEPTION "exc_page_fault"
#else
#define EXCEPTION "do_mem_abort"
#endif

/*
 * Bytes in which a function calls the tracing programs at its entry. While the function's own code
 * runs in a trampoline's call, the return address of that first call is on the stack as well.
 */
#define ENTRY_CALL 16

/* -ENOENT: there is no such function, or the kernel does not tell this process. */
static int find_code(struct memlat_bpf *skel, const char *name, struct memlat_code *code)
{
	LIBBPF_OPTS(bpf_test_run_opts, options);
	const char *size;
	int err;

	memset(&skel->bss->symbol, 0, sizeof(skel->bss->symbol));
	snprintf(skel->bss->symbol.name, MEMLAT_SYMBOL, "%s", name);
	err = bpf_prog_test_run_opts(bpf_program__fd(skel->progs.find_code), &options);
	if (err)
		return err;
	code->start = skel->bss->symbol.start;
	size = strstr(skel->bss->symbol.text, "+0x0/");
	if (!code->start || !size)
		return -ENOENT;
	code->end = code->start + strtoull(size + strlen("+0x0/"), NULL, 16);
	return 0;
}

/* The functions on the stack of a task that is in a fault. */
static int find_codes(struct bpf_probe *probe)
{
	struct memlat_bpf *skel = memlat(probe)->skel;
	int err = find_code(skel, "handle_mm_fault", &skel->bss->handler);

	if (!err && probe->method->metric)
		err = find_code(skel, EXCEPTION, &skel->bss->exception);
	return err;
}

/* Marks the faults in progress. If that is impossible, memlat_conclude() says so. */
static int mark_faults(struct bpf_probe *probe)
{
	struct memlat_bpf *skel = memlat(probe)->skel;
	int err;

	if (!stacks_are_safe())
		memlat(probe)->unmarked = "this kernel (before 6.10) may warn when stacks are read";
	else if (find_codes(probe))
		memlat(probe)->unmarked = "the kernel does not tell where its functions are";
	if (memlat(probe)->unmarked)
		return 0;
	skel->bss->handler.start += ENTRY_CALL;
	skel->bss->attached_ns = clock__now_ns();
	err = bpf_probe__iterate(probe, "mark");
	if (!skel->bss->stacks)
		memlat(probe)->unmarked = "latscope cannot read kernel stacks";
	return err;
}

static int memlat_start(struct bpf_probe *probe, struct lat_control **control)
{
	struct memlat_bpf *skel = memlat(probe)->skel;
	int err = attach_more(probe);

	*control = &skel->bss->control;
	probe->why_control = &skel->bss->why_control;
	if (!err && probe->config.why)
		err = attach_why(probe);
	return err ? err : mark_faults(probe);
}

/* A call that has no stamp yet began just now. */
static void count_calls(const struct bpf_probe *probe, const struct memlat_call *calls,
			struct lat_in_flight *waits)
{
	for (int i = 0; i < MEMLAT_CALLS; i++) {
		uint64_t start_ns = calls[i].start_ns;

		if (!calls[i].id || calls[i].pending || (uint32_t)calls[i].id == MEMLAT_ENTRY ||
		    !probe__wants_cpu(&probe->config, calls[i].cpu))
			continue;
		if (start_ns)
			probe__count_in_flight(waits, 1, start_ns);
		else
			waits->count++;
	}
}

static int memlat_in_flight(struct bpf_probe *probe, struct lat_in_flight *waits, bool *age_known)
{
	struct memlat_bpf *skel = memlat(probe)->skel;
	int err;

	*age_known = true;
	skel->bss->waits_in_flight = (struct lat_in_flight){ 0 };
	skel->bss->oldest_in_flight = (struct lat_oldest){ 0 };
	if (!probe->method->metric)
		count_calls(probe, skel->bss->calls, &skel->bss->waits_in_flight);
	err = bpf_probe__iterate(probe, "in_flight");
	*waits = skel->bss->waits_in_flight;
	probe->oldest = skel->bss->oldest_in_flight;
	return err;
}

static void memlat_conclude(const struct bpf_probe *probe, const struct run_data *data,
			    char text[RUN_TEXT])
{
	(void)data;
	if (memlat(probe)->unmarked)
		snprintf(text, RUN_TEXT, "faults in progress at the start are unknown: %s",
			 memlat(probe)->unmarked);
}

/*
 * pgfault counts all calls that did not ask for a retry, before 6.4 these too, when they begin. It
 * includes faults of get_user_pages() and failed ones, for which there are no perf events.
 */
static void memlat_expect(const struct bpf_probe *probe, const struct run_probe *entry,
			  enum account_kind kind, struct run_check *check)
{
	const __u64 *counts = entry->total.metrics[0].counts;
	uint64_t unseen = run__unseen(entry, 0);

	(void)kind;
	/* The second program at the end does not know the faults of filtered tasks. */
	if (probe->config.again && probe__filters_tasks(&probe->config) &&
	    bpf_probe__skipped_ends(probe) > unseen)
		unseen = bpf_probe__skipped_ends(probe);
	check->events.known = true;
	/* For filtered tasks, it is unknown which calls were retried. */
	check->events.ours_low = counts[LAT_SEEN] - counts[LAT_CONTINUED] - counts[LAT_FILTERED];
	check->events.ours_high =
		counts[LAT_SEEN] + unseen + entry->in_flight.count - entry->in_flight.before;
	if (probe->method != &methods[PERF_EVENT])
		return;
	check->events.ours_high = UINT64_MAX;
	snprintf(check->why, RUN_TEXT,
		 "the kernel also counts GUP and failed faults, which have no event");
}

static void memlat_count_missed(struct bpf_probe *probe, bool closes)
{
	struct memlat_bpf *skel = memlat(probe)->skel;

	if (counts_faults(probe) && closes)
		fault_count__end(&memlat(probe)->count, probe, &skel->bss->unseen);
	else if (counts_faults(probe))
		fault_count__begin(&memlat(probe)->count, probe, &skel->bss->unseen);
	if (!memlat(probe)->events)
		return;
	if (closes)
		probe->missed += fault_events__missed(memlat(probe)->events, probe);
	else
		fault_events__open(memlat(probe)->events, probe);
}

static void memlat_count_unseen(const struct bpf_probe *probe, struct run_probe *entry)
{
	fault_count__apply(&memlat(probe)->count, probe->cost.recursion_missed, entry);
}

static void memlat_close(struct bpf_probe *probe)
{
	memlat_bpf__destroy(memlat(probe)->skel);
	fault_events__free(memlat(probe)->events);
	free(memlat(probe));
}

static const struct bpf_probe_ops ops = {
	.open = memlat_open,
	.suits = memlat_suits,
	.prepare = memlat_prepare,
	.start = memlat_start,
	.in_flight = memlat_in_flight,
	.count_missed = memlat_count_missed,
	.count_unseen = memlat_count_unseen,
	.conclude = memlat_conclude,
	.account = ACCOUNT_FAULTS,
	.expect = memlat_expect,
	.close = memlat_close,
};

const struct probe_ops memlat_probe = {
	BPF_PROBE_LIFECYCLE,
	.by_default = true,
	.explains = true,
	.name = "memlat",
	.help = "page faults: time the kernel takes to handle them",
	.examples = "  latscope memlat -d 5s                     how long page faults take\n"
		    "  latscope memlat -p 1234 --by type,access  of one process, by their kinds\n"
		    "  latscope memlat --why -- ./workload       and why the slow ones were slow\n",
	.tail_ns = PROBE_TAIL_NS,
	.nr_metrics = 1,
	.metrics = { { "handle_mm_fault", "page fault, handle_mm_fault() entry to return" } },
	.splits = TASK_SPLITS | CALL_SPLITS | 1U << LAT_BY_MODE | 1U << LAT_BY_TYPE |
		  1U << LAT_BY_CPU,
	.methods = methods,
	.nr_methods = sizeof(methods) / sizeof(methods[0]),
	.bpf = &ops,
};
