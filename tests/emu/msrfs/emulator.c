// SPDX-License-Identifier: BSD-2-Clause
#include "emulator.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static uint64_t real_time(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

uint64_t emulator__now(struct emulator *emulator)
{
	if (!emulator->virtual)
		emulator->machine.now = real_time();
	return emulator->machine.now;
}

void emulator__shown(struct emulator *emulator)
{
	if (emulator->shown)
		*emulator->shown = emulator->machine.now;
}

int emulator__show_time(struct emulator *emulator, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *shown = MAP_FAILED;

	if (fd < 0)
		return -errno;
	if (!ftruncate(fd, sizeof(*emulator->shown)))
		shown = mmap(NULL, sizeof(*emulator->shown), PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (shown == MAP_FAILED)
		return -ENOMEM;
	emulator->shown = shown;
	return 0;
}

/* A plan may add plans, so remove it from the list before it runs. */
static void carry_out_plans(struct emulator *emulator)
{
	for (unsigned int i = 0; i < emulator->plans;) {
		struct plan plan = emulator->plan[i];

		if (emulator->accesses < plan.accesses) {
			i++;
			continue;
		}
		emulator->plan[i] = emulator->plan[--emulator->plans];
		emulator__command(emulator, plan.command);
	}
}

/* The fault that strikes, or NULL. */
static struct fault *strike(struct emulator *emulator, enum access access, unsigned int socket,
			    uint64_t reg)
{
	for (unsigned int i = 0; i < emulator->faults; i++) {
		struct fault *fault = &emulator->fault[i];

		if (fault->access != access || !fault->left ||
		    (fault->socket >= 0 && (unsigned int)fault->socket != socket) ||
		    (fault->reg >= 0 && (uint64_t)fault->reg != reg))
			continue;
		fault->left--;
		return fault;
	}
	return NULL;
}

int emulator__open(struct emulator *emulator, unsigned int cpu)
{
	unsigned int socket = machine__socket_of(&emulator->machine, cpu);
	const struct fault *fault = strike(emulator, ACCESS_OPEN, socket, 0);

	emulator->opens++;
	if (emulator->offline[cpu])
		return -ENXIO;
	return fault ? fault->err : 0;
}

/* The common part of all accesses. Returns 8, 4 for a short transfer, or a negative error. */
static int access_register(struct emulator *emulator, enum access access, unsigned int cpu,
			   uint64_t reg)
{
	unsigned int socket = machine__socket_of(&emulator->machine, cpu);
	const struct fault *fault;

	emulator->accesses++;
	if (emulator->virtual)
		emulator->machine.now += emulator->step;
	emulator__now(emulator);
	emulator__shown(emulator);
	carry_out_plans(emulator);
	if (emulator->offline[cpu])
		return -ENXIO;
	fault = strike(emulator, access, socket, reg);
	if (!fault)
		return 8;
	return fault->err ? fault->err : 4;
}

static enum map_part part_of(const struct emulator *emulator, uint64_t reg)
{
	return map__find(emulator->machine.map, emulator->machine.boxes, reg).part;
}

int emulator__read(struct emulator *emulator, unsigned int cpu, uint64_t reg, uint64_t *value)
{
	int ret = access_register(emulator, ACCESS_READ, cpu, reg);
	int err;

	emulator->reads[part_of(emulator, reg)]++;
	if (ret < 0)
		return ret;
	err = machine__read(&emulator->machine, machine__socket_of(&emulator->machine, cpu), reg,
			    value);
	return err ? err : ret;
}

int emulator__write(struct emulator *emulator, unsigned int cpu, uint64_t reg, uint64_t value)
{
	unsigned int socket = machine__socket_of(&emulator->machine, cpu);
	int err, ret = access_register(emulator, ACCESS_WRITE, cpu, reg);
	uint64_t old = 0;

	emulator->writes[part_of(emulator, reg)]++;
	if (ret < 0)
		return ret;
	machine__read(&emulator->machine, socket, reg, &old);
	if (emulator->logged < EMULATOR_LOG)
		emulator->log[emulator->logged] = (struct logged){ socket, reg, old, value };
	emulator->logged++;
	err = machine__write(&emulator->machine, socket, reg, value);
	return err ? err : ret;
}

void emulator__mark(struct emulator *emulator)
{
	struct machine *machine = &emulator->machine;

	emulator__now(emulator);
	machine__settle(machine);
	for (unsigned int i = 0; i < machine->sockets; i++)
		for (unsigned int j = 0; j < machine->boxes; j++)
			for (unsigned int k = 0; k < MAP_COUNTERS; k++) {
				machine->socket[i].box[j].counter[k].reads = 0;
				machine->socket[i].box[j].counter[k].wraps = 0;
			}
	memcpy(emulator->found, machine->socket, sizeof(emulator->found));
	memset(emulator->reads, 0, sizeof(emulator->reads));
	memset(emulator->writes, 0, sizeof(emulator->writes));
	emulator->accesses = emulator->opens = 0;
	emulator->logged = 0;
}

void emulator__move(struct emulator *emulator, double p)
{
	struct machine *machine = &emulator->machine;

	emulator__now(emulator);
	machine__settle(machine);
	machine->loop.p = p;
	if (machine->loop.requests)
		machine__balance(machine);
	emulator->moves++;
}
