// SPDX-License-Identifier: BSD-2-Clause
/* fleet: questions about many machines, and the tables in ClickHouse that have their rows. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <fleet/ask.h>
#include <fleet/tables.h>
#include <probes/kit/probe.h>

#include "cmd.h"
#include "fleet_commands.h"
#include "log.h"
#include "options.h"
#include "output.h"

#define KEEP_ROWS 14
#define KEEP 400
#define MAX_KEEP 36500
#define LAST_NS (7 * 86400 * 1000000000ULL)
#define LAST_OF_TOP_NS (3600 * 1000000000ULL)
#define MOST_TOP 100000

struct fleet {
	struct options options;
	const struct fleet_command *command; /* of args[0] */
	const char *url; /* --clickhouse; NULL: not given */
	const char *login_file;
	struct fleet_tables tables;
	struct fleet_server server;
	struct fleet_question question;
	const char *dir; /* recordings; NULL: not given */
	const char *statistics[FLEET_QUANTILES]; /* --metric of compare */
	size_t nr_statistics;
	uint64_t last_ns; /* 0: not given */
	bool all_time, sql, fail_on_worse;
};

static int run_question(struct fleet *fleet);
static int run_init(struct fleet *fleet);
static int run_rollup(struct fleet *fleet);

const struct fleet_command fleet_commands[] = {
	{ FLEET_PERCENTILE, run_question, "a percentile of all events, such as p99.9", true,
	  FLEET_QUANTILE },
	{ "top", run_question, "which services waited most", true, FLEET_TOP },
	{ "compare", run_question, "is a latency worse on some hosts than on others?", true,
	  FLEET_COMPARE },
	{ "share", run_question, "which share of their time threads were in a state", true,
	  FLEET_SHARE },
	{ "init", run_init, "create the tables, or change how long data are kept", false, 0 },
	{ "rollup", run_rollup, "sum up complete hours and days; delete what is too old", false,
	  0 },
	{ 0 },
};

static const char *const percentiles[] = {
	[FLEET_TOP] = "p50,p99,p99.9",
	[FLEET_COMPARE] = "p50,p90,p99,p99.9",
};

static const char fleet_intro[] =
	"Answers questions about many machines: from the tables that 'latscope serve --clickhouse' "
	"fills, or from a directory of recordings. METRIC is a probe, or PROBE.METRIC; of share "
	"a state of threads, such as disk.\v"
	"Commands:\n";

static const char fleet_examples[] =
	"\nExamples:\n"
	"  latscope fleet p99.9 runqlat --by service,kernel --last 7d --clickhouse URL\n"
	"  latscope fleet p50,p99 iolat.total --dir runs/ --by host\n"
	"  latscope fleet compare runqlat --where kernel=6.1 --against kernel=6.12\n"
	"  latscope fleet share disk --by service --clickhouse URL\n"
	"  latscope fleet init --clickhouse http://127.0.0.1:8123\n"
	"  latscope fleet rollup --clickhouse http://127.0.0.1:8123     every hour\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 3 --fail-on matched, 77 not\n"
	"supported here.";

static const char *fleet_doc(void)
{
	static char doc[2048];
	size_t used = strlen(strcpy(doc, fleet_intro));

	for (size_t i = 0; fleet_commands[i].name && used < sizeof(doc); i++)
		used += (size_t)snprintf(doc + used, sizeof(doc) - used, "  %-9s %s\n",
					 fleet_commands[i].name, fleet_commands[i].help);
	if (used < sizeof(doc))
		snprintf(doc + used, sizeof(doc) - used, "%s", fleet_examples);
	return doc;
}

/* ---- options ---- */

static int add_condition(struct options *options, void *at, const char *text)
{
	int err = fleet_question__condition(at, text);

	if (err == -EINVAL)
		return options__fail(options, "--%s '%.64s': use NAME=VALUE, such as kernel=6.1",
				     options->parsed, text);
	if (err)
		return options__fail(options, "--%s '%.64s': too long, or more than %d of them",
				     options->parsed, text, FLEET_CONDITIONS);
	return 0;
}

static int set_by(struct options *options, void *at, const char *text)
{
	switch (fleet_question__by(at, text)) {
	case 0:
		return 0;
	case -E2BIG:
		return options__fail(options, "--by '%.64s': at most %d names", text, FLEET_BY);
	case -EEXIST:
		return options__fail(options, "--by '%.64s': a name is there twice", text);
	default:
		return options__fail(
			options,
			"--by '%.64s': use a list of host, kernel, service and names of labels",
			text);
	}
}

