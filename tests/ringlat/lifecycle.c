// SPDX-License-Identifier: BSD-2-Clause
/*
 * lifecycle [CASE...]: whatever becomes of an owner, its stubs are before no entry point
 * afterwards, nobody else ever has them, and the module can be unloaded in the end. This process
 * looks on from another CPU than the owner's.
 */
#include "client.h"

#include <linux/kvm.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#define STACK 65536

static bool hooked(void)
{
	return is_hooked(MEASURED_CPU);
}

static void spin(int fd)
{
	for (;;)
		;
}

CASE(killed)
{
	pid_t owner;

	for (long i = 0; i < rounds(15, 150); i++) {
		owner = start_owner(cross_forever);
		AWAIT(hooked()); /* else nothing is shown */
		nap_ms(rand() % 20);
		reap(owner);
		EXPECT(!hooked());
	}
}

/* It loses its stubs without its death. */
static void loses_stubs(void (*then)(int fd))
{
	pid_t owner = start_owner(then);

	AWAIT(!hooked());
	reap(owner);
	EXPECT(!hooked());
}

CASE(asleep)
{
	loses_stubs(sleep_on);
}

static void exec_sleep(int fd)
{
	must(!fcntl(fd, F_SETFD, 0), "keep the descriptor");
	execl("/bin/sleep", "sleep", "100", NULL);
}

CASE(exec_keeps_file)
{
	loses_stubs(exec_sleep);
}

static void exec_self(int fd)
{
	execl("/proc/self/exe", "lifecycle", "spin", NULL);
}

CASE(exec_closes_file)
{
	loses_stubs(exec_self);
}

/* By which an owner's child tells that all was well, before the owner dies and it has the file. */
static int heir[2];

static void leave_child(int fd)
{
	struct crossing crossing;
	pid_t child = fork();

	if (!child) {
		child = getpid();
		/* It is no owner, but has the file. */
		cross_syscall(&crossing);
		EXPECT(!crossing.u2k_k);
		EXPECT(ioctl(fd, RINGLAT_STOP) && errno == EPERM);
		EXPECT(device_start(fd, BOTH) && errno == EBUSY);
		fflush(stdout);
		must(!failures && write(heir[1], &child, sizeof(child)) == sizeof(child), "tell");
		sleep_on(fd);
	}
	close(heir[1]);
	spin(fd);
}

/* Nothing is closed, so the stubs go as the CPU leaves the owner; of its death is heard before. */
CASE(file_outlives_owner)
{
	pid_t owner, child = 0;

	must(!pipe2(heir, O_CLOEXEC) && !prctl(PR_SET_CHILD_SUBREAPER, 1), "await an heir");
	owner = start_owner(leave_child);
	close(heir[1]);
	EXPECT(read(heir[0], &child, sizeof(child)) == sizeof(child));
	AWAIT(hooked());
	reap(owner);
	AWAIT(!hooked());
	if (child)
		reap(child);
}

/* Threads that share their files without being one process. */
struct sharer {
	int fd;
	volatile bool ready, end;
	bool sleeps;
};

static char stack[STACK] __attribute__((aligned(16))); /* of the one that a case has */

static void own_shared(struct sharer *sharer)
{
	pin(MEASURED_CPU);
	must(!device_start(sharer->fd, BOTH), "start");
	sharer->ready = true;
}

static int share(void *argument)
{
	struct sharer *sharer = argument;

	own_shared(sharer);
	while (!sharer->end)
		if (sharer->sleeps)
			nap_ms(1);
	return 0;
}

static pid_t start_sharer(struct sharer *sharer, int (*run)(void *), int flags)
{
	pid_t pid;

	sharer->fd = device_open();
	pid = clone(run, stack + STACK, CLONE_VM | CLONE_FS | CLONE_FILES | flags | SIGCHLD,
		    sharer);
	must(pid > 0, "start a thread");
	AWAIT(sharer->ready);
	return pid;
}

static void end_sharer(struct sharer *sharer, pid_t pid)
{
	int status;

	sharer->end = true;
	EXPECT(waitpid(pid, &status, 0) == pid && !status);
}

