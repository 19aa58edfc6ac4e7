// SPDX-License-Identifier: BSD-2-Clause
#include "probe.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

const struct tierlat_config tierlat_defaults = {
	.counters = { .root = "", .restore = true, .min_inserts = TIER_MIN_INSERTS },
	.rows = { .weight = TIER_WEIGHT,
		  .colloid = { COLLOID_DELTA, COLLOID_EPSILON },
		  .max_shift = COLLOID_MAX_SHIFT },
};

struct tierlat {
	struct probe common; /* first */
	struct tier *tier;
	struct tier_rows *rows;
	struct tier_sample *samples;
	bool raw;
	unsigned int near, far; /* of the decision */
	const struct tier_model *forced; /* by the request; NULL: found out */
	bool told_forced;
	char told[TIER_TEXT]; /* the kind of the last problem */
	uint64_t start_ns; /* of the window, CLOCK_MONOTONIC */
};

static struct tierlat *of(struct probe *probe)
{
	return (struct tierlat *)probe;
}

/* Pages move between the first two tiers, but to CXL memory rather than to another socket's. */
static void choose_pair(const struct tier *tier, struct tier_rows_config *rows)
{
	const struct tier_model *model = tier__model(tier);
	uint32_t left = tier__measured(tier);

	rows->near = (unsigned int)__builtin_ctz(left);
	left &= left - 1;
	rows->far = left ? (unsigned int)__builtin_ctz(left) : rows->near;
	for (; left; left &= left - 1) {
		unsigned int index = (unsigned int)__builtin_ctz(left);

		if (model->tiers[index].needs != TIER_IF_CXL)
			continue;
		rows->far = index;
		break;
	}
}

static int prepare(struct tierlat *tierlat, const struct tier_rows_config *config)
{
	struct tier_rows_config rows = *config;

	choose_pair(tierlat->tier, &rows);
	tierlat->near = rows.near;
	tierlat->far = rows.far;
	tierlat->samples = calloc(tier__samples(tierlat->tier), sizeof(*tierlat->samples));
	if (!tierlat->samples)
		return -ENOMEM;
	return tier_rows__new(&tierlat->rows, tierlat->tier, &rows);
}

static void free_tierlat(struct tierlat *tierlat)
{
	tier_rows__free(tierlat->rows);
	free(tierlat->samples);
	free(tierlat);
}

/* 4 events a box, of which a machine with four sockets has hundreds. */
static void raise_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int open_tier(struct tierlat *tierlat, const struct tier_config *config, char why[RUN_TEXT])
{
	char reason[TIER_TEXT];
	const char *todo;
	int err;

	raise_files();
	err = tier__open(&tierlat->tier, config, reason, &todo);
	if (err)
		snprintf(why, RUN_TEXT, "%.160s%s%.90s", reason, todo ? "; " : "",
			 todo ? todo : "");
	return err;
}

static int open_tierlat(struct probe **opened, const struct probe_ops *ops,
			const struct probe_request *request, char why[RUN_TEXT])
{
	const struct tierlat_config *config = request->own ? request->own : &tierlat_defaults;
	struct tierlat *tierlat = calloc(1, sizeof(*tierlat));
	char left[TIER_TEXT];
	int err;

	if (!tierlat)
		return -ENOMEM;
	tierlat->common.ops = ops;
	tierlat->forced = config->counters.model;
	tierlat->raw = config->rows.raw;
	err = open_tier(tierlat, &config->counters, why);
	if (err)
		goto err_free;
	err = prepare(tierlat, &config->rows);
	if (err)
		goto err_close;
	*opened = &tierlat->common;
	return 0;

err_close:
	tier__close(tierlat->tier, left);
err_free:
	free_tierlat(tierlat);
	return err;
}

/* What was counted since open does not belong to the window. */
static int start(struct probe *probe, uint64_t at_ns)
{
	struct tierlat *tierlat = of(probe);

	tierlat->start_ns = at_ns;
	return tier__read(tierlat->tier, tierlat->samples, probe->why);
}

