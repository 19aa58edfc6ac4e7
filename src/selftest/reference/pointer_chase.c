// SPDX-License-Identifier: BSD-2-Clause
#include "pointer_chase.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>

#define BATCH 4096 /* steps between two looks at the clock */

union line {
	size_t index;
	union line *next;
	char bytes[CHASE_LINE];
};

static int pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return 0;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

/* Sattolo's shuffle: of all orders, those that are one cycle. */
static void shuffle(union line *lines, size_t nr, uint64_t seed)
{
	uint64_t state = reference__seed(seed, 0);

	for (size_t i = 0; i < nr; i++)
		lines[i].index = i;
	for (size_t i = nr - 1; i > 0; i--) {
		size_t j = reference__random(&state) % i, index = lines[i].index;

		lines[i].index = lines[j].index;
		lines[j].index = index;
	}
	for (size_t i = 0; i < nr; i++)
		lines[i].next = &lines[lines[i].index];
}

int reference_pointer_chase__prepare(struct reference_pointer_chase *chase)
{
	void *memory;
	int err;

	err = pin(chase->cpu);
	if (err)
		return reference__fail(chase->why, err, "cannot run on CPU %d: %s", chase->cpu,
				       strerror(-err));
	memory = mmap(NULL, chase->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		return reference__fail(chase->why, -errno, "cannot map %zu MiB: %s",
				       chase->bytes >> 20, strerror(errno));
	/* Else much of it would be page walks; where there are no huge pages, it is. */
	madvise(memory, chase->bytes, MADV_HUGEPAGE);
	chase->memory = memory;
	shuffle(memory, chase->bytes / CHASE_LINE, chase->seed);
	return 0;
}

void reference_pointer_chase__run(struct reference_pointer_chase *chase)
{
	size_t nr = chase->bytes / CHASE_LINE, chains = chase->chains;
	union line *volatile at[CHASE_CHAINS]; /* volatile: the loads are what is wanted of them */
	uint64_t start = reference__now();

	for (size_t i = 0; i < chains; i++)
		at[i] = (union line *)chase->memory + nr / chains * i;
	while (!atomic_load_explicit(chase->stop, memory_order_relaxed)) {
		for (unsigned int step = 0; step < BATCH; step++) {
			for (size_t i = 0; i < chains; i++)
				at[i] = at[i]->next;
		}
		chase->steps += BATCH * chains;
	}
	chase->elapsed_ns = reference__now() - start;
}

void reference_pointer_chase__free(struct reference_pointer_chase *chase)
{
	if (chase->memory)
		munmap(chase->memory, chase->bytes);
	chase->memory = NULL;
}