/* It never closes anything: its death alone must do. */
CASE(dies_with_shared_files)
{
	struct sharer sharer = { 0 };
	pid_t pid = start_sharer(&sharer, share, CLONE_SIGHAND);

	AWAIT(hooked());
	EXPECT(ioctl(sharer.fd, RINGLAT_STOP) && errno == EPERM);
	end_sharer(&sharer, pid);
	AWAIT(!hooked());
	AWAIT(!device_read(sharer.fd).running);
	EXPECT(ioctl(sharer.fd, RINGLAT_STOP) && errno == EINVAL);
	close(sharer.fd);
}

/*
 * No file is open and no owner is left. (That the CPU has no stub at some moment does not tell: the
 * owner may just not be running.)
 */
static bool all_ended(void)
{
	FILE *count = fopen("/sys/module/ringlat/refcnt", "re");
	int users = -1;

	must(count && fscanf(count, "%d", &users) == 1, "read who uses the module");
	fclose(count);
	return !users;
}

static void closed_by_another(bool sleeps)
{
	struct sharer sharer = { .sleeps = sleeps };
	pid_t pid = start_sharer(&sharer, share, CLONE_SIGHAND);

	close(sharer.fd);
	AWAIT(all_ended());
	EXPECT(!hooked());
	nap_ms(20);
	EXPECT(!hooked());
	end_sharer(&sharer, pid);
}

CASE(closed_while_spinning)
{
	closed_by_another(false);
}

CASE(closed_while_asleep)
{
	closed_by_another(true);
}

CASE(start_and_stop)
{
	struct ringlat_info info;
	struct crossing crossing;
	int fd = device_open(), other = device_open();
	cpu_set_t all;

	CPU_ZERO(&all);
	CPU_SET(0, &all);
	CPU_SET(1, &all);
	EXPECT(!ioctl(fd, RINGLAT_INFO, &info) && info.version == RINGLAT_VERSION);
	EXPECT(info.events && !info.refusal[0]);
	EXPECT(ioctl(fd, RINGLAT_STOP) && errno == EINVAL);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1) {
		EXPECT(!sched_setaffinity(0, sizeof(all), &all));
		EXPECT(device_start(fd, BOTH) && errno == ENOTUNIQ);
	}
	pin(MEASURED_CPU);
	EXPECT(device_start(fd, 0) && errno == EINVAL);
	EXPECT(device_start(fd, 1u << 31) && errno == EINVAL);
	EXPECT(device_start(fd, RINGLAT_SYSCALL | RINGLAT_SYSCALL_FENCED) && errno == EINVAL);
	EXPECT(!device_start(fd, RINGLAT_PF));
	EXPECT(device_start(fd, BOTH) && errno == EBUSY);
	EXPECT(device_start(other, RINGLAT_SYSCALL) && errno == EBUSY);
	EXPECT(device_read(fd).running == 1 && device_read(fd).arrivals >= 1);
	EXPECT(any_fault_hooked()); /* which others look for after each case */
	EXPECT(!device_read(fd).kept && device_read(fd).cpu == (uint32_t)sched_getcpu());
	cross_syscall(&crossing); /* was not asked for */
	EXPECT(!crossing.u2k_k);
	EXPECT(!ioctl(fd, RINGLAT_STOP));
	EXPECT(ioctl(fd, RINGLAT_STOP) && errno == EINVAL);
	EXPECT(!device_read(fd).running);
	EXPECT(!device_start(fd, RINGLAT_SYSCALL_FENCED)); /* and again, by the same file */
	cross_syscall(&crossing);
	EXPECT(crossing.u2k_k);
	EXPECT(!close(fd)); /* which stops */
	cross_syscall(&crossing);
	EXPECT(!crossing.u2k_k);
	EXPECT(!device_start(other, BOTH));
	close(other);
}

static pthread_barrier_t turn;

static void *cross_meanwhile(void *argument)
{
	struct crossing crossing;
	long *taken = argument, i;
	int fd = device_own(BOTH);

	for (i = 0; i < 20000; i++) {
		/* One of them sleeps until the other is there. */
		if (i % 1000 == 0)
			pthread_barrier_wait(&turn);
		cross_syscall(&crossing);
		*taken += !!crossing.u2k_k;
	}
	EXPECT(device_read(fd).arrivals > 1 && !device_read(fd).lost);
	close(fd);
	return NULL;
}

