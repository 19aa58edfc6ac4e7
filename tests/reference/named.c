// SPDX-License-Identifier: BSD-2-Clause
/*
 * named CHANGE FILE: a process whose leader does nothing, with a thread that waits for a CPU,
 * faults and reads FILE past the page cache. The leader is called nm-leader, the thread nm-pool-7.
 *
 * Prints pid= and tid= (of the thread), then ready=1, waits for a line on stdin, makes the CHANGE,
 * prints done=1 and goes on until the end of stdin:
 *
 *   none      nothing
 *   leader    the leader takes the name nm-second
 *   thread    the thread takes the name nm-pool-8
 *   exec      the thread executes this program as "exe", which goes on as the only thread
 *   zombie    the leader has exited, before ready=1
 *   ring      the thread makes the kernel's io_uring workers read instead of itself
 *
 * Exit codes as in reference.h.
 */
#include "ring.h"

#define BLOCK 4096
#define PAGES 8

static const char *change;
static int file;
static _Alignas(BLOCK) char block[BLOCK];
static char *pages;
static atomic_int tid, rename_now, exec_now;

static void name_task(const char *name)
{
	reference_must(!prctl(PR_SET_NAME, name), "cannot take the name %s: %m", name);
}

/* One of each: a wait for the CPU, page faults, a read. */
static void wait_once(struct ring *ring)
{
	load__sleep(NSEC_PER_MSEC);
	for (size_t i = 0; i < PAGES; i++)
		pages[i * BLOCK] = 1;
	madvise(pages, PAGES * BLOCK, MADV_DONTNEED);
	if (ring->fd > 0)
		ring_read(ring, file, block, BLOCK, 0);
	else if (pread(file, block, BLOCK, 0) < 0)
		reference_die(REFERENCE_FAILED, "cannot read: %m");
}

static void *work(void *program)
{
	struct ring ring = { 0 };
	char *const arguments[] = { program, "after", program, NULL };

	name_task("nm-pool-7");
	if (!strcmp(change, "ring"))
		ring_open(&ring);
	atomic_store(&tid, gettid());
	for (;;) {
		wait_once(&ring);
		if (atomic_exchange(&rename_now, 0))
			name_task("nm-pool-8");
		if (atomic_load(&exec_now))
			execv("/proc/self/exe", arguments);
	}
	return NULL;
}

/* Runs after the exec: the only thread works until the reader has gone. */
static _Noreturn void go_on(void)
{
	struct ring ring = { 0 };

	fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
	printf("done=1\n");
	fflush(stdout);
	do {
		wait_once(&ring);
	} while (read(STDIN_FILENO, block, 1));
	exit(0);
}

static void *wait_for_line(void *unused)
{
	printf("ready=1\n");
	fflush(stdout);
	reference_read_line();
	if (!strcmp(change, "leader"))
		name_task("nm-second");
	atomic_store(&rename_now, !strcmp(change, "thread"));
	atomic_store(&exec_now, !strcmp(change, "exec"));
	if (strcmp(change, "exec"))
		printf("done=1\n");
	fflush(stdout);
	while (read(STDIN_FILENO, block, 1) > 0)
		;
	exit(0);
}

int main(int argc, char **argv)
{
	reference_usage(argc == 3, "named CHANGE FILE");
	change = argv[1];
	pages = reference_map(PAGES);
	file = open(argv[2], O_RDONLY | O_DIRECT);
	if (!strcmp(change, "after"))
		go_on();
	reference_must(file >= 0, "cannot open %s: %m", argv[2]);
	name_task("nm-leader");
	reference_thread(work, argv[2]);
	printf("pid=%d\ntid=%d\n", getpid(), reference_await(&tid));
	if (strcmp(change, "zombie"))
		wait_for_line(NULL);
	reference_thread(wait_for_line, NULL);
	pthread_exit(NULL);
}
