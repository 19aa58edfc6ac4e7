// SPDX-License-Identifier: BSD-2-Clause
/*
 * The kernel's weights of weighted interleave: of how many pages in turn each NUMA node gets. They
 * are the machine's, and govern new pages of processes with that policy.
 */
#include "act_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MOST 255
#define CLOSE 0.0025 /* smaller weights are better than ones that are closer than this */
#define LEAD 0.1
#define LINE 16

/* In memory that the restore process shares. */
struct act_weights {
	struct act_nodes nodes;
	int fds[NUMA_NODES]; /* -1: not a node of the masks */
	unsigned int found[NUMA_NODES], set[NUMA_NODES];
	int automatic; /* file descriptor; -1: before Linux 6.16, which has no such mode */
	bool was_automatic;
	bool written;
};

static bool has(const struct act_weights *weights, unsigned int node)
{
	return (weights->nodes.near | weights->nodes.far) >> node & 1;
}

static int read_line(int fd, char line[LINE])
{
	ssize_t got = pread(fd, line, LINE - 1, 0);

	if (got < 0)
		return -errno;
	line[got] = '\0';
	line[strcspn(line, "\n")] = '\0';
	return 0;
}

static int write_line(int fd, const char *line)
{
	size_t size = strlen(line);
	ssize_t put = pwrite(fd, line, size, 0);

	return put < 0 ? -errno : (size_t)put == size ? 0 : -EIO;
}

static int read_weight(int fd, unsigned int *weight)
{
	char line[LINE], *end;
	unsigned long value;
	int err = read_line(fd, line);

	if (err)
		return err;
	value = strtoul(line, &end, 10);
	if (end == line || *end || !value || value > MOST)
		return -EUCLEAN;
	*weight = (unsigned int)value;
	return 0;
}

static int write_weight(int fd, unsigned int weight)
{
	char line[LINE];

	snprintf(line, sizeof(line), "%u\n", weight);
	return write_line(fd, line);
}

