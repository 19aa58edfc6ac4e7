// SPDX-License-Identifier: BSD-2-Clause
#include "ring_files.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <core/units.h>
#include <core/vec.h>

static DIR *open_dir(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *opened = fd < 0 ? NULL : fdopendir(fd);

	if (!opened && fd >= 0)
		close(fd);
	return opened;
}

static bool is_wanted(const char *name, const char *prefix, const char *suffix, uint64_t *number)
{
	size_t len = strlen(name), end = suffix ? strlen(suffix) : 0;

	*number = 0;
	if (suffix)
		return isdigit((unsigned char)name[0]) && len > end &&
		       !strcmp(name + len - end, suffix);
	return !strncmp(name, prefix, strlen(prefix)) &&
	       !units__parse_count(name + strlen(prefix), 1, UINT64_MAX, number);
}

static int by_number(const void *left, const void *right)
{
	const struct ring_name *a = left, *b = right;

	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return strcmp(a->name, b->name);
}

long ring_files__list(int dir, const char *prefix, const char *suffix, struct ring_name **names)
{
	struct ring_name *all = NULL, *grown;
	DIR *list = open_dir(dir, ".");
	struct dirent *entry;
	size_t nr = 0;
	uint64_t number;

	*names = NULL;
	if (!list)
		return -errno;
	while ((entry = readdir(list))) {
		if (!is_wanted(entry->d_name, prefix, suffix, &number))
			continue;
		grown = vec__grow(all, nr, sizeof(*all));
		if (!grown) {
			free(all);
			closedir(list);
			return -ENOMEM;
		}
		all = grown;
		all[nr].number = number;
		strcpy(all[nr++].name, entry->d_name);
	}
	closedir(list);
	if (nr)
		qsort(all, nr, sizeof(*all), by_number);
	*names = all;
	return (long)nr;
}

uint64_t ring_files__size(int dir, const char *name, bool deep)
{
	DIR *list = open_dir(dir, name);
	struct dirent *entry;
	uint64_t size = 0;
	struct stat st;

	while (list && (entry = readdir(list))) {
		if (entry->d_name[0] == '.' ||
		    fstatat(dirfd(list), entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		if (S_ISREG(st.st_mode))
			size += (uint64_t)st.st_size;
		else if (S_ISDIR(st.st_mode) && deep)
			size += ring_files__size(dirfd(list), entry->d_name, false);
	}
	if (list)
		closedir(list);
	return size;
}

void ring_files__delete(int dir, const char *name, bool deep)
{
	DIR *list = open_dir(dir, name);
	struct dirent *entry;

	if (!list)
		return;
	while ((entry = readdir(list))) {
		if (entry->d_name[0] == '.')
			continue;
		if (unlinkat(dirfd(list), entry->d_name, 0) && deep)
			ring_files__delete(dirfd(list), entry->d_name, false);
	}
	closedir(list);
	unlinkat(dir, name, AT_REMOVEDIR);
}
