// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>
#include <loadgen/primitives.h>
#include <selftest/check.h>
#include <selftest/probe_checks.h>

#include "sysfs.h"
#include "tier.h"
#include "columns.h"

#define UNKNOWN_BYTES (512UL << 20) /* if the size of the L3 is unknown */
#define MIN_BYTES (64UL << 20)
#define MAX_BYTES (4UL << 30)
#define BEYOND 4 /* times the L3, so that most steps miss it */
#define MAX_THREADS 64
#define RISE 1.1 /* of the latency, when all CPUs load as much as they can */
/* of the load-to-use latency: the part from the core to the CHA is not included */
#define MIN_SHARE 0.25

/* A thread with a pointer chase. It prepares its memory itself, so that it is local. */
struct chaser {
	pthread_t thread;
	struct pointer_chase chase;
	atomic_bool ready;
	int err;
};

struct tierlat_test {
	struct validate *validate;
	struct tier *tier;
	struct tier_sample *samples;
	unsigned int cpus[MAX_THREADS], nr_cpus; /* of the first socket */
	atomic_bool stop;
	struct chaser *chasers;
	size_t bytes; /* more than the caches hold */
	char *why;
};

/* A window with pointer chases. */
struct tierlat_result {
	struct tier_latency local; /* of the first socket's first tier */
	uint64_t steps;
	double steps_ns; /* time of a step, of the first thread */
	double steps_rate;
};

static int fail(struct tierlat_test *test, int err, const char *text)
{
	snprintf(test->why, RUN_TEXT, "%s", text);
	return err;
}

static int fail_chase(struct tierlat_test *test, const struct chaser *chaser)
{
	snprintf(test->why, RUN_TEXT, "cannot chase pointers through %zu MiB on CPU %d: %s",
		 chaser->chase.bytes >> 20, chaser->chase.cpu, strerror(-chaser->err));
	return chaser->err;
}

static void *chase(void *arg)
{
	struct chaser *chaser = arg;

	chaser->err = pointer_chase__prepare(&chaser->chase);
	atomic_store(&chaser->ready, true);
	if (!chaser->err)
		pointer_chase__run(&chaser->chase);
	pointer_chase__free(&chaser->chase);
	return NULL;
}

static int begin(struct tierlat_test *test, unsigned int threads, unsigned int chains, size_t bytes)
{
	atomic_store(&test->stop, false);
	for (unsigned int i = 0; i < threads; i++) {
		struct chaser *chaser = &test->chasers[i];

		memset(chaser, 0, sizeof(*chaser));
		chaser->chase = (struct pointer_chase){ .bytes = bytes,
							.chains = chains,
							.cpu = (int)test->cpus[i],
							.seed = test->validate->seed + i,
							.stop = &test->stop };
		if (load__thread(&chaser->thread, chase, chaser))
			return fail(test, -EAGAIN, "cannot make a thread");
	}
	for (unsigned int i = 0; i < threads; i++) {
		while (!atomic_load(&test->chasers[i].ready))
			load__sleep(NSEC_PER_MSEC);
	}
	return 0;
}

/* Ends all threads. The error is that of the first one that could not run. */
static int end(struct tierlat_test *test, unsigned int threads, struct tierlat_result *result)
{
	int err = 0;

	atomic_store(&test->stop, true);
	for (unsigned int i = 0; i < threads; i++) {
		const struct pointer_chase *done = &test->chasers[i].chase;

		if (!test->chasers[i].thread)
			continue;
		pthread_join(test->chasers[i].thread, NULL);
		result->steps += done->steps;
		if (done->elapsed_ns)
			result->steps_rate += (double)done->steps * 1e9 / (double)done->elapsed_ns;
		if (test->chasers[i].err && !err)
			err = fail_chase(test, &test->chasers[i]);
	}
	if (!err && test->chasers[0].chase.steps)
		result->steps_ns = (double)test->chasers[0].chase.elapsed_ns /
				   (double)test->chasers[0].chase.steps;
	return err;
}

/* The window begins and ends while all threads run. */
static int measure(struct tierlat_test *test, unsigned int threads, unsigned int chains,
		   size_t bytes, struct tierlat_result *result)
{
	int err, ended;

	memset(result, 0, sizeof(*result));
	memset(test->chasers, 0, MAX_THREADS * sizeof(*test->chasers));
	err = begin(test, threads, chains, bytes);
	if (!err)
		err = tier__read(test->tier, test->samples, test->why);
	if (!err) {
		load__sleep(test->validate->window_ns);
		err = tier__read(test->tier, test->samples, test->why);
	}
	result->local = test->samples[0].latency;
	ended = end(test, threads, result);
	if (!err && interrupt__came())
		return -EINTR;
	return err ? err : ended;
}

static void note_rest(struct tierlat_test *test, const struct tierlat_result *idle)
{
	char text[UNITS_TEXT];

	check__note(test->validate, "  load-to-use minus counter latency",
		    units__ns(text, idle->steps_ns - idle->local.latency_ns));
}

/* Why the latency is not known in ns; NULL: it is. */
static const char *why_unknown(const struct tier_latency *result)
{
	if (!result->latency_known)
		return "too few requests of that socket were counted";
	return tier_latency__in_ns(result) ? NULL : "known in clocks only, not in ns";
}

