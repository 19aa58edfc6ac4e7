/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions of the clients of the kernel module ringlat: crossings by the protocol of its header,
 * a view of the entry points of every CPU from outside, cases by name.
 *
 * Most have a table of cases, speak TAP, and run those they are given, or all.
 */
#ifndef LATSCOPE_TESTS_RINGLAT_CLIENT_H
#define LATSCOPE_TESTS_RINGLAT_CLIENT_H

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <loadgen/primitives.h>
#include <uapi/latscope/ringlat.h>

#define CANNOT 77
#define PAGE 4096UL
#define BOTH (RINGLAT_PF | RINGLAT_SYSCALL)
#define MEASURED_CPU 1 /* where owners are, unless there is one CPU only */

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

/* State of one client (with -D_GNU_SOURCE): include this once per program. */
static unsigned int failures;

#define EXPECT(condition) expect(condition, #condition, __LINE__)

static inline bool expect(bool holds, const char *what, int line)
{
	if (!holds) {
		printf("# %s:%d: does not hold: %s (errno %d)\n", program_invocation_short_name,
		       line, what, errno);
		failures++;
	}
	return holds;
}

static inline void must(bool done, const char *what)
{
	if (done)
		return;
	fprintf(stderr, "%s: cannot %s: %s\n", program_invocation_short_name, what,
		strerror(errno));
	_exit(1);
}

static inline void nap_ms(long ms)
{
	load__sleep((uint64_t)ms * NSEC_PER_MSEC);
}

/* Until the condition held once, for at most 30 s: did it? */
#define AWAITED(condition)                                           \
	({                                                           \
		bool held = false;                                   \
		for (int left = 3000; !held && left--;)              \
			(held = (condition)) ? (void)0 : nap_ms(10); \
		held;                                                \
	})
#define AWAIT(condition) expect(AWAITED(condition), #condition, __LINE__)

/* How much is done: more under LATSCOPE_SOAK. */
static inline long rounds(long check, long soak)
{
	return getenv("LATSCOPE_SOAK") ? soak : check;
}

static inline void pin(int cpu)
{
	must(!load__pin(cpu < sysconf(_SC_NPROCESSORS_CONF) ? cpu : 0), "go to one CPU");
}

