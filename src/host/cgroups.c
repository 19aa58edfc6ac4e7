// SPDX-License-Identifier: BSD-2-Clause
#include "cgroups.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <core/clock.h>
#include <core/vec.h>

#define LEAST_PLACES 1024
#define MOST_GONE 4096 /* known ones that are gone, beyond as many as there are */
#define WALK_NS 100000000ULL
#define FUTILE 4 /* walks in that time */
#define REST 50 /* times as long as the last walk took: then another one takes 2 % of a CPU */

struct cgroup {
	uint64_t id;
	char *path; /* NULL: there is no such cgroup */
	uint64_t walk; /* the last one that found it */
};

struct cgroups {
	char mount[PATH_MAX]; /* begins with `root` */
	size_t root_len;
	struct cgroup *known;
	size_t nr;
	uint64_t walks; /* so many */
	size_t found; /* by the last walk */
	uint64_t took_ns, ended_ns; /* CPU time of the last walk; its end */
	uint32_t *places; /* hash table of 1 + indices in `known`; 0: free */
	size_t nr_places; /* a power of two, more than nr; 0: there is none */
	uint64_t walked_ns; /* since then: */
	unsigned int futile; /* walks that did not find what they were for */
};

/* The first mount of cgroup2. All of them show the same tree. */
static int find_mount(char *mount, size_t size, const char *root)
{
	char path[PATH_MAX];
	struct mntent *entry;
	int err = -ENOENT;
	FILE *mounts;

	snprintf(path, sizeof(path), "%s/proc/self/mounts", root);
	mounts = setmntent(path, "re");
	if (!mounts)
		return -errno;
	while (err && (entry = getmntent(mounts))) {
		if (strcmp(entry->mnt_type, "cgroup2"))
			continue;
		err = 0;
		if (snprintf(mount, size, "%s%s", root, entry->mnt_dir) >= (int)size)
			err = -ENAMETOOLONG;
	}
	endmntent(mounts);
	return err;
}

int cgroups__new(struct cgroups **cgroups, const char *root)
{
	struct cgroups *made;
	int err;

	made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	err = find_mount(made->mount, sizeof(made->mount), root);
	if (err) {
		free(made);
		return err;
	}
	made->root_len = strlen(root);
	*cgroups = made;
	return 0;
}

const char *cgroups__mount(const struct cgroups *cgroups)
{
	return cgroups->mount;
}

void cgroups__free(struct cgroups *cgroups)
{
	if (!cgroups)
		return;
	for (size_t i = 0; i < cgroups->nr; i++)
		free(cgroups->known[i].path);
	free(cgroups->known);
	free(cgroups->places);
	free(cgroups);
}

static uint32_t *place_of(const struct cgroups *cgroups, uint64_t id)
{
	size_t at = id * 0x9e3779b97f4a7c15 >> 32;

	for (;; at++) {
		uint32_t *place = &cgroups->places[at & (cgroups->nr_places - 1)];

		if (!*place || cgroups->known[*place - 1].id == id)
			return place;
	}
}

static struct cgroup *find_known(const struct cgroups *cgroups, uint64_t id)
{
	const uint32_t *place = cgroups->nr_places ? place_of(cgroups, id) : NULL;

	return place && *place ? &cgroups->known[*place - 1] : NULL;
}

static void fill_places(struct cgroups *cgroups)
{
	memset(cgroups->places, 0, cgroups->nr_places * sizeof(*cgroups->places));
	for (size_t i = 0; i < cgroups->nr; i++)
		*place_of(cgroups, cgroups->known[i].id) = (uint32_t)i + 1;
}

static bool grow_places(struct cgroups *cgroups)
{
	size_t nr = cgroups->nr_places ? 2 * cgroups->nr_places : LEAST_PLACES;
	uint32_t *places = calloc(nr, sizeof(*places));

	if (!places)
		return false;
	free(cgroups->places);
	cgroups->places = places;
	cgroups->nr_places = nr;
	fill_places(cgroups);
	return true;
}

