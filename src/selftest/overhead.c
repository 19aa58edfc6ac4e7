// SPDX-License-Identifier: BSD-2-Clause
#include "probe_checks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "check.h"

#define ROUNDS 2 /* for each replicate: the work is short */
#define MAX_ASKED 1024

/* One run of the work, in ms; with the probe if `measured`. */
static int run_once(struct validate *validate, const struct overhead *overhead, bool measured,
		    double *took, char why[RUN_TEXT])
{
	_Alignas(16) char asked[MAX_ASKED] = { 0 };
	struct window window;
	int err;

	overhead->ask(validate, asked);
	err = window__open(&window, overhead->work, asked);
	window.untimed = true;
	if (!err && measured)
		err = window__measure(&window, validate, (struct lat_config){ 0 });
	else if (!err)
		err = window__without(&window);
	if (!err)
		*took = (double)overhead->elapsed_ns(window.child.reference);
	else
		snprintf(why, RUN_TEXT, "%s", window.why);
	window__close(&window);
	return err;
}

static int run_rounds(struct validate *validate, const struct overhead *overhead,
		      unsigned int rounds, double *without, double *with, char why[RUN_TEXT])
{
	bool first;
	int err = 0;

	for (unsigned int i = 0; !err && i < rounds; i++) {
		first = i % 2; /* alternates which one comes first */
		err = run_once(validate, overhead, first, first ? &with[i] : &without[i], why);
		if (!err)
			err = run_once(validate, overhead, !first, first ? &without[i] : &with[i],
				       why);
	}
	return err;
}

int overhead__run(struct validate *validate, const struct overhead *overhead, char why[RUN_TEXT])
{
	unsigned int rounds = ROUNDS * validate->replicates;
	double *times = calloc(2 * rounds, sizeof(*times)), share;
	char text[RUN_NAME];
	int err = -ENOMEM;

	validate->progress(validate->arg, overhead->name);
	if (times)
		err = run_rounds(validate, overhead, rounds, times, times + rounds, why);
	if (!err) {
		share = react__median(times + rounds, rounds) / react__median(times, rounds) - 1;
		snprintf(text, sizeof(text), "%+.1f %%", 100 * share);
		check__note(validate, overhead->name, text);
	}
	free(times);
	return err;
}
