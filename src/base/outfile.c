// SPDX-License-Identifier: BSD-2-Clause
#include "outfile.h"

#include <errno.h>
#include <unistd.h>

int outfile__open(struct outfile *file, const char *dir, const char *name)
{
	if (snprintf(file->path, PATH_MAX, "%s/%s", dir, name) >= PATH_MAX ||
	    snprintf(file->temporary, PATH_MAX, "%s/.%s.tmp", dir, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	file->stream = fopen(file->temporary, "we");
	return file->stream ? 0 : -errno;
}

void outfile__abort(struct outfile *file)
{
	fclose(file->stream);
	unlink(file->temporary);
}

int outfile__commit(struct outfile *file)
{
	int err = 0;

	if (fflush(file->stream))
		err = -errno;
	else if (ferror(file->stream))
		err = -EIO;
	/* Some file systems report a failed write only here. */
	if (fclose(file->stream) && !err)
		err = -errno;
	if (!err && rename(file->temporary, file->path))
		err = -errno;
	if (err)
		unlink(file->temporary);
	return err;
}
