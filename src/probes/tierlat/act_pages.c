// SPDX-License-Identifier: BSD-2-Clause
/*
 * move_pages(2) of pages chosen at random. A transparent huge page moves as a whole, so each piece
 * of memory is looked at again after a move. Only that shows that it is one. Once one was seen, a
 * piece that may be another moves only if most of it is wanted.
 */
#include "act_internal.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/mempolicy.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <core/clock.h>

#define PIECE 512 /* pages: as large as a huge page, and aligned as one */
#define AT_ONCE 64 /* pages moved of a piece, so that many pieces are chosen */
#define WHOLE 4 / 3 /* of what is wanted: a large page that is more does not move */
#define LEAST_TRIES 8
#define LEAST_MEMORY 65536
#define MOST_MEMORY (1ULL << 26)

struct piece {
	void *pages[PIECE];
	int before[PIECE], after[PIECE]; /* node, or -errno */
	unsigned int nr;
};

struct job {
	struct act_mover *mover;
	pid_t pid;
	uint32_t started;
	uint64_t from, until_ns;
	unsigned int to;
	uint64_t page_bytes;
	struct act_done *done;
	struct piece piece;
};

/*
 * A positive number: the kernel did not move so many of the pages, and did not try those after the
 * first of them. -ESRCH: the process has ended; until its parent has waited for it, the kernel says
 * EINVAL. -ENOMEM: the node is full.
 */
static int call(pid_t pid, unsigned long nr, void **pages, const int *nodes, int *status)
{
	long got = syscall(SYS_move_pages, pid, nr, pages, nodes, status, nodes ? MPOL_MF_MOVE : 0);

	if (got >= 0)
		return (int)got;
	return errno == EINVAL ? -ESRCH : -errno;
}

/* xorshift64* */
static uint64_t draw(struct act_mover *mover)
{
	mover->seed ^= mover->seed >> 12;
	mover->seed ^= mover->seed << 25;
	mover->seed ^= mover->seed >> 27;
	return mover->seed * 0x2545f4914f6cdd1d;
}

static bool is_in(uint64_t mask, int node)
{
	return node >= 0 && node < NUMA_NODES && mask >> node & 1;
}

static int keep(struct job *job, unsigned int i)
{
	struct act_memory *memory = job->mover->memory;

	if (!memory)
		return 0;
	return act_memory__keep(memory, (uint64_t)(uintptr_t)job->piece.pages[i], job->pid,
				job->started, (unsigned int)job->piece.before[i]);
}

/* All pages are there, on one node. */
static bool may_be_large(const struct piece *piece)
{
	for (unsigned int i = 0; i < PIECE; i++)
		if (i >= piece->nr || piece->before[i] < 0 || piece->before[i] != piece->before[0])
			return false;
	return true;
}

/* `moved` of `tried` pages of a piece. */
static void learn(struct job *job, unsigned int tried, unsigned int moved)
{
	if (!moved || !may_be_large(&job->piece))
		return;
	job->mover->large = moved == PIECE && tried < PIECE;
	if (job->mover->large)
		job->done->large = PIECE * job->page_bytes;
}

/* Counts what the move of a piece did, with the pages that moved along. */
static int count_moved(struct job *job, unsigned int tried)
{
	struct piece *piece = &job->piece;
	int err = call(job->pid, piece->nr, piece->pages, NULL, piece->after);
	unsigned int moved = 0;

	for (unsigned int i = 0; !err && i < piece->nr; i++) {
		if (!is_in(job->from, piece->before[i]) || piece->after[i] != (int)job->to)
			continue;
		moved++;
		err = keep(job, i);
	}
	job->done->moved += moved * job->page_bytes;
	learn(job, tried, moved);
	return err;
}

/* More than is wanted would move. */
static bool is_too_large(struct job *job, double wanted)
{
	double bytes = PIECE * (double)job->page_bytes;

	if (!job->mover->large || bytes <= wanted * WHOLE || !may_be_large(&job->piece))
		return false;
	job->done->large = (uint64_t)bytes;
	return true;
}

