// SPDX-License-Identifier: BSD-2-Clause
/* fleet: the rows of many machines in ClickHouse. Its subcommands are in fleet_*.c. */
#include "fleet_command.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "log.h"
#include "output.h"

#define KEEP_ROWS 14
#define KEEP 400
#define MAX_KEEP 36500
#define TIMEOUT_S 3600
#define MOST_ANSWER (64 << 20)

enum key { KEY_CLICKHOUSE = 0x200, KEY_LOGIN, KEY_CLUSTER, KEY_KEEP_ROWS, KEY_KEEP };

const struct fleet_command fleet_commands[] = {
	{ FLEET_PERCENTILE, fleet__percentile, "a percentile of all events, such as p99.9", true },
	{ "top", fleet__top, "which services waited most", true },
	{ "compare", fleet__compare, "is a latency worse on some hosts than on others?", true },
	{ "init", fleet__init, "create the tables, or change how long data are kept", false },
	{ "rollup", fleet__rollup, "sum up complete hours and days; delete what is too old",
	  false },
	{ 0 },
};

static const struct argp_option fleet_options[] = {
	{ "clickhouse", KEY_CLICKHOUSE, "URL", 0, "Server, such as http://127.0.0.1:8123", 0 },
	{ "clickhouse-login", KEY_LOGIN, "FILE", 0, "File with USER:PASSWORD", 0 },
	{ "cluster", KEY_CLUSTER, "NAME", 0, "init: the server is a shard of this cluster", 0 },
	{ "keep-rows", KEY_KEEP_ROWS, "DAYS", 0, "init: keep rows for DAYS (14)", 0 },
	{ "keep", KEY_KEEP, "DAYS", 0, "init: keep roll-ups for DAYS (400)", 0 },
	{ "dir", FLEET_ASK_DIR, "DIR", 0, "Ask the recordings below DIR (" OUTPUT_DIR ")", 0 },
	{ "by", FLEET_ASK_BY, "LIST", 0, "Group by host, kernel, service or labels", 0 },
	{ "where", FLEET_ASK_WHERE, "NAME=VALUE", 0,
	  "Only hosts, or services, with this value; repeatable", 0 },
	{ "against", FLEET_ASK_AGAINST, "NAME=VALUE", 0,
	  "compare: --where of the other group; repeatable", 0 },
	{ "last", FLEET_ASK_LAST, "TIME", 0, "Only the last TIME, or 'all' (7d; top: 1h)", 0 },
	{ "top", FLEET_ASK_TOP, "N", 0, "Show N groups, those with the most time (10; 0: all)", 0 },
	{ "metric", FLEET_ASK_METRIC, "STATISTIC", 0,
	  "compare: test only this percentile; repeatable", 0 },
	{ "confidence", FLEET_ASK_CONFIDENCE, "PERCENT", 0,
	  "Confidence of intervals and verdicts (95)", 0 },
	{ "min-effect", FLEET_ASK_MIN_EFFECT, "PERCENT", 0,
	  "compare: ignore differences up to this (0)", 0 },
	{ "fail-on", FLEET_ASK_FAIL_ON, "VERDICT", 0,
	  "compare: exit with 3 if there is this verdict: worse", 0 },
	{ "sql", FLEET_ASK_SQL, 0, 0, "Print the SQL instead of asking", 0 },
	{ 0 },
};

static const char fleet_intro[] =
	"Answers questions about many machines: from the tables that 'latscope serve --clickhouse' "
	"fills, or from a directory of recordings. METRIC is a probe, or PROBE.METRIC.\v"
	"Commands:\n";

