// SPDX-License-Identifier: BSD-2-Clause
/* The latency of memory tiers as part of a session. */
#include "tiers.h"

#include <string.h>

#include "cmd.h"
#include "log.h"

int tiers__parse_place(struct tiers_command *command, char *arg)
{
	if (!tier_config__parse(&command->config, arg))
		return 0;
	return options__fail(command->options, "--tiers-at: MODEL:BOXES:DIR");
}

/* Reads the counters, which run since the meter was opened. */
static void start(void *state, uint64_t start_mono_ns)
{
	char why[TIER_TEXT];
	const char *trouble;
	int err;

	(void)start_mono_ns;
	err = tier_meter__begin(state, why);
	trouble = err ? why : tier_meter__trouble(state);
	if (trouble)
		log__warn(TIER_PROBE, trouble, NULL);
}

static int interval(void *state, struct table *table, uint64_t end_ns)
{
	struct tier_meter *meter = state;
	char why[TIER_TEXT];
	const char *trouble;
	int err;

	err = tier_meter__sample(meter, table, end_ns, why);
	trouble = err ? why : tier_meter__trouble(meter);
	if (trouble)
		log__warn(TIER_PROBE, trouble, NULL);
	return err;
}

static int describe(const void *state, struct run_probe *probe)
{
	return tier_meter__describe(state, probe);
}

int tiers__add(struct tiers_command *command, struct session *session)
{
	static const struct tier_rows_config rows = {
		.weight = TIER_WEIGHT,
		.colloid = { COLLOID_DELTA, COLLOID_EPSILON },
		.max_shift = COLLOID_MAX_SHIFT,
	};
	char why[TIER_TEXT];
	const char *todo;
	int err;

	command->config.min_inserts = TIER_MIN_INSERTS;
	command->config.restore = true;
	err = tier_meter__open(&command->meter, &command->config, &rows, why, &todo);
	if (err) {
		/* Its remedy, or where to find what else there is. */
		session__add_refused(session, TIER_PROBE, why);
		if (todo)
			log__error(TIER_PROBE " cannot run on this machine", why, todo);
		else
			log__refused(TIER_PROBE, NULL, why);
		return EXIT_DONE;
	}
	command->source = (struct session_source){
		.state = command->meter,
		.start = start,
		.interval = interval,
		.describe = describe,
	};
	err = session__add_source(session, &command->source);
	if (err)
		log__error(TIER_PROBE, strerror(-err), NULL);
	return err ? EXIT_ERROR : EXIT_DONE;
}

int tiers__close(struct tiers_command *command)
{
	char why[TIER_TEXT];
	int err = 0;

	if (command->meter)
		err = tier_meter__close(command->meter, why);
	command->meter = NULL;
	if (err)
		log__error(command->options->command, why, NULL);
	return err ? EXIT_ERROR : EXIT_DONE;
}
