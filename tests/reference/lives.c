// SPDX-License-Identifier: BSD-2-Clause
/*
 * lives [-w] [-c] [-g CGROUP] THREADS [PROGRAM...]: threads and processes with lives of all kinds:
 * stopped, frozen, traced, killed while they wait, of a PID namespace, with the ID of an earlier
 * one, with IDs that are the same modulo 16384, executing a program in a thread, a worker of
 * io_uring, and so many threads that come and go. Each has its own name. -c: CPU 1 goes offline
 * and online. -g: freeze this cgroup. Each PROGRAM sleeps for 4 * 20 ms.
 *
 * For a part of a life (or life itself, or how many have ended), before done=1:
 *
 *   claim=NAME part=PART low=LOW high=HIGH
 *
 * All threads of that NAME together have at least LOW and at most HIGH of it, in ns.
 */
#include <limits.h>
#include <sys/ptrace.h>

#include <linux/io_uring.h>

#include "reference.h"

#define STEP_NS (20 * NSEC_PER_MSEC)
#define ALIKE 16384
#define BATCH 8 /* threads that live at the same time */

static const char *own_path, *cgroup;

static void must(bool holds, const char *what)
{
	reference_must(holds, "%s: %m", what);
}

static void claim(const char *name, const char *part, uint64_t low, uint64_t high)
{
	printf("claim=%s part=%s low=%lu high=%lu\n", name, part, low, high);
}

/* ---- what children do ---- */

static int never[2]; /* a pipe that nobody writes to */

static void wait_for_work(void)
{
	syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

static void wait_for_pipe(void)
{
	char c;

	must(read(never[0], &c, 1) == 1, "cannot read");
}

/* A child that waits, as its parent knows. */
struct waiter {
	const char *name;
	pid_t pid;
	uint64_t begin_ns; /* before it began to wait */
	uint64_t waits_ns; /* it waits */
};

static _Noreturn void live(const char *name, long call)
{
	prctl(PR_SET_NAME, name);
	for (;;)
		(call == SYS_read ? wait_for_pipe : wait_for_work)();
}

static void await(struct waiter *waiter, long call)
{
	reference_parked(waiter->pid, waiter->pid, call);
	waiter->waits_ns = clock__now_ns();
}

static struct waiter make_waiter(const char *name, long call)
{
	struct waiter waiter = { .name = name, .begin_ns = clock__now_ns() };

	waiter.pid = reference_fork();
	if (!waiter.pid)
		live(name, call);
	await(&waiter, call);
	return waiter;
}

/* With this ID. PID 0: another process has it. */
static struct waiter make_waiter_as(const char *name, pid_t pid, long call)
{
	struct waiter waiter = { .name = name, .begin_ns = clock__now_ns() };

	waiter.pid = reference_fork_as(pid);
	if (!waiter.pid)
		live(name, call);
	if (waiter.pid < 0)
		waiter.pid = 0;
	else
		await(&waiter, call);
	return waiter;
}

/* Kills a child. Its parent may learn of its end before the child has lost its CPU: that, too. */
static uint64_t end(pid_t pid)
{
	uint64_t gone_ns;

	kill(pid, SIGKILL);
	must(!waitid(P_PID, (id_t)pid, NULL, WEXITED | WNOWAIT), "waitid");
	reference_parked(pid, pid, REFERENCE_PARK_ZOMBIE);
	gone_ns = clock__now_ns();
	must(waitpid(pid, NULL, 0) == pid, "waitpid");
	return gone_ns;
}

/* It is killed while it waits, which is the part. */
static void end_waiter(const struct waiter *waiter, const char *part)
{
	uint64_t end_ns = clock__now_ns(), gone_ns = end(waiter->pid);

	claim(waiter->name, part, end_ns - waiter->waits_ns, gone_ns - waiter->begin_ns);
	claim(waiter->name, "life", end_ns - waiter->waits_ns, gone_ns - waiter->begin_ns);
	claim(waiter->name, "ended", 1, 1);
}

/* ---- cases ---- */

static void be_killed(void)
{
	struct waiter waiter = make_waiter("l-killed", SYS_read);

	load__sleep(STEP_NS);
	end_waiter(&waiter, "socket");
}

/* Stopped between these times, for sure and at most. */
struct stop {
	uint64_t from_ns, stopped_ns, goes_on_ns, until_ns;
};

static void begin_stop(struct stop *stop)
{
	stop->from_ns = clock__now_ns();
}

static void is_stopped(struct stop *stop, pid_t pid)
{
	reference_parked(pid, pid, REFERENCE_PARK_STOPPED);
	stop->stopped_ns = clock__now_ns();
	load__sleep(STEP_NS);
	stop->goes_on_ns = clock__now_ns();
}

/* It has run again before it is gone; another CPU may wake it up a little later than it is told. */
static void end_stop(struct stop *stop, const struct waiter *waiter)
{
	reference_end(waiter->pid);
	stop->until_ns = clock__now_ns();
	claim(waiter->name, "stopped", stop->goes_on_ns - stop->stopped_ns,
	      stop->until_ns - stop->from_ns);
}

static void be_stopped(void)
{
	struct waiter waiter = make_waiter("l-stopped", SYS_ppoll);
	struct stop stop;

	begin_stop(&stop);
	kill(waiter.pid, SIGSTOP);
	must(waitpid(waiter.pid, NULL, WUNTRACED) == waiter.pid, "waitpid");
	is_stopped(&stop, waiter.pid);
	kill(waiter.pid, SIGCONT);
	must(waitpid(waiter.pid, NULL, WCONTINUED) == waiter.pid, "waitpid");
	end_stop(&stop, &waiter);
}

static void be_traced(void)
{
	struct waiter waiter = make_waiter("l-traced", SYS_ppoll);
	struct stop stop;

	must(!ptrace(PTRACE_SEIZE, waiter.pid, NULL, NULL), "cannot trace");
	begin_stop(&stop);
	must(!ptrace(PTRACE_INTERRUPT, waiter.pid, NULL, NULL), "cannot interrupt");
	must(waitpid(waiter.pid, NULL, 0) == waiter.pid, "waitpid");
	is_stopped(&stop, waiter.pid);
	must(!ptrace(PTRACE_DETACH, waiter.pid, NULL, NULL), "cannot detach");
	end_stop(&stop, &waiter);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	must(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text), path);
	close(fd);
}

