// SPDX-License-Identifier: BSD-2-Clause
#include "bpf_probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include <core/clock.h>

#include "tracing.h"

/* ---- programs ---- */

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

int probe__load_too(struct bpf_object *obj, const char *name)
{
	return bpf_program__set_autoload(bpf_object__find_program_by_name(obj, name), true);
}

int bpf_probe__attach(struct bpf_probe *probe, const char *name)
{
	struct bpf_program *program = bpf_object__find_program_by_name(probe->obj, name);

	return bpf_probe__keep_link(probe, tracing__attach(program));
}

/* The iterator needs its program, but not the link. */
int probe__open_iterator(const struct bpf_program *program,
			 const struct bpf_iter_attach_opts *options)
{
	struct bpf_link *link = bpf_program__attach_iter(program, options);
	int fd;

	if (!link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(link));
	fd = fd < 0 ? -errno : fd;
	bpf_link__destroy(link);
	return fd;
}

int probe__run_iterator(const struct bpf_program *program,
			const struct bpf_iter_attach_opts *options)
{
	int fd = probe__open_iterator(program, options), err;
	char buf[64];
	ssize_t got;

	if (fd < 0)
		return fd;
	do {
		got = read(fd, buf, sizeof(buf));
	} while (got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)));
	err = got < 0 ? -errno : 0;
	close(fd);
	return err;
}

int bpf_probe__iterate(struct bpf_probe *probe, const char *name)
{
	return probe__run_iterator(bpf_object__find_program_by_name(probe->obj, name), NULL);
}

/* ---- maps ---- */

void *bpf_probe__map(const struct bpf_probe *probe, const char *name, int access, size_t *size)
{
	const struct bpf_map *map = bpf_object__find_map_by_name(probe->obj, name);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), entry;
	void *at;

	if (!map) {
		errno = ENOENT;
		return NULL;
	}
	entry = (bpf_map__value_size(map) + 7) / 8 * 8; /* as the kernel lays out an array */
	*size = (bpf_map__max_entries(map) * entry + page - 1) / page * page;
	at = mmap(NULL, *size, access, MAP_SHARED, bpf_map__fd(map), 0);
	return at == MAP_FAILED ? NULL : at;
}

void bpf_probe__unmap(const void *at, size_t size)
{
	if (at)
		munmap((void *)at, size);
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

/* ---- runs ---- */

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
	uint64_t missed = missed_by(probe, method->end_program), copy;

	if (!probe->config.again || !method->end_copy)
		return missed;
	copy = missed_by(probe, method->end_copy);
	if (method->start_copy)
		copy += least(missed_by(probe, method->start_program),
			      missed_by(probe, method->start_copy));
	return least(missed, copy);
}

uint64_t bpf_probe__skipped_ends(const struct bpf_probe *probe)
{
	const char *end = probe->method->end_program;

	return end ? missed_by(probe, end) - probe->skipped_at_open : 0;
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

/* ---- cells ---- */

static const struct lat_cell *cells_of(const struct bpf_probe *probe, int cpu)
{
	return (const void *)((const char *)probe->cells + cpu * probe->cell_stride);
}

uint64_t bpf_probe__seen_on(const struct bpf_probe *probe, int cpu)
{
	return __atomic_load_n(&cells_of(probe, cpu)->counts[LAT_SEEN], __ATOMIC_ACQUIRE);
}

uint64_t bpf_probe__seen(const struct bpf_probe *probe)
{
	uint64_t seen = 0;

	for (int cpu = 0; cpu < probe->cpus; cpu++)
		seen += bpf_probe__seen_on(probe, cpu);
	return seen;
}

void bpf_probe__add_cells(const struct bpf_probe *probe, unsigned int metric, struct lat_cell *sum)
{
	run__add_cells(sum, &cells_of(probe, 0)[metric], probe->cell_stride, probe->cpus);
}

/* ---- filters and waits in flight ---- */

bool probe__wants_cpu(const struct lat_config *config, unsigned int cpu)
{
	return !config->cpus || config->cpu_mask[cpu / 64] >> cpu % 64 & 1;
}

void probe__count_in_flight(struct lat_in_flight *waits, uint64_t count, uint64_t start_ns)
{
	uint64_t now = clock__now_ns(), age_ns = now > start_ns ? now - start_ns : 0;

	waits->count += count;
	waits->sum_ns += count * age_ns;
	if (age_ns > waits->oldest_ns)
		waits->oldest_ns = age_ns;
}
