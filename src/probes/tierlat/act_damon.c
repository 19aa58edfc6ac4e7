// SPDX-License-Identifier: BSD-2-Clause
/*
 * DAMON, the kernel's monitor of accesses, moves pages: by its sysfs files, with one kdamond for
 * the nodes of each tier. Each watches the physical memory of its nodes all the time, and moves
 * what is accessed (`migrate_hot`) in one charge window of its quota when it is told to.
 *
 * The quota of a DAMON scheme is charged for each byte that DAMON tries to move, whether or not it
 * moves. So a window of a quota moves at most as much as the quota, which is what is left of the
 * quantum's shift. The access pattern is closed except in such a window. Before it is opened, the
 * quota in effect is read back: kernels without commit ce652aac9c90 ("mm/damon/core: set
 * quota->charged_from to jiffies at first charge window") have none at first.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <core/clock.h>
#include <host/first_line.h>
#include <host/numa_maps.h>

#include "act_internal.h"

#define KDAMONDS "/sys/kernel/mm/damon/admin/kdamonds"
#define BLOCKS "/sys/devices/system/memory/block_size_bytes"
#define CGROUPS "/sys/fs/cgroup"
#define TIERS 2
#define MOST_RANGES 128
#define PAGE 4096ULL
#define MS 1000000ULL
#define SAMPLE_US "5000"
#define AGGREGATION_US "50000"
#define AGGREGATION (50 * MS)
#define WARM_UP (2000 * MS) /* until regions have adapted to what is accessed */
#define PATIENCE (2000 * MS) /* for a quota to take effect */
#define BUSY_TRIES 200
#define BUSY_PAUSE (10 * MS)
#define FOLLOWED 4 /* part of what was asked that has to move */
#define MOST_IDLE 10 /* times the largest move: asked for in vain */
#define ACCESSES "3" /* of ten samples: what is less may be a small part of a large region */
#define NEVER "4294967295" /* accesses: more than there are samples */
#define SCHEME "contexts/0/schemes/0/"
#define LINE 64

struct range {
	uint64_t start, end;
};

/* Bytes, of a scheme since its kdamond was turned on. */
struct counts {
	uint64_t tried, applied;
};

/* Memory that the restore process shares. */
struct act_damon {
	const char *root;
	char cgroup[PATH_MAX]; /* as DAMON names it, "/a/b"; empty: all */
	struct range ranges[TIERS][MOST_RANGES]; /* near, far */
	unsigned int nr[TIERS];
	unsigned int to[TIERS]; /* node that a kdamond moves to */
	uint64_t since_ns[TIERS]; /* when it began to watch */
	uint64_t quota[TIERS]; /* of the last window */
	struct counts counts[TIERS]; /* at its end */
	uint64_t largest, vain; /* bytes asked for: in a move; since the placement followed */
	bool made;
};

static void pause_for(uint64_t ns)
{
	const struct timespec time = clock__timespec(ns);

	nanosleep(&time, NULL);
}

static int put_once(const char *path, const char *text)
{
	size_t size = strlen(text);
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC), err = 0;
	ssize_t put;

	if (fd < 0)
		return -errno;
	put = write(fd, text, size);
	if (put < 0)
		err = -errno;
	else if ((size_t)put != size)
		err = -EIO;
	close(fd);
	return err;
}

/*
 * The kernel answers EBUSY while it obeys another command, or another program reads or writes. If
 * that is so and there is a try left, waits a little.
 */
static bool try_again(int err, unsigned int *tries)
{
	if (err != -EBUSY || ++*tries == BUSY_TRIES)
		return false;
	pause_for(BUSY_PAUSE);
	return true;
}

static int put_text(const struct act_damon *damon, const char *text, const char *format,
		    va_list names)
{
	char path[PATH_MAX];
	int used = snprintf(path, sizeof(path), "%s" KDAMONDS "/", damon->root), err;
	unsigned int tries = 0;

	if (used >= PATH_MAX ||
	    vsnprintf(path + used, sizeof(path) - (size_t)used, format, names) >= PATH_MAX - used)
		return -ENAMETOOLONG;
	do {
		err = put_once(path, text);
	} while (try_again(err, &tries));
	return err;
}