static bool is_frozen(void)
{
	char path[PATH_MAX], text[128] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/cgroup.events", cgroup);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	must(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0, path);
	close(fd);
	return strstr(text, "frozen 1");
}

static void be_frozen(void)
{
	struct waiter waiter;
	struct stop stop;
	char pid[16];

	if (!cgroup)
		return;
	waiter = make_waiter("l-frozen", SYS_ppoll);
	snprintf(pid, sizeof(pid), "%d", waiter.pid);
	write_file(cgroup, "cgroup.procs", pid);
	begin_stop(&stop);
	write_file(cgroup, "cgroup.freeze", "1");
	while (!is_frozen())
		load__sleep(NSEC_PER_MSEC);
	is_stopped(&stop, waiter.pid);
	write_file(cgroup, "cgroup.freeze", "0");
	while (is_frozen())
		load__sleep(NSEC_PER_MSEC);
	end_stop(&stop, &waiter);
}

static void be_in_namespace(void)
{
	struct clone_args args = { .flags = CLONE_NEWPID, .exit_signal = SIGCHLD };
	struct waiter waiter = { .name = "l-namespace", .begin_ns = clock__now_ns() };

	waiter.pid = (pid_t)syscall(SYS_clone3, &args, sizeof(args));
	must(waiter.pid >= 0, "cannot make a PID namespace");
	if (!waiter.pid)
		live(waiter.name, SYS_read);
	await(&waiter, SYS_read);
	load__sleep(STEP_NS);
	end_waiter(&waiter, "socket");
}

