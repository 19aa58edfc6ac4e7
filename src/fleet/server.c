// SPDX-License-Identifier: BSD-2-Clause
#include "server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIMEOUT_S 3600
#define MOST_ANSWER (64 << 20)

/* What failed first is told, also if cleaning up fails after it. */
int fleet_server__fail(struct fleet_server *server, int err, const char *why)
{
	if (server->why[0])
		return err;
	server->failed = server->action;
	snprintf(server->why, sizeof(server->why), "%s", why);
	return err;
}

int fleet_server__connect(struct fleet_server *server)
{
	int err = clickhouse_server__new(&server->client, &server->address, TIMEOUT_S, MOST_ANSWER,
					 NULL, NULL);

	return err ? fleet_server__fail(server, err, strerror(-err)) : 0;
}

void fleet_server__close(struct fleet_server *server)
{
	post__free(server->client);
	server->client = NULL;
}

int fleet_server__check(struct fleet_server *server)
{
	char why[POST_TEXT];
	int err = clickhouse_server__check(server->client, NULL, why);

	return err ? fleet_server__fail(server, err, why) : 0;
}

int fleet_server__use(struct fleet_server *server, const char *database)
{
	fleet_server__close(server);
	snprintf(server->address.database, sizeof(server->address.database), "%s", database);
	return fleet_server__connect(server);
}

static int run(struct fleet_server *server, const char *sql, char **answer)
{
	struct post_answer got;
	int err = clickhouse_server__ask(server->client, sql, &got);

	if (answer)
		*answer = err ? NULL : got.body.at;
	else if (!err)
		bytes__free(&got.body);
	return err ? fleet_server__fail(server, err, got.why) : 0;
}

int fleet_server__run_file(struct fleet_server *server, const char *file,
			   const struct clickhouse_word *words, char **answer)
{
	struct bytes sql = { 0 };
	int err = 0;

	if (answer)
		*answer = NULL;
	while (!err && clickhouse_sql__next(&file, words, &sql))
		err = run(server, sql.at, answer);
	if (sql.failed)
		err = fleet_server__fail(server, -ENOMEM, strerror(ENOMEM));
	bytes__free(&sql);
	return err;
}

int fleet_server__ask_yes(struct fleet_server *server, const char *step, bool *yes)
{
	static const struct clickhouse_word none[1];
	const char *action = server->action;
	char *answer;
	int err;

	server->action = "cannot use";
	err = fleet_server__run_file(server, clickhouse_sql__step(step), none, &answer);
	server->action = action;
	*yes = answer && answer[0] == '1';
	free(answer);
	if (err != -ENOENT)
		return err;
	server->why[0] = '\0';
	return 0;
}
