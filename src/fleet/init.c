// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "tables.h"

/*
 * The database may not exist yet, so it is created from `system`. Errors name only the URL, which
 * is the same.
 */
static int create_database(struct fleet_server *server, const char *name)
{
	struct clickhouse_word words[] = { { .name = "database" }, { 0 } };
	int err = fleet_server__use(server, "system");

	snprintf(words[0].value, sizeof(words[0].value), "%s", name);
	if (!err)
		err = fleet_server__run_file(server, clickhouse_sql__step("database"), words, NULL);
	return err ? err : fleet_server__use(server, name);
}

/* The tables of one server, or of a shard. */
static int create_tables(struct fleet_server *server, const struct fleet_tables *tables,
			 const char *database)
{
	struct clickhouse_word words[] = { { .name = "rows_days" }, { .name = "days" }, { 0 } };
	int err = create_database(server, database);
	bool deletes = false; /* by itself */

	snprintf(words[0].value, sizeof(words[0].value), "%llu",
		 (unsigned long long)tables->keep_rows);
	snprintf(words[1].value, sizeof(words[1].value), "%llu", (unsigned long long)tables->keep);
	if (!err)
		err = fleet_server__run_file(server, clickhouse_tables, words, NULL);
	if (!err)
		err = fleet_server__run_file(server, clickhouse_problem, words, NULL);
	if (!err)
		err = fleet_server__run_file(server, clickhouse_retention, words, NULL);
	if (!err)
		err = fleet_server__ask_yes(server, "deletes", &deletes);
	if (!err && deletes)
		err = fleet_server__run_file(server, clickhouse_ttl, words, NULL);
	return err;
}

static int create_shard(struct fleet_server *server, const struct fleet_tables *tables,
			const char *database)
{
	struct clickhouse_word words[] = { { .name = "database" }, { .name = "cluster" }, { 0 } };
	char local[CLICKHOUSE_NAME + 8];
	int err;

	snprintf(local, sizeof(local), "%s_local", database);
	snprintf(words[0].value, sizeof(words[0].value), "%s", database);
	snprintf(words[1].value, sizeof(words[1].value), "%.64s", tables->cluster);
	err = create_tables(server, tables, local);
	if (!err)
		err = create_database(server, database);
	if (!err)
		err = fleet_server__run_file(server, clickhouse_distributed, words, NULL);
	return err ? err : fleet_server__run_file(server, clickhouse_problem, words, NULL);
}

int fleet_tables__init(struct fleet_server *server, const struct fleet_tables *tables)
{
	char database[CLICKHOUSE_NAME], why[POST_TEXT];
	bool exists = false, is_shard = false;
	int err = clickhouse_server__check(server->client, NULL, why);

	server->action = "cannot create the tables in";
	if (err && err != -ENOENT)
		return fleet_server__fail(server, err, why);
	err = fleet_server__ask_yes(server, "exists", &exists);
	if (!err)
		err = fleet_server__ask_yes(server, "is_shard", &is_shard);
	if (!err && exists && is_shard != (tables->cluster != NULL))
		err = -EXDEV;
	if (err)
		return err;
	snprintf(database, sizeof(database), "%s", server->address.database);
	return tables->cluster ? create_shard(server, tables, database)
			       : create_tables(server, tables, database);
}