static void have_same_id(void)
{
	struct waiter first = make_waiter("l-first", SYS_read), second;

	load__sleep(STEP_NS);
	end_waiter(&first, "socket");
	second = make_waiter_as("l-second", first.pid, SYS_ppoll);
	if (!second.pid)
		return; /* another process was faster */
	load__sleep(2 * STEP_NS);
	end_waiter(&second, "work");
}

/* IDs that all machines have, and nobody here. */
static void find_line(struct waiter *first, struct waiter *second)
{
	for (pid_t pid = 300; pid < ALIKE; pid++) {
		*first = make_waiter_as("l-line-a", pid, SYS_read);
		if (!first->pid)
			continue;
		*second = make_waiter_as("l-line-b", pid + ALIKE, SYS_ppoll);
		if (second->pid)
			return;
		reference_end(first->pid);
	}
	reference_die(REFERENCE_FAILED, "no two process IDs are free");
}

/* The second one has no line; the third one gets that of the first one meanwhile. */
static void have_same_line(void)
{
	struct waiter first, second, third;

	find_line(&first, &second);
	load__sleep(STEP_NS);
	end_waiter(&first, "socket");
	third = make_waiter_as("l-line-c", first.pid, SYS_read);
	load__sleep(STEP_NS);
	end_waiter(&second, "work");
	if (third.pid)
		end_waiter(&third, "socket");
}

/* ---- exec in a thread ---- */

static void *execute_in_thread(void *report)
{
	char fd[16], began[32], *const arguments[] = { "lives", "executed", fd, began, NULL };

	snprintf(began, sizeof(began), "%lu", clock__now_ns());
	snprintf(fd, sizeof(fd), "%d", *(int *)report);
	load__sleep(STEP_NS);
	execv(own_path, arguments);
	reference_die(REFERENCE_FAILED, "cannot execute: %m");
}

/* The program that the thread executes: how long that thread has lived, and this time. */
static int executed(char **argv)
{
	uint64_t life_ns;

	prctl(PR_SET_NAME, "l-exec");
	load__sleep(STEP_NS);
	life_ns = clock__now_ns() - strtoull(argv[3], NULL, 10);
	return write(atoi(argv[2]), &life_ns, sizeof(life_ns)) != sizeof(life_ns);
}

static void execute(void)
{
	uint64_t begin_ns = clock__now_ns(), low_ns, high_ns;
	pid_t pid;
	int report[2];

	must(!pipe(report), "cannot make a pipe");
	pid = reference_fork();
	if (!pid) {
		prctl(PR_SET_NAME, "l-exec");
		close(report[0]);
		reference_thread(execute_in_thread, &report[1]);
		for (;;)
			wait_for_work();
	}
	close(report[1]);
	must(read(report[0], &low_ns, sizeof(low_ns)) == sizeof(low_ns), "cannot read");
	must(waitpid(pid, NULL, 0) == pid, "waitpid");
	close(report[0]);
	high_ns = clock__now_ns() - begin_ns;
	/* The first thread lives until the other one executes: a step or more. */
	claim("l-exec", "life", low_ns + STEP_NS, 2 * high_ns);
	claim("l-exec", "timer", 2 * STEP_NS * 99 / 100, high_ns);
	claim("l-exec", "work", STEP_NS * 9 / 10, high_ns - STEP_NS);
	claim("l-exec", "ended", 2, 2);
}

/* ---- vfork ---- */

static void fork_shared(void)
{
	struct reference_sched before, after;
	uint64_t begin_ns, ns;
	pid_t pid;

	prctl(PR_SET_NAME, "l-vfork");
	reference_sched__read(getpid(), getpid(), &before);
	begin_ns = clock__now_ns();
	pid = vfork();
	if (!pid) {
		const struct timespec step = { .tv_nsec = STEP_NS };

		syscall(SYS_prctl, PR_SET_NAME, "l-vforked");
		syscall(SYS_nanosleep, &step, NULL);
		_exit(0);
	}
	ns = clock__now_ns() - begin_ns;
	reference_sched__read(getpid(), getpid(), &after);
	after = reference_sched__since(before, after);
	waitpid(pid, NULL, 0);
	claim("l-vfork", "child", ns - after.ran_ns - after.run_delay_ns, ns);
	claim("l-vforked", "timer", STEP_NS * 99 / 100, ns);
	fflush(stdout);
	_exit(0);
}

