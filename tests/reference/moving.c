// SPDX-License-Identifier: BSD-2-Clause
/*
 * moving [-w] ROUNDS PAGES: page faults on pages that move.
 *
 * The thread "mover" moves PAGES pages ROUNDS times from one NUMA node to the other and back, while
 * the main thread writes to one after the other. Each of its faults finds a page that moves, or has
 * moved just before. The first touches of the pages are in the window of -w, too: touched=. Prints
 * the other faults as loop_faults=, and whether all moves were made: moves=.
 */

#include <linux/mempolicy.h>

#include "reference.h"

static atomic_bool begun, over;

struct mover {
	size_t rounds, pages, moves;
	void **places;
	int *nodes, *status;
};

static void *allocate(size_t count, size_t size)
{
	void *array = calloc(count, size);

	reference_must(array, "no memory");
	return array;
}

static void *move(void *arg)
{
	struct mover *mover = arg;

	prctl(PR_SET_NAME, "mover");
	while (!begun)
		sched_yield();
	for (size_t round = 0; round < mover->rounds; round++) {
		for (size_t i = 0; i < mover->pages; i++)
			mover->nodes[i] = !(round % 2);
		syscall(SYS_move_pages, 0, mover->pages, mover->places, mover->nodes, mover->status,
			MPOL_MF_MOVE);
		for (size_t i = 0; i < mover->pages; i++)
			mover->moves += mover->status[i] == mover->nodes[i];
	}
	over = true;
	return NULL;
}

int main(int argc, char **argv)
{
	struct reference_faults before, faults;
	struct mover mover = { 0 };
	pthread_t thread;
	size_t page;
	char *map;

	argv = reference_arguments(argc, argv, 2, "moving [-w] ROUNDS PAGES");
	mover.rounds = reference_number(argv[0], "ROUNDS", 1, 1 << 20);
	mover.pages = reference_number(argv[1], "PAGES", 1, 1 << 16);
	mover.places = allocate(mover.pages, sizeof(*mover.places));
	mover.nodes = allocate(mover.pages, sizeof(*mover.nodes));
	mover.status = allocate(mover.pages, sizeof(*mover.status));
	thread = reference_thread(move, &mover);
	reference_open();
	map = reference_map(mover.pages);
	load__touch(map, mover.pages, false);
	for (size_t i = 0; i < mover.pages; i++)
		mover.places[i] = map + i * load__page();
	before = reference__faults(RUSAGE_THREAD);
	begun = true;
	for (page = 0; !over; page = (page + 1) % mover.pages)
		((volatile char *)map)[page * load__page()] = 1;
	faults = reference__faults_since(RUSAGE_THREAD, before);
	pthread_join(thread, NULL);
	printf("touched=%zu\nloop_faults=%ld\nmoves=%zu\n", mover.pages,
	       faults.minor + faults.major, mover.moves);
	reference_need(mover.moves, "no page moves: there is one NUMA node, or it is full");
	reference_close();
	return 0;
}
