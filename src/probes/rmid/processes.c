// SPDX-License-Identifier: BSD-2-Clause
#include "processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADS 1024

/*
 * The last two owners of the RMID: a delayed span may arrive after the RMID got a new owner, but
 * hardly after two.
 */
#define TENANTS 2

struct tenant {
	uint32_t process; /* 0: none */
	uint64_t since_ns;
	uint64_t until_ns;
};

struct processes {
	struct process *all;
	uint32_t nr, room;
	uint32_t unused; /* first free number; 0: none */
	uint32_t last_number;
	uint32_t heads[HEADS];
	struct tenant tenants[LATSCOPE_RMID_MAX + 1][TENANTS]; /* the newest first */
};

int processes__new(struct processes **out)
{
	static const char *const names[PROCESSES_SPECIAL] = {
		[PROCESSES_IDLE] = "(idle)",	   [PROCESSES_KERNEL] = "(kernel)",
		[PROCESSES_WAITING] = "(waiting)", [PROCESSES_UNKNOWN] = "(unknown)",
		[PROCESSES_OFFLINE] = "(offline)", [PROCESSES_UNSAMPLED] = "(unsampled)",
	};
	struct processes *processes = calloc(1, sizeof(*processes));

	if (!processes)
		return -ENOMEM;
	processes->room = 64;
	processes->all = calloc(processes->room, sizeof(*processes->all));
	if (!processes->all) {
		free(processes);
		return -ENOMEM;
	}
	for (; processes->nr < PROCESSES_SPECIAL; processes->nr++)
		strcpy(processes->all[processes->nr].comm, names[processes->nr]);
	*out = processes;
	return 0;
}

void processes__free(struct processes *processes)
{
	if (!processes)
		return;
	free(processes->all);
	free(processes);
}

uint32_t processes__limit(const struct processes *processes)
{
	return processes->nr;
}

const struct process *processes__at(const struct processes *processes, uint32_t index)
{
	return &processes->all[index];
}

/* A number for a process: a reused or a new one; 0: no memory. */
static uint32_t take_place(struct processes *processes)
{
	uint32_t index = processes->unused, room = 2 * processes->room;
	struct process *all;

	if (index) {
		processes->unused = processes->all[index].next;
		return index;
	}
	if (processes->nr == processes->room) {
		all = reallocarray(processes->all, room, sizeof(*all));
		if (!all)
			return 0;
		processes->all = all;
		processes->room = room;
	}
	return processes->nr++;
}

static uint32_t *head_of(struct processes *processes, uint32_t tgid)
{
	return &processes->heads[tgid % HEADS];
}

uint32_t processes__look(const struct processes *processes, uint32_t tgid, uint64_t born_ns)
{
	uint32_t index = processes->heads[tgid % HEADS];

	while (index &&
	       (processes->all[index].tgid != tgid || processes->all[index].born_ns != born_ns))
		index = processes->all[index].next;
	return index;
}

uint32_t processes__find(struct processes *processes, uint32_t tgid, uint64_t born_ns)
{
	uint32_t *head = head_of(processes, tgid);
	uint32_t index = processes__look(processes, tgid, born_ns);
	struct process *process;

	if (index)
		return index;
	index = take_place(processes);
	if (!index)
		return UINT32_MAX;
	process = &processes->all[index];
	*process = (struct process){
		.number = ++processes->last_number, .tgid = tgid, .born_ns = born_ns, .next = *head
	};
	*head = index;
	return index;
}

void processes__name(struct processes *processes, uint32_t index, const char *comm)
{
	struct process *process = &processes->all[index];

	memcpy(process->comm, comm, sizeof(process->comm));
	process->comm[sizeof(process->comm) - 1] = '\0';
}

void processes__name_by_proc(struct processes *processes, uint32_t index)
{
	const struct process *process = &processes->all[index];
	char path[32], comm[RMID_COMM_LEN + 1] = "?";
	FILE *stream;

	if (!process->tgid || process->comm[0])
		return;
	snprintf(path, sizeof(path), "/proc/%u/comm", process->tgid);
	stream = fopen(path, "re");
	if (stream) {
		if (fgets(comm, sizeof(comm), stream))
			comm[strcspn(comm, "\n")] = '\0';
		fclose(stream);
	}
	processes__name(processes, index, comm);
}

