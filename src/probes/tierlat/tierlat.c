// SPDX-License-Identifier: BSD-2-Clause
#include "tierlat.h"

#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <host/numa_nodes.h>

#include "pages.h"

const struct tierlat_config tierlat_defaults = {
	.counters = { .root = "", .restore = true, .min_inserts = TIER_MIN_INSERTS },
	.rows = { .weight = TIER_WEIGHT,
		  .colloid = { COLLOID_DELTA, COLLOID_EPSILON },
		  .max_shift = COLLOID_MAX_SHIFT },
	.act = { .root = "", .socket = -1 },
};

struct tierlat {
	struct probe common; /* first */
	struct tier *tier;
	struct tier_rows *rows;
	struct actor *actor; /* NULL: nothing is moved */
	struct tier_sample *samples;
	bool raw, per_cha, pages;
	const char *root; /* of /proc and /sys */
	bool stopped; /* the next interval is the last */
	bool scanned;
	struct pages_count count; /* if so */
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

/* Pages move if the configuration has a method for it. */
static int prepare_act(struct tierlat *tierlat, const struct tierlat_config *config,
		       char why[RUN_TEXT])
{
	const struct steer_config steer = { config->rows.colloid.delta, config->rows.max_shift };
	const struct actor_pair pair = { tierlat->near, tierlat->far };

	return config->act.method ? actor__new(&tierlat->actor, &config->act, &steer, tierlat->tier,
					       &pair, why)
				  : 0;
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

/* Before anything is programmed. */
static int check_nodes(const struct tierlat *tierlat, char why[RUN_TEXT])
{
	struct numa_nodes nodes;
	int err = tierlat->pages ? numa_nodes__read(&nodes, tierlat->root) : 0;

	if (!err)
		return 0;
	snprintf(why, RUN_TEXT, "no pages by node (%s); leave out --pages",
		 err == -ENOENT ? "this kernel has no NUMA" : strerror(-err));
	return -EOPNOTSUPP;
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
	tierlat->per_cha = config->per_cha;
	tierlat->pages = config->pages;
	tierlat->root = config->counters.root ? config->counters.root : "";
	if (tierlat->pages)
		tierlat->common.capability = CAP_SYS_PTRACE; /* numa_maps of other users */
	err = check_nodes(tierlat, why);
	if (!err)
		err = open_tier(tierlat, &config->counters, why);
	if (err)
		goto err_free;
	err = prepare(tierlat, &config->rows);
	if (!err)
		err = prepare_act(tierlat, config, why);
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

/* "; pages of 12 processes at the end, 3 not permitted": nothing before the end. */
static void describe_pages(const struct tierlat *tierlat, char text[TIER_TEXT])
{
	const struct {
		uint64_t nr;
		const char *what;
	} missing[] = {
		{ tierlat->count.refused, "not permitted" },
		{ tierlat->count.ended, "ended meanwhile" },
		{ tierlat->count.unclear, "with an unexpected text" },
	};
	int used;

	text[0] = '\0';
	if (!tierlat->scanned)
		return;
	used = snprintf(text, TIER_TEXT, "; pages of %llu processes at the end",
			(unsigned long long)tierlat->count.with_pages);
	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		if (missing[i].nr)
			used += snprintf(text + used, TIER_TEXT - used, ", %llu %s",
					 (unsigned long long)missing[i].nr, missing[i].what);
}

/* The tables that were asked for; 0 or an error of table__new(). */
static int make_tables(const struct tierlat *tierlat, struct run_probe *entry)
{
	int err = 0;

	if (!entry->table)
		err = table__new(&entry->table, tier_columns,
				 tierlat->raw ? TIER_RAW_COLUMNS : TIER_COLUMNS);
	if (!err && tierlat->per_cha && !entry->more[RUN_CHA])
		err = table__new(&entry->more[RUN_CHA], cha_columns, CHA_COLUMNS);
	if (!err && tierlat->pages && !entry->more[RUN_PAGES])
		err = table__new(&entry->more[RUN_PAGES], pages_columns, PAGES_COLUMNS);
	if (!err && tierlat->actor && !entry->more[RUN_ACTIONS])
		err = table__new(&entry->more[RUN_ACTIONS], action_columns, ACTION_COLUMNS);
	return err;
}

static int describe(struct probe *probe)
{
	struct tierlat *tierlat = of(probe);
	struct run_probe *entry = probe->entry;
	struct tier *tier = tierlat->tier;
	const struct tier_model *model = tier__model(tier);
	unsigned int boxes = 0, sockets = tier__sockets(tier);
	char pair[TIER_TEXT], pages[TIER_TEXT], act[TIER_TEXT] = "";

	for (unsigned int i = 0; i < sockets; i++)
		boxes += tier__boxes(tier, i);
	describe_pair(tierlat, pair);
	describe_pages(tierlat, pages);
	if (tierlat->actor)
		actor__describe(tierlat->actor, act);
	snprintf(entry->name, sizeof(entry->name), "%s", probe->ops->name);
	snprintf(entry->method, sizeof(entry->method), "%s", tier__method(tier));
	snprintf(entry->mechanism, sizeof(entry->mechanism),
		 "%s; %u %s%s on %u socket%s%s, by the events of %s%s%s%s%s%s",
		 tier__mechanism(tier), boxes, model->kind == TIER_AMD_L3 ? "L3" : "CHA",
		 boxes == 1 ? "" : "s", sockets, sockets == 1 ? "" : "s",
		 tier__scales(tier) ? "; rates scaled from some of them" : "", model->title,
		 tierlat->forced ? ", chosen by --model" : "",
		 model->derived ? "; its occupancy events are derived: only the inserts of its "
				  "tiers are published"
				: "",
		 pair, pages, act);
	return make_tables(tierlat, entry);
}

/* After the last read of the counters: it takes long, and page tables are read from memory. */
static int add_pages(struct probe *probe, uint64_t time_ns)
{
	struct tierlat *tierlat = of(probe);
	int err = pages__add(probe->entry->more[RUN_PAGES], time_ns, tier__model(tierlat->tier),
			     tierlat->root, &tierlat->count);

	tierlat->scanned = !err;
	if (err)
		snprintf(probe->why, RUN_TEXT, "no pages by node: %s", strerror(-err));
	return err;
}

static int end_interval(struct probe *probe, uint64_t at_ns)
{
	struct tierlat *tierlat = of(probe);
	struct run_probe *entry = probe->entry;
	uint64_t time_ns = at_ns - tierlat->start_ns;
	int err;

	err = tier__read(tierlat->tier, tierlat->samples, probe->why);
	if (!err)
		err = tier_rows__add(tierlat->rows, entry->table, time_ns, tierlat->samples);
	if (!err && tierlat->per_cha)
		err = tier_rows__add_chas(tierlat->rows, entry->more[RUN_CHA], time_ns);
	if (!err && tierlat->actor)
		err = actor__quantum(tierlat->actor, entry->more[RUN_ACTIONS], time_ns,
				     tierlat->samples);
	if (!err && tierlat->pages && tierlat->stopped && !tierlat->scanned)
		err = add_pages(probe, time_ns);
	return err;
}

static int stop(struct probe *probe, uint64_t at_ns)
{
	(void)at_ns;
	of(probe)->stopped = true;
	return 0;
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
	now = tierlat->actor ? actor__trouble(tierlat->actor) : NULL;
	if (now)
		return now;
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
	int err, left;

	left = actor__close(tierlat->actor, why);
	err = tier__close(tierlat->tier, reason);
	if (err)
		snprintf(why, RUN_TEXT, "%.200s; reboot, or let perf use them once", reason);
	free_tierlat(tierlat);
	return err ? err : left;
}

const struct probe_ops tierlat_probe = {
	.name = "tierlat",
	.help = "memory tiers: loaded latency of each, and what to migrate",
	.what = "loaded latency of memory by tier",
	.open = open_tierlat,
	.describe = describe,
	.steps = { [PROBE_START] = start, [PROBE_STOP] = stop, [PROBE_INTERVAL] = end_interval },
	.trouble = trouble,
	.close = close_tierlat,
};
