// SPDX-License-Identifier: BSD-2-Clause
/*
 * hostile [CASE...]: an owner that does all it can to have a stub do what it should not. Each case
 * is held against what the kernel would have done without the stub, or against the protocol.
 */
#include "client.h"

#include <asm/ldt.h>
#include <linux/filter.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>

#define FLAGS_TO_CLEAR 0x44500UL /* AC, NT, DF, TF */
#define USER_CS 0x33
#define COMPAT_CS 0x23
#define USER_DS "0x2b"
#define LAST_USER_PAGE 0x7fffffffe000UL
#define LAST_USER_PAGE_LA57 0xffffffffffe000UL

/* The result of an attempt. */
static struct {
	unsigned int signals;
	int signo; /* of the last one, as are the others */
	uint64_t address, rip;
	uint16_t cs;
	uint64_t r8; /* not 0: a stub took it */
	uint64_t r12;
} seen;

/* Where the handler goes on; the stack pointer to restore is in %rbx. */
uint64_t way_out;

static char *absent;
static char *pages; /* four, that may be written, nothing in them yet but the first */
static char signal_stack[65536];

static void take_signal(int signo, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	seen.signals++;
	seen.signo = signo;
	seen.address = (uint64_t)info->si_addr;
	seen.rip = (uint64_t)regs[REG_RIP];
	seen.cs = (uint16_t)regs[REG_CSGSFS];
	regs[REG_EFL] &= ~(greg_t)FLAGS_TO_CLEAR;
	if (signo == SIGTRAP)
		return;
	regs[REG_RIP] = (greg_t)way_out;
	regs[REG_RSP] = regs[REG_RBX];
	regs[REG_CSGSFS] = (regs[REG_CSGSFS] & ~(greg_t)0xffff) | USER_CS;
}

static void take_all_signals(void)
{
	static const int signals[] = { SIGSEGV, SIGTRAP, SIGBUS, SIGILL, SIGFPE };
	struct sigaction action = { .sa_sigaction = take_signal,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };
	stack_t stack = { .ss_sp = signal_stack, .ss_size = sizeof(signal_stack) };

	must(!sigaltstack(&stack, NULL), "set a signal stack");
	for (size_t i = 0; i < COUNT_OF(signals); i++)
		must(!sigaction(signals[i], &action, NULL), "take signals");
}

/* clang-format off: it does not know assembly. */

/*
 * Runs `code` with the cookie in %r12, %r13 as given, %rdi the absent page (or another address),
 * %rsi the pages that may be written, %r14 as given. Whatever happens, it goes on behind.
 */
