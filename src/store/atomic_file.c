// SPDX-License-Identifier: BSD-2-Clause
#include "atomic_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <string.h>
#include <unistd.h>

int outfile__open(struct outfile *file, const char *dir, const char *name)
{
	int fd, err;

	if (snprintf(file->path, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX ||
	    snprintf(file->temporary, PATH_MAX, "%s/.%s.tmp", dir, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	file->stream = fdopen(fd, "w");
	if (file->stream)
		return 0;
	err = -errno;
	close(fd);
	unlink(file->temporary);
	return err;
}

void outfile__abort(struct outfile *file)
{
	fclose(file->stream);
	unlink(file->temporary);
}

/*
 * The rename is durable only after a sync of the directory. Some file systems have nothing to sync.
 */
static int sync_dir_of(const char *path)
{
	char copy[PATH_MAX];
	int dir, err = 0;

	dir = open(dirname(strcpy(copy, path)), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	if (fsync(dir) && errno != EINVAL && errno != EROFS)
		err = -errno;
	close(dir);
	return err;
}

int outfile__commit(struct outfile *file)
{
	int err = 0;

	if (fflush(file->stream))
		err = -errno;
	else if (ferror(file->stream))
		err = -EIO;
	/*
	 * Sync before the rename, so the name never refers to a partial file, even after a power
	 * failure.
	 */
	else if (fsync(fileno(file->stream)))
		err = -errno;
	/* Some file systems report a failed write only here. */
	if (fclose(file->stream) && !err)
		err = -errno;
	if (!err && rename(file->temporary, file->path))
		err = -errno;
	if (err) {
		unlink(file->temporary);
		return err;
	}
	return sync_dir_of(file->path);
}

int outfile__write(const char *dir, const char *name, int (*print)(FILE *stream, const void *of),
		   const void *of)
{
	struct outfile file = { 0 };
	int err = outfile__open(&file, dir, name);

	if (err)
		return err;
	err = print(file.stream, of);
	if (!err)
		return outfile__commit(&file);
	outfile__abort(&file);
	return err;
}
