/* SPDX-License-Identifier: BSD-2-Clause */
/* Building blocks of loads and reference latencies. Silent; an int is 0 or -errno. */
#ifndef LATSCOPE_LOADGEN_PRIMITIVES_H
#define LATSCOPE_LOADGEN_PRIMITIVES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <core/clock.h>

#define NSEC_PER_MSEC 1000000ULL
#define NSEC_PER_SEC 1000000000ULL
#define CHASE_LINE 64 /* bytes */
#define CHASE_CHAINS 8
#define LOAD_PAGE_MAX (1UL << 16) /* largest base page of all architectures */

/* Sleeps for the full time, even if signals arrive. */
void load__sleep(uint64_t ns);

/* Runs for at least ns. Returns how long it took. */
uint64_t load__spin(uint64_t ns);

/* Bytes of a base page: 4096 on x86, up to LOAD_PAGE_MAX on arm64. */
size_t load__page(void);

/* Fresh anonymous memory in base pages; NULL and errno. */
char *load__map(size_t pages);

/* Writes to each page, or reads it. */
void load__touch(char *map, size_t pages, bool read);

/* xorshift64*: the same seed gives the same numbers. The state must not be 0. */
uint64_t load__random(uint64_t *state);

/* The first state of a thread. */
uint64_t load__seed(uint64_t seed, unsigned int index);

/* The CPUs that this thread may use: their number (at least 1), and the nth from the end. */
unsigned int load__cpus(void);
int load__cpu_from_end(unsigned int nth);

/* Pins the calling thread. */
int load__pin(int cpu);

/* With a small stack, because locked memory is limited. */
int load__thread(pthread_t *thread, void *(*run)(void *), void *arg);

/* Two pipes between two tasks that wake each other. */
struct pingpong {
	int ping[2], pong[2];
};

int pingpong__open(struct pingpong *pair);
void pingpong__close(const struct pingpong *pair);

/* The part of the first task and that of the second. -EPIPE: the other one has closed its end. */
int pingpong__send(const struct pingpong *pair, bool first);
int pingpong__receive(const struct pingpong *pair, bool first);

/* A file in the directory, for reading and writing. It has no name: nothing is left behind. */
int direct_file__create(const char *dir);

/* tmpfs and ramfs: since Linux 6.6 they accept O_DIRECT, but do no I/O. */
bool direct_file__is_in_memory(int fd);

/*
 * Switches to direct I/O and overwrites the first block. NULL, or the reason why it is not
 * possible.
 */
const char *direct_file__switch(int fd);

/* Writes all blocks: reading a hole, or a block never written, needs no disk. */
int direct_file__fill(int fd, off_t start, uint64_t bytes);

/* -EIO: only a part was transferred. */
int direct_file__transfer(int fd, bool write, void *buffer, size_t bytes, off_t offset);

/*
 * A pointer chase, dependent loads through memory: each line holds the address of the next one, in
 * one cycle of random order, which no prefetcher can predict. With one chain, the time of a step is
 * the load-to-use latency; with several, the CPU has as many loads outstanding as it can.
 */
struct pointer_chase {
	size_t bytes; /* of memory, much more than the caches hold */
	unsigned int chains; /* up to CHASE_CHAINS */
	int cpu; /* CPU to run on, with memory of its node; -1: any */
	uint64_t seed;
	const atomic_bool *stop; /* ends it */

	void *memory;
	uint64_t steps, elapsed_ns; /* a step is a load */
};

/* Call it in the thread that runs the chase: the memory is of that thread's node. */
int pointer_chase__prepare(struct pointer_chase *chase);

void pointer_chase__run(struct pointer_chase *chase);

void pointer_chase__free(struct pointer_chase *chase);

#endif
