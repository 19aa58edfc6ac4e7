// SPDX-License-Identifier: BSD-2-Clause
/* Situations in which a task waits for a CPU. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <core/units.h>
#include <loadgen/own_cgroup.h>
#include <selftest/check.h>
#include <selftest/reference/culprits.h>
#include <selftest/witness.h>

#include "check_why.h"

#define QUOTA_US 20000 /* of each 100 ms */
#define MOST_REST 5 /* if others have more than this part of the waits, nothing can be told */
#define ONE 100 /* 1 % */

CHILD_WORK(static, culprits, reference_culprits);

static const struct reference_culprits *made_by(const struct witness *witness)
{
	return witness->window->child.reference;
}

/* What is left of a time, never less than 0. */
static uint64_t less(uint64_t ns, uint64_t by)
{
	return ns > by ? ns - by : 0;
}

static uint64_t ran_ns(const struct reference_culprits *made, unsigned int from)
{
	uint64_t ns = 0;

	for (unsigned int i = from; i < made->processes; i++)
		ns += made->ran_ns[i];
	return ns;
}

/* Of the time in which the victim always wanted the CPU, what nobody of the situation had. */
static uint64_t rest_ns(const struct reference_culprits *made)
{
	return less(made->elapsed_ns, ran_ns(made, 0));
}

/* What other tasks had of the CPU, by the scheduler's account. */
static uint64_t others_ns(const struct reference_culprits *made)
{
	return less(made->cpu_ran_ns, ran_ns(made, 0));
}

static void doubt_rest(struct witness *witness, uint64_t rest, uint64_t waited)
{
	char one[UNITS_TEXT], two[UNITS_TEXT];

	witness__doubt_events(witness);
	if (rest > waited / MOST_REST)
		witness__doubt(witness, "others had the CPU for %s, while the victim waited %s",
			       units__ns(one, (double)rest), units__ns(two, (double)waited));
}

/* `own`: only the waits of the victim are measured, because there are many short ones. */
static int measure(struct witness *witness, const char *shape, uint64_t over_ns, bool own,
		   const char *cgroup)
{
	struct reference_culprits asked = {
		.shape = shape,
		.cpu = load__cpu_from_end(0),
		.duration_ns = WITNESS_NS,
		.cgroup = cgroup,
		.bystander = !own,
	};
	int err = window__open(witness->window, &culprits_work, &asked);

	if (err)
		return err;
	witness->request.over_ns = over_ns;
	witness->victim = made_by(witness)->pids[0];
	return witness__measure(witness, "runqlat",
				(struct lat_config){ .tgid = own ? (uint32_t)witness->victim : 0 });
}

/* The same where the victim always wants the CPU. */
static int measure_wanting(struct witness *witness, const char *shape, uint64_t over_ns,
			   const char *cgroup)
{
	int err = measure(witness, shape, over_ns, false, cgroup);
	uint64_t waited;

	if (err)
		return err;
	waited = less(made_by(witness)->elapsed_ns, made_by(witness)->ran_ns[0]);
	witness->slack_ns = waited / ONE;
	if (!cgroup)
		doubt_rest(witness, rest_ns(made_by(witness)), waited);
	return 0;
}

static void claim_hog(struct witness *witness, const char *name, unsigned int which)
{
	const struct reference_culprits *made = made_by(witness);
	char hog[RUN_NAME];

	snprintf(hog, sizeof(hog), "hog%u", which);
	witness__claim(witness, name, less(made->ran_ns[which], rest_ns(made)), made->ran_ns[which],
		       witness__blamed(witness, made->pids[which], hog));
}

/* Nobody else is blamed; `named` is what those of the situation are. */
static void claim_innocents(struct witness *witness, uint64_t named, uint64_t others)
{
	const struct reference_culprits *made = made_by(witness);

	if (made->bystander_pid)
		witness__none(witness, "  not who ran on another CPU",
			      witness__blamed(witness, made->bystander_pid, "bystander"));
	witness__at_most(witness, "  others: at most what they had", others,
			 less(witness__blamed_tasks(witness), named));
	witness__at_most(witness, "  what is not known", others + witness__part(witness, NULL) / 50,
			 witness__part(witness, "unknown"));
}

