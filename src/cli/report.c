// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/hist.h>
#include <core/pressure.h>
#include <export/export.h>
#include <print/report.h>
#include <print/streams.h>
#include <print/text.h>
#include <print/why.h>
#include <stats/group.h>
#include <store/csv.h>
#include <store/json.h>
#include <store/rundb.h>
#include <store/writer.h>

#include "cmd.h"
#include "log.h"
#include "options.h"
#include "page.h"

static const char report_doc[] =
	"Prints a recording from its run.db, even if the recording was cut off or is still "
	"running. Adds a time line of all probes, the correlation of their slow intervals, and the "
	"top contributors to the slow events.\v"
	"Examples:\n"
	"  latscope report runs/20260102T030405Z\n"
	"  latscope report -v --top 20 runs/20260102T030405Z\n"
	"  latscope report --all-intervals runs/20260102T030405Z\n"
	"  latscope report --intervals runs/20260102T030405Z\n"
	"  latscope report --json runs/20260102T030405Z | jq .\n"
	"  latscope report --html page.html runs/20260102T030405Z\n"
	"  latscope report --perfetto trace.pftrace runs/20260102T030405Z\n"
	"                                            for ui.perfetto.dev\n"
	"  latscope report --folded runs/20260102T030405Z | flamegraph.pl > off-cpu.svg\n"
	"  latscope report --pprof off-cpu.pb.gz runs/20260102T030405Z\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage.";

struct report {
	struct options options;
	const char *probe; /* only this one; NULL: all */
	/* Write one of these files; NULL: print */
	const char *html, *perfetto, *pprof, *svg;
	bool folded; /* print stacks */
	bool intervals;
	uint64_t from_ns, to_ns; /* the part to show, since the window opened */
	uint64_t slow_us; /* 0: the slowest 1 % */
	struct timeline_rules rules;
};

/* options__duration() does not accept 0. */
static int set_from(struct options *options, void *at, const char *text)
{
	*(uint64_t *)at = 0;
	return !strcmp(text, "0") || !strcmp(text, "0s") ? 0 : options__duration(options, at, text);
}

#define OWN struct report

static const struct option_row report_rows[] = {
	{ "probe", 'P', "NAME", "Only this probe", OPT_TEXT(probe) },
	{ "intervals", 'I', NULL, "Print every interval instead of the whole",
	  OPT_FLAG(intervals) },
	{ "all-intervals", 0, NULL, "One line per interval in the time line",
	  OPT_VALUE(rules.lines, 0) },
	{ "from", 0, "TIME", "Only from TIME on, since the start: 12s, 1.5m",
	  OPT_CALL_ON(set_from, from_ns) },
	{ "folded", 0, NULL, "Print the stacks of long sleeps for flamegraph.pl: in us",
	  OPT_FLAG(folded) },
	{ "html", 0, "FILE", "Write a page for a browser: one file, no network", OPT_TEXT(html) },
	{ "perfetto", 0, "FILE", "Write a trace for ui.perfetto.dev", OPT_TEXT(perfetto) },
	{ "pprof", 0, "FILE", "Write the stacks of long sleeps for pprof", OPT_TEXT(pprof) },
	{ "slow-us", 0, "N", "Events of N us or more are slow (slowest 1 %)",
	  OPT_COUNT(slow_us, 1, 1ULL << HIST_OCTAVES) },
	{ "svg", 0, "FILE", "Write the first screen of the page as a picture", OPT_TEXT(svg) },
	{ "confidence", 0, "PERCENT", "Confidence of the correlation (95)",
	  OPT_PERCENT(rules.confidence, 50, 99.999) },
	{ "to", 0, "TIME", "Only up to TIME", OPT_DURATION(to_ns) },
	{ 0 },
};

/* The outputs that are of all probes. */
static int check_outputs(struct options *options, const struct report *report)
{
	const struct {
		const char *name;
		bool given;
	} outputs[] = { { "--folded", report->folded },
			{ "--html", report->html },
			{ "--perfetto", report->perfetto },
			{ "--pprof", report->pprof },
			{ "--svg", report->svg } };
	const char *given = NULL;

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		if (!outputs[i].given)
			continue;
		if (given)
			return options__fail(options, "choose one of %s and %s", given,
					     outputs[i].name);
		given = outputs[i].name;
	}
	if (given && (options->json || options->csv || report->intervals || report->probe))
		return options__fail(options,
				     "%s is of the whole recording; leave out --json, --csv, "
				     "--intervals and --probe",
				     given);
	return 0;
}