static int set_last(struct options *options, void *own, const char *text)
{
	struct fleet *fleet = own;

	fleet->all_time = !strcmp(text, "all");
	return fleet->all_time ? 0 : options__duration(options, &fleet->last_ns, text);
}

static int add_statistic(struct options *options, void *own, const char *text)
{
	struct fleet_question question = { 0 };
	struct fleet *fleet = own;

	if (fleet_question__quantiles(&question, text))
		return options__fail(
			options,
			"--metric '%.64s': unknown statistic; use a percentile, such as "
			"p99.9",
			text);
	if (fleet->nr_statistics == FLEET_QUANTILES)
		return options__fail(options, "--metric: at most %d", FLEET_QUANTILES);
	fleet->statistics[fleet->nr_statistics++] = text;
	return 0;
}

static int set_cluster(struct options *options, void *at, const char *text)
{
	if (text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")])
		return options__fail(options, "--cluster '%.64s': use letters, digits and _", text);
	*(const char **)at = text;
	return 0;
}

/* Classes of options; check() refuses them where they do not apply. */
enum { OF_QUESTIONS = 1, OF_COMPARE };

#define OWN struct fleet
static const char *const verdicts[] = { "worse", NULL };

static const struct option_row fleet_rows[] = {
	{ "clickhouse", 0, "URL", "Server, such as http://127.0.0.1:8123", OPT_TEXT(url) },
	{ "clickhouse-login", 0, "FILE", "File with USER:PASSWORD", OPT_TEXT(login_file) },
	{ "cluster", 0, "NAME", "init: the server is a shard of this cluster",
	  OPT_CALL_ON(set_cluster, tables.cluster) },
	{ "keep-rows", 0, "DAYS", "init: keep rows for DAYS (14)",
	  OPT_COUNT(tables.keep_rows, 1, MAX_KEEP) },
	{ "keep", 0, "DAYS", "init: keep roll-ups for DAYS (400)",
	  OPT_COUNT(tables.keep, 1, MAX_KEEP) },
	{ "dir", 0, "DIR", "Ask the recordings below DIR (" OUTPUT_DIR ")", OPT_TEXT(dir),
	  .class = OF_QUESTIONS },
	{ "by", 0, "LIST", "Group by host, kernel, service or labels",
	  OPT_CALL_ON(set_by, question), .class = OF_QUESTIONS },
	{ "where", 0, "NAME=VALUE", "Only hosts, or services, with this value; repeatable",
	  OPT_CALL_ON(add_condition, question.sides[0]), .class = OF_QUESTIONS },
	{ "against", 0, "NAME=VALUE", "compare: --where of the other group; repeatable",
	  OPT_CALL_ON(add_condition, question.sides[1]), .class = OF_COMPARE },
	{ "last", 0, "TIME", "Only the last TIME, or 'all' (7d; top, share: 1h)",
	  OPT_CALL(set_last), .class = OF_QUESTIONS },
	{ "top", 0, "N", "Show N groups: most time, or largest shares (10; 0: all)",
	  OPT_COUNT(question.top, 0, MOST_TOP), .class = OF_QUESTIONS },
	{ "metric", 0, "STATISTIC", "compare: test only this percentile; repeatable",
	  OPT_CALL(add_statistic), .class = OF_COMPARE },
	{ "confidence", 0, "PERCENT", "Confidence of intervals and verdicts (95)",
	  OPT_PERCENT(question.confidence, 50, 99.5), .class = OF_QUESTIONS },
	{ "min-effect", 0, "PERCENT", "compare: ignore differences up to this (0)",
	  OPT_PERCENT(question.min_effect, 0, 1e7), .class = OF_COMPARE },
	{ "fail-on", 0, "VERDICT", "compare: exit with 3 if there is this verdict: worse",
	  OPT_CHOICE(fail_on_worse, 1, verdicts, "unknown verdict; use 'worse'"),
	  .class = OF_COMPARE },
	{ "sql", 0, NULL, "Print the SQL instead of asking", OPT_FLAG(sql), .class = OF_QUESTIONS },
	{ 0 },
};

/* Is an option one of questions, and the command none; or of compare, and another question? */
static int check(struct fleet *fleet, const struct fleet_command *command)
{
	struct options *options = &fleet->options;
	const char *of_questions = options->given[OF_QUESTIONS];
	const char *of_compare = options->given[OF_COMPARE];

	if (!command->asks && options->nr_args > 1)
		return options__fail(options, "unexpected argument '%.64s'", options->args[1]);
	if (!command->asks && (of_questions || of_compare))
		return options__fail(options, "--%s is no option of '%s'",
				     of_questions ? of_questions : of_compare, command->name);
	if (!command->asks && (options->json || options->csv))
		return options__fail(options, "'%s' prints no %s", command->name,
				     options->json ? "JSON" : "CSV");
	if (command->asks && command->kind != FLEET_COMPARE && of_compare)
		return options__fail(options, "--%s is an option of 'compare'", of_compare);
	if (fleet->dir && fleet->url)
		return options__fail(options, "give --dir or --clickhouse, not both");
	return 0;
}

static bool is_called(const struct fleet_command *command, const char *name)
{
	if (!strcmp(command->name, FLEET_PERCENTILE))
		return name[0] == 'p' && isdigit((unsigned char)name[1]);
	return !strcmp(command->name, name);
}

static int find(struct options *options, void *own)
{
	struct fleet *fleet = own;
	char names[RUN_TEXT] = "";
	size_t used = 0;

	for (size_t i = 0; fleet_commands[i].name; i++) {
		fleet->command = &fleet_commands[i];
		if (options->nr_args && is_called(fleet->command, options->args[0]))
			return check(fleet, fleet->command);
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 fleet->command->name);
	}
	if (!options->nr_args)
		return options__fail(options, "missing command; choose from %s", names);
	return options__fail(options, "unknown command '%.32s'; choose from %s", options->args[0],
			     names);
}

