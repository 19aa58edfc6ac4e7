// SPDX-License-Identifier: BSD-2-Clause
/*
 * Uses the kernel's uncore driver: one group of events per box, so that one read returns all of it.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/vec.h>

#include "internal.h"
#include "sysfs.h"

#define MOSTLY 0.99 /* a smaller running share is reported */

/* One group; the order of its events determines what each one is. */
struct group {
	const struct sysfs_pmu *pmu;
	unsigned int cpu;
	unsigned int socket, box; /* indices */
	unsigned int tier; /* position; AMD only */
	int fds[TIER_COUNTERS];
	unsigned int nr;
	uint64_t enabled_ns, running_ns; /* totals of the last read */
	uint64_t values[TIER_COUNTERS];
};

struct perf {
	struct sysfs_pmu *pmus;
	struct group *groups;
	unsigned int nr_groups;
};

/* The layout of PERF_FORMAT_GROUP with both times. */
struct reading {
	uint64_t nr, enabled_ns, running_ns;
	uint64_t values[TIER_COUNTERS];
};

static int no_pmus(struct tier *tier)
{
	struct tier_cpu cpu;

	if (!tier_cpu__read(&cpu, tier->root) && cpu.hypervisor)
		return tier__fail(tier, -EOPNOTSUPP,
				  "measure on the host, or on a machine of its own",
				  "this is a virtual machine, and its hypervisor gives it no "
				  "uncore counters");
	if (tier->amd)
		return tier__fail(tier, -EOPNOTSUPP, "load the kernel module amd_uncore",
				  "there is no PMU amd_l3");
	return tier__fail(tier, -EOPNOTSUPP,
			  "load the kernel module intel_uncore, or use --method msr",
			  "there are no PMUs uncore_cha_0, uncore_cha_1 ...");
}

/* SPR and later on a kernel without their names: type 0 of the discovery tables is the CHA. */
static int find_pmus(struct tier *tier, struct perf *perf)
{
	int nr;

	if (tier->amd)
		nr = sysfs__pmus(tier->root, "amd_l3", false, &perf->pmus);
	else
		nr = sysfs__pmus(tier->root, "uncore_cha_", true, &perf->pmus);
	if (!nr && !tier->amd)
		nr = sysfs__pmus(tier->root, "uncore_type_0_", true, &perf->pmus);
	if (nr < 0)
		return tier__fail(tier, nr, NULL, "cannot read the PMUs in /sys: %s",
				  strerror(-nr));
	return nr ? nr : no_pmus(tier);
}

static struct group *add_group(struct perf *perf)
{
	struct group *grown = vec__grow(perf->groups, perf->nr_groups, sizeof(*grown));

	if (!grown)
		return NULL;
	perf->groups = grown;
	return memset(&grown[perf->nr_groups++], 0, sizeof(*grown));
}

/* A box is a PMU on a socket; the cpumask names one CPU per socket, on AMD one per L3. */
static int add_box(struct tier *tier, struct perf *perf, const struct sysfs_pmu *pmu,
		   unsigned int cpu)
{
	int package = sysfs__package(tier->root, cpu);
	unsigned int groups = tier->amd ? tier->nr_tiers : 1;
	struct tier_socket *socket;

	if (package < 0)
		return tier__fail(tier, package, NULL, "CPU %u, on which to read %s, is %s", cpu,
				  pmu->name, "not there");
	socket = tier__socket_of(tier, package);
	if (!socket || socket->nr_boxes == TIER_BOXES)
		return tier__fail(tier, -EOPNOTSUPP, NULL,
				  "there are more sockets or boxes than latscope has room for");
	socket->box_ids[socket->nr_boxes] = tier->amd ? cpu : pmu->box;
	for (unsigned int i = 0; i < groups; i++) {
		struct group *group = add_group(perf);

		if (!group)
			return -ENOMEM;
		group->pmu = pmu;
		group->cpu = cpu;
		group->socket = (unsigned int)(socket - tier->sockets);
		group->box = socket->nr_boxes;
		group->tier = i;
	}
	socket->nr_boxes++;
	return 0;
}

/*
 * A driver masks what its formats do not name, and the event then counts something else. Bits 56
 * and up of the umask, which CXL needs, came with a fix of July 2024.
 */
