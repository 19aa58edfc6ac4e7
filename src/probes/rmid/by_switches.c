// SPDX-License-Identifier: BSD-2-Clause
/*
 * The method switches: spans between the switches of each CPU, RMIDs emulated from the records of
 * tasks. by_resctrl.c adds groups that stand for these RMIDs.
 */
#include <host/pid_namespace.h>

#include "internal.h"

int rmid_switches__emulate(struct rmid *rmid, uint32_t rmids)
{
	return emulation__new(&rmid->emulation, rmids, rmid__take_owner, rmid);
}

static int open_switches(struct rmid *rmid, char reason[RUN_TEXT])
{
	(void)reason;
	return rmid_switches__emulate(rmid, rmid->rmids ? rmid->rmids : emulation__rmids());
}

/* Ignore tasks after the end of the window: --dump shows the RMIDs at that time. */
int rmid_switches__take_task(struct rmid *rmid, const struct lat_rmid_task *task)
{
	if (!rmid->end_ns || task->head.time_ns <= rmid->end_ns)
		return emulation__take(rmid->emulation, task);
	emulation__ended_later(rmid->emulation, task);
	return 0;
}

int rmid_switches__prepare(struct rmid *rmid)
{
	rmid__arm(rmid);
	return rmid__prime(rmid);
}

/* A CPU with a timer sends its records at each tick, but an idle one may have no more ticks. */
int rmid_switches__take_states(struct rmid *rmid, uint64_t until)
{
	int err = 0;

	for (unsigned int cpu = 0; !err && cpu < rmid->cpus.nr; cpu++)
		if (rmid->cpus.online[cpu] && (!rmid->timed[cpu] || rmid->stopped))
			err = states__take(&rmid->states, cpu, &rmid->attribution, until,
					   rmid->stopped);
	return err;
}

static int take(struct rmid *rmid, uint64_t until)
{
	int err = emulation__serve(rmid->emulation, until);

	return err ? err : rmid_switches__take_states(rmid, until);
}

/* Records of tasks were lost, or not written, since the last check. */
static bool missed_any(struct rmid *rmid)
{
	struct rmid_account account = { 0 };
	uint64_t before = rmid->missed;

	states__add_up(&rmid->states, &account);
	rmid->missed = account.lost_others + account.hidden;
	return rmid->missed != before;
}

/* Finds lost ends; not where /proc has other processes under these numbers, or none. */
int rmid_switches__tidy(struct rmid *rmid, uint64_t now)
{
	bool missed = missed_any(rmid);

	if ((!missed && !emulation__has_gone(rmid->emulation)) || pid_namespace__differs())
		return 0;
	return emulation__check(rmid->emulation, "", now);
}

int rmid_switches__stop(struct rmid *rmid)
{
	if (rmid->dump)
		emulation__look(rmid->emulation, "");
	return 0;
}

int rmid_switches__dump(struct rmid *rmid)
{
	int err = rmid_switches__tidy(rmid, rmid->end_ns);

	emulation__dump(rmid->emulation, rmid->missed, rmid->dump);
	return err;
}

void rmid_switches__tell(const struct rmid *rmid, bool groups, FILE *out)
{
	struct emulation_state state = emulation__state(rmid->emulation);

	fprintf(out, "; %u %s, at most %u were in use", state.rmids,
		groups ? "groups stand for RMIDs" : "RMIDs are emulated", state.most);
	if (groups)
		fprintf(out, "; groups go to the processes with the most CPU time, %llu passed on",
			(unsigned long long)state.yielded);
	if (state.refused || state.waiting)
		fprintf(out, "; no %s was free %llu times, %u processes wait for one",
			groups ? "group" : "RMID", (unsigned long long)state.refused,
			state.waiting);
	if (state.untracked)
		fprintf(out, ", %llu processes found no room", (unsigned long long)state.untracked);
	if (state.miscounted)
		fprintf(out, ", the end of %llu processes was not seen",
			(unsigned long long)state.miscounted);
}

static void tell(const struct rmid *rmid, const struct rmid_account *account, FILE *out)
{
	(void)account;
	rmid_switches__tell(rmid, false, out);
}

int rmid_switches__close(struct rmid *rmid)
{
	emulation__free(rmid->emulation);
	rmid->emulation = NULL;
	return 0;
}

const struct rmid_back_end rmid_by_switches = {
	.emulated = true,
	.lacks = "; caches and memory traffic need the kernel module rmid and RDT",
	.instead = "attributing by process instead of by RMID",
	.open = open_switches,
	.prepare = rmid_switches__prepare,
	.take_task = rmid_switches__take_task,
	.take = take,
	.tidy = rmid_switches__tidy,
	.stop = rmid_switches__stop,
	.dump = rmid_switches__dump,
	.tell = tell,
	.close = rmid_switches__close,
};
