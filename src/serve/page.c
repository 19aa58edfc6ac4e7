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

#include <print/whole.h>
#include <store/rundb.h>

#include "ring_files.h"
#include "snapshot.h"

#define LONGEST_NS 3600000000000ULL /* what the ring keeps */
#define NICE 10
#define DESCRIPTORS 1024 /* the service has less */
#define SUFFIX "-page"
#define NAME "0" SUFFIX /* of the snapshot; one process makes one at a time */

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

static int copy_ring(const struct rundir *ring, struct recording *recording, uint64_t last_ns,
		     pid_t parent)
{
	struct snapshot *snapshot;
	int err, got = 1;

	err = snapshot__new(&snapshot, ring->fd, last_ns);
	if (err)
		return err;
	err = recording__create_in(recording, ring, NAME);
	recording->nr_writers = 1; /* run.db is all that a page needs */
	while (!err && got > 0) {
		got = snapshot__step(snapshot, recording);
		if (getppid() != parent)
			err = -ECANCELED;
	}
	snapshot__free(snapshot);
	return err ? err : got;
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

/* Errors are exit codes. */
static int make(const struct page *page, uint64_t last_ns, int file, pid_t parent)
{
	struct recording recording = { 0 };
	const struct rundir *ring = &page->ring->rundir;
	FILE *out;
	int err;

	if (setpriority(PRIO_PROCESS, 0, NICE))
		errno = 0;
	close_connections();
	ring_files__delete(ring->fd, NAME, false);
	err = copy_ring(ring, &recording, last_ns, parent);
	out = fdopen(file, "w");
	if (!err)
		err = out ? print(out, recording.rundir.at) : -errno;
	if (!err && (ferror(out) || fclose(out)))
		err = -EIO;
	ring_files__delete(ring->fd, NAME, false);
	return -err;
}

/* ---- the service ---- */

/* Without a name: nothing is left whatever happens. */
static int open_file(int dir)
{
	int file = openat(dir, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (file >= 0 || errno != EOPNOTSUPP)
		return file < 0 ? -errno : file;
	file = openat(dir, "page.html", O_CREAT | O_EXCL | O_NOFOLLOW | O_RDWR | O_CLOEXEC, 0600);
	if (file < 0)
		return -errno;
	unlinkat(dir, "page.html", 0);
	return file;
}

int page__begin(struct page *page, uint64_t last_ns)
{
	pid_t parent = getpid();
	int err;

	if (last_ns > LONGEST_NS)
		return -EINVAL;
	if (page->process)
		return -EBUSY;
	page->file = open_file(page->ring->rundir.fd);
	if (page->file < 0)
		return page->file;
	page->process = fork();
	if (!page->process)
		_exit(make(page, last_ns, page->file, parent));
	if (page->process > 0)
		return 0;
	err = -errno;
	page->process = 0;
	close(page->file);
	return err;
}

int page__end(struct page *page, int *file, size_t *len)
{
	struct stat st;
	int status, err = 0;
	pid_t got;

	if (!page->process)
		return 0;
	got = waitpid(page->process, &status, WNOHANG);
	if (!got)
		return 0;
	if (got < 0 || !WIFEXITED(status))
		err = -EIO;
	else
		err = -WEXITSTATUS(status);
	page->process = 0;
	if (!err && fstat(page->file, &st))
		err = -errno;
	if (err) {
		page__clean(page);
		close(page->file);
		return err;
	}
	*file = page->file;
	*len = (size_t)st.st_size;
	return 1;
}

void page__clean(const struct page *page)
{
	ring_files__delete(page->ring->rundir.fd, NAME, false);
}