/* On one CPU, by turns: each has its own, and neither misses. */
CASE(two_owners)
{
	long taken[2] = { 0 };
	pthread_t threads[2];

	pthread_barrier_init(&turn, NULL, 2);
	for (int i = 0; i < 2; i++)
		must(!pthread_create(&threads[i], NULL, cross_meanwhile, &taken[i]),
		     "start a thread");
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	EXPECT(taken[0] == 20000 && taken[1] == 20000);
}

/* Another thread of the same process, on the same CPU. */
static void *cross_without(void *argument)
{
	struct crossing crossing;

	pin(MEASURED_CPU);
	for (int i = 0; i < 2000; i++) {
		cross_syscall(&crossing);
		EXPECT(!crossing.u2k_k);
	}
	return NULL;
}

CASE(sibling_has_none)
{
	int fd = device_own(BOTH);
	struct crossing crossing;
	pthread_t thread;

	must(!pthread_create(&thread, NULL, cross_without, NULL), "start a thread");
	for (long i = 0; i < 20000; i++) {
		cross_syscall(&crossing);
		EXPECT(crossing.u2k_k);
	}
	pthread_join(thread, NULL);
	close(fd);
}

CASE(unprivileged)
{
	int fd = device_open();

	pin(MEASURED_CPU);
	must(!setresuid(65534, 65534, 65534), "become nobody");
	EXPECT(device_start(fd, BOTH) && errno == EPERM);
	EXPECT(open(RINGLAT_DEVICE, O_RDWR) < 0 && errno == EACCES);
}

/* After a switch, the stubs do not give the counter to a task that must not read it. */
CASE(without_tsc)
{
	int fd = device_open();
	struct ringlat_counts then;

	pin(MEASURED_CPU);
	must(!prctl(PR_SET_TSC, PR_TSC_SIGSEGV), "do without the counter");
	EXPECT(device_start(fd, BOTH) && errno == EPERM);
	must(!prctl(PR_SET_TSC, PR_TSC_ENABLE), "have the counter again");
	must(!device_start(fd, BOTH) && !prctl(PR_SET_TSC, PR_TSC_SIGSEGV),
	     "start, then do without");
	then = device_read(fd);
	AWAIT(device_read(fd).busy > then.busy);
	EXPECT(device_read(fd).arrivals == then.arrivals);
	must(!prctl(PR_SET_TSC, PR_TSC_ENABLE), "have the counter again");
	AWAIT(device_read(fd).arrivals > then.arrivals);
	close(fd);
}

CASE(unload_while_armed)
{
	device_own(BOTH);
	EXPECT(syscall(SYS_delete_module, "ringlat", O_NONBLOCK) && errno == EAGAIN);
}

struct tally {
	volatile unsigned long taken, missed;
};

static struct tally *tally; /* shared */

static void cross_and_count(int fd)
{
	struct crossing crossing;

	for (;;) {
		cross_syscall(&crossing);
		if (crossing.u2k_k)
			tally->taken++;
		else
			tally->missed++;
	}
}

static void set_online(bool online)
{
	int fd = open("/sys/devices/system/cpu/cpu" TEXT(MEASURED_CPU) "/online",
		      O_WRONLY | O_CLOEXEC);

	EXPECT(fd >= 0 && write(fd, online ? "1" : "0", 1) == 1);
	close(fd);
}

/* The owner is moved to another CPU, and the stubs go with it. */
CASE(cpu_goes)
{
	unsigned long before;
	pid_t owner;

	tally = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	must(tally != MAP_FAILED, "share memory");
	owner = start_owner(cross_and_count);
	for (int i = 0; i < 3; i++) {
		AWAIT(tally->taken > 1000);
		set_online(false);
		before = tally->taken;
		AWAIT(tally->taken > before + 1000);
		set_online(true);
	}
	EXPECT(!tally->missed);
	reap(owner);
	EXPECT(!hooked());
}

/* How many backtraces began in a stub since the last time. */
static unsigned int backtraces_of_stubs(int log)
{
	unsigned int hits = 0;
	char record[RECORD];

	while (next_record(log, record))
		hits += strstr(record, "RIP: ") && strstr(record, "ringlat_entry");
	return hits;
}