static int check(struct options *options, void *own)
{
	struct report *report = own;

	if (!options->nr_args)
		return options__fail(options,
				     "missing argument; give the directory of a recording");
	if (options->csv && report->intervals)
		return options__fail(options, "--csv cannot print intervals; use --json");
	if (report->from_ns >= report->to_ns)
		return options__fail(options, "--from must be before --to");
	if (check_outputs(options, report))
		return -EINVAL;
	if (options->csv && !report->probe)
		return options__fail(options, "--csv prints one probe; choose it with -P");
	/* A histogram can only be divided at the edge of a slot. */
	if (report->slow_us)
		report->rules.slow_ns = hist_slot_low_ns(hist_slot(report->slow_us * 1000));
	return 0;
}

static const struct usage report_usage = {
	.groups = OPTIONS_FORMAT | OPTIONS_SPLIT | OPTIONS_METRICS,
	.rows = report_rows,
	.args = "DIR",
	.doc = report_doc,
	.max_args = 1,
	.check = check,
};

/* Copies the run with the chosen probe alone. Returns the index of that probe or -ENOENT. */
static int select_probe(const struct report *report, const struct run *run, struct run *view)
{
	*view = *run;
	if (!report->probe)
		return 0;
	view->nr_probes = 1;
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		if (strcmp(report->probe, run->probes[i].name))
			continue;
		view->probes[0] = run->probes[i];
		return (int)i;
	}
	return -ENOENT;
}

/* The rows of a table, for all intervals. */
static int print_rows(struct rundb *db, const struct table *table)
{
	struct run_interval interval;
	int err;

	table__csv_head(stdout, table);
	while ((err = rundb__next(db, &interval)) > 0)
		table__csv_rows(stdout, table);
	return err;
}

static int print_csv(struct rundb *db, const struct run *run)
{
	if (run->probes[0].table)
		return print_rows(db, run->probes[0].table);
	csv__histogram(stdout, &run->probes[0].total.metrics[0].hist);
	return 0;
}

static int print_whole(const struct report *report, struct rundb *db, const struct run *run,
		       const struct whole *whole)
{
	struct text_style style = {
		.color = streams__color(),
		.all_metrics = report->options.verbose,
		.top = report->options.top,
	};

	if (report->options.json)
		return whole__print_json(stdout, run, whole);
	if (report->options.csv)
		return print_csv(db, run);
	return whole__print_text(stdout, &style, run, whole);
}

struct page {
	struct rundb *db;
	const struct run *run;
	const struct whole *whole;
	unsigned int top;
};

static int print_page(FILE *out, void *of)
{
	const struct page *page = of;

	return whole__print_page(out, page->db, page->run, page->whole, page->top);
}

static int print_svg(FILE *out, void *of)
{
	const struct page *page = of;

	return whole__print_picture(out, page->db, page->run, page->whole);
}

static int print_perfetto(FILE *out, void *of)
{
	const struct page *page = of;

	return export__perfetto(out, page->db, page->run);
}

static int print_pprof(FILE *out, void *of)
{
	const struct page *page = of;

	return export__pprof(out, page->run);
}

/* It has said why it failed. */
static int write_file(const struct report *report, struct rundb *db, const struct run *run,
		      const struct whole *whole)
{
	unsigned int top = report->options.top;
	struct page page = { db, run, whole, top == OPTIONS_TOP ? WHOLE_PAGE_KEYS : top };
	int code;

	if (report->html)
		code = page__write(report->html, "page", print_page, &page);
	else if (report->svg)
		code = page__write(report->svg, "picture", print_svg, &page);
	else if (report->perfetto)
		code = page__write(report->perfetto, "trace", print_perfetto, &page);
	else
		code = page__write(report->pprof, "profile", print_pprof, &page);
	return code ? -ECANCELED : 0;
}

/* Only some recordings have stacks. */
static int export_stacks(const struct report *report, struct rundb *db, const struct run *run)
{
	if (!export__has_stacks(run)) {
		log__error(report->options.args[0], "this recording has no stacks of long sleeps",
			   "make one with: latscope where -o DIR");
		return -ECANCELED;
	}
	return report->folded ? export__folded(stdout, run) : write_file(report, db, run, NULL);
}

/* A single probe has no time line and no correlation. */
static int read_and_print(const struct report *report, struct rundb *db, const struct run *run)
{
	struct whole *whole;
	int err;

	if (report->folded || report->pprof)
		return export_stacks(report, db, run);
	if (report->perfetto)
		return write_file(report, db, run, NULL);
	if (report->probe || report->options.csv)
		return print_whole(report, db, run, NULL);
	err = whole__new(&whole, db, run, &report->rules);
	if (!err)
		err = report->html || report->svg ? write_file(report, db, run, whole)
						  : print_whole(report, db, run, whole);
	whole__free(whole);
	return err;
}