/* ", for Colloid between local-ddr and local-cxl"; nothing without a pair. */
static void describe_pair(const struct tierlat *tierlat, char text[TIER_TEXT])
{
	const struct tier_model *model = tier__model(tierlat->tier);
	unsigned int near = tierlat->near, far = tierlat->far;

	text[0] = '\0';
	if (near != far && model->kind == TIER_TOR)
		snprintf(text, TIER_TEXT, "; Colloid between %s and %s", model->tiers[near].name,
			 model->tiers[far].name);
}

static int describe(struct probe *probe)
{
	struct tierlat *tierlat = of(probe);
	struct run_probe *entry = probe->entry;
	struct tier *tier = tierlat->tier;
	const struct tier_model *model = tier__model(tier);
	unsigned int boxes = 0, sockets = tier__sockets(tier);
	char pair[TIER_TEXT];

	for (unsigned int i = 0; i < sockets; i++)
		boxes += tier__boxes(tier, i);
	describe_pair(tierlat, pair);
	snprintf(entry->name, sizeof(entry->name), "%s", probe->ops->name);
	snprintf(entry->method, sizeof(entry->method), "%s", tier__method(tier));
	snprintf(entry->mechanism, sizeof(entry->mechanism),
		 "%s; %u %s%s on %u socket%s%s, by the events of %s%s%s%s", tier__mechanism(tier),
		 boxes, model->kind == TIER_AMD_L3 ? "L3" : "CHA", boxes == 1 ? "" : "s", sockets,
		 sockets == 1 ? "" : "s",
		 tier__scales(tier) ? "; rates scaled from some of them" : "", model->title,
		 tierlat->forced ? ", chosen by --model" : "",
		 model->derived ? "; its occupancy events are derived: only the inserts of its "
				  "tiers are published"
				: "",
		 pair);
	return entry->table ? 0
			    : table__new(&entry->table, tier_columns,
					 tierlat->raw ? TIER_RAW_COLUMNS : TIER_COLUMNS);
}

static int end_interval(struct probe *probe, uint64_t at_ns)
{
	struct tierlat *tierlat = of(probe);
	int err;

	err = tier__read(tierlat->tier, tierlat->samples, probe->why);
	return err ? err
		   : tier_rows__add(tierlat->rows, probe->entry->table, at_ns - tierlat->start_ns,
				    tierlat->samples);
}

static const char *trouble(struct probe *probe)
{
	struct tierlat *tierlat = of(probe);
	static char text[TIER_TEXT];
	const char *now;

	if (tierlat->forced && !tierlat->told_forced) {
		tierlat->told_forced = true;
		snprintf(text, sizeof(text), "by the events of %s, chosen by --model",
			 tierlat->forced->title);
		return text;
	}
	now = tier__trouble(tierlat->tier);
	if (!now || !strcmp(tier__trouble_kind(tierlat->tier), tierlat->told))
		return NULL;
	snprintf(tierlat->told, sizeof(tierlat->told), "%s", tier__trouble_kind(tierlat->tier));
	return now;
}

/* All registers get back what they had before open. */
static int close_tierlat(struct probe *probe, char why[RUN_TEXT])
{
	struct tierlat *tierlat = of(probe);
	char reason[TIER_TEXT];
	int err;

	err = tier__close(tierlat->tier, reason);
	if (err)
		snprintf(why, RUN_TEXT, "%.200s; reboot, or let perf use them once", reason);
	free_tierlat(tierlat);
	return err;
}

const struct probe_ops tierlat_ops = {
	.name = "tierlat",
	.what = "loaded latency of memory by tier",
	.open = open_tierlat,
	.describe = describe,
	.steps = { [PROBE_START] = start, [PROBE_INTERVAL] = end_interval },
	.trouble = trouble,
	.close = close_tierlat,
};
