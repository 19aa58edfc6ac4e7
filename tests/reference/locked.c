// SPDX-License-Identifier: BSD-2-Clause
/*
 * locked [-w] [-r] [-l LONG_MS] ROUNDS PAGES: page faults that wait for mmap_lock.
 *
 * The thread "holder" forks ROUNDS times while the main thread touches fresh pages, each for the
 * first time: fork() copies PAGES pages of the process, and holds mmap_lock for writing meanwhile.
 * Another thread, "innocent", only sleeps and wakes up. Prints by the clock of the main thread how
 * long the touches of LONG_MS or more (1) took, long_count and long_sum_ns, and by the holder's how
 * long it forked, hold_sum_ns and hold_max_ns. With -r the holder populates a mapping, which holds
 * the lock for reading, and nobody waits for it.
 */

#include "reference.h"

#define FRESH (1UL << 14) /* pages to touch */
#define PAUSE_NS 500000 /* between two of them */

static char *fresh;
static size_t touched;
static atomic_bool begun, over;

struct holder {
	size_t rounds, pages;
	bool reads;
	uint64_t sum_ns, max_ns;
	pid_t tid;
};

/* Each maps the zero page, so they take no memory. fork() copies only what was written to once. */
static void map_pages(size_t pages)
{
	size_t size = pages * load__page();
	char *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	reference_must(map != MAP_FAILED, "no address space: %m");
	madvise(map, size, MADV_NOHUGEPAGE);
	*map = 1;
	reference_need(!madvise(map, size, MADV_POPULATE_READ), "cannot populate for reading: %m");
}

static void copy_process(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	reference_must(child > 0 && waitpid(child, NULL, 0) == child, "cannot fork: %m");
}

static void populate(size_t pages)
{
	size_t size = pages * load__page();
	char *map = mmap(NULL, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	reference_must(map != MAP_FAILED && !munmap(map, size), "cannot populate: %m");
}

static void *hold(void *arg)
{
	struct holder *holder = arg;
	uint64_t start, ns;

	prctl(PR_SET_NAME, "holder");
	holder->tid = gettid();
	while (!begun)
		sched_yield();
	for (size_t i = 0; i < holder->rounds; i++) {
		start = clock__now_ns();
		if (holder->reads)
			populate(holder->pages);
		else
			copy_process();
		ns = clock__now_ns() - start;
		holder->sum_ns += ns;
		holder->max_ns = ns > holder->max_ns ? ns : holder->max_ns;
	}
	over = true;
	return NULL;
}

static void *idle(void *arg)
{
	prctl(PR_SET_NAME, "innocent");
	while (!over)
		load__sleep(PAUSE_NS);
	return arg;
}

static void touch(uint64_t long_ns)
{
	uint64_t start, ns, count = 0, sum_ns = 0;

	while (!over && touched < FRESH) {
		start = clock__now_ns();
		fresh[touched++ * load__page()] = 1;
		ns = clock__now_ns() - start;
		if (ns >= long_ns) {
			count++;
			sum_ns += ns;
		}
		for (start += ns; clock__now_ns() - start < PAUSE_NS;)
			;
	}
	printf("touched=%zu\nlong_count=%lu\nlong_sum_ns=%lu\n", touched, count, sum_ns);
}

int main(int argc, char **argv)
{
	struct holder holder = { 0 };
	uint64_t long_ns = NSEC_PER_MSEC;
	pthread_t threads[2];
	int option;

	while ((option = reference_option(argc, argv, "rl:")))
		if (option == 'r')
			holder.reads = true;
		else
			long_ns = reference_time(optarg, "LONG_MS", NSEC_PER_MSEC);
	argv = reference_arguments(argc, argv, 2, "locked [-w] [-r] [-l LONG_MS] ROUNDS PAGES");
	holder.rounds = reference_number(argv[0], "ROUNDS", 1, 1 << 20);
	holder.pages = reference_number(argv[1], "PAGES", 1, 1 << 20);
	reference_must(!pthread_create(&threads[0], NULL, hold, &holder) &&
			       !pthread_create(&threads[1], NULL, idle, NULL),
		       "cannot start threads");
	reference_open();
	if (!holder.reads)
		map_pages(holder.pages);
	fresh = reference_map(FRESH);
	madvise(fresh, FRESH * load__page(), MADV_DONTFORK);
	begun = true;
	touch(long_ns);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("holder_tid=%d\nhold_sum_ns=%lu\nhold_max_ns=%lu\n", holder.tid, holder.sum_ns,
	       holder.max_ns);
	reference_close();
	return 0;
}