static int check_formats(struct tier *tier, const char *pmu)
{
	uint64_t bits[2];
	int err;

	err = sysfs__formats(tier->root, pmu, bits);
	if (err)
		return tier__fail(tier, err, NULL, "cannot read the formats of %s: %s", pmu,
				  strerror(-err));
	for (unsigned int i = 0; i < tier->nr_tiers; i++) {
		const struct tier_class *class = tier__class(tier, i);

		if (!((class->occupancy | class->inserts) & ~bits[0]) &&
		    !(class->config1 & ~bits[1]))
			continue;
		return tier__fail(tier, -EOPNOTSUPP,
				  "boot a newer kernel, or choose other tiers by --tier",
				  "the driver of %s cannot express the filter of %s: see "
				  "/sys/bus/event_source/devices/%s/format",
				  pmu, class->name, pmu);
	}
	return 0;
}

static int perf__find(struct tier *tier)
{
	struct perf *perf = calloc(1, sizeof(*perf));
	int nr, err;

	if (!perf)
		return -ENOMEM;
	tier->state = perf;
	nr = find_pmus(tier, perf);
	if (nr < 0)
		return nr;
	err = check_formats(tier, perf->pmus[0].name);
	for (int i = 0; !err && i < nr; i++) {
		for (unsigned int c = 0; !err && c < perf->pmus[i].nr_cpus; c++)
			err = add_box(tier, perf, &perf->pmus[i], perf->pmus[i].cpus[c]);
	}
	return err;
}

static int explain(struct tier *tier, const struct group *group, int err)
{
	const char *pmu = group->pmu->name;

	switch (err) {
	case -EACCES:
	case -EPERM:
		return tier__fail(tier, -EACCES, "run it as root, or with CAP_PERFMON",
				  "the kernel does not let this user count on %s", pmu);
	case -EMFILE:
	case -ENFILE:
		return tier__fail(tier, err, "raise the limit by ulimit -n",
				  "too many open files for the counters of %s", pmu);
	case -ENODEV:
	case -ENXIO:
		return tier__fail(tier, -EOPNOTSUPP, NULL, "CPU %u of %s went offline", group->cpu,
				  pmu);
	case -EINVAL:
	case -ENOENT:
	case -EOPNOTSUPP:
		return tier__fail(tier, -EOPNOTSUPP, NULL, "the driver of %s refuses an event: %s",
				  pmu, strerror(-err));
	default:
		return tier__fail(tier, err, NULL, "cannot open an event of %s: %s", pmu,
				  strerror(-err));
	}
}

static int open_event(struct tier *tier, struct group *group, uint64_t config, uint64_t config1)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = group->pmu->type,
		.config = config,
		.config1 = config1,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd;

	tier->calls++;
	fd = tier->sys->perf_event_open(&attr, (int)group->cpu, group->nr ? group->fds[0] : -1);
	if (fd < 0)
		return explain(tier, group, fd);
	group->fds[group->nr++] = fd;
	return 0;
}

static int open_tor(struct tier *tier, struct group *group)
{
	const struct tier_share *share = &tier->sockets[group->socket].shares[group->box];
	int err = 0;

	for (unsigned int i = 0; !err && i < TIER_COUNTERS; i++) {
		struct tier_configs configs = tier__configs(tier, share, share->events[i]);

		if (share->events[i] != TIER_NO_TIER)
			err = open_event(tier, group, configs.config, configs.config1);
	}
	return err;
}

static int open_amd(struct tier *tier, struct group *group)
{
	const struct tier_class *class = tier__class(tier, group->tier);
	int err;

	err = open_event(tier, group, class->occupancy, 0);
	return err ? err : open_event(tier, group, class->inserts, 0);
}

/* A group is read whole: a short read means another layout, or no group. */
static int read_group(struct tier *tier, const struct group *group, struct reading *reading)
{
	size_t size = (3 + group->nr) * sizeof(uint64_t);
	ssize_t got;

	tier->calls++;
	got = tier->sys->read(group->fds[0], reading, size);
	if (got < 0)
		return (int)got;
	return (size_t)got == size && reading->nr == group->nr ? 0 : -EIO;
}

static void keep(struct group *group, const struct reading *reading)
{
	group->enabled_ns = reading->enabled_ns;
	group->running_ns = reading->running_ns;
	memcpy(group->values, reading->values, sizeof(group->values));
}

