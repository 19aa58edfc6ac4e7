/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the truth programs share: how they wait for a recorder, how they read the kernel's own
 * accounting, how they fail.
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
#ifndef LATSCOPE_TRUTH_H
#define LATSCOPE_TRUTH_H

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
#include <time.h>
#include <unistd.h>

#define TRUTH_FAILED 1
#define TRUTH_USAGE 2
#define TRUTH_CANNOT 77
#define TRUTH_PAGE 4096UL
#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_SEC 1000000000ULL

struct truth_faults {
	long minor;
	long major;
};

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

static inline uint64_t truth_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * NSEC_PER_SEC + now.tv_nsec;
}

static inline void truth_sleep(uint64_t ns)
{
	struct timespec rest = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };

	while (nanosleep(&rest, &rest) && errno == EINTR)
		;
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

/* who: RUSAGE_SELF, all threads and those that ended; RUSAGE_THREAD, the caller. */
static inline struct truth_faults truth_faults(int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	return (struct truth_faults){ usage.ru_minflt, usage.ru_majflt };
}

static inline struct truth_faults truth_since(int who, struct truth_faults before)
{
	struct truth_faults now = truth_faults(who);

	return (struct truth_faults){ now.minor - before.minor, now.major - before.major };
}

static inline void truth_print_faults(const char *where, struct truth_faults faults)
{
	printf("minflt_%s=%ld majflt_%s=%ld\n", where, faults.minor, where, faults.major);
}

/* Fresh anonymous memory in base pages. */
static inline char *truth_map(size_t pages)
{
	char *map = mmap(NULL, pages * TRUTH_PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (map == MAP_FAILED)
		truth_die(TRUTH_FAILED, "cannot map %zu pages: %s", pages, strerror(errno));
	/* EINVAL: a kernel without huge pages. */
	if (madvise(map, pages * TRUTH_PAGE, MADV_NOHUGEPAGE) && errno != EINVAL)
		truth_die(TRUTH_FAILED, "cannot rule out huge pages: %s", strerror(errno));
	return map;
}

/* Small stack: truth_open() faults all of it in, and what may be locked is limited. */
static inline pthread_t truth_thread(void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 1 << 17);
	if (pthread_create(&thread, &attr, run, arg))
		truth_die(TRUTH_FAILED, "cannot make a thread");
	pthread_attr_destroy(&attr);
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
	before = truth_faults(RUSAGE_SELF);
	if (wait)
		truth_read_line();
	noise = truth_since(RUSAGE_SELF, before);
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
	if (mlockall(MCL_CURRENT))
		truth_die(TRUTH_CANNOT, "cannot lock memory: %s", strerror(errno));
	/* The vDSO's data page is a mapping of the kernel's that no lock faults in. */
	truth_now();
	truth_wait("ready", window->wait);
	window->start = truth_faults(RUSAGE_SELF);
}

/* Call when all of the truth is printed. */
static inline void truth_close(struct truth_window *window)
{
	truth_print_faults("window", truth_since(RUSAGE_SELF, window->start));
	truth_print_faults("life", truth_faults(RUSAGE_SELF));
	truth_wait("done", window->wait);
}

#endif
