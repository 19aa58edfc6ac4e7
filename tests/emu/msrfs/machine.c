// SPDX-License-Identifier: BSD-2-Clause
#include "machine.h"

#include <errno.h>

#define RESET_COUNTER (1ULL << 17) /* in a counter's control: done, and forgotten */

unsigned int machine__socket_of(const struct machine *machine, unsigned int cpu)
{
	return cpu / (machine->cpus / machine->sockets);
}

/* Returns the rate of counter `index` per second. */
static double tick_rate(const struct machine *machine, const struct socket *socket,
			const struct box *box, unsigned int index)
{
	uint64_t control = box->counter[index].control, event = control & 0xff;
	double sum = 0;

	if (event == machine->map->clock_event)
		return socket->hz;
	if (event != TOR_INSERTS && (event != TOR_OCCUPANCY || index != 0))
		return 0;
	for (unsigned int i = 0; i < machine->streams; i++) {
		const struct stream *stream = &machine->stream[i];
		double rate = stream->rate * stream->share[box - socket->box];

		if (!tor__counts(machine->map, control, box->filter, &stream->request))
			continue;
		sum += event == TOR_INSERTS ? rate : rate * stream->latency * 1e-9 * socket->hz;
	}
	return sum;
}

static bool ticks(const struct machine *machine, const struct socket *socket, const struct box *box,
		  unsigned int index)
{
	uint64_t control = box->counter[index].control;

	if (box->control & machine->map->freeze || socket->global)
		return false;
	return machine->map->enable ? control & machine->map->enable : control & 0xff;
}

static void move_on(struct counter *counter, uint64_t now, double per_second)
{
	double ticked = counter->part + (now - counter->since) * 1e-9 * per_second;
	uint64_t whole = ticked;

	counter->part = ticked - whole;
	counter->wraps += (counter->count + whole) >> 48;
	counter->count = (counter->count + whole) & MACHINE_MASK;
	counter->since = now;
}

static void settle_box(struct machine *machine, struct socket *socket, struct box *box)
{
	for (unsigned int i = 0; i < MAP_COUNTERS; i++) {
		bool on = ticks(machine, socket, box, i);

		move_on(&box->counter[i], machine->now,
			on ? tick_rate(machine, socket, box, i) : 0);
	}
}

static void settle_clock(struct machine *machine, struct socket *socket)
{
	bool on = socket->clock.control & (1ULL << 22);

	move_on(&socket->clock, machine->now, on ? socket->hz : 0);
}

void machine__settle(struct machine *machine)
{
	for (unsigned int i = 0; i < machine->sockets; i++) {
		settle_clock(machine, &machine->socket[i]);
		for (unsigned int j = 0; j < machine->boxes; j++)
			settle_box(machine, &machine->socket[i], &machine->socket[i].box[j]);
	}
}

static int read_counter(struct counter *counter, uint64_t *value)
{
	counter->reads++;
	*value = counter->count;
	return 0;
}

static int read_box(struct machine *machine, struct socket *socket, struct map_place place,
		    uint64_t *value)
{
	struct box *box = &socket->box[place.box];

	switch (place.part) {
	case MAP_BOX:
		*value = box->control;
		return 0;
	case MAP_STATUS:
		*value = box->status;
		return 0;
	case MAP_CONTROL:
		*value = box->counter[place.index].control;
		return 0;
	case MAP_FILTER:
		*value = box->filter[place.index];
		return 0;
	default:
		settle_box(machine, socket, box);
		return read_counter(&box->counter[place.index], value);
	}
}

int machine__read(struct machine *machine, unsigned int number, uint64_t reg, uint64_t *value)
{
	struct map_place place = map__find(machine->map, machine->boxes, reg);
	struct socket *socket = &machine->socket[number];

	switch (place.part) {
	case MAP_NONE:
		return -EIO;
	case MAP_GLOBAL:
		*value = socket->global;
		return 0;
	case MAP_CLOCK_CONTROL:
		*value = socket->clock.control;
		return 0;
	case MAP_CLOCK:
		settle_clock(machine, socket);
		return read_counter(&socket->clock, value);
	case MAP_COUNT:
		*value = machine->boxes & machine->map->count_bits;
		return 0;
	case MAP_TSC:
		*value = machine->now * 2; /* of 2 GHz, whatever the uncore's clock */
		return 0;
	default:
		return read_box(machine, socket, place, value);
	}
}

static int set(uint64_t *to, uint64_t value, uint64_t allowed)
{
	if (value & ~allowed)
		return -EIO;
	*to = value;
	return 0;
}

static void reset_counter(const struct machine *machine, struct counter *counter)
{
	counter->count = machine->short_of_top ? MACHINE_MASK + 1 - machine->short_of_top : 0;
	counter->part = 0;
}

static int write_box_control(const struct machine *machine, struct box *box, uint64_t value)
{
	const struct map *map = machine->map;

	if (value & ~map->box_bits)
		return -EIO;
	for (unsigned int i = 0; i < MAP_COUNTERS; i++) {
		if (value & map->reset_controls)
			box->counter[i].control = 0;
		if (value & map->reset_counters)
			reset_counter(machine, &box->counter[i]);
	}
	box->control = value & map->freeze;
	return 0;
}

static int write_control(const struct machine *machine, struct counter *counter, uint64_t value)
{
	int err = set(&counter->control, value, machine->map->control_bits);

	if (err)
		return err;
	if (value & RESET_COUNTER)
		reset_counter(machine, counter);
	counter->control &= ~RESET_COUNTER;
	return 0;
}

static int write_box(struct machine *machine, struct socket *socket, struct map_place place,
		     uint64_t value)
{
	struct box *box = &socket->box[place.box];

	settle_box(machine, socket, box);
	switch (place.part) {
	case MAP_BOX:
		return write_box_control(machine, box, value);
	case MAP_STATUS:
		box->status &= ~value;
		return 0;
	case MAP_CONTROL:
		return write_control(machine, &box->counter[place.index], value);
	case MAP_FILTER:
		return set(&box->filter[place.index], value, 0xffffffff);
	default:
		box->counter[place.index].part = 0;
		return set(&box->counter[place.index].count, value, MACHINE_MASK);
	}
}

static int write_global(struct machine *machine, struct socket *socket, uint64_t value)
{
	if (value & ~machine->map->global_bits)
		return -EIO;
	machine__settle(machine);
	socket->global = value & machine->map->global_freeze;
	return 0;
}

int machine__write(struct machine *machine, unsigned int number, uint64_t reg, uint64_t value)
{
	struct map_place place = map__find(machine->map, machine->boxes, reg);
	struct socket *socket = &machine->socket[number];

	switch (place.part) {
	case MAP_NONE:
	case MAP_COUNT:
	case MAP_TSC:
		return -EIO;
	case MAP_GLOBAL:
		return write_global(machine, socket, value);
	case MAP_CLOCK_CONTROL:
		settle_clock(machine, socket);
		return set(&socket->clock.control, value, 1ULL << 22);
	case MAP_CLOCK:
		settle_clock(machine, socket);
		return set(&socket->clock.count, value, MACHINE_MASK);
	default:
		return write_box(machine, socket, place, value);
	}
}
