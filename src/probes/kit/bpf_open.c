// SPDX-License-Identifier: BSD-2-Clause
#include "bpf_open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "kernel.h"
#include "light_keys.h"
#include "methods.h"
#include "opening.h"
#include "refusal.h"

/* Are there keys with the name of a task? */
static bool names_tasks(const struct bpf_probe *probe)
{
	return probe->config.why || probe->config.by & (1U << LAT_BY_PROCESS | 1U << LAT_BY_THREAD);
}

static int select_programs(struct bpf_probe *probe)
{
	int err = methods__select(probe->method, probe->config.again, probe->obj);

	if (!err && names_tasks(probe))
		err = probe__load_too(probe->obj, "renamed");
	if (!err && probe->config.why)
		err = probe__load_too(probe->obj, "find_latscope");
	if (err)
		return err;
	return probe->ops->prepare ? probe->ops->prepare(probe, probe->obj) : 0;
}

static int size_maps(struct bpf_probe *probe)
{
	uint32_t rows = probe->config.by ? probe->config.rows : 0;
	const struct {
		const char *map;
		uint32_t entries;
	} sizes[] = {
		{ "cells", (uint32_t)probe->cpus },
		{ "keys", rows ? rows : 1 },
		{ "owners", rows ? rows : 1 },
		{ "light", rows ? light__entries(probe) : 1 },
		{ "rows", rows ? LAT_ROWS_TOTAL(rows) : 1 },
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(sizes) / sizeof(sizes[0]); i++)
		err = bpf_map__set_max_entries(
			bpf_object__find_map_by_name(probe->obj, sizes[i].map), sizes[i].entries);
	return err ? err : why__size(probe);
}

static int map_counts(struct bpf_probe *probe)
{
	const struct bpf_map *cells = bpf_object__find_map_by_name(probe->obj, "cells");

	probe->cell_stride = bpf_map__value_size(cells);
	probe->cells = bpf_probe__map(probe, "cells", PROT_READ, &probe->cells_size);
	if (!probe->cells)
		return -errno;
	if (!probe->config.by)
		return 0;
	probe->owners =
		bpf_probe__map(probe, "owners", PROT_READ | PROT_WRITE, &probe->owners_size);
	return probe->owners ? 0 : -errno;
}

static int attach_all(struct bpf_probe *probe, const char *const *names, int max)
{
	int err = 0;

	for (int i = 0; !err && i < max && names[i]; i++)
		err = bpf_probe__attach(probe, names[i]);
	return err;
}

/* The copies must run after the programs that they stand in for. */
static int attach_programs(struct bpf_probe *probe)
{
	const struct probe_method *method = probe->method;
	int nr_copies = probe->config.again ? PROBE_COPIES : 0, err = 0;

	if (method->by_trampoline)
		err = attach_all(probe, method->copies, nr_copies);
	if (!err)
		err = attach_all(probe, method->programs, PROBE_PROGRAMS);
	if (!err && !method->by_trampoline)
		err = attach_all(probe, method->copies, nr_copies);
	if (!err && names_tasks(probe))
		err = bpf_probe__attach(probe, "renamed");
	return err;
}

static void release(struct bpf_probe *probe)
{
	while (probe->nr_links)
		bpf_link__destroy(probe->links[--probe->nr_links]);
	bpf_probe__unmap(probe->cells, probe->cells_size);
	probe->cells = NULL;
	bpf_probe__unmap(probe->owners, probe->owners_size);
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

int bpf_open__load(struct bpf_object_skeleton *skeleton)
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
		err = bpf_open__load(skeleton);
	kernel_types__end(&probe->types);
	return err;
}

/* One attempt: opens, loads and attaches the method's programs. */
static int try_method(struct bpf_probe *probe)
{
	int err;

	err = load(probe);
	if (!err)
		err = map_counts(probe);
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

static bool preempts(const struct probe_method *method)
{
	return method->by_trampoline ? kernel__preempts() : kernel__preempts_tracepoints();
}

static int attempt(void *context, const struct probe_method *method, char reason[RUN_TEXT])
{
	struct bpf_probe *probe = context;
	int err;

	probe->method = method;
	probe->config.again = method->copies[0] && preempts(method);
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
