// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include <core/units.h>
#include <experiment/experiment.h>
#include <experiment/matrix.h>
#include <experiment/table.h>
#include <experiment/text.h>
#include <print/compare.h>
#include <print/streams.h>
#include <store/json_print.h>

#include "cmd.h"
#include "log.h"
#include "options.h"
#include "output.h"
#include "page.h"

#define RUNS 10 /* default of -n, without --effect */
#define RUNS_FOR_EFFECT 100 /* and with it */
#define MOST_WORDS 64
#define NO_SEED UINT64_MAX

static const char ab_doc[] =
	"Runs two sides, OFF and ON, in turn and in random order, each run a recording, and tells "
	"whether latencies are worse with ON. A CMD is a line for the shell. Without WORKLOAD the "
	"two CMDs are what is measured. With WORKLOAD, CMD prepares the side (sets a sysctl, for "
	"example) and must end; then the workload is measured. --matrix compares many cells with "
	"one of them.\v"
	"Ends early if half of the runs already have the answer. The looks share the error "
	"probability of --confidence. Statistics: as in compare; by default tail, p50, p99 and "
	"share.\n\n"
	"Examples:\n"
	"  latscope ab --off 'sleep 10' --on 'latscope load touch -d 10s'\n"
	"  latscope ab -n 20 --off './set 60' --on './set 10' -- ./workload\n"
	"  latscope ab --effect 10% -P runqlat --metric p99 --off ./old --on ./new\n"
	"  latscope ab --matrix fio --only rw=randread -n 5 -P iolat\n"
	"  latscope ab --resume runs/20260102T030405Z\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 3 something is worse, 77 not\n"
	"supported here.";

struct ab {
	struct options options;
	struct experiment experiment;
	const char *commands[2];
	const char *matrix; /* a file, or the name of one that is installed */
	char *only; /* cells of it */
	const char *html; /* the file of the page */
	const char *resume; /* a directory */
	const char *parent; /* of the new directory */
	const char *probe; /* judge only this one */
	char *record; /* options for record, in one text */
};

static int add_metric(struct options *options, void *at, const char *text)
{
	struct judge_rules *rules = at;
	int statistic = judge__find(text);

	if (!strcmp(text, "all"))
		rules->statistics = JUDGE_ALL;
	else if (statistic < 0)
		return options__fail(options,
				     "--metric '%s': unknown statistic; choose from tail, p50, "
				     "p90, p99, p99.9, p99.99, mean, rate, tail/s, share, "
				     "all",
				     text);
	else
		rules->statistics |= 1U << statistic;
	return 0;
}

/* More values, or more of an axis. */
static int add_only(struct options *options, void *at, const char *text)
{
	char **only = at, *both;

	if (asprintf(&both, "%s%s%s", *only ? *only : "", *only ? "," : "", text) < 0)
		return options__fail(options, "out of memory");
	free(*only);
	*only = both;
	return 0;
}

#define OWN struct ab

static const struct option_row ab_rows[] = {
	{ "off", 0, "CMD", "Shell command of the side OFF", OPT_TEXT(commands[0]) },
	{ "on", 0, "CMD", "Shell command of the side ON", OPT_TEXT(commands[1]) },
	{ "matrix", 0, "FILE", "Run each cell of FILE; fio comes with latscope", OPT_TEXT(matrix) },
	{ "only", 0, "LIST", "Only the cells with NAME=VALUE,...; repeatable",
	  OPT_CALL_ON(add_only, only) },
	{ "html", 0, "FILE", "Also write a page: a picture for each cell", OPT_TEXT(html) },
	{ "runs", 'n', "N", "Runs of each side (10; with --effect at most 100)",
	  OPT_COUNT(experiment.plan.most, 1, PLAN_MOST_RUNS) },
	{ "effect", 0, "PERCENT", "As many runs as it takes to find this difference",
	  OPT_PERCENT(experiment.plan.effect, 0.1, 1e7) },
	{ "probe", 'P', "NAME", "Judge only this probe", OPT_TEXT(probe) },
	{ "metric", 0, "STATISTIC", "Test this statistic; repeatable, or all",
	  OPT_CALL_ON(add_metric, experiment.plan.rules) },
	{ "confidence", 0, "PERCENT", "Confidence of the verdicts (95)",
	  OPT_PERCENT(experiment.plan.rules.confidence, 50, 99.999) },
	{ "min-effect", 0, "PERCENT", "Ignore differences up to this (0)",
	  OPT_PERCENT(experiment.plan.rules.min_effect, 0, 1e7) },
	{ "record", 0, "OPTIONS", "More options of record, in one text", OPT_WORDS(record) },
	{ "seed", 0, "N", "Order of the runs (random)",
	  OPT_COUNT(experiment.plan.seed, 0, INT64_MAX) },
	{ "output", 'o', "DIR", "Create the experiment in DIR (" OUTPUT_DIR ")", OPT_TEXT(parent) },
	{ "resume", 0, "DIR", "Go on with the experiment in DIR", OPT_TEXT(resume) },
	{ 0 },
};

