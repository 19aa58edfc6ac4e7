// SPDX-License-Identifier: BSD-2-Clause
/* The process that moves pages and reads where they are. It keeps CAP_SYS_PTRACE alone. */
#include <errno.h>
#include <linux/capability.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <host/numa_nodes.h>

#include "act_internal.h"

#define RESERVE 32 /* this part of a node stays free */

/* With weights: of the mappings that they govern. */
static uint64_t bytes_in(const struct act_mover *mover, const struct numa_pages *pages,
			 uint64_t mask)
{
	const uint64_t *bytes = mover->method->weigh ? pages->weighted : pages->bytes;
	uint64_t sum = 0;

	for (unsigned int i = 0; i < NUMA_NODES; i++)
		if (mask >> i & 1)
			sum += bytes[i];
	return sum;
}

int act_mover__place(const struct act_mover *mover, const struct act_pids *pids,
		     struct act_place *place, uint64_t from, uint64_t *bytes)
{
	int err = 0, last = -ESRCH;

	*place = (struct act_place){ 0 };
	for (size_t i = 0; !err && i < pids->nr; i++) {
		struct numa_pages pages = { 0 };
		int got = numa_maps__add(&pages, mover->targets.root, pids->pids[i]);

		if (bytes)
			bytes[i] = got ? 0 : bytes_in(mover, &pages, from);
		if (got == -ENOMEM || got == -ENOENT || got == -EUCLEAN)
			err = got;
		if (got) {
			last = got;
			place->unread++;
			continue;
		}
		place->processes++;
		place->near_bytes += bytes_in(mover, &pages, mover->nodes.near);
		place->far_bytes += bytes_in(mover, &pages, mover->nodes.far);
	}
	/* A cgroup without a process may get others. */
	return err ? err : place->processes || !pids->nr ? 0 : last;
}

/* The node of a mask with the most room for so many bytes; -ENOSPC: none has. */
static int find_room(const struct act_mover *mover, uint64_t mask, uint64_t bytes)
{
	struct numa_nodes *nodes = calloc(1, sizeof(*nodes));
	uint64_t most = 0;
	int found = -ENOSPC, err;

	if (!nodes)
		return -ENOMEM;
	err = numa_nodes__read(nodes, mover->targets.root);
	for (unsigned int i = 0; !err && i < nodes->nr; i++) {
		const struct numa_node *node = &nodes->nodes[i];

		if (!(mask >> i & 1) || !node->memory || node->free_bytes <= most ||
		    node->free_bytes < bytes + node->total_bytes / RESERVE)
			continue;
		most = node->free_bytes;
		found = (int)i;
	}
	free(nodes);
	return err ? err : found;
}

static int move(struct act_mover *mover, const struct act_pids *pids, const uint64_t *from_bytes,
		const struct act_order *order, struct act_done *done)
{
	int to = find_room(mover, order->bytes > 0 ? mover->nodes.near : mover->nodes.far,
			   act_order__bytes(order));

	if (to >= 0)
		return mover->method->move(mover, order, (unsigned int)to, pids, from_bytes, done);
	done->full = to == -ENOSPC;
	return done->full ? 0 : to;
}

static bool is_gone(const struct act_mover *mover)
{
	struct act_pids pids;
	int err = act_targets__list(&mover->targets, &pids);

	if (!err)
		free(pids.pids);
	return err == -ESRCH;
}

static int obey(struct act_mover *mover, const struct act_order *order, struct act_reply *reply)
{
	const struct act_method *method = mover->method;
	double weighted = NAN;
	uint64_t *bytes;
	struct act_place before;
	struct act_pids pids;
	int err;

	err = method->weigh ? method->weigh(mover, order, &weighted) : 0;
	if (!err)
		err = act_targets__list(&mover->targets, &pids);
	if (err)
		return err;
	bytes = calloc(pids.nr + 1, sizeof(*bytes));
	err = bytes ? act_mover__place(mover, &pids, &reply->place, act_order__from(mover, order),
				       bytes)
		    : -ENOMEM;
	before = reply->place;
	if (!err && order->bytes) {
		err = move(mover, &pids, bytes, order, &reply->done);
		if (!err)
			err = act_mover__place(mover, &pids, &reply->place, 0, NULL);
		if (!err && method->judge)
			err = method->judge(mover, order, &before, &reply->place, &reply->done);
	}
	reply->place.weighted = weighted;
	free(bytes);
	free(pids.pids);
	/* If the cgroup is gone, DAMON reports other errors. */
	return err && method->explain && is_gone(mover) ? -ESRCH : err;
}

static void explain(const struct act_mover *mover, int err, char why[TIER_TEXT])
{
	const char *text = strerror(-err), *own = NULL;

	if (mover->method->explain)
		own = mover->method->explain(err);
	if (own)
		text = own;
	else if (err == -ESRCH)
		text = "the processes are gone, or have no memory";
	else if (err == -EACCES || err == -EPERM)
		text = "no permission: it takes root or CAP_SYS_PTRACE";
	else if (err == -ENOENT || err == -ENOSYS)
		text = "the kernel has no NUMA";
	else if (err == -ENODEV)
		text = "a node went offline";
	else if (err == -ENOSPC)
		text = "no room to keep where more pages were";
	else if (err == -EBUSY)
		text = "another program changed the weights";
	else if (err == -EIO)
		text = "the kernel did not take the weights";
	snprintf(why, TIER_TEXT, "%s", text);
}

/* no_new_privs, and one capability, if this process has it. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (int i = 0; i <= CAP_LAST_CAP; i++)
		prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	if (syscall(SYS_capget, &header, data))
		_exit(1);
	for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		uint32_t kept =
			data[i].permitted &
			(i == CAP_TO_INDEX(CAP_SYS_PTRACE) ? CAP_TO_MASK(CAP_SYS_PTRACE) : 0);

		data[i].permitted = data[i].effective = kept;
		data[i].inheritable = 0;
	}
	if (syscall(SYS_capset, &header, data))
		_exit(1);
}

void act_mover__run(struct act_mover *mover, int socket)
{
	struct act_order order;
	struct act_reply reply;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "latscope-act");
	drop_capabilities();
	while (read(socket, &order, sizeof(order)) == sizeof(order)) {
		memset(&reply, 0, sizeof(reply));
		reply.err = obey(mover, &order, &reply);
		if (reply.err)
			explain(mover, reply.err, reply.why);
		if (send(socket, &reply, sizeof(reply), MSG_NOSIGNAL) != sizeof(reply))
			break;
	}
	_exit(0);
}