static int put(const struct act_damon *damon, const char *text, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int put(const struct act_damon *damon, const char *text, const char *format, ...)
{
	va_list names;
	int err;

	va_start(names, format);
	err = put_text(damon, text, format, names);
	va_end(names);
	return err;
}

static int put_number(const struct act_damon *damon, uint64_t number, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int put_number(const struct act_damon *damon, uint64_t number, const char *format, ...)
{
	char text[LINE];
	va_list names;
	int err;

	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	va_start(names, format);
	err = put_text(damon, text, format, names);
	va_end(names);
	return err;
}

static int get_number(const char *root, const char *path, int base, uint64_t *number)
{
	char line[LINE], *end;
	int err = first_line__read(root, path, line, sizeof(line));

	if (err)
		return err;
	*number = strtoull(line, &end, base);
	return end == line || *end ? -EUCLEAN : 0;
}

static int get(const struct act_damon *damon, unsigned int which, const char *file,
	       uint64_t *number)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), KDAMONDS "/%u/%s", which, file);
	return get_number(damon->root, path, 10, number);
}

/* Adds a block of memory, and keeps the ranges in order. -E2BIG: there are too many. */
static int add_range(struct act_damon *damon, unsigned int tier, struct range block)
{
	struct range *ranges = damon->ranges[tier];
	unsigned int nr = damon->nr[tier], at = 0;

	if (nr == MOST_RANGES)
		return -E2BIG;
	while (at < nr && ranges[at].start < block.start)
		at++;
	memmove(ranges + at + 1, ranges + at, (nr - at) * sizeof(*ranges));
	ranges[at] = block;
	damon->nr[tier]++;
	for (unsigned int i = 0; i + 1 < damon->nr[tier];) {
		if (ranges[i].end < ranges[i + 1].start) {
			i++;
			continue;
		}
		if (ranges[i + 1].end > ranges[i].end)
			ranges[i].end = ranges[i + 1].end;
		damon->nr[tier]--;
		memmove(ranges + i + 1, ranges + i + 2,
			(damon->nr[tier] - i - 1) * sizeof(*ranges));
	}
	return 0;
}

/* nodeN has an entry memoryB for each of its blocks. */
static int read_node(struct act_damon *damon, unsigned int tier, unsigned int node, uint64_t size)
{
	unsigned long long number;
	char path[PATH_MAX], rest;
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/devices/system/node/node%u", damon->root, node);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "memory%llu%c", &number, &rest) == 1 &&
		    number < UINT64_MAX / size)
			err = add_range(damon, tier,
					(struct range){ number * size, (number + 1) * size });
	closedir(dir);
	return err;
}

static int read_ranges(struct act_damon *damon, const struct act_nodes *nodes, char why[TIER_TEXT])
{
	const uint64_t masks[TIERS] = { nodes->near, nodes->far };
	uint64_t size = 0;
	int err = get_number(damon->root, BLOCKS, 16, &size);

	if (!err && size < PAGE)
		err = -EUCLEAN;
	for (unsigned int tier = 0; !err && tier < TIERS; tier++) {
		for (unsigned int node = 0; !err && node < NUMA_NODES; node++)
			if (masks[tier] >> node & 1)
				err = read_node(damon, tier, node, size);
		if (!err && !damon->nr[tier])
			err = -ENOENT;
	}
	if (err)
		snprintf(why, TIER_TEXT,
			 "cannot read which memory the nodes have from /sys/devices/system: %s; "
			 "use --act move_pages",
			 strerror(-err));
	return err == -ENOENT ? -EOPNOTSUPP : err;
}

static bool has_below(const char *path)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	bool found = false;

	while (dir && !found && (entry = readdir(dir)))
		found = entry->d_type == DT_DIR && entry->d_name[0] != '.';
	if (dir)
		closedir(dir);
	return found;
}

