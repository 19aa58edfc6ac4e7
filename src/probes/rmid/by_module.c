// SPDX-License-Identifier: BSD-2-Clause
/* The method module: the kernel module gives the RMIDs, and its timer samples and reads caches. */
#include <errno.h>
#include <unistd.h>

#include <core/clock.h>
#include <uapi/latscope/rmid.h>

#include "conflict.h"
#include "internal.h"

static int open_module(struct rmid *rmid, char reason[RUN_TEXT])
{
	if (rmid->rmids) {
		snprintf(reason, RUN_TEXT, "its RMIDs are not emulated; leave out --rmids");
		return -EOPNOTSUPP;
	}
	rmid->module = module__open(LATSCOPE_RMID_PROC);
	if (rmid->module >= 0)
		return 0;
	return rmid->module == -ENOENT ? -ENODEV : rmid->module;
}

static int list(struct rmid *rmid)
{
	return module__dump(rmid->module);
}

static const struct conflict *find_conflict(const struct rmid *rmid)
{
	return module__uses_rdt(rmid->module) ? conflict__find("") : NULL;
}

static int prepare(struct rmid *rmid)
{
	int err = module__read(rmid->module, &rmid->before);

	if (!err)
		err = cpus__parse(rmid->before.unsampled, rmid->unsampled, rmid->cpus.nr);
	if (!err)
		rmid__arm(rmid);
	return err;
}

/*
 * If a record is lost, the owners of the RMIDs are no longer known, and latscope asks for them
 * again. The other methods lose only a name, which the next reading of /proc finds.
 */
static int mend_losses(struct rmid *rmid)
{
	uint64_t lost = states__lost_others(&rmid->states);
	bool any = lost != rmid->lost_others || rmid->attribution.owners_lost;

	rmid->lost_others = lost;
	if (!any)
		return 0;
	attribution__doubt(&rmid->attribution, clock__now_ns());
	return module__dump(rmid->module);
}

static int stop(struct rmid *rmid)
{
	return module__read(rmid->module, &rmid->after);
}

static int dump(struct rmid *rmid)
{
	return module__copy(rmid->module, rmid->dump);
}

static void tell(const struct rmid *rmid, const struct rmid_account *account, FILE *out)
{
	fputs("; ", out);
	module__tell(&rmid->before, &rmid->after, account->no_value, out);
}

static int close_module(struct rmid *rmid)
{
	if (rmid->module >= 0)
		close(rmid->module);
	rmid->module = -1;
	return 0;
}

const struct rmid_back_end rmid_by_module = {
	.sends = "sampled",
	.open = open_module,
	.list = list,
	.conflict = find_conflict,
	.prepare = prepare,
	.mend = mend_losses,
	.stop = stop,
	.dump = dump,
	.tell = tell,
	.close = close_module,
};