static int open_file(const char *root, const char *name, bool write)
{
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s" ACT_WEIGHTS "/%s", root, name) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = open(path, (write ? O_RDWR : O_RDONLY) | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_automatic(struct act_weights *weights, const char *root, bool write)
{
	char line[LINE];
	int fd = open_file(root, "auto", write), err;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	weights->automatic = fd;
	err = read_line(fd, line);
	weights->was_automatic = !err && !strcmp(line, "true");
	return err;
}

static int open_node(struct act_weights *weights, unsigned int node, const char *root, bool write)
{
	char name[LINE];
	int fd;

	snprintf(name, sizeof(name), "node%u", node);
	fd = open_file(root, name, write);
	if (fd < 0)
		return fd;
	weights->fds[node] = fd;
	return read_weight(fd, &weights->found[node]);
}

static void free_weights(struct act_mover *mover)
{
	struct act_weights *weights = mover->weights;

	if (!weights)
		return;
	for (unsigned int i = 0; i < NUMA_NODES; i++)
		if (weights->fds[i] >= 0)
			close(weights->fds[i]);
	if (weights->automatic >= 0)
		close(weights->automatic);
	munmap(weights, sizeof(*weights));
}

/* Opens the files of all nodes. */
static int open_weights(struct act_mover *mover, const struct act_config *config,
			char why[TIER_TEXT])
{
	struct act_weights *weights = mmap(NULL, sizeof(*weights), PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool write = !config->dry_run;
	int err;

	if (weights == MAP_FAILED)
		return -ENOMEM;
	mover->weights = weights;
	weights->nodes = mover->nodes;
	weights->automatic = -1;
	for (unsigned int i = 0; i < NUMA_NODES; i++)
		weights->fds[i] = -1;
	err = open_automatic(weights, config->root, write);
	for (unsigned int i = 0; !err && i < NUMA_NODES; i++)
		if (has(weights, i))
			err = open_node(weights, i, config->root, write);
	if (err)
		snprintf(why, TIER_TEXT, "cannot use the weights in " ACT_WEIGHTS ": %s%s",
			 strerror(-err), err == -EACCES ? "; run it as root" : "");
	return err;
}

/* -EBUSY: another program changed a weight. */
static int read_share(const struct act_weights *weights, double *share)
{
	double near = 0, sum = 0;

	for (unsigned int i = 0; i < NUMA_NODES; i++) {
		unsigned int weight;
		int err = has(weights, i) ? read_weight(weights->fds[i], &weight) : 1;

		if (err < 0)
			return err;
		if (err)
			continue;
		if (weights->written && weight != weights->set[i])
			return -EBUSY;
		sum += weight;
		near += weights->nodes.near >> i & 1 ? weight : 0;
	}
	*share = near / sum;
	return 0;
}

/* -EIO: the kernel has others than those that were set. */
static int set_share(struct act_weights *weights, double share)
{
	unsigned int fit[2];
	double now;
	int err = 0;

	act_weights__fit(share, (unsigned int)__builtin_popcountll(weights->nodes.near),
			 (unsigned int)__builtin_popcountll(weights->nodes.far), fit);
	weights->written = true;
	for (unsigned int i = 0; !err && i < NUMA_NODES; i++) {
		if (!has(weights, i))
			continue;
		weights->set[i] = fit[!(weights->nodes.near >> i & 1)];
		err = write_weight(weights->fds[i], weights->set[i]);
	}
	if (!err)
		err = read_share(weights, &now);
	return err == -EBUSY ? -EIO : err;
}

static int weigh(struct act_mover *mover, const struct act_order *order, double *now)
{
	int err = order->weigh ? set_share(mover->weights, order->share) : 0;

	return err ? err : read_share(mover->weights, now);
}

/* If any was written, all become what was found. Tries all of them. */
static int undo(const struct act_mover *mover)
{
	const struct act_weights *weights = mover->weights;
	int err = 0;

	if (!weights->written)
		return 0;
	for (unsigned int i = 0; i < NUMA_NODES; i++) {
		int now = has(weights, i) ? write_weight(weights->fds[i], weights->found[i]) : 0;

		err = err ? err : now;
	}
	/* Each write ends this mode. ENODEV: without bandwidths from firmware it did nothing. */
	if (weights->was_automatic) {
		int now = write_line(weights->automatic, "true\n");

		if (now != -ENODEV)
			err = err ? err : now;
	}
	return err;
}

void act_weights__fit(double share, unsigned int near_nodes, unsigned int far_nodes,
		      unsigned int fit[2])
{
	double ratio = share / (1 - share) * far_nodes / near_nodes, best = INFINITY;
	bool nearer = ratio >= 1;

	for (unsigned int low = 1; low <= MOST && best > CLOSE; low++) {
		double high = fmin(MOST, round(low * (nearer ? ratio : 1 / ratio)));
		double near = (nearer ? high : low) * near_nodes;
		double far = (nearer ? low : high) * far_nodes;
		double off = fabs(near / (near + far) - share);

		if (off >= best)
			continue;
		best = off;
		fit[0] = nearer ? (unsigned int)high : low;
		fit[1] = nearer ? low : (unsigned int)high;
	}
}

/*
 * Only new pages follow, so the placement lags behind. The weights may lead it by so much, and no
 * more: otherwise they would run to one end while the old pages stay, and overshoot.
 */
double act_weights__aim(double placement, double now, double shift)
{
	double aim = fmax(placement - LEAD, fmin(placement + LEAD, now + shift));

	return fmax(0, fmin(1, aim));
}

static int look(const char *root, char why[TIER_TEXT])
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s" ACT_WEIGHTS, root);
	if (access(path, F_OK)) {
		snprintf(why, TIER_TEXT,
			 "the kernel has no " ACT_WEIGHTS
			 "; it takes Linux 6.9, or --act move_pages");
		return -EOPNOTSUPP;
	}
	snprintf(why, TIER_TEXT,
		 "tierlat --act: weights of new pages, for processes with the policy weighted "
		 "interleave");
	return 0;
}

const struct act_method act_weights = {
	.name = "weighted-interleave",
	.left = "not all weights could be put back",
	.look = look,
	.open = open_weights,
	.weigh = weigh,
	.undo = undo,
	.free = free_weights,
};