/* A filter takes the pages charged to one cgroup, without those below it. */
static int name_cgroup(struct act_damon *damon, const char *cgroup, char why[TIER_TEXT])
{
	char path[PATH_MAX], file[PATH_MAX + 16];
	size_t length;

	if (!strncmp(cgroup, CGROUPS "/", sizeof(CGROUPS)))
		cgroup += sizeof(CGROUPS);
	cgroup += strspn(cgroup, "/");
	if (snprintf(damon->cgroup, sizeof(damon->cgroup), "/%s", cgroup) >= PATH_MAX ||
	    snprintf(path, sizeof(path), "%s" CGROUPS "/%s", damon->root, cgroup) >= PATH_MAX)
		return -ENAMETOOLONG;
	for (length = strlen(damon->cgroup); length > 1 && damon->cgroup[length - 1] == '/';)
		damon->cgroup[--length] = '\0';
	snprintf(file, sizeof(file), "%s/memory.current", path);
	if (access(file, F_OK)) {
		snprintf(why, TIER_TEXT,
			 "the cgroup has no memory controller, by which DAMON knows its pages; use "
			 "--act move_pages");
		return -EOPNOTSUPP;
	}
	if (!has_below(path))
		return 0;
	snprintf(why, TIER_TEXT,
		 "DAMON takes the pages of one cgroup, and this one has others below it; use --act "
		 "move_pages");
	return -EOPNOTSUPP;
}

/* Reads which memory the nodes have, and changes nothing. */
static int open_damon(struct act_mover *mover, const struct act_config *config, char why[TIER_TEXT])
{
	struct act_damon *damon = mmap(NULL, sizeof(*damon), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const char *cgroup = config->target.cgroup;
	int err;

	if (damon == MAP_FAILED)
		return -ENOMEM;
	mover->damon = damon;
	damon->root = config->root;
	damon->to[0] = (unsigned int)__builtin_ctzll(mover->nodes.far);
	damon->to[1] = (unsigned int)__builtin_ctzll(mover->nodes.near);
	err = read_ranges(damon, &mover->nodes, why);
	return err || !cgroup ? err : name_cgroup(damon, cgroup, why);
}

static void free_damon(struct act_mover *mover)
{
	if (mover->damon)
		munmap(mover->damon, sizeof(*mover->damon));
}

static const struct setting {
	const char *file, *text;
	const char *lack; /* what the kernel does not have if it refuses this */
} settings[] = {
	{ "contexts/nr_contexts", "1", NULL },
	{ "contexts/0/operations", "paddr", "DAMON of physical memory (CONFIG_DAMON_PADDR)" },
	{ "contexts/0/monitoring_attrs/intervals/sample_us", SAMPLE_US, NULL },
	{ "contexts/0/monitoring_attrs/intervals/aggr_us", AGGREGATION_US, NULL },
	{ "contexts/0/monitoring_attrs/nr_regions/min", "10", NULL },
	{ "contexts/0/monitoring_attrs/nr_regions/max", "256", NULL },
	{ "contexts/0/targets/nr_targets", "1", NULL },
	{ "contexts/0/schemes/nr_schemes", "1", NULL },
	{ SCHEME "action", "migrate_hot", "DAMON action migrate_hot (Linux 6.11)" },
	{ SCHEME "access_pattern/sz/max", "18446744073709551615", NULL },
	{ SCHEME "access_pattern/nr_accesses/min", NEVER, NULL },
	{ SCHEME "access_pattern/nr_accesses/max", NEVER, NULL },
	{ SCHEME "access_pattern/age/max", NEVER, NULL },
	{ SCHEME "quotas/bytes", "4096", NULL }, /* PAGE */
	{ SCHEME "quotas/reset_interval_ms", "1", NULL },
};

static int set_regions(struct act_damon *damon, unsigned int which)
{
	const char *regions = "contexts/0/targets/0/regions";
	int err = put_number(damon, damon->nr[which], "%u/%s/nr_regions", which, regions);

	for (unsigned int i = 0; !err && i < damon->nr[which]; i++) {
		const struct range *range = &damon->ranges[which][i];

		err = put_number(damon, range->start, "%u/%s/%u/start", which, regions, i);
		if (!err)
			err = put_number(damon, range->end, "%u/%s/%u/end", which, regions, i);
	}
	return err;
}

/* Pages of other cgroups are left out. */
static int set_filter(struct act_damon *damon, unsigned int which)
{
	const char *filters = SCHEME "filters";
	int err;

	if (!damon->cgroup[0])
		return 0;
	err = put(damon, "1", "%u/%s/nr_filters", which, filters);
	if (!err)
		err = put(damon, "memcg", "%u/%s/0/type", which, filters);
	if (!err)
		err = put(damon, "N", "%u/%s/0/matching", which, filters);
	return err ? err : put(damon, damon->cgroup, "%u/%s/0/memcg_path", which, filters);
}

static int command(struct act_damon *damon, unsigned int which, const char *word)
{
	return put(damon, word, "%u/state", which);
}

static int turn_on(struct act_damon *damon, unsigned int which)
{
	int err = put_number(damon, damon->to[which], "%u/" SCHEME "target_nid", which);

	if (!err)
		err = command(damon, which, "on");
	damon->since_ns[which] = clock__now_ns();
	damon->quota[which] = 0;
	damon->counts[which] = (struct counts){ 0 };
	return err;
}

static int set_up(struct act_damon *damon, unsigned int which, const char **lack)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(settings) / sizeof(settings[0]); i++) {
		err = put(damon, settings[i].text, "%u/%s", which, settings[i].file);
		if (err == -EINVAL || err == -ENOENT)
			*lack = settings[i].lack;
	}
	if (!err)
		err = set_regions(damon, which);
	if (!err)
		err = set_filter(damon, which);
	return err ? err : turn_on(damon, which);
}

