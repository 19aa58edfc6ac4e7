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

#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <selftest/reference/faults.h>
#include <selftest/reference/sched.h>

#define REFERENCE_FAILED 1
#define REFERENCE_USAGE 2
#define REFERENCE_CANNOT 77

/* Of this program, which includes this once. */
static volatile bool reference_waits; /* -w */
static struct reference_faults reference_start; /* its faults when the go came */

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

static inline void reference_usage(bool right, const char *usage)
{
	if (!right)
		reference_die(REFERENCE_USAGE, "usage: %s", usage);
}

/* Unless it holds, the reference was not created, or this kernel cannot. */
#define reference_must(holds, ...) \
	((holds) ? (void)0 : reference_die(REFERENCE_FAILED, __VA_ARGS__))
#define reference_need(holds, ...) \
	((holds) ? (void)0 : reference_die(REFERENCE_CANNOT, __VA_ARGS__))

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

/* The next option besides -w, for which `more` is as for getopt(); 0 at the end. */
static inline int reference_option(int argc, char **argv, const char *more)
{
	char options[32];
	int option;

	snprintf(options, sizeof(options), "w%s", more);
	while ((option = getopt(argc, argv, options)) == 'w')
		reference_waits = true;
	if (option == '?')
		exit(REFERENCE_USAGE);
	return option < 0 ? 0 : option;
}

/*
 * Checks the rest of the command line, returns its arguments, and prints pid=. Call it before
 * anything is printed or a thread is made.
 */
static inline char **reference_arguments(int argc, char **argv, int count, const char *usage)
{
	static char buffer[1 << 16];

	reference_option(argc, argv, "");
	reference_usage(argc - optind == count, usage);
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	printf("pid=%d\n", getpid());
	return argv + optind;
}

static inline void reference_print_faults(const char *where, struct reference_faults faults)
{
	printf("minflt_%s=%ld majflt_%s=%ld\n", where, faults.minor, where, faults.major);
}

static inline void reference_print_span(const char *name, const struct reference_span *span)
{
	printf("%s_count=%lu %s_min_ns=%lu %s_mean_ns=%lu %s_max_ns=%lu %s_sum_ns=%lu\n", name,
	       span->count, name, span->min_ns, name, span->count ? span->sum_ns / span->count : 0,
	       name, span->max_ns, name, span->sum_ns);
}

static inline char *reference_map(size_t pages)
{
	char *map = load__map(pages);

	reference_must(map, "cannot map %zu pages: %m", pages);
	return map;
}

#define REFERENCE_HUGE (2UL << 20) /* bytes of a huge page */

/* For so many huge pages, if this kernel has them. */
static inline char *reference_map_huge(size_t count)
{
	size_t length = (count + 1) * REFERENCE_HUGE;
	char *map = mmap(NULL, length, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	reference_must(map != MAP_FAILED, "cannot map %zu bytes: %m", length);
	map = (char *)(((uintptr_t)map + REFERENCE_HUGE - 1) & ~(REFERENCE_HUGE - 1));
	reference_need(!madvise(map, count * REFERENCE_HUGE, MADV_HUGEPAGE),
		       "this kernel has no transparent huge pages: %m");
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

	reference_must(!load__thread(&thread, run, arg), "cannot make a thread");
	return thread;
}

/* A real-time task precedes all ordinary ones. */
static inline void reference_be_realtime(int priority)
{
	const struct sched_param param = { .sched_priority = priority };

	reference_need(!sched_setscheduler(0, SCHED_FIFO, &param), "cannot be real-time: %m");
}

/* Until another thread or process has set it. */
static inline int reference_await(atomic_int *word)
{
	while (!atomic_load(word))
		load__sleep(NSEC_PER_MSEC);
	return atomic_load(word);
}

static inline void reference_pipe(int ends[2])
{
	reference_must(!pipe2(ends, O_CLOEXEC), "cannot make a pipe: %m");
}

/* As fork(), of a process with this ID; -1: it is another one's, and errno is EEXIST. */
static inline pid_t reference_fork_as(pid_t pid)
{
	struct clone_args args = { .exit_signal = SIGCHLD,
				   .set_tid = (uintptr_t)&pid,
				   .set_tid_size = 1 };
	pid_t got = (pid_t)syscall(SYS_clone3, &args, sizeof(args));

	reference_need(got >= 0 || errno == EEXIST, "cannot choose a process ID: %m");
	if (!got)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return got;
}

/* As fork(); the child ends with this program. */
static inline pid_t reference_fork(void)
{
	pid_t pid = fork();

	reference_must(pid >= 0, "cannot fork: %m");
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

	reference_must(map != MAP_FAILED, "cannot map %zu bytes: %m", size);
	return map;
}

static inline void reference_need_cpus(unsigned int nr)
{
	reference_need(load__cpus() >= nr, "there are fewer than %u CPUs", nr);
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
	reference_must(!sched_setaffinity(pid, sizeof(set), &set), "cannot move a task: %m");
}

static inline uint64_t reference_clock_ns(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	return (uint64_t)at.tv_sec * NSEC_PER_SEC + (uint64_t)at.tv_nsec;
}

/* For qsort() of uint64_t. */
static inline int reference_by_number(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
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

	reference_must(read(uffd->fd, &message, sizeof(message)) == sizeof(message) &&
			       message.event == UFFD_EVENT_PAGEFAULT,
		       "userfaultfd reported no fault");
	return message.arg.pagefault.address;
}

/* A count of /proc/vmstat. After reference_open() this makes no fault. */
static inline unsigned long reference_vmstat(const char *name)
{
	static char text[1 << 16];
	int fd = open("/proc/vmstat", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	size_t size = strlen(name);

	reference_need(length > 0, "cannot read /proc/vmstat: %m");
	close(fd);
	text[length] = '\0';
	for (char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, name, size) && line[size] == ' ')
			return strtoul(line + size, NULL, 10);
	}
	reference_need(false, "/proc/vmstat has no %s", name);
	return 0;
}

/* Byte by byte, so that it does not read the second line with the first. */
static inline void reference_read_line(void)
{
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n')
		;
}

static inline void reference_wait(const char *marker)
{
	bool wait = reference_waits; /* now: its page may not be there yet */
	struct reference_faults before, noise;

	printf("%s=1\n", marker);
	fflush(stdout);
	before = reference__faults(RUSAGE_SELF);
	if (wait)
		reference_read_line();
	noise = reference__faults_since(RUSAGE_SELF, before);
	reference_must(!noise.minor && !noise.major, "%ld page faults while waiting after %s=1",
		       noise.minor + noise.major, marker);
}

/* As reference_wait(); page faults do not matter. */
static inline void reference_pause(const char *marker)
{
	printf("%s=1\n", marker);
	fflush(stdout);
	if (reference_waits)
		reference_read_line();
}

/* Call with all threads made and all memory mapped that is not to be measured. */
static inline void reference_open(void)
{
	char why[REFERENCE_WHY];

	reference_check(reference__lock(why), why);
	reference_wait("ready");
	reference_start = reference__faults(RUSAGE_SELF);
}

/* Call when all of the reference is printed. */
static inline void reference_close(void)
{
	reference_print_faults("window", reference__faults_since(RUSAGE_SELF, reference_start));
	reference_print_faults("life", reference__faults(RUSAGE_SELF));
	reference_wait("done");
}

#endif
