/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who ended a long wait, and what that thread had been waiting for meanwhile. The last long parts
 * of all threads are kept. A wait that thread W ended is explained by the longest part of W within
 * it, that part by the thread that ended it, and so on.
 */
#ifndef LATSCOPE_PROBES_WHERE_CHAINS_H
#define LATSCOPE_PROBES_WHERE_CHAINS_H

#include <host/names.h>
#include <probes/kit/why_requests.h>

#include "types.h"

#define CHAINS_KEPT (1 << 13) /* long parts */
#define CHAINS_HEADS (1 << 13)
#define CHAINS_DEPTH 8
#define CHAINS_TEXT 512
#define CHAINS_DISK WHY_REQUESTS_TEXT

/* One link: a thread, and what it did for so long within the link before. */
struct chain_link {
	uint32_t tid, tgid;
	char comm[LAT_COMM_LEN];
	uint32_t what; /* WHERE_WHAT() */
	uint64_t begin_ns, ns;
};

struct chain {
	struct chain_link links[CHAINS_DEPTH]; /* the first one is the wait itself */
	unsigned int nr;
	uint32_t source; /* enum why_source that ended the last one; WHY_NO_SOURCE: see `comm` */
	uint32_t tid; /* that ended the last one, if a task did; 0: unknown */
	char comm[LAT_COMM_LEN];
	char disk[CHAINS_DISK]; /* that the last one waited for; empty: unknown, or for no disk */
};

struct chains {
	struct kept {
		struct where_part part;
		uint64_t before; /* number of the part with the same head; 0: none */
	} * kept; /* number n, from 1 on, is in kept[n % CHAINS_KEPT] */
	uint64_t nr; /* parts so far */
	uint64_t heads[CHAINS_HEADS]; /* by TID: the number of its last part */
};

int chains__new(struct chains **chains); /* 0 or -ENOMEM */
void chains__free(struct chains *chains);

/* In order of their ends, nearly. */
void chains__add(struct chains *chains, const struct where_part *part);

/* Walks back from a sleep. */
void chains__walk(const struct chains *chains, const struct where_part *part, struct chain *chain);

/* Names the disk that the last link waited for, unless it is done, as soon as that is known. */
void chain__find_disk(struct chain *chain);

/*
 * How much of the wait is known to be for something that was short: a disk, memory, a page fault or
 * a lock of the kernel, or a thread that had such a wait meanwhile, a CPU or a wait for one. Of a
 * futex, also a thread of the same process that slept for a time. The rest may be waiting for work.
 */
uint64_t chain__explained_ns(const struct chain *chain);

/*
 * "mysqld (1240): disk 79.0 ms < sda: served backup (12) 71.2 ms": the links after the first one,
 * and what ended the last one, or kept it waiting. Returns out.
 */
const char *chain__text(const struct chain *chain, const struct names *names,
			char out[CHAINS_TEXT]);

/* Who ended the wait, without times, and what it did mostly: "mysqld: disk", "timer". */
const char *chain__cause(const struct chain *chain, const struct names *names,
			 char out[CHAINS_TEXT]);

#endif
