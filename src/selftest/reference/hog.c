// SPDX-License-Identifier: BSD-2-Clause
#include "sched.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define GRACE_NS (10 * NSEC_PER_SEC) /* for all stalls of the machine together */

/* Stores the error of a thread for the main thread. The first error stays. */
static void report(struct reference_hog *hog, int err, const char *what)
{
	int none = 0;

	if (atomic_compare_exchange_strong(&hog->err, &none, err))
		reference__fail(hog->why, err, "%s: %s", what, strerror(errno));
}

static void thread_start(struct reference_hog *hog, int which, int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (load__pin(hog->cpu))
		report(hog, -EINVAL, "cannot run on the CPU");
	if (priority && sched_setscheduler(0, SCHED_FIFO, &param))
		report(hog, -EOPNOTSUPP, "cannot use SCHED_FIFO");
	hog->tids[which] = syscall(SYS_gettid);
	atomic_fetch_add(&hog->ready, 1);
	reference_sched__park_start(hog->start[0]);
}

static _Noreturn void thread_end(struct reference_hog *hog)
{
	if (write(hog->ended[1], "", 1) != 1)
		report(hog, -EIO, "cannot report the end of a thread");
	reference_sched__park_end();
}

static void *wait_for_cpu(void *arg)
{
	struct reference_hog *hog = arg;
	uint64_t last, now, end;

	if (!hog->waiter_priority)
		reference_sched__outweigh();
	thread_start(hog, REFERENCE_WAITER, hog->waiter_priority);
	last = clock__now_ns();
	/* No task of lower priority could end it, so it checks the time itself. */
	end = last + (hog->count + 1) * 3 * hog->run_ns + GRACE_NS;
	while (last < end && !atomic_load_explicit(&hog->stop, memory_order_relaxed)) {
		now = clock__now_ns();
		if (now - last > hog->run_ns / 2)
			reference__add(&hog->gaps, now - last);
		last = now;
		atomic_fetch_add_explicit(&hog->loops, 1, memory_order_relaxed);
	}
	thread_end(hog);
}

static struct rusage usage_now(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage;
}

static void *hog_cpu(void *arg)
{
	struct reference_hog *hog = arg;
	struct rusage before, after;
	unsigned long loops;

	thread_start(hog, REFERENCE_HOG, REFERENCE_HOG_PRIORITY);
	before = usage_now();
	for (unsigned int i = 0; i < hog->count; i++) {
		loops = atomic_load(&hog->loops);
		load__sleep(2 * hog->run_ns);
		hog->joined += atomic_load(&hog->loops) == loops;
		reference__add(&hog->runs, load__spin(hog->run_ns));
	}
	after = usage_now();
	hog->hog_preempted = after.ru_nivcsw - before.ru_nivcsw;
	/* The waiter's last wait must end before it is stopped. */
	load__sleep(2 * hog->run_ns);
	atomic_store(&hog->stop, true);
	thread_end(hog);
}

/* The main thread must not run on that CPU: it polls. */
static void leave_cpu(int cpu)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	CPU_CLR(cpu, &set);
	if (CPU_COUNT(&set))
		sched_setaffinity(0, sizeof(set), &set);
}

static int start_threads(struct reference_hog *hog)
{
	pthread_t thread;
	int err;

	if (pipe2(hog->start, O_CLOEXEC) || pipe2(hog->ended, O_CLOEXEC))
		return reference__fail(hog->why, -errno, "cannot create a pipe: %s",
				       strerror(errno));
	err = load__thread(&thread, wait_for_cpu, hog);
	if (!err)
		err = load__thread(&thread, hog_cpu, hog);
	if (err)
		return reference__fail(hog->why, err, "cannot create a thread");
	leave_cpu(hog->cpu);
	while (atomic_load(&hog->ready) < REFERENCE_HOG_TASKS)
		load__sleep(NSEC_PER_MSEC);
	return atomic_load(&hog->err);
}

static int read_parked(struct reference_hog *hog, long where, struct reference_sched *sched)
{
	int err = 0;

	for (int i = 0; !err && i < REFERENCE_HOG_TASKS; i++)
		err = reference_sched__parked(getpid(), hog->tids[i], where, &sched[i], hog->why);
	return err;
}

int reference_hog__prepare(struct reference_hog *hog)
{
	int err = start_threads(hog);

	return err ? err : read_parked(hog, REFERENCE_PARK_START, hog->before);
}

int reference_hog__run(struct reference_hog *hog)
{
	char byte;
	int err;

	close(hog->start[1]);
	for (int i = 0; i < REFERENCE_HOG_TASKS; i++)
		if (read(hog->ended[0], &byte, 1) != 1)
			return reference__fail(hog->why, -EIO, "a thread ended early");
	err = read_parked(hog, REFERENCE_PARK_END, hog->after);
	return err ? err : atomic_load(&hog->err);
}
