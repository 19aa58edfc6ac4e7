// SPDX-License-Identifier: BSD-2-Clause
/*
 * hog [-w] CPU RUN_MS COUNT: run-queue waits of a known length.
 *
 * Two threads are pinned on CPU. The waiter (SCHED_OTHER) always wants to run, and others on that
 * CPU are outweighed. The hog (SCHED_FIFO) sleeps 2 * RUN_MS, then runs for RUN_MS, COUNT times:
 * each time the waiter is preempted and waits for RUN_MS and a little. The program's main thread
 * sleeps meanwhile, on another CPU if there is one.
 *
 * Truth of the thread waiter_tid: run_delay_ns and pcount, what the kernel added between both
 * waits of -w, in which the thread is parked (truth_sched.h); so the sum and the number of its
 * waits in a window that contains the go and done=1, exactly. run_delay_life_ns and pcount_life
 * count since the thread was made, for a window that saw that too. Among the waits are COUNT of at
 * least about RUN_MS; the rest, short ones, are the start and other tasks' doing. Two further
 * witnesses: run_*_ns, how long the hog ran by its clock; gap_*_ns, the COUNT interruptions of
 * more than RUN_MS / 2 that the waiter itself saw, each a wait and two switches. hog_* is the same
 * account of the hog thread. An outside task of higher priority (hog_preempted) or a machine that
 * stops makes single waits longer, both in the kernel's account and in the recorder's.
 *
 * The hog takes a third of the CPU and at most 300 ms at once, so that neither the limit on
 * real-time tasks (950 ms a second) nor the server that runs fair tasks in their stead (Linux
 * 6.12) steps in.
 */
#include <sched.h>
#include <stdatomic.h>

#include "truth_sched.h"

struct span {
	uint64_t min_ns, max_ns, sum_ns, count;
};

struct hog {
	int cpu;
	uint64_t run_ns;
	unsigned int count;
	int start[2]; /* both threads park on it */
	int ended[2]; /* a byte from each as it ends */
	pid_t waiter_tid, hog_tid;
	struct span gaps, runs;
	long preempted;
	atomic_bool stop;
	atomic_int ready; /* threads that have set their tid */
};

static void span_add(struct span *span, uint64_t ns)
{
	span->min_ns = !span->count || ns < span->min_ns ? ns : span->min_ns;
	span->max_ns = ns > span->max_ns ? ns : span->max_ns;
	span->sum_ns += ns;
	span->count++;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		truth_die(TRUTH_USAGE, "cannot run on CPU %d: %s", cpu, strerror(errno));
}

static void thread_start(struct hog *hog, pid_t *tid)
{
	pin(hog->cpu);
	*tid = syscall(SYS_gettid);
	atomic_fetch_add(&hog->ready, 1);
	truth_park_start(hog->start[0]);
}

static _Noreturn void thread_end(struct hog *hog)
{
	if (write(hog->ended[1], "", 1) != 1)
		truth_die(TRUTH_FAILED, "cannot tell that a thread ended");
	truth_park_end();
}

/*
 * As far as we may. By default sessions are scheduled against each other (autogroup), and weights
 * against others of the session: so it takes one of our own, not to be had by the leader of a
 * process group.
 */
static void outweigh_others(void)
{
	int fd = setsid() < 0 ? -1 : open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);

	setpriority(PRIO_PROCESS, 0, -20); /* of this thread */
	if (fd >= 0 && write(fd, "-20", 3) != 3)
		fprintf(stderr, "hog: its session keeps its weight\n");
	close(fd);
}

static void *wait_for_cpu(void *arg)
{
	struct hog *hog = arg;
	uint64_t last, now;

	outweigh_others();
	thread_start(hog, &hog->waiter_tid);
	last = truth_now();
	while (!atomic_load_explicit(&hog->stop, memory_order_relaxed)) {
		now = truth_now();
		if (now - last > hog->run_ns / 2)
			span_add(&hog->gaps, now - last);
		last = now;
	}
	thread_end(hog);
}

static void run_once(struct hog *hog)
{
	uint64_t start = truth_now(), now;

	do
		now = truth_now();
	while (now - start < hog->run_ns);
	span_add(&hog->runs, now - start);
}

static long involuntary_switches(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nivcsw;
}