#define ATTEMPT_WITH(code, r13_value, rdi_value, r14_value)                                     \
	do {                                                                                    \
		uint64_t r8_out, r12_out;                                                       \
		register uint64_t r14_in __asm__("r14");                                        \
		memset(&seen, 0, sizeof(seen));                                                 \
		r14_in = (uint64_t)(r14_value);                                                 \
		__asm__ volatile("push %%rbp\n"                                                 \
				 "lea 8f(%%rip), %%rax\n"                                       \
				 "mov %%rax, way_out(%%rip)\n"                                  \
				 "mov %%rsp, %%rbx\n"                                           \
				 "xor %%r8d, %%r8d\n"                                           \
				 "mov %[r13], %%r13\n"                                          \
				 "mov $" TEXT(RINGLAT_COOKIE) ", %%r12d\n" code "\n"            \
							      "8: nop\n"                        \
							      "mov %%rbx, %%rsp\n"              \
							      "cld\n"                           \
							      "pop %%rbp\n"                     \
							      "mov %%r8, %[r8]\n"               \
							      "mov %%r12, %[r12]\n"             \
							      "xor %%r12d, %%r12d\n"            \
				 : [r8] "=m"(r8_out), [r12] "=m"(r12_out), "+r"(r14_in)         \
				 : "D"(rdi_value), "S"(pages), [r13] "r"((uint64_t)(r13_value)) \
				 : "rax", "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "r12", \
				   "r13", "memory", "cc");                                      \
		seen.r8 = r8_out;                                                               \
		seen.r12 = r12_out;                                                             \
	} while (0)
#define ATTEMPT(code, r13_value) ATTEMPT_WITH(code, r13_value, absent, 0)

/* %r13 for the instruction that follows; the load; both; a system call that crosses. */
#define HERE "lea 1f(%%rip), %%r13\n"
#define LOAD "1: .byte 0x8a, 0x07\n"
#define CROSS_LOAD HERE LOAD
#define CROSS_SYSCALL HERE "mov $-1, %%eax\nsyscall\n1:\n"

/* clang-format on */

static bool taken(void)
{
	return seen.r8 && !seen.signals;
}

/* The fault at `address` went to the kernel, which sent the signal. */
static bool refused(const void *address)
{
	return !seen.r8 && seen.signals == 1 && seen.signo == SIGSEGV &&
	       seen.address == (uint64_t)address;
}

static bool went_wild(uint64_t address)
{
	return seen.r8 && seen.signals == 1 && seen.signo == SIGSEGV && seen.address == address;
}

static const uint64_t wild[] = { 0,
				 0x10,
				 0x7fffffffffff,
				 0x800000000000,
				 0x7ffffffffffff,
				 0x100000000000000,
				 0x8000000000000000,
				 0xffff800000000000,
				 0xffffffff81000000,
				 UINT64_MAX };

/* Each case begins with it. */
static void begin(void)
{
	take_all_signals();
	device_own(BOTH);
}

CASE(sane)
{
	begin();
	ATTEMPT(CROSS_LOAD, 0);
	EXPECT(taken());
	ATTEMPT(CROSS_SYSCALL, 0);
	EXPECT(taken());
	/* Neither half of the contract alone does it. */
	ATTEMPT("inc %%r12\n" CROSS_LOAD, 0);
	EXPECT(refused(absent));
	ATTEMPT("bts $32, %%r12\n" CROSS_LOAD, 0);
	EXPECT(refused(absent));
}

CASE(every_one)
{
	unsigned int missed = 0;
	struct crossing crossing;

	begin();
	for (int i = 0; i < 20000; i++) {
		cross_page_fault(&crossing, absent);
		missed += !crossing.u2k_k;
		cross_syscall(&crossing);
		missed += !crossing.u2k_k;
	}
	EXPECT(!missed && !seen.signals);
}

CASE(other_address)
{
	begin();
	for (size_t i = 0; i < COUNT_OF(wild); i++) {
		ATTEMPT(LOAD, wild[i]);
		EXPECT(refused(absent));
		/* Not the stub's: there is no such system call. */
		ATTEMPT("mov $-1, %%rax\nsyscall\ncmp $-38, %%rax\nje 8f\nud2", wild[i]);
		EXPECT(!seen.r8 && !seen.signals);
	}
}

/* A page of code that ends in the crossing. */
static unsigned char *page_at(uint64_t address)
{
	return mmap((void *)address, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static void end_in_load(unsigned char *code)
{
	code[PAGE - 2] = 0x8a;
	code[PAGE - 1] = 0x07;
	ATTEMPT("jmp *%%r13", code + PAGE - 2);
}

static void end_in_syscall(unsigned char *code)
{
	code[PAGE - 2] = 0x0f;
	code[PAGE - 1] = 0x05;
	ATTEMPT("lea -2(%%r13), %%r11\njmp *%%r11", code + PAGE);
}

/* It returns to where nothing can be. */
CASE(last_page)
{
	unsigned char *code = page_at(LAST_USER_PAGE);

	begin();
	must((uint64_t)code == LAST_USER_PAGE, "map the last page");
	end_in_load(code);
	EXPECT(went_wild(LAST_USER_PAGE + PAGE));
	end_in_syscall(code);
	EXPECT(went_wild(LAST_USER_PAGE + PAGE));
}

/* The kernel shows the flag only where it uses it. */
static bool has_five_levels(void)
{
	FILE *cpuinfo = fopen("/proc/cpuinfo", "re");
	char line[8192];
	bool has = false;

	must(cpuinfo, "read the CPU's flags");
	while (!has && fgets(line, sizeof(line), cpuinfo))
		has = strstr(line, " la57");
	fclose(cpuinfo);
	return has;
}

/*
 * Beyond 47 bits the stubs do not return: the one takes the cookie, the other goes to 0. With four
 * levels of page tables no code gets there.
 */
CASE(last_page_la57)
{
	unsigned char *code = page_at(LAST_USER_PAGE_LA57);

	begin();
	if (!has_five_levels()) {
		EXPECT(code == MAP_FAILED && errno == ENOMEM);
		ATTEMPT("jmp *%%r13", LAST_USER_PAGE_LA57 + PAGE - 2);
		EXPECT(refused(NULL));
		return;
	}
	must((uint64_t)code == LAST_USER_PAGE_LA57, "map the last page");
	end_in_load(code);
	EXPECT(went_wild((uint64_t)absent) && !seen.r12);
	end_in_syscall(code);
	EXPECT(went_wild(0));
}

CASE(instruction_fetch)
{
	static const uint64_t fetched[] = { 0x7fffffffffff, 0x10, 0xffffffff81000000,
					    0xffffffffff600000, 0 };

	begin();
	for (size_t i = 0; i < COUNT_OF(fetched); i++) {
		ATTEMPT("jmp *%%r13", fetched[i]);
		EXPECT(refused((void *)fetched[i]));
	}
}

CASE(writes)
{
	pid_t child;
	int status;

	begin();
	ATTEMPT("movb $5, 4096(%%rsi)", 0);
	EXPECT(!seen.r8 && !seen.signals && pages[PAGE] == 5);
	ATTEMPT(HERE "1: movb $5, (%%rdi)", 0);
	EXPECT(refused(absent));
	child = fork();
	if (!child)
		_exit(pages[0] == 1 ? 0 : 1);
	ATTEMPT(HERE "1: movb $5, (%%rsi)", 0);
	EXPECT(!seen.r8 && !seen.signals && pages[0] == 5);
	EXPECT(waitpid(child, &status, 0) == child && !status);
	/* A read of what may be read but is not there yet is a crossing. */
	ATTEMPT_WITH(CROSS_LOAD, 0, pages + 2 * PAGE, 0);
	EXPECT(taken());
	EXPECT(!pages[2 * PAGE]);
	ATTEMPT_WITH(CROSS_LOAD, 0, pages + 2 * PAGE, 0);
	EXPECT(!seen.r8 && !seen.signals);
}

/* What is mapped there decides whether a stub or the kernel answers; nothing is read. */
CASE(kernel_addresses)
{
	begin();
	for (size_t i = 0; i < COUNT_OF(wild); i++) {
		if (wild[i] < 0x800000000000)
			continue;
		ATTEMPT_WITH("mov $0x5a, %%al\n" CROSS_LOAD, 0, wild[i], 0);
		EXPECT(taken() || (!seen.r8 && seen.signals == 1));
	}
}

static void set_segment(unsigned int number, bool is_32bit)
{
	struct user_desc segment = { .entry_number = number,
				     .limit = 0xfffff,
				     .seg_32bit = is_32bit,
				     .limit_in_pages = 1,
				     .useable = 1 };

	EXPECT(!syscall(SYS_modify_ldt, 1, &segment, sizeof(segment)));
}

/* IRETQ would have to load these, and may fault: the second has the kernel patch up its stack. */
CASE(stack_segments)
{
	begin();
	set_segment(3, true);
	set_segment(4, false);
	ATTEMPT("mov $0x1f, %%eax\nmov %%eax, %%ss\n" CROSS_LOAD, 0);
	EXPECT(refused(absent));
	__asm__ volatile("mov %0, %%ss" ::"r"(0x2b));
	ATTEMPT("mov $0x27, %%eax\nmov %%eax, %%ss\n" CROSS_LOAD, 0);
	EXPECT(refused(absent));
	__asm__ volatile("mov %0, %%ss" ::"r"(0x2b));
}

#define COMPAT_CODE 0x10000000
#define COMPAT_DATA 0x20000000

static void to_compat(int signo, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	regs[REG_CSGSFS] = (regs[REG_CSGSFS] & ~(greg_t)0xffff) | COMPAT_CS;
	regs[REG_RIP] = COMPAT_CODE;
	regs[REG_RDI] = COMPAT_DATA;
	regs[REG_RBX] = regs[REG_RSP];
	regs[REG_RSP] = COMPAT_CODE + 0xff0;
	regs[REG_R12] = RINGLAT_COOKIE;
	regs[REG_R13] = COMPAT_CODE;
}

/* 32-bit code cannot set %r12, but it may find it set. */
CASE(compat_mode)
{
	struct sigaction action = { .sa_sigaction = to_compat,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK };
	unsigned char *code = mmap((void *)COMPAT_CODE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	begin();
	must(code != MAP_FAILED && !sigaction(SIGUSR1, &action, NULL), "prepare 32-bit code");
	memcpy(code, "\x8a\x07\xf4", 3); /* movb (%edi), %al; hlt */
	ATTEMPT("xor %%r12d, %%r12d\n"
		"mov $39, %%eax\nsyscall\n" /* getpid */
		"mov %%eax, %%edi\nmov $10, %%esi\nmov $62, %%eax\nsyscall", /* kill SIGUSR1 */
		0);
	EXPECT(!seen.r8 && seen.signals == 1 && seen.cs == COMPAT_CS);
	EXPECT(seen.address == COMPAT_DATA && seen.rip == COMPAT_CODE);
}

#define SET_FLAGS(flags) "pushfq\norq $" flags ", (%%rsp)\npopfq\n"
#define CLEAR_FLAGS(flags) "pushfq\nandq $~" flags ", (%%rsp)\npopfq\n"

/* TF, then AC, NT and DF. */
CASE(flags)
{
	begin();
	ATTEMPT(HERE SET_FLAGS("0x100") LOAD, 0);
	EXPECT(seen.r8 && seen.signals == 1 && seen.signo == SIGTRAP);
	ATTEMPT(HERE SET_FLAGS("0x44400") LOAD CLEAR_FLAGS("0x44400"), 0);
	EXPECT(taken());
	ATTEMPT(HERE SET_FLAGS("0x100") "syscall\n1:", 0);
	EXPECT(seen.r8 && seen.signals >= 1 && seen.signo == SIGTRAP);
	ATTEMPT(HERE SET_FLAGS("0x44400") "syscall\n1:\n" CLEAR_FLAGS("0x44400"), 0);
	EXPECT(taken());
}

/* The stub of SYSCALL runs on it; that of page faults must not. */
CASE(stack_pointers)
{
	uint64_t stack;

	begin();
	for (size_t i = 0; i < COUNT_OF(wild); i++) {
		stack = wild[i];
		ATTEMPT_WITH("mov %%r14, %%rsp\n" HERE "syscall\n1:\nmov %%rbx, %%rsp", 0, absent,
			     stack);
		EXPECT(taken());
		ATTEMPT_WITH("mov %%r14, %%rsp\n" CROSS_LOAD "mov %%rbx, %%rsp", 0, absent, stack);
		EXPECT(taken());
		/* An ordinary one, which the stub passes on. */
		ATTEMPT_WITH("xor %%r12d, %%r12d\nmov %%r14, %%rsp\nmov $39, %%eax\nsyscall\n"
			     "mov %%rbx, %%rsp",
			     0, absent, stack);
		EXPECT(!seen.r8 && !seen.signals);
	}
}

static const char *const off_limits[] = {
	"ringlat_entry_page_fault",	 "ringlat_entry_syscall",
	"ringlat_entry_syscall_fenced",	 "__SCT__ringlat_kernel_page_fault",
	"__SCT__ringlat_kernel_syscall",
};

/* Where they are; 0 if the kernel does not tell. */
static void find_off_limits(uint64_t *addresses)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	char line[512], name[256];
	unsigned long long address;

	must(symbols, "read the kernel's symbols");
	while (fgets(line, sizeof(line), symbols)) {
		if (!strstr(line, "[ringlat]") ||
		    sscanf(line, "%llx %*c %255s", &address, name) != 2)
			continue;
		for (size_t i = 0; i < COUNT_OF(off_limits); i++)
			if (!strcmp(name, off_limits[i]))
				addresses[i] = address;
	}
	fclose(symbols);
}

/* The exception would find the stack of user space. */
CASE(breakpoints)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_BREAKPOINT,
					.size = sizeof(attr),
					.bp_type = HW_BREAKPOINT_X,
					.bp_len = sizeof(long) };
	uint64_t addresses[COUNT_OF(off_limits)] = { 0 };
	int fd;

	begin();
	find_off_limits(addresses);
	for (size_t i = 0; i < COUNT_OF(off_limits); i++) {
		attr.bp_addr = addresses[i];
		fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
		EXPECT(addresses[i] && fd < 0 && errno == EINVAL);
	}
}

CASE(kprobes)
{
	int fd = open("/sys/kernel/tracing/kprobe_events", O_WRONLY | O_APPEND | O_CLOEXEC);
	char probe[128];

	begin();
	must(fd >= 0, "open kprobe_events");
	EXPECT(write(fd, "p:fine ringlat:session__open", 28) == 28);
	EXPECT(write(fd, "-:fine", 6) == 6);
	for (size_t i = 0; i < COUNT_OF(off_limits); i++) {
		snprintf(probe, sizeof(probe), "p:bad%zu ringlat:%s", i, off_limits[i]);
		EXPECT(write(fd, probe, strlen(probe)) < 0);
	}
	close(fd);
}

/* No system call is made, so there is none to filter; what is one is filtered as ever. */
CASE(seccomp)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 42),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { COUNT_OF(filter), filter };

	begin();
	EXPECT(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	EXPECT(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	EXPECT(syscall(SYS_getppid) == -1 && errno == 42);
	ATTEMPT(CROSS_SYSCALL, 0);
	EXPECT(taken());
	EXPECT(syscall(SYS_getppid) == -1 && errno == 42);
}

static volatile sig_atomic_t alarms;

/* A crossing of its own, in the middle of one: with the registers it inherited, and its return. */
static void on_alarm(int signo)
{
	struct crossing crossing;

	alarms++;
	cross_page_fault(&crossing, absent);
	cross_syscall(&crossing);
}

CASE(signal_storm)
{
	struct itimerval every = { { 0, 1000 }, { 0, 1000 } };
	long i, least = rounds(40000, 300000), missed = 0;

	begin();
	must(signal(SIGALRM, on_alarm) != SIG_ERR, "take alarms");
	setitimer(ITIMER_REAL, &every, NULL);
	/* On a busy machine the timer may come late, and seldom. */
	for (i = 0; i < least || (alarms <= 10 && i < 100 * least); i++) {
		ATTEMPT(CROSS_LOAD, 0);
		missed += !taken();
		ATTEMPT(CROSS_SYSCALL, 0);
		missed += !taken();
	}
	setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
	EXPECT(!missed);
	EXPECT(alarms > 10);
}

int main(int argc, char **argv)
{
	absent = map_pages(1, PROT_NONE);
	pages = map_pages(4, PROT_READ | PROT_WRITE);
	madvise(pages, 4 * PAGE, MADV_NOHUGEPAGE);
	pages[0] = 1;
	return run_cases(argc, argv);
}