/* ---- the server ---- */

/* Prints what failed, and returns the exit code. */
static int failed(const struct fleet *fleet, const char *what, int err, const char *why)
{
	char text[CLICKHOUSE_URL], url[POST_TEXT];

	post__describe(fleet->url, url);
	snprintf(text, sizeof(text), "%s %s", what, url);
	log__error(text, why,
		   err == -EPERM	  ? "give the user with --clickhouse-login"
		   : err == -ENOENT	  ? "run 'latscope fleet init'"
		   : err == -ESTALE	  ? "use the latscope that made it, or another database"
		   : err == -ECONNREFUSED ? "check the URL, and that the server runs"
					  : NULL);
	return err == -ENOPKG ? EXIT_CANNOT : EXIT_ERROR;
}

static int server_failed(const struct fleet *fleet, int err)
{
	return failed(fleet, fleet->server.failed, err, fleet->server.why);
}

static int wrong(struct fleet *fleet)
{
	log__usage("fleet", fleet->options.error);
	return EXIT_USAGE;
}

static int wrong_address(struct fleet *fleet, int err, const char *why)
{
	char what[PATH_MAX + RUN_TEXT];

	if (err == -EINVAL) {
		options__fail(&fleet->options, "--clickhouse '%.64s': %s", fleet->url, why);
		return wrong(fleet);
	}
	snprintf(what, sizeof(what), "cannot use the login in %s",
		 fleet->login_file ? fleet->login_file : CLICKHOUSE_USER);
	log__error(err == -ENOPKG ? "fleet" : what, why, NULL);
	return err == -ENOPKG ? EXIT_CANNOT : EXIT_ERROR;
}

static int connect_to(struct fleet *fleet)
{
	char why[POST_TEXT];
	int err;

	if (!fleet->url) {
		options__fail(&fleet->options, "missing --clickhouse URL");
		return wrong(fleet);
	}
	err = clickhouse__address(&fleet->server.address, fleet->url, fleet->login_file, why);
	if (err)
		return wrong_address(fleet, err, why);
	fleet->server.action = "cannot use";
	err = fleet_server__connect(&fleet->server);
	return err ? server_failed(fleet, err) : EXIT_DONE;
}

/* Connects, and checks that it has our schema. */
static int open_server(struct fleet *fleet)
{
	int code = connect_to(fleet), err;

	if (code)
		return code;
	err = fleet_server__check(&fleet->server);
	return err ? server_failed(fleet, err) : EXIT_DONE;
}

/* ---- the tables ---- */

