/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A ClickHouse server, by HTTP: where it is, who we are, and questions to it that wait for the
 * answer. packaging/clickhouse has its tables.
 */
#ifndef LATSCOPE_NET_CLICKHOUSE_SERVER_H
#define LATSCOPE_NET_CLICKHOUSE_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "post.h"

#define CLICKHOUSE_SCHEMA 1 /* of packaging/clickhouse/tables.sql */
#define CLICKHOUSE_DATABASE "latscope"
#define CLICKHOUSE_USER "LATSCOPE_CLICKHOUSE_USER" /* environment */
#define CLICKHOUSE_PASSWORD "LATSCOPE_CLICKHOUSE_PASSWORD"
#define CLICKHOUSE_URL 2048
#define CLICKHOUSE_NAME 64
#define CLICKHOUSE_HEADER 512

struct clickhouse_address {
	char url[CLICKHOUSE_URL / 2]; /* of HTTP, without a query: "http://host:8123/" */
	char database[CLICKHOUSE_NAME];
	char user[CLICKHOUSE_HEADER], password[CLICKHOUSE_HEADER]; /* headers; empty: none */
	const char *headers[3]; /* these, as in post.h */
};

/*
 * URL is http://HOST:8123/ or http://HOST:8123/?database=NAME. The login is "user:password" in a
 * file that not everybody may read, or NULL: as the environment says, or the server's default user.
 * 0, or with the reason in `why` -EINVAL: something is wrong with the URL, and what to use instead;
 * -ENOPKG: there is no libcurl; another error: the login cannot be read.
 */
int clickhouse__address(struct clickhouse_address *address, const char *url, const char *login_file,
			char why[POST_TEXT]);

/* The URL for a query, to be posted; `query` NULL: it is in the body. */
void clickhouse__url(const struct clickhouse_address *address, const char *query,
		     char url[CLICKHOUSE_URL]);

/*
 * Opens it for statements in the bodies of requests. `most`: bytes of an answer that are kept.
 * `stops`, `arg`: as in post.h. 0 or -errno of post__new().
 */
int clickhouse_server__new(struct post **server, const struct clickhouse_address *address,
			   unsigned int timeout_s, size_t most, bool (*stops)(void *arg),
			   void *arg);

/*
 * Runs a statement, and waits. 0: the answer is in *answer, with a '\0' after it, to be freed with
 * bytes__free(). Else -errno, and the reason is in answer->why; there is nothing to free then.
 * -EPERM: the server refuses the login; -ENOENT: it has no such database or table; -EREMOTEIO:
 * another error of the server; others: there was no answer.
 */
int clickhouse_server__ask(struct post *server, const char *sql, struct post_answer *answer);

/*
 * Does it have our schema? *now_s: its clock, seconds since 1970 (may be NULL). 0, or with the
 * reason in `why` an error of clickhouse_server__ask(), or -ESTALE: it has another version.
 */
int clickhouse_server__check(struct post *server, uint64_t *now_s, char why[POST_TEXT]);

#endif
