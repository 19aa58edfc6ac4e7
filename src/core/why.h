/* SPDX-License-Identifier: BSD-2-Clause */
/* Why samples were slow: their parts, by victim and culprit, and some of the slow samples. */
#ifndef LATSCOPE_CORE_WHY_H
#define LATSCOPE_CORE_WHY_H

#include <stdbool.h>
#include <stdint.h>

#include <latscope/why.h>

#include "table.h"

#define WHY_SLOWEST 5
#define WHY_NAME 64 /* as RUN_NAME */
#define WHY_STACK 1024
#define WHY_DISKS_TEXT 1024

/* Columns of the table of parts, a row for each pair that gained in the interval. */
enum why_column {
	WHY_VICTIM_ID,
	WHY_VICTIM,
	WHY_PART,
	WHY_CULPRIT_ID,
	WHY_CULPRIT,
	WHY_NS, /* the weight */
	WHY_EVENTS,
	WHY_OVER_NS, /* the threshold at the end of the interval */
	WHY_COLUMNS,
	/* Only with why_words.requests. */
	WHY_READ_BYTES = WHY_COLUMNS,
	WHY_WRITTEN_BYTES,
	WHY_REQUEST_COLUMNS,
	/* Only with why_words.traits: see why_traits.h. */
	WHY_VICTIM_TRAITS = WHY_COLUMNS,
	WHY_CULPRIT_TRAITS,
	WHY_TRAITS_COLUMNS,
};

/* Columns of the sums by name. Tasks of one name, "cc1 (12)" and "cc1 (13)", are one here. */
enum why_name_column { WHY_NAME_VICTIM, WHY_NAME_PART, WHY_NAME_CULPRIT, WHY_NAME_NS };

/*
 * Columns of the table of slow events, then one for each part of the probe, then those of enum
 * why_request_column if why_words.requests.
 */
enum why_slow_column {
	WHY_SLOW_NS, /* the weight */
	WHY_SLOW_PID,
	WHY_SLOW_PROCESS,
	WHY_SLOW_TID,
	WHY_SLOW_COMM,
	WHY_SLOW_CGROUP,
	WHY_SLOW_CPU,
	WHY_SLOW_WAKER_TID, /* unknown: no task did */
	WHY_SLOW_WAKER,
	WHY_SLOW_STACK_PID,
	WHY_SLOW_STACK_TID,
	WHY_SLOW_KERNEL_STACK, /* addresses, the innermost first */
	WHY_SLOW_USER_STACK,
	WHY_SLOW_CULPRITS, /* name, part and time of each */
	WHY_SLOW_PARTS = WHY_SLOW_CULPRITS + 3 * WHY_CULPRITS,
};

enum why_request_column {
	WHY_REQUEST_DISK,
	WHY_REQUEST_OP,
	WHY_REQUEST_SECTOR,
	WHY_REQUEST_BYTES,
	WHY_REQUEST,
};

struct why_slow_culprit {
	char name[WHY_NAME]; /* empty: there are no more */
	char part[WHY_NAME];
	uint64_t ns;
};

/* The sector of a request that has no place on the disk, by the kernel. */
#define WHY_NO_SECTOR UINT64_MAX

/* A row of the table of slow events. */
struct why_slow {
	uint64_t time_ns; /* since the window opened */
	uint64_t ns;
	uint64_t part_ns[WHY_PARTS];
	int64_t pid, tid, cpu, waker_tid, stack_pid, stack_tid; /* 0: unknown */
	char process[WHY_NAME], comm[WHY_NAME], cgroup[WHY_NAME], waker[WHY_NAME];
	struct why_slow_culprit culprits[WHY_CULPRITS];
	char kernel_stack[WHY_STACK], user_stack[WHY_STACK];
	char disk[WHY_NAME], op[WHY_NAME]; /* of its request; empty: it is none */
	uint64_t sector, bytes; /* WHY_NO_SECTOR: a flush */
};

