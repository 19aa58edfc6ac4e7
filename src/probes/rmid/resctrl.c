// SPDX-License-Identifier: BSD-2-Clause
#include "resctrl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <core/clock.h>
#include <host/restore.h>

#include "resctrl_tree.h"

#define EVENTS 3
#define DOMAINS 64
#define BUDGET_NS 1000000ULL
#define STALE 10 /* this part of an occupancy may be of another process */
#define MONITORING "info/L3_MON/"

/* By event - 1. */
static const char *const features[EVENTS] = {
	[LATSCOPE_RMID_OCCUPANCY - 1] = "llc_occupancy",
	[LATSCOPE_RMID_MBM_TOTAL - 1] = "mbm_total_bytes",
	[LATSCOPE_RMID_MBM_LOCAL - 1] = "mbm_local_bytes",
};

/* One file of one group. */
struct counter {
	int fd; /* negative: there is none */
	uint64_t past, past_ns; /* traffic: the previous value; time 0: there was none */
	uint64_t stale; /* occupancy: so much may be what the last process of the group left */
};

struct group {
	uint32_t tgid; /* 0: unused */
	bool moved; /* its process is in it, so the values are of it alone */
};

struct resctrl {
	struct resctrl_tree tree;
	struct restore *restore;
	resctrl_told *told;
	void *context;
	struct group *groups; /* the first is not used */
	struct counter *counters; /* by group - 1, domain and event */
	uint32_t nr_groups, nr_domains, rmids;
	uint32_t domains[DOMAINS];
	bool begun;
	uint32_t at; /* the group read last */
	uint64_t done, due; /* readings of groups */
	uint64_t no_value, failed;
	uint64_t doubtful; /* occupancies that may be of another process */
	uint32_t foreign; /* groups of other programs */
	uint64_t refused, ended; /* processes in such groups; that ended before they were moved */
};

/* What latscope asks the process that restores, and its answer. */
struct request {
	uint32_t group, tgid;
};

/* ---- the process that has privileges ---- */

static bool transfer(int socket, bool out, void *data, size_t size)
{
	char *at = data;
	ssize_t got;

	while (size) {
		got = out ? send(socket, at, size, MSG_NOSIGNAL) : read(socket, at, size);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		size -= (size_t)got;
	}
	return true;
}

/* It keeps the user ID of root, which moving needs, and nothing else. */
static void drop_capabilities(void *arg, int socket)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };

	(void)arg, (void)socket;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_capset, &header, none))
		_exit(errno); /* latscope notices with the first request */
}

/*
 * Moves processes, into our groups only, until latscope has ended. Its copy of nr_groups is how
 * many are wanted; moving into one that does not exist fails.
 */
static void serve(void *arg, int socket)
{
	const struct resctrl *resctrl = arg;
	struct request request;
	int32_t answer;

	while (transfer(socket, false, &request, sizeof(request))) {
		answer = -EINVAL;
		if (request.group <= resctrl->nr_groups)
			answer = resctrl_tree__move(&resctrl->tree, request.group, request.tgid);
		if (!transfer(socket, true, &answer, sizeof(answer)))
			break;
	}
}

static int undo(void *arg)
{
	const struct resctrl *resctrl = arg;

	return resctrl_tree__remove(&resctrl->tree);
}

/* The number of threads that were moved, or -errno. */
static int move(struct resctrl *resctrl, uint32_t group, uint32_t tgid)
{
	struct request request = { group, tgid };
	int socket = restore__socket(resctrl->restore);
	int32_t answer;

	if (!transfer(socket, true, &request, sizeof(request)) ||
	    !transfer(socket, false, &answer, sizeof(answer)))
		return -EPIPE;
	return answer;
}

/* ---- opening ---- */

static uint64_t read_number(const struct resctrl *resctrl, const char *path)
{
	char text[32], *end;
	uint64_t number;

	if (resctrl_tree__text(resctrl->tree.resctrl, path, text, sizeof(text)))
		return 0;
	number = strtoull(text, &end, 10);
	return *end ? 0 : number;
}