static void *hog_cpu(void *arg)
{
	struct sched_param param = { .sched_priority = 50 };
	struct hog *hog = arg;
	long before;

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		truth_die(TRUTH_CANNOT, "no SCHED_FIFO: %s", strerror(errno));
	thread_start(hog, &hog->hog_tid);
	before = involuntary_switches();
	for (unsigned int i = 0; i < hog->count; i++) {
		truth_sleep(2 * hog->run_ns);
		run_once(hog);
	}
	hog->preempted = involuntary_switches() - before;
	/* Lets the waiter's last wait end before it is told to stop. */
	truth_sleep(2 * hog->run_ns);
	atomic_store(&hog->stop, true);
	thread_end(hog);
}

static void print_span(const char *name, const struct span *span)
{
	printf("%ss=%llu %s_min_ns=%llu %s_max_ns=%llu %s_sum_ns=%llu\n", name,
	       (unsigned long long)span->count, name, (unsigned long long)span->min_ns, name,
	       (unsigned long long)span->max_ns, name, (unsigned long long)span->sum_ns);
}

static void print_sched(const char *prefix, struct truth_sched before, struct truth_sched after)
{
	printf("%srun_delay_ns=%llu %spcount=%llu %srun_delay_life_ns=%llu %spcount_life=%llu\n",
	       prefix, (unsigned long long)(after.run_delay_ns - before.run_delay_ns), prefix,
	       (unsigned long long)(after.pcount - before.pcount), prefix,
	       (unsigned long long)after.run_delay_ns, prefix, (unsigned long long)after.pcount);
}

/* The main thread's polling would be one more task on the CPU. */
static void leave_cpu(int cpu)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	CPU_CLR(cpu, &set);
	if (CPU_COUNT(&set))
		sched_setaffinity(0, sizeof(set), &set);
}

static void start_threads(struct hog *hog)
{
	if (pipe2(hog->start, O_CLOEXEC) || pipe2(hog->ended, O_CLOEXEC))
		truth_die(TRUTH_FAILED, "cannot make a pipe: %s", strerror(errno));
	truth_thread(wait_for_cpu, hog);
	truth_thread(hog_cpu, hog);
	leave_cpu(hog->cpu);
	while (atomic_load(&hog->ready) < 2)
		truth_sleep(NSEC_PER_MSEC);
}

static void run(struct hog *hog)
{
	char byte;

	close(hog->start[1]);
	for (int i = 0; i < 2; i++)
		if (read(hog->ended[0], &byte, 1) != 1)
			truth_die(TRUTH_FAILED, "a thread was lost");
}

static void report(const struct hog *hog, const struct truth_sched before[2])
{
	pid_t pid = getpid();

	printf("cpu=%d\ncount=%u\nrun_ns=%llu\n", hog->cpu, hog->count,
	       (unsigned long long)hog->run_ns);
	print_sched("", before[0], truth_parked(pid, hog->waiter_tid, TRUTH_PARK_END));
	print_sched("hog_", before[1], truth_parked(pid, hog->hog_tid, TRUTH_PARK_END));
	print_span("run", &hog->runs);
	print_span("gap", &hog->gaps);
	printf("hog_preempted=%ld\n", hog->preempted);
	if (hog->gaps.count < hog->count)
		truth_die(TRUTH_FAILED, "the waiter was interrupted %llu times, not %u",
			  (unsigned long long)hog->gaps.count, hog->count);
}

int main(int argc, char **argv)
{
	struct truth_window window = {};
	struct truth_sched before[2];
	struct hog hog = {};

	argv = truth_arguments(&window, argc, argv, 3, "hog [-w] CPU RUN_MS COUNT");
	hog.cpu = truth_number(argv[0], "CPU", 0, CPU_SETSIZE - 1);
	hog.run_ns = truth_number(argv[1], "RUN_MS", 1, 300) * NSEC_PER_MSEC;
	hog.count = truth_number(argv[2], "COUNT", 1, 100000);
	truth_begin();
	start_threads(&hog);
	before[0] = truth_parked(getpid(), hog.waiter_tid, TRUTH_PARK_START);
	before[1] = truth_parked(getpid(), hog.hog_tid, TRUTH_PARK_START);
	printf("waiter_tid=%d hog_tid=%d\n", hog.waiter_tid, hog.hog_tid);
	truth_open(&window);
	run(&hog);
	report(&hog, before);
	truth_close(&window);
	return 0;
}