static int print_intervals(const struct report *report, struct rundb *db, const struct run *run,
			   int first)
{
	struct writer live = { .ops = &writer_live_json };
	struct run_interval interval;
	int err;

	if (!report->options.json) {
		live.ops = &writer_live;
		live.top = report->options.top;
	}
	err = live.ops->open ? live.ops->open(&live, run) : 0;
	while (!err && (err = rundb__next(db, &interval)) > 0) {
		interval.delta += first;
		err = live.ops->interval(&live, run, &interval);
	}
	return err;
}

/* What the user can do when rundb cannot read a recording. */
static const char *remedy(int err)
{
	switch (err) {
	case -EPROTONOSUPPORT:
		return "use that version to read it";
	case -ENOENT:
	case -ENOTDIR:
	case -EMEDIUMTYPE:
		return "give the directory of a recording, or its run.db";
	default:
		return NULL;
	}
}

/* If `path` is a directory of recordings, prints an error that names one of them. */
static bool names_several(const char *path)
{
	char why[RUN_TEXT], todo[PATH_MAX + RUN_TEXT];
	struct group group;
	bool several;

	/* group__find() also accepts a single recording, whose path is then `path` itself. */
	several = !group__find(&group, path) && group.nr && strcmp(group.recordings[0].path, path);
	if (several) {
		snprintf(why, sizeof(why), "directory of %zu recording%s", group.nr,
			 group.nr == 1 ? "" : "s");
		snprintf(todo, sizeof(todo), "choose one, such as: latscope report %s",
			 group.recordings[group.nr - 1].path);
		log__error(path, why, todo);
	}
	group__clear(&group);
	return several;
}

/* The pressure has no probe, but rows. */
static bool is_of_pressure(const struct report *report)
{
	return report->options.csv && report->probe && !strcmp(report->probe, PRESSURE_NAME);
}

static int print_pressure(const struct report *report, struct rundb *db, const struct run *run)
{
	if (run->pressure.table)
		return print_rows(db, run->pressure.table);
	log__error(report->probe, "not in this recording", NULL);
	return -ENODATA;
}

static void explain_no_probe(const struct report *report, const struct run *run)
{
	char hint[RUN_TEXT] = "";
	size_t used = 0;

	for (unsigned int i = 0; i < run->nr_probes && used < sizeof(hint); i++)
		used += (size_t)snprintf(hint + used, sizeof(hint) - used, "%s%s",
					 i ? ", " : "choose from ", run->probes[i].name);
	log__error(report->probe, "no such probe in this recording", hint[0] ? hint : NULL);
}

static int print_recording(const struct report *report, const char *path, struct run *run,
			   struct run *view)
{
	struct rundb *db;
	int err, first;

	err = rundb__open_span(&db, path, run, report->from_ns, report->to_ns);
	if (err) {
		if (err == -ENODATA)
			log__error(path, "no interval of it is in this span",
				   "change --from and --to");
		else if (err != -ENOENT || !names_several(path))
			log__error(path, rundb__explain(err), remedy(err));
		return EXIT_ERROR;
	}
	if (is_of_pressure(report)) {
		err = print_pressure(report, db, run);
		goto close_db;
	}
	first = select_probe(report, run, view);
	if (first < 0) {
		err = first;
		explain_no_probe(report, run);
		goto close_db;
	}
	if (report->options.csv && view->probes[0].refused[0]) {
		err = -ENODATA;
		log__error(report->probe, view->probes[0].refused, NULL);
		goto close_db;
	}
	err = report->intervals ? print_intervals(report, db, view, first)
				: read_and_print(report, db, view);
	if (err && err != -ECANCELED) /* write_file() has said why */
		log__error(path, rundb__explain(err), NULL);
close_db:
	rundb__close(db);
	run__clear(run);
	return err ? EXIT_ERROR : EXIT_DONE;
}

int cmd_report(int argc, char **argv)
{
	struct report report = { .to_ns = UINT64_MAX, .rules = WHOLE_RULES };
	struct run *runs; /* as recorded, and as printed */
	int code = options__begin(&report.options, &report_usage, &report, argc, argv);

	if (code != OPTIONS_RUN)
		return code;
	runs = calloc(2, sizeof(*runs));
	if (!runs) {
		log__error(argv[0], "out of memory", NULL);
		return EXIT_ERROR;
	}
	code = print_recording(&report, report.options.args[0], &runs[0], &runs[1]);
	free(runs);
	return code;
}