void processes__end(struct processes *processes, uint32_t index, uint64_t time_ns)
{
	processes->all[index].ended_ns = time_ns;
}

void processes__ran(struct processes *processes, uint32_t index, uint64_t time_ns)
{
	struct process *process = &processes->all[index];

	if (process->ended_ns && process->ended_ns < time_ns)
		process->ended_ns = time_ns;
}

void processes__give_rmid(struct processes *processes, uint32_t rmid, uint32_t index,
			  uint64_t since_ns)
{
	struct tenant *tenants = processes->tenants[rmid];

	processes->all[index].rmid = rmid;
	processes->all[index].rmid_since_ns = since_ns;
	processes->all[index].rmid_until_ns = 0;
	if (tenants[0].process == index && tenants[0].since_ns == since_ns)
		return; /* reported again */
	tenants[1] = tenants[0];
	if (tenants[1].until_ns > since_ns)
		tenants[1].until_ns = since_ns; /* the record of its end was lost */
	tenants[0] = (struct tenant){ index, since_ns, UINT64_MAX };
}

void processes__await_rmid(struct processes *processes, uint32_t index, uint64_t since_ns)
{
	processes->all[index].awaits_ns = since_ns;
}

bool processes__rmid_before(const struct process *process, uint64_t time_ns, uint32_t *rmid)
{
	uint64_t until_ns = process->rmid_until_ns;
	/* in the slot in which it was passed on, too, as that has its last readings */
	bool has = process->rmid && process->rmid_since_ns < time_ns &&
		   (!until_ns || time_ns <= until_ns + RMID_SLOT_NS);

	*rmid = has ? process->rmid : 0;
	return has || (process->awaits_ns && process->awaits_ns < time_ns);
}

void processes__take_rmid(struct processes *processes, uint32_t rmid, uint64_t time_ns)
{
	struct tenant *tenant = &processes->tenants[rmid][0];

	if (!tenant->process)
		return;
	tenant->until_ns = time_ns;
	processes__end(processes, tenant->process, time_ns);
}

void processes__yield_rmid(struct processes *processes, uint32_t rmid, uint64_t time_ns)
{
	struct tenant *tenant = &processes->tenants[rmid][0];

	if (!tenant->process)
		return;
	tenant->until_ns = time_ns;
	processes->all[tenant->process].rmid_until_ns = time_ns;
}

void processes__use(struct processes *processes, uint32_t index, uint64_t cpu_ns)
{
	processes->all[index].used_ns += cpu_ns;
}

void processes__age(struct processes *processes)
{
	for (uint32_t i = PROCESSES_SPECIAL; i < processes->nr; i++)
		processes->all[i].used_ns /= 2;
}

/*
 * The last span may end just after the RMID was taken away, and before another process can get it.
 * So the newest earlier owner counts, unless it lost the RMID long ago.
 */
uint32_t processes__owner(const struct processes *processes, uint32_t rmid, uint64_t time_ns)
{
	const struct tenant *tenants = processes->tenants[rmid];

	for (int i = 0; i < TENANTS && tenants[i].process; i++) {
		if (time_ns <= tenants[i].since_ns)
			continue;
		if (time_ns > tenants[i].until_ns &&
		    time_ns - tenants[i].until_ns > LATSCOPE_RMID_LIMBO_NS)
			break;
		return tenants[i].process;
	}
	return PROCESSES_UNKNOWN;
}

static void leave_rmid(struct processes *processes, uint32_t rmid, uint32_t index)
{
	struct tenant *tenants = processes->tenants[rmid];

	for (int i = 0; rmid && i < TENANTS; i++)
		if (tenants[i].process == index)
			tenants[i].process = PROCESSES_UNKNOWN;
}

static void forget(struct processes *processes, uint32_t index)
{
	struct process *process = &processes->all[index];
	uint32_t *at = head_of(processes, process->tgid);

	while (*at != index)
		at = &processes->all[*at].next;
	*at = process->next;
	leave_rmid(processes, process->rmid, index);
	process->tgid = 0;
	process->next = processes->unused;
	processes->unused = index;
}

void processes__forget(struct processes *processes, uint64_t before_ns)
{
	for (uint32_t i = PROCESSES_SPECIAL; i < processes->nr; i++) {
		const struct process *process = &processes->all[i];

		if (process->tgid && process->ended_ns && process->ended_ns < before_ns)
			forget(processes, i);
	}
}