/* Moves about so many bytes of a piece, AT_ONCE pages at most. 0 or -errno. */
static int move_piece(struct job *job, double wanted)
{
	struct piece *piece = &job->piece;
	unsigned int first = (unsigned int)(draw(job->mover) % PIECE), nr = 0;
	unsigned int most = (unsigned int)fmin(wanted / (double)job->page_bytes, AT_ONCE);
	int nodes[AT_ONCE], status[AT_ONCE], err;
	void *pages[AT_ONCE];

	err = call(job->pid, piece->nr, piece->pages, NULL, piece->before);
	if (!err && is_too_large(job, wanted))
		return 0;
	for (unsigned int n = 0; !err && n < piece->nr && nr < most; n++) {
		unsigned int i = (first + n) % piece->nr;

		if (!is_in(job->from, piece->before[i]))
			continue;
		nodes[nr] = (int)job->to;
		pages[nr++] = piece->pages[i];
		err = keep(job, i);
	}
	if (err || !nr)
		return err;
	err = call(job->pid, nr, pages, nodes, status);
	job->done->tried += nr * job->page_bytes;
	job->done->full = err == -ENOMEM;
	if (err >= 0 || job->done->full)
		err = count_moved(job, nr);
	return err;
}

static void set_piece(struct job *job, uint64_t start, uint64_t end, uint64_t which)
{
	uint64_t size = PIECE * job->page_bytes, at = (start / size + which) * size;

	job->piece.nr = 0;
	for (unsigned int i = 0; i < PIECE; i++, at += job->page_bytes)
		if (at >= start && at < end)
			job->piece.pages[job->piece.nr++] = (void *)(uintptr_t)at;
}

/* Of a mapping, in which `pages` are where they can be moved from. */
static int move_in(struct job *job, uint64_t start, uint64_t end, uint64_t pages, double bytes)
{
	uint64_t size = PIECE * job->page_bytes;
	uint64_t pieces = (end + size - 1) / size - start / size;
	uint64_t begun = job->done->moved, tried = job->done->tried;
	double sparse = (double)(end - start) / job->page_bytes / pages;
	double tries = LEAST_TRIES + 4 * sparse * bytes / (AT_ONCE * (double)job->page_bytes);

	for (; tries > 0 && !job->done->full && !job->done->late; tries--) {
		double left = bytes - (double)(job->done->moved - begun);
		int err;

		if (left < job->page_bytes || job->done->tried - tried > 2 * bytes)
			break;
		set_piece(job, start, end, draw(job->mover) % pieces);
		err = move_piece(job, left);
		if (err)
			return err;
		job->done->late = clock__now_ns() >= job->until_ns;
	}
	return 0;
}

/* The end of the mapping that starts there; 0: it is gone. Both files are in order. */
static uint64_t find_end(FILE *maps, uint64_t start)
{
	unsigned long long low, high;
	char line[512];

	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx ", &low, &high) == 2 && low >= start)
			return low == start && high > low ? high : 0;
	}
	return 0;
}

static uint64_t pages_in(const struct numa_mapping *mapping, uint64_t mask)
{
	uint64_t sum = 0;

	for (int i = 0; i < NUMA_NODES; i++)
		sum += is_in(mask, i) ? mapping->pages[i] : 0;
	return sum;
}

/* Each mapping gives its share; what is less than a page is carried over to the next. */
static int walk(struct job *job, FILE *numa, FILE *maps, double share)
{
	struct numa_mapping mapping;
	char *line = NULL;
	size_t size = 0;
	double want = 0;
	int err = 0;

	while (!err && !job->done->full && !job->done->late && getline(&line, &size, numa) > 0) {
		uint64_t pages, end, moved = job->done->moved;

		if (!numa_maps__parse(line, &mapping) || mapping.hugetlb || mapping.bound)
			continue;
		pages = pages_in(&mapping, job->from);
		want += share * pages * mapping.page_bytes;
		if (!pages || want < mapping.page_bytes)
			continue;
		end = find_end(maps, mapping.start);
		job->page_bytes = mapping.page_bytes;
		if (!end)
			continue;
		err = move_in(job, mapping.start, end, pages, want);
		want -= (double)(job->done->moved - moved);
	}
	free(line);
	return err;
}

