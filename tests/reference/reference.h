/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of the reference programs: waiting for a recorder, printing, failing. Latencies that
 * `latscope validate` makes too come from src/selftest/reference.
 *
 * Each creates a known amount of one latency and prints what the kernel counted, as key=value; a
 * line about one of several things has several of them, separated by a blank. Every program takes
 * -w:
 *
 *   prints pid= and its own keys, then ready=1; waits for a line on stdin, the go
 *   does its work, prints the reference, then done=1; waits for another line, or the end of stdin
 *
 * A recorder's window is to open between ready=1 and the go, and to close between done=1 and the
 * second line. Without -w the program goes through, and its start and exit are in a window around
 * its life.
 *
 * minflt_window and majflt_window are exact for such a window and the filter "this process": the
 * program has no page fault between either edge and the counting. For that it locks what it has
 * mapped (which faults in and un-shares it) before ready=1 and maps what it is about to touch
 * afterwards. The counts are compared over both waits, so that a fault that came nevertheless (the
 * kernel moved a page) is an error, not a wrong reference. minflt_life and majflt_life count from
 * fork, so with the faults of whoever forked and of exec(), to done=1.
 *
 * Exit codes: 0 the reference was created, 1 it was not, 2 wrong usage, 77 this kernel cannot.
 */
#ifndef LATSCOPE_TESTS_REFERENCE_H
#define LATSCOPE_TESTS_REFERENCE_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/userfaultfd.h>
#include <selftest/reference/faults.h>
#include <selftest/reference/sched.h>

#define REFERENCE_FAILED 1
#define REFERENCE_USAGE 2
#define REFERENCE_CANNOT 77

struct reference_window {
	bool wait; /* -w */
	struct reference_faults start; /* of the process, when the go came */
};

__attribute__((format(printf, 2, 3))) static inline _Noreturn void
reference_die(int code, const char *format, ...)
{
	int err = errno; /* for %m */
	va_list args;

	fflush(stdout);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	va_start(args, format);
	errno = err;
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	exit(code);
}

/* The reference could not be created; err is of src/selftest/reference, why its sentence. */
static inline void reference_check(int err, const char *why)
{
	if (err)
		reference_die(err == -EOPNOTSUPP ? REFERENCE_CANNOT : REFERENCE_FAILED, "%s", why);
}

static inline uint64_t reference_number(const char *text, const char *what, uint64_t min,
					uint64_t max)
{
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value < min || value > max)
		reference_die(REFERENCE_USAGE, "%s '%s' is not a number from %lu to %lu", what,
			      text, min, max);
	return value;
}

/* A number of units of unit_ns, fractions allowed, as ns. */
static inline uint64_t reference_time(const char *text, const char *what, uint64_t unit_ns)
{
	char *end;
	double value = strtod(text, &end);

	if (end == text || *end || !(value >= 0) || value > 3600.0 * NSEC_PER_SEC / unit_ns)
		reference_die(REFERENCE_USAGE, "%s '%s' is not a time of at most an hour", what,
			      text);
	return value * unit_ns;
}

/* For a program whose one option is -w: checks the command line, returns its arguments. */
static inline char **reference_arguments(struct reference_window *window, int argc, char **argv,
					 int count, const char *usage)
{
	int option;

	while ((option = getopt(argc, argv, "w")) != -1) {
		if (option != 'w')
			exit(REFERENCE_USAGE);
		window->wait = true;
	}
	if (argc - optind != count)
		reference_die(REFERENCE_USAGE, "usage: %s", usage);
	return argv + optind;
}

static inline void reference_print_faults(const char *where, struct reference_faults faults)
{
	printf("minflt_%s=%ld majflt_%s=%ld\n", where, faults.minor, where, faults.major);
}

static inline char *reference_map(size_t pages)
{
	char *map = load__map(pages);

	if (!map)
		reference_die(REFERENCE_FAILED, "cannot map %zu pages: %m", pages);
	return map;
}