static int judge_timer(struct witness *witness)
{
	const struct run_why *why;
	unsigned int tasks = 0, timers = 0;
	int err = measure(witness, "napping", 1000, true, NULL);

	if (err)
		return err;
	why = witness->window->probe->why;
	for (unsigned int i = 0; i < why->nr_slowest; i++) {
		tasks += why->slowest[i].waker_tid != 0;
		timers += !strcmp(why->slowest[i].waker, "timer");
	}
	check__count(witness->validate, "woken up by a timer: it is named", 1, why->nr_slowest,
		     timers);
	check__count(witness->validate, "  no task is", 0, 0, tasks);
	return 0;
}

static int judge_hog(struct witness *witness)
{
	int err = measure_wanting(witness, "one", 10000, NULL);

	if (err)
		return err;
	claim_hog(witness, "a hog on its CPU", 1);
	claim_innocents(witness, witness__blamed(witness, made_by(witness)->pids[1], "hog1"),
			rest_ns(made_by(witness)));
	return 0;
}

/* Its waits are short: a moment that others have the CPU is a large part of them. */
static int judge_idle(struct witness *witness)
{
	const struct reference_culprits *made;
	uint64_t waited;
	int err = measure(witness, "idle", 1000, true, NULL);

	if (err)
		return err;
	made = made_by(witness);
	if (!made->has_cpu_ran)
		return reference__fail(witness->window->why, -EOPNOTSUPP,
				       "this kernel has no /proc/schedstat");
	waited = witness__part(witness, NULL);
	witness->slack_ns = waited / 10;
	doubt_rest(witness, others_ns(made), waited);
	witness__at_most(witness, "an idle CPU: nobody had it", others_ns(made),
			 witness__blamed_tasks(witness));
	return 0;
}

static int judge_pingpong(struct witness *witness)
{
	const struct reference_culprits *made;
	int err = measure_wanting(witness, "pingpong", NSEC_PER_MSEC, NULL);

	if (err)
		return err;
	made = made_by(witness);
	claim_hog(witness, "a pair with short turns: the first", 1);
	claim_hog(witness, "  the second", 2);
	claim_innocents(witness,
			witness__blamed(witness, made->pids[1], "hog1") +
				witness__blamed(witness, made->pids[2], "hog2"),
			rest_ns(made));
	return 0;
}

static int judge_crowd(struct witness *witness)
{
	const struct reference_culprits *made;
	uint64_t crowd, hog, ran;
	int err = measure_wanting(witness, "crowd", NSEC_PER_MSEC, NULL);

	if (err)
		return err;
	made = made_by(witness);
	ran = ran_ns(made, 2);
	crowd = witness__blamed_name(witness, "crowd");
	hog = witness__blamed_name(witness, "hog1");
	witness__claim(witness, "80 processes of one program", less(ran, rest_ns(made)), ran,
		       crowd);
	witness__claim(witness, "  the one of another", less(made->ran_ns[1], rest_ns(made)),
		       made->ran_ns[1], hog);
	claim_innocents(witness, crowd + hog, rest_ns(made));
	return 0;
}

