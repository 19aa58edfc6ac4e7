// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <print/compare.h>
#include <print/html.h>
#include <print/streams.h>
#include <store/json.h>
#include <store/rundb.h>

#include "cmd.h"
#include "log.h"
#include "options.h"
#include "page.h"

#define QUOTE(text) #text
#define TEXT_OF(macro) QUOTE(macro)

static const char compare_doc[] =
	"Tells whether latencies are worse in group ON than in group OFF. A group is one "
	"recording, a directory of several, or several in one directory. With three or more "
	"recordings in both groups, the variation from run to run is measured; with fewer, it is "
	"assumed (see --run-spread).\v"
	"Statistics: tail (share), p50, p90, p99, p99.9, p99.99 and mean, of which more is worse; "
	"rate and tail/s (events per second), and share (of the time of threads), of which more is "
	"neither better nor worse.\n\n"
	"Examples:\n"
	"  latscope compare runs-off runs-on\n"
	"  latscope compare off/2026* on/2026*\n"
	"  latscope compare --metric p99 --min-effect 10% --fail-on worse before after\n"
	"  latscope compare -P runqlat --by process --top 5 before after\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 3 --fail-on matched.";

struct compare {
	struct options options;
	struct comparison_rules rules;
	bool fail_on_worse;
	const char *html; /* write this file; NULL: print */
	int nr_off; /* so many of the arguments are of OFF, the others of ON */
};

static int add_metric(struct options *options, void *at, const char *text)
{
	struct judge_rules *judge = at;
	int statistic = judge__find(text);

	if (statistic < 0)
		return options__fail(options,
				     "--metric '%s': unknown statistic; choose from tail, p50, "
				     "p90, p99, p99.9, p99.99, mean, rate, tail/s, share",
				     text);
	judge->statistics |= 1U << statistic;
	return 0;
}

#define OWN struct compare
static const char *const verdicts[] = { "worse", NULL };

static const struct option_row compare_rows[] = {
	{ "probe", 'P', "NAME", "Only this probe", OPT_TEXT(rules.probe) },
	{ "html", 0, "FILE", "Write a page for a browser: one file, no network", OPT_TEXT(html) },
	{ "metric", 0, "STATISTIC", "Test only this statistic; repeatable",
	  OPT_CALL_ON(add_metric, rules.judge) },
	{ "confidence", 0, "PERCENT", "Confidence of intervals and verdicts (95)",
	  OPT_PERCENT(rules.judge.confidence, 50, 99.999) },
	{ "min-effect", 0, "PERCENT", "Ignore differences up to this (0)",
	  OPT_PERCENT(rules.judge.min_effect, 0, 1e7) },
	{ "run-spread", 0, "PERCENT",
	  "Assumed variation from run to run (" TEXT_OF(JUDGE_RUN_SPREAD_PERCENT) ")",
	  OPT_PERCENT(rules.judge.run_spread, 0, 1000) },
	{ "tail-us", 0, "N", "Tail: N us or more, or iolat=N, a list",
	  OPT_CALL_ON(options__tails, rules.tails) },
	{ "fail-on", 0, "VERDICT", "Exit with 3 if there is this verdict: worse",
	  OPT_CHOICE(fail_on_worse, 1, verdicts, "unknown verdict; use 'worse'") },
	{ 0 },
};

/* The directory that has it, with a '/' at the end; empty: the present one. */
static void parent_of(char parent[PATH_MAX], const char *path)
{
	size_t len = strnlen(path, PATH_MAX - 1);

	while (len > 1 && path[len - 1] == '/')
		len--;
	while (len && path[len - 1] != '/')
		len--;
	memcpy(parent, path, len);
	parent[len] = '\0';
}