/* The kernel has all CPUs print a backtrace by NMI, until enough of them hit a stub. */
CASE(nmi_in_stub)
{
	int log = open_kernel_log(), trigger = open("/proc/sysrq-trigger", O_WRONLY | O_CLOEXEC);
	unsigned int hits = 0, wanted = (unsigned int)rounds(3, 100);
	pid_t owner = start_owner(cross_forever);
	long i;

	must(trigger >= 0, "open sysrq-trigger");
	for (i = 0; i < rounds(3000, 10000) && hits < wanted; i++) {
		EXPECT(write(trigger, "l", 1) == 1);
		hits += backtraces_of_stubs(log);
	}
	printf("# %u of %ld hit a stub\n", hits, i);
	EXPECT(hits);
	reap(owner);
	EXPECT(!hooked());
}

/* LATSCOPE_MODULE names one that the kernel can load and does not need. */
CASE(loads_module)
{
	const char *path = getenv("LATSCOPE_MODULE");
	int module = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct crossing crossing;
	int fd;

	must(module >= 0, "open LATSCOPE_MODULE");
	fd = device_own(BOTH);
	EXPECT(!syscall(SYS_finit_module, module, "", 0));
	EXPECT(!device_read(fd).running);
	cross_syscall(&crossing);
	EXPECT(!crossing.u2k_k);
	EXPECT(!device_start(fd, BOTH));
	close(fd);
}

/* A guest of one instruction, jmp to itself. Returns its CPU's descriptor, or exits. */
static int guest_cpu(void)
{
	unsigned char *memory =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct kvm_userspace_memory_region region = { .guest_phys_addr = 0x1000,
						      .memory_size = PAGE };
	struct kvm_regs regs = { .rip = 0x1000, .rflags = 2 };
	struct kvm_sregs sregs;
	int kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC), vm, cpu;

	if (kvm < 0 || (vm = ioctl(kvm, KVM_CREATE_VM, 0)) < 0) {
		fprintf(stderr, "no KVM on this CPU\n");
		_exit(CANNOT);
	}
	must(memory != MAP_FAILED, "map the guest's memory");
	memcpy(memory, "\xeb\xfe", 2);
	region.userspace_addr = (uint64_t)memory;
	must(!ioctl(vm, KVM_SET_USER_MEMORY_REGION, &region), "give the guest memory");
	cpu = ioctl(vm, KVM_CREATE_VCPU, 0);
	must(cpu >= 0 && !ioctl(cpu, KVM_GET_SREGS, &sregs), "make a guest's CPU");
	sregs.cs.base = 0;
	sregs.cs.selector = 0;
	must(!ioctl(cpu, KVM_SET_SREGS, &sregs) && !ioctl(cpu, KVM_SET_REGS, &regs), "set it up");
	return cpu;
}

static int run_guest(void *argument)
{
	struct sharer *sharer = argument;
	int cpu = guest_cpu();
	long interrupted = 0;

	own_shared(sharer);
	while (!sharer->end) {
		if (!ioctl(cpu, KVM_RUN, 0) || errno != EINTR)
			_exit(1);
		interrupted++;
	}
	/* Not by return: since 6.13 KVM adds a thread, and the process would wait for its end. */
	_exit(interrupted ? 0 : 1);
}

static void prod(int signo)
{
}

/*
 * The owner is in a guest when another thread closes the file: KVM on AMD has the stub put aside,
 * and would bring it back were it taken away under it.
 */
CASE(closed_while_in_guest)
{
	struct sharer sharer = { 0 };
	int status = 0, i;
	pid_t pid, ended = 0;

	close(guest_cpu()); /* here, for the exit code */
	signal(SIGUSR1, prod);
	pid = start_sharer(&sharer, run_guest, 0);
	nap_ms(100);
	close(sharer.fd);
	AWAIT(all_ended());
	for (i = 0; i < 20; i++) {
		kill(pid, SIGUSR1);
		nap_ms(5);
		EXPECT(!hooked());
	}
	sharer.end = true;
	/* A signal just before KVM_RUN interrupts nothing. */
	AWAIT(!kill(pid, SIGUSR1) && (ended = waitpid(pid, &status, WNOHANG)));
	EXPECT(ended == pid && !status);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "spin"))
		spin(0);
	return run_cases(argc, argv);
}