struct run_why {
	const char *probe; /* whose samples are explained: "runqlat" */
	uint64_t slow, slow_ns; /* samples over the threshold; their parts sum to slow_ns */
	uint64_t sent, dropped; /* slow events that the probe sent, and for which it had no room */
	/* Slow samples of latscope itself, which are in nothing else. */
	uint64_t of_latscope, of_latscope_ns;
	bool few; /* too few samples for a threshold: the slowest ones are explained */
	uint64_t over_low_ns, over_high_ns; /* thresholds in use; 0 and 0: nothing was slow yet */
	unsigned int nr_parts; /* parts of the probe */
	char disks[WHY_DISKS_TEXT]; /* iolat: what is known of the disks, as sentences */
	struct table *parts; /* by pair of victim and culprit; owned, as the next two */
	struct table *names; /* the same by name: sums of the whole window, without rows */
	struct table *events;
	uint64_t part_ns[WHY_PARTS]; /* by part: exact, unlike the sums of the sketches */
	struct why_slow slowest[WHY_SLOWEST]; /* the slowest first */
	unsigned int nr_slowest;
};

/*
 * A part that slow samples of a probe are made of. `with` to `of_cgroup` end the sentence of the
 * conclusion; %s is the culprit.
 */
struct why_part {
	const char *name; /* "quota" */
	const char *what; /* "the cgroup was out of its CPU quota" */
	const char *with; /* with a culprit; NULL: it does not matter who it is */
	const char *without; /* without; NULL: the reason is unknown */
	const char *of_all; /* if the sentence is not about one victim; NULL: as without */
	const char *within; /* the culprit is the cgroup of the victim; NULL: as with */
	const char *of_cgroup; /* the culprit is a cgroup; NULL: as with */
	const char *disk_action; /* the disk did this for the culprit, %s; NULL: not of a disk */
	bool of_disk; /* its culprit is a disk */
	bool of_task; /* ...a task */
	bool of_quota; /* ...the cgroup that has the limit */
	bool unwaited; /* no task waits for it: it never leads a conclusion */
	bool for_cpu; /* a wait for a CPU; who had it is known to the probe `of_cpu` */
};

/* How a probe speaks of what it explains. Each probe that explains samples has a NAME_words. */
struct why_words {
	const char *probe; /* its name */
	const char *wait, *waits; /* what a sample is: "page fault", or "page faults" */
	const struct why_part *parts;
	unsigned int nr_parts; /* at most WHY_PARTS; 0: the probe explains nothing */
	unsigned int metric; /* index of the metric that `why` explains */
	bool requests; /* they are block requests: the tables have more columns */
	bool traits; /* it knows more of tasks than names: the table of parts has more columns */
	bool of_cpu; /* it knows who had the CPU */
	/* Whose stall the samples explain, by the kernel's account (PSI), see coverage.h. */
	const char *resource; /* "memory" */
	const char *rest; /* what the samples cannot be of it; NULL: nothing is known */
	unsigned int stall; /* enum pressure_column */
};

/* Of a probe that has none: nr_parts is 0. Never NULL. */
const struct why_words *why__words(const char *probe);

/* All never NULL. Its name is NULL: the probe has no such part. */
const struct why_part *why_words__part(const struct why_words *words, unsigned int part);
const struct why_part *why__part(const char *probe, unsigned int part);
const struct why_part *why__named(const char *probe, const char *name);

/* The part of that name, or -ENOENT. */
int why__find_part(const char *probe, const char *name);

/*
 * Makes empty tables, and *why if it is NULL. 0, -ENOMEM, or -EINVAL: the probe has no parts. The
 * caller must free *why in either case.
 */
int why__new(struct run_why **why, const char *probe);
void why__free(struct run_why *why);

/*
 * Adds the rows of the table of parts, before they are folded, to the sums by part and by name. 0
 * or -ENOMEM.
 */
int why__sum(struct run_why *why);

/* A row of the table of events. */
void why__read_slow(const struct run_why *why, size_t row, struct why_slow *slow);

/*
 * Adds the rows of the table of events to the `nr` slowest events and keeps at most `most`.
 * Returns how many there are now.
 */
unsigned int why__add_slowest(const struct run_why *why, struct why_slow *slowest, unsigned int nr,
			      unsigned int most);

/* Keeps the slowest of the rows that the table of events holds. */
void why__keep_slowest(struct run_why *why);

#endif
