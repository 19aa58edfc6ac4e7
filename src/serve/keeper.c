// SPDX-License-Identifier: BSD-2-Clause
#include "keeper.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "ring_files.h"
#include "snapshot.h"

#define SUFFIX "-snapshot"
#define TRIES 100

struct keeper {
	struct keeper_config config;
	int signals;
	struct snapshot *snapshot; /* NULL: none is being made */
	struct recording recording;
	char reason[RUN_TEXT];
	const char *next; /* reason of the one that waits for it; NULL: none does */
	uint64_t last_ns; /* when a trigger asked for one, since the window opened */
	bool any; /* one has */
	uint64_t made;
};

int keeper__new(struct keeper **out, const struct keeper_config *config)
{
	struct keeper *keeper = calloc(1, sizeof(*keeper));
	sigset_t set;
	int err;

	if (!keeper)
		return -ENOMEM;
	keeper->config = *config;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	if (!sigprocmask(SIG_BLOCK, &set, NULL))
		keeper->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	else
		keeper->signals = -1;
	if (keeper->signals < 0) {
		err = -errno;
		free(keeper);
		return err;
	}
	*out = keeper;
	return 0;
}

void keeper__free(struct keeper *keeper)
{
	if (!keeper)
		return;
	snapshot__free(keeper->snapshot);
	recording__free(&keeper->recording);
	close(keeper->signals);
	free(keeper);
}

uint64_t keeper__snapshots(const struct keeper *keeper)
{
	return keeper->made;
}

static void delete_old(const struct keeper *keeper)
{
	int dir = keeper->config.ring->rundir.fd;
	struct ring_name *names;
	long nr = ring_files__list(dir, NULL, SUFFIX, &names);

	for (long i = 0; i + KEEPER_MOST <= nr; i++)
		ring_files__delete(dir, names[i].name, false);
	free(names);
}

static int make_dir(struct keeper *keeper)
{
	char name[64], stamp[32];
	time_t now = time(NULL);
	struct tm tm;
	int err = -EEXIST;

	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", gmtime_r(&now, &tm));
	for (int i = 1; err == -EEXIST && i <= TRIES; i++) {
		snprintf(name, sizeof(name), i > 1 ? "%s-%d" SUFFIX : "%s" SUFFIX, stamp, i);
		memset(&keeper->recording, 0, sizeof(keeper->recording));
		err = recording__create_in(&keeper->recording, &keeper->config.ring->rundir, name);
	}
	return err;
}

static void finish(struct keeper *keeper, int err)
{
	char dir[2 * PATH_MAX];

	snprintf(dir, sizeof(dir), "%s/%s", keeper->config.ring->dir, keeper->recording.dir);
	snapshot__free(keeper->snapshot);
	keeper->snapshot = NULL;
	recording__free(&keeper->recording);
	if (err && keeper->recording.dir[0])
		ring_files__delete(keeper->config.ring->rundir.fd, keeper->recording.dir, false);
	keeper->made += !err;
	keeper->config.done(dir, keeper->reason, err);
}

/* The reason is a label of the recording, and stays valid. One request can wait. */
static void begin(struct keeper *keeper, const char *reason)
{
	struct run *run;
	int err;

	if (keeper->snapshot) {
		keeper->next = keeper->next ? keeper->next : reason;
		return;
	}
	snprintf(keeper->reason, sizeof(keeper->reason), "%s", reason);
	delete_old(keeper);
	err = snapshot__new(&keeper->snapshot, keeper->config.ring->rundir.fd,
			    keeper->config.last_ns);
	if (!err)
		err = make_dir(keeper);
	if (err) {
		finish(keeper, err);
		return;
	}
	run = snapshot__run(keeper->snapshot);
	run->nr_labels = 1;
	snprintf(run->labels[0].key, sizeof(run->labels[0].key), "reason");
	snprintf(run->labels[0].value, sizeof(run->labels[0].value), "%s", reason);
}

void keeper__test(struct keeper *keeper, const struct run_data *delta, uint64_t start_ns,
		  uint64_t end_ns)
{
	for (unsigned int i = 0; i < keeper->config.nr_triggers; i++) {
		struct trigger *trigger = &keeper->config.triggers[i];

		if (!trigger__test(trigger, keeper->config.run, delta, end_ns - start_ns))
			continue;
		if (keeper->any && end_ns - keeper->last_ns < KEEPER_PAUSE_NS)
			continue;
		keeper->any = true;
		keeper->last_ns = end_ns;
		begin(keeper, trigger->text);
	}
}

void keeper__work(struct keeper *keeper)
{
	struct signalfd_siginfo info;
	int got = 1;

	while (read(keeper->signals, &info, sizeof(info)) == sizeof(info))
		begin(keeper, "SIGUSR1");
	if (keeper->next && !keeper->snapshot) {
		begin(keeper, keeper->next);
		keeper->next = NULL;
	}
	if (keeper->snapshot)
		got = snapshot__work(keeper->snapshot, &keeper->recording);
	if (keeper->snapshot && got <= 0)
		finish(keeper, got);
}
