// SPDX-License-Identifier: BSD-2-Clause
/*
 * hog [-w] CPU RUN_MS COUNT: run-queue waits of a known length.
 *
 * A waiter and a hog, see struct reference_hog in selftest/reference/sched.h. The program's main
 * thread sleeps meanwhile, on another CPU if there is one.
 *
 * Reference of the thread waiter_tid: run_delay_ns and pcount, what the kernel added between both
 * waits of -w, in which the thread is parked (sched.h); so the sum and the number of its
 * waits in a window that contains the go and done=1, exactly. run_delay_life_ns and pcount_life
 * count since the thread was made, for a window that saw that too. Two further
 * witnesses: run_*_ns, how long the hog ran by its clock; gap_*_ns, the COUNT interruptions of
 * more than RUN_MS / 2 that the waiter itself saw, each a wait and two switches. hog_* is the same
 * account of the hog thread; joined and hog_preempted are as in sched.h.
 */

#include "reference.h"

static void print_sched(const char *prefix, const struct reference_hog *hog, int task)
{
	const struct reference_sched *life = &hog->after[task];
	struct reference_sched window = reference_sched__since(hog->before[task], *life);

	printf("%srun_delay_ns=%lu %spcount=%lu %srun_delay_life_ns=%lu %spcount_life=%lu\n",
	       prefix, window.run_delay_ns, prefix, window.pcount, prefix, life->run_delay_ns,
	       prefix, life->pcount);
}

static void report(const struct reference_hog *hog)
{
	printf("cpu=%d\ncount=%u\nrun_ns=%lu\n", hog->cpu, hog->count, hog->run_ns);
	print_sched("", hog, REFERENCE_WAITER);
	print_sched("hog_", hog, REFERENCE_HOG);
	printf("runs=%lu gaps=%lu\n", hog->runs.count, hog->gaps.count);
	reference_print_span("run", &hog->runs);
	reference_print_span("gap", &hog->gaps);
	printf("hog_preempted=%ld\njoined=%u\n", hog->hog_preempted, hog->joined);
}

int main(int argc, char **argv)
{
	struct reference_hog hog = {};
	int err;

	argv = reference_arguments(argc, argv, 3, "hog [-w] CPU RUN_MS COUNT");
	hog.cpu = reference_number(argv[0], "CPU", 0, CPU_SETSIZE - 1);
	hog.run_ns = reference_number(argv[1], "RUN_MS", 1, 300) * NSEC_PER_MSEC;
	hog.count = reference_number(argv[2], "COUNT", 1, 100000);
	err = reference_hog__prepare(&hog);
	if (err == -EINVAL)
		reference_die(REFERENCE_USAGE, "%s", hog.why);
	reference_check(err, hog.why);
	printf("waiter_tid=%d hog_tid=%d\n", hog.tids[REFERENCE_WAITER], hog.tids[REFERENCE_HOG]);
	reference_open();
	err = reference_hog__run(&hog);
	report(&hog);
	reference_check(err, hog.why);
	reference_must(hog.gaps.count + hog.joined >= hog.count,
		       "the waiter was interrupted %lu times, not %u", hog.gaps.count,
		       hog.count - hog.joined);
	reference_close();
	return 0;
}
