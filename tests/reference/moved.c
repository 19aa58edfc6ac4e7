// SPDX-License-Identifier: BSD-2-Clause
/*
 * moved [-w] TASKS WAKE: tasks that sleep, and were moved to another CPU when they had just gone to
 * sleep.
 *
 * Since 6.12 a task that has had more than its share of a CPU stays on the run queue for a while
 * when it goes to sleep, and if it is moved just then, the kernel stamps it as if it waited for a
 * CPU; the stamp stays until it next gets one. So each task here, of low priority and on a CPU with
 * a hog, works for some milliseconds and goes to sleep, and its parent, which looks on from another
 * CPU, has it move at once. In the window of -w all of them are asleep: none waits for a CPU. If
 * WAKE is 1, each is woken up once; slept_ns= is what each had slept by then, at least.
 *
 * If WAKE is 2, the tasks are made and moved within the window, and woken up twice: at first all at
 * once, then one after the other, each when its CPU has not switched for more than a millisecond.
 * Then there is a line for each: child=, its PID, and run_delay_ns= and pcount=, what the scheduler
 * has counted since fork.
 */
#include "reference.h"

#define WORK_NS (6 * NSEC_PER_MSEC)
#define NICE 15
#define MOST_TASKS 1000
#define BUSY_NS (3 * NSEC_PER_MSEC / 2)

/* What pause() calls. */
#ifdef SYS_pause
#define PARKED SYS_pause
#else
#define PARKED SYS_ppoll
#endif

static int there, here; /* the CPU of the tasks, and that of their parent */
static int woken[2]; /* a byte from each task that woke up */

static pid_t start(void (*work)(void))
{
	pid_t pid = reference_fork();

	if (pid)
		return pid;
	load__pin(there);
	work();
	_exit(0);
}

static void spin(void)
{
	for (;;)
		;
}

static void wake_up(int signal)
{
	if (write(woken[1], "", 1) != 1)
		_exit(1);
}

static void work_and_sleep(void)
{
	signal(SIGUSR1, wake_up);
	setpriority(PRIO_PROCESS, 0, NICE);
	while (reference_clock_ns(CLOCK_PROCESS_CPUTIME_ID) < WORK_NS)
		;
	for (;;)
		pause();
}

static void move_once_asleep(pid_t pid)
{
	char path[64], text[128] = "";
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	do
		reference_must(pread(fd, text, sizeof(text) - 1, 0) > 0, "cannot read %s", path);
	while (!strstr(text, ") S"));
	close(fd);
	reference_bind(pid, here);
}

static void await_wakeup(void)
{
	char byte;

	reference_must(read(woken[0], &byte, 1) == 1, "a task did not wake up");
}

static void wake_all(const pid_t *pids, size_t tasks, uint64_t moved_ns)
{
	printf("slept_ns=%lu\n", clock__now_ns() - moved_ns);
	for (size_t i = 0; i < tasks; i++)
		kill(pids[i], SIGUSR1);
	for (size_t i = 0; i < tasks; i++)
		await_wakeup();
}

static void wake_each(const pid_t *pids, size_t tasks)
{
	struct reference_sched sched;

	for (size_t i = 0; i < tasks; i++) {
		kill(pids[i], SIGUSR1);
		load__spin(BUSY_NS);
		await_wakeup();
	}
	for (size_t i = 0; i < tasks; i++) {
		sched = reference_parked(pids[i], pids[i], PARKED);
		printf("started=%d\nchild=%d run_delay_ns=%lu pcount=%lu\n", pids[i], pids[i],
		       sched.run_delay_ns, sched.pcount);
	}
}

/* Returns when all are asleep on another CPU than before. */
static uint64_t make_and_move(pid_t *pids, size_t tasks)
{
	pid_t hog = start(spin);
	uint64_t moved_ns;

	for (size_t i = 0; i < tasks; i++) {
		pids[i] = start(work_and_sleep);
		move_once_asleep(pids[i]);
	}
	moved_ns = clock__now_ns();
	reference_end(hog);
	return moved_ns;
}

int main(int argc, char **argv)
{
	uint64_t wake, moved_ns = 0;
	pid_t pids[MOST_TASKS];
	size_t tasks;

	argv = reference_arguments(argc, argv, 2, "moved [-w] TASKS WAKE");
	tasks = reference_number(argv[0], "TASKS", 1, MOST_TASKS);
	wake = reference_number(argv[1], "WAKE", 0, 2);
	reference_pipe(woken);
	reference_need_cpus(2);
	there = reference_cpu(0);
	here = reference_cpu(1);
	load__pin(here);
	if (wake < 2)
		moved_ns = make_and_move(pids, tasks);
	reference_open();
	if (wake == 2)
		moved_ns = make_and_move(pids, tasks);
	if (wake)
		wake_all(pids, tasks, moved_ns);
	if (wake == 2)
		wake_each(pids, tasks);
	printf("tasks=%zu\n", tasks);
	reference_close();
	for (size_t i = 0; i < tasks; i++)
		reference_end(pids[i]);
	return 0;
}
