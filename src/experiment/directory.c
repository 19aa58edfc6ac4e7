// SPDX-License-Identifier: BSD-2-Clause
#include "directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <store/rundir.h>
#include <store/trusted_path.h>

#define LOG "output.log"
#define MOST_LOG (1 << 20) /* bytes of the log that are read for its last lines */
#define MOST_TRIES 1000

/* A name can have any byte; its number makes it unique. */
void directory__side(const struct plan *plan, size_t side, char name[DIRECTORY_SIDE])
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789=,._+%";

	if (!plan->matrix) {
		snprintf(name, DIRECTORY_SIDE, "%s", side ? "on" : "off");
		return;
	}
	snprintf(name, DIRECTORY_SIDE, "%03zu-%s", side + 1, plan->sides[side].name);
	for (char *at = name + 4; *at; at++)
		if (!strchr(plain, *at))
			*at = '_';
}

static int explain(struct experiment *experiment, int err)
{
	if (err && !experiment->why[0])
		snprintf(experiment->why, RUN_TEXT, "%s", rundir__explain(err));
	return err;
}

int directory__create(struct experiment *experiment, const char *parent, const char *label)
{
	char name[DIRECTORY_SIDE];
	struct rundir rundir, below;
	int err;

	err = rundir__create(&rundir, parent, time(NULL), label, experiment->path, PATH_MAX);
	if (err)
		return explain(experiment, err);
	for (size_t i = 0; !err && i < experiment->plan.nr_sides; i++) {
		directory__side(&experiment->plan, i, name);
		rundir__enter(&rundir);
		err = rundir__create_in(&below, &rundir, name);
		rundir__leave(&rundir);
		if (!err)
			rundir__close(&below);
	}
	rundir__close(&rundir);
	return explain(experiment, err);
}

/* The log belongs to the owner, so that nobody else reads what the commands print. */
static int open_log(struct experiment *experiment)
{
	int err = caller__enter(&experiment->owner), fd = -1;
	struct stat st;

	if (err)
		return err;
	fd = openat(experiment->dir, LOG,
		    O_RDWR | O_CREAT | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	err = fd < 0 ? -errno : 0;
	caller__leave();
	if (!err && (fstat(fd, &st) || !S_ISREG(st.st_mode)))
		err = -EBADMSG;
	if (err && fd >= 0)
		close(fd);
	else
		experiment->child.log = fd;
	return err;
}

int directory__open(struct experiment *experiment)
{
	int at, err = 0;

	experiment->owner = caller__find();
	at = trusted_path__open(experiment->path, &experiment->owner);
	if (at < 0)
		return explain(experiment, at);
	experiment->dir = openat(at, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (experiment->dir < 0)
		err = -errno;
	close(at);
	if (err)
		return explain(experiment, err);
	snprintf(experiment->at, sizeof(experiment->at), "/proc/self/fd/%d", experiment->dir);
	return 0;
}

/* The number of entries of a directory, or -errno; `last` (or NULL) gets the name of the last. */
static ssize_t list(const struct experiment *experiment, const char *name, char last[NAME_MAX + 1])
{
	int fd = openat(experiment->dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	ssize_t count = 0;
	int err = -errno;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return err;
	}
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		count++;
		if (last)
			snprintf(last, NAME_MAX + 1, "%s", entry->d_name);
	}
	closedir(dir);
	return count;
}

int directory__count(struct experiment *experiment)
{
	char name[DIRECTORY_SIDE];
	ssize_t count;

	for (size_t i = 0; i < experiment->plan.nr_sides; i++) {
		directory__side(&experiment->plan, i, name);
		count = list(experiment, name, NULL);
		if (count < 0)
			return explain(experiment, (int)count);
		experiment->done[i] = (size_t)count;
	}
	return explain(experiment, open_log(experiment));
}

int directory__write_plan(struct experiment *experiment)
{
	int err = caller__enter(&experiment->owner);

	if (!err)
		err = plan__write(&experiment->plan, experiment->at);
	caller__leave();
	return explain(experiment, err);
}

int directory__begin_run(const struct experiment *experiment, size_t side, char name[NAME_MAX + 1])
{
	size_t number = experiment->done[side] + 1;
	int err = caller__enter(&experiment->owner);
	char of[DIRECTORY_SIDE];

	if (err)
		return err;
	directory__side(&experiment->plan, side, of);
	snprintf(name, NAME_MAX + 1, "%s-%03zu", of, number);
	for (int i = 2; mkdirat(experiment->dir, name, 0700); i++) {
		err = errno == EEXIST && i <= MOST_TRIES ? 0 : -errno;
		if (err)
			break;
		snprintf(name, NAME_MAX + 1, "%s-%03zu-%d", of, number, i);
	}
	caller__leave();
	return err;
}

int directory__find_recording(const struct experiment *experiment, const char *name,
			      char recording[NAME_MAX + 1])
{
	recording[0] = '\0';
	return list(experiment, name, recording) > 0 ? 0 : -ENOENT;
}

static int move(const struct experiment *experiment, const char *name, const char *recording,
		size_t side, size_t number)
{
	int from = openat(experiment->dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char kept[32], of[DIRECTORY_SIDE];
	int to, err;

	directory__side(&experiment->plan, side, of);
	to = openat(experiment->dir, of, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	err = from < 0 || to < 0 ? -errno : 0;
	snprintf(kept, sizeof(kept), "%03zu", number);
	if (!err && renameat(from, recording, to, kept))
		err = -errno;
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return err;
}

int directory__keep_run(struct experiment *experiment, size_t side, const char *name,
			const char *recording)
{
	int err = caller__enter(&experiment->owner);

	if (!err)
		err = move(experiment, name, recording, side, experiment->done[side] + 1);
	if (!err)
		unlinkat(experiment->dir, name, AT_REMOVEDIR);
	caller__leave();
	if (!err)
		experiment->done[side]++;
	return explain(experiment, err);
}

/* Ends the text where the recorder's report begins, which comes after the workload's output. */
static void leave_report_out(char *text)
{
	static const char first[] = "workload: ";
	char *begin = strncmp(text, first, strlen(first)) ? NULL : text;

	for (char *at = text; (at = strchr(at, '\n')); at++)
		if (!strncmp(at + 1, first, strlen(first)))
			begin = at + 1;
	if (begin)
		*begin = '\0';
}

void directory__last_lines(struct experiment *experiment, off_t from)
{
	off_t end = lseek(experiment->child.log, 0, SEEK_END);
	size_t len = end - from < MOST_LOG ? (size_t)(end - from) : MOST_LOG;
	char *text = calloc(1, len + 1), *at;

	experiment->said[0] = '\0';
	if (!text || pread(experiment->child.log, text, len, end - (off_t)len) != (ssize_t)len)
		goto done;
	leave_report_out(text);
	at = text + strlen(text);
	while (at > text && (at[-1] == '\n' || at[-1] == '\r'))
		*--at = '\0';
	for (unsigned int lines = 0; at > text; at--)
		if (at[-1] == '\n' && ++lines == EXPERIMENT_LINES)
			break;
	snprintf(experiment->said, sizeof(experiment->said), "%s", at);
done:
	free(text);
}
