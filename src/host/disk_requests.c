// SPDX-License-Identifier: BSD-2-Clause
#include "disk_requests.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <core/vec.h>

#define FIELDS 17

static FILE *open_of(const char *dir, const char *name)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >= (int)sizeof(path))
		return NULL;
	return fopen(path, "re");
}

/* Reads up to `max` numbers of a file, and returns how many. */
static int read_numbers(const char *dir, const char *name, const char *format,
			unsigned long long numbers[], int max)
{
	FILE *file = open_of(dir, name);
	int nr = 0;

	while (file && nr < max && fscanf(file, format, &numbers[nr]) == 1)
		nr++;
	if (file)
		fclose(file);
	return nr;
}

static bool is_wanted(const char *dir, uint32_t only)
{
	unsigned long long id[2];

	return !only || (read_numbers(dir, "dev", "%llu%*[:\n]", id, 2) == 2 &&
			 (id[0] << 20 | id[1]) == only);
}

/*
 * False: the disk is gone, or has no such files. What has ended is read first: what ends between
 * the two is then no longer in flight.
 */
static bool read_disk(struct disk_requests *disk, const char *dir)
{
	static const int ends[] = { 0, 4, 11, 15 }; /* kernels before 5.5 have no flushes */
	unsigned long long fields[FIELDS] = { 0 }, flights[2];
	struct stat st;

	if (stat(dir, &st) || read_numbers(dir, "stat", "%llu", fields, FIELDS) < 11 ||
	    read_numbers(dir, "inflight", "%llu", flights, 2) != 2)
		return false;
	snprintf(disk->name, sizeof(disk->name), "%s", strrchr(dir, '/') + 1);
	disk->instance = st.st_ino;
	disk->ended = 0;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		disk->ended += fields[ends[i]];
	disk->in_driver = flights[0] + flights[1];
	return true;
}

static int add_disk(struct disk_list *list, const char *dir, uint32_t only)
{
	struct disk_requests disk;

	if (!is_wanted(dir, only) || !read_disk(&disk, dir))
		return 0;
	return vec__append(&list->disks, &list->nr, &disk, sizeof(disk));
}

/* Disks without `mq` have no requests of their own. */
int disk_list__read(struct disk_list *list, const char *root, uint32_t only)
{
	char pattern[PATH_MAX];
	int err = 0;
	glob_t found;

	*list = (struct disk_list){ 0 };
	snprintf(pattern, sizeof(pattern), "%s/sys/block/*/mq", root);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	for (size_t i = 0; !err && i < found.gl_pathc; i++) {
		*strrchr(found.gl_pathv[i], '/') = '\0';
		err = add_disk(list, found.gl_pathv[i], only);
	}
	globfree(&found);
	if (err)
		disk_list__free(list);
	return err;
}

void disk_list__free(struct disk_list *list)
{
	free(list->disks);
	*list = (struct disk_list){ 0 };
}

uint64_t disk_list__in_driver(const struct disk_list *list)
{
	uint64_t all = 0;

	for (size_t i = 0; i < list->nr; i++)
		all += list->disks[i].in_driver;
	return all;
}

/* The same disk, not only one of the same name. */
static const struct disk_requests *find(const struct disk_list *list,
					const struct disk_requests *disk)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->disks[i].instance == disk->instance &&
		    !strcmp(list->disks[i].name, disk->name))
			return &list->disks[i];
	return NULL;
}

bool disk_list__same(const struct disk_list *a, const struct disk_list *b)
{
	for (size_t i = 0; i < a->nr; i++) {
		const struct disk_requests *other = find(b, &a->disks[i]);

		if (!other || other->ended != a->disks[i].ended ||
		    other->in_driver != a->disks[i].in_driver)
			return false;
	}
	return a->nr == b->nr;
}

static uint64_t least_of(const struct disk_requests *then, const struct disk_requests *now)
{
	uint64_t ended = now->ended - then->ended;
	uint64_t left = then->in_driver > ended ? then->in_driver - ended : 0;

	return left < now->in_driver ? left : now->in_driver;
}

struct disk_older disk_list__older(const struct disk_list *then, const struct disk_list *now)
{
	struct disk_older older = { 0 };
	unsigned int disks = 0;

	for (size_t i = 0; i < then->nr; i++) {
		const struct disk_requests *before = &then->disks[i], *after = find(now, before);
		uint64_t most;

		if (!after)
			continue;
		most = before->in_driver < after->in_driver ? before->in_driver : after->in_driver;
		if (most && !disks++)
			memcpy(older.name, before->name, sizeof(older.name));
		older.most += most;
		older.least += least_of(before, after);
	}
	if (disks != 1)
		older.name[0] = '\0';
	return older;
}
