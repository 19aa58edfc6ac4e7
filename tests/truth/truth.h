/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the truth programs share: how they wait for a recorder, what they print, how they fail. What
 * makes the latencies is in src/truth, for those that `latscope validate` makes too.
 *
 * Each creates a known amount of one latency and prints what the kernel counted, as key=value; a
 * line about one of several things has several of them, separated by a blank. Every program takes
 * -w:
 *
 *   prints pid= and its own keys, then ready=1; waits for a line on stdin, the go
 *   does its work, prints the truth, then done=1; waits for another line, or the end of stdin
 *
 * A recorder's window is to open between ready=1 and the go, and to close between done=1 and the
 * second line. Without -w the program goes through, and its start and exit are in a window around
 * its life.
 *
 * minflt_window and majflt_window are exact for such a window and the filter "this process": the
 * program has no page fault between either edge and the counting. For that it locks what it has
 * mapped (which faults in and un-shares it) before ready=1 and maps what it is about to touch
 * afterwards. The counts are compared over both waits, so that a fault that came nevertheless (the
 * kernel moved a page) is an error, not a wrong truth. minflt_life and majflt_life count from
 * fork, so with the faults of whoever forked and of exec(), to done=1.
 *
 * Exit codes: 0 the truth was created, 1 it was not, 2 wrong usage, 77 this kernel cannot.
 */
#ifndef LATSCOPE_TESTS_TRUTH_H
#define LATSCOPE_TESTS_TRUTH_H

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <truth/truth.h>

#define TRUTH_FAILED 1
#define TRUTH_USAGE 2
#define TRUTH_CANNOT 77

struct truth_window {
	bool wait; /* -w */
	struct truth_faults start; /* of the process, when the go came */
};

__attribute__((format(printf, 2, 3))) static inline _Noreturn void
truth_die(int code, const char *format, ...)
{
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(code);
}

/* The truth could not be created; err is of src/truth, why its sentence. */
static inline void truth_check(int err, const char *why)
{
	if (err)
		truth_die(err == -EOPNOTSUPP ? TRUTH_CANNOT : TRUTH_FAILED, "%s", why);
}

static inline uint64_t truth_number(const char *text, const char *what, uint64_t min, uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value < min || value > max)
		truth_die(TRUTH_USAGE, "%s '%s' is not a number from %llu to %llu", what, text,
			  (unsigned long long)min, (unsigned long long)max);
	return value;
}

/* A number of units of unit_ns, fractions allowed, as ns. */
static inline uint64_t truth_time(const char *text, const char *what, uint64_t unit_ns)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0) || value > 3600.0 * NSEC_PER_SEC / unit_ns)
		truth_die(TRUTH_USAGE, "%s '%s' is not a time of at most an hour", what, text);
	return value * unit_ns;
}

/* For a program whose one option is -w: checks the command line, returns its arguments. */
static inline char **truth_arguments(struct truth_window *window, int argc, char **argv, int count,
				     const char *usage)
{
	int option;

	while ((option = getopt(argc, argv, "w")) != -1) {
		if (option != 'w')
			exit(TRUTH_USAGE);
		window->wait = true;
	}
	if (argc - optind != count)
		truth_die(TRUTH_USAGE, "usage: %s", usage);
	return argv + optind;
}

static inline void truth_print_faults(const char *where, struct truth_faults faults)
{
	printf("minflt_%s=%ld majflt_%s=%ld\n", where, faults.minor, where, faults.major);
}

static inline char *truth_map(size_t pages)
{
	char *map = truth__map(pages);

	if (!map)
		truth_die(TRUTH_FAILED, "cannot map %zu pages: %s", pages, strerror(errno));
	return map;
}

static inline pthread_t truth_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (truth__thread(&thread, run, arg))
		truth_die(TRUTH_FAILED, "cannot make a thread");
	return thread;
}

/* Byte by byte, lest the second line be swallowed with the first. */
static inline void truth_read_line(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

static inline void truth_wait(const char *marker, bool wait)
{
	struct truth_faults before, noise;

	printf("%s=1\n", marker);
	fflush(stdout);
	before = truth__faults(RUSAGE_SELF);
	if (wait)
		truth_read_line();
	noise = truth__faults_since(RUSAGE_SELF, before);
	if (noise.minor || noise.major)
		truth_die(TRUTH_FAILED, "%ld page faults while waiting after %s=1",
			  noise.minor + noise.major, marker);
}

/* Call before anything is printed or a thread is made. */
static inline void truth_begin(void)
{
	static char buffer[1 << 16];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	printf("pid=%d\n", getpid());
}

/* Call with all threads made and all memory mapped that is not to be measured. */
static inline void truth_open(struct truth_window *window)
{
	char why[TRUTH_WHY];

	truth_check(truth__lock(why), why);
	truth_wait("ready", window->wait);
	window->start = truth__faults(RUSAGE_SELF);
}

/* Call when all of the truth is printed. */
static inline void truth_close(struct truth_window *window)
{
	truth_print_faults("window", truth__faults_since(RUSAGE_SELF, window->start));
	truth_print_faults("life", truth__faults(RUSAGE_SELF));
	truth_wait("done", window->wait);
}

#endif