static int run_init(struct fleet *fleet)
{
	const struct fleet_tables *tables = &fleet->tables;
	char database[CLICKHOUSE_NAME];
	int code = connect_to(fleet), err;

	if (code)
		return code;
	snprintf(database, sizeof(database), "%s", fleet->server.address.database);
	err = fleet_tables__init(&fleet->server, tables);
	if (err == -EXDEV) {
		log__error("cannot create the tables",
			   tables->cluster ? "the database has the tables of a single server"
					   : "the server is a shard of a cluster",
			   tables->cluster ? "use another database, or leave out --cluster"
					   : "add --cluster");
		return EXIT_ERROR;
	}
	if (err) /* it cannot be helped by init */
		return server_failed(fleet, err == -ENOENT ? -EREMOTEIO : err);
	log__note("tables in the database %s: rows are kept %llu days, roll-ups %llu days",
		  database, (unsigned long long)tables->keep_rows,
		  (unsigned long long)tables->keep);
	return EXIT_DONE;
}

static int run_rollup(struct fleet *fleet)
{
	struct fleet_rollup rollup = { .warn = log__warn };
	int code = open_server(fleet), err;

	if (code)
		return code;
	err = fleet_tables__rollup(&fleet->server, &rollup);
	if (err)
		return server_failed(fleet, err);
	log__note("%zu hours and %zu days rolled up", rollup.hours, rollup.days);
	return EXIT_DONE;
}

/* ---- questions ---- */

static int set_quantiles(struct fleet *fleet)
{
	struct fleet_question *question = &fleet->question;
	const char *text = fleet->options.args[0];
	int err = 0;

	if (question->kind == FLEET_SHARE)
		return 0;
	if (question->kind != FLEET_QUANTILE)
		text = percentiles[question->kind];
	for (size_t i = 0; !err && i < fleet->nr_statistics; i++)
		err = fleet_question__quantiles(question, fleet->statistics[i]);
	if (!err && !fleet->nr_statistics)
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
	struct fleet_question *question = &fleet->question;
	bool is_now = question->kind == FLEET_TOP || question->kind == FLEET_SHARE;
	uint64_t last_ns = is_now ? LAST_OF_TOP_NS : LAST_NS;

	question->to_s = (uint64_t)time(NULL);
	if (fleet->last_ns)
		last_ns = fleet->last_ns;
	if (!fleet->all_time && question->to_s > last_ns / 1000000000)
		question->from_s = question->to_s - last_ns / 1000000000;
}

/* The probe that knows who had the CPU; "": it is not built. */
static const char *probe_of_top(void)
{
	for (size_t i = 0; probe_list[i]; i++)
		if (why__words(probe_list[i]->name)->of_cpu)
			return probe_list[i]->name;
	return "";
}

/* Of several metrics the first one. If the method chooses its name, any of the probe will do. */
static const char *default_metric(const struct probe_ops *ops)
{
	for (unsigned int i = 0; i < ops->nr_methods; i++)
		if (ops->methods[i].metric)
			return "";
	return ops->nr_metrics > 1 ? ops->metrics[0].name : "";
}

/* The probe that divides the time of threads; NULL: it is not built. */
static const struct probe_ops *probe_of_share(void)
{
	for (size_t i = 0; probe_list[i]; i++)
		if (probe_list[i]->accounts)
			return probe_list[i];
	return NULL;
}

static int set_state(struct fleet *fleet, const char *state)
{
	const struct probe_ops *ops = probe_of_share();
	struct options *options = &fleet->options;
	char states[RUN_TEXT] = "";
	size_t used = 0;

	if (!ops)
		return options__fail(options, "this latscope has no probe of the time of threads");
	strcpy(fleet->question.probe, ops->name);
	for (size_t i = 0; ops->accounts[i]; i++) {
		used += (size_t)snprintf(states + used, sizeof(states) - used, "%s%s",
					 i ? ", " : "", ops->accounts[i]);
		if (state && !strcmp(ops->accounts[i], state)) {
			strcpy(fleet->question.metric, state);
			return 0;
		}
	}
	if (!state)
		return options__fail(options, "missing state; choose from %s", states);
	return options__fail(options, "unknown state '%.32s'; choose from %s", state, states);
}

static int set_probe(struct fleet *fleet, const char *metric)
{
	struct fleet_question *question = &fleet->question;
	struct options *options = &fleet->options;
	const struct probe_ops *ops;

	if (fleet_question__metric(question, metric))
		return options__fail(options, "'%.64s': use PROBE or PROBE.METRIC", metric);
	ops = probe__find(question->probe);
	if (!ops)
		return options__fail(options,
				     "unknown probe '%.63s'; use memlat, runqlat, iolat or softirq",
				     question->probe);
	if (!question->metric[0])
		strcpy(question->metric, default_metric(ops));
	return 0;
}

