// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include <core/clock.h>
#include <host/pid_namespace.h>
#include <probes/kit/account_host.h>
#include <probes/kit/bpf_open.h>
#include <probes/kit/kernel.h>
#include <probes/kit/methods.h>
#include <probes/kit/tracing.h>

#include "calls.h"
#include "columns.h"
#include "sums.h"
#include "view_states.h"
#include "waits.h"
#include "where.skel.h"

#define REPORTS_AT_ONCE 64
#define MAX_LINKS (PROBE_PROGRAMS + 4)
#define LEAST_LINES 32768 /* entries for threads that cost little: 8 MB */
#define MOST_LINES 131072
#define SOON_NS 100000
#define POLL_NS 50000000ULL
#define MOST_PARTS 400 /* between two readings; more raise the threshold */
#define LEAST_NS 1000000ULL /* the lowest threshold */
#define REST 200 /* times as long as a reading took: then the next one takes 0.5 % of a CPU */

static const struct probe_method methods[] = {
	{
		.name = "tp_btf",
		.mechanism = "own clock at the scheduler's tracepoints; what a thread sleeps for "
			     "by the kernel's flags and the registers of its system call",
		.needs = "BPF tracepoints with BTF, and iterators",
		.programs = { "began", "executed", "forgotten" },
		.loaded = { "prime", "read_threads", "switched", "woken", "woken_new" },
	},
};

struct where {
	struct probe common; /* first */
	struct where_bpf *skel;
	struct bpf_link *links[MAX_LINKS];
	int nr_links;
	bool sees_locks, sees_calls;
	bool has_delayed; /* tasks that sleep may stay on their run queue, and be moved */
	struct account_host account;
	struct where_control *control; /* mapped: of the account */
	enum lat_by by; /* what sums are of */
	bool explains; /* long parts are kept, and who ended them */
	uint32_t workload; /* its process, if the account is of that alone; else 0 */
	struct where_window window;
	struct where_sums sums;
	uint64_t lost_ends, lost_ns; /* threads whose end found no room in the kernel; their life */
	uint64_t next_ns; /* in a window without end: not to be read before */
	struct waits *waits; /* NULL: they are not kept */
	struct gaps gaps; /* until the last interval */
	uint64_t late_ns; /* see GAP_LATE; at the beginning of the window */
};

static struct where *where_of(struct probe *probe)
{
	return (struct where *)probe;
}

/* ---- opening ---- */

static int attach(struct where *where, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(where->skel->obj, name);
	struct bpf_link *link = tracing__attach(program);

	if (!link)
		return -errno;
	where->links[where->nr_links++] = link;
	return 0;
}

static const char *const lock_programs[] = { "waits_for_lock", "has_lock", NULL };

static int attach_each(struct where *where, const char *const *names)
{
	int err = 0;

	while (!err && *names)
		err = attach(where, *names++);
	return err;
}

/* Unless another probe has them in its programs. */
static const char *const changes[] = { "switched", "woken", "woken_new", NULL };

static int attach_all(struct where *where)
{
	int err = attach_each(where, methods[0].programs);

	if (!err && where->sees_locks)
		err = attach_each(where, lock_programs);
	return err;
}

/*
 * That the account is of the workload alone is a filter, too. With another one of tasks, the
 * workload only says how long: -p PID -- sleep 10.
 */
static int name_workload(struct probe *probe)
{
	struct run_probe *entry = probe->entry;
	struct where *where = where_of(probe);
	char *all = NULL;

	if (!probe->workload || pid_namespace__differs() ||
	    probe__filters_tasks(&where->skel->rodata->config))
		return 0;
	if (asprintf(&all, "the workload%s%s", entry->filter ? ", " : "", entry->filter ?: "") < 0)
		return -ENOMEM;
	free(entry->filter);
	entry->filter = all;
	where->workload = (uint32_t)probe->workload;
	return 0;
}

/*
 * When all probes are open: the programs that none of them hosts, then the state of each thread.
 * The end of a state is attached before its beginning, so that none begins unseen.
 */
static int prepare(struct probe *probe, uint64_t at_ns)
{
	struct where *where = where_of(probe);
	int err = name_workload(probe);

	(void)at_ns;
	if (!err && !where->account.is_hosted)
		err = attach_each(where, changes);
	where->control->begins = true;
	return err ? err : probe__run_iterator(where->skel->progs.prime, NULL);
}