static void check_idle(struct tierlat_test *test, const struct tierlat_result *idle)
{
	const struct validate *validate = test->validate;
	const char *lacking = why_unknown(&idle->local);

	if (idle->local.rate_known)
		check__rise(validate, "requests of a pointer chase", idle->steps_rate, 0.5,
			    idle->local.rate, units__rate);
	if (idle->local.clock_hz > 0)
		check__number(validate, "uncore clock, GHz", 0.3, 6, idle->local.clock_hz / 1e9);
	if (lacking) {
		check__skip(validate, "latency of a pointer chase", lacking);
		return;
	}
	check__time(validate, "latency, below load-to-use", (uint64_t)(MIN_SHARE * idle->steps_ns),
		    (uint64_t)idle->steps_ns, (uint64_t)idle->local.latency_ns);
	note_rest(test, idle);
}

static int check_loaded(struct tierlat_test *test, const struct tierlat_result *idle)
{
	struct tierlat_result loaded;
	size_t each;
	int err;

	each = test->bytes / test->nr_cpus / CHASE_LINE * CHASE_LINE;
	err = measure(test, test->nr_cpus, CHASE_CHAINS, each, &loaded);
	if (err)
		return err;
	if (why_unknown(&idle->local) || why_unknown(&loaded.local)) {
		check__skip(test->validate, "latency under load",
			    why_unknown(&idle->local) ? why_unknown(&idle->local)
						      : why_unknown(&loaded.local));
		return 0;
	}
	if (loaded.local.rate_known)
		check__rise(test->validate, "requests, all CPUs at once", idle->local.rate, 2,
			    loaded.local.rate, units__rate);
	check__rise(test->validate, "latency, all CPUs at once", idle->local.latency_ns, RISE,
		    loaded.local.latency_ns, units__ns);
	return 0;
}

static int check_all(struct tierlat_test *test)
{
	struct validate *validate = test->validate;
	struct tierlat_result idle;
	int err;

	validate->part = "reference";
	validate->progress(validate->arg, "pointer chase");
	err = measure(test, 1, 1, test->bytes, &idle);
	if (err)
		return err;
	/* The loaded latency is compared with this one. */
	if (validate->parts & VALIDATE_REFERENCE)
		check_idle(test, &idle);
	if (!(validate->parts & VALIDATE_REACTION))
		return 0;
	validate->part = "reaction";
	validate->progress(validate->arg, "all CPUs at once");
	return check_loaded(test, &idle);
}

static int find_cpus(struct tierlat_test *test)
{
	unsigned int online[TIER_CPUS];
	int nr = sysfs__online("", online, TIER_CPUS), socket = tier__socket(test->tier, 0);

	for (int i = 0; i < nr && test->nr_cpus < MAX_THREADS; i++) {
		if (sysfs__package("", online[i]) == socket)
			test->cpus[test->nr_cpus++] = online[i];
	}
	return test->nr_cpus ? 0 : fail(test, -EOPNOTSUPP, "the first socket has no CPU online");
}

static void choose_size(struct tierlat_test *test)
{
	uint64_t bytes = BEYOND * sysfs__llc_bytes("", test->cpus[0]);

	if (!bytes)
		bytes = UNKNOWN_BYTES;
	if (bytes < MIN_BYTES)
		bytes = MIN_BYTES;
	test->bytes = bytes < MAX_BYTES ? bytes : MAX_BYTES;
}

static int run_tests(struct tierlat_test *test)
{
	int err;

	test->samples = calloc(tier__samples(test->tier), sizeof(*test->samples));
	test->chasers = calloc(MAX_THREADS, sizeof(*test->chasers));
	if (!test->samples || !test->chasers)
		err = fail(test, -ENOMEM, "out of memory");
	else
		err = find_cpus(test);
	choose_size(test);
	if (!err)
		err = check_all(test);
	free(test->samples);
	free(test->chasers);
	return err;
}

static int parse_place(struct tier_config *config, const char *place)
{
	static char text[PATH_MAX]; /* the config refers to it */

	if (strlen(place) >= sizeof(text))
		return -EINVAL;
	strcpy(text, place);
	return tier_config__parse(config, text);
}

static bool knows_place(const char *place)
{
	struct tier_config config = { 0 };

	return !parse_place(&config, place);
}

/* One pointer chase has a known load-to-use latency; many of them must raise it. */
static int run(struct validate *validate, char why[RUN_TEXT])
{
	struct tier_config config = { .restore = true, .min_inserts = TIER_MIN_INSERTS };
	struct tierlat_test test = { .validate = validate, .why = why };
	char left[TIER_TEXT];
	const char *todo;
	int err, closed;

	if (validate->place)
		parse_place(&config, validate->place);
	err = tier__open(&test.tier, &config, why, &todo);
	if (!err) {
		snprintf(validate->used_method, sizeof(validate->used_method), "%s",
			 tier__method(test.tier));
		err = run_tests(&test);
		closed = tier__close(test.tier, left);
		if (!err && closed)
			err = fail(&test, closed, left);
	}
	return err;
}

const struct probe_checks tierlat_checks = {
	.probe = "tierlat",
	.run = run,
	.parts = VALIDATE_REFERENCE | VALIDATE_REACTION,
	.knows_place = knows_place,
	.place = "MODEL:BOXES:DIR",
};
