// SPDX-License-Identifier: BSD-2-Clause
#include "bpf_probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include <core/clock.h>

#include "kernel.h"
#include "light_keys.h"
#include "methods.h"
#include "opening.h"
#include "refusal.h"
#include "renew.h"
#include "tracing.h"

int bpf_probe__keep_link(struct bpf_probe *probe, struct bpf_link *link)
{
	struct bpf_link **links;
	size_t max;

	if (!link)
		return -errno;
	if (probe->nr_links == probe->max_links) {
		max = probe->max_links ? 2 * probe->max_links : 8;
		links = realloc(probe->links, max * sizeof(struct bpf_link *));
		if (!links) {
			bpf_link__destroy(link);
			return -ENOMEM;
		}
		probe->links = links;
		probe->max_links = max;
	}
	probe->links[probe->nr_links++] = link;
	return 0;
}

/* Are there keys with the name of a task? */
static bool names_tasks(const struct bpf_probe *probe)
{
	return probe->config.why || probe->config.by & (1U << LAT_BY_PROCESS | 1U << LAT_BY_THREAD);
}

static int select_programs(struct bpf_probe *probe)
{
	int err = methods__select(probe->method, probe->again, probe->obj);

	if (!err && names_tasks(probe))
		err = probe__load_too(probe->obj, "renamed");
	if (!err && probe->config.why)
		err = probe__load_too(probe->obj, "find_latscope");
	if (err)
		return err;
	return probe->ops->prepare ? probe->ops->prepare(probe, probe->obj) : 0;
}

static int resize(struct bpf_probe *probe, const char *name, uint32_t entries)
{
	return bpf_map__set_max_entries(bpf_object__find_map_by_name(probe->obj, name), entries);
}

static int size_maps(struct bpf_probe *probe)
{
	uint32_t rows = probe->config.by ? probe->config.rows : 0;
	int err;

	err = resize(probe, "cells", probe->cpus);
	if (!err)
		err = resize(probe, "keys", rows ? rows : 1);
	if (!err)
		err = resize(probe, "owners", rows ? rows : 1);
	if (!err)
		err = resize(probe, "light", rows ? light__entries(probe) : 1);
	if (!err)
		err = resize(probe, "rows", rows ? LAT_ROWS_TOTAL(rows) : 1);
	if (!err)
		err = why__size(probe);
	return err;
}

static int map_cells(struct bpf_probe *probe)
{
	struct bpf_map *map = bpf_object__find_map_by_name(probe->obj, "cells");
	size_t page = sysconf(_SC_PAGESIZE);
	void *at;

	probe->cell_stride = bpf_map__value_size(map);
	probe->cells_size = (probe->cell_stride * probe->cpus + page - 1) / page * page;
	at = mmap(NULL, probe->cells_size, PROT_READ, MAP_SHARED, bpf_map__fd(map), 0);
	if (at == MAP_FAILED)
		return -errno;
	probe->cells = at;
	return 0;
}

/* The kernel maps whole pages. */
static size_t owners_size(const struct bpf_probe *probe)
{
	size_t page = sysconf(_SC_PAGESIZE);

	return (probe->config.rows * sizeof(*probe->owners) + page - 1) / page * page;
}

static int map_owners(struct bpf_probe *probe)
{
	struct bpf_map *map = bpf_object__find_map_by_name(probe->obj, "owners");
	void *at;

	if (!probe->config.by)
		return 0;
	at = mmap(NULL, owners_size(probe), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map),
		  0);
	if (at == MAP_FAILED)
		return -errno;
	probe->owners = at;
	return 0;
}

int bpf_probe__attach(struct bpf_probe *probe, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(probe->obj, name);

	return bpf_probe__keep_link(probe, tracing__attach(program));
}

static int attach_all(struct bpf_probe *probe, const char *const *names, int max)
{
	int err = 0;

	for (int i = 0; !err && i < max && names[i]; i++)
		err = bpf_probe__attach(probe, names[i]);
	return err;
}

/* The copies in `again` must run after the programs that they stand in for. */
static int attach_programs(struct bpf_probe *probe)
{
	const struct probe_method *method = probe->method;
	int nr_again = probe->again ? PROBE_AGAIN : 0, err = 0;

	if (method->by_trampoline)
		err = attach_all(probe, method->again, nr_again);
	if (!err)
		err = attach_all(probe, method->programs, PROBE_PROGRAMS);
	if (!err && !method->by_trampoline)
		err = attach_all(probe, method->again, nr_again);
	if (!err && names_tasks(probe))
		err = bpf_probe__attach(probe, "renamed");
	return err;
}

