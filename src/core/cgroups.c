// SPDX-License-Identifier: BSD-2-Clause
#include "cgroups.h"

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "vec.h"

struct cgroup {
	uint64_t id;
	char *path; /* NULL: there is no such cgroup */
};

struct cgroups {
	char mount[PATH_MAX]; /* begins with `root` */
	size_t root_len;
	struct cgroup *known;
	size_t nr;
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

void cgroups__free(struct cgroups *cgroups)
{
	if (!cgroups)
		return;
	for (size_t i = 0; i < cgroups->nr; i++)
		free(cgroups->known[i].path);
	free(cgroups->known);
	free(cgroups);
}

static struct cgroup *find_known(const struct cgroups *cgroups, uint64_t id)
{
	for (size_t i = 0; i < cgroups->nr; i++) {
		if (cgroups->known[i].id == id)
			return &cgroups->known[i];
	}
	return NULL;
}

/* Takes ownership of the path. Without memory the path is dropped; the name is then the bare ID. */
static void remember(struct cgroups *cgroups, uint64_t id, char *path)
{
	struct cgroup *known;

	known = vec__grow(cgroups->known, cgroups->nr, sizeof(*known));
	if (!known) {
		free(path);
		return;
	}
	cgroups->known = known;
	cgroups->known[cgroups->nr++] = (struct cgroup){ .id = id, .path = path };
}

static void walk(struct cgroups *cgroups)
{
	char *const paths[] = { cgroups->mount, NULL };
	size_t mount_len = strlen(cgroups->mount);
	FTSENT *entry;
	FTS *tree;

	tree = fts_open(paths, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	if (!tree)
		return;
	while ((entry = fts_read(tree))) {
		const char *below = entry->fts_path + mount_len;
		char *path;

		if (entry->fts_info != FTS_D || find_known(cgroups, entry->fts_statp->st_ino))
			continue;
		path = strdup(*below ? below : "/");
		if (path)
			remember(cgroups, entry->fts_statp->st_ino, path);
	}
	fts_close(tree);
}

const char *cgroups__path(struct cgroups *cgroups, uint64_t id)
{
	struct cgroup *known = find_known(cgroups, id);

	if (!known) {
		walk(cgroups);
		known = find_known(cgroups, id);
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
