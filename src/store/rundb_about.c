// SPDX-License-Identifier: BSD-2-Clause
/* Questions about a recording that need no rundb handle: is there one, read all of it, why not. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rundb.h"

int rundb__is_in(const char *dir)
{
	char file[PATH_MAX];

	if (snprintf(file, sizeof(file), "%s/run.db", dir) >= PATH_MAX)
		return -ENAMETOOLONG;
	/* a reason that depends on the capabilities this process still has */
	if (!faccessat(AT_FDCWD, file, F_OK, AT_EACCESS))
		return 1;
	return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
}

int rundb__load(const char *path, struct run *run)
{
	struct rundb *db;
	int err;

	err = rundb__open(&db, path, run);
	if (err)
		return err;
	rundb__close(db);
	return 0;
}

const char *rundb__explain(int err)
{
	switch (err) {
	case -ENOENT:
		return "there is no recording";
	case -EMEDIUMTYPE:
		return "this is not a recording of latscope";
	case -EPROTONOSUPPORT:
		return "this recording was made by another version of latscope";
	case -EUCLEAN:
		return "this recording is damaged";
	case -EBADFD:
		return "its run.db-wal or run.db-journal is not a regular file";
	case -EROFS:
		return "its run.db-journal holds a change that another program did not finish";
	case -E2BIG:
		return "this recording has more keys than latscope writes";
	case -EOVERFLOW:
		return "reading this recording takes more work than its size explains";
	default:
		return strerror(-err);
	}
}
