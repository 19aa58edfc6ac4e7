/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The emulated machine: sockets with CHAs whose counters count, and the requests that they count.
 * Time is that of the machine (struct machine's now); the caller advances it.
 */
#ifndef LATSCOPE_TESTS_MSRFS_MACHINE_H
#define LATSCOPE_TESTS_MSRFS_MACHINE_H

#include "map.h"
#include "tor.h"

#define MACHINE_SOCKETS 8
#define MACHINE_STREAMS 16
#define MACHINE_MASK ((1ULL << 48) - 1) /* of a counter */

/*
 * Requests of one kind. A tier of memory is a stream; other streams are requests that must not be
 * counted as the tier's.
 */
struct stream {
	char name[16];
	struct tor_request request;
	double rate; /* requests/s, on each socket */
	double latency; /* ns a request stays in the TOR */
	double share[MAP_BOXES]; /* of the rate, by CHA; they sum to 1 */

	/* For the loop: latency is `idle` + `service` * u / (1 - u), u being rate / capacity. */
	double idle, service, capacity;
};

struct counter {
	uint64_t control;
	uint64_t count; /* at `since` */
	double part; /* of the next count */
	uint64_t since; /* ns */
	uint64_t reads, wraps; /* since they were last forgotten */
};

struct box {
	uint64_t control; /* its freeze bit only */
	uint64_t status;
	uint64_t filter[MAP_FILTERS];
	struct counter counter[MAP_COUNTERS];
};

struct socket {
	struct box box[MAP_BOXES];
	struct counter clock; /* the socket's own */
	uint64_t global; /* its freeze bit only */
	double hz; /* of the uncore */
};

/* N requests are in flight at any time. The share p of them starts in stream 0, the others in 1. */
struct loop {
	double requests; /* 0: no loop, rates and latencies are as given */
	double p;
};

struct machine {
	const struct map *map;
	unsigned int sockets, cpus, boxes; /* CPUs in all, boxes a socket */
	uint64_t now; /* ns */
	uint64_t short_of_top; /* a reset leaves a counter so far below its overflow; 0: at 0 */
	unsigned int streams;
	struct stream stream[MACHINE_STREAMS];
	struct loop loop;
	struct socket socket[MACHINE_SOCKETS];
};

/* CPUs of a socket have consecutive numbers: with 2 sockets of 2 CPUs, socket 0 has 0 and 1. */
unsigned int machine__socket_of(const struct machine *machine, unsigned int cpu);

/* As the instructions: -EIO where they fault. Reads of counters are counted. */
int machine__read(struct machine *machine, unsigned int socket, uint64_t reg, uint64_t *value);
int machine__write(struct machine *machine, unsigned int socket, uint64_t reg, uint64_t value);

/* Updates all counters: call it before anything changes their rates. */
void machine__settle(struct machine *machine);

/*
 * Gives the CHAs unequal shares: the busiest may have up to `spread` times as much as the idlest.
 */
void machine__skew(struct machine *machine, struct stream *stream, uint64_t seed, double spread);

/* Solves the loop for its p: sets rates and latencies of the first two streams. */
void machine__balance(struct machine *machine);

/* Fills registers as another program might have left them. */
void machine__litter(struct machine *machine, uint64_t seed);

#endif