/* Memory of this process alone, zeroed and not yet there. */
static inline void *map_pages(size_t count, int protection)
{
	void *pages = mmap(NULL, count * PAGE, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(pages != MAP_FAILED, "map pages");
	return pages;
}

static inline int device_open(void)
{
	int fd = open(RINGLAT_DEVICE, O_RDWR | O_CLOEXEC);

	must(fd >= 0, "open " RINGLAT_DEVICE);
	return fd;
}

static inline int device_start(int fd, uint32_t events)
{
	struct ringlat_start start = { .events = events };

	return ioctl(fd, RINGLAT_START, &start);
}

/* The calling thread, pinned, is the owner by a descriptor of its own. */
static inline int device_own(uint32_t events)
{
	int fd = device_open();

	pin(MEASURED_CPU);
	must(!device_start(fd, events), "start");
	return fd;
}

static inline struct ringlat_counts device_read(int fd)
{
	struct ringlat_counts counts = { 0 };

	must(!ioctl(fd, RINGLAT_READ, &counts), "read the counts");
	return counts;
}

static inline int open_msr(int cpu, int flags)
{
	char path[32];

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	return open(path, flags | O_CLOEXEC);
}

/* LSTAR of a CPU, by an interrupt on it: of whatever runs there. The msr module must be loaded. */
static inline uint64_t entry_of(int cpu)
{
	int fd = open_msr(cpu, O_RDONLY);
	uint64_t lstar;

	if (fd < 0)
		return 0; /* offline */
	must(pread(fd, &lstar, sizeof(lstar), 0xc0000082) == sizeof(lstar), "read LSTAR");
	close(fd);
	return lstar;
}

/* Is another CPU's SYSCALL entry not that of this CPU, which has no owner? */
static inline bool is_hooked(int cpu)
{
	uint64_t theirs = entry_of(cpu);

	return theirs && theirs != entry_of(sched_getcpu());
}

/* Readings of the counter, in order of time. u2k_k is 0 if it was missed. */
struct crossing {
	uint64_t u2k_u, u2k_k, k2u_k, k2u_u;
};

/* clang-format off: it does not know assembly. */

/* The parts of each crossing that are the same. %r9 and %r15 keep u2k_u, %r10 and %rbx k2u_k. */
#define CROSSING_BEGIN       \
	"xor %%r8d, %%r8d\n" \
	"mfence\n"           \
	"lfence\n"           \
	"rdtsc\n"            \
	"mov %%rax, %%r9\n"  \
	"mov %%rdx, %%r15\n"
#define CROSSING_END            \
	"rdtsc\n"               \
	"lfence\n"              \
	"xor %%r12d, %%r12d\n"  \
	"shl $32, %%rdx\n"      \
	"or %%rdx, %%rax\n"     \
	"shl $32, %%rbx\n"      \
	"or %%rbx, %%r10\n"     \
	"shl $32, %%r15\n"      \
	"or %%r15, %%r9\n"      \
	"mov %%r9, %[u2k_u]\n"  \
	"mov %%r8, %[u2k_k]\n"  \
	"mov %%r10, %[k2u_k]\n" \
	"mov %%rax, %[k2u_u]\n"
#define CROSSING_OUT(c)                                                               \
	[u2k_u] "=m"((c)->u2k_u), [u2k_k] "=m"((c)->u2k_k), [k2u_k] "=m"((c)->k2u_k), \
		[k2u_u] "=m"((c)->k2u_u)
#define CROSSING_CLOBBERS \
	"rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", "r13", "r15", "memory", "cc"

/* `absent` has nothing mapped. A miss ends in a signal, see skip_missed(). */
static inline void cross_page_fault(struct crossing *crossing, const void *absent)
{
	__asm__ volatile("mov $" TEXT(RINGLAT_COOKIE) ", %%r12d\n"
						      "lea 1f(%%rip), %%r13\n" CROSSING_BEGIN
						      "1: .byte 0x8a, 0x07\n" /* movb (%rdi), %al */
						      "mov %%rax, %%r10\n"
						      "mov %%rdx, %%rbx\n" CROSSING_END
			 : CROSSING_OUT(crossing)
			 : "D"(absent)
			 : CROSSING_CLOBBERS);
}

static inline void cross_syscall(struct crossing *crossing)
{
	__asm__ volatile("mov $" TEXT(RINGLAT_COOKIE) ", %%r12d\n"
						      "lea 1f(%%rip), %%r13\n" CROSSING_BEGIN
						      "mov $-1, %%eax\n"
						      "syscall\n"
						      "1:\n"
						      "mov %%rax, %%r10\n"
						      "mov %%rdx, %%rbx\n" CROSSING_END
			 : CROSSING_OUT(crossing)
			 :
			 : CROSSING_CLOBBERS);
}

/* The same user code around nothing. */
static inline void cross_nothing(struct crossing *crossing)
{
	__asm__ volatile(CROSSING_BEGIN CROSSING_END
			 : CROSSING_OUT(crossing)
			 :
			 : CROSSING_CLOBBERS);
}

/* clang-format on */

/* A page fault that the stub did not take: go on after the load, with 0 for its time. */
static inline void skip_missed(int signo, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	if (regs[REG_R12] != RINGLAT_COOKIE || regs[REG_RIP] != regs[REG_R13])
		_exit(99);
	regs[REG_R8] = 0;
	regs[REG_RIP] += RINGLAT_LOAD_LEN;
}

/* A page with nothing in it, and misses are skipped. */
static inline void *absent_page(void)
{
	struct sigaction action = { .sa_sigaction = skip_missed, .sa_flags = SA_SIGINFO };

	must(!sigaction(SIGSEGV, &action, NULL), "take signals");
	return map_pages(1, PROT_NONE);
}

/* In a process of its own, which tells when it owns, does `then`, and runs until it is killed. */
static inline pid_t start_owner(void (*then)(int fd))
{
	int ready[2], fd;
	pid_t pid;
	char byte;

	must(!pipe2(ready, O_CLOEXEC), "make a pipe");
	pid = fork();
	if (!pid) {
		fd = device_own(BOTH);
		must(write(ready[1], "", 1) == 1, "tell");
		then(fd);
		_exit(failures ? 1 : 0);
	}
	must(pid > 0 && read(ready[0], &byte, 1) == 1, "start an owner");
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static inline void reap(pid_t pid)
{
	kill(pid, SIGKILL);
	must(waitpid(pid, NULL, 0) == pid, "wait for a process");
}

/* What an owner does. */
static inline void cross_forever(int fd)
{
	void *absent = absent_page();
	struct crossing crossing;

	for (;;) {
		cross_page_fault(&crossing, absent);
		cross_syscall(&crossing);
	}
}

static inline void sleep_on(int fd)
{
	for (;;)
		pause();
}

struct test_case {
	const char *name;
	unsigned int line;
	void (*run)(void);
	struct test_case *next;
};

static struct test_case *test_cases;

/* In the order of the source: constructors run in any order. */
static inline void add_case(struct test_case *test)
{
	struct test_case **at = &test_cases;

	while (*at && (*at)->line < test->line)
		at = &(*at)->next;
	test->next = *at;
	*at = test;
}

/* CASE(name) { ... } */
#define CASE(case_name)                                                                          \
	static void case_##case_name(void);                                                      \
	__attribute__((constructor)) static void add_##case_name(void)                           \
	{                                                                                        \
		static struct test_case test = { #case_name, __LINE__, case_##case_name, NULL }; \
                                                                                                 \
		add_case(&test);                                                                 \
	}                                                                                        \
	static void case_##case_name(void)

#define RECORD 2048 /* bytes of a message of the kernel */

/* Of messages from now on. */
static inline int open_kernel_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	must(fd >= 0, "read the kernel's log");
	lseek(fd, 0, SEEK_END);
	return fd;
}

static inline bool next_record(int log, char record[RECORD])
{
	ssize_t length = read(log, record, RECORD - 1);

	record[length > 0 ? length : 0] = '\0';
	return length > 0 || errno == EPIPE; /* some were overwritten */
}

/* Since the last call. */
static inline bool kernel_complains(int log)
{
	static const char *const complaints[] = { "WARNING: ",	"BUG: ",     "KASAN: ",
						  "UBSAN: ",	"Oops",	     "general protection",
						  "INFO: task", "INFO: rcu", "unable to handle" };
	bool complains = false;
	char record[RECORD];

	while (next_record(log, record)) {
		for (size_t i = 0; i < COUNT_OF(complaints); i++)
			complains |= !!strstr(record, complaints[i]);
		if (complains)
			printf("# kernel: %s", record);
	}
	return complains;
}

/*
 * Has a CPU the stub for page faults? It would take the crossing of whoever does as the protocol
 * says. (SIDT shows user code no IDT.) An owner that asks sees its own.
 */
static inline bool any_fault_hooked(void)
{
	struct sigaction before;
	struct crossing crossing;
	cpu_set_t mine;
	bool hooked = false;
	void *absent;

	must(!sigaction(SIGSEGV, NULL, &before) && !sched_getaffinity(0, sizeof(mine), &mine),
	     "tell what is set");
	absent = absent_page();
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++) {
		if (load__pin(cpu))
			continue; /* offline */
		cross_page_fault(&crossing, absent);
		hooked |= !!crossing.u2k_k;
	}
	munmap(absent, PAGE);
	must(!sigaction(SIGSEGV, &before, NULL) && !sched_setaffinity(0, sizeof(mine), &mine),
	     "set it as it was");
	return hooked;
}

/* Has a CPU another entry than the kernel's, while there is no owner? */
static inline bool any_hooked(void)
{
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_CONF); cpu++)
		if (is_hooked(cpu))
			return true;
	return any_fault_hooked();
}

