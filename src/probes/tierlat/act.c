// SPDX-License-Identifier: BSD-2-Clause
#include "act.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <core/clock.h>
#include <host/numa_nodes.h>
#include <host/restore.h>

#include "act_internal.h"

/* Only root can make or open it, so nobody else can hold the lock. */
#define LOCK "/run/latscope-act.lock"

const struct act_method *const act_methods[] = { &act_pages, &act_weights, &act_damon, NULL };

struct act {
	struct act_mover mover;
	struct restore *restore;
	pid_t pid; /* of the process that moves */
	int socket, lock;
	bool broken; /* that process is gone */
};

double act_place__share(const struct act_place *place)
{
	double sum = (double)place->near_bytes + (double)place->far_bytes;

	return sum > 0 ? (double)place->near_bytes / sum : NAN;
}

static int take_lock(struct act *act, char why[TIER_TEXT])
{
	char path[PATH_MAX];
	int err;

	snprintf(path, sizeof(path), "%s" LOCK, act->mover.targets.root);
	act->lock = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (act->lock < 0) {
		err = -errno;
		snprintf(why, TIER_TEXT, "cannot open %s: %s; run it as root", LOCK,
			 strerror(-err));
		return err;
	}
	if (!flock(act->lock, LOCK_EX | LOCK_NB))
		return 0;
	err = errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (err == -EBUSY)
		snprintf(
			why, TIER_TEXT,
			"another latscope moves pages, or puts them back; wait until it has ended");
	else
		snprintf(why, TIER_TEXT, "cannot lock %s: %s", LOCK, strerror(-err));
	return err;
}

static int undo(void *arg)
{
	const struct act_mover *mover = arg;

	return mover->method->undo(mover);
}

static const struct restore_ops restore_ops = { .undo = undo };

/*
 * It inherits latscope's end of the restore process's socket. So that one, which waits for the end
 * of both, never undoes while this one still acts.
 */
static int start_mover(struct act *act)
{
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	act->mover.targets.own[0] = getpid();
	act->pid = fork();
	if (act->pid < 0) {
		err = -errno;
		close(ends[0]);
		close(ends[1]);
		return err;
	}
	if (!act->pid) {
		close(ends[1]);
		act->mover.targets.own[1] = getpid();
		act_mover__run(&act->mover, ends[0]);
	}
	close(ends[0]);
	act->socket = ends[1];
	return 0;
}

static void end_mover(struct act *act)
{
	if (act->socket >= 0)
		close(act->socket);
	act->socket = -1;
	if (act->pid > 0)
		while (waitpid(act->pid, NULL, 0) < 0 && errno == EINTR)
			;
	act->pid = 0;
}

static void free_act(struct act *act)
{
	if (act->mover.targets.cgroup >= 0)
		close(act->mover.targets.cgroup);
	if (act->lock >= 0)
		close(act->lock);
	if (act->mover.method)
		act->mover.method->free(&act->mover);
	free(act);
}

static int prepare(struct act *act, const struct act_config *config, char why[TIER_TEXT])
{
	const struct act_method *method = act->mover.method;
	int err;

	err = act_targets__open(&act->mover.targets, why);
	if (!err && !config->dry_run)
		err = take_lock(act, why);
	if (!err)
		err = method->open(&act->mover, config, why);
	if (!err && !config->dry_run && (!config->keep || method->no_keep))
		err = restore__begin(&act->restore, &restore_ops, &act->mover);
	if (!err && !config->dry_run && method->start)
		err = method->start(&act->mover, why);
	return err ? err : start_mover(act);
}