/* Does the kernel make a map of one value of this size? Before 5.17, only up to 4 MB. */
static bool can_have(unsigned int lines)
{
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "lines", sizeof(uint32_t),
				lines * (uint32_t)sizeof(struct where_thread), 1, NULL);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Twice as many as threads, if that is not too much memory. */
static unsigned int choose_lines(void)
{
	FILE *file = fopen("/proc/loadavg", "re");
	unsigned int threads = 0, lines = LEAST_LINES;

	if (file) {
		if (fscanf(file, "%*s %*s %*s %*u/%u", &threads) != 1)
			threads = 0;
		fclose(file);
	}
	while (lines < MOST_LINES && lines / 2 < threads)
		lines *= 2;
	while (lines > 1 && !can_have(lines))
		lines /= 2;
	return lines;
}

static int make_lines(struct where *where)
{
	unsigned int lines = choose_lines();

	where->account.line_mask = where->skel->rodata->line_mask = lines - 1;
	return bpf_map__set_value_size(where->skel->maps.lines,
				       lines * (uint32_t)sizeof(struct where_thread));
}

/* See where_control.reason_bits. */
static uint32_t reason_bits(void)
{
	static const char *const members[] = { "in_iowait", "in_memstall", "frozen" };
	int first = kernel__bit("task_struct", members[0]);
	uint32_t bits = 0;

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		int bit = kernel__bit("task_struct", members[i]);

		if (bit >= 0 && bit / 32 != first / 32)
			return 0;
		if (bit >= 0)
			bits |= 1U << bit % 32;
	}
	return bits;
}

static void set_control(struct where *where)
{
	where->control = &where->skel->data_account->account;
	where->control->opened_ns = where->control->closed_ns = UINT64_MAX;
	where->control->inside_ns = where->control->over_ns = UINT64_MAX;
	where->control->by = where->by;
	where->control->reason_bits = reason_bits();
	calls__fill(where->control->call_states, where->control->call_states + WHERE_CALLS);
}

static int load(struct where *where, const struct lat_config *config)
{
	struct kernel_types types;
	int err;

	kernel_types__begin(&types);
	where->skel = where_bpf__open_opts(&types.options);
	if (!where->skel) {
		err = -errno;
		goto end_types;
	}
	memcpy((void *)&where->skel->rodata->config, config, sizeof(*config));
	where->sees_locks = kernel__has_tracepoint("contention_begin");
	where->has_delayed = kernel__has_member("sched_entity", "sched_delayed");
	where->sees_calls = kernel__enum_value("BPF_FUNC_task_pt_regs") >= 0;
	err = methods__select(&methods[0], false, where->skel->obj);
	for (int i = 0; !err && where->sees_locks && lock_programs[i]; i++)
		err = probe__load_too(where->skel->obj, lock_programs[i]);
	if (!err)
		err = make_lines(where);
	if (!err)
		err = kernel_types__write(&types, where->skel->obj);
	if (!err)
		err = bpf_open__load(where->skel->skeleton);
	if (!err)
		set_control(where);
end_types:
	kernel_types__end(&types);
	return err;
}

static void release(struct where *where)
{
	while (where->nr_links)
		bpf_link__destroy(where->links[--where->nr_links]);
	where->control = NULL;
	waits__free(where->waits);
	where->waits = NULL;
	where_bpf__destroy(where->skel);
	where->skel = NULL;
}

struct request {
	struct where *where;
	const struct lat_config *config;
};

static int attempt(void *context, const struct probe_method *method, char reason[RUN_TEXT])
{
	const struct request *request = context;
	int err;

	(void)method;
	(void)reason;
	err = load(request->where, request->config);
	if (!err && request->where->explains)
		err = waits__new(&request->where->waits,
				 bpf_map__fd(request->where->skel->maps.long_parts));
	if (!err)
		err = attach_all(request->where);
	if (err)
		release(request->where);
	return err;
}

