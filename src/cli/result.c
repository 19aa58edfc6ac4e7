// SPDX-License-Identifier: BSD-2-Clause
#include "result.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <export/export.h>
#include <print/probe_view.h>
#include <print/streams.h>
#include <print/text.h>
#include <print/report.h>
#include <print/why.h>
#include <probes/kit/probe.h>
#include <store/csv.h>
#include <store/json.h>
#include <store/rundb.h>

#include "cmd.h"
#include "log.h"

static struct text_style style_of(const struct result *result)
{
	return (struct text_style){
		.color = streams__color(),
		.all_metrics = result->options->verbose,
		.top = result->options->top,
		.by = result->is_account ? result->options->by : 0,
		.more_by = result->options->more_by,
	};
}

/* A probe that has a table instead of metrics. */
static int print_table(const struct result *result, const struct run_probe *entry)
{
	const struct probe_view *view = probe_view__of(entry);

	const struct text_style style = style_of(result);

	return view && view->print ? view->print(stdout, result->run, entry, &style) : 0;
}

/* The whole time of threads. Its view has what the other probes say of the parts. */
static int print_account(const struct result *result)
{
	const struct run *run = result->run;
	int err;

	if (run->workload || result->options->verbose)
		text__run(stdout, run);
	err = print_table(result, &run->probes[0]);
	for (unsigned int i = 1; result->options->verbose && !err && i < run->nr_probes; i++)
		err = why_text__sentence(stdout, run, &run->probes[i]);
	return err;
}

/* The slow samples, and then the whole time of threads. */
static int print_why(const struct result *result)
{
	const struct run *run = result->run;
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_probes; i++)
		err = why_text__print(stdout, run, &run->probes[i], result->options->top);
	why_text__missing_names(stdout, run);
	for (unsigned int i = 0; !err && i < run->nr_probes; i++)
		if (run->probes[i].table)
			err = print_table(result, &run->probes[i]);
	return err;
}

static int print_csv(const struct result *result)
{
	const struct run_probe *entry = &result->run->probes[0];
	const struct probe_view *view = probe_view__of(entry);

	if (!result->has_table)
		csv__histogram(stdout, &entry->total.metrics[0].hist);
	else if (!result->options->interval_ns && view && view->print_csv)
		view->print_csv(stdout, entry, result->options->more_by);
	return 0;
}

static int print_probe(const struct result *result, const struct run_probe *probe)
{
	struct text_style style = style_of(result);
	int err = 0;

	if (probe->table)
		err = print_table(result, probe);
	else
		text__probe(stdout, result->run, probe, &style);
	return err ? err : why_text__print(stdout, result->run, probe, style.top);
}

/* All probes, one after the other. */
static int print_probes(const struct result *result)
{
	const struct run *run = result->run;
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_probes; i++)
		err = print_probe(result, &run->probes[i]);
	why_text__missing_names(stdout, run);
	return err;
}

/* Those that record has only if it is asked for them: the first answer does not use them. */
static int print_additional(const struct result *result)
{
	const struct run *run = result->run;
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_probes; i++) {
		const struct probe_ops *ops = probe__find(run->probes[i].name);

		if (ops && !ops->by_default && !ops->accounts && !run->probes[i].refused[0]) {
			putchar('\n');
			err = print_probe(result, &run->probes[i]);
		}
	}
	return err;
}

/* Why the slow samples were slow, a sentence for each probe. */
static int print_conclusions(const struct run *run)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_probes; i++)
		err = why_text__sentence(stdout, run, &run->probes[i]);
	return err;
}

/* The first answer is enough, unless more was asked for, or no account could be had. */
static int print_answer(const struct result *result)
{
	bool more = result->options->verbose || result->explains;
	int err;

	if (more || result->run->workload)
		text__run(stdout, result->run);
	err = probe_view__print_answer(stdout, result->run);
	if (err < 0 || (err && !more))
		return err < 0 ? err : print_additional(result);
	if (err)
		putchar('\n');
	return print_conclusions(result->run) ?: print_probes(result);
}

static int print_text(const struct result *result)
{
	if (result->answers)
		return print_answer(result);
	if (result->is_account)
		return print_account(result);
	text__run(stdout, result->run);
	return result->is_why ? print_why(result) : print_probes(result);
}

static int print_json(const struct result *result)
{
	struct json_object *object = json__run(result->run);

	why_json__add(object, result->run);
	report__add_pressure_means(object, result->run);
	return json__print(object, stdout, !result->options->interval_ns);
}

static int print_whole(const struct result *result, struct rundb *db, const struct run *run)
{
	static const struct timeline_rules rules = WHOLE_RULES;
	struct text_style style = style_of(result);
	struct whole *whole;
	int err = whole__new(&whole, db, run, &rules);

	if (!err)
		err = result->options->json ? whole__print_json(stdout, run, whole)
					    : whole__print_text(stdout, &style, run, whole);
	whole__free(whole);
	return err;
}

/* As report does: from run.db, which is complete by now. */
static int print_report(const struct result *result)
{
	struct run *run = calloc(1, sizeof(*run));
	struct rundb *db;
	int err = run ? rundb__open(&db, result->recording, run) : -ENOMEM;

	if (!err) {
		err = print_whole(result, db, run);
		rundb__close(db);
	}
	if (err)
		log__error("cannot read the recording", rundb__explain(err), NULL);
	run__free(run);
	return err ? EXIT_ERROR : EXIT_DONE;
}

int result__print(const struct result *result)
{
	int err = 0, code = EXIT_DONE;

	if (result->recording)
		code = print_report(result);
	else if (result->folded)
		err = export__folded(stdout, result->run);
	else if (result->options->json)
		err = print_json(result);
	else if (!result->options->csv && !result->has_printed)
		err = print_text(result);
	else if (result->options->csv)
		err = print_csv(result);
	if (err) {
		log__error(result->options->command, "out of memory", NULL);
		return EXIT_ERROR;
	}
	streams__flush();
	return code;
}
