// SPDX-License-Identifier: BSD-2-Clause
#include "meter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tier_meter {
	struct tier *tier;
	struct tier_rows *rows;
	struct tier_sample *samples;
	bool raw;
	unsigned int near, far; /* of the decision */
	bool forced; /* the model was not found out but given */
	char told[TIER_TEXT]; /* of what kind the last trouble was */
};

/* What pages are moved between: the first two, but CXL memory rather than another socket's. */
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

static int prepare(struct tier_meter *meter, const struct tier_rows_config *config)
{
	struct tier_rows_config rows = *config;

	choose_pair(meter->tier, &rows);
	meter->near = rows.near;
	meter->far = rows.far;
	meter->samples = calloc(tier__samples(meter->tier), sizeof(*meter->samples));
	if (!meter->samples)
		return -ENOMEM;
	return tier_rows__new(&meter->rows, meter->tier, &rows);
}

static void free_meter(struct tier_meter *meter)
{
	tier_rows__free(meter->rows);
	free(meter->samples);
	free(meter);
}

static int out_of_memory(char why[TIER_TEXT])
{
	snprintf(why, TIER_TEXT, "out of memory");
	return -ENOMEM;
}

int tier_meter__open(struct tier_meter **opened, const struct tier_config *config,
		     const struct tier_rows_config *rows, char why[TIER_TEXT], const char **todo)
{
	struct tier_meter *meter = calloc(1, sizeof(*meter));
	char left[TIER_TEXT];
	int err;

	*todo = NULL;
	if (!meter)
		return out_of_memory(why);
	meter->forced = config->model;
	meter->raw = rows->raw;
	err = tier__open(&meter->tier, config, why, todo);
	if (err)
		goto err_free;
	err = prepare(meter, rows);
	if (err)
		goto err_close;
	*opened = meter;
	return 0;

err_close:
	out_of_memory(why);
	tier__close(meter->tier, left);
err_free:
	free_meter(meter);
	return err;
}

int tier_meter__begin(struct tier_meter *meter, char why[TIER_TEXT])
{
	return tier__read(meter->tier, meter->samples, why);
}

/* ", for Colloid between local-ddr and local-cxl"; nothing where there are not two. */
static void describe_pair(const struct tier_meter *meter, char text[TIER_TEXT])
{
	const struct tier_model *model = tier__model(meter->tier);
	unsigned int near = meter->near, far = meter->far;

	text[0] = '\0';
	if (near != far && model->kind == TIER_TOR)
		snprintf(text, TIER_TEXT, "; Colloid between %s and %s", model->tiers[near].name,
			 model->tiers[far].name);
}

int tier_meter__describe(const struct tier_meter *meter, struct run_probe *probe)
{
	struct tier *tier = meter->tier;
	const struct tier_model *model = tier__model(tier);
	unsigned int boxes = 0, sockets = tier__sockets(tier);
	char pair[TIER_TEXT];

	for (unsigned int i = 0; i < sockets; i++)
		boxes += tier__boxes(tier, i);
	describe_pair(meter, pair);
	snprintf(probe->name, sizeof(probe->name), TIER_PROBE);
	snprintf(probe->method, sizeof(probe->method), "%s", tier__method(tier));
	snprintf(probe->mechanism, sizeof(probe->mechanism),
		 "%s; %u %s%s on %u socket%s%s, by the events of %s%s%s%s", tier__mechanism(tier),
		 boxes, model->kind == TIER_AMD_L3 ? "L3" : "CHA", boxes == 1 ? "" : "s", sockets,
		 sockets == 1 ? "" : "s",
		 tier__scales(tier) ? "; rates scaled from some of them" : "", model->title,
		 meter->forced ? ", which --model forced" : "",
		 model->derived ? "; its occupancy events are derived: only the inserts of its "
				  "tiers are published"
				: "",
		 pair);
	return probe->table ? 0
			    : table__new(&probe->table, tier_columns,
					 meter->raw ? TIER_RAW_COLUMNS : TIER_COLUMNS);
}

int tier_meter__sample(struct tier_meter *meter, struct table *table, uint64_t time_ns,
		       char why[TIER_TEXT])
{
	int err;

	err = tier__read(meter->tier, meter->samples, why);
	if (err)
		return err;
	err = tier_rows__add(meter->rows, table, time_ns, meter->samples);
	return err ? out_of_memory(why) : 0;
}

const char *tier_meter__trouble(struct tier_meter *meter)
{
	const char *trouble = tier__trouble(meter->tier);

	if (!trouble || !strcmp(tier__trouble_kind(meter->tier), meter->told))
		return NULL;
	snprintf(meter->told, sizeof(meter->told), "%s", tier__trouble_kind(meter->tier));
	return trouble;
}

int tier_meter__close(struct tier_meter *meter, char why[TIER_TEXT])
{
	int err;

	err = tier__close(meter->tier, why);
	free_meter(meter);
	return err;
}