/* Starts both kdamonds, which move nothing yet. */
static int start(struct act_mover *mover, char why[TIER_TEXT])
{
	struct act_damon *damon = mover->damon;
	const char *lack = NULL;
	int err;

	damon->made = true;
	err = put_number(damon, TIERS, "nr_kdamonds");
	for (unsigned int which = 0; !err && which < TIERS; which++)
		err = set_up(damon, which, &lack);
	if (lack) {
		snprintf(why, TIER_TEXT, "the kernel has no %s; use --act move_pages", lack);
		return -EOPNOTSUPP;
	}
	if (err)
		snprintf(why, TIER_TEXT, "cannot start DAMON in " KDAMONDS ": %s%s", strerror(-err),
			 err == -EACCES	 ? "; run it as root"
			 : err == -EBUSY ? "; end what else uses DAMON"
					 : "");
	return err;
}

/* "on" or "off" */
static int read_state(const struct act_damon *damon, unsigned int which, char state[LINE])
{
	unsigned int tries = 0;
	char path[PATH_MAX];
	int err;

	snprintf(path, sizeof(path), KDAMONDS "/%u/state", which);
	do {
		err = first_line__read(damon->root, path, state, LINE);
	} while (try_again(err, &tries));
	return err;
}

/* Of what another program changed, DAMON says nothing: the kdamonds are fewer, or do not run. */
static int check(const struct act_damon *damon, unsigned int which)
{
	char state[LINE];
	uint64_t nr;

	if (get_number(damon->root, KDAMONDS "/nr_kdamonds", 10, &nr) || nr != TIERS)
		return -EBUSY;
	if (read_state(damon, which, state) || !strcmp(state, "off"))
		return -EBUSY;
	return 0;
}

/* Open: what is accessed qualifies; the window stays. Closed: nothing does; a window is short. */
static int set_window(struct act_damon *damon, unsigned int which, bool open, uint64_t bytes)
{
	int err = put(damon, open ? ACCESSES : NEVER, "%u/" SCHEME "access_pattern/nr_accesses/min",
		      which);

	if (!err)
		err = put(damon, open ? "3600000" : "1", "%u/" SCHEME "quotas/reset_interval_ms",
			  which);
	if (!err)
		err = put_number(damon, bytes, "%u/" SCHEME "quotas/bytes", which);
	return err ? err : command(damon, which, "commit");
}

/* Not that of the last window: DAMON then shows when it has begun a new one. */
static uint64_t choose_quota(struct act_damon *damon, unsigned int which, uint64_t bytes)
{
	uint64_t quota = bytes / PAGE * PAGE;

	if (quota == damon->quota[which])
		quota += quota > PAGE ? -PAGE : PAGE;
	damon->quota[which] = quota;
	return quota;
}

/* Waits until a quota is in effect, while nothing qualifies. */
static int arm(struct act_damon *damon, unsigned int which, uint64_t bytes)
{
	uint64_t until = clock__now_ns() + PATIENCE, now = 0;
	int err = set_window(damon, which, false, bytes);

	while (!err) {
		err = command(damon, which, "update_schemes_effective_quotas");
		if (!err)
			err = get(damon, which, SCHEME "quotas/effective_bytes", &now);
		if (err || now == bytes)
			return err;
		if (clock__now_ns() >= until)
			return -EPROTO;
		pause_for(AGGREGATION / 4);
	}
	return err;
}

