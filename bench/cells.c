// SPDX-License-Identifier: BSD-2-Clause
/*
 * cells CPUS BUSY: prints the time in us that reading an interval takes on a machine with so many
 * possible CPUs, of which BUSY have counted events: the cells of memlat, runqlat and iolat, as in
 * read__interval(). Then the memory of the cells in MB, and what of it is read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <core/hist.h>
#include <core/run.h>

#define METRICS 5 /* memlat 1, runqlat 1, iolat 3 */
#define ROUNDS 200

static double cpu_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

/* Latencies from 1 us to 10 ms. */
static void count_events(struct lat_cell *cell)
{
	for (unsigned int slot = hist_slot(1000); slot < hist_slot(10000000); slot++) {
		cell->hist.slots[slot] += 3;
		cell->hist.sum_ns += 3 * hist_slot_low_ns(slot);
		cell->counts[LAT_SEEN] += 3;
	}
	cell->hist.max_ns = 10000000;
}

static double interval_us(const struct lat_cell *cells, int cpus)
{
	static struct lat_cell total[METRICS], now, delta;
	double before = cpu_us();

	for (int i = 0; i < METRICS; i++) {
		memset(&now, 0, sizeof(now));
		run__add_cells(&now, &cells[i], METRICS * sizeof(*cells), cpus);
		hist__delta_cell(&delta, &now, &total[i]);
		total[i] = now;
	}
	return cpu_us() - before;
}

static double resident_mb(const void *at, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size + page - 1) / page, nr = 0;
	unsigned char *in_core = malloc(pages);

	if (!in_core || mincore((void *)at, size, in_core))
		return -1;
	for (size_t i = 0; i < pages; i++)
		nr += in_core[i] & 1;
	free(in_core);
	return (double)(nr * page) / 1e6;
}

int main(int argc, char **argv)
{
	int cpus = argc > 1 ? atoi(argv[1]) : 2, busy = argc > 2 ? atoi(argv[2]) : cpus;
	size_t size = (size_t)cpus * METRICS * sizeof(struct lat_cell);
	struct lat_cell *cells;
	double us, best = 1e9;

	cells = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (cells == MAP_FAILED)
		return 1;
	for (int i = 0; i < busy * METRICS; i++)
		count_events(&cells[i]);
	for (int i = 0; i < ROUNDS; i++) {
		us = interval_us(cells, cpus);
		if (us < best)
			best = us;
	}
	printf("%.2f %.2f %.2f\n", best, (double)size / 1e6, resident_mb(cells, size));
	return 0;
}
