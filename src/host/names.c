// SPDX-License-Identifier: BSD-2-Clause
#include "names.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <core/sanitize.h>
#include <core/split.h>
#include <core/vec.h>
#include <latscope/why.h>

#include "cgroups.h"
#include "first_line.h"

#define MINOR_BITS 20 /* of a dev_t in the kernel's encoding, as in IDs */

struct disk {
	uint64_t id;
	char name[RUN_NAME];
};

struct names {
	char *root;
	struct cgroups *cgroups; /* NULL: no cgroup2 here */
	/*
	 * Every disk seen so far. If a disk is removed before its requests are reported, its number
	 * may be reused: the first name is kept.
	 */
	struct disk *disks;
	size_t nr_disks;
};

/* /sys/dev/block/8:0 is a link that ends in the disk's name. */
static bool read_disk(const struct names *names, uint64_t id, char out[RUN_NAME])
{
	unsigned int major = (unsigned int)(id >> MINOR_BITS);
	unsigned int minor = (unsigned int)(id & ((1U << MINOR_BITS) - 1));
	char path[PATH_MAX], target[PATH_MAX];
	const char *last;
	ssize_t len;

	snprintf(out, RUN_NAME, "%u:%u", major, minor);
	snprintf(path, sizeof(path), "%s/sys/dev/block/%u:%u", names->root, major, minor);
	len = readlink(path, target, sizeof(target) - 1);
	if (len <= 0)
		return false;
	target[len] = '\0';
	last = strrchr(target, '/');
	sanitize__text(out, RUN_NAME, last ? last + 1 : target);
	return true;
}

/*
 * `seen` is the name that the disk had at its first request, or empty: it may be gone before its
 * link is read.
 */
static void name_disk(struct names *names, uint64_t id, const char *seen, char out[RUN_NAME])
{
	struct disk *disks;

	for (size_t i = 0; i < names->nr_disks; i++) {
		if (names->disks[i].id == id) {
			memcpy(out, names->disks[i].name, RUN_NAME);
			return;
		}
	}
	if (!read_disk(names, id, out)) {
		if (!seen[0])
			return;
		snprintf(out, RUN_NAME, "%s", seen);
	}
	disks = vec__grow(names->disks, names->nr_disks, sizeof(*disks));
	if (!disks) /* not kept: the link is read again next time */
		return;
	names->disks = disks;
	disks[names->nr_disks].id = id;
	memcpy(disks[names->nr_disks++].name, out, RUN_NAME);
}

/* Adds the disks that exist now. */
static void learn_disks(struct names *names)
{
	char path[PATH_MAX], name[RUN_NAME];
	unsigned int major, minor;
	struct dirent *entry;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/dev/block", names->root);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		if (sscanf(entry->d_name, "%u:%u", &major, &minor) == 2)
			name_disk(names, (uint64_t)major << MINOR_BITS | minor, "", name);
	}
	if (dir)
		closedir(dir);
}

int names__new(struct names **names, const char *root)
{
	struct names *made;
	int err = -ENOMEM;

	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->root = strdup(root);
	if (!made->root)
		goto err_free;
	err = cgroups__new(&made->cgroups, root);
	if (err == -ENOMEM)
		goto err_free_root;
	learn_disks(made);
	*names = made;
	return 0;

err_free_root:
	free(made->root);
err_free:
	free(made);
	return err;
}

void names__free(struct names *names)
{
	if (!names)
		return;
	cgroups__free(names->cgroups);
	free(names->disks);
	free(names->root);
	free(names);
}

const char *names__cgroup_path(const struct names *names, uint64_t id)
{
	return names->cgroups ? cgroups__path(names->cgroups, id) : NULL;
}

bool names__are_cheap(const struct names *names)
{
	return !names->cgroups || cgroups__has_rested(names->cgroups);
}

/* The end says more than the beginning. */
void names__shorten(const char *path, char *out, size_t size)
{
	size_t len = strlen(path);

	if (len < size) {
		sanitize__text(out, size, path);
		return;
	}
	memcpy(out, "...", 3);
	sanitize__text(out + 3, size - 3, path + len - (size - 4));
}

void names__cgroup_text(const struct names *names, uint64_t id, char *out, size_t size)
{
	const char *path = names__cgroup_path(names, id);

	if (path)
		names__shorten(path, out, size);
	else
		snprintf(out, size, "cgroup %" PRIu64, id);
}

