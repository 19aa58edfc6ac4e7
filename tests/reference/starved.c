// SPDX-License-Identifier: BSD-2-Clause
/*
 * starved [-w] PAGES RUN_MS: page faults of tasks that wait for a CPU.
 *
 * The main thread writes once to each of PAGES pages of a userfaultfd(2), pinned on the CPU of
 * another thread, which is real-time (SCHED_FIFO): that one fills the page, which makes the main
 * thread runnable, and then runs for RUN_MS. So each fault is a short sleep, then a wait for a CPU
 * of RUN_MS.
 *
 * Reference: run_ns, the least sum of these waits, and run_delay_ns, what the kernel adds for the
 * main thread around the faults. A kernel that preempts the main thread on its way to sleep does
 * not count these waits. Few and short waits are between the faults.
 */

#include "reference.h"

static struct reference_uffd uffd;
static int cpu;

static void *fill_and_run(void *arg)
{
	load__pin(cpu);
	reference_be_realtime(1);
	for (size_t i = 0; i < uffd.pages; i++) {
		reference_check(reference_uffd__fill(&uffd, reference_await_fault(&uffd)),
				uffd.why);
		load__spin(uffd.delay_ns);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	char **args = reference_arguments(argc, argv, 2, "starved [-w] PAGES RUN_MS");
	struct reference_sched before, after;
	pthread_t thread;

	uffd.pages = reference_number(args[0], "PAGES", 1, 1 << 20);
	uffd.delay_ns = reference_time(args[1], "RUN_MS", NSEC_PER_MSEC);
	cpu = load__cpu_from_end(0);
	load__pin(cpu);
	reference_check(reference_uffd__open(&uffd), uffd.why);
	thread = reference_thread(fill_and_run, NULL);
	reference_open();
	reference_check(reference_uffd__map(&uffd), uffd.why);
	reference_sched__read(getpid(), getpid(), &before);
	load__touch(uffd.map, uffd.pages, false);
	reference_sched__read(getpid(), getpid(), &after);
	pthread_join(thread, NULL);
	printf("pages=%zu\nrun_ns=%lu\nrun_delay_ns=%lu\n", uffd.pages,
	       (uint64_t)uffd.pages * uffd.delay_ns,
	       reference_sched__since(before, after).run_delay_ns);
	reference_close();
	return 0;
}
