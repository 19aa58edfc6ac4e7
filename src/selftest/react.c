// SPDX-License-Identifier: BSD-2-Clause
#include "probe_checks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/summary.h>

#include "check.h"

#define MAX_ASKED 1024 /* bytes that a child is given */

static int count_groups(const struct experiment *experiment)
{
	int count = 0;

	while (count < REACT_GROUPS && experiment->groups[count].name)
		count++;
	return count;
}

/* In random order, a drift of the machine affects all groups alike. */
static void shuffle(unsigned int *order, unsigned int count, uint64_t seed)
{
	uint64_t state = load__seed(seed, 0);
	unsigned int other, swap;

	for (unsigned int i = 0; i < count; i++)
		order[i] = i;
	for (unsigned int i = count - 1; i > 0; i--) {
		other = load__random(&state) % (i + 1);
		swap = order[i];
		order[i] = order[other];
		order[other] = swap;
	}
}

static void read_reaction(const struct window *window, const struct group *group,
			  struct reaction *reaction)
{
	struct lat_hist hist = window__cell(window, group->metric)->hist;
	struct summary summary;

	if (group->hist)
		group->hist(window, group, &hist);
	summary__of(&summary, &hist);
	reaction->rate = summary__rate(summary.events, window->run->duration_ns);
	reaction->p99_ns = summary.quantiles_ns[SUMMARY_P99];
	reaction->mean_ns = summary.mean_ns;
	reaction->in_flight = reaction->rate * reaction->mean_ns / NSEC_PER_SEC;
	if (group->witness)
		group->witness(window, group, reaction);
}

static int run_group(struct validate *validate, const struct group *group,
		     struct reaction *reaction, char why[RUN_TEXT])
{
	_Alignas(16) char asked[MAX_ASKED] = { 0 };
	struct lat_config config = { 0 };
	struct window window;
	int err;

	if (!group->ask(validate, group, asked))
		return 0;
	err = window__open(&window, group->work, asked);
	if (!err)
		err = group->config(&window, &config);
	if (!err)
		err = window__measure(&window, validate, config);
	if (!err)
		read_reaction(&window, group, reaction);
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

/* Of each member: struct reaction has only doubles. */
static void take_medians(struct reaction *median, const struct reaction *replicates,
			 unsigned int count, double *values)
{
	for (size_t field = 0; field < sizeof(*median) / sizeof(double); field++) {
		for (unsigned int i = 0; i < count; i++)
			values[i] = ((const double *)&replicates[i])[field];
		((double *)median)[field] = react__median(values, count);
	}
}

/* Results of different methods cannot be compared. */
static int same_method(const struct validate *validate, char method[RUN_NAME], char why[RUN_TEXT])
{
	if (!method[0])
		snprintf(method, RUN_NAME, "%s", validate->used_method);
	if (!strcmp(method, validate->used_method))
		return 0;
	snprintf(why, RUN_TEXT, "the method changed from %s to %s: not comparable", method,
		 validate->used_method);
	return -EOPNOTSUPP;
}

static int run_windows(struct validate *validate, const struct experiment *experiment,
		       struct reaction *all, unsigned int *order, char why[RUN_TEXT])
{
	unsigned int total = count_groups(experiment) * validate->replicates;
	char doing[RUN_TEXT], method[RUN_NAME] = "";
	const struct group *group;
	int err = 0;

	shuffle(order, total, validate->seed);
	for (unsigned int i = 0; !err && i < total; i++) {
		group = &experiment->groups[order[i] / validate->replicates];
		snprintf(doing, sizeof(doing), "window %u of %u, %.32s", i + 1, total, group->name);
		validate->progress(validate->arg, doing);
		err = run_group(validate, group, &all[order[i]], why);
		if (!err)
			err = same_method(validate, method, why);
	}
	return err;
}

int react__run(struct validate *validate, const struct experiment *experiment, char why[RUN_TEXT])
{
	unsigned int groups = count_groups(experiment), count = validate->replicates;
	struct reaction medians[REACT_GROUPS] = { 0 };
	struct reaction *all = calloc(groups * count, sizeof(*all));
	unsigned int *order = calloc(groups * count, sizeof(*order));
	double *values = calloc(count, sizeof(*values));
	int err = -ENOMEM;

	if (all && order && values)
		err = run_windows(validate, experiment, all, order, why);
	for (unsigned int i = 0; !err && i < groups; i++)
		take_medians(&medians[i], &all[i * count], count, values);
	if (!err)
		experiment->judge(validate, medians);
	free(values);
	free(order);
	free(all);
	return err;
}