static void release(struct bpf_probe *probe)
{
	while (probe->nr_links)
		bpf_link__destroy(probe->links[--probe->nr_links]);
	if (probe->cells)
		munmap((void *)probe->cells, probe->cells_size);
	probe->cells = NULL;
	if (probe->owners)
		munmap(probe->owners, owners_size(probe));
	probe->owners = NULL;
	why__close(probe);
	if (probe->skel)
		probe->ops->close(probe);
	probe->skel = NULL;
	probe->obj = NULL;
}

/* The object is part of the program's file. It is not read again, so its pages need not stay. */
static void forget_object(const struct bpf_object_skeleton *skeleton)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), skipped;
	uintptr_t at = (uintptr_t)skeleton->data;

	skipped = (page - at % page) % page;
	if (skeleton->data_sz > skipped + page)
		madvise((void *)(at + skipped), (skeleton->data_sz - skipped) / page * page,
			MADV_DONTNEED);
}

/* Other probes may load theirs meanwhile. */
static int load_programs(struct bpf_object_skeleton *skeleton)
{
	int err;

	opening__end_turn();
	err = bpf_object__load_skeleton(skeleton); /* also maps .bss */
	forget_object(skeleton);
	opening__begin_turn();
	return err;
}

static int load(struct bpf_probe *probe)
{
	struct bpf_object_skeleton *skeleton;
	int err;

	kernel_types__begin(&probe->types);
	err = probe->ops->open(probe, &skeleton);
	if (!err) {
		probe->obj = *skeleton->obj;
		err = select_programs(probe);
	}
	if (!err)
		err = size_maps(probe);
	if (!err)
		err = kernel_types__write(&probe->types, probe->obj);
	if (!err)
		err = load_programs(skeleton);
	kernel_types__end(&probe->types);
	return err;
}

/* One attempt: opens, loads and attaches the method's programs. */
static int try_method(struct bpf_probe *probe)
{
	int err;

	err = load(probe);
	if (!err)
		err = map_cells(probe);
	if (!err)
		err = map_owners(probe);
	if (!err)
		err = attach_programs(probe);
	if (!err)
		err = probe->ops->start(probe, &probe->control);
	if (!err)
		err = why__open(probe, probe->why_control, &probe->why_request);
	if (err) {
		release(probe);
		return err;
	}
	probe->control->next_row = 1;
	return 0;
}

static int suits(const struct bpf_probe *probe, const struct probe_method *method,
		 char reason[RUN_TEXT])
{
	char option[RUN_TEXT];

	if (probe__beyond(method, &probe->config, option)) {
		snprintf(reason, RUN_TEXT, "cannot do %.100s", option);
		return -EOPNOTSUPP;
	}
	if (probe->config.why && !kernel__has_function("bpf_loop")) {
		snprintf(reason, RUN_TEXT, "%s",
			 "cannot explain slow samples: it needs the BPF helper bpf_loop (Linux "
			 "5.17)");
		return -EOPNOTSUPP;
	}
	return probe->ops->suits ? probe->ops->suits(probe, method, reason) : 0;
}

bool probe__wants_cpu(const struct lat_config *config, unsigned int cpu)
{
	return !config->cpus || config->cpu_mask[cpu / 64] >> cpu % 64 & 1;
}

static bool preempts(const struct probe_method *method)
{
	return method->by_trampoline ? kernel__preempts() : kernel__preempts_tracepoints();
}

static int attempt(void *context, const struct probe_method *method, char reason[RUN_TEXT])
{
	struct bpf_probe *probe = context;
	int err;

	probe->method = method;
	probe->again = method->again[0] && preempts(method);
	probe->config.again = probe->again;
	err = suits(probe, method, reason);
	if (!err)
		err = try_method(probe);
	if (err && !reason[0] && refusal__by_verifier() && !probe->skipped)
		probe->skipped = method->name;
	return err;
}