/* In a process of its own: the thread that waits is called by its name. */
static void be_vforked(void)
{
	pid_t pid;

	fflush(stdout);
	pid = reference_fork();
	if (!pid)
		fork_shared();
	must(waitpid(pid, NULL, 0) == pid, "waitpid");
}

/* ---- io_uring ---- */

/* One request for a worker: it reads from a pipe in which nothing is. */
static bool give_to_worker(void)
{
	struct io_uring_params params = { 0 };
	int fd = (int)syscall(SYS_io_uring_setup, 2, &params);
	struct io_uring_sqe *entries;
	static char c;
	unsigned int *tail;
	char *ring;

	if (fd < 0)
		return false;
	ring = mmap(NULL, params.sq_off.array + params.sq_entries * 4, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQ_RING);
	entries = mmap(NULL, params.sq_entries * sizeof(*entries), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_POPULATE, fd, IORING_OFF_SQES);
	must(ring != MAP_FAILED && entries != MAP_FAILED, "mmap");
	entries[0] = (struct io_uring_sqe){ .opcode = IORING_OP_READ,
					    .flags = IOSQE_ASYNC,
					    .fd = never[0],
					    .addr = (uintptr_t)&c,
					    .len = 1 };
	((unsigned int *)(ring + params.sq_off.array))[0] = 0;
	tail = (unsigned int *)(ring + params.sq_off.tail);
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	must(syscall(SYS_io_uring_enter, fd, 1, 0, 0, NULL, 0) == 1, "io_uring_enter");
	return true;
}

static void have_worker(void)
{
	uint64_t begin_ns = clock__now_ns(), waits_ns, end_ns;
	char name[16];
	int ready[2];
	pid_t pid;
	char c;

	reference_pipe(ready);
	pid = reference_fork();
	if (!pid) {
		c = give_to_worker() ? 'y' : 'n';
		must(write(ready[1], &c, 1) == 1, "cannot write");
		live("l-uring", SYS_ppoll);
	}
	must(read(ready[0], &c, 1) == 1, "cannot read");
	load__sleep(STEP_NS);
	waits_ns = clock__now_ns();
	load__sleep(STEP_NS);
	end_ns = clock__now_ns();
	reference_end(pid);
	if (c == 'n')
		return;
	snprintf(name, sizeof(name), "iou-wrk-%d", pid);
	claim(name, "work", end_ns - waits_ns, clock__now_ns() - begin_ns);
	claim(name, "ended", 1, 1);
}

/* ---- x32: a system call by a number with a high bit, if this kernel takes it ---- */

static void have_x32_call(void)
{
#ifdef __x86_64__
	const struct timespec step = { .tv_nsec = STEP_NS };
	uint64_t begin_ns, ns;
	int *taken = reference_share(sizeof(*taken));
	pid_t pid;

	begin_ns = clock__now_ns();
	pid = reference_fork();
	if (!pid) {
		prctl(PR_SET_NAME, "l-x32");
		*taken = !syscall(0x40000000 + SYS_nanosleep, &step, NULL);
		_exit(0);
	}
	must(waitpid(pid, NULL, 0) == pid, "waitpid");
	ns = clock__now_ns() - begin_ns;
	if (*taken)
		claim("l-x32", "other", STEP_NS * 99 / 100, ns);
#endif
}

static void run_program(const char *path)
{
	uint64_t begin_ns = clock__now_ns();
	const char *name = strrchr(path, '/') + 1;
	pid_t pid = reference_fork();

	if (!pid) {
		execl(path, name, NULL);
		_exit(REFERENCE_FAILED);
	}
	must(waitpid(pid, NULL, 0) == pid, "waitpid");
	claim(name, "timer", 4 * STEP_NS * 99 / 100, clock__now_ns() - begin_ns);
}