/* Sums of processes have their cgroup, so those of cgroups follow from them. */
static enum lat_by choose_by(uint32_t by)
{
	if (by & 1U << LAT_BY_THREAD)
		return LAT_BY_THREAD;
	return by & 1U << LAT_BY_CGROUP && !(by & 1U << LAT_BY_PROCESS) ? LAT_BY_CGROUP
									: LAT_BY_PROCESS;
}

static int open_where(struct probe **out, const struct probe_ops *ops,
		      const struct probe_request *request, char why[RUN_TEXT])
{
	struct where *where = calloc(1, sizeof(*where));
	struct request wanted = { where, request->config };
	int err;

	if (!where)
		return -ENOMEM;
	where->common.ops = ops;
	where->window.closed_ns = UINT64_MAX;
	where->explains = request->config->why;
	where->by = choose_by(request->config->by);
	err = methods__try(ops, request->method, attempt, &wanted, why);
	if (err) {
		free(where);
		return err;
	}
	where->account.obj = where->skel->obj;
	account_host__offer(&where->account);
	*out = &where->common;
	return 0;
}

static int close_where(struct probe *probe, char why[RUN_TEXT])
{
	struct where *where = where_of(probe);

	(void)why;
	account_host__withdraw(&where->account);
	release(where);
	sums__free(&where->sums);
	free(where);
	return 0;
}

static void say_method(const struct where *where, char mechanism[RUN_HOW])
{
	bool locks = where->sees_locks, calls = where->sees_calls;

	snprintf(mechanism, RUN_HOW, "%s%s%s%s%s%s", methods[0].mechanism,
		 locks && calls ? "" : "; ", locks && calls ? "" : where_lacks,
		 locks ? "" : "waits for its own locks", locks || calls ? "" : " and ",
		 calls ? "" : "the system call of a sleep");
}

static int describe(struct probe *probe)
{
	const struct where *where = where_of(probe);
	struct run_probe *entry = probe->entry;
	int err;

	snprintf(entry->name, sizeof(entry->name), "%s", probe->ops->name);
	snprintf(entry->method, sizeof(entry->method), "%s", methods[0].name);
	say_method(where, entry->mechanism);
	snprintf(entry->check.source, RUN_NAME, "the kernel's own accounts of threads");
	snprintf(entry->check.why, RUN_TEXT, "%s", where->has_delayed ? where_delayed : "");
	err = columns__new(&entry->table, &entry->more[RUN_SLEEPS], &entry->more[RUN_GAPS]);
	if (!err && where->explains)
		err = waits__new_tables(entry->more);
	return err;
}

/* ---- reading ---- */

static int take_reports(struct where *where, const struct where_report *reports, size_t nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++)
		err = sums__add_thread(&where->sums, &where->window, &reports[i]);
	return err;
}

