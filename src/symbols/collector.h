/* SPDX-License-Identifier: BSD-2-Clause */
/* The process that keeps files open, and what it shares with the one that asks. */
#ifndef LATSCOPE_SYMBOLS_COLLECTOR_H
#define LATSCOPE_SYMBOLS_COLLECTOR_H

#include "symbols.h"

#define SLOTS (1 << 15) /* different addresses, at most */

struct slot {
	struct symbol symbol; /* the resolver writes here: check before use */
	uint32_t tgid; /* 0: the kernel */
	uint32_t note; /* of the mappings of that process */
};

/* How often a name is missing for a reason. */
enum lack {
	LACK_KERNEL, /* addresses are hidden, or cannot be read */
	LACK_PROCESS, /* its mappings were not read, usually because it had exited */
	LACK_OPEN, /* a file that could not be opened */
	LACK_CHANGED, /* a file that was written meanwhile */
	LACK_READ, /* a file that is broken, or took too long */
	LACK_LIBDW,
	LACKS,
};

struct shared {
	uint32_t nr; /* slots in use */
	uint32_t lacks[LACKS];
	struct slot slots[SLOTS];
};

/* tgid 0: find all names, reply with an int (0 or -errno), and exit. */
struct request {
	uint32_t tgid, note;
};

/* The life of the collector, with a complete config; also ends with the other end of the socket. */
_Noreturn void collector__run(struct shared *shared, const struct symbols_config *config,
			      int socket);

#endif