/* Everything of a resumed experiment is in its plan. */
static int check_resume(struct ab *ab)
{
	const struct plan *plan = &ab->experiment.plan;
	struct options *options = &ab->options;

	if (ab->commands[0] || ab->commands[1] || ab->matrix || ab->only || plan->most ||
	    plan->effect > 0 || ab->probe || plan->rules.statistics || ab->record ||
	    plan->seed != NO_SEED || ab->parent || options->nr_args || options->duration_ns ||
	    options->interval_ns)
		return options__fail(options, "--resume goes on as planned; leave out the other "
					      "options");
	return 0;
}

/* FILE of --matrix. A plain name is that of one in share/latscope/matrix, next to our bin. */
static int matrix_path(const struct ab *ab, char path[PATH_MAX])
{
	char program[PATH_MAX / 2];
	ssize_t len;

	if (strpbrk(ab->matrix, "./")) {
		snprintf(path, PATH_MAX, "%s", ab->matrix);
		return 0;
	}
	len = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (len < 0)
		return -errno;
	program[len] = '\0';
	snprintf(path, PATH_MAX, "%s/../share/latscope/matrix/%.200s.matrix", dirname(program),
		 ab->matrix);
	return 0;
}

static int read_matrix(struct ab *ab)
{
	struct matrix *matrix = calloc(1, sizeof(*matrix));
	char path[PATH_MAX];
	int err = matrix ? matrix_path(ab, path) : -ENOMEM;

	if (!err)
		err = matrix__read(matrix, path);
	if (!err && ab->only)
		err = matrix__choose(matrix, ab->only);
	if (!err)
		err = matrix__plan(matrix, &ab->experiment.plan);
	if (err)
		err = options__fail(&ab->options, "--matrix %s: %s", ab->matrix,
				    matrix && matrix->error[0] ? matrix->error : strerror(-err));
	if (matrix)
		matrix__clear(matrix);
	free(matrix);
	return err;
}

static int check_matrix(struct ab *ab)
{
	if (ab->commands[0] || ab->commands[1] || ab->experiment.plan.effect > 0)
		return options__fail(&ab->options,
				     "--matrix has the commands and makes -n runs of each; leave "
				     "out --off, --on and --effect");
	return read_matrix(ab);
}

static int check(struct options *options, void *own)
{
	struct ab *ab = own;

	if (ab->html && page__is_stdout(ab->html) && (options->json || options->csv))
		return options__fail(options,
				     "--html - needs standard output; leave out --json and --csv");
	if (ab->resume)
		return check_resume(ab);
	if (ab->matrix)
		return check_matrix(ab);
	if (ab->only || ab->html)
		return options__fail(options, "--%s needs --matrix", ab->only ? "only" : "html");
	for (unsigned int i = 0; i < 2; i++)
		if (!ab->commands[i])
			return options__fail(options, "missing --%s 'CMD'", i ? "on" : "off");
	return 0;
}

static const struct usage ab_usage = {
	.groups = OPTIONS_WINDOW | OPTIONS_FORMAT,
	.rows = ab_rows,
	.args = "--off CMD --on CMD [-- WORKLOAD ARG...]\n--matrix FILE [-- WORKLOAD ARG...]",
	.doc = ab_doc,
	.takes_workload = true,
	.check = check,
};