static int perf__start(struct tier *tier)
{
	struct perf *perf = tier->state;
	struct reading reading;
	int err = 0;

	for (unsigned int i = 0; !err && i < perf->nr_groups; i++) {
		struct group *group = &perf->groups[i];

		err = tier->amd ? open_amd(tier, group) : open_tor(tier, group);
	}
	/* All run: counting starts here. */
	for (unsigned int i = 0; !err && i < perf->nr_groups; i++) {
		memset(&reading, 0, sizeof(reading));
		err = read_group(tier, &perf->groups[i], &reading);
		if (err)
			tier__fail(tier, err, NULL, "cannot read %s: %s", perf->groups[i].pmu->name,
				   err == -EIO ? "short read" : strerror(-err));
		keep(&perf->groups[i], &reading);
	}
	return err;
}

static struct tier_delta *delta_of(struct tier *tier, const struct group *group)
{
	struct tier_socket *socket = &tier->sockets[group->socket];

	return &socket->deltas[(tier->amd ? group->tier * socket->nr_boxes : 0) + group->box];
}

/* The share differs in every read; that alone is not reported again. */
static void note_shared(struct tier *tier, const struct group *group,
			const struct tier_delta *delta)
{
	char share[16];

	snprintf(share, sizeof(share), " (%.0f %%)",
		 100.0 * (double)delta->counted_ns / (double)delta->elapsed_ns);
	tier__note(tier, "counted part of the time, as other programs use it; scaled", share, "%s",
		   group->pmu->name);
}

static void note_failure(struct tier *tier, const struct group *group, int err)
{
	char what[TIER_TEXT];

	snprintf(what, sizeof(what), "cannot be read: %s",
		 err == -EIO ? "short read" : strerror(-err));
	tier__note(tier, what, "", "%s (CPU %u)", group->pmu->name, group->cpu);
}

static void subtract(struct tier *tier, const struct group *group, const struct reading *now)
{
	struct tier_delta *delta = delta_of(tier, group);

	delta->elapsed_ns = now->enabled_ns - group->enabled_ns;
	delta->counted_ns = now->running_ns - group->running_ns;
	for (unsigned int i = 0; i < TIER_COUNTERS; i++)
		delta->counts[i] = now->values[i] - group->values[i];
	delta->valid = delta->counted_ns;
	delta->in_part = (double)delta->counted_ns < MOSTLY * (double)delta->elapsed_ns;
	if (!delta->valid)
		tier__note(tier, "did not count: other programs use the counters", "", "%s",
			   group->pmu->name);
	else if (delta->in_part)
		note_shared(tier, group, delta);
}

static int perf__read(struct tier *tier)
{
	struct perf *perf = tier->state;
	unsigned int good = 0;
	int err, last = 0;

	for (unsigned int i = 0; i < perf->nr_groups; i++) {
		struct group *group = &perf->groups[i];
		struct reading reading = { 0 };

		delta_of(tier, group)->valid = false;
		err = read_group(tier, group, &reading);
		if (err) {
			last = err;
			note_failure(tier, group, err);
			continue;
		}
		subtract(tier, group, &reading);
		keep(group, &reading);
		good++;
	}
	return good ? 0 : tier__fail(tier, last, NULL, "%s", tier__say(tier));
}

static void perf__reject(struct tier *tier, unsigned int socket, unsigned int box, const char *what,
			 const char *number)
{
	const struct perf *perf = tier->state;

	for (unsigned int i = 0; i < perf->nr_groups; i++) {
		const struct group *group = &perf->groups[i];

		if (group->socket == socket && group->box == box)
			tier__note(tier, what, number, "%s (CPU %u)", group->pmu->name, group->cpu);
	}
}

static int perf__close(struct tier *tier)
{
	struct perf *perf = tier->state;

	for (unsigned int i = 0; i < perf->nr_groups; i++) {
		/* The leader last: closing it would dissolve the group. */
		while (perf->groups[i].nr)
			tier->sys->close(perf->groups[i].fds[--perf->groups[i].nr]);
	}
	free(perf->groups);
	free(perf->pmus);
	free(perf);
	return 0;
}

static void perf__describe(const struct tier *tier, char text[TIER_TEXT])
{
	snprintf(text, TIER_TEXT,
		 "counters of the %s by the kernel's uncore driver, all of one in one read",
		 tier->amd ? "L3s" : "CHAs");
}

const struct tier_method_ops tier_perf = {
	.name = "perf",
	.describe = perf__describe,
	.find = perf__find,
	.start = perf__start,
	.read = perf__read,
	.reject = perf__reject,
	.close = perf__close,
};