static int count(struct act_damon *damon, unsigned int which, struct counts *counts)
{
	int err = command(damon, which, "update_schemes_stats");

	if (!err)
		err = get(damon, which, SCHEME "stats/sz_tried", &counts->tried);
	return err ? err : get(damon, which, SCHEME "stats/sz_applied", &counts->applied);
}

/* One charge window; adds to `moved` what DAMON says it moved. */
static int charge(struct act_damon *damon, unsigned int which, uint64_t bytes, uint64_t *moved)
{
	uint64_t quota = choose_quota(damon, which, bytes), until;
	struct counts before = damon->counts[which], after = before;
	int err = arm(damon, which, quota), closed;

	if (!err)
		err = set_window(damon, which, true, quota);
	until = clock__now_ns() + 4 * AGGREGATION;
	while (!err && after.tried == before.tried && clock__now_ns() < until) {
		pause_for(AGGREGATION);
		err = count(damon, which, &after);
	}
	closed = set_window(damon, which, false, quota);
	if (!err)
		err = closed;
	if (!err)
		err = count(damon, which, &after);
	if (!err && after.applied < before.applied)
		err = -EBUSY;
	if (err)
		return err;
	*moved += after.applied - before.applied;
	damon->counts[which] = after;
	return 0;
}

static int turn_to(struct act_damon *damon, unsigned int which, unsigned int to)
{
	int err;

	if (damon->to[which] == to)
		return 0;
	damon->to[which] = to;
	err = command(damon, which, "off");
	return err ? err : turn_on(damon, which);
}

/* Takes about the limit of the order, or the time of one charge window. */
static int move(struct act_mover *mover, const struct act_order *order, unsigned int to,
		const struct act_pids *pids, const uint64_t *from_bytes, struct act_done *done)
{
	uint64_t now = clock__now_ns(), until = now + order->limit_ns, begun;
	uint64_t bytes = act_order__bytes(order);
	struct act_damon *damon = mover->damon;
	unsigned int which = order->bytes > 0; /* the far nodes' kdamond gives to the near ones */
	int err = check(damon, which);

	(void)pids, (void)from_bytes;
	if (!err)
		err = turn_to(damon, which, to);
	if (err)
		return err;
	done->early = now - damon->since_ns[which] < WARM_UP;
	if (done->early)
		return 0;
	done->tried = bytes;
	do {
		begun = now;
		err = charge(damon, which, bytes - done->applied, &done->applied);
		now = clock__now_ns();
	} while (!err && done->applied + PAGE <= bytes && now + (now - begun) < until);
	/* A huge page moves as a whole, so the last one may go beyond the quota. */
	return !err && done->applied > 2 * bytes + (4 << 20) ? -EOVERFLOW : err;
}

/*
 * -ENODATA: nothing moved for long; -EXDEV: something else did. One move may try memory of others
 * only: the next one goes on there.
 */
static int judge(struct act_mover *mover, const struct act_order *order,
		 const struct act_place *before, const struct act_place *after,
		 struct act_done *done)
{
	bool nearer = order->bytes > 0;
	uint64_t had = nearer ? before->near_bytes : before->far_bytes;
	uint64_t has = nearer ? after->near_bytes : after->far_bytes;
	struct act_damon *damon = mover->damon;

	done->moved = has > had ? has - had : 0;
	if (done->full || done->early)
		return 0;
	if (done->tried > damon->largest)
		damon->largest = done->tried;
	damon->vain = done->moved < done->tried / FOLLOWED ? damon->vain + done->tried : 0;
	if (damon->vain < MOST_IDLE * damon->largest)
		return 0;
	return done->applied ? -EXDEV : -ENODATA;
}

static const char *explain(int err)
{
	switch (err) {
	case -EBUSY:
	case -ENOENT:
	case -EINVAL:
	case -EPERM:
		return "another program changed DAMON";
	case -EPROTO:
		return "the kernel does not apply DAMON's quota (some do not in the first 5 "
		       "minutes after boot); use --act move_pages";
	case -EOVERFLOW:
		return "DAMON moved more than its quota; use --act move_pages";
	case -ENODATA:
		return "DAMON moved nothing: it finds no accessed memory that "
		       "can move; use --act move_pages";
	case -EXDEV:
		return "the placement does not follow what DAMON moves; use --act move_pages";
	}
	return NULL;
}