static bool have_one_parent(const char *left, const char *right)
{
	char parents[2][PATH_MAX];
	struct stat one, two;

	parent_of(parents[0], left);
	parent_of(parents[1], right);
	if (stat(parents[0][0] ? parents[0] : ".", &one) ||
	    stat(parents[1][0] ? parents[1] : ".", &two))
		return !strcmp(parents[0], parents[1]);
	return one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

/* Two arguments are two groups. Of more, as patterns of a shell give, a group is in a directory. */
static int divide(struct compare *compare)
{
	struct options *options = &compare->options;
	char **args = options->args;
	int nr_off = 1, nr = options->nr_args;

	if (nr < 2)
		return options__fail(options, "missing argument; give two groups of recordings");
	while (nr > 2 && nr_off < nr && have_one_parent(args[0], args[nr_off]))
		nr_off++;
	for (int i = nr_off; i < nr; i++) {
		if (nr > 2 && !have_one_parent(args[nr_off], args[i]))
			return options__fail(options,
					     "unexpected argument '%s'; of more than two, give "
					     "first those of one directory, then those of another",
					     args[i]);
	}
	if (nr_off == nr)
		return options__fail(options,
				     "unexpected argument '%s'; more than two are of two "
				     "directories",
				     args[2]);
	compare->nr_off = nr_off;
	return 0;
}

/* One that counts twice would make the group look more certain than it is. */
static int refuse_twice(struct compare *compare)
{
	struct options *options = &compare->options;
	struct stat one, two;

	for (int i = 0; i < options->nr_args; i++) {
		for (int j = i < compare->nr_off ? 0 : compare->nr_off; j < i; j++) {
			if (!stat(options->args[i], &one) && !stat(options->args[j], &two) &&
			    one.st_dev == two.st_dev && one.st_ino == two.st_ino)
				return options__fail(options, "'%s' is named twice",
						     options->args[i]);
		}
	}
	return 0;
}

static int check(struct options *options, void *own)
{
	struct compare *compare = own;

	if (divide(compare) || refuse_twice(compare))
		return -EINVAL;
	if (compare->html && (options->json || options->csv))
		return options__fail(options,
				     "--html writes all of it; leave out --json and --csv");
	if (!compare->rules.judge.statistics)
		compare->rules.judge.statistics = JUDGE_ALL;
	compare->rules.by = options->by;
	compare->rules.top = options->top;
	return 0;
}

static const struct usage compare_usage = {
	.groups = OPTIONS_FORMAT | OPTIONS_SPLIT,
	.rows = compare_rows,
	.args = "OFF... ON...",
	.doc = compare_doc,
	.max_args = INT_MAX,
	.check = check,
};

/* What the user can do when rundb cannot read a recording. */
static const char *remedy(int err)
{
	switch (err) {
	case -EACCES:
		return "run compare as a user who can read it, or move it away";
	case -EPROTONOSUPPORT:
		return "use that version to compare them";
	case -ENOENT:
	case -ENOTDIR:
	case -EMEDIUMTYPE:
		return "give a recording or a directory of recordings";
	default:
		return NULL;
	}
}

static int explain(const struct compare *compare, const struct comparison *comparison, int err)
{
	char what[RUN_TEXT];

	for (unsigned int i = 0; i < comparison->nr_refusals; i++) {
		snprintf(what, sizeof(what), "cannot compare %s", comparison->refusals[i].probe);
		log__error(what, comparison->refusals[i].why, NULL);
	}
	for (unsigned int i = 0; i < 2; i++) {
		if (comparison->groups[i].failed[0])
			log__error(comparison->groups[i].failed, rundb__explain(err), remedy(err));
	}
	if (err == -ENODATA && !comparison->nr_refusals)
		log__error(compare->rules.probe ? compare->rules.probe : "compare",
			   "no such probe in these recordings", NULL);
	else if (err == -ENOMEM)
		log__error("compare", "out of memory", NULL);
	return EXIT_ERROR;
}

static int print_text(FILE *out, const struct comparison *comparison, bool color, bool verbose)
{
	compare__print_text(out, comparison, color, verbose);
	return compare__print_why(out, comparison);
}

static int print_page(FILE *out, void *of)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);
	int err;

	if (!stream)
		return -ENOMEM;
	err = print_text(stream, of, false, true);
	if (fclose(stream) && !err)
		err = -ENOMEM;
	if (!err)
		err = html__compare(out, of, text);
	free(text);
	return err;
}

static int print(const struct compare *compare, struct comparison *comparison)
{
	struct json_object *object;
	int err = 0;

	if (compare->html)
		return page__write(compare->html, "page", print_page, comparison);
	if (compare->options.csv) {
		compare__print_csv(stdout, comparison);
	} else if (!compare->options.json) {
		err = print_text(stdout, comparison, streams__color(), compare->options.verbose);
	} else {
		object = compare__json(comparison);
		err = compare__add_why(object, comparison);
		err = json__print(object, stdout, true) ? -ENOMEM : err;
	}
	if (!err)
		return EXIT_DONE;
	log__error("compare", "out of memory", NULL);
	return EXIT_ERROR;
}

static int conclude(const struct compare *compare, struct comparison *comparison)
{
	const struct tails *tails = &compare->rules.tails;
	int code;

	for (unsigned int i = 0; i < comparison->nr_tails; i++) {
		const struct comparison_tail *tail = &comparison->tails[i];

		if (tail->ns || !tails__of(tails, tail->probe))
			continue;
		log__error("--tail-us", tail->why,
			   "use a whole number up to 63, or a power of two");
		return EXIT_ERROR;
	}
	code = print(compare, comparison);
	if (!code && compare->fail_on_worse && comparison->verdicts[JUDGE_WORSE])
		code = EXIT_WORSE;
	return code;
}

static int run(const struct compare *compare, struct comparison *comparison)
{
	const char *const *args = (const char *const *)compare->options.args;
	size_t off = (size_t)compare->nr_off, on = (size_t)compare->options.nr_args - off;
	const struct comparison_paths groups[2] = { { args, off }, { args + off, on } };

	return comparison__run_all(comparison, &compare->rules, groups);
}

int cmd_compare(int argc, char **argv)
{
	struct compare compare = {
		.rules = { .judge = { .confidence = 0.95, .run_spread = JUDGE_RUN_SPREAD } },
	};
	struct comparison comparison;
	int code, err;

	code = options__begin(&compare.options, &compare_usage, &compare, argc, argv);
	if (code != OPTIONS_RUN)
		return code;
	err = run(&compare, &comparison);
	code = err ? explain(&compare, &comparison, err) : conclude(&compare, &comparison);
	comparison__clear(&comparison);
	return code;
}