/* Optional metrics come last. */
static unsigned int measured(const struct probe_ops *ops, uint32_t asked)
{
	unsigned int nr = ops->nr_metrics;

	while (nr && ops->optional & ~asked & 1U << (nr - 1))
		nr--;
	return nr;
}

static void free_probe(struct bpf_probe *probe)
{
	release(probe);
	cost__free(&probe->cost);
	free(probe->links);
	light__free(probe);
	free(probe->rows);
	free(probe->key_of);
	free(probe->settled);
	if (probe->spare)
		sparse__clear(probe->spare);
	free(probe->spare);
	free(probe);
}

int bpf_probe__open(struct probe **out, const struct probe_ops *ops,
		    const struct probe_request *request, char why[RUN_TEXT])
{
	const struct lat_config *config = request->config;
	struct bpf_probe *probe;
	int err;

	probe = calloc(1, sizeof(*probe));
	if (!probe)
		return -ENOMEM;
	probe->common.ops = ops;
	probe->ops = ops->bpf;
	probe->config = *config;
	probe->config.by &= ops->splits;
	probe->config.first_rows = config->rows - config->rows / LIGHT_SHARE;
	probe->config.metrics &= ops->optional;
	probe->config.why = ops->explains ? config->why : 0;
	if (request->why)
		probe->why_request = *request->why;
	probe->nr_metrics = measured(ops, config->metrics);
	probe->cpus = libbpf_num_possible_cpus();
	cost__new(&probe->cost, !request->untimed);
	err = probe->cpus < 0 ? probe->cpus
			      : methods__try(ops, request->method, attempt, probe, why);
	if (err && probe->config.why && probe->why_request.is_optional) {
		probe->config.why = 0;
		err = methods__try(ops, request->method, attempt, probe, why);
	}
	if (err) {
		free_probe(probe);
		return err;
	}
	*out = &probe->common;
	return 0;
}

int bpf_probe__close(struct probe *common, char why[RUN_TEXT])
{
	(void)why;
	free_probe(bpf_probe(common));
	return 0;
}

/* Fills in what is known only after the window. */
static void conclude(struct bpf_probe *probe)
{
	struct run_probe *entry = probe->common.entry;

	cost__missed(&probe->cost, probe, entry);
	if (probe->ops->count_unseen)
		probe->ops->count_unseen(probe, probe->cost.recursion_missed, entry);
	bpf_probe__rename(probe, &entry->total, probe->common.names);
	verify__conclude(&probe->verify, probe, entry);
}

int bpf_probe__describe(struct probe *common)
{
	const struct bpf_probe *probe = bpf_probe(common);
	const struct probe_method *method = probe->method;
	struct run_probe *entry = common->entry;
	char more[RUN_TEXT] = "";

	snprintf(entry->name, sizeof(entry->name), "%s", common->ops->name);
	snprintf(entry->method, sizeof(entry->method), "%s", method->name);
	if (probe->ops->conclude)
		probe->ops->conclude(probe, &entry->total, more);
	snprintf(entry->mechanism, sizeof(entry->mechanism), "%s%s%s%.150s%s%s%s",
		 method->mechanism,
		 probe->again && method->end_again
			 ? "; attached twice, because this kernel preempts programs"
			 : "",
		 more[0] ? "; " : "", more,
		 probe->skipped ? "; the kernel's verifier refused " : "",
		 probe->skipped ? probe->skipped : "",
		 probe->skipped ? ", see 'latscope doctor'" : "");
	entry->nr_metrics = probe->nr_metrics;
	memcpy(entry->metrics, common->ops->metrics, sizeof(entry->metrics));
	if (method->metric) {
		snprintf(entry->metrics[0].name, RUN_NAME, "%s", method->metric);
		snprintf(entry->metrics[0].what, RUN_TEXT, "%s", method->what);
	}
	if (probe->metric)
		entry->metrics[0] = *probe->metric;
	entry->by = probe->config.by;
	if (probe->closed)
		conclude(bpf_probe(common));
	return why__describe(bpf_probe(common));
}

static int program_info(const struct bpf_program *program, struct bpf_prog_info *info)
{
	uint32_t len = sizeof(*info);

	memset(info, 0, len);
	return bpf_obj_get_info_by_fd(bpf_program__fd(program), info, &len) ? -errno : 0;
}

