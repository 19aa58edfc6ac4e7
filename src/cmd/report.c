// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <base/csv.h>
#include <base/json.h>
#include <base/log.h>
#include <base/options.h>
#include <base/rundb.h>
#include <base/text.h>
#include <base/writer.h>

#include "cmd.h"

static const char report_doc[] =
	"Prints a recording again, from its run.db; also one that was cut off, as far as it got.\v"
	"Examples:\n"
	"  latscope report runs/20260102T030405Z\n"
	"  latscope report -v --top 20 runs/20260102T030405Z\n"
	"  latscope report --intervals runs/20260102T030405Z     a line an interval\n"
	"  latscope report --json runs/20260102T030405Z | jq .\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage.";

struct report {
	struct options options;
	const char *module; /* only this one; NULL: all */
	bool intervals;
};

static const struct argp_option report_options[] = {
	{ "module", 'm', "NAME", 0, "Only this module", 0 },
	{ "intervals", 'I', NULL, 0, "A line an interval instead of the whole", 0 },
	{ 0 },
};

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct report *report = state->input;

	switch (key) {
	case 'm':
		report->module = arg;
		return 0;
	case 'I':
		report->intervals = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The run as it is to be printed: of the module asked for alone. Returns where that is, -ENOENT. */
static int select_module(const struct report *report, const struct run *run, struct run *view)
{
	*view = *run;
	if (!report->module)
		return 0;
	view->nr_modules = 1;
	for (unsigned int i = 0; i < run->nr_modules; i++) {
		if (strcmp(report->module, run->modules[i].name))
			continue;
		view->modules[0] = run->modules[i];
		return (int)i;
	}
	return -ENOENT;
}

/* The rows of a module that has a table, through all intervals. */
static int print_rows(struct rundb *db, const struct run *run)
{
	const struct table *table = run->modules[0].table;
	struct run_interval interval;
	int err;

	table__csv_head(stdout, table);
	while ((err = rundb__next(db, &interval)) > 0)
		table__csv_rows(stdout, table);
	return err;
}

static int print_csv(struct rundb *db, const struct run *run)
{
	if (run->modules[0].table)
		return print_rows(db, run);
	csv__histogram(stdout, &run->modules[0].total.metrics[0].hist);
	return 0;
}

static int print_whole(const struct report *report, struct rundb *db, const struct run *run)
{
	struct text_style style = {
		.color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
		.all_metrics = report->options.verbose,
		.top = report->options.top,
	};

	if (report->options.json)
		return json__print(json__run(run), stdout, true);
	if (report->options.csv)
		return print_csv(db, run);
	text__run(stdout, run);
	for (unsigned int i = 0; i < run->nr_modules; i++)
		text__module(stdout, run, &run->modules[i], &style);
	return 0;
}

static int print_intervals(const struct report *report, struct rundb *db, const struct run *run,
			   int first)
{
	struct writer live = { .ops = report->options.json ? &writer_live_json : &writer_live };
	struct run_interval interval;
	int err;

	err = live.ops->open(&live, run);
	while (!err && (err = rundb__next(db, &interval)) > 0) {
		interval.delta += first;
		err = live.ops->interval(&live, run, &interval);
	}
	return err ? err : live.ops->close(&live, run);
}

static int print_recording(const struct report *report, const char *path, struct run *run,
			   struct run *view)
{
	struct rundb *db;
	int err, first;

	err = rundb__open(&db, path, run);
	if (err) {
		log__error(path, rundb__explain(err),
			   "give the directory of a recording, or its run.db");
		return EXIT_ERROR;
	}
	first = select_module(report, run, view);
	if (first < 0) {
		err = first;
		log__error(report->module, "no such module in this recording", NULL);
		goto close_db;
	}
	if (report->options.csv && view->modules[0].refused[0]) {
		err = -ENODATA;
		log__error(report->module, view->modules[0].refused, NULL);
		goto close_db;
	}
	err = report->intervals ? print_intervals(report, db, view, first)
				: print_whole(report, db, view);
	if (err)
		log__error(path, rundb__explain(err), NULL);
close_db:
	rundb__close(db);
	run__clear(run);
	return err ? EXIT_ERROR : EXIT_DONE;
}

int cmd_report(int argc, char **argv)
{
	struct report report = {
		.options = { .command = argv[0],
			     .groups = OPTIONS_FORMAT | OPTIONS_SPLIT,
			     .max_args = 1 },
	};
	struct argp own = {
		.options = report_options, .parser = parse_own, .args_doc = "DIR", .doc = report_doc
	};
	struct run *runs; /* as recorded, and as it is printed */
	int got, code;

	got = options__parse(&report.options, &own, &report, argc, argv, stdout);
	if (!got && !report.options.nr_args)
		got = options__fail(&report.options, "which recording? Give its directory");
	if (!got && report.options.csv && report.intervals)
		got = options__fail(&report.options, "--csv has no intervals; --json has");
	if (!got && report.options.csv && !report.module)
		got = options__fail(&report.options, "--csv is for one module; name it by -m");
	if (got) {
		if (got < 0)
			log__usage(argv[0], report.options.error);
		return got < 0 ? EXIT_USAGE : EXIT_DONE;
	}
	runs = calloc(2, sizeof(*runs));
	if (!runs) {
		log__error(argv[0], "out of memory", NULL);
		return EXIT_ERROR;
	}
	code = print_recording(&report, report.options.args[0], &runs[0], &runs[1]);
	free(runs);
	return code;
}