static const char fleet_examples[] =
	"\nExamples:\n"
	"  latscope fleet p99.9 runqlat --by service,kernel --last 7d --clickhouse URL\n"
	"  latscope fleet p50,p99 iolat.total --dir runs/ --by host\n"
	"  latscope fleet compare runqlat --where kernel=6.1 --against kernel=6.12\n"
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

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct fleet *fleet = state->input;
	struct options *options = &fleet->options;

	switch (key) {
	case KEY_CLICKHOUSE:
		fleet->url = arg;
		return 0;
	case KEY_LOGIN:
		fleet->login_file = arg;
		return 0;
	case KEY_CLUSTER:
		if (arg[strspn(arg,
			       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")])
			return options__fail(&fleet->options,
					     "--cluster '%.64s': use letters, digits and _", arg);
		fleet->cluster = arg;
		return 0;
	case KEY_KEEP_ROWS:
		return options__count(options, "--keep-rows", arg, 1, MAX_KEEP, &fleet->keep_rows);
	case KEY_KEEP:
		return options__count(options, "--keep", arg, 1, MAX_KEEP, &fleet->keep);
	}
	return fleet_ask__parse(key, arg, fleet);
}

static bool is_called(const struct fleet_command *command, const char *name)
{
	if (!strcmp(command->name, FLEET_PERCENTILE))
		return name[0] == 'p' && isdigit((unsigned char)name[1]);
	return !strcmp(command->name, name);
}

static const struct fleet_command *find(struct fleet *fleet)
{
	struct options *options = &fleet->options;
	char names[RUN_TEXT] = "";
	size_t used = 0;

	for (size_t i = 0; fleet_commands[i].name; i++) {
		if (options->nr_args && is_called(&fleet_commands[i], options->args[0]))
			return fleet_ask__check(fleet, &fleet_commands[i]) ? NULL
									   : &fleet_commands[i];
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 fleet_commands[i].name);
	}
	if (options->nr_args)
		options__fail(options, "unknown command '%.32s'; choose from %s", options->args[0],
			      names);
	else
		options__fail(options, "missing command; choose from %s", names);
	return NULL;
}

int cmd_fleet(int argc, char **argv)
{
	struct fleet fleet = {
		.options = { .command = argv[0], .groups = OPTIONS_FORMAT, .max_args = 2 },
		.keep_rows = KEEP_ROWS,
		.keep = KEEP,
		.ask.question = { .top = OPTIONS_TOP, .confidence = 0.95 },
	};
	const struct argp own = { fleet_options, parse_own, "COMMAND [METRIC]", fleet_doc(), NULL,
				  NULL,		 NULL };
	const struct fleet_command *command = NULL;
	int got, code;

	got = options__parse(&fleet.options, &own, &fleet, argc, argv, stdout);
	if (got > 0)
		return EXIT_DONE;
	if (!got)
		command = find(&fleet);
	if (!command) {
		log__usage(argv[0], fleet.options.error);
		return EXIT_USAGE;
	}
	log__set_level(fleet.options.quiet ? LOG_QUIET : LOG_NORMAL);
	code = command->run(&fleet);
	clickhouse_server__free(fleet.server);
	return code;
}

int fleet__failed(const struct fleet *fleet, const char *what, int err, const char *why)
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

static int wrong_address(struct fleet *fleet, int err, const char *why)
{
	char what[PATH_MAX + RUN_TEXT];

	if (err == -EINVAL) {
		options__fail(&fleet->options,
			      "--clickhouse '%.64s': %s; use a URL such as http://127.0.0.1:8123",
			      fleet->url, why);
		log__usage("fleet", fleet->options.error);
		return EXIT_USAGE;
	}
	snprintf(what, sizeof(what), "cannot use the login in %s",
		 fleet->login_file ? fleet->login_file : CLICKHOUSE_USER);
	log__error(err == -ENOPKG ? "fleet" : what, why, NULL);
	return err == -ENOPKG ? EXIT_CANNOT : EXIT_ERROR;
}

int fleet__connect(struct fleet *fleet)
{
	char why[POST_TEXT];
	int err;

	if (!fleet->url) {
		options__fail(&fleet->options, "missing --clickhouse URL");
		log__usage("fleet", fleet->options.error);
		return EXIT_USAGE;
	}
	err = clickhouse__address(&fleet->address, fleet->url, fleet->login_file, why);
	if (err)
		return wrong_address(fleet, err, why);
	err = clickhouse_server__new(&fleet->server, &fleet->address, TIMEOUT_S, MOST_ANSWER);
	return err ? fleet__failed(fleet, "cannot use", err, strerror(-err)) : EXIT_DONE;
}

int fleet__open(struct fleet *fleet)
{
	char why[POST_TEXT];
	int code = fleet__connect(fleet), err;

	if (code)
		return code;
	err = clickhouse_server__check(fleet->server, NULL, why);
	return err ? fleet__failed(fleet, "cannot use", err, why) : EXIT_DONE;
}

/* Headers of the copy point to the texts of the first one, which live as long. */
int fleet__use(const struct fleet *fleet, const char *database, struct clickhouse_server **server)
{
	struct clickhouse_address address = fleet->address;
	int err;

	snprintf(address.database, sizeof(address.database), "%s", database);
	err = clickhouse_server__new(server, &address, TIMEOUT_S, MOST_ANSWER);
	return err ? fleet__failed(fleet, "cannot use", err, strerror(-err)) : EXIT_DONE;
}

int fleet__use_shard(struct fleet *fleet)
{
	char local[CLICKHOUSE_NAME + 8];
	struct clickhouse_server *server;
	bool is_shard;
	int code = fleet__ask_yes(fleet, fleet->server, FLEET_IS_SHARD, &is_shard);

	if (code || !is_shard)
		return code;
	snprintf(local, sizeof(local), "%s_local", fleet->address.database);
	code = fleet__use(fleet, local, &server);
	if (code)
		return code;
	clickhouse_server__free(fleet->server);
	fleet->server = server;
	return EXIT_DONE;
}

int fleet__ask_yes(const struct fleet *fleet, struct clickhouse_server *server, const char *sql,
		   bool *yes)
{
	struct post_answer answer;
	int err = clickhouse_server__ask(server, sql, &answer);

	*yes = !err && answer.body.at[0] == '1';
	if (!err)
		bytes__free(&answer.body);
	return err && err != -ENOENT ? fleet__failed(fleet, "cannot use", err, answer.why)
				     : EXIT_DONE;
}
