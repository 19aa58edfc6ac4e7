// SPDX-License-Identifier: BSD-2-Clause
/* The questions of fleet: a percentile, top, compare. */
#include "fleet_command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <fleet/answer.h>
#include <fleet/source_clickhouse.h>
#include <fleet/source_directory.h>
#include <probes/kit/probe.h>
#include <store/json_print.h>
#include <store/rundb.h>

#include "cmd.h"
#include "log.h"
#include "output.h"

#define LAST_NS (7 * 86400 * 1000000000ULL)
#define LAST_OF_TOP_NS (3600 * 1000000000ULL)
#define MOST_TOP 100000

static const char *const percentiles[FLEET_COMPARE + 1] = {
	[FLEET_TOP] = "p50,p99,p99.9",
	[FLEET_COMPARE] = "p50,p90,p99,p99.9",
};

/* ---- options ---- */

static int add_condition(struct fleet *fleet, const char *name, const char *text, unsigned int side)
{
	int err = fleet_question__condition(&fleet->ask.question.sides[side], text);

	if (err == -EINVAL)
		return options__fail(&fleet->options,
				     "%s '%.64s': use NAME=VALUE, such as kernel=6.1", name, text);
	if (err)
		return options__fail(&fleet->options,
				     "%s '%.64s': too long, or more than %d of them", name, text,
				     FLEET_CONDITIONS);
	return 0;
}

static int set_by(struct fleet *fleet, const char *text)
{
	switch (fleet_question__by(&fleet->ask.question, text)) {
	case 0:
		return 0;
	case -E2BIG:
		return options__fail(&fleet->options, "--by '%.64s': at most %d names", text,
				     FLEET_BY);
	case -EEXIST:
		return options__fail(&fleet->options, "--by '%.64s': a name is there twice", text);
	default:
		return options__fail(
			&fleet->options,
			"--by '%.64s': use a list of host, kernel, service and names of labels",
			text);
	}
}

static int set_last(struct fleet *fleet, const char *text)
{
	fleet->ask.all_time = !strcmp(text, "all");
	if (fleet->ask.all_time)
		return 0;
	return options__duration(&fleet->options, "--last", text, &fleet->ask.last_ns);
}

static int set_top(struct fleet *fleet, const char *text)
{
	uint64_t top = 0;
	int err = options__count(&fleet->options, "--top", text, 0, MOST_TOP, &top);

	fleet->ask.question.top = (unsigned int)top;
	return err;
}

static int add_statistic(struct fleet *fleet, const char *text)
{
	struct fleet_question question = { 0 };
	struct fleet_ask *ask = &fleet->ask;

	if (fleet_question__quantiles(&question, text))
		return options__fail(
			&fleet->options,
			"--metric '%.64s': unknown statistic; use a percentile, such as "
			"p99.9",
			text);
	if (ask->nr_statistics == FLEET_QUANTILES)
		return options__fail(&fleet->options, "--metric: at most %d", FLEET_QUANTILES);
	ask->statistics[ask->nr_statistics++] = text;
	return 0;
}

static int set_fail_on(struct fleet *fleet, const char *text)
{
	if (strcmp(text, "worse") != 0)
		return options__fail(&fleet->options,
				     "--fail-on '%.64s': unknown verdict; use 'worse'", text);
	fleet->ask.fail_on_worse = true;
	return 0;
}

static int parse_compare(int key, char *arg, struct fleet *fleet)
{
	switch (key) {
	case FLEET_ASK_AGAINST:
		fleet->ask.given_compare = "--against";
		return add_condition(fleet, "--against", arg, 1);
	case FLEET_ASK_METRIC:
		fleet->ask.given_compare = "--metric";
		return add_statistic(fleet, arg);
	case FLEET_ASK_MIN_EFFECT:
		fleet->ask.given_compare = "--min-effect";
		return options__percent(&fleet->options, "--min-effect", arg, 0, 1e7,
					&fleet->ask.question.min_effect);
	case FLEET_ASK_FAIL_ON:
		fleet->ask.given_compare = "--fail-on";
		return set_fail_on(fleet, arg);
	}
	return ARGP_ERR_UNKNOWN;
}

