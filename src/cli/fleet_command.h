/* SPDX-License-Identifier: BSD-2-Clause */
/* What the subcommands of fleet share. Each is a function in a file of its own. */
#ifndef LATSCOPE_CLI_FLEET_COMMAND_H
#define LATSCOPE_CLI_FLEET_COMMAND_H

#include <fleet/question.h>
#include <net/clickhouse_server.h>

#include "options.h"

/* What the questions take besides. */
struct fleet_ask {
	struct fleet_question question;
	const char *dir; /* recordings; NULL: not given */
	const char *statistics[FLEET_QUANTILES]; /* --metric of compare */
	size_t nr_statistics;
	uint64_t last_ns; /* 0: not given */
	bool all_time, sql, fail_on_worse;
	const char *given; /* an option of questions that was given, and one of compare; or NULL */
	const char *given_compare;
};

struct fleet {
	struct options options; /* args[0] is the subcommand */
	const char *url; /* --clickhouse; NULL: not given */
	const char *login_file;
	const char *cluster; /* NULL: one server */
	uint64_t keep_rows, keep; /* days */
	struct clickhouse_address address;
	struct clickhouse_server *server; /* after fleet__connect() */
	struct fleet_ask ask;
};

struct fleet_command {
	const char *name;
	int (*run)(struct fleet *fleet); /* returns the exit code */
	const char *help;
	bool asks; /* it is a question, which takes a probe */
};

#define FLEET_PERCENTILE "pN" /* name of the command for p99 and all others */

#define FLEET_IS_SHARD                                               \
	"SELECT count() FROM system.tables WHERE name = 'rows' AND " \
	"database = currentDatabase() AND engine = 'Distributed'"

extern const struct fleet_command fleet_commands[]; /* the last one has no name */

int fleet__init(struct fleet *fleet);
int fleet__rollup(struct fleet *fleet);
int fleet__percentile(struct fleet *fleet);
int fleet__top(struct fleet *fleet);
int fleet__compare(struct fleet *fleet);

/* The options of questions, for the table of fleet, and their parser. */
enum fleet_ask_key {
	FLEET_ASK_DIR = 0x280,
	FLEET_ASK_BY,
	FLEET_ASK_WHERE,
	FLEET_ASK_AGAINST,
	FLEET_ASK_LAST,
	FLEET_ASK_TOP,
	FLEET_ASK_METRIC,
	FLEET_ASK_CONFIDENCE,
	FLEET_ASK_MIN_EFFECT,
	FLEET_ASK_FAIL_ON,
	FLEET_ASK_SQL,
};
error_t fleet_ask__parse(int key, char *arg, struct fleet *fleet);

/* Is the option one of questions, and the command none; or of compare, and another question? */
int fleet_ask__check(struct fleet *fleet, const struct fleet_command *command);

/* Opens the server of --clickhouse. Returns an exit code; it has printed the error. */
int fleet__connect(struct fleet *fleet);

/* The same, and checks that it has our schema. */
int fleet__open(struct fleet *fleet);

/* A new connection to the same server, with a database. Returns an exit code. */
int fleet__use(const struct fleet *fleet, const char *database, struct clickhouse_server **server);

/* On a cluster: from now on its own tables, not those that ask all shards. */
int fleet__use_shard(struct fleet *fleet);

/*
 * Does the server answer 1? A table that it does not have is a no: old servers lack some that newer
 * ones have. Returns an exit code; it has printed the error.
 */
int fleet__ask_yes(const struct fleet *fleet, struct clickhouse_server *server, const char *sql,
		   bool *yes);

/* Prints an error of clickhouse_server__check() and returns the exit code. */
int fleet__failed(const struct fleet *fleet, const char *what, int err, const char *why);

#endif
