/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc/PID/stat says of a process. */
#ifndef LATSCOPE_HOST_PROCESS_STAT_H
#define LATSCOPE_HOST_PROCESS_STAT_H

#include <stdbool.h>
#include <stdint.h>

struct process_stat {
	char comm[16]; /* as the kernel has it, with any byte */
	char state;
	int parent;
	unsigned int threads;
	uint64_t cpu_ticks; /* of all threads, also of those that have ended */
	uint64_t start_ticks; /* since boot, sysconf(_SC_CLK_TCK) a second */
};

/*
 * `root` is a prefix of /proc, "" for this machine. 0; -ENOENT: the process has ended, or /proc
 * hides it from this user; -EBADMSG: the file is not as expected; or why it cannot be opened.
 */
int process_stat__read(const char *root, int pid, struct process_stat *stat);

/* Is a thread of it left? A zombie has none, but the first thread can end before others. */
bool process_stat__lives(const struct process_stat *stat);

#endif
