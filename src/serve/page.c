// SPDX-License-Identifier: BSD-2-Clause
#include "page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <core/clock.h>
#include <print/report.h>
#include <store/rundb.h>

#include "ring_files.h"
#include "snapshot.h"

#define LONGEST_NS 3600000000000ULL /* what the ring keeps */
#define NICE 10
#define DESCRIPTORS 1024 /* the service has less */

/* ---- the process ---- */

/*
 * A connection stays open as long as any process has it. What must stay is the socket of the
 * process that gives the files back to root (lend.h): it waits for this one, too.
 */
static void close_connections(void)
{
	for (int fd = 3; fd < DESCRIPTORS; fd++) {
		int domain = AF_UNIX;
		socklen_t len = sizeof(domain);

		if (!getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) && domain != AF_UNIX)
			close(fd);
	}
}

static int print(FILE *out, const char *dir)
{
	static const struct timeline_rules rules = WHOLE_RULES;
	struct run *run = calloc(1, sizeof(*run));
	struct whole *whole = NULL;
	struct rundb *db;
	int err;

	err = run ? rundb__open(&db, dir, run) : -ENOMEM;
	if (err)
		return err;
	err = whole__new(&whole, db, run, &rules);
	if (!err)
		err = whole__print_page(out, db, run, whole, WHOLE_PAGE_KEYS);
	whole__free(whole);
	rundb__close(db);
	return err;
}

/* Errors are exit codes. If the service was killed meanwhile, nobody else deletes the snapshot. */
static int make(const struct page *page, int file)
{
	FILE *out = fdopen(file, "w");
	int err;

	if (setpriority(PRIO_PROCESS, 0, NICE))
		errno = 0;
	close_connections();
	err = out ? print(out, page->recording.rundir.at) : -errno;
	if (!err && (ferror(out) || fclose(out)))
		err = -EIO;
	ring_files__delete(page->ring->rundir.fd, PAGE_SNAPSHOT, false);
	return -err;
}

/* ---- the service ---- */

/* Without a name: nothing is left whatever happens. */
static int open_file(int dir)
{
	int file = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (file >= 0)
		return file;
	/* The file system cannot, as overlayfs before 6.3. */
	file = openat(dir, "page.html", O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0)
		return -errno;
	unlinkat(dir, "page.html", 0);
	return file;
}

static void end_snapshot(struct page *page)
{
	snapshot__free(page->snapshot);
	page->snapshot = NULL;
	if (page->recording.dir[0])
		recording__free(&page->recording);
	memset(&page->recording, 0, sizeof(page->recording));
	ring_files__delete(page->ring->rundir.fd, PAGE_SNAPSHOT, false);
}

int page__begin(struct page *page, uint64_t last_ns)
{
	const struct rundir *ring = &page->ring->rundir;
	int err;

	if (last_ns > LONGEST_NS)
		return -EINVAL;
	if (page->snapshot || page->process)
		return -EBUSY;
	err = snapshot__new(&page->snapshot, ring->fd, last_ns);
	if (!err)
		err = recording__create_in(&page->recording, ring, PAGE_SNAPSHOT);
	if (!err)
		page->recording.nr_writers = 1; /* run.db is all that a page needs */
	else if (page->snapshot)
		end_snapshot(page);
	return err;
}

static int start(struct page *page)
{
	int err;

	page->file = open_file(page->ring->rundir.fd);
	if (page->file < 0)
		return page->file;
	page->process = fork();
	if (!page->process)
		_exit(make(page, page->file));
	if (page->process > 0)
		return 0;
	err = -errno;
	page->process = 0;
	close(page->file);
	return err;
}

/* 1: the snapshot is not complete yet. */
static int copy(struct page *page)
{
	int got = snapshot__work(page->snapshot, &page->recording);

	if (got > 0)
		return got;
	snapshot__free(page->snapshot);
	page->snapshot = NULL;
	if (!got)
		got = start(page);
	if (got)
		end_snapshot(page);
	return got;
}

static int wait_for_process(struct page *page, int *file, size_t *len)
{
	int status, err = 0;
	struct stat st;
	pid_t got;

	got = waitpid(page->process, &status, WNOHANG);
	if (!got)
		return 0;
	page->process = 0;
	end_snapshot(page);
	if (got < 0 || !WIFEXITED(status))
		err = -EIO;
	else
		err = -WEXITSTATUS(status);
	if (!err && fstat(page->file, &st))
		err = -errno;
	if (err) {
		close(page->file);
		return err;
	}
	*file = page->file;
	*len = (size_t)st.st_size;
	return 1;
}

int page__work(struct page *page, int *file, size_t *len)
{
	int got = page->snapshot ? copy(page) : 0;

	if (got)
		return got > 0 ? 0 : got;
	return page->process ? wait_for_process(page, file, len) : 0;
}

void page__clear(struct page *page)
{
	if (page->snapshot)
		end_snapshot(page);
	if (page->process)
		close(page->file);
	page->process = 0;
}
