/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The emulated resctrl: groups, the tasks in them, and counters that are known. It enforces what
 * Documentation/filesystems/resctrl.rst of the kernel says of monitoring groups.
 *
 * Tasks are those of this machine, which inherit the group of their leader or parent when they are
 * first asked for, and those that commands make, whose numbers are beyond any PID.
 */
#ifndef LATSCOPE_TESTS_RESCTRLFS_STATE_H
#define LATSCOPE_TESTS_RESCTRLFS_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATE_GROUPS 256
#define STATE_NAME 64
#define STATE_DOMAINS 4
#define STATE_MADE 5000000 /* tasks from this number on are made by commands */

enum state_event { STATE_OCCUPANCY, STATE_TOTAL, STATE_LOCAL, STATE_EVENTS };

extern const char *const state_events[STATE_EVENTS]; /* names of the files */

struct state_group {
	char name[STATE_NAME]; /* empty: unused; the first group is the root, "/" */
	bool control; /* a control group; else a monitoring group of the root */
	uint64_t counts[STATE_DOMAINS][STATE_EVENTS];
};

struct state_task {
	int tid, tgid, group;
	uint64_t start; /* of a task of this machine: distinguishes it from another of its number */
};

struct state {
	struct state_group groups[STATE_GROUPS];
	struct state_task *tasks;
	size_t nr_tasks;
	unsigned int rmids, domains;
	int vanishing; /* so many listings of domains; after each, the last domain is gone */
	bool mounted;
	const char *answer[STATE_EVENTS]; /* instead of a number; NULL: a number */
	int spawner, spawns; /* this process makes so many threads, each after it was listed */
	char *log; /* all readings: GROUP DOMAIN EVENT VALUE */
	size_t logged;
};

void state__init(struct state *state);

/* `task TGID TID [GROUP]`, `end TGID`, `spawn TGID COUNT`, `rmids N`, `domains N`, `vanish COUNT`,
 * `mounted 0|1`, `answer EVENT [TEXT]`. 0, -EINVAL. */
int state__command(struct state *state, const char *line);

int state__group(const struct state *state, const char *name, bool control); /* -1: none */
int state__make(struct state *state, const char *name, bool control); /* mkdir: 0, -errno */
int state__remove(struct state *state, const char *name, bool control); /* rmdir: 0, -errno */

/* A write of `text` to the file tasks of a group. 0, -errno. */
int state__move(struct state *state, int group, const char *text);

/* The task, NULL: there is none. */
struct state_task *state__task(struct state *state, int tgid, int tid);

/* Threads of a process: calls `found` for each. False: there is no such process. */
bool state__threads(struct state *state, int tgid, void (*found)(void *to, int tid), void *to);

/* What a reading of a file of a group says. */
void state__read(struct state *state, int group, unsigned int domain, enum state_event event,
		 char *text, size_t size);

/* "NAME: TASK..." for each group. To be freed. */
char *state__describe(const struct state *state);

#endif