int act__open(struct act **opened, const struct act_config *config, const struct act_nodes *nodes,
	      char why[TIER_TEXT])
{
	struct act *act = calloc(1, sizeof(*act));
	int err;

	why[0] = '\0';
	if (!act)
		return -ENOMEM;
	act->socket = act->lock = -1;
	act->mover = (struct act_mover){
		.method = act_method__find(config->method),
		.targets = { .target = config->target, .root = config->root, .cgroup = -1 },
		.nodes = *nodes,
		.seed = clock__now_ns() | 1
	};
	err = act__look(act->mover.method, config->root, why);
	if (err) {
		free_act(act);
		return err;
	}
	why[0] = '\0';
	err = prepare(act, config, why);
	if (!err) {
		*opened = act;
		return 0;
	}
	if (!why[0])
		snprintf(why, TIER_TEXT, "cannot prepare to move pages: %s", strerror(-err));
	restore__end(act->restore, !act->mover.method->start);
	free_act(act);
	return err;
}

/* Only send() and read(): the filter of system calls refuses others. */
static int ask(struct act *act, const struct act_order *order, struct act_reply *reply,
	       char why[TIER_TEXT])
{
	ssize_t got;

	if (!act->broken && send(act->socket, order, sizeof(*order), MSG_NOSIGNAL) < 0)
		act->broken = true;
	if (!act->broken) {
		do {
			got = read(act->socket, reply, sizeof(*reply));
		} while (got < 0 && errno == EINTR);
		act->broken = got != sizeof(*reply);
	}
	if (act->broken) {
		snprintf(why, TIER_TEXT, "the process that moves pages has ended");
		return -EPIPE;
	}
	if (reply->err)
		snprintf(why, TIER_TEXT, "%s", reply->why);
	return reply->err;
}

int act__place(struct act *act, struct act_place *place, char why[TIER_TEXT])
{
	const struct act_order order = { 0 };
	struct act_reply reply;
	int err = ask(act, &order, &reply, why);

	if (!err)
		*place = reply.place;
	return err;
}

int act__move(struct act *act, int64_t bytes, uint64_t limit_ns, struct act_done *done,
	      char why[TIER_TEXT])
{
	const struct act_order order = { .bytes = bytes, .limit_ns = limit_ns };
	struct act_reply reply;
	int err = bytes ? ask(act, &order, &reply, why) : 0;

	*done = bytes && !err ? reply.done : (struct act_done){ 0 };
	return err;
}

int act__weigh(struct act *act, double share, struct act_place *place, char why[TIER_TEXT])
{
	const struct act_order order = { .weigh = true, .share = share };
	struct act_reply reply;
	int err = ask(act, &order, &reply, why);

	if (!err)
		*place = reply.place;
	return err;
}

int act__close(struct act *act, char why[TIER_TEXT])
{
	int err;

	if (!act)
		return 0;
	end_mover(act);
	err = restore__end(act->restore, false);
	if (err)
		snprintf(why, TIER_TEXT, "%s: %s", act->mover.method->left, strerror(-err));
	free_act(act);
	return err;
}

static int look_for_nodes(const char *root, char why[TIER_TEXT])
{
	struct numa_nodes *nodes = calloc(1, sizeof(*nodes));
	unsigned int memory = 0;
	int err;

	if (!nodes)
		return -ENOMEM;
	err = numa_nodes__read(nodes, root);
	for (unsigned int i = 0; !err && i < nodes->nr; i++)
		memory += nodes->nodes[i].memory;
	free(nodes);
	if (!err && memory >= 2)
		return 0;
	snprintf(why, TIER_TEXT,
		 err ? "the kernel has no NUMA; --act needs two nodes with memory"
		     : "there is one NUMA node; --act needs two with memory");
	return -EOPNOTSUPP;
}

const struct act_method *act_method__find(const char *name)
{
	for (size_t i = 0; act_methods[i]; i++)
		if (!strcmp(act_methods[i]->name, name))
			return act_methods[i];
	return NULL;
}

int act__look(const struct act_method *method, const char *root, char why[TIER_TEXT])
{
	int err;

	if (!method) {
		snprintf(why, TIER_TEXT, "unknown method");
		return -EINVAL;
	}
	err = look_for_nodes(root, why);
	return err ? err : method->look(root, why);
}
