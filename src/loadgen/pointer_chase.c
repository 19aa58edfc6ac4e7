// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <sys/mman.h>

#include "primitives.h"

#define BATCH 4096 /* steps between two looks at the clock */

union line {
	size_t index;
	union line *next;
	char bytes[CHASE_LINE];
};

/* Sattolo's shuffle: it makes only orders that are a single cycle. */
static void shuffle(union line *lines, size_t nr, uint64_t seed)
{
	uint64_t state = load__seed(seed, 0);

	for (size_t i = 0; i < nr; i++)
		lines[i].index = i;
	for (size_t i = nr - 1; i > 0; i--) {
		size_t j = load__random(&state) % i, index = lines[i].index;

		lines[i].index = lines[j].index;
		lines[j].index = index;
	}
	for (size_t i = 0; i < nr; i++)
		lines[i].next = &lines[lines[i].index];
}

int pointer_chase__prepare(struct pointer_chase *chase)
{
	void *memory;
	int err = chase->cpu < 0 ? 0 : load__pin(chase->cpu);

	if (err)
		return err;
	memory = mmap(NULL, chase->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		return -errno;
	/* Uses huge pages: with base pages, page walks take much of the time. */
	madvise(memory, chase->bytes, MADV_HUGEPAGE);
	chase->memory = memory;
	shuffle(memory, chase->bytes / CHASE_LINE, chase->seed);
	return 0;
}

void pointer_chase__run(struct pointer_chase *chase)
{
	size_t nr = chase->bytes / CHASE_LINE, chains = chase->chains;
	union line *volatile at[CHASE_CHAINS]; /* volatile: keeps the loads */
	uint64_t start = clock__now_ns();

	for (size_t i = 0; i < chains; i++)
		at[i] = (union line *)chase->memory + nr / chains * i;
	while (!atomic_load_explicit(chase->stop, memory_order_relaxed)) {
		for (unsigned int step = 0; step < BATCH; step++) {
			for (size_t i = 0; i < chains; i++)
				at[i] = at[i]->next;
		}
		chase->steps += BATCH * chains;
	}
	chase->elapsed_ns = clock__now_ns() - start;
}

void pointer_chase__free(struct pointer_chase *chase)
{
	if (chase->memory)
		munmap(chase->memory, chase->bytes);
	chase->memory = NULL;
}