int act_pages__move(struct act_mover *mover, pid_t pid, uint64_t from, unsigned int to,
		    uint64_t bytes, uint64_t from_bytes, uint64_t until_ns, struct act_done *done)
{
	struct job *job = calloc(1, sizeof(*job));
	FILE *numa, *maps;
	int err;

	if (!job)
		return -ENOMEM;
	*job = (struct job){ .mover = mover,
			     .pid = pid,
			     .started = (uint32_t)act_targets__started("", pid),
			     .from = from,
			     .until_ns = until_ns,
			     .to = to,
			     .done = done };
	err = numa_maps__open(&numa, "", pid, "numa_maps");
	if (err)
		goto out;
	err = numa_maps__open(&maps, "", pid, "maps");
	if (!err) {
		err = walk(job, numa, maps, (double)bytes / from_bytes);
		fclose(maps);
	}
	fclose(numa);
out:
	free(job);
	return err;
}

struct act_memory *act_memory__new(uint64_t pages)
{
	struct act_memory *memory;
	size_t size = LEAST_MEMORY;

	while (size < 2 * pages && size < MOST_MEMORY)
		size *= 2;
	memory = mmap(NULL, sizeof(*memory) + size * sizeof(memory->pages[0]),
		      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return NULL;
	memory->size = size;
	return memory;
}

void act_memory__free(struct act_memory *memory)
{
	if (memory)
		munmap(memory, sizeof(*memory) + memory->size * sizeof(memory->pages[0]));
}

int act_memory__keep(struct act_memory *memory, uint64_t address, pid_t pid, uint32_t started,
		     unsigned int node)
{
	size_t at = ((address >> 12) + (uint64_t)pid * 0x9e3779b9) * 0x9e3779b97f4a7c15 >> 32;

	for (;; at++) {
		struct act_page *page = &memory->pages[at & (memory->size - 1)];

		if (page->pid == (uint32_t)pid && page->started == started &&
		    page->address >> 12 == address >> 12)
			return 0;
		if (page->pid)
			continue;
		if (memory->nr >= memory->size / 4 * 3)
			return -ENOSPC;
		page->address = (address & ~0xfffULL) | node;
		page->started = started;
		/* The restore process takes an entry with a PID as complete. */
		__atomic_store_n(&page->pid, (uint32_t)pid, __ATOMIC_RELEASE);
		memory->nr++;
		return 0;
	}
}

/* A number can have been that of several processes, one after the other. */
static bool is_same_process(const struct act_page *a, const struct act_page *b)
{
	return a->pid == b->pid && a->started == b->started;
}

static int by_place(const void *left, const void *right)
{
	const struct act_page *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	if (a->started != b->started)
		return a->started < b->started ? -1 : 1;
	return a->address < b->address ? -1 : a->address > b->address;
}

/* If the first thread of a process has ended, others still have its memory: one of them, or 0. */
static pid_t find_thread(const char *root, pid_t pid)
{
	char path[PATH_MAX];
	struct dirent *entry;
	pid_t found = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/proc/%d/task", root, pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		pid_t thread = (pid_t)strtol(entry->d_name, NULL, 10);

		if (thread > 0 && !call(thread, 0, NULL, NULL, NULL))
			found = thread;
	}
	if (dir)
		closedir(dir);
	return found;
}

/* A thread that has the memory of the page's process; 0: the process has ended. */
static pid_t find_process(const char *root, const struct act_page *page)
{
	pid_t pid = (pid_t)page->pid;

	if ((uint32_t)act_targets__started(root, pid) != page->started)
		return 0;
	return call(pid, 0, NULL, NULL, NULL) == -ESRCH ? find_thread(root, pid) : pid;
}

/*
 * Up to PIECE pages of one process. Returns how many are not back. A page that the kernel cannot
 * move keeps it from those after it, so the others are tried without it.
 */
static uint64_t move_back(pid_t pid, const struct act_page *pages, unsigned int nr)
{
	int nodes[PIECE], status[PIECE], err;
	void *addresses[PIECE];
	uint64_t left = 0;

	for (unsigned int i = 0; i < nr; i++) {
		addresses[i] = (void *)(uintptr_t)(pages[i].address & ~0xfffULL);
		nodes[i] = (int)(pages[i].address & 0xfff);
	}
	err = call(pid, nr, addresses, nodes, status);
	if (err && err != -ESRCH && err != -ENOMEM && nr > 1)
		return move_back(pid, pages, nr / 2) + move_back(pid, pages + nr / 2, nr - nr / 2);
	err = call(pid, nr, addresses, NULL, status);
	if (err)
		return err == -ESRCH ? 0 : nr; /* its pages are gone with it */
	for (unsigned int i = 0; i < nr; i++)
		left += status[i] >= 0 && status[i] != nodes[i];
	return left;
}