/*
 * If any kdamond was made, turns both off and removes them. Leaves alone what another program has
 * made since.
 */
static int undo(const struct act_mover *mover)
{
	const struct act_damon *damon = mover->damon;
	char state[LINE];
	uint64_t nr = 0;
	int err;

	if (!damon->made)
		return 0;
	err = get_number(damon->root, KDAMONDS "/nr_kdamonds", 10, &nr);
	if (err || !nr)
		return err;
	if (nr != TIERS)
		return -EBUSY;
	for (unsigned int which = 0; which < TIERS; which++) {
		if (read_state(damon, which, state) || strcmp(state, "off"))
			put(damon, "off", "%u/state", which);
	}
	return put(damon, "0", "nr_kdamonds");
}

/* By the kernel's own types, where it has them: to ask DAMON would take a write. */
static bool lacks_action(const char *root)
{
	static const char action[] = "DAMOS_MIGRATE_HOT";
	char path[PATH_MAX], *text = NULL;
	bool lacks = false;
	struct stat stat;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/sys/kernel/btf/vmlinux", root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!fstat(fd, &stat) && stat.st_size > 0)
		text = malloc((size_t)stat.st_size);
	if (text) {
		size_t size = 0;

		while (size < (size_t)stat.st_size &&
		       (got = read(fd, text + size, (size_t)stat.st_size - size)) > 0)
			size += (size_t)got;
		lacks = size == (size_t)stat.st_size && !memmem(text, size, action, sizeof(action));
	}
	free(text);
	close(fd);
	return lacks;
}

/* The kernel's own users of DAMON let no other one run. */
static const char *exclusive_user(const char *root)
{
	static const char *const users[] = { "damon_stat", "damon_reclaim", "damon_lru_sort" };
	char path[PATH_MAX], line[LINE];

	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		snprintf(path, sizeof(path), "/sys/module/%s/parameters/enabled", users[i]);
		if (!first_line__read(root, path, line, sizeof(line)) && !strcmp(line, "Y"))
			return users[i];
	}
	return NULL;
}

static int look(const char *root, char why[TIER_TEXT])
{
	uint64_t nr = 0;
	int err = get_number(root, KDAMONDS "/nr_kdamonds", 10, &nr);
	const char *user;

	if (err == -ENOENT)
		snprintf(why, TIER_TEXT,
			 "the kernel has no " KDAMONDS " (CONFIG_DAMON_SYSFS); use --act "
			 "move_pages");
	else if (err)
		snprintf(why, TIER_TEXT, "cannot read " KDAMONDS ": %s%s", strerror(-err),
			 err == -EACCES ? "; run it as root" : "");
	if (err)
		return err == -ENOENT ? -EOPNOTSUPP : err;
	if (lacks_action(root)) {
		snprintf(why, TIER_TEXT,
			 "the kernel has no DAMON action migrate_hot (Linux 6.11); use --act "
			 "move_pages");
		return -EOPNOTSUPP;
	}
	user = exclusive_user(root);
	if (nr)
		snprintf(why, TIER_TEXT,
			 "DAMON is in use: nr_kdamonds is %llu, and the kernel does not say by "
			 "which program; end it, or use --act move_pages",
			 (unsigned long long)nr);
	else if (user)
		snprintf(why, TIER_TEXT,
			 "%s of the kernel is on and excludes others; echo N >/sys/module/%s/"
			 "parameters/enabled, or use --act move_pages",
			 user, user);
	else
		snprintf(why, TIER_TEXT,
			 "tierlat --act: DAMON moves what is accessed, of all processes or of a "
			 "cgroup");
	return nr || user ? -EBUSY : 0;
}

const struct act_method act_damon = {
	.name = "damon",
	.no_pid = "DAMON moves by physical address and cannot be limited to a process; use "
		  "--cgroup, --system or --act move_pages",
	.no_keep = "puts no page back",
	.left = "DAMON could not be turned off",
	.look = look,
	.open = open_damon,
	.start = start,
	.move = move,
	.judge = judge,
	.explain = explain,
	.undo = undo,
	.free = free_damon,
};
