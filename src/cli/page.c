// SPDX-License-Identifier: BSD-2-Clause
#include "page.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <core/run.h>
#include <store/atomic_file.h>
#include <store/caller.h>
#include <store/rundb.h>
#include <store/rundir.h>
#include <store/trusted_path.h>

#include "cmd.h"
#include "log.h"

static int fail(const char *path, const char *why, const char *todo)
{
	char what[PATH_MAX + RUN_TEXT];

	snprintf(what, sizeof(what), "cannot write %s", path);
	log__error(what, why, todo);
	return EXIT_ERROR;
}

static int write_in(int dir, const char *name, int (*print)(FILE *out, void *of), void *of,
		    int *unread)
{
	struct outfile file = { 0 };
	char at[32];
	int err;

	snprintf(at, sizeof(at), "/proc/self/fd/%d", dir);
	err = outfile__open(&file, at, name);
	/* Left by a latscope that was killed; or planted, which unlink() does not follow. */
	if (err == -EEXIST && !unlink(file.temporary))
		err = outfile__open(&file, at, name);
	if (err)
		return err;
	*unread = print(file.stream, of);
	if (!*unread)
		return outfile__commit(&file);
	outfile__abort(&file);
	return 0;
}

static bool is_regular(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) || S_ISREG(st.st_mode);
}

static int write_as(const char *path, const struct caller *caller,
		    int (*print)(FILE *out, void *of), void *of)
{
	char copy[PATH_MAX];
	const char *name = basename(strcpy(copy, path));
	int dir = trusted_path__open_above(path, caller), unread = 0, err;

	if (dir < 0)
		return fail(path, rundir__explain(dir), "choose another file");
	if (!is_regular(dir, name)) {
		close(dir);
		return fail(path, "not a regular file", "choose another file");
	}
	err = write_in(dir, name, print, of, &unread);
	close(dir);
	if (err)
		return fail(path, strerror(-err), "choose another file");
	if (unread)
		return fail(path, rundb__explain(unread), NULL);
	return EXIT_DONE;
}

bool page__is_stdout(const char *path)
{
	return !strcmp(path, "-");
}

/* main reports errors of the stream itself. */
static int write_stdout(int (*print)(FILE *out, void *of), void *of)
{
	int err = print(stdout, of);

	return err ? fail("to standard output", rundb__explain(err), NULL) : EXIT_DONE;
}

int page__write(const char *path, const char *what, int (*print)(FILE *out, void *of), void *of)
{
	const struct caller caller = caller__find();
	int code;

	if (page__is_stdout(path))
		return write_stdout(print, of);
	if (!*path || path[strlen(path) - 1] == '/')
		return fail(path, "not the name of a file", "choose another file");
	if (strlen(path) >= PATH_MAX)
		return fail(path, strerror(ENAMETOOLONG), "choose another file");
	if (caller__enter(&caller))
		return fail(path, strerror(EPERM), "run latscope without sudo");
	code = write_as(path, &caller, print, of);
	caller__leave();
	if (!code)
		log__note("%s in %s", what, path);
	return code;
}
