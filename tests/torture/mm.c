// SPDX-License-Identifier: BSD-2-Clause
/*
 * mm SEED MS DIR [CGROUP]: processes that do to their memory whatever the seed says, for so long,
 * with files in DIR and, if given, within CGROUP and its memory.high. Prints a line for every
 * process: "PID FAULTS GUP FAILED WAIT_NS EXEC", and in the end "major N": how many of all faults
 * in CGROUP the kernel counts as major. This process locks its own memory: it has none. FAULTS are
 * the kernel's count (wait4), GUP those of them that no exception caused, FAILED those that ended
 * in SIGBUS and that the kernel does not count, WAIT_NS is how long they waited for userfaultfd at
 * least. EXEC 1: it became another program, so GUP is not known.
 */
#include <linux/perf_event.h>
#include <setjmp.h>
#include <spawn.h>
#include <sys/uio.h>

#include "random.h"

#define ACTORS 3
#define MOST_PROCESSES 20000
#define PAGE 4096UL
#define HUGE_PAGE (512 * PAGE)

struct record {
	pid_t pid;
	long faults, major; /* of itself and of those it waited for */
	pid_t parent;
	long gup, failed;
	uint64_t wait_ns;
	int exec;
};

/* Shared by all processes. */
struct shared {
	unsigned int nr;
	struct record records[MOST_PROCESSES];
};

struct actor {
	struct shared *shared;
	struct record *record; /* of this process */
	uint64_t seed, until_ns;
	const char *dir;
	int minor, major; /* counts of faults by exception */
};

extern char **environ;
static sigjmp_buf after_bus;

static struct record *new_record(struct shared *shared, pid_t parent)
{
	unsigned int at = __atomic_fetch_add(&shared->nr, 1, __ATOMIC_RELAXED);

	if (at >= MOST_PROCESSES)
		exit(3);
	shared->records[at].parent = parent;
	return &shared->records[at];
}

static void collect(struct record *record, pid_t pid)
{
	struct rusage usage;

	record->pid = pid;
	while (wait4(pid, NULL, 0, &usage) < 0) {
		if (errno != EINTR)
			return;
	}
	record->faults = usage.ru_minflt + usage.ru_majflt;
	record->major = usage.ru_majflt;
}

static int in_flight_count(uint64_t config)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = config };

	return (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Faults of this thread without an exception: its own count has them, perf's has not. */
static long gup_so_far(const struct actor *self)
{
	uint64_t minor = 0, major = 0;
	struct rusage usage;

	for (int i = 0; i < 2; i++) { /* the first time may cause faults itself */
		if (read(self->minor, &minor, sizeof(minor)) != sizeof(minor) ||
		    read(self->major, &major, sizeof(major)) != sizeof(major))
			_exit(4);
		getrusage(RUSAGE_THREAD, &usage);
	}
	return usage.ru_minflt + usage.ru_majflt - (long)(minor + major);
}

static void *map(size_t pages, int flags)
{
	void *at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_ANONYMOUS | flags, -1, 0);

	reference_must(at != MAP_FAILED, "cannot map %zu pages: %m", pages);
	return at;
}

static void touch(char *at, size_t pages, bool write)
{
	load__touch(at, pages, !write);
}

static size_t some_pages(struct actor *self)
{
	return draw_octaves(&self->seed, 1, 9);
}

/* The zero page first, then a page of its own. */
static void act_anonymous(struct actor *self)
{
	size_t pages = some_pages(self);
	char *at = map(pages, MAP_PRIVATE);

	if (draw_below(&self->seed, 2))
		touch(at, pages, false);
	touch(at, pages, true);
	if (draw_below(&self->seed, 2)) {
		madvise(at, pages * PAGE, MADV_DONTNEED);
		touch(at, pages, draw_below(&self->seed, 2));
	}
	munmap(at, pages * PAGE);
}

/* By get_user_pages(): not a single exception. */
static void act_gup(struct actor *self)
{
	size_t pages = some_pages(self);
	long before = gup_so_far(self);
	char *at = map(pages, MAP_PRIVATE | (draw_below(&self->seed, 2) ? MAP_POPULATE : 0));

	mlock(at, pages * PAGE);
	self->record->gup += gup_so_far(self) - before;
	munmap(at, pages * PAGE);
}

