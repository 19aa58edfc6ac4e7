// SPDX-License-Identifier: BSD-2-Clause
#include "react.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <base/figures.h>

#include "check.h"

#define MOST_ASKED 1024 /* bytes of what is asked of a child */

static int count_sides(const struct experiment *experiment)
{
	int count = 0;

	while (count < REACT_SIDES && experiment->sides[count].name)
		count++;
	return count;
}

/* A number per window, then shuffled: drift of the machine falls on all sides alike. */
static void shuffle(unsigned int *order, unsigned int count, uint64_t seed)
{
	uint64_t state = truth__seed(seed, 0);
	unsigned int other, swap;

	for (unsigned int i = 0; i < count; i++)
		order[i] = i;
	for (unsigned int i = count - 1; i > 0; i--) {
		other = truth__random(&state) % (i + 1);
		swap = order[i];
		order[i] = order[other];
		order[other] = swap;
	}
}

static void read_reaction(const struct window *window, const struct side *side,
			  struct reaction *reaction)
{
	struct lat_hist hist = window__cell(window, side->metric)->hist;
	struct figures figures;

	if (side->hist)
		side->hist(window, side, &hist);
	figures__of(&figures, &hist);
	reaction->rate = figures__rate(figures.events, window->run->duration_ns);
	reaction->p99_ns = figures.quantiles_ns[FIGURES_P99];
	reaction->mean_ns = figures.mean_ns;
	reaction->in_flight = reaction->rate * reaction->mean_ns / NSEC_PER_SEC;
	if (side->witness)
		side->witness(window, side, reaction);
}

static int run_side(struct validate *validate, const struct side *side, struct reaction *reaction,
		    char why[RUN_TEXT])
{
	_Alignas(16) char asked[MOST_ASKED] = { 0 };
	struct lat_knobs knobs = { 0 };
	struct window window;
	int err;

	if (!side->ask(validate, side, asked))
		return 0;
	err = window__open(&window, side->work, asked);
	if (!err)
		err = side->knobs(&window, &knobs);
	if (!err)
		err = window__measure(&window, validate, knobs);
	if (!err)
		read_reaction(&window, side, reaction);
	else
		snprintf(why, RUN_TEXT, "%s", window.why);
	window__close(&window);
	return err;
}

static int compare(const void *a, const void *b)
{
	const double *one = a, *two = b;

	return *one < *two ? -1 : *one > *two;
}

double react__median(double *values, unsigned int count)
{
	qsort(values, count, sizeof(*values), compare);
	return (values[count / 2] + values[(count - 1) / 2]) / 2;
}

/* Each figure's own; struct reaction is nothing but doubles. */
static void take_medians(struct reaction *median, const struct reaction *replicates,
			 unsigned int count, double *values)
{
	for (size_t field = 0; field < sizeof(*median) / sizeof(double); field++) {
		for (unsigned int i = 0; i < count; i++)
			values[i] = ((const double *)&replicates[i])[field];
		((double *)median)[field] = react__median(values, count);
	}
}

/* What is measured in different ways cannot be compared. */
static int same_rung(const struct validate *validate, char rung[RUN_NAME], char why[RUN_TEXT])
{
	if (!rung[0])
		snprintf(rung, RUN_NAME, "%s", validate->used_rung);
	if (!strcmp(rung, validate->used_rung))
		return 0;
	snprintf(why, RUN_TEXT, "measured by %s and by %s, which cannot be compared", rung,
		 validate->used_rung);
	return -EOPNOTSUPP;
}

static int run_windows(struct validate *validate, const struct experiment *experiment,
		       struct reaction *all, unsigned int *order, char why[RUN_TEXT])
{
	unsigned int total = count_sides(experiment) * validate->replicates;
	char doing[RUN_TEXT], rung[RUN_NAME] = "";
	const struct side *side;
	int err = 0;

	shuffle(order, total, validate->seed);
	for (unsigned int i = 0; !err && i < total; i++) {
		side = &experiment->sides[order[i] / validate->replicates];
		snprintf(doing, sizeof(doing), "window %u of %u, %.32s", i + 1, total, side->name);
		validate->progress(validate->arg, doing);
		err = run_side(validate, side, &all[order[i]], why);
		if (!err)
			err = same_rung(validate, rung, why);
	}
	return err;
}

int react__run(struct validate *validate, const struct experiment *experiment, char why[RUN_TEXT])
{
	unsigned int sides = count_sides(experiment), count = validate->replicates;
	struct reaction medians[REACT_SIDES] = { 0 };
	struct reaction *all = calloc(sides * count, sizeof(*all));
	unsigned int *order = calloc(sides * count, sizeof(*order));
	double *values = calloc(count, sizeof(*values));
	int err = -ENOMEM;

	if (all && order && values)
		err = run_windows(validate, experiment, all, order, why);
	for (unsigned int i = 0; !err && i < sides; i++)
		take_medians(&medians[i], &all[i * count], count, values);
	if (!err)
		experiment->judge(validate, medians);
	free(values);
	free(order);
	free(all);
	return err;
}