/* Number of runs of a program that the kernel skipped; UINT64_MAX: it is not loaded. */
static uint64_t missed_by(const struct bpf_probe *probe, const char *name)
{
	const struct bpf_program *program = bpf_object__find_program_by_name(probe->obj, name);
	struct bpf_prog_info info;

	if (!program || bpf_program__fd(program) < 0 || program_info(program, &info))
		return UINT64_MAX;
	return info.recursion_misses;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Upper bound of the lost ends. An end is lost if neither program ran: at most as often as each of
 * them did not run. It is also lost if the first one did not run and the second one does not know
 * the event: at most as often as no program ran for a start.
 */
static uint64_t missed_ends(const struct bpf_probe *probe)
{
	const struct probe_method *method = probe->method;
	uint64_t missed = missed_by(probe, method->end_program), again;

	if (!probe->again || !method->end_again)
		return missed;
	again = missed_by(probe, method->end_again);
	if (method->start_again)
		again += least(missed_by(probe, method->start_program),
			       missed_by(probe, method->start_again));
	return least(missed, again);
}

uint64_t bpf_probe__skipped_ends(const struct bpf_probe *probe)
{
	return missed_by(probe, probe->method->end_program) - probe->skipped_ends;
}

int bpf_probe__usage(const struct bpf_probe *probe, struct bpf_probe_usage *usage)
{
	struct bpf_program *program;
	struct bpf_prog_info info;
	int err;

	memset(usage, 0, sizeof(*usage));
	bpf_object__for_each_program(program, probe->obj)
	{
		if (bpf_program__fd(program) < 0)
			continue;
		err = program_info(program, &info);
		if (err)
			return err;
		usage->runs += info.run_cnt;
		usage->run_ns += info.run_time_ns;
	}
	usage->recursion_missed = probe->method->end_program ? missed_ends(probe) : probe->missed;
	return 0;
}

/* ---- the steps through a window ---- */

int bpf_probe__prepare(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);

	(void)at_ns;
	cost__begin(&probe->cost, probe);
	return 0;
}

static int read_account(struct probe *common, enum verify_moment moment)
{
	struct bpf_probe *probe = bpf_probe(common);

	verify__read(&probe->verify, probe, moment);
	return 0;
}

int bpf_probe__before_open(struct probe *common, uint64_t at_ns)
{
	(void)at_ns;
	return read_account(common, VERIFY_BEFORE_OPEN);
}

static void arm(const struct bpf_probe *probe, bool armed)
{
	struct lat_control *control = probe->control;
	__u64 *at_ns = armed ? &control->opened_ns : &control->closed_ns;

	__atomic_store_n(at_ns, clock__now_ns(), __ATOMIC_SEQ_CST);
	__atomic_store_n(&control->armed, armed, __ATOMIC_SEQ_CST);
}

int bpf_probe__arm(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);

	(void)at_ns;
	if (probe->method->end_program)
		probe->skipped_ends = missed_by(probe, probe->method->end_program);
	arm(probe, true);
	return 0;
}

int bpf_probe__after_open(struct probe *common, uint64_t at_ns)
{
	(void)at_ns;
	return read_account(common, VERIFY_AFTER_OPEN);
}

int bpf_probe__start(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);

	probe->start_ns = at_ns;
	if (probe->ops->count_missed)
		probe->ops->count_missed(probe, false);
	return 0;
}

int bpf_probe__poll(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);

	cost__poll(&probe->cost, probe, at_ns - probe->start_ns, &common->entry->cost);
	why__poll(probe, at_ns);
	return 0;
}

int bpf_probe__before_close(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);

	(void)at_ns;
	if (probe->ops->count_missed)
		probe->ops->count_missed(probe, true);
	return read_account(common, VERIFY_BEFORE_CLOSE);
}

int bpf_probe__disarm(struct probe *common, uint64_t at_ns)
{
	(void)at_ns;
	arm(bpf_probe(common), false);
	return 0;
}

int bpf_probe__in_flight(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);
	struct run_probe *entry = common->entry;
	struct lat_key key = { .by = LAT_BY_PROCESS };
	int err;

	(void)at_ns;
	entry->in_flight_age_known = true;
	probe->oldest = (struct lat_oldest){ 0 };
	err = probe->ops->in_flight(probe, &entry->in_flight, &entry->in_flight_age_known);
	key.id = probe->oldest.tgid;
	if (key.id)
		names__key(common->names, &key, probe->oldest.process, entry->in_flight_of);
	return err;
}

