/* SPDX-License-Identifier: BSD-2-Clause */
/* What the subcommands of fleet share. Each is a function in a file of its own. */
#ifndef LATSCOPE_CLI_FLEET_COMMAND_H
#define LATSCOPE_CLI_FLEET_COMMAND_H

#include <serve/clickhouse_server.h>

#include "options.h"

struct fleet {
	struct options options; /* args[0] is the subcommand */
	const char *url; /* --clickhouse; NULL: not given */
	const char *login_file;
	const char *cluster; /* NULL: one server */
	uint64_t keep_rows, keep; /* days */
	struct clickhouse_address address;
	struct clickhouse_server *server; /* after fleet__connect() */
};

struct fleet_command {
	const char *name;
	int (*run)(struct fleet *fleet); /* returns the exit code */
	const char *help;
};

#define FLEET_IS_SHARD                                               \
	"SELECT count() FROM system.tables WHERE name = 'rows' AND " \
	"database = currentDatabase() AND engine = 'Distributed'"

extern const struct fleet_command fleet_commands[]; /* the last one has no name */

int fleet__init(struct fleet *fleet);
int fleet__rollup(struct fleet *fleet);

/* Opens the server of --clickhouse. Returns an exit code; it has printed the error. */
int fleet__connect(struct fleet *fleet);

/* The same, and checks that it has our schema. */
int fleet__open(struct fleet *fleet);

/* A new connection to the same server, with a database. Returns an exit code. */
int fleet__use(const struct fleet *fleet, const char *database, struct clickhouse_server **server);

/* On a cluster: from now on its own tables, not those that ask all shards. */
int fleet__use_shard(struct fleet *fleet);

/* Does the server answer 1? An error is a no: old servers lack tables that newer ones have. */
bool fleet__says_yes(struct clickhouse_server *server, const char *sql);

/* Prints an error of clickhouse_server__check() and returns the exit code. */
int fleet__failed(const struct fleet *fleet, const char *what, int err, const char *why);

#endif
