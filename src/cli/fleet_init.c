// SPDX-License-Identifier: BSD-2-Clause
/* fleet init: creates the tables. What exists already stays. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <net/clickhouse_sql.h>

#include "cmd.h"
#include "fleet_command.h"
#include "log.h"

#define CANNOT "cannot create the tables in"

static int run_statement(const struct fleet *fleet, struct clickhouse_server *server,
			 const char *sql)
{
	struct post_answer answer;
	int err = clickhouse_server__ask(server, sql, &answer);

	if (err)
		return fleet__failed(fleet, CANNOT, err == -ENOENT ? -EREMOTEIO : err, answer.why);
	bytes__free(&answer.body);
	return EXIT_DONE;
}

static int run_file(const struct fleet *fleet, struct clickhouse_server *server, const char *file,
		    const struct clickhouse_word *words)
{
	struct bytes sql = { 0 };
	int code = EXIT_DONE;

	while (!code && clickhouse_sql__next(&file, words, &sql))
		code = run_statement(fleet, server, sql.at);
	if (sql.failed)
		code = fleet__failed(fleet, CANNOT, -ENOMEM, strerror(ENOMEM));
	bytes__free(&sql);
	return code;
}

static int create_database(const struct fleet *fleet, const char *name)
{
	struct clickhouse_server *server = NULL;
	char sql[CLICKHOUSE_NAME + 64];
	int code = fleet__use(fleet, "system", &server);

	snprintf(sql, sizeof(sql), "CREATE DATABASE IF NOT EXISTS %s", name);
	if (!code)
		code = run_statement(fleet, server, sql);
	clickhouse_server__free(server);
	return code;
}

/* The tables of one server, or of a shard. */
static int create_tables(const struct fleet *fleet, const char *database)
{
	struct clickhouse_word words[] = { { .name = "rows_days" }, { .name = "days" }, { 0 } };
	struct clickhouse_server *server = NULL;
	int code = create_database(fleet, database);
	bool deletes = false; /* by itself */

	snprintf(words[0].value, sizeof(words[0].value), "%llu",
		 (unsigned long long)fleet->keep_rows);
	snprintf(words[1].value, sizeof(words[1].value), "%llu", (unsigned long long)fleet->keep);
	if (!code)
		code = fleet__use(fleet, database, &server);
	if (!code)
		code = run_file(fleet, server, clickhouse_tables, words);
	if (!code)
		code = run_file(fleet, server, clickhouse_retention, words);
	if (!code)
		code = fleet__ask_yes(fleet, server,
				      "SELECT count() FROM system.merge_tree_settings "
				      "WHERE name = 'ttl_only_drop_parts'",
				      &deletes);
	if (!code && deletes)
		code = run_file(fleet, server, clickhouse_ttl, words);
	clickhouse_server__free(server);
	return code;
}

/* Tables of one server do not become those of a shard, or the other way round. */
static int check_kind(const struct fleet *fleet)
{
	bool exists, is_shard = false;
	int code = fleet__ask_yes(fleet, fleet->server, "EXISTS TABLE rows", &exists);

	if (!code)
		code = fleet__ask_yes(fleet, fleet->server, FLEET_IS_SHARD, &is_shard);
	if (code || !exists || is_shard == (fleet->cluster != NULL))
		return code;
	log__error("cannot create the tables",
		   is_shard ? "the server is a shard of a cluster"
			    : "the database has the tables of a single server",
		   is_shard ? "add --cluster" : "use another database, or leave out --cluster");
	return EXIT_ERROR;
}

static int check_version(const struct fleet *fleet)
{
	char why[POST_TEXT];
	int err = clickhouse_server__check(fleet->server, NULL, why);

	return err && err != -ENOENT ? fleet__failed(fleet, CANNOT, err, why) : EXIT_DONE;
}

static int create_shard(const struct fleet *fleet)
{
	struct clickhouse_word words[] = { { .name = "database" }, { .name = "cluster" }, { 0 } };
	char local[CLICKHOUSE_NAME + 8];
	int code;

	snprintf(local, sizeof(local), "%s_local", fleet->address.database);
	snprintf(words[0].value, sizeof(words[0].value), "%s", fleet->address.database);
	snprintf(words[1].value, sizeof(words[1].value), "%.64s", fleet->cluster);
	code = create_tables(fleet, local);
	if (!code)
		code = create_database(fleet, fleet->address.database);
	return code ? code : run_file(fleet, fleet->server, clickhouse_distributed, words);
}

int fleet__init(struct fleet *fleet)
{
	int code = fleet__connect(fleet);

	if (!code)
		code = check_version(fleet);
	if (!code)
		code = check_kind(fleet);
	if (code)
		return code;
	code = fleet->cluster ? create_shard(fleet) : create_tables(fleet, fleet->address.database);
	if (!code)
		log__note("tables in the database %s: rows are kept %llu days, roll-ups %llu days",
			  fleet->address.database, (unsigned long long)fleet->keep_rows,
			  (unsigned long long)fleet->keep);
	return code;
}
