// SPDX-License-Identifier: BSD-2-Clause
/*
 * Measures what the book of RMIDs costs: a pair of allocate and free, with 16 RMIDs and with 512 in
 * turn, so that noise affects both; and the lookup without a lock at a switch between two
 * processes, with 200 of them in a table for 32768. Prints the lowest of many rounds: noise only
 * adds.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../kmod/rmid/book.h"

#define STEPS 20000
#define ROUNDS 500
#define MOST 512
#define PROCESSES 200
#define LIMIT 32768

static volatile uint32_t sink;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Each RMID is allocated when its limbo has just ended. */
static double ns_per_pair(uint32_t count)
{
	static struct rmid_info infos[MOST + 1];
	struct rmid_alloc alloc;
	uint64_t began, clock = 0;

	rmid_alloc__init(&alloc, infos, count, count);
	began = now_ns();
	for (int i = 0; i < STEPS; i++) {
		sink = rmid_alloc__get(&alloc, 1, ++clock);
		if (!sink || !rmid_alloc__put(&alloc, sink, clock))
			exit(1);
	}
	return (double)(now_ns() - began) / STEPS;
}

/* The distance of the kernel's signal_structs. */
static uint64_t key_of(uint32_t which)
{
	return 0xffff888003a40000ULL + which * 1088ULL;
}

static void fill(struct rmid_book *book)
{
	uint32_t places = procs__lines(LIMIT) * PROCS_WAYS;
	struct rmid_birth birth = { .threads = 1 };

	rmid_alloc__init(&book->alloc, calloc(MOST + 1, sizeof(struct rmid_info)), MOST, 1);
	procs__init(&book->procs, calloc(places, sizeof(__u64)),
		    calloc(places, sizeof(struct rmid_process)), LIMIT);
	book__init(book);
	for (uint32_t i = 0; i < PROCESSES; i++) {
		birth.key = key_of(i);
		if (!book__birth(book, &birth, 1))
			exit(1);
	}
}

static double ns_per_look(const struct rmid_book *book)
{
	uint64_t began = now_ns();

	for (uint32_t i = 0; i < STEPS; i++)
		sink = book__rmid(book, book__place(book, key_of(i * 77 % PROCESSES)));
	return (double)(now_ns() - began) / STEPS;
}

static double lower(double a, double b)
{
	return a < b ? a : b;
}

int main(void)
{
	double few = 1e9, many = 1e9, look = 1e9;
	static struct rmid_book book;

	fill(&book);
	for (int i = 0; i < ROUNDS; i++) {
		few = lower(few, ns_per_pair(16));
		many = lower(many, ns_per_pair(MOST));
		look = lower(look, ns_per_look(&book));
	}
	printf("figure=rmid_alloc.pair value=%.1f unit=ns limit=60\n", many);
	printf("figure=rmid_alloc.pair_512_to_16 value=%.2f unit=ratio limit=1.2\n", many / few);
	printf("figure=rmid_alloc.look value=%.1f unit=ns\n", look);
	free(book.alloc.infos);
	free(book.procs.keys);
	free(book.procs.places);
	return 0;
}