/* Mask of 1 << (event - 1). The list also names the files that configure events. */
static uint32_t read_features(const struct resctrl *resctrl)
{
	char text[1024], *line, *rest = text;
	uint32_t mask = 0;

	if (resctrl_tree__text(resctrl->tree.resctrl, MONITORING "mon_features", text,
			       sizeof(text)))
		return 0;
	while ((line = strsep(&rest, "\n")))
		for (int i = 0; i < EVENTS; i++)
			if (!strcmp(line, features[i]))
				mask |= 1U << i;
	return mask;
}

/* Makes as many groups as there are, up to `wanted`. */
static int make_groups(struct resctrl *resctrl, uint32_t wanted, char why[RUN_TEXT])
{
	int err = 0;

	while (!err && resctrl->nr_groups < wanted) {
		err = resctrl_tree__make(&resctrl->tree, resctrl->nr_groups + 1);
		resctrl->nr_groups += !err;
	}
	if (resctrl->nr_groups && err == -ENOSPC)
		return 0;
	if (err == -ENOSPC)
		snprintf(why, RUN_TEXT,
			 "groups of other programs have all %u RMIDs; remove one of them",
			 resctrl->rmids);
	return err == -ENOSPC ? -EOPNOTSUPP : err;
}

/* The directories mon_L3_NN of a group: one for each L3 cache that has a CPU online. */
static int find_domains(struct resctrl *resctrl, char why[RUN_TEXT])
{
	int dir = resctrl_tree__at(resctrl->tree.resctrl, "mon_data", O_RDONLY | O_DIRECTORY);
	DIR *list = dir < 0 ? NULL : fdopendir(dir);
	const struct dirent *entry;
	unsigned int id;
	char rest;

	if (!list)
		return dir < 0 ? dir : -errno;
	while ((entry = readdir(list)))
		if (sscanf(entry->d_name, "mon_L3_%u%c", &id, &rest) == 1 &&
		    resctrl->nr_domains < DOMAINS)
			resctrl->domains[resctrl->nr_domains++] = id;
	closedir(list);
	if (resctrl->nr_domains)
		return 0;
	snprintf(why, RUN_TEXT, "resctrl lists no L3 cache");
	return -EOPNOTSUPP;
}

static struct counter *counter_of(const struct resctrl *resctrl, uint32_t group, uint32_t domain,
				  uint32_t event)
{
	return &resctrl->counters[((group - 1) * resctrl->nr_domains + domain) * EVENTS + event -
				  1];
}

/* There is none if the last CPU of the cache went offline since the caches were listed. */
static int open_counter(struct resctrl *resctrl, uint32_t group, uint32_t domain, uint32_t event)
{
	char name[RESCTRL_NAME], path[PATH_MAX];
	int fd;

	resctrl_tree__name(&resctrl->tree, group, name);
	snprintf(path, sizeof(path), "mon_groups/%s/mon_data/mon_L3_%02u/%s", name,
		 resctrl->domains[domain], features[event - 1]);
	fd = resctrl_tree__at(resctrl->tree.resctrl, path, O_RDONLY);
	counter_of(resctrl, group, domain, event)->fd = fd;
	return fd < 0 && fd != -ENOENT && fd != -ENODEV ? fd : 0;
}

static void raise_limit(rlim_t files)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= files)
		return;
	limit.rlim_cur = files < limit.rlim_max ? files : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit); /* if it fails, opening the files fails too */
}

