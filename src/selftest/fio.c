// SPDX-License-Identifier: BSD-2-Clause
#include "io.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json.h>

#define NOT_FOUND 127 /* exit status, as that of a shell */
#define ARG 64

/* The standard streams of fio: input from the file, output and errors to two memfds. */
struct streams {
	int file, out, err;
};

static _Noreturn void become(const struct streams *streams, char *const argv[])
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (dup2(streams->file, STDIN_FILENO) >= 0 && dup2(streams->out, STDOUT_FILENO) >= 0 &&
	    dup2(streams->err, STDERR_FILENO) >= 0)
		execvp(argv[0], argv);
	_exit(NOT_FOUND);
}

/* The exit status; 128 + N after signal N; -errno. */
static int run(const struct streams *streams, char *const argv[])
{
	pid_t pid = fork();
	int status;

	if (!pid)
		become(streams, argv);
	if (pid < 0)
		return -errno;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* `status`: that of its exit, with the first line of its output as the reason; or -errno. */
static int explain_failure(struct fio *fio, int status, int from)
{
	char said[128];
	ssize_t got;

	if (status < 0)
		return reference__fail(fio->why, status, "cannot run fio: %s", strerror(-status));
	if (status == NOT_FOUND)
		return reference__fail(fio->why, -EOPNOTSUPP,
				       "fio is not installed; install the package fio");
	got = pread(from, said, sizeof(said) - 1, 0);
	said[got > 0 ? got : 0] = '\0';
	said[strcspn(said, "\n")] = '\0';
	return reference__fail(fio->why, -EIO, "fio ended with status %d%s%s", status,
			       said[0] ? ": " : "", said);
}

static double number(struct json_object *all, const char *op, const char *field)
{
	struct json_object *value;
	char path[ARG];

	snprintf(path, sizeof(path), "/jobs/0/%s%s", op, field);
	return json_pointer_get(all, path, &value) ? NAN : json_object_get_double(value);
}

/* false: a number is missing. */
static bool take_span(struct json_object *all, const char *op, struct reference_span *span)
{
	double count = number(all, op, "/total_ios"), max = number(all, op, "/lat_ns/max");
	double mean = number(all, op, "/lat_ns/mean");

	if (!isfinite(count) || !isfinite(max) || !isfinite(mean))
		return false;
	*span = (struct reference_span){
		.count = (uint64_t)count,
		.max_ns = (uint64_t)max,
		.sum_ns = (uint64_t)ceil(mean * count),
	};
	return true;
}

static int take_result(struct fio *fio, int from)
{
	struct json_object *all;
	bool whole;

	lseek(from, 0, SEEK_SET);
	all = json_object_from_fd(from);
	whole = take_span(all, "read", &fio->reads) && take_span(all, "write", &fio->writes) &&
		number(all, "", "error") == 0;
	json_object_put(all);
	if (!whole)
		return reference__fail(fio->why, -EIO, "the result of fio is incomplete");
	return 0;
}

static int run_with(struct fio *fio, const struct streams *streams, uint64_t count)
{
	char size[ARG], bytes[ARG], amount[ARG], runtime[ARG];
	const struct reference_dio *dio = &fio->dio;
	char *const argv[] = {
		"fio",
		"--name=latscope",
		"--filename=/proc/self/fd/0",
		dio->own ? "--rw=randrw" : "--rw=randread",
		"--direct=1",
		"--ioengine=psync",
		"--clocksource=clock_gettime", /* not the TSC: fio would guess its frequency */
		"--thread",
		"--norandommap",
		"--eta=never",
		"--output-format=json",
		bytes,
		size,
		amount,
		runtime,
		dio->own ? NULL : "--readonly",
		NULL,
	};
	int status;

	snprintf(bytes, sizeof(bytes), "--bs=%" PRIu64, dio->bytes);
	snprintf(size, sizeof(size), "--size=%" PRIu64, dio->size);
	snprintf(amount, sizeof(amount), "--io_size=%" PRIu64, count * dio->bytes);
	snprintf(runtime, sizeof(runtime), "--runtime=%llu", dio->duration_ns / NSEC_PER_SEC);
	status = run(streams, argv);
	return status ? explain_failure(fio, status, streams->err) : take_result(fio, streams->out);
}

static int run_fio(struct fio *fio, uint64_t count)
{
	struct streams streams = { .file = fio->dio.fd };
	int err;

	streams.out = memfd_create("fio-out", MFD_CLOEXEC);
	if (streams.out < 0)
		return explain_failure(fio, -errno, -1);
	streams.err = memfd_create("fio-err", MFD_CLOEXEC);
	err = streams.err < 0 ? explain_failure(fio, -errno, -1) : run_with(fio, &streams, count);
	if (streams.err >= 0)
		close(streams.err);
	close(streams.out);
	return err;
}

/*
 * Checks with one I/O whether fio works. It also loads the program, so that it is not read later.
 */
static int prepare(void *reference)
{
	struct fio *fio = reference;
	int err = reference_dio__open(&fio->dio);

	if (err)
		return reference__fail(fio->why, err, "%s", fio->dio.why);
	return run_fio(fio, 1);
}

static int do_io(void *reference)
{
	struct fio *fio = reference;

	return run_fio(fio, fio->dio.count);
}

const struct child_work fio_work = {
	.size = sizeof(struct fio),
	.why = offsetof(struct fio, why),
	.prepare = prepare,
	.run = do_io,
};