/* A name as the kernel has it, without a terminator if it is long; NULL: none. */
static void kernel_text(const char *comm, char text[LAT_COMM_LEN])
{
	char raw[LAT_COMM_LEN] = "";

	if (comm)
		strncpy(raw, comm, sizeof(raw) - 1);
	sanitize__text(text, LAT_COMM_LEN, raw);
}

static void name_task(uint64_t id, const char *text, char out[RUN_NAME])
{
	snprintf(out, RUN_NAME, "%s%s(%" PRIu64 ")", text, text[0] ? " " : "", id);
}

const char *names__key(struct names *names, const struct lat_key *key, const char *comm,
		       char out[RUN_NAME])
{
	const char *listed = split__id_name(key->by, key->id);
	char text[LAT_COMM_LEN];

	kernel_text(comm, text);
	if (key->id == RUN_OTHER_ID)
		snprintf(out, RUN_NAME, "(other)");
	else if (listed)
		snprintf(out, RUN_NAME, "%s", listed);
	else if (key->by == LAT_BY_PROCESS || key->by == LAT_BY_THREAD)
		name_task(key->id, text, out);
	else if (key->by == LAT_BY_DISK)
		name_disk(names, key->id, text, out);
	else if (key->by == LAT_BY_CGROUP)
		names__cgroup_text(names, key->id, out, RUN_NAME);
	else if (key->by == LAT_BY_CPU)
		snprintf(out, RUN_NAME, "CPU %llu", key->id);
	else
		snprintf(out, RUN_NAME, "%llu", key->id);
	return out;
}

/* The file has "8:0". */
static int read_dev(const char *dir, const char *file, uint32_t *id)
{
	unsigned int major, minor;
	char path[PATH_MAX];
	FILE *stream;
	int got;

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path))
		return -ENODEV;
	stream = fopen(path, "re");
	if (!stream)
		return -ENODEV;
	got = fscanf(stream, "%u:%u", &major, &minor);
	fclose(stream);
	if (got != 2)
		return -ENODEV;
	*id = major << MINOR_BITS | minor;
	return 0;
}

/* Resolves links such as /dev/mapper/x and /dev/disk/by-id/y to the name in sysfs. */
static const char *kernel_name(const char *name, char real[PATH_MAX])
{
	if (strncmp(name, "/dev/", 5))
		return name;
	if (!realpath(name, real) || strncmp(real, "/dev/", 5))
		return name + 5;
	return real + 5;
}

int names__disk(const struct names *names, const char *name, uint32_t *id)
{
	char dir[PATH_MAX], partition[PATH_MAX + 16], real[PATH_MAX];
	bool part;
	int err;

	name = kernel_name(name, real);
	if (!*name || strchr(name, '/') || name[0] == '.')
		return -ENODEV;
	if (snprintf(dir, sizeof(dir), "%s/sys/class/block/%s", names->root, name) >= PATH_MAX)
		return -ENODEV;
	snprintf(partition, sizeof(partition), "%s/partition", dir);
	part = !access(partition, F_OK);
	err = read_dev(dir, part ? "../dev" : "dev", id);
	return err ? err : part;
}

int names__cgroup(const struct names *names, const char *path, uint64_t *id)
{
	return names->cgroups ? cgroups__find(names->cgroups, path, id) : -ENOENT;
}

const char *names__source(const struct names *names, unsigned int source, char out[RUN_NAME])
{
	unsigned int irq = source - WHY_FIRST_IRQ;
	char path[RUN_NAME], actions[RUN_NAME], name[RUN_NAME];
	const char *vector = NULL;

	if (source >= WHY_SOFTIRQ && source < WHY_TIMER)
		vector = split__id_name(LAT_BY_VECTOR, source - WHY_SOFTIRQ);
	if (vector) {
		snprintf(out, RUN_NAME, "softirq %s", vector);
	} else if (source < WHY_FIRST_IRQ || source >= WHY_LAST_SOURCE) {
		strcpy(out, source == WHY_TIMER ? "timer" : "an interrupt");
	} else {
		snprintf(path, sizeof(path), "/sys/kernel/irq/%u/actions", irq);
		if (first_line__read(names->root, path, actions, sizeof(actions)))
			snprintf(out, RUN_NAME, "IRQ %u", irq);
		else
			snprintf(out, RUN_NAME, "IRQ %u (%.40s)", irq,
				 sanitize__text(name, sizeof(name), actions));
	}
	return out;
}
