/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What threads did with their time, as screens and pages show it: a bar for each process, thread or
 * cgroup, whose parts sum to the life of its threads.
 */
#ifndef LATSCOPE_PRINT_BARS_H
#define LATSCOPE_PRINT_BARS_H

#include <core/run.h>

#define BAR_NAME 256 /* a cgroup's path is longer than RUN_NAME */

enum bar_part {
	BAR_CPU,
	BAR_READY, /* waited for a CPU */
	BAR_DISK,
	BAR_MEMORY,
	BAR_LOCK,
	BAR_FUTEX,
	BAR_SOCKET,
	BAR_OTHER,
	BAR_IDLE,
	BAR_PARTS,
};

struct bar_look {
	const char *name; /* "disk" */
	const char *what; /* "waited for a disk" */
	char letter; /* in a bar without colours */
	unsigned int color; /* index in the palette of web/draw.js: the same on screens and pages */
};

extern const struct bar_look bar_looks[BAR_PARTS];

struct bar {
	uint64_t id; /* of a process or thread; 0: of several that have ended, or a cgroup */
	char name[BAR_NAME]; /* "mysqld (1234)" */
	uint64_t life_ns;
	uint64_t ns[BAR_PARTS];
	uint64_t waits_ns[BAR_PARTS]; /* of them; see bar__waited() */
	size_t rank; /* its place in the first answer, from 1; 0: unknown */
	char group[BAR_NAME]; /* all of that rank, "shop (8 tasks)"; empty: unknown */
	bool is_culprit; /* those that waited for it lost more of their time than it did */
	uint64_t cause_ns; /* of the wait below */
	char cause[RUN_TEXT]; /* what caused most of its largest part of waits; empty: unknown */
};

/* A long wait. Texts are valid until the tables change. */
struct bar_wait {
	uint64_t time_ns; /* when it ended */
	uint64_t ns;
	enum bar_part part;
	int64_t pid, tid;
	const char *comm; /* of the thread */
	const char *call; /* system call in which it waited; empty: none, or unknown */
	const char *chain; /* who ended it < ... */
};

/* A link of the chain of a long wait: a thread that ended what is before it. */
struct bar_link {
	char text[RUN_TEXT]; /* "mysqld (1240): disk 79.0 ms" */
	enum bar_part part; /* what it did meanwhile, */
	uint64_t ns; /* for so long; 0: unknown */
};

struct bars {
	struct bar *bars; /* owned; in order of bars__sort() */
	size_t nr;
	uint32_t splits; /* mask of 1 << enum lat_by: what bars can be of */
};

/*
 * Time that it waited for a CPU, a disk, memory or a lock; of other waits, those that ended: a
 * thread that sleeps in a read or for a futex all the time may just have no work.
 */
uint64_t bar__waited(const struct bar *bar);

/* The part with most of these waits; BAR_IDLE: it did not wait. */
enum bar_part bar__largest(const struct bar *bar);

/* Neither ran nor waited for more than a thousandth of its life. */
bool bar__is_idle(const struct bar *bar);

/*
 * Cells of each part in a bar of `width` cells. They sum to `width`, unless the life is 0. An edge
 * between two parts is off by half a cell at most.
 */
void bar__cells(const struct bar *bar, unsigned int width, unsigned int cells[BAR_PARTS]);

/* Adds the times of another one. */
void bar__add(struct bar *to, const struct bar *from);

/* Appends an empty bar. NULL: no memory. */
struct bar *bars__add(struct bars *bars, uint64_t id, const char *name);

/* Adds up bars of the same ID and name; then they are in order of both. */
void bars__merge(struct bars *bars);

/* After bars__merge(). NULL: there is none. */
struct bar *bars__find(const struct bars *bars, uint64_t id, const char *name);

/*
 * By their ranks; those that have none by what they waited, and how much of the time in which they
 * did not idle that is, then by what they ran.
 */
void bars__sort(struct bars *bars);

void bars__clear(struct bars *bars);

/*
 * Tables of a probe in which the rows of some intervals are folded. The first call makes them.
 * `from`: the probe, whose tables have the rows of an interval. 0 or -ENOMEM.
 */
int bars__keep_rows(struct run_probe *to, const struct run_probe *from);

/* Makes empty tables with the same columns; bars__free_rows() is needed after an error, too. */
int bars__new_rows(struct run_probe *to, const struct run_probe *from);
void bars__free_rows(struct run_probe *probe);

#endif