int bpf_probe__after_close(struct probe *common, uint64_t at_ns)
{
	(void)at_ns;
	return read_account(common, VERIFY_AFTER_CLOSE);
}

int bpf_probe__stop(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);

	probe->closed = true;
	cost__end(&probe->cost, probe, at_ns - probe->start_ns, &common->entry->cost);
	return 0;
}

/* Compares the totals, which were just read, with the kernel's account of the window so far. */
static void check_so_far(struct bpf_probe *probe)
{
	struct verify verify = probe->verify;

	verify__read(&verify, probe, VERIFY_AFTER_CLOSE);
	cost__missed(&probe->cost, probe, probe->common.entry);
	verify__conclude(&verify, probe, probe->common.entry);
}

static int renew(struct bpf_probe *probe, uint64_t at_ns)
{
	struct probe *common = &probe->common;
	int err = 0;

	if (probe->renewing)
		err = renew__end(probe, common->entry, common->delta);
	probe->renewing = false;
	if (!err && common->renews && !common->skip_keys && !probe->closed &&
	    renew__is_due(probe, at_ns))
		probe->renewing = !renew__begin(probe, at_ns);
	return err;
}

int bpf_probe__interval(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);
	struct run_data *total = &common->entry->total;
	int err;

	err = renew(probe, at_ns);
	if (err)
		return err;
	if (common->check)
		verify__read(&probe->verify, probe, VERIFY_BEFORE_CLOSE);
	err = bpf_probe__read(probe, total, common->delta, common->names);
	if (common->check)
		check_so_far(probe);
	if (!err)
		err = why__interval(probe, at_ns);
	return !err && probe->ops->tick ? probe->ops->tick(probe, total) : err;
}

const char *bpf_probe__trouble(struct probe *common)
{
	return why__trouble(bpf_probe(common));
}

/* ---- shared by the probes ---- */

int probe__run_iterator_of(const struct bpf_program *program,
			   const struct bpf_iter_attach_opts *options)
{
	struct bpf_link *link;
	char buf[64];
	ssize_t got;
	int fd, err = 0;

	link = bpf_program__attach_iter(program, options);
	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	if (fd < 0) {
		err = -errno;
		goto destroy_link;
	}
	do {
		got = read(fd, buf, sizeof(buf));
	} while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
	if (got < 0)
		err = -errno;
	close(fd);
destroy_link:
	bpf_link__destroy(link);
	return err;
}

int probe__run_iterator(const struct bpf_program *program)
{
	return probe__run_iterator_of(program, NULL);
}

int bpf_probe__iterate(struct bpf_probe *probe, const char *name)
{
	return probe__run_iterator(bpf_object__find_program_by_name(probe->obj, name));
}

/* In batches: bpf_map_get_next_key() starts again if the last key was removed. */
int probe__each_entry(const struct bpf_map *map, probe_entry *each, void *context)
{
	size_t key_size = bpf_map__key_size(map), value_size = bpf_map__value_size(map);
	uint32_t max = bpf_map__max_entries(map), at = 0, count;
	char *keys = malloc(max * key_size), *values = malloc(max * value_size);
	int got = keys && values ? 0 : -ENOMEM, err = got;

	for (void *from = NULL; !err && !got; from = &at) {
		count = max;
		got = bpf_map_lookup_batch(bpf_map__fd(map), from, &at, keys, values, &count, NULL);
		if (got && got != -ENOENT) /* -ENOENT: this is the last batch */
			err = got;
		for (uint32_t i = 0; !err && i < count; i++)
			err = each(context, keys + i * key_size, values + i * value_size);
	}
	free(keys);
	free(values);
	return err;
}

void probe__count_in_flight(struct lat_in_flight *waits, uint64_t count, uint64_t start_ns)
{
	uint64_t now = clock__now_ns(), age_ns = now > start_ns ? now - start_ns : 0;

	waits->count += count;
	waits->sum_ns += count * age_ns;
	if (age_ns > waits->oldest_ns)
		waits->oldest_ns = age_ns;
}

int probe__load_too(struct bpf_object *obj, const char *name)
{
	return bpf_program__set_autoload(bpf_object__find_program_by_name(obj, name), true);
}
