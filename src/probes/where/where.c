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
#include <probes/kit/bpf_probe.h>
#include <probes/kit/kernel.h>
#include <probes/kit/methods.h>
#include <probes/kit/preempt_count.h>
#include <probes/kit/tracing.h>

#include "calls.h"
#include "columns.h"
#include "sums.h"
#include "waits.h"
#include "where.skel.h"

#define REPORTS_AT_ONCE 64
#define MAX_MORE 20
#define MAX_LINKS (PROBE_PROGRAMS + MAX_MORE)
#define SOON_NS 100000
#define POLL_NS 50000000ULL
#define MOST_PARTS 400 /* between two readings; more raise the threshold */
#define LEAST_NS 1000000ULL /* the lowest threshold */

static const struct probe_method methods[] = {
	{
		.name = "tp_btf",
		.mechanism = "own clock at the scheduler's tracepoints; what a thread sleeps for "
			     "by the kernel's flags and the registers of its system call",
		.needs = "BPF tracepoints with BTF, and iterators",
		/* The end of a state before its beginning, so that none begins unseen. */
		.programs = { "began", "executed", "switched", "woken", "woken_new" },
		.loaded = { "prime", "read_threads" },
	},
};

struct where {
	struct probe common; /* first */
	struct where_bpf *skel;
	struct bpf_link *links[MAX_LINKS];
	int nr_links;
	const char *more[MAX_MORE]; /* programs besides those of the method */
	int nr_more;
	bool sees_locks;
	enum lat_by by; /* what sums are of */
	bool explains; /* long parts are kept, and who ended them */
	struct where_window window;
	struct where_sums sums;
	struct waits *waits; /* NULL: they are not kept */
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

static int attach_all(struct where *where)
{
	const char *const *names = methods[0].programs;
	int err = 0;

	for (int i = 0; !err && names[i]; i++)
		err = attach(where, names[i]);
	for (int i = 0; !err && i < where->nr_more; i++)
		err = attach(where, where->more[i]);
	return err ? err : probe__run_iterator(where->skel->progs.prime, NULL);
}

static void add_all(struct where *where, const char *const *names)
{
	while (*names)
		where->more[where->nr_more++] = *names++;
}

/* The programs that only some kernels need, or have. */
static void choose_more(struct where *where)
{
	static const char *const locks[] = { "waits_for_lock", "has_lock", NULL };
	static const char *const wakers[] = { "waking", NULL };

	where->nr_more = 0;
	where->sees_locks = kernel__has_tracepoint("contention_begin");
	if (where->sees_locks)
		add_all(where, locks);
	if (!where->explains)
		return;
	add_all(where, wakers);
	add_all(where, preempt_count_programs);
	if (!PREEMPT_COUNT_FIND(where->skel->rodata))
		add_all(where, preempt_count_vectors);
}

static int load(struct where *where, const struct lat_config *config)
{
	int err;

	where->skel = where_bpf__open();
	if (!where->skel)
		return -errno;
	memcpy((void *)&where->skel->rodata->config, config, sizeof(*config));
	where->skel->rodata->by = where->by;
	calls__fill((uint8_t *)where->skel->rodata->call_states,
		    (uint8_t *)where->skel->rodata->call_states_32);
	choose_more(where);
	err = methods__select(&methods[0], false, where->skel->obj);
	for (int i = 0; !err && i < where->nr_more; i++)
		err = probe__load_too(where->skel->obj, where->more[i]);
	if (!err)
		err = bpf_map__set_max_entries(where->skel->maps.interrupts,
					       (uint32_t)libbpf_num_possible_cpus());
	return err ? err : bpf_object__load_skeleton(where->skel->skeleton); /* also maps .bss */
}

static void release(struct where *where)
{
	while (where->nr_links)
		bpf_link__destroy(where->links[--where->nr_links]);
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
	where->by = request->config->by & 1U << LAT_BY_THREAD	? LAT_BY_THREAD
		    : request->config->by & 1U << LAT_BY_CGROUP ? LAT_BY_CGROUP
								: LAT_BY_PROCESS;
	err = methods__try(ops, request->method, attempt, &wanted, why);
	if (err) {
		free(where);
		return err;
	}
	*out = &where->common;
	return 0;
}

static int close_where(struct probe *probe, char why[RUN_TEXT])
{
	struct where *where = where_of(probe);

	(void)why;
	release(where);
	sums__free(&where->sums);
	free(where);
	return 0;
}

static int describe(struct probe *probe)
{
	const struct where *where = where_of(probe);
	struct run_probe *entry = probe->entry;
	int err;

	snprintf(entry->name, sizeof(entry->name), "%s", probe->ops->name);
	snprintf(entry->method, sizeof(entry->method), "%s", methods[0].name);
	snprintf(entry->mechanism, sizeof(entry->mechanism), "%s%s", methods[0].mechanism,
		 where->sees_locks ? "" : "; this kernel does not show waits for its own locks");
	err = columns__new(&entry->table, &entry->more[RUN_SLEEPS]);
	if (!err && where->explains)
		err = waits__new_tables(&entry->more[RUN_WAITS], &entry->more[RUN_CAUSES]);
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

	if (of->pass == where->skel->data->control.pass)
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

	if (sleep->of.pass == where->skel->data->control.pass)
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
	__atomic_fetch_add(&where->skel->data->control.pass, 1, __ATOMIC_SEQ_CST);
	fd = probe__open_iterator(where->skel->progs.read_threads, NULL);
	if (fd < 0)
		return fd;
	err = read_reports(where, fd);
	close(fd);
	return err;
}

/* Those that live first, then those that have ended: see struct where_key. */
static int read_all(struct where *where)
{
	int err = read_threads(where);

	if (!err)
		err = probe__each_entry(where->skel->maps.ended, take_ended, where);
	if (!err)
		err = probe__each_entry(where->skel->maps.sleeps, take_sleep, where);
	return err;
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
	uint64_t *over_ns = (uint64_t *)&where->skel->data->control.over_ns;

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

static int poll_where(struct probe *probe, uint64_t at_ns)
{
	(void)at_ns;
	return take_parts(where_of(probe));
}

static int open_window(struct probe *probe, uint64_t at_ns)
{
	struct where *where = where_of(probe);

	(void)at_ns;
	if (where->waits)
		where->skel->data->control.over_ns = LEAST_NS;
	where->window.opened_ns = soon((uint64_t *)&where->skel->data->control.opened_ns);
	return 0;
}

/* What the kernel counted before the window. */
static int start(struct probe *probe, uint64_t at_ns)
{
	struct where *where = where_of(probe);
	int err = read_threads(where);

	(void)at_ns;
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
	where->window.closed_ns = soon((uint64_t *)&where->skel->data->control.closed_ns);
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

		for (unsigned int state = 0; state < WHERE_STATES; state++)
			parts += one->now.ns[state] - one->before.ns[state];
		time->ours_low += parts;
		time->kernel_low += one->now.life_ns - one->before.life_ns;
	}
	time->ours_high = time->ours_low;
	time->kernel_high = time->kernel_low;
}

static int end_interval(struct probe *probe, uint64_t at_ns)
{
	struct where *where = where_of(probe);
	int err = read_all(where);

	if (!err)
		check(where, &probe->entry->check.time);

	if (!err)
		err = columns__add(probe->entry->table, probe->entry->more[RUN_SLEEPS],
				   at_ns - where->window.opened_ns, &where->sums, where->by,
				   probe->names);
	sums__keep(&where->sums);
	if (!err)
		err = take_parts(where);
	if (!err && where->waits)
		err = waits__add(where->waits, probe->entry->more[RUN_WAITS],
				 probe->entry->more[RUN_CAUSES], where->window.opened_ns,
				 at_ns - where->window.opened_ns, probe->names, probe->symbols);
	return err;
}

const struct probe_ops where_probe = {
	.name = "where",
	.help = "where the time of threads goes, in parts that sum to their life",
	.what = "the parts of each thread's time",
	.accounts = true,
	.splits = 1U << LAT_BY_PROCESS | 1U << LAT_BY_THREAD | 1U << LAT_BY_CGROUP,
	.needs_bpf = true,
	.methods = methods,
	.nr_methods = sizeof(methods) / sizeof(methods[0]),
	.open = open_where,
	.describe = describe,
	.steps = {
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