/* They stay open: without privileges, nothing can be opened there. */
static int open_counters(struct resctrl *resctrl, uint32_t mask)
{
	uint32_t nr = resctrl->nr_groups * resctrl->nr_domains * EVENTS;
	int err = 0;

	resctrl->counters = calloc(nr, sizeof(*resctrl->counters));
	resctrl->groups = calloc(resctrl->nr_groups + 1, sizeof(*resctrl->groups));
	if (!resctrl->counters || !resctrl->groups)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr; i++)
		resctrl->counters[i].fd = -1;
	raise_limit(nr + 1024);
	for (uint32_t group = 1; !err && group <= resctrl->nr_groups; group++)
		for (uint32_t domain = 0; !err && domain < resctrl->nr_domains; domain++)
			for (uint32_t event = 1; !err && event <= EVENTS; event++)
				if (mask & 1U << (event - 1))
					err = open_counter(resctrl, group, domain, event);
	return err;
}

/* The process that restores is started before the first group is made: it goes by their names. */
static int make_pool(struct resctrl *resctrl, uint32_t wanted, uint32_t mask, char why[RUN_TEXT])
{
	static const struct restore_ops ops = { .settle = drop_capabilities,
						.undo = undo,
						.serve = serve };
	int err;

	resctrl_tree__remove(&resctrl->tree); /* of killed latscopes */
	resctrl->foreign = resctrl_tree__foreign(&resctrl->tree);
	resctrl->nr_groups = wanted;
	err = restore__begin(&resctrl->restore, &ops, resctrl);
	resctrl->nr_groups = 0;
	if (!err)
		err = make_groups(resctrl, wanted, why);
	if (!err)
		err = find_domains(resctrl, why);
	return err ? err : open_counters(resctrl, mask);
}

static int prepare(struct resctrl *resctrl, uint32_t wanted, char why[RUN_TEXT])
{
	uint32_t mask = read_features(resctrl), half;

	resctrl->rmids = (uint32_t)read_number(resctrl, MONITORING "num_rmids");
	if (!mask || resctrl->rmids < 2) {
		snprintf(why, RUN_TEXT, "the CPU does not monitor its L3 cache by RMID");
		return -EOPNOTSUPP;
	}
	half = resctrl->rmids / 2 < RESCTRL_GROUPS ? resctrl->rmids / 2 : RESCTRL_GROUPS;
	return make_pool(resctrl, wanted ? wanted : half, mask, why);
}

int resctrl__open(struct resctrl **out, const char *root, uint32_t wanted, resctrl_told *told,
		  void *context, char why[RUN_TEXT])
{
	struct resctrl *resctrl = calloc(1, sizeof(*resctrl));
	int err;

	if (!resctrl)
		return -ENOMEM;
	resctrl->told = told;
	resctrl->context = context;
	err = resctrl_tree__open(&resctrl->tree, root, why);
	if (err) {
		free(resctrl);
		return err;
	}
	err = prepare(resctrl, wanted, why);
	if (err)
		resctrl__close(resctrl);
	else
		*out = resctrl;
	return err;
}

int resctrl__close(struct resctrl *resctrl)
{
	int err;

	if (!resctrl)
		return 0;
	for (uint32_t i = 0;
	     resctrl->counters && i < resctrl->nr_groups * resctrl->nr_domains * EVENTS; i++)
		if (resctrl->counters[i].fd >= 0)
			close(resctrl->counters[i].fd);
	err = restore__end(resctrl->restore, false);
	resctrl_tree__close(&resctrl->tree);
	free(resctrl->counters);
	free(resctrl->groups);
	free(resctrl);
	return err;
}

uint32_t resctrl__groups(const struct resctrl *resctrl)
{
	return resctrl->nr_groups;
}

/* ---- reading ---- */

/* "Unassigned" is of AMD's assignable counters, where none counts for the group. */
static enum latscope_rmid_status parse(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	if (end != text && (*end == '\n' || !*end) && *text != '-' && !errno)
		return LATSCOPE_RMID_VALUE;
	return !strncmp(text, "Unavailable", 11) || !strncmp(text, "Unassigned", 10)
		       ? LATSCOPE_RMID_UNAVAILABLE
		       : LATSCOPE_RMID_ERROR;
}