error_t fleet_ask__parse(int key, char *arg, struct fleet *fleet)
{
	struct fleet_ask *ask = &fleet->ask;

	switch (key) {
	case FLEET_ASK_DIR:
		ask->given = "--dir";
		ask->dir = arg;
		return 0;
	case FLEET_ASK_BY:
		ask->given = "--by";
		return set_by(fleet, arg);
	case FLEET_ASK_WHERE:
		ask->given = "--where";
		return add_condition(fleet, "--where", arg, 0);
	case FLEET_ASK_LAST:
		ask->given = "--last";
		return set_last(fleet, arg);
	case FLEET_ASK_TOP:
		ask->given = "--top";
		return set_top(fleet, arg);
	case FLEET_ASK_CONFIDENCE:
		ask->given = "--confidence";
		return options__percent(&fleet->options, "--confidence", arg, 50, 99.5,
					&ask->question.confidence);
	case FLEET_ASK_SQL:
		ask->given = "--sql";
		ask->sql = true;
		return 0;
	default:
		return parse_compare(key, arg, fleet);
	}
}

int fleet_ask__check(struct fleet *fleet, const struct fleet_command *command)
{
	struct options *options = &fleet->options;
	const struct fleet_ask *ask = &fleet->ask;
	bool compares = command->run == fleet__compare;

	if (!command->asks && options->nr_args > 1)
		return options__fail(options, "unexpected argument '%.64s'", options->args[1]);
	if (!command->asks && (ask->given || ask->given_compare))
		return options__fail(options, "%s is no option of '%s'",
				     ask->given ? ask->given : ask->given_compare, command->name);
	if (!command->asks && (options->json || options->csv))
		return options__fail(options, "'%s' prints no %s", command->name,
				     options->json ? "JSON" : "CSV");
	if (command->asks && !compares && ask->given_compare)
		return options__fail(options, "%s is an option of 'compare'", ask->given_compare);
	if (ask->dir && fleet->url)
		return options__fail(options, "give --dir or --clickhouse, not both");
	return 0;
}

/* ---- the question ---- */

static int wrong(struct fleet *fleet)
{
	log__usage("fleet", fleet->options.error);
	return EXIT_USAGE;
}

static int set_quantiles(struct fleet *fleet)
{
	struct fleet_question *question = &fleet->ask.question;
	const struct fleet_ask *ask = &fleet->ask;
	const char *text = fleet->options.args[0];
	int err = 0;

	if (question->kind != FLEET_QUANTILE)
		text = percentiles[question->kind];
	for (size_t i = 0; !err && i < ask->nr_statistics; i++)
		err = fleet_question__quantiles(question, ask->statistics[i]);
	if (!err && !ask->nr_statistics)
		err = fleet_question__quantiles(question, text);
	if (err)
		return options__fail(&fleet->options,
				     "'%.64s': invalid percentile; use up to %d such as p99.9 or "
				     "p50,p99",
				     text, FLEET_QUANTILES);
	return 0;
}

static void set_time(struct fleet *fleet)
{
	struct fleet_question *question = &fleet->ask.question;
	uint64_t last_ns = question->kind == FLEET_TOP ? LAST_OF_TOP_NS : LAST_NS;

	question->to_s = (uint64_t)time(NULL);
	if (fleet->ask.last_ns)
		last_ns = fleet->ask.last_ns;
	if (!fleet->ask.all_time && question->to_s > last_ns / 1000000000)
		question->from_s = question->to_s - last_ns / 1000000000;
}

static int make_question(struct fleet *fleet)
{
	struct fleet_question *question = &fleet->ask.question;
	struct options *options = &fleet->options;
	const char *metric = options->nr_args > 1 ? options->args[1] : NULL;

	if (!metric && question->kind != FLEET_TOP)
		return options__fail(options, "missing metric; give a probe, such as runqlat");
	if (fleet_question__metric(question, metric ? metric : "runqlat"))
		return options__fail(options, "'%.64s': use PROBE or PROBE.METRIC", metric);
	if (!probe__find(question->probe))
		return options__fail(options,
				     "unknown probe '%.63s'; use memlat, runqlat, iolat or softirq",
				     question->probe);
	if (question->kind == FLEET_COMPARE && (!question->sides[0].nr || !question->sides[1].nr))
		return options__fail(options, "compare needs --where and --against");
	if (question->kind == FLEET_TOP && !question->nr_by)
		fleet_question__by(question, "service");
	if (!question->metric[0] && !strcmp(question->probe, "runqlat"))
		strcpy(question->metric, "run_queue");
	if (!question->metric[0] && !strcmp(question->probe, "iolat"))
		strcpy(question->metric, "device");
	set_time(fleet);
	return set_quantiles(fleet);
}

/* ---- errors ---- */