/* The options of record: -d, -i, those of the matrix, and those in the text of --record. */
static char **record_options(const struct ab *ab)
{
	char *words[MATRIX_RECORD + MOST_WORDS + 6], duration[32], interval[32];
	char *rest = ab->record, *word;
	char *const *matrix = ab->experiment.plan.record;
	static char with_duration[] = "-d", with_interval[] = "-i";
	size_t nr = 0;

	snprintf(duration, sizeof(duration), "%" PRIu64 "ns", ab->options.duration_ns);
	snprintf(interval, sizeof(interval), "%" PRIu64 "ns", ab->options.interval_ns);
	if (ab->options.duration_ns) {
		words[nr++] = with_duration;
		words[nr++] = duration;
	}
	if (ab->options.interval_ns) {
		words[nr++] = with_interval;
		words[nr++] = interval;
	}
	while (matrix && *matrix)
		words[nr++] = *matrix++;
	while (rest && nr < MATRIX_RECORD + MOST_WORDS && (word = strsep(&rest, " \t")))
		if (*word)
			words[nr++] = word;
	words[nr] = NULL;
	return plan__copy_list(words);
}

static int make_plan(struct ab *ab)
{
	struct plan *plan = &ab->experiment.plan;
	char **record;

	plan->rules.run_spread = JUDGE_RUN_SPREAD;
	if (!plan->rules.statistics)
		plan->rules.statistics = 1U << JUDGE_TAIL | 1U << judge__find("p50") |
					 1U << judge__find("p99") | 1U << JUDGE_SHARE;
	if (!plan->most)
		plan->most = plan->effect > 0 ? RUNS_FOR_EFFECT : RUNS;
	plan->planned = plan->most;
	if (plan->seed == NO_SEED && getrandom(&plan->seed, sizeof(plan->seed), 0) < 0)
		return -errno;
	plan->seed &= INT64_MAX;
	record = record_options(ab);
	plan__free_list(plan->record);
	plan->record = record;
	if (ab->probe)
		plan->probe = strdup(ab->probe);
	if (ab->options.nr_args)
		plan->workload = plan__copy_list(ab->options.args);
	for (unsigned int i = 0; !plan->matrix && i < 2; i++)
		if (plan__add_side(plan, judge__groups[i], ab->commands[i]))
			return -ENOMEM;
	return plan->record && (plan->probe || !ab->probe) &&
			       (plan->workload || !ab->options.nr_args)
		       ? 0
		       : -ENOMEM;
}

/* ---- what the user sees ---- */

static void progress(const struct experiment *experiment)
{
	const struct plan *plan = &experiment->plan;
	size_t done = experiment__done(experiment), all = experiment__planned(experiment);
	const char *name = plan->sides[plan__next(plan, experiment->done)].name;
	char rest[UNITS_TEXT] = "?";

	if (plan->concluded) {
		log__progress_end();
		return;
	}
	if (experiment->runs)
		units__duration(rest, experiment->spent_ns / experiment->runs / 1000000000 *
					      (all - done) * 1000000000);
	log__progress("run %zu of %s%zu%s%.40s%s%s", done + 1, plan->effect > 0 ? "about " : "",
		      all, plan->matrix ? ": " : "", plan->matrix ? name : "",
		      experiment->runs ? "; remaining: about " : "", experiment->runs ? rest : "");
}

static int explain(const struct ab *ab, const char *what, int err)
{
	const struct experiment *experiment = &ab->experiment;
	char hint[PATH_MAX + RUN_TEXT], kept[RUN_TEXT];
	bool ran = experiment__done(experiment) > 0;

	log__progress_end();
	snprintf(hint, sizeof(hint), "latscope ab --resume %s goes on", experiment->path);
	if (err == -EINTR) {
		if (experiment->plan.matrix)
			snprintf(kept, sizeof(kept), "%zu of %zu runs are kept",
				 experiment__done(experiment), experiment__planned(experiment));
		else
			snprintf(kept, sizeof(kept), "%zu runs of OFF and %zu of ON are kept",
				 experiment->done[0], experiment->done[1]);
		log__error("ab: stopped by a signal", kept, hint);
		return EXIT_ERROR;
	}
	if (!ran && experiment->child.log >= 0)
		snprintf(hint, sizeof(hint), "see %s/output.log", experiment->path);
	if (!ab->resume && experiment->child.log < 0)
		snprintf(hint, sizeof(hint), "choose another directory with -o");
	log__error(what, experiment->why[0] ? experiment->why : strerror(-err),
		   !ab->resume || experiment->child.log >= 0 ? hint : NULL);
	log__quote(experiment->said);
	return experiment->code == EXIT_CANNOT || experiment->code == EXIT_USAGE ? experiment->code
										 : EXIT_ERROR;
}