/*
 * A service sees cgroups come and go for months. Those that the last walk did not find keep their
 * paths until there are many: their last samples are read after they are gone.
 */
static void forget_gone(struct cgroups *cgroups)
{
	size_t kept = 0;

	if (cgroups->nr <= 2 * cgroups->found + MOST_GONE)
		return;
	for (size_t i = 0; i < cgroups->nr; i++) {
		if (cgroups->known[i].walk == cgroups->walks)
			cgroups->known[kept++] = cgroups->known[i];
		else
			free(cgroups->known[i].path);
	}
	cgroups->nr = kept;
	fill_places(cgroups);
}

/* Takes ownership of the path. Without memory the path is dropped; the name is then the bare ID. */
static void remember(struct cgroups *cgroups, uint64_t id, char *path)
{
	struct cgroup *known = NULL;

	if (2 * cgroups->nr < cgroups->nr_places || grow_places(cgroups))
		known = vec__grow(cgroups->known, cgroups->nr, sizeof(*known));
	if (!known) {
		free(path);
		return;
	}
	cgroups->known = known;
	cgroups->known[cgroups->nr++] =
		(struct cgroup){ .id = id, .path = path, .walk = cgroups->walks };
	*place_of(cgroups, id) = (uint32_t)cgroups->nr;
}

/* One that exists. */
static void find(struct cgroups *cgroups, uint64_t id, const char *below)
{
	struct cgroup *known = find_known(cgroups, id);
	char *path = known && known->path ? NULL : strdup(*below ? below : "/");

	cgroups->found++;
	if (!known && path)
		remember(cgroups, id, path);
	if (!known)
		return;
	known->walk = cgroups->walks;
	known->path = path ? path : known->path;
}

/* CPU time of this thread. */
static uint64_t used_ns(void)
{
	struct timespec used = { 0 };

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static void walk(struct cgroups *cgroups)
{
	char *const paths[] = { cgroups->mount, NULL };
	size_t mount_len = strlen(cgroups->mount);
	uint64_t start = used_ns();
	FTSENT *entry;
	FTS *tree;

	tree = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	if (!tree)
		return;
	cgroups->walks++;
	cgroups->found = 0;
	while ((entry = fts_read(tree)))
		if (entry->fts_info == FTS_D)
			find(cgroups, entry->fts_statp->st_ino, entry->fts_path + mount_len);
	fts_close(tree);
	forget_gone(cgroups);
	cgroups->ended_ns = clock__now_ns();
	cgroups->took_ns = used_ns() - start;
}

bool cgroups__has_rested(const struct cgroups *cgroups)
{
	return clock__now_ns() - cgroups->ended_ns >= REST * cgroups->took_ns;
}

/* Where many cgroups are short-lived, their ids do not cost one walk each. */
static bool may_walk(struct cgroups *cgroups)
{
	uint64_t now = clock__now_ns();

	if (now - cgroups->walked_ns >= WALK_NS) {
		cgroups->walked_ns = now;
		cgroups->futile = 0;
	}
	return cgroups->futile < FUTILE;
}

const char *cgroups__path(struct cgroups *cgroups, uint64_t id)
{
	struct cgroup *known = find_known(cgroups, id);

	if (!known && may_walk(cgroups)) {
		walk(cgroups);
		known = find_known(cgroups, id);
		cgroups->futile += !known;
	}
	if (!known)
		remember(cgroups, id, NULL);
	return known ? known->path : NULL;
}

static int directory_id(const char *path, uint64_t *id)
{
	struct stat st;

	if (stat(path, &st))
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	*id = st.st_ino;
	return 0;
}

int cgroups__find(const struct cgroups *cgroups, const char *path, uint64_t *id)
{
	const char *mount = cgroups->mount + cgroups->root_len;
	size_t len = strlen(mount);
	char full[PATH_MAX];

	if (!strncmp(path, mount, len) && (!path[len] || path[len] == '/'))
		path += len;
	if (snprintf(full, sizeof(full), "%s/%s", cgroups->mount, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	return directory_id(full, id);
}