/* How long the cgroup was out of quota, by the kernel's account of it. */
static bool read_throttled(const char *cgroup, uint64_t *ns)
{
	unsigned long long value;
	bool found = false;
	char path[4200];
	char line[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/cpu.stat", cgroup);
	file = fopen(path, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		found = sscanf(line, "throttled_usec %llu", &value) == 1;
		*ns = found ? value * 1000 : 0;
		if (!found && sscanf(line, "throttled_time %llu", &value) == 1) {
			*ns = value;
			found = true;
		}
	}
	if (file)
		fclose(file);
	return found;
}

static int judge_quota(struct witness *witness, const char *cgroup)
{
	const struct reference_culprits *made;
	uint64_t throttled = 0, others;
	int err = measure_wanting(witness, "quota", NSEC_PER_MSEC, cgroup);

	if (err)
		return err;
	made = made_by(witness);
	if (!read_throttled(cgroup, &throttled))
		return reference__fail(witness->window->why, -EOPNOTSUPP,
				       "this kernel has no account of quotas");
	others = less(rest_ns(made), throttled);
	doubt_rest(witness, others, throttled);
	witness__claim(witness, "a quota (cpu.max)", less(throttled, others), throttled,
		       witness__part(witness, "quota"));
	claim_innocents(witness, 0, others);
	return 0;
}

static int on_quota(struct witness *witness)
{
	struct own_cgroup *cgroup;
	int err = own_cgroup__new(&cgroup, OWN_CGROUP_QUOTA, QUOTA_US);

	if (err)
		return reference__fail(witness->window->why, -EOPNOTSUPP,
				       "no cgroup with a quota can be made: %s",
				       err == -ENODEV ? "the root of cgroups has no controller cpu"
						      : strerror(-err));
	err = judge_quota(witness, own_cgroup__path(cgroup));
	child__end(&witness->window->child);
	if (own_cgroup__free(cgroup) && !err)
		err = reference__fail(witness->window->why, -EBUSY, "cannot remove the cgroup");
	return err;
}

static bool has_limit(void)
{
	FILE *file = fopen("/proc/sys/kernel/sched_rt_runtime_us", "re");
	long us = -1;

	if (!file)
		return false;
	if (fscanf(file, "%ld", &us) != 1)
		us = -1;
	fclose(file);
	return us >= 0;
}

/* The kernel lets the hog run only when the victim is out of its budget. */
static int judge_limit(struct witness *witness)
{
	const struct reference_culprits *made;
	uint64_t budget;
	int err;

	if (!has_limit())
		return reference__fail(witness->window->why, -EOPNOTSUPP,
				       "real-time tasks have no limit: see sched_rt_runtime_us");
	err = measure(witness, "limited", NSEC_PER_MSEC, true, NULL);
	if (err)
		return err;
	made = made_by(witness);
	budget = witness__part(witness, "budget");
	witness->slack_ns = made->gaps_ns / 50;
	doubt_rest(witness, rest_ns(made), made->gaps_ns);
	witness__claim(witness, "out of the real-time budget", less(made->ran_ns[1], rest_ns(made)),
		       made->gaps_ns, budget);
	claim_innocents(witness, 0, rest_ns(made));
	return 0;
}

/*
 * The CPU clock of the sender may lack its softirqs: see had_ns(). The sender used the CPU at least
 * for its sends, and at most while the victim did not. Only softirqs that no send of it raised may
 * be blamed as interrupts.
 */
static int judge_softirq(struct witness *witness)
{
	const struct reference_culprits *made;
	uint64_t waited, sender;
	int err = measure_wanting(witness, "flood", 10000, NULL);

	if (err)
		return err;
	made = made_by(witness);
	if (!reference_flood__is_softirq(&made->flood))
		return reference__fail(witness->window->why, -EOPNOTSUPP,
				       "softirqs are not most of what a task does that sends");
	waited = less(made->elapsed_ns, made->ran_ns[0]);
	sender = witness__blamed(witness, made->pids[1], "sender");
	witness__claim(witness, "softirqs of a task that sends: it",
		       less(made->ran_ns[1], rest_ns(made)), waited, sender);
	witness__at_most(witness, "  net_rx: at most without its sends",
			 less(waited, reference_flood__least_ns(&made->flood)),
			 witness__part_of(witness, "interrupts", "softirq net_rx"));
	claim_innocents(witness, sender, rest_ns(made));
	return 0;
}

const struct situation runqlat_situations[] = {
	{ "timer", "woken up by a timer", judge_timer },
	{ "hog", "a hog on its CPU", judge_hog },
	{ "idle", "an idle CPU", judge_idle },
	{ "pingpong", "a pair with many short turns", judge_pingpong },
	{ "crowd", "many processes of one program", judge_crowd },
	{ "quota", "a quota (cpu.max)", on_quota },
	{ "limit", "the limit of real-time tasks", judge_limit },
	{ "softirq", "softirqs of a task that sends", judge_softirq },
	{ NULL, NULL, NULL },
};