static int print_json(const struct ab *ab)
{
	struct json_object *object = compare__json(&ab->experiment.comparison);
	int err = compare__add_why(object, &ab->experiment.comparison);

	if (!err)
		err = experiment_text__add_json(object, &ab->experiment);
	return json__print(object, stdout, true) ? -ENOMEM : err;
}

/* Returns an exit code. */
static int print_matrix(struct ab *ab)
{
	struct experiment *experiment = &ab->experiment;
	struct cell_table table;
	int err = cell_table__read(&table, experiment), code = EXIT_DONE;

	if (err) {
		log__error("cannot compare the cells",
			   experiment->why[0] ? experiment->why : strerror(-err), NULL);
		code = EXIT_ERROR;
	} else if (ab->options.json) {
		err = cell_table__print_json(stdout, &table);
	} else if (ab->options.csv) {
		cell_table__print_csv(stdout, &table);
	} else if (!ab->html || !page__is_stdout(ab->html)) {
		cell_table__print_text(stdout, &table, streams__color());
	}
	if (!err && ab->html)
		code = page__write(ab->html, "page", cell_table__print_html, &table);
	if (code == EXIT_DONE && table.verdicts[JUDGE_WORSE])
		code = EXIT_WORSE;
	if (err && code != EXIT_ERROR) {
		log__error("ab", "out of memory", NULL);
		code = EXIT_ERROR;
	}
	log__note("experiment in %s", experiment->path);
	cell_table__clear(&table);
	return code;
}

static int print(const struct ab *ab)
{
	const struct comparison *comparison = &ab->experiment.comparison;
	int err;

	if (ab->options.json)
		return print_json(ab);
	if (ab->options.csv) {
		compare__print_csv(stdout, comparison);
		return 0;
	}
	compare__print_text(stdout, comparison, streams__color(), ab->options.verbose);
	err = compare__print_why(stdout, comparison);
	return err ? err : experiment_text__print(stdout, &ab->experiment, ab->options.verbose);
}

static int run(struct ab *ab)
{
	struct experiment *experiment = &ab->experiment;
	char what[PATH_MAX + RUN_TEXT];
	int err;

	if (ab->resume) {
		snprintf(what, sizeof(what), "cannot resume %s", ab->resume);
		err = experiment__open(experiment, ab->resume);
	} else {
		const char *parent = ab->parent ? ab->parent : OUTPUT_DIR;

		snprintf(what, sizeof(what), "cannot create an experiment in %s", parent);
		err = make_plan(ab);
		if (!err)
			err = experiment__create(experiment, parent, "ab");
	}
	if (!err) {
		snprintf(what, sizeof(what), "the experiment stopped");
		experiment->progress = progress;
		err = experiment__go(experiment);
	}
	if (err)
		return explain(ab, what, err);
	if (experiment->plan.matrix)
		return print_matrix(ab);
	if (ab->html) {
		log__error("ab --html", "the experiment has no matrix", "use compare --html");
		return EXIT_ERROR;
	}
	if (print(ab)) {
		log__error("ab", "out of memory", NULL);
		return EXIT_ERROR;
	}
	log__note("experiment in %s", experiment->path);
	return experiment->comparison.verdicts[JUDGE_WORSE] ? EXIT_WORSE : EXIT_DONE;
}

int cmd_ab(int argc, char **argv)
{
	struct ab *ab = calloc(1, sizeof(*ab));
	int code;

	if (!ab) {
		log__error("ab", "out of memory", NULL);
		return EXIT_ERROR;
	}
	ab->experiment.plan.rules.confidence = 0.95;
	ab->experiment.plan.seed = NO_SEED;
	code = options__begin(&ab->options, &ab_usage, ab, argc, argv);
	if (code == OPTIONS_RUN) {
		code = run(ab);
		experiment__close(&ab->experiment);
	} else {
		plan__clear(&ab->experiment.plan);
	}
	free(ab->only);
	free(ab);
	return code;
}