/* The end of the buffer may cut a report: the rest comes with the next read. */
static int read_reports(struct where *where, int fd)
{
	struct where_report reports[REPORTS_AT_ONCE];
	size_t have = 0, whole;
	ssize_t got;
	int err;

	for (;;) {
		got = read(fd, (char *)reports + have, sizeof(reports) - have);
		if (got < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		have += (size_t)got;
		whole = have / sizeof(reports[0]);
		err = take_reports(where, reports, whole);
		if (err)
			return err;
		have -= whole * sizeof(reports[0]);
		memmove(reports, reports + whole, have);
	}
}

/* Entries of this reading are for the next one: see struct where_key. */
static int take_ended(void *context, const void *key, const void *value)
{
	struct where *where = context;
	const struct where_key *of = key;
	int err;

	if (of->pass == where->control->pass)
		return 0;
	err = sums__add_ended(&where->sums, of, value);
	if (!err)
		err = bpf_map__delete_elem(where->skel->maps.ended, key, sizeof(*of), 0);
	return err;
}

static int take_sleep(void *context, const void *key, const void *value)
{
	struct where *where = context;
	const struct where_sleep_key *sleep = key;
	int err;

	if (sleep->of.pass == where->control->pass)
		return 0;
	err = sums__add_sleep(&where->sums, &sleep->of, value);
	if (!err)
		err = bpf_map__delete_elem(where->skel->maps.sleeps, key, sizeof(*sleep), 0);
	return err;
}

static int read_threads(struct where *where)
{
	int fd, err;

	sums__begin(&where->sums);
	__atomic_fetch_add(&where->control->pass, 1, __ATOMIC_SEQ_CST);
	fd = probe__open_iterator(where->skel->progs.read_threads, NULL);
	if (fd < 0)
		return fd;
	err = read_reports(where, fd);
	close(fd);
	return err;
}

/* What found no room in the kernel's maps since the last time. */
static int take_lost(struct where *where)
{
	struct where_control *control = where->control;
	uint64_t ends = __atomic_exchange_n(&control->lost_ends, 0, __ATOMIC_SEQ_CST);
	uint64_t ns = __atomic_exchange_n(&control->lost_ns, 0, __ATOMIC_SEQ_CST);

	where->lost_ends += ends;
	where->lost_ns += ns;
	return sums__add_lost(&where->sums, ends, ns);
}

/* Those that live first, then those that have ended: see struct where_key. */
static int read_all(struct where *where)
{
	int err = read_threads(where);

	where->control->ended = 0;
	if (!err)
		err = probe__each_entry(where->skel->maps.ended, take_ended, where);
	if (!err)
		err = probe__each_entry(where->skel->maps.sleeps, take_sleep, where);
	return err ? err : take_lost(where);
}

/* ---- the window ---- */

/* The window begins and ends a little later than now: until then, all programs know when. */
static uint64_t soon(uint64_t *at_ns)
{
	uint64_t ns = clock__now_ns() + SOON_NS;

	__atomic_store_n(at_ns, ns, __ATOMIC_SEQ_CST);
	return ns;
}

/* Few enough parts that reading them costs little, and as many as that. */
static void adapt(struct where *where, int taken)
{
	uint64_t *over_ns = (uint64_t *)&where->control->over_ns;

	if (taken > MOST_PARTS)
		*over_ns *= 2;
	else if (taken < MOST_PARTS / 8 && *over_ns > LEAST_NS)
		*over_ns /= 2;
}

static int take_parts(struct where *where)
{
	int taken = where->waits ? waits__take(where->waits, where->common.names) : 0;

	if (where->waits && taken >= 0)
		adapt(where, taken);
	return taken < 0 ? taken : 0;
}

/* Reads what has ended before the kernel has no room for more. */
static int poll_where(struct probe *probe, uint64_t at_ns)
{
	struct where *where = where_of(probe);
	int err = where->control->ended > WHERE_ENDED / 4 ? read_all(where) : 0;

	(void)at_ns;
	return err ? err : take_parts(where);
}

static int open_window(struct probe *probe, uint64_t at_ns)
{
	struct where *where = where_of(probe);

	(void)at_ns;
	if (where->waits)
		where->control->over_ns = LEAST_NS;
	where->control->workload = where->workload;
	where->window.opened_ns = soon((uint64_t *)&where->control->opened_ns);
	where->control->inside_ns = where->window.opened_ns;
	return 0;
}

/* Time since then: in that, the kernel's accounts went on, and the threads' did not. */
static uint64_t late_ns(uint64_t since_ns)
{
	uint64_t now = clock__now_ns();

	return now > since_ns ? now - since_ns : 0;
}

/* What the kernel counted before the window. */
static int start(struct probe *probe, uint64_t at_ns)
{
	struct where *where = where_of(probe);
	int err;

	(void)at_ns;
	where->window.closed_ns = where->window.opened_ns; /* only what was before */
	err = read_threads(where);
	where->window.closed_ns = UINT64_MAX;
	where->late_ns = late_ns(where->window.opened_ns);
	for (size_t i = 0; !err && i < where->sums.nr; i++) {
		struct where_one *one = where->sums.ones[i];
		const struct where_sum none = { .kernel = one->now.kernel };

		one->now = none;
	}
	sums__keep(&where->sums);
	return err;
}

static int close_window(struct probe *probe, uint64_t at_ns)
{
	struct where *where = where_of(probe);

	(void)at_ns;
	__atomic_store_n(&where->control->inside_ns, UINT64_MAX, __ATOMIC_SEQ_CST);
	where->window.closed_ns = soon((uint64_t *)&where->control->closed_ns);
	return 0;
}

static int stop(struct probe *probe, uint64_t at_ns)
{
	const struct timespec pause = { .tv_nsec = SOON_NS };

	(void)at_ns;
	while (clock__now_ns() <= where_of(probe)->window.closed_ns)
		nanosleep(&pause, NULL);
	return 0;
}

/* Life by the kernel's stamps, against the parts. */
static void check(const struct where *where, struct run_checked *time)
{
	time->known = true;
	for (size_t i = 0; i < where->sums.nr; i++) {
		const struct where_one *one = where->sums.ones[i];
		uint64_t parts = 0;

		if (!sums__is_whole(one))
			continue;
		for (unsigned int state = 0; state < WHERE_STATES; state++)
			parts += one->now.ns[state] - one->before.ns[state];
		time->ours_low += parts;
		time->kernel_low += one->now.life_ns - one->before.life_ns;
	}
	time->ours_high = time->ours_low;
	time->kernel_high = time->kernel_low;
}

static int add_waits(struct where *where, uint64_t at_ns)
{
	const struct waits_interval interval = {
		.opened_ns = where->window.opened_ns,
		.time_ns = at_ns - where->window.opened_ns,
		.over_ns = where->control->over_ns,
	};
	struct probe *probe = &where->common;
	int err = take_parts(where);

	if (err || !where->waits)
		return err;
	return waits__add(where->waits, probe->entry->more, &interval, probe->names,
			  probe->symbols);
}

/* A window without end is read when keys are, and seldom where there are many threads. */
static bool is_due(const struct where *where)
{
	const struct probe *probe = &where->common;

	return where->window.closed_ns != UINT64_MAX ||
	       (!probe->skip_keys && (!probe->renews || clock__now_ns() >= where->next_ns));
}

static int add_gaps(struct where *where, uint64_t time_ns)
{
	const struct where_control *control = where->control;
	bool is_last = where->window.closed_ns != UINT64_MAX;
	const struct gaps now = {
		.times = { [GAP_SWITCH] = control->hidden,
			   [GAP_TORN] = where->sums.torn,
			   [GAP_END] = where->lost_ends,
			   [GAP_CALL] = control->lost_sleeps,
			   [GAP_CHAIN] = control->dropped },
		.ns = { [GAP_ACCOUNT] = where->sums.without_ns,
			[GAP_END] = where->lost_ns,
			[GAP_LATE] =
				where->late_ns + (is_last ? late_ns(where->window.closed_ns) : 0) },
	};

	return columns__add_gaps(where->common.entry->more[RUN_GAPS], time_ns, &now, &where->gaps);
}

static int end_interval(struct probe *probe, uint64_t at_ns)
{
	struct where *where = where_of(probe);
	uint64_t time_ns = at_ns - where->window.opened_ns;
	uint64_t begin_ns = clock__now_ns(), now_ns;
	int err;

	if (!is_due(where))
		return take_parts(where);
	err = read_all(where);
	now_ns = clock__now_ns();
	where->next_ns = now_ns + REST * (now_ns - begin_ns);
	if (!err)
		check(where, &probe->entry->check.time);
	if (!err)
		err = columns__add(probe->entry->table, probe->entry->more[RUN_SLEEPS], time_ns,
				   &where->sums, where->by, probe->names);
	if (!err)
		err = add_gaps(where, time_ns);
	sums__keep(&where->sums);
	return err ? err : add_waits(where, at_ns);
}

/* As enum where_more_split. */
static const char *const more_splits[] = { "call", "state", NULL };

const struct probe_ops where_probe = {
	.name = "where",
	.help = "where the time of threads goes, in parts that sum to their life",
	.what = "the parts of each thread's time",
	.by_default = true,
	.accounts = where_states,
	.splits = 1U << LAT_BY_PROCESS | 1U << LAT_BY_THREAD | 1U << LAT_BY_CGROUP,
	.more_splits = more_splits,
	.needs_bpf = true,
	.methods = methods,
	.nr_methods = sizeof(methods) / sizeof(methods[0]),
	.open = open_where,
	.describe = describe,
	.steps = {
		[PROBE_PREPARE] = prepare,
		[PROBE_OPEN] = open_window,
		[PROBE_START] = start,
		[PROBE_POLL] = poll_where,
		[PROBE_CLOSE] = close_window,
		[PROBE_STOP] = stop,
		[PROBE_INTERVAL] = end_interval,
	},
	.poll_ns = POLL_NS,
	.close = close_where,
};
