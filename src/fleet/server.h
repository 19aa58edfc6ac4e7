/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ClickHouse server with the tables of packaging/clickhouse: statements for it, and what of them
 * failed. Functions return 0, an error of clickhouse_server__ask(), or what else they say.
 */
#ifndef LATSCOPE_FLEET_SERVER_H
#define LATSCOPE_FLEET_SERVER_H

#include <net/clickhouse_server.h>
#include <net/clickhouse_sql.h>

struct fleet_server {
	struct clickhouse_address address;
	struct post *client; /* after fleet_server__connect() */
	const char *action; /* what fails if a statement does: "cannot roll up in" */
	const char *failed; /* the action that failed */
	char why[POST_TEXT]; /* it failed; empty: nothing did */
};

/* Uses the address, which must be set. Errors of post__new(). */
int fleet_server__connect(struct fleet_server *server);
void fleet_server__close(struct fleet_server *server);

/* Does it have our schema? Errors of clickhouse_server__check(). */
int fleet_server__check(struct fleet_server *server);

/* Reconnects to another database of the same server. */
int fleet_server__use(struct fleet_server *server, const char *database);

/* Records a failure that no statement caused, unless one is recorded already. Returns err. */
int fleet_server__fail(struct fleet_server *server, int err, const char *why);

/*
 * Runs the statements of a file or step, see clickhouse_sql.h. With `answer` it must be one; the
 * answer is to be freed.
 */
int fleet_server__run_file(struct fleet_server *server, const char *file,
			   const struct clickhouse_word *words, char **answer);

/*
 * Does it answer a step by 1? A table that it does not have is a no: old servers lack some that
 * newer ones have.
 */
int fleet_server__ask_yes(struct fleet_server *server, const char *step, bool *yes);

#endif