/* ---- threads that come and go ---- */

static atomic_ulong lived_ns; /* by their own clocks */

static void *come_and_go(void *unused)
{
	uint64_t begin_ns = clock__now_ns();

	atomic_fetch_add(&lived_ns, clock__now_ns() - begin_ns);
	return unused;
}

static _Noreturn void churn(uint64_t count)
{
	uint64_t begin_ns, most_ns = 0, own_ns = clock__now_ns();
	pthread_t threads[BATCH];

	prctl(PR_SET_NAME, "l-churn"); /* so are its threads called */
	for (uint64_t made = 0; made < count; made += BATCH) {
		begin_ns = clock__now_ns();
		for (int i = 0; i < BATCH; i++)
			threads[i] = reference_thread(come_and_go, NULL);
		for (int i = 0; i < BATCH; i++)
			pthread_join(threads[i], NULL);
		most_ns += BATCH * (clock__now_ns() - begin_ns);
	}
	claim("l-churn", "ended", count + 1, count + 1);
	own_ns = clock__now_ns() - own_ns;
	/* A thread ends a little later than it is joined; nobody sees when. */
	claim("l-churn", "life", atomic_load(&lived_ns) + own_ns,
	      most_ns + own_ns + count * NSEC_PER_MSEC / 10);
	fflush(stdout);
	_exit(0);
}

static void have_many_threads(uint64_t count)
{
	pid_t pid;

	fflush(stdout);
	pid = reference_fork();
	if (!pid)
		churn(count);
	must(waitpid(pid, NULL, 0) == pid, "waitpid");
}

/* ---- a CPU that goes offline ---- */

static void lose_cpu(void)
{
	static const char folder[] = "/sys/devices/system/cpu/cpu1";
	uint64_t begin_ns = clock__now_ns(), began_ns, end_ns, gone_ns;
	pid_t pid = reference_fork();

	if (!pid) {
		prctl(PR_SET_NAME, "l-cpu");
		reference_bind(0, 1);
		load__spin(UINT64_MAX / 2);
	}
	load__sleep(NSEC_PER_MSEC);
	began_ns = clock__now_ns();
	for (int i = 0; i < 3; i++) {
		write_file(folder, "online", "0");
		load__sleep(STEP_NS);
		write_file(folder, "online", "1");
	}
	end_ns = clock__now_ns();
	gone_ns = end(pid);
	claim("l-cpu", "life", end_ns - began_ns, gone_ns - begin_ns);
	claim("l-cpu", "unknown", 0, 0);
}

int main(int argc, char **argv)
{
	bool loses_cpu = false;
	struct waiter old;
	uint64_t threads;
	int option;

	own_path = realpath("/proc/self/exe", NULL);
	if (argc == 4 && !strcmp(argv[1], "executed"))
		return executed(argv);
	while ((option = reference_option(argc, argv, "cg:"))) {
		loses_cpu |= option == 'c';
		cgroup = option == 'g' ? optarg : cgroup;
	}
	reference_usage(argc > optind, "lives [-w] [-c] [-g CGROUP] THREADS [PROGRAM...]");
	threads = reference_number(argv[optind++], "THREADS", BATCH, 10000000) / BATCH * BATCH;
	reference_pipe(never);
	old = make_waiter("l-old", SYS_ppoll);
	reference_pause("ready");
	be_killed();
	be_stopped();
	be_traced();
	be_frozen();
	be_in_namespace();
	have_same_id();
	have_same_line();
	execute();
	be_vforked();
	have_worker();
	have_x32_call();
	while (optind < argc)
		run_program(argv[optind++]);
	have_many_threads(threads);
	if (loses_cpu)
		lose_cpu();
	reference_pause("done");
	reference_end(old.pid);
	return 0;
}
