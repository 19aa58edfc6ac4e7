// SPDX-License-Identifier: BSD-2-Clause
#include "states.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int states__map(struct states *states, int map, unsigned int cpus)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t size = (cpus * sizeof(*states->of) + page - 1) / page * page;
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);

	if (at == MAP_FAILED)
		return -errno;
	*states = (struct states){ .of = at, .size = size, .cpus = cpus };
	return 0;
}

void states__unmap(struct states *states)
{
	if (states->of)
		munmap(states->of, states->size);
	states->of = NULL;
}

uint64_t states__lost_others(const struct states *states)
{
	uint64_t sum = 0;

	for (unsigned int cpu = 0; cpu < states->cpus; cpu++)
		sum += __atomic_load_n(&states->of[cpu].lost_others, __ATOMIC_RELAXED);
	return sum;
}

void states__add_up(const struct states *states, struct rmid_account *account)
{
	account->lost_others += states__lost_others(states);
	for (unsigned int cpu = 0; cpu < states->cpus; cpu++) {
		account->lost_spans += states->of[cpu].lost_spans;
		account->hidden += states->of[cpu].hidden;
		account->failed_reads += states->of[cpu].failed_reads;
	}
}

void states__leave(struct states *states, unsigned int cpu)
{
	__atomic_store_n(&states->of[cpu].left, 1, __ATOMIC_RELAXED);
}

/* Copies the state of a CPU with its open batch; false: it changed during each copy. */
static bool copy_state(const struct lat_rmid_cpu *state, struct lat_rmid_cpu *copy)
{
	__u32 version;

	for (int tries = 0; tries < 8; tries++) {
		version = __atomic_load_n(&state->version, __ATOMIC_ACQUIRE);
		memcpy(copy, state, sizeof(*copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (!(version & 1) && version == __atomic_load_n(&state->version, __ATOMIC_RELAXED))
			return !copy->left;
	}
	return false;
}

/*
 * Takes the open batch of a CPU if its slot has passed: nothing is added to it any more, and the
 * CPU sends it only at its next switch, which may be much later.
 */
static int take_open_batch(struct attribution *attribution, const struct lat_rmid_cpu *state,
			   uint64_t until, bool stopped)
{
	const struct lat_rmid_batch *batch = &state->batch;

	if (!batch->nr ||
	    (!stopped && batch->head.time_ns / RMID_SLOT_NS >= until / RMID_SLOT_NS) ||
	    !slots__reaches(attribution->slots, batch->head.cpu, batch->start_ns))
		return 0;
	return attribution__take_batch(attribution, batch);
}

/* The open span of a CPU has lasted at least until `until`. */
static int extend_span(struct attribution *attribution, unsigned int cpu,
		       const struct lat_rmid_cpu *state, uint64_t until)
{
	uint32_t process = PROCESSES_IDLE;

	if (state->tgid)
		process = processes__find(attribution->processes, state->tgid, state->born_ns);
	if (process == UINT32_MAX)
		return -ENOMEM;
	processes__ran(attribution->processes, process, until);
	return slots__extend(attribution->slots, cpu, process, state->since_ns, until);
}

int states__take(const struct states *states, unsigned int cpu, struct attribution *attribution,
		 uint64_t until, bool stopped)
{
	struct lat_rmid_cpu state;
	int err;

	if (!copy_state(&states->of[cpu], &state))
		return 0;
	err = take_open_batch(attribution, &state, until, stopped);
	return err || !state.since_ns ? err : extend_span(attribution, cpu, &state, until);
}
