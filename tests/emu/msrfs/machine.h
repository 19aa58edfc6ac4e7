/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine that is emulated: sockets with CHAs whose counters tick, and the requests that make
 * them tick. Time is that of the machine (struct machine's now), which somebody else moves on.
 */
#ifndef MSRFS_MACHINE_H
#define MSRFS_MACHINE_H

#include "map.h"
#include "tor.h"

#define MACHINE_SOCKETS 8
#define MACHINE_STREAMS 16
#define MACHINE_MASK ((1ULL << 48) - 1) /* of a counter */

/* Requests of one kind. A tier of memory is a stream, what must not be taken for it are others. */
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

/* N requests are under way at any time, the share p of them starts in stream 0, others in 1. */
struct loop {
	double requests; /* 0: no loop, rates and latencies are as given */
	double p;
};

struct machine {
	const struct map *map;
	unsigned int sockets, cpus, boxes; /* CPUs in all, boxes a socket */
	uint64_t now; /* ns */
	uint64_t short_of_top; /* a reset leaves a counter so much short of its wrap; 0: at 0 */
	unsigned int streams;
	struct stream stream[MACHINE_STREAMS];
	struct loop loop;
	struct socket socket[MACHINE_SOCKETS];
};

/* CPUs of a socket are neighbours: 0 and 1 of two times two are socket 0. */
unsigned int machine__socket_of(const struct machine *machine, unsigned int cpu);

/* As the instructions do: -EIO where they fault. A read of a counter is counted. */
int machine__read(struct machine *machine, unsigned int socket, uint64_t reg, uint64_t *value);
int machine__write(struct machine *machine, unsigned int socket, uint64_t reg, uint64_t value);

/* Brings all counters up to now: to be called before anything changes how fast they tick. */
void machine__settle(struct machine *machine);

/* Gives the CHAs unequal shares: the busiest has `spread` times as much as the idlest could. */
void machine__skew(struct machine *machine, struct stream *stream, uint64_t seed, double spread);

/* Solves the loop for its p: sets rates and latencies of the first two streams. */
void machine__balance(struct machine *machine);

/* Fills registers as somebody else might have left them. */
void machine__litter(struct machine *machine, uint64_t seed);

#endif