static void act_huge(struct actor *self)
{
	size_t pages = 3 * HUGE_PAGE / PAGE;
	char *at = map(pages, MAP_PRIVATE);

	madvise(at, pages * PAGE, MADV_HUGEPAGE);
	touch(at, pages, true);
	munmap(at, pages * PAGE);
	at = mmap(NULL, HUGE_PAGE, PROT_READ | PROT_WRITE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (at != MAP_FAILED) { /* none may be left */
		touch(at, HUGE_PAGE / PAGE, draw_below(&self->seed, 2));
		munmap(at, HUGE_PAGE);
	}
}

/* A child and its parent touch the same pages. */
static void share_with_child(struct actor *self, char *at, size_t pages)
{
	struct record *record = new_record(self->shared, getpid());
	pid_t pid = fork();

	if (!pid) {
		touch(at, pages, draw_below(&self->seed, 2));
		_exit(0);
	}
	touch(at, pages, draw_below(&self->seed, 2));
	if (pid > 0)
		collect(record, pid);
	munmap(at, pages * PAGE);
}

/* It is in the page cache as that of a tmpfs is. */
static void act_shared(struct actor *self)
{
	size_t pages = some_pages(self);
	char *at = map(pages, MAP_SHARED);

	touch(at, pages / 2, draw_below(&self->seed, 2));
	share_with_child(self, at, pages);
}

/* The child has the parent's pages until one of both writes. */
static void act_fork(struct actor *self)
{
	size_t pages = some_pages(self);
	char *at = map(pages, MAP_PRIVATE);

	touch(at, pages, true);
	share_with_child(self, at, pages);
}

static int open_file(struct actor *self, size_t pages)
{
	int fd = open(self->dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0 && ftruncate(fd, (off_t)(pages * PAGE))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

static void act_file(struct actor *self)
{
	size_t pages = some_pages(self);
	int fd = open_file(self, pages);
	char *at;

	if (fd < 0)
		return;
	at = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE,
		  draw_below(&self->seed, 2) ? MAP_SHARED : MAP_PRIVATE, fd, 0);
	if (at != MAP_FAILED) {
		touch(at, pages, draw_below(&self->seed, 2));
		if (draw_below(&self->seed, 4) == 0)
			msync(at, pages * PAGE, MS_SYNC);
		mprotect(at, pages * PAGE, PROT_READ);
		mprotect(at, pages * PAGE, PROT_READ | PROT_WRITE);
		touch(at, pages, true);
		munmap(at, pages * PAGE);
	}
	close(fd);
}

static void on_bus(int signal)
{
	siglongjmp(after_bus, 1);
}

/* The file ends before its mapping does. */
static void act_truncated(struct actor *self)
{
	const struct sigaction bus = { .sa_handler = on_bus, .sa_flags = SA_NODEFER };
	int fd = open_file(self, 4);
	volatile char *at;

	if (fd < 0)
		return;
	at = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at != MAP_FAILED && !ftruncate(fd, PAGE)) {
		sigaction(SIGBUS, &bus, NULL);
		if (sigsetjmp(after_bus, 1))
			self->record->failed++;
		else
			(void)at[2 * PAGE];
	}
	if (at != MAP_FAILED)
		munmap((void *)at, 4 * PAGE);
	close(fd);
}

static void act_exec(struct actor *self)
{
	struct record *record = new_record(self->shared, getpid());
	char *const argv[] = { "true", NULL };
	pid_t pid;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ))
		return;
	record->exec = 1;
	collect(record, pid);
}

struct part {
	char *at;
	size_t pages;
};

static void *touch_part(void *arg)
{
	struct part *part = arg;

	touch(part->at, part->pages, true);
	return NULL;
}

/* The same pages by two threads at once. */
static void act_threads(struct actor *self)
{
	struct part part = { NULL, some_pages(self) };
	pthread_t thread;

	part.at = map(part.pages, MAP_PRIVATE);
	if (!pthread_create(&thread, NULL, touch_part, &part)) {
		touch(part.at, part.pages, true);
		pthread_join(thread, NULL);
	}
	munmap(part.at, part.pages * PAGE);
}

/* Another process's memory, by this one. */
static void act_remote(struct actor *self)
{
	size_t pages = some_pages(self);
	char *at = map(pages, MAP_PRIVATE), *from = map(pages, MAP_PRIVATE);
	struct iovec local = { from, pages * PAGE }, remote = { at, pages * PAGE };
	struct record *record;
	long before;
	pid_t pid;

	touch(from, pages, true);
	record = new_record(self->shared, getpid());
	pid = fork();
	if (!pid) {
		pause();
		_exit(0);
	}
	before = gup_so_far(self);
	if (pid > 0 && process_vm_writev(pid, &local, 1, &remote, 1, 0) > 0)
		self->record->gup += gup_so_far(self) - before;
	if (pid > 0) {
		kill(pid, SIGKILL);
		collect(record, pid);
	}
	munmap(at, pages * PAGE);
	munmap(from, pages * PAGE);
}

/* Each of its faults is answered after the delay. */
static void act_userfault(struct actor *self)
{
	struct reference_uffd uffd = { .pages = 1 + draw_below(&self->seed, 4),
				       .delay_ns = draw_octaves(&self->seed, 100000, 5) };

	if (reference_uffd__prepare(&uffd))
		return;
	reference_uffd__run(&uffd);
	if (uffd.handler_err)
		return;
	self->record->wait_ns += uffd.pages * uffd.delay_ns;
	free(uffd.writers);
	close(uffd.fd);
	munmap(uffd.map, uffd.pages * PAGE);
}