int act_memory__undo(const struct act_memory *memory, const char *root, uint64_t *left)
{
	struct act_page *all = calloc(memory->nr + 1, sizeof(*all));
	size_t nr = 0, next;
	pid_t pid = 0;

	*left = 0;
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < memory->size && nr <= memory->nr; i++)
		if (memory->pages[i].pid)
			all[nr++] = memory->pages[i];
	qsort(all, nr, sizeof(*all), by_place);
	for (size_t i = 0; i < nr; i = next) {
		if (!i || !is_same_process(&all[i], &all[i - 1]))
			pid = find_process(root, &all[i]);
		for (next = i;
		     next < nr && next < i + PIECE && is_same_process(&all[next], &all[i]);)
			next++;
		if (pid)
			*left += move_back(pid, &all[i], (unsigned int)(next - i));
	}
	free(all);
	return *left ? -EAGAIN : 0;
}

/* ---- the method ---- */

static int look(const char *root, char why[TIER_TEXT])
{
	int err = call(0, 0, NULL, NULL, NULL);

	(void)root;
	if (err) {
		snprintf(why, TIER_TEXT, "move_pages: %s", strerror(-err));
		return -EOPNOTSUPP;
	}
	snprintf(why, TIER_TEXT, "tierlat --act: move_pages(2) of pages chosen at random");
	return 0;
}

/* How many pages the processes have: so many may have to be put back. */
static int make_memory(struct act_mover *mover, const struct act_config *config,
		       char why[TIER_TEXT])
{
	struct act_place place;
	struct act_pids pids;
	int err;

	if (config->keep || config->dry_run)
		return 0;
	err = act_targets__list(&mover->targets, &pids);
	if (err)
		return err;
	if (!pids.nr) {
		snprintf(why, TIER_TEXT, "the cgroup has no process");
		return -ESRCH;
	}
	err = act_mover__place(mover, &pids, &place, 0, NULL);
	free(pids.pids);
	if (err) {
		snprintf(why, TIER_TEXT, "cannot read where the pages are: %s%s", strerror(-err),
			 err == -EACCES ? "; run it as root" : "");
		return err;
	}
	mover->memory = act_memory__new((place.near_bytes + place.far_bytes) /
					(uint64_t)sysconf(_SC_PAGESIZE));
	return mover->memory ? 0 : -ENOMEM;
}

/* Each process gives its share. */
static int move_all(struct act_mover *mover, const struct act_order *order, unsigned int to,
		    const struct act_pids *pids, const uint64_t *from_bytes, struct act_done *done)
{
	uint64_t now = clock__now_ns(), until = now + order->limit_ns, sum = 0;
	uint64_t from = act_order__from(mover, order);
	double wanted = (double)act_order__bytes(order), want = 0;
	size_t first = pids->nr ? now / 1000 % pids->nr : 0; /* any */
	int err = 0;

	for (size_t i = 0; i < pids->nr; i++)
		sum += from_bytes[i];
	for (size_t n = 0; !err && n < pids->nr && !done->full && !done->late; n++) {
		size_t i = (first + n) % pids->nr;
		uint64_t moved = done->moved, bytes;

		if (!from_bytes[i])
			continue;
		/* What was less than a large page of one process is added to the next one's. */
		want += wanted * (double)from_bytes[i] / (double)sum;
		bytes = (uint64_t)fmin(fmax(want, 0), (double)from_bytes[i]);
		err = act_pages__move(mover, pids->pids[i], from, to, bytes, from_bytes[i], until,
				      done);
		want -= (double)(done->moved - moved);
		if (err == -ESRCH || err == -EACCES || err == -EPERM)
			err = 0; /* it ended, or may not use the node: the placement shows it */
	}
	return err;
}

static int undo(const struct act_mover *mover)
{
	uint64_t left;

	return mover->memory ? act_memory__undo(mover->memory, mover->targets.root, &left) : 0;
}

static void free_memory(struct act_mover *mover)
{
	act_memory__free(mover->memory);
}

const struct act_method act_pages = {
	.name = "move_pages",
	.left = "not all pages could be put back",
	.look = look,
	.open = make_memory,
	.move = move_all,
	.undo = undo,
	.free = free_memory,
};
