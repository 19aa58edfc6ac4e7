// SPDX-License-Identifier: BSD-2-Clause
#include "disks.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <core/sanitize.h>

#define MINOR_BITS 20
#define DEEPEST 8 /* such as dm on md on dm; more levels do not occur in practice */

static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = true;

	if (!dir)
		return true;
	while (empty && (entry = readdir(dir)))
		empty = entry->d_name[0] == '.';
	closedir(dir);
	return empty;
}

/* A request-based disk has hardware queues. */
static bool has_queues(const char *dir)
{
	char path[PATH_MAX + 8];

	snprintf(path, sizeof(path), "%s/mq", dir);
	return !is_empty(path);
}

static bool find_dir(const char *root, uint32_t id, char dir[PATH_MAX])
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/sys/dev/block/%u:%u", root, id >> MINOR_BITS,
		 id & ((1U << MINOR_BITS) - 1));
	return realpath(path, dir);
}

uint32_t disks__id(dev_t device)
{
	return major(device) << MINOR_BITS | minor(device);
}

bool disks__has_requests(const char *root, uint32_t id)
{
	char dir[PATH_MAX];

	return !find_dir(root, id, dir) || has_queues(dir);
}

/* A partition's directory is in that of its disk. */
static void leave_partition(char dir[PATH_MAX])
{
	char path[PATH_MAX + 16];
	char *last = strrchr(dir, '/');

	snprintf(path, sizeof(path), "%s/partition", dir);
	if (last && !access(path, F_OK))
		*last = '\0';
}

static bool has_name(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = list; (at = strstr(at, name)); at += len) {
		if ((at == list || at[-1] == ' ') && (at[len] == ',' || !at[len]))
			return true;
	}
	return false;
}

static void add_name(char *list, size_t size, const char *dir)
{
	size_t used = strlen(list);
	char name[NAME_MAX + 1];

	sanitize__text(name, sizeof(name), strrchr(dir, '/') + 1);
	if (!has_name(list, name))
		snprintf(list + used, size - used, "%s%s", used ? ", " : "", name);
}

static void add_below(const char *dir, unsigned int depth, char *list, size_t size)
{
	char path[PATH_MAX + 16], slave[PATH_MAX + NAME_MAX + 32], real[PATH_MAX];
	struct dirent *entry;
	DIR *slaves;

	snprintf(path, sizeof(path), "%s/slaves", dir);
	slaves = opendir(path);
	while (slaves && (entry = readdir(slaves))) {
		snprintf(slave, sizeof(slave), "%s/%s", path, entry->d_name);
		if (entry->d_name[0] == '.' || !realpath(slave, real))
			continue;
		leave_partition(real);
		if (has_queues(real))
			add_name(list, size, real);
		else if (depth < DEEPEST)
			add_below(real, depth + 1, list, size);
	}
	if (slaves)
		closedir(slaves);
}

const char *disks__below(const char *root, uint32_t id, char *out, size_t size)
{
	char dir[PATH_MAX];

	out[0] = '\0';
	if (find_dir(root, id, dir))
		add_below(dir, 0, out, size);
	return out;
}

bool disks__any_stacked(const char *root)
{
	char path[PATH_MAX], slaves[PATH_MAX + NAME_MAX + 16];
	struct dirent *entry;
	bool found = false;
	DIR *disks;

	snprintf(path, sizeof(path), "%s/sys/block", root);
	disks = opendir(path);
	while (disks && !found && (entry = readdir(disks))) {
		snprintf(slaves, sizeof(slaves), "%s/%s/slaves", path, entry->d_name);
		found = entry->d_name[0] != '.' && !is_empty(slaves);
	}
	if (disks)
		closedir(disks);
	return found;
}

const char *disks__of_file(const char *path, char *out, size_t size)
{
	char dir[PATH_MAX];
	struct stat st;

	out[0] = '\0';
	if (stat(path, &st))
		return out;
	if (!find_dir("", disks__id(S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev), dir))
		return out;
	leave_partition(dir);
	if (has_queues(dir))
		add_name(out, size, dir);
	else
		add_below(dir, 0, out, size);
	return out;
}
