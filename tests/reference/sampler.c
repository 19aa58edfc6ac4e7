// SPDX-License-Identifier: BSD-2-Clause
/*
 * sampler [-w] PID SAMPLES: looks so many times, at random times, at what /proc says of each
 * thread of a process: state, system call and wchan. It has real-time priority, so that it does not
 * wait until the threads sleep, and looks at one thread at a time, so that few of them begin to
 * wait for its CPU meanwhile. Before done=1, for each thread and what it was seen to do:
 *
 *   seen=TID comm=COMM state=C call=NUMBER wchan=FUNCTION times=TIMES
 *
 * C is r of a thread that slept in the system call, and woke up before its state could be read.
 */
#include <ctype.h>
#include <dirent.h>
#include <limits.h>

#include "reference.h"

#define MEAN_NS 3e5 /* between two looks */
#define MOST_THREADS 128
#define MOST 1024

struct thread {
	int tid, stat, call, wchan; /* the latter ones: descriptors */
};

struct seen {
	int tid;
	char comm[32], state, call[32], wchan[64];
	uint64_t times;
};

static struct thread threads[MOST_THREADS];
static struct seen all[MOST];
static size_t nr_threads, nr;

static int open_file(int pid, int tid, const char *name)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/%s", pid, tid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	reference_must(fd >= 0, "cannot open %s: %m", path);
	return fd;
}

static void find_threads(int pid)
{
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	folder = opendir(path);
	reference_must(folder, "cannot open %s: %m", path);
	while ((entry = readdir(folder)) && nr_threads < MOST_THREADS) {
		int tid = atoi(entry->d_name);

		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		threads[nr_threads++] = (struct thread){ .tid = tid,
							 .stat = open_file(pid, tid, "stat"),
							 .call = open_file(pid, tid, "syscall"),
							 .wchan = open_file(pid, tid, "wchan") };
	}
	closedir(folder);
}

static void read_file(int fd, char *text, size_t size)
{
	ssize_t got = pread(fd, text, size - 1, 0);

	reference_must(got >= 0, "a thread has ended: %m");
	text[got] = '\0';
}

static void count(const struct seen *now)
{
	size_t i = 0;

	while (i < nr && (all[i].tid != now->tid || all[i].state != now->state ||
			  strcmp(all[i].call, now->call) || strcmp(all[i].wchan, now->wchan)))
		i++;
	reference_must(i < MOST, "there is too much to see");
	if (i == nr)
		all[nr++] = *now;
	all[i].times++;
}

static void look_at(const struct thread *thread)
{
	struct seen now = { .tid = thread->tid };
	char stat[1024], call[128], *end;

	/* This says whether it sleeps; the others are read a moment later. */
	read_file(thread->call, call, sizeof(call));
	read_file(thread->stat, stat, sizeof(stat));
	read_file(thread->wchan, now.wchan, sizeof(now.wchan));
	end = strrchr(stat, ')');
	reference_must(end, "thread %d has no name", thread->tid);
	now.state = end[2] == 'R' ? 'r' : end[2]; /* r: it does not sleep any more */
	*end = '\0';
	snprintf(now.comm, sizeof(now.comm), "%s", strchr(stat, '(') + 1);
	sscanf(call, "%31s", now.call);
	if (!strcmp(now.call, "running")) {
		now.state = 'R';
		strcpy(now.call, "-");
		strcpy(now.wchan, "-");
	}
	count(&now);
}

int main(int argc, char **argv)
{
	uint64_t samples;

	argv = reference_arguments(argc, argv, 2, "sampler [-w] PID SAMPLES");
	find_threads((int)reference_number(argv[0], "PID", 1, INT_MAX));
	samples = reference_number(argv[1], "SAMPLES", 1, 1000000);
	reference_be_realtime(1);
	srand48(1);
	reference_open();
	for (uint64_t i = 0; i < samples * nr_threads; i++) {
		load__sleep((uint64_t)(2 * MEAN_NS * drand48()));
		look_at(&threads[i % nr_threads]);
	}
	for (size_t i = 0; i < nr; i++)
		printf("seen=%d comm=%s state=%c call=%s wchan=%s times=%lu\n", all[i].tid,
		       all[i].comm, all[i].state, all[i].call, all[i].wchan, all[i].times);
	reference_wait("done");
	return 0;
}
