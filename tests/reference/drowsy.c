// SPDX-License-Identifier: BSD-2-Clause
/*
 * drowsy [-w] CPU RUN_US COUNT: waits for a CPU of a task that loses it on its way to sleep.
 *
 * Two threads are pinned on CPU. The drowsy one (SCHED_OTHER) asks for a wait for many futexes, of
 * which the last one does not have the value that it says. So the kernel sets the state "asleep",
 * adds the thread to one futex after the other, finds that out, and takes all of it back: the
 * thread never sleeps, but it is mostly about to. The other one (SCHED_FIFO) sleeps 3 * RUN_US,
 * then runs for RUN_US, and wakes up the drowsy one, COUNT times. Where the kernel preempts system
 * calls, the drowsy one loses its CPU on its way to sleep, and the kernel's own account does not
 * count that wait. The wakeup does not end it.
 *
 * Reference of the thread drowsy_tid, from ready=1 to done=1, in which it is parked: waits=, how
 * often it got the CPU, by its own account of switches; counted=, how many of these schedstat
 * counts; waited_ns=, the time in which it had no CPU, by its own clocks; run_sum_ns=, how long the
 * other one ran, by its clock.
 */
#include <linux/futex.h>

#include "reference.h"

#define FUTEXES 128

static int cpu;
static unsigned int count;
static uint64_t run_ns;
static uint32_t word; /* always 0 */
static int start[2], ended[2];
static atomic_int tids[2];
static atomic_bool stop;
static long switches;
static uint64_t waited_ns;
static struct reference_span runs;

static long switches_now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static uint64_t off_cpu_now(void)
{
	uint64_t used_ns = reference_clock_ns(CLOCK_THREAD_CPUTIME_ID);

	return clock__now_ns() - used_ns;
}

static void begin(int thread)
{
	load__pin(cpu);
	atomic_store(&tids[thread], gettid());
	reference_sched__park_start(start[0]);
}

static _Noreturn void end(void)
{
	reference_must(write(ended[1], "", 1) == 1, "cannot write to a pipe");
	reference_sched__park_end();
}

static void *nearly_sleep(void *unused)
{
	struct futex_waitv waits[FUTEXES] = {};
	long before;

	for (int i = 0; i < FUTEXES; i++) {
		waits[i].uaddr = (uintptr_t)&word;
		waits[i].val = i == FUTEXES - 1;
		waits[i].flags = FUTEX_32 | FUTEX_PRIVATE_FLAG;
	}
	reference_sched__outweigh();
	begin(0);
	before = switches_now();
	waited_ns = off_cpu_now();
	while (!atomic_load_explicit(&stop, memory_order_relaxed))
		reference_need(syscall(SYS_futex_waitv, waits, FUTEXES, 0, NULL, 0) >= 0 ||
				       errno == EAGAIN,
			       "no wait for several futexes: %m");
	waited_ns = off_cpu_now() - waited_ns;
	switches = switches_now() - before;
	end();
}

static void *take_cpu(void *unused)
{
	reference_be_realtime(REFERENCE_HOG_PRIORITY);
	begin(1);
	for (unsigned int i = 0; i < count; i++) {
		load__sleep(3 * run_ns);
		reference__add(&runs, load__spin(run_ns));
		syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1);
	}
	load__sleep(3 * run_ns);
	atomic_store(&stop, true);
	end();
}

static uint64_t parked_pcount(long where)
{
	reference_parked(getpid(), reference_await(&tids[1]), where);
	return reference_parked(getpid(), reference_await(&tids[0]), where).pcount;
}

int main(int argc, char **argv)
{
	uint64_t before;
	char byte;

	argv = reference_arguments(argc, argv, 3, "drowsy [-w] CPU RUN_US COUNT");
	cpu = reference_number(argv[0], "CPU", 0, CPU_SETSIZE - 1);
	run_ns = reference_number(argv[1], "RUN_US", 1, 300000) * 1000;
	count = reference_number(argv[2], "COUNT", 1, 100000);
	reference_pipe(start);
	reference_pipe(ended);
	reference_thread(nearly_sleep, NULL);
	reference_thread(take_cpu, NULL);
	before = parked_pcount(REFERENCE_PARK_START);
	printf("drowsy_tid=%d\n", atomic_load(&tids[0]));
	reference_open();
	close(start[1]);
	for (int i = 0; i < 2; i++)
		reference_must(read(ended[0], &byte, 1) == 1, "a thread ended early");
	printf("counted=%lu ", parked_pcount(REFERENCE_PARK_END) - before);
	printf("waits=%ld waited_ns=%lu run_sum_ns=%lu\n", switches + 1, waited_ns, runs.sum_ns);
	reference_close();
	return 0;
}
