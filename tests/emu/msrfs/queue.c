// SPDX-License-Identifier: BSD-2-Clause
/* The load of the machine: how requests spread over the CHAs, and how they queue. */
#include "machine.h"

#include <math.h>

#include "random.h"

void machine__skew(struct machine *machine, struct stream *stream, uint64_t seed, double spread)
{
	double sum = 0;

	for (unsigned int i = 0; i < machine->boxes; i++) {
		stream->share[i] = pow(spread, random_unit(&seed));
		sum += stream->share[i];
	}
	for (unsigned int i = 0; i < machine->boxes; i++)
		stream->share[i] /= sum;
}

static double latency_at(const struct stream *stream, double rate)
{
	double used = rate / stream->capacity;

	return stream->idle + stream->service * used / (1 - used);
}

/* The mean number of requests in flight if `rate` of them start per second. */
static double under_way(const struct machine *machine, double rate)
{
	double near = machine->loop.p * rate, far = rate - near;

	return (near * latency_at(&machine->stream[0], near) +
		far * latency_at(&machine->stream[1], far)) *
	       1e-9;
}

/* The rate at which the wanted number is in flight; it rises with the rate, so bisect. */
void machine__balance(struct machine *machine)
{
	double p = machine->loop.p, low = 0, high;

	high = fmin(machine->stream[0].capacity / fmax(p, 1e-9),
		    machine->stream[1].capacity / fmax(1 - p, 1e-9));
	for (unsigned int i = 0; i < 100; i++) {
		double middle = (low + high) / 2;

		if (under_way(machine, middle) < machine->loop.requests)
			low = middle;
		else
			high = middle;
	}
	machine->stream[0].rate = low * p;
	machine->stream[1].rate = low * (1 - p);
	for (unsigned int i = 0; i < 2; i++)
		machine->stream[i].latency =
			latency_at(&machine->stream[i], machine->stream[i].rate);
}

static void litter_box(struct machine *machine, struct box *box, uint64_t *seed)
{
	const struct map *map = machine->map;

	box->control = random_next(seed) & map->freeze;
	for (unsigned int i = 0; i < map->filters; i++)
		box->filter[i] = random_next(seed) & 0xffffffff;
	for (unsigned int i = 0; i < MAP_COUNTERS; i++) {
		box->counter[i].control =
			random_next(seed) & map->control_bits & ~(1ULL << 17) & ~map->enable;
		box->counter[i].count = random_next(seed) & MACHINE_MASK;
	}
}

void machine__litter(struct machine *machine, uint64_t seed)
{
	machine__settle(machine);
	for (unsigned int i = 0; i < machine->sockets; i++)
		for (unsigned int j = 0; j < machine->boxes; j++)
			litter_box(machine, &machine->socket[i].box[j], &seed);
}