/* A cache whose CPUs are all offline has no files any more: that is an error, too. */
static enum latscope_rmid_status read_value(const struct counter *counter, uint64_t *value)
{
	char text[64];
	ssize_t length = pread(counter->fd, text, sizeof(text) - 1, 0);

	if (length <= 0)
		return LATSCOPE_RMID_ERROR;
	text[length] = '\0';
	return parse(text, value);
}

/* The kernel extends the counters to 64 bits; only a group that was reset counts less. */
static void subtract(struct counter *counter, uint64_t value, struct latscope_rmid_read *read)
{
	read->status = LATSCOPE_RMID_BASELINE;
	if (counter->past_ns && value >= counter->past) {
		read->status = LATSCOPE_RMID_VALUE;
		read->bytes = value - counter->past;
		read->since_ns = counter->past_ns;
	}
	counter->past = value;
	counter->past_ns = read->time_ns;
}

/* Lines stay charged to a group until they are evicted, so what others left never grows. */
static bool is_own(struct counter *counter, uint64_t value)
{
	if (value < counter->stale)
		counter->stale = value;
	return counter->stale <= value / STALE;
}

/* `tell`: otherwise, the value is only what the next one is compared with. */
static int read_counter(struct resctrl *resctrl, uint32_t group, uint32_t domain, uint32_t event,
			uint64_t now_ns, bool tell)
{
	struct counter *counter = counter_of(resctrl, group, domain, event);
	struct latscope_rmid_read read = {
		.time_ns = now_ns,
		.since_ns = now_ns,
		.rmid = group,
		.domain = resctrl->domains[domain],
		.event = event,
	};
	uint64_t value;

	if (counter->fd < 0 || (counter->past_ns && counter->past_ns >= now_ns))
		return 0;
	read.status = read_value(counter, &value);
	if (read.status != LATSCOPE_RMID_VALUE)
		resctrl->no_value += tell;
	else if (event == LATSCOPE_RMID_OCCUPANCY && !is_own(counter, value)) {
		read.status = LATSCOPE_RMID_UNAVAILABLE;
		resctrl->doubtful += tell;
	} else if (event == LATSCOPE_RMID_OCCUPANCY)
		read.bytes = value;
	else
		subtract(counter, value, &read);
	return tell && read.status == LATSCOPE_RMID_VALUE ? resctrl->told(resctrl->context, &read)
							  : 0;
}

/* All caches at one time, so that their sum is of one slot. `now_ns` 0: now. */
static int read_group(struct resctrl *resctrl, uint32_t group, uint64_t now_ns, bool tell)
{
	int err = 0;

	if (!now_ns)
		now_ns = clock__now_ns();
	resctrl->done += tell;
	for (uint32_t domain = 0; !err && domain < resctrl->nr_domains; domain++)
		for (uint32_t event = 1; !err && event <= EVENTS; event++)
			err = read_counter(resctrl, group, domain, event, now_ns, tell);
	return err;
}

/* ---- processes ---- */

static void forget_past(struct resctrl *resctrl, uint32_t group)
{
	for (uint32_t domain = 0; domain < resctrl->nr_domains; domain++)
		for (uint32_t event = 1; event <= EVENTS; event++)
			counter_of(resctrl, group, domain, event)->past_ns = 0;
}

/* Before a process is in the group. */
static void note_stale(struct resctrl *resctrl, uint32_t group)
{
	for (uint32_t domain = 0; domain < resctrl->nr_domains; domain++) {
		struct counter *counter =
			counter_of(resctrl, group, domain, LATSCOPE_RMID_OCCUPANCY);
		uint64_t value = 0;

		if (counter->fd < 0 || read_value(counter, &value) != LATSCOPE_RMID_VALUE)
			value = 0;
		counter->stale = value;
	}
}