/* The scheduler's account of a parked task, or the end of the program. */
static inline struct reference_sched reference_parked(pid_t pid, pid_t tid, long where)
{
	struct reference_sched sched;
	char why[REFERENCE_WHY];

	reference_check(reference_sched__parked(pid, tid, where, &sched, why), why);
	return sched;
}

static inline pthread_t reference_thread(void *(*run)(void *), void *arg)
{
	pthread_t thread;

	if (load__thread(&thread, run, arg))
		reference_die(REFERENCE_FAILED, "cannot make a thread");
	return thread;
}

/* As fork(); the child ends with this program. */
static inline pid_t reference_fork(void)
{
	pid_t pid = fork();

	if (pid < 0)
		reference_die(REFERENCE_FAILED, "cannot fork: %m");
	if (!pid)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return pid;
}

static inline void reference_end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Memory that processes share. */
static inline void *reference_share(size_t size)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	if (map == MAP_FAILED)
		reference_die(REFERENCE_FAILED, "cannot map %zu bytes: %m", size);
	return map;
}

static inline void reference_need_cpus(unsigned int nr)
{
	if (load__cpus() < nr)
		reference_die(REFERENCE_CANNOT, "there are fewer than %u CPUs", nr);
}

/* The nth of the CPUs that this thread may use; they are counted in a circle. */
static inline int reference_cpu(unsigned int nth)
{
	unsigned int nr = load__cpus();

	return load__cpu_from_end(nr - 1 - nth % nr);
}

static inline void reference_bind(pid_t pid, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(pid, sizeof(set), &set))
		reference_die(REFERENCE_FAILED, "cannot move a task: %m");
}

static inline uint64_t reference_clock_ns(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	return (uint64_t)at.tv_sec * NSEC_PER_SEC + (uint64_t)at.tv_nsec;
}

static inline void reference_add_sched(struct reference_sched *sum, struct reference_sched one)
{
	sum->ran_ns += one.ran_ns;
	sum->run_delay_ns += one.run_delay_ns;
	sum->pcount += one.pcount;
}

/* Until a thread waits in a fault, whose address it returns. */
static inline uint64_t reference_await_fault(const struct reference_uffd *uffd)
{
	struct uffd_msg message;

	if (read(uffd->fd, &message, sizeof(message)) != sizeof(message) ||
	    message.event != UFFD_EVENT_PAGEFAULT)
		reference_die(REFERENCE_FAILED, "userfaultfd reported no fault");
	return message.arg.pagefault.address;
}

/* Byte by byte, so that it does not read the second line with the first. */
static inline void reference_read_line(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

static inline void reference_wait(const char *marker, bool wait)
{
	struct reference_faults before, noise;

	printf("%s=1\n", marker);
	fflush(stdout);
	before = reference__faults(RUSAGE_SELF);
	if (wait)
		reference_read_line();
	noise = reference__faults_since(RUSAGE_SELF, before);
	if (noise.minor || noise.major)
		reference_die(REFERENCE_FAILED, "%ld page faults while waiting after %s=1",
			      noise.minor + noise.major, marker);
}

/* Call before anything is printed or a thread is made. */
static inline void reference_begin(void)
{
	static char buffer[1 << 16];

	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	printf("pid=%d\n", getpid());
}

/* Call with all threads made and all memory mapped that is not to be measured. */
static inline void reference_open(struct reference_window *window)
{
	char why[REFERENCE_WHY];

	reference_check(reference__lock(why), why);
	reference_wait("ready", window->wait);
	window->start = reference__faults(RUSAGE_SELF);
}

/* Call when all of the reference is printed. */
static inline void reference_close(struct reference_window *window)
{
	reference_print_faults("window", reference__faults_since(RUSAGE_SELF, window->start));
	reference_print_faults("life", reference__faults(RUSAGE_SELF));
	reference_wait("done", window->wait);
}

#endif
