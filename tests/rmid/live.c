// SPDX-License-Identifier: BSD-2-Clause
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <uapi/latscope/rmid.h>

#include "check.h"

#define KERNEL_THREAD 0x00200000 /* PF_KTHREAD, in field 9 of /proc/PID/stat */
#define MOST 4096
#define TRIES 1000 /* processes come and go between two readings, and may be long about it */

struct entry {
	uint32_t tgid;
	uint32_t rmid;
	uint32_t threads;
	uint64_t start; /* ticks of the clock since boot */
};

struct list {
	struct entry entries[MOST];
	size_t count;
};

static int by_tgid(const void *a, const void *b)
{
	const struct entry *one = a, *other = b;

	return one->tgid < other->tgid ? -1 : one->tgid > other->tgid;
}

static void add(struct list *list, struct entry entry)
{
	if (list->count < MOST)
		list->entries[list->count++] = entry;
}

static void read_module(struct list *list)
{
	FILE *stream = fopen(LATSCOPE_RMID_PROC, "r");
	uint64_t hz = sysconf(_SC_CLK_TCK), start_ns;
	struct entry entry;
	char *line = NULL;
	size_t size = 0;

	list->count = 0;
	if (!stream) {
		puts("no " LATSCOPE_RMID_PROC);
		exit(1);
	}
	while (getline(&line, &size, stream) > 0)
		if (sscanf(line, "%" SCNu32 " %" SCNu32 " %" SCNu64 " %" SCNu32, &entry.rmid,
			   &entry.tgid, &start_ns, &entry.threads) == 4) {
			entry.start = start_ns / (1000000000 / hz);
			add(list, entry);
		}
	free(line);
	fclose(stream);
	qsort(list->entries, list->count, sizeof(list->entries[0]), by_tgid);
}

/* False: it has gone, is a kernel thread, or has no thread that lives. */
static bool read_process(const char *pid, struct entry *entry)
{
	char path[64], text[1024], *rest, state;
	unsigned long flags;
	FILE *stream;
	size_t length;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	stream = fopen(path, "r");
	if (!stream)
		return false;
	length = fread(text, 1, sizeof(text) - 1, stream);
	fclose(stream);
	text[length] = '\0';
	rest = strrchr(text, ')');
	if (!rest || sscanf(rest,
			    ") %c %*d %*d %*d %*d %*d %lu %*u %*u %*u %*u %*u %*u %*d %*d"
			    " %*d %*d %" SCNu32 " %*d %" SCNu64,
			    &state, &flags, &entry->threads, &entry->start) != 4)
		return false;
	entry->tgid = strtoul(pid, NULL, 10);
	/* A leader that has gone is kept and counted until the others have gone too. */
	entry->threads -= state == 'Z' || state == 'X';
	return !(flags & KERNEL_THREAD) && entry->threads;
}

static void read_kernel(struct list *list)
{
	DIR *directory = opendir("/proc");
	struct dirent *dirent;
	struct entry entry = { 0 };

	list->count = 0;
	while (directory && (dirent = readdir(directory)))
		if (isdigit((unsigned char)dirent->d_name[0]) &&
		    read_process(dirent->d_name, &entry))
			add(list, entry);
	if (directory)
		closedir(directory);
	qsort(list->entries, list->count, sizeof(list->entries[0]), by_tgid);
}

static void show(const char *what, const struct entry *entry)
{
	printf("%s %u, which began at %" PRIu64 " and has %u threads\n", what, entry->tgid,
	       entry->start, entry->threads);
}

static bool same(const struct entry *a, const struct entry *b)
{
	return a->tgid == b->tgid && a->start == b->start && a->threads == b->threads;
}

static const struct entry *find(const struct list *list, const struct entry *entry)
{
	return bsearch(entry, list->entries, list->count, sizeof(*entry), by_tgid);
}

/* How many of these the others have not, or have with another age or other threads. */
static size_t only_in(const struct list *these, const struct list *others, const char *what,
		      bool say)
{
	size_t count = 0;

	for (size_t i = 0; i < these->count; i++) {
		const struct entry *one = &these->entries[i], *other = find(others, one);

		if (other && same(one, other))
			continue;
		count++;
		if (say)
			show(what, one);
	}
	return count;
}

static bool agree(const struct list *module, const struct list *kernel, bool say)
{
	return only_in(module, kernel, "only the module knows", say) +
		       only_in(kernel, module, "only /proc knows", say) ==
	       0;
}

int check_live(void)
{
	static struct list module, kernel;

	for (int try = 1; try <= TRIES; try++) {
		read_module(&module);
		read_kernel(&kernel);
		if (module.count && agree(&module, &kernel, try == TRIES)) {
			printf("%zu processes are the same\n", module.count);
			return 0;
		}
		usleep(20000);
	}
	return 1;
}

int check_busy(void)
{
	static struct list before, module, after;
	int known = 0, missed = 0;

	read_kernel(&before);
	read_module(&module);
	read_kernel(&after);
	for (size_t i = 0; i < before.count; i++) {
		const struct entry *entry = &before.entries[i], *later = find(&after, entry);

		if (!later || later->start != entry->start)
			continue;
		if (find(&module, entry)) {
			known++;
		} else {
			show("only /proc knows", entry);
			missed++;
		}
	}
	printf("%d that lived all the while are known, %d are not\n", known, missed);
	return missed || !known;
}