/* If that fails, the process stays where it is, and its group is not read. */
static int move_in(struct resctrl *resctrl, uint32_t group)
{
	int moved;

	note_stale(resctrl, group);
	moved = move(resctrl, group, resctrl->groups[group].tgid);

	resctrl->refused += moved == -EBUSY;
	resctrl->ended += moved == -ESRCH;
	resctrl->failed += moved < 0 && moved != -EBUSY && moved != -ESRCH;
	resctrl->groups[group].moved = moved >= 0;
	if (moved == -EPIPE)
		return moved; /* nobody would remove the groups */
	forget_past(resctrl, group);
	return moved < 0 ? 0 : read_group(resctrl, group, 0, false);
}

int resctrl__give(struct resctrl *resctrl, uint32_t group, uint32_t tgid)
{
	resctrl->groups[group] = (struct group){ .tgid = tgid };
	return resctrl->begun ? move_in(resctrl, group) : 0;
}

int resctrl__take(struct resctrl *resctrl, uint32_t group, uint64_t now_ns)
{
	int err = resctrl->groups[group].moved ? read_group(resctrl, group, now_ns, true) : 0;

	resctrl->due += resctrl->groups[group].moved;
	resctrl->groups[group] = (struct group){ 0 };
	return err;
}

int resctrl__wait(struct resctrl *resctrl, uint32_t tgid)
{
	int moved = resctrl->begun ? move(resctrl, 0, tgid) : 0;

	resctrl->failed += moved < 0 && moved != -EBUSY && moved != -ESRCH;
	return moved == -EPIPE ? moved : 0;
}

int resctrl__begin(struct resctrl *resctrl)
{
	int err = 0;

	resctrl->begun = true;
	for (uint32_t group = 1; !err && group <= resctrl->nr_groups; group++)
		if (resctrl->groups[group].tgid)
			err = move_in(resctrl, group);
	return err;
}

int resctrl__start(struct resctrl *resctrl)
{
	int err = 0;

	for (uint32_t group = 1; !err && group <= resctrl->nr_groups; group++) {
		forget_past(resctrl, group);
		if (resctrl->groups[group].moved)
			err = read_group(resctrl, group, 0, false);
	}
	return err;
}

int resctrl__poll(struct resctrl *resctrl)
{
	uint64_t until_ns = clock__now_ns() + BUDGET_NS;
	uint32_t before = resctrl->at;
	bool time_left = true;
	int err = 0;

	for (uint32_t i = 0; !err && i < resctrl->nr_groups; i++) {
		uint32_t group = (before + i) % resctrl->nr_groups + 1;

		if (!resctrl->groups[group].moved)
			continue;
		resctrl->due++;
		time_left = time_left && clock__now_ns() < until_ns;
		if (!time_left)
			continue;
		err = read_group(resctrl, group, 0, true);
		resctrl->at = group;
	}
	return err;
}

int resctrl__stop(struct resctrl *resctrl, uint64_t end_ns)
{
	int err = 0;

	for (uint32_t group = 1; !err && group <= resctrl->nr_groups; group++)
		if (resctrl->groups[group].moved) {
			resctrl->due++;
			err = read_group(resctrl, group, end_ns - 1, true);
		}
	return err;
}

void resctrl__tell(const struct resctrl *resctrl, FILE *out)
{
	const struct {
		uint64_t count;
		const char *what;
	} counts[] = {
		{ resctrl->no_value, "readings had no value" },
		{ resctrl->doubtful,
		  "occupancies may be what another process left, and are no values" },
		{ resctrl->refused, "processes are in groups of other programs, which stay" },
		{ resctrl->ended, "processes ended before they had a group" },
		{ resctrl->failed, "processes could not be moved" },
	};

	fprintf(out, "; %u L3 caches", resctrl->nr_domains);
	if (resctrl->foreign)
		fprintf(out, "; %u groups of other programs are left alone", resctrl->foreign);
	if (resctrl->due)
		fprintf(out, "; %.1f %% of the due cache readings were done",
			100.0 * (double)resctrl->done / (double)resctrl->due);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (counts[i].count)
			fprintf(out, ", %llu %s", (unsigned long long)counts[i].count,
				counts[i].what);
}
