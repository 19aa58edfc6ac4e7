// SPDX-License-Identifier: BSD-2-Clause
/*
 * players [-w] INCIDENT MS DISK: a small service and what it suffers from, for so long.
 *
 * The process "shop" serves requests by two threads: each works for a while, then waits for the
 * next one. What else there is depends on the INCIDENT:
 *
 *   hog     three processes "batch-job" want all CPUs, and somebody raised their priority: else
 *           some schedulers let shop go first
 *   writer  a request writes a block of DISK, on which the process "backup" writes in bulk
 *   lock    a request needs a lock that the thread "reindex" of shop holds for 30 ms at a time
 *   quota   requests are long: whoever starts it limits the CPU time of its cgroup
 *   memory  a request needs fresh memory: whoever starts it limits memory.high of its cgroup
 */
#include "reference.h"

#define SHOP_THREADS 2
#define BATCH_JOBS 3
#define WRITERS 4
#define BLOCK 4096UL
#define BULK (256UL << 10)
#define HELD_NS (30 * NSEC_PER_MSEC)
#define FRESH_PAGES 512UL

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum { HOG, WRITER, LOCK, QUOTA, MEMORY } incident;
static int disk;

static char *aligned(size_t size)
{
	char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	reference_must(memory != MAP_FAILED, "mmap: %m");
	return memory;
}

static void write_disk(const char *data, size_t size, off_t at)
{
	reference_must(pwrite(disk, data, size, at) == (ssize_t)size, "cannot write: %m");
}

static void *serve(void *unused)
{
	char *block = aligned(BLOCK), *fresh;

	for (;;) {
		load__spin(incident == QUOTA ? 4 * NSEC_PER_MSEC : NSEC_PER_MSEC);
		if (incident == WRITER)
			write_disk(block, BLOCK, 0);
		if (incident == LOCK) {
			pthread_mutex_lock(&lock);
			load__spin(NSEC_PER_MSEC / 4);
			pthread_mutex_unlock(&lock);
		}
		if (incident == MEMORY) {
			fresh = reference_map(FRESH_PAGES);
			load__touch(fresh, FRESH_PAGES, false);
		}
		load__sleep(3 * NSEC_PER_MSEC);
	}
	return unused;
}

static void *reindex(void *unused)
{
	prctl(PR_SET_NAME, "reindex");
	for (;;) {
		pthread_mutex_lock(&lock);
		load__sleep(HELD_NS);
		pthread_mutex_unlock(&lock);
		load__sleep(HELD_NS / 3);
	}
	return unused;
}

static void *hog(void *unused)
{
	reference_must(!setpriority(PRIO_PROCESS, 0, -10), "setpriority: %m");
	for (;;)
		load__spin(NSEC_PER_SEC);
	return unused;
}

static void *back_up(void *unused)
{
	char *bulk = aligned(BULK);

	for (off_t at = BULK;; at = at % (32 * BULK) + BULK)
		write_disk(bulk, BULK, at);
	return unused;
}

static pid_t start(const char *name, void *(*run)(void *), int threads)
{
	pid_t pid = reference_fork();

	if (pid)
		return pid;
	prctl(PR_SET_NAME, name);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 1; i < threads; i++)
		reference_thread(run, NULL);
	if (run == serve && incident == LOCK)
		reference_thread(reindex, NULL);
	run(NULL);
	_exit(0);
}

static size_t start_all(pid_t pids[BATCH_JOBS + 1])
{
	size_t nr = 0;

	if (incident == WRITER)
		pids[nr++] = start("backup", back_up, WRITERS);
	for (int i = 0; incident == HOG && i < BATCH_JOBS; i++)
		pids[nr++] = start("batch-job", hog, 1);
	pids[nr++] = start("shop", serve, SHOP_THREADS);
	return nr;
}

int main(int argc, char **argv)
{
	static const char *const incidents[] = { "hog", "writer", "lock", "quota", "memory" };
	pid_t pids[BATCH_JOBS + 1];
	uint64_t ms;
	size_t nr;

	argv = reference_arguments(argc, argv, 3, "players INCIDENT MS DISK");
	while (incident < MEMORY && strcmp(argv[0], incidents[incident]) != 0)
		incident++;
	reference_usage(!strcmp(argv[0], incidents[incident]),
			"players hog|writer|lock|quota|memory MS DISK");
	ms = reference_number(argv[1], "MS", 1, 3600000);
	if (incident == WRITER)
		disk = open(argv[2], O_RDWR | O_DIRECT | O_CLOEXEC);
	reference_must(disk >= 0, "cannot open %s: %m", argv[2]);
	reference_pause("ready");
	nr = start_all(pids);
	load__sleep(ms * NSEC_PER_MSEC);
	while (nr)
		reference_end(pids[--nr]);
	reference_pause("done");
	return 0;
}
