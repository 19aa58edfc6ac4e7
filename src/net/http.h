/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The HTTP server: GET only, one request per connection. It has no thread: the caller waits for
 * http__descriptor() and calls http__run(). What clients can cost is bounded: connections, bytes of
 * a request, and ten seconds from the connection to the end of the answer, however slowly the bytes
 * come.
 */
#ifndef LATSCOPE_NET_HTTP_H
#define LATSCOPE_NET_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http;

struct http_request {
	const char *path; /* without the query */
	const char *accept; /* header; NULL: none */
	const char *last; /* argument of the query; NULL: none */
	bool takes_gzip; /* a body in gzip is welcome */
};

struct http_answer {
	unsigned int status; /* 200 */
	const char *type;
	/*
	 * Taken over, and freed with free() once nobody reads it. If `version` is not 0, requests
	 * with the same version get the same body, and body may be NULL from then on.
	 */
	char *body;
	size_t len;
	unsigned int slot; /* below HTTP_KEPT: the place of the version */
	uint64_t version;
	bool is_gzip; /* the body is */
	/* A file of `len` bytes instead of the body, taken over, if is_file. */
	bool is_file;
	int file;
	bool is_later; /* there is no answer yet: http__answer_later() */
};

#define HTTP_KEPT 8

struct http_config {
	int socket; /* listens; taken over */
	const char *token; /* every request must have it, except /healthz; NULL: none */
	void (*answer)(void *arg, const struct http_request *request, struct http_answer *answer);
	void *arg;
};

/* There is a new version: none of the bodies that are kept is sent any more. */
void http__forget(struct http *http);

/* Is the body with this version kept? */
bool http__has(const struct http *http, unsigned int slot, uint64_t version);

/* 0 or -ENOMEM. After an error the socket is still the caller's. */
int http__new(struct http **http, const struct http_config *config);
void http__free(struct http *http); /* NULL is allowed */

/* Readable when http__run() has something to do; also call it a few times a second. */
int http__descriptor(const struct http *http);
void http__run(struct http *http);

/* Answers the one request that was put off. Only one can be. */
void http__answer_later(struct http *http, const struct http_answer *answer);

uint64_t http__requests(const struct http *http);

#endif