static __attribute__((noinline)) int grow_stack(unsigned int pages)
{
	volatile char here[PAGE];

	here[0] = (char)pages;
	return pages ? grow_stack(pages - 1) + here[0] : here[0];
}

static void act_stack(struct actor *self)
{
	grow_stack(draw_below(&self->seed, 500));
}

static void act_remap(struct actor *self)
{
	size_t pages = some_pages(self);
	char *at = map(pages, MAP_PRIVATE), *moved;

	touch(at, pages, true);
	moved = mremap(at, pages * PAGE, 2 * pages * PAGE, MREMAP_MAYMOVE);
	if (moved == MAP_FAILED)
		return;
	touch(moved, 2 * pages, true);
	munmap(moved, 2 * pages * PAGE);
}

/* Until the last page is on the swap alone, for at most 100 ms: the kernel writes later. */
static void page_out(char *at, size_t pages)
{
	unsigned char resident = 1;

	for (unsigned int i = 0; i < 20 && resident & 1; i++) {
		madvise(at, pages * PAGE, MADV_PAGEOUT);
		load__sleep(5 * NSEC_PER_MSEC);
		mincore(at + (pages - 1) * PAGE, PAGE, &resident);
	}
}

/*
 * The kernel writes these pages to swap, where there is some, and reads them when they are touched
 * again. In a shared mapping they are the tmpfs's.
 */
static void act_swapped(struct actor *self)
{
	size_t pages = 8 * some_pages(self);
	char *at = map(pages, draw_below(&self->seed, 3) ? MAP_PRIVATE : MAP_SHARED);

	for (unsigned int rounds = 1 + draw_below(&self->seed, 3); rounds; rounds--) {
		touch(at, pages, true);
		page_out(at, pages);
		touch(at, pages, draw_below(&self->seed, 2));
	}
	munmap(at, pages * PAGE);
}

static void (*const acts[])(struct actor *self) = {
	act_anonymous, act_anonymous, act_gup,	 act_huge,    act_file,
	act_truncated, act_fork,      act_exec,	 act_threads, act_remote,
	act_userfault, act_stack,     act_remap, act_shared,  act_swapped,
};

static void run_actor(struct actor *self, unsigned int number)
{
	self->seed += number;
	draw(&self->seed);
	self->minor = in_flight_count(PERF_COUNT_SW_PAGE_FAULTS_MIN);
	self->major = in_flight_count(PERF_COUNT_SW_PAGE_FAULTS_MAJ);
	if (number == 0) /* or it might not be drawn */
		act_swapped(self);
	while (clock__now_ns() < self->until_ns)
		acts[draw_below(&self->seed, sizeof(acts) / sizeof(acts[0]))](self);
	exit(0);
}

/* What wait4() tells of a process includes those that it has waited for. */
static void print_records(const struct shared *shared)
{
	for (unsigned int i = 0; i < shared->nr; i++) {
		const struct record *record = &shared->records[i];
		long faults = record->faults;

		if (!record->pid)
			continue;
		for (unsigned int j = 0; j < shared->nr; j++) {
			if (shared->records[j].pid && shared->records[j].parent == record->pid)
				faults -= shared->records[j].faults;
		}
		printf("%d %ld %ld %ld %lu %d\n", record->pid, faults, record->gup, record->failed,
		       record->wait_ns, record->exec);
	}
}

int main(int argc, char **argv)
{
	struct record *records[ACTORS];
	struct actor actor = { 0 };
	pid_t pids[ACTORS];
	long major = 0;

	if (argc < 4) {
		fprintf(stderr, "usage: mm SEED MS DIR [CGROUP]\n");
		return 2;
	}
	actor.shared = reference_share(sizeof(*actor.shared));
	mlockall(MCL_CURRENT | MCL_FUTURE);
	if (argc > 4)
		write_text(argv[4], "cgroup.procs", "0");
	actor.dir = argv[3];
	actor.seed = strtoull(argv[1], NULL, 0) * ACTORS;
	actor.until_ns = clock__now_ns() + strtoull(argv[2], NULL, 0) * 1000000;
	for (unsigned int i = 0; i < ACTORS; i++) {
		actor.record = records[i] = new_record(actor.shared, getpid());
		pids[i] = fork();
		if (!pids[i])
			run_actor(&actor, i);
	}
	for (unsigned int i = 0; i < ACTORS; i++)
		collect(records[i], pids[i]);
	print_records(actor.shared);
	for (unsigned int i = 0; i < ACTORS; i++)
		major += records[i]->major;
	printf("major %ld\n", major);
	return 0;
}