static int make_question(struct fleet *fleet)
{
	struct fleet_question *question = &fleet->question;
	struct options *options = &fleet->options;
	const char *metric = options->nr_args > 1 ? options->args[1] : NULL;
	bool is_share = question->kind == FLEET_SHARE;

	if (!metric && question->kind != FLEET_TOP && !is_share)
		return options__fail(options, "missing metric; give a probe, such as runqlat");
	if (!metric && !is_share)
		metric = probe_of_top();
	if (is_share ? set_state(fleet, metric) : set_probe(fleet, metric))
		return -EINVAL;
	if (question->kind == FLEET_COMPARE && (!question->sides[0].nr || !question->sides[1].nr))
		return options__fail(options, "compare needs --where and --against");
	if ((question->kind == FLEET_TOP || is_share) && !question->nr_by)
		fleet_question__by(question, "service");
	set_time(fleet);
	return set_quantiles(fleet);
}

static const char *what_finds_more(const struct fleet *fleet)
{
	const struct fleet_question *question = &fleet->question;
	bool is_narrow = question->sides[0].nr || strchr(fleet->options.args[1] ?: "", '.');

	if (question->kind == FLEET_SHARE)
		return "check that the hosts record where time goes, or use --last all";
	if (!fleet->url && fleet_question__needs_services(question))
		return "record with --by cgroup, or use --by host";
	if (!question->from_s)
		return "check the name of the metric and --where";
	return is_narrow ? "check the name of the metric and --where, or use --last all"
			 : "look further back with --last TIME or --last all";
}

static int explain_nothing(const struct fleet *fleet)
{
	const struct fleet_question *question = &fleet->question;
	char what[2 * RUN_NAME + 16];

	snprintf(what, sizeof(what), "fleet %.63s%s%.63s", question->probe,
		 question->metric[0] ? "." : "", question->metric);
	log__error(what, question->from_s ? "there is no data of this time" : "there is no data",
		   what_finds_more(fleet));
	return EXIT_ERROR;
}

static int explain(const struct fleet *fleet, const struct fleet_data *data, int err)
{
	const char *dir = fleet->dir ? fleet->dir : OUTPUT_DIR;
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
		return failed(fleet, "cannot ask", err, data->why[0] ? data->why : strerror(-err));
	else if (err == -ENOENT)
		log__error(what, "there is none",
			   "give a directory with --dir, or --clickhouse URL");
	else
		log__error(what, err == -EOVERFLOW ? "too many events to count" : strerror(-err),
			   NULL);
	return EXIT_ERROR;
}

/* Without a server, --sql prints the statements for one without roll-ups. */
static int run_question(struct fleet *fleet)
{
	const struct options *options = &fleet->options;
	struct fleet_asked asked = { .out = stdout,
				     .format = fleet->sql      ? FLEET_SQL
					       : options->csv  ? FLEET_CSV
					       : options->json ? FLEET_JSON
							       : FLEET_TEXT,
				     .dir = fleet->dir ? fleet->dir : OUTPUT_DIR };
	struct fleet_data data;
	int code = EXIT_DONE, err;

	if (make_question(fleet))
		return wrong(fleet);
	if (fleet->url)
		code = open_server(fleet);
	if (code)
		return code;
	asked.server = fleet->server.client;
	fleet_data__begin(&data, &fleet->question);
	err = fleet__ask(&asked, &data);
	if (err)
		code = explain(fleet, &data, err);
	else if (asked.is_worse && fleet->fail_on_worse)
		code = EXIT_WORSE;
	fleet_data__clear(&data);
	return code;
}

int cmd_fleet(int argc, char **argv)
{
	const struct usage usage = {
		.groups = OPTIONS_FORMAT,
		.rows = fleet_rows,
		.args = "COMMAND [METRIC]",
		.doc = fleet_doc(),
		.max_args = 2,
		.check = find,
	};
	struct fleet fleet = {
		.tables = { .keep_rows = KEEP_ROWS, .keep = KEEP },
		.question = { .top = OPTIONS_TOP, .confidence = 0.95 },
	};
	int code = options__begin(&fleet.options, &usage, &fleet, argc, argv);

	if (code != OPTIONS_RUN)
		return code;
	fleet.question.kind = fleet.command->kind;
	code = fleet.command->run(&fleet);
	fleet_server__close(&fleet.server);
	return code;
}