/*
 * In a process of its own, as TAP. It must come out as the case expects, the kernel must have
 * nothing to say, and no CPU may be left with a stub: an owner of whose end is heard before its CPU
 * has left it may have one until then. A lock-up is a finding, not a reason to wait.
 */
static inline void run_case(const struct test_case *test, unsigned int number, int log)
{
	int status = 0;
	bool clean;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	must(pid >= 0, "fork");
	if (!pid) {
		alarm((unsigned int)rounds(400, 1200));
		test->run();
		fflush(stdout);
		_exit(failures ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT) {
		printf("ok %u - %s: %s # SKIP this CPU, or this kernel, cannot\n", number,
		       program_invocation_short_name, test->name);
		return;
	}
	if (status)
		printf("# wait status %#x\n", (unsigned int)status);
	clean = AWAITED(!any_hooked());
	if (!clean)
		printf("# a CPU is left with another entry than the others\n");
	printf("%sok %u - %s: %s\n", status || kernel_complains(log) || !clean ? "not " : "",
	       number, program_invocation_short_name, test->name);
}

/* Those that are named, or all. */
static inline int run_cases(int argc, char **argv)
{
	const struct test_case *test;
	int log = open_kernel_log(), arg;
	unsigned int number = 0;

	pin(0);
	for (test = test_cases; test; test = test->next) {
		bool wanted = argc < 2;

		for (arg = 1; arg < argc; arg++)
			wanted |= !strcmp(argv[arg], test->name);
		if (wanted)
			run_case(test, ++number, log);
	}
	printf("1..%u\n", number);
	return 0;
}

#endif
