// SPDX-License-Identifier: BSD-2-Clause
/*
 * incident [-w] FILE DISK COMMITS: a database and a backup. Each of four threads "commit" of the
 * process "db" commits so many times: it takes a lock and writes a block of FILE while it has it.
 * The process "backup" reads DISK meanwhile, on which the file is, by four threads. So the commits
 * wait for a futex, whose holder waits for the disk, which serves the backup.
 *
 * Before done=1: db=PID backup=PID commits=NUMBER futex_ns=LEAST: how long the commits waited for
 * the lock by their clocks.
 */
#include "reference.h"

#define THREADS 4
#define BLOCK 4096UL
#define READ_SIZE (64UL << 10)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_ulong waited_ns;
static uint64_t commits;
static int file, disk;

struct shared {
	atomic_int go;
	atomic_ulong waited_ns;
};
static struct shared *shared;

static void *aligned(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	reference_must(memory != MAP_FAILED, "mmap: %m");
	return memory;
}

static void *commit(void *unused)
{
	void *block = aligned(BLOCK);

	prctl(PR_SET_NAME, "commit");
	reference_await(&shared->go);
	for (uint64_t i = 0; i < commits; i++) {
		uint64_t from_ns = clock__now_ns();

		pthread_mutex_lock(&lock);
		atomic_fetch_add(&waited_ns, clock__now_ns() - from_ns);
		reference_must(pwrite(file, block, BLOCK, 0) == (ssize_t)BLOCK, "cannot write: %m");
		pthread_mutex_unlock(&lock);
		load__sleep(NSEC_PER_MSEC);
	}
	return unused;
}

static void *back_up(void *unused)
{
	char *block = aligned(READ_SIZE);
	off_t at = 0;

	reference_await(&shared->go);
	for (;;) {
		if (pread(disk, block, READ_SIZE, at) != (ssize_t)READ_SIZE)
			at = 0;
		else
			at += READ_SIZE;
	}
	return unused;
}

static void run_all(void *(*run)(void *))
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		threads[i] = reference_thread(run, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static pid_t start(const char *name, void *(*run)(void *))
{
	pid_t pid = reference_fork();

	if (pid)
		return pid;
	prctl(PR_SET_NAME, name);
	run_all(run);
	atomic_store(&shared->waited_ns, atomic_load(&waited_ns));
	_exit(0);
}

int main(int argc, char **argv)
{
	pid_t db, backup;

	argv = reference_arguments(argc, argv, 3, "incident [-w] FILE DISK COMMITS");
	shared = reference_share(sizeof(*shared));
	file = open(argv[0], O_RDWR | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
	reference_must(file >= 0, "cannot open %s: %m", argv[0]);
	disk = open(argv[1], O_RDONLY | O_DIRECT | O_CLOEXEC);
	reference_must(disk >= 0, "cannot open %s: %m", argv[1]);
	commits = reference_number(argv[2], "COMMITS", 1, 100000);
	fflush(stdout);
	db = start("db", commit);
	backup = start("backup", back_up);
	reference_pause("ready");
	atomic_store(&shared->go, 1);
	reference_must(waitpid(db, NULL, 0) == db, "waitpid: %m");
	reference_end(backup);
	printf("db=%d backup=%d commits=%lu futex_ns=%lu\n", db, backup, THREADS * commits,
	       atomic_load(&shared->waited_ns));
	reference_pause("done");
	return 0;
}
