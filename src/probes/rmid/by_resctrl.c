// SPDX-License-Identifier: BSD-2-Clause
/*
 * The method resctrl: as many emulated RMIDs as there are groups, each of which stands for one. If
 * there are too few, the busiest processes get them.
 */
#include <core/clock.h>

#include "internal.h"

#define CHOOSE_NS 100000000ULL /* how often groups may pass to busier processes */
#define LEAST_NS 2000000 /* CPU time by which one must be busier at least */

static int take_reading(void *context, const struct latscope_rmid_read *read)
{
	struct rmid *rmid = context;
	struct lat_rmid_read record = {
		.head = { .time_ns = read->time_ns, .record = RMID_READ },
		.read = *read,
	};

	return attribution__take(&rmid->attribution, &record, sizeof(record));
}

static int64_t weigh(void *context, uint32_t tgid, uint64_t start_ns, const char *comm)
{
	const struct rmid *rmid = context;

	return choice__weight(&rmid->choice, tgid, start_ns, comm);
}

static int open_groups(struct rmid *rmid, char reason[RUN_TEXT])
{
	int err = resctrl__open(&rmid->resctrl, rmid->resctrl_root, rmid->rmids, take_reading, rmid,
				reason);

	if (!err)
		err = rmid_switches__emulate(rmid, resctrl__groups(rmid->resctrl));
	if (!err)
		emulation__weigh(rmid->emulation, weigh);
	return err;
}

/* A process has got, lost or not found a group. */
static int follow_owner(struct rmid *rmid, const struct lat_rmid_owner *record)
{
	const struct latscope_rmid_owner *owner = &record->owner;

	switch (record->head.flags) {
	case RMID_ALLOCATED:
		return resctrl__give(rmid->resctrl, owner->rmid, owner->tgid);
	case RMID_FREED:
	case RMID_YIELDED:
		return resctrl__take(rmid->resctrl, owner->rmid, owner->time_ns);
	case RMID_AWAITED:
		return resctrl__wait(rmid->resctrl, owner->tgid);
	}
	return 0;
}

/* Those that use most CPU time get groups. Once rows were made, by the time that they show. */
static int choose(struct rmid *rmid, uint64_t now)
{
	int err;

	if (rmid->started && now < rmid->chosen_ns + CHOOSE_NS)
		return 0;
	rmid->chosen_ns = now;
	rmid->choice.processes = rmid->slots ? rmid->attribution.processes : NULL;
	if (!rmid->slots && rmid->started)
		return 0;
	err = emulation__choose(rmid->emulation, LEAST_NS, now);
	processes__age(rmid->attribution.processes);
	return err;
}

static int prepare(struct rmid *rmid)
{
	int err = rmid_switches__prepare(rmid);

	if (!err)
		err = choose(rmid, clock__now_ns());
	return err ? err : resctrl__begin(rmid->resctrl);
}

static int start(struct rmid *rmid)
{
	return resctrl__start(rmid->resctrl);
}

static int take(struct rmid *rmid, uint64_t until)
{
	int err = emulation__serve(rmid->emulation, until);

	if (!err)
		err = rmid->end_ns ? resctrl__stop(rmid->resctrl, rmid->end_ns)
				   : resctrl__poll(rmid->resctrl);
	return err ? err : rmid_switches__take_states(rmid, until);
}

static void tell(const struct rmid *rmid, const struct rmid_account *account, FILE *out)
{
	(void)account;
	rmid_switches__tell(rmid, true, out);
	resctrl__tell(rmid->resctrl, out);
}

/* -errno: groups could not be removed. */
static int close_groups(struct rmid *rmid)
{
	int err;

	rmid_switches__close(rmid);
	err = resctrl__close(rmid->resctrl);
	rmid->resctrl = NULL;
	return err;
}

const struct rmid_back_end rmid_by_resctrl = {
	.emulated = true,
	.selects = true,
	.instead = "using resctrl instead of the kernel module",
	.open = open_groups,
	.prepare = prepare,
	.start = start,
	.take_task = rmid_switches__take_task,
	.follow = follow_owner,
	.take = take,
	.choose = choose,
	.tidy = rmid_switches__tidy,
	.stop = rmid_switches__stop,
	.dump = rmid_switches__dump,
	.tell = tell,
	.close = close_groups,
};