static const char *what_finds_more(const struct fleet *fleet)
{
	const struct fleet_question *question = &fleet->ask.question;
	bool is_narrow = question->sides[0].nr || strchr(fleet->options.args[1] ?: "", '.');

	if (!fleet->url && fleet_question__needs_services(question))
		return "record with --by cgroup, or use --by host";
	if (!question->from_s)
		return "check the name of the metric and --where";
	return is_narrow ? "check the name of the metric and --where, or use --last all"
			 : "look further back with --last TIME or --last all";
}

static int explain_nothing(const struct fleet *fleet)
{
	const struct fleet_question *question = &fleet->ask.question;
	char what[2 * RUN_NAME + 16];

	snprintf(what, sizeof(what), "fleet %.63s%s%.63s", question->probe,
		 question->metric[0] ? "." : "", question->metric);
	log__error(what, question->from_s ? "there is no data of this time" : "there is no data",
		   what_finds_more(fleet));
	return EXIT_ERROR;
}

static int explain(const struct fleet *fleet, const struct fleet_data *data, int err)
{
	const char *dir = fleet->ask.dir ? fleet->ask.dir : OUTPUT_DIR;
	char what[PATH_MAX + RUN_TEXT];

	for (size_t i = 0; i < data->notes.nr; i++)
		log__warn("fleet", data->notes.lines[i], NULL);
	if (err == -ENODATA)
		return explain_nothing(fleet);
	snprintf(what, sizeof(what), "cannot read recordings in %s", dir);
	if (err == -ENOTUNIQ)
		log__error("fleet", data->why, "name one of them: PROBE.METRIC");
	else if (err == -ENOMEM)
		log__error("fleet", "out of memory", NULL);
	else if (fleet->url)
		return fleet__failed(fleet, "cannot ask", err,
				     data->why[0] ? data->why : strerror(-err));
	else if (err == -ENOENT)
		log__error(what, "there is none",
			   "give a directory with --dir, or --clickhouse URL");
	else
		log__error(what, err == -EOVERFLOW ? "too many events to count" : strerror(-err),
			   NULL);
	return EXIT_ERROR;
}

/* ---- answers ---- */

static int print(const struct fleet *fleet, const struct fleet_answer *answer)
{
	if (fleet->options.csv)
		fleet_answer__csv(stdout, answer);
	else if (fleet->options.json)
		return json__print(fleet_answer__json(answer), stdout, true);
	else
		fleet_answer__text(stdout, answer);
	return 0;
}

static int answer(const struct fleet *fleet, const struct fleet_data *data)
{
	struct fleet_answer answer;
	int err = fleet_answer__make(&answer, data);
	bool is_worse = !err && answer.verdicts[JUDGE_WORSE];

	if (!err)
		err = print(fleet, &answer);
	fleet_answer__clear(&answer);
	if (err)
		return explain(fleet, data, err);
	return is_worse && fleet->ask.fail_on_worse ? EXIT_WORSE : EXIT_DONE;
}

static int read_data(struct fleet *fleet, struct fleet_data *data)
{
	const char *dir = fleet->ask.dir ? fleet->ask.dir : OUTPUT_DIR;

	if (fleet->url)
		return source_clickhouse__read(data, fleet->server);
	return source_directory__read(data, dir, fleet->ask.question.to_s);
}

/* Without a server these are the statements for one without roll-ups. */
static int print_sql(struct fleet *fleet, struct fleet_data *data)
{
	struct bytes sql = { 0 };
	int err = source_clickhouse__sql(data, fleet->server, &sql);

	if (!err)
		fwrite(sql.at, 1, sql.len, stdout);
	bytes__free(&sql);
	return err ? explain(fleet, data, err) : EXIT_DONE;
}

static int ask(struct fleet *fleet, enum fleet_kind kind)
{
	struct fleet_data data;
	int code = EXIT_DONE, err;

	fleet->ask.question.kind = kind;
	if (make_question(fleet))
		return wrong(fleet);
	if (fleet->url)
		code = fleet__open(fleet);
	if (code)
		return code;
	fleet_data__begin(&data, &fleet->ask.question);
	if (fleet->ask.sql) {
		code = print_sql(fleet, &data);
	} else {
		err = read_data(fleet, &data);
		code = err ? explain(fleet, &data, err) : answer(fleet, &data);
	}
	fleet_data__clear(&data);
	return code;
}

int fleet__percentile(struct fleet *fleet)
{
	return ask(fleet, FLEET_QUANTILE);
}

int fleet__top(struct fleet *fleet)
{
	return ask(fleet, FLEET_TOP);
}

int fleet__compare(struct fleet *fleet)
{
	return ask(fleet, FLEET_COMPARE);
}
