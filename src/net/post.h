/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One HTTP request of the kind POST after the other, over connections that are used again. The
 * caller waits for the answer; sender.h does not. What a server can cost is bounded: the time of a
 * request, and the bytes that are kept of its answer. Redirections are not followed. A proxy of
 * the environment is used, except for this machine.
 */
#ifndef LATSCOPE_NET_POST_H
#define LATSCOPE_NET_POST_H

#include <stdbool.h>
#include <stddef.h>

#include "bytes.h"

#define POST_TEXT 512

struct post;

struct post_config {
	const char *url;
	const char *content_type;
	const char *const *headers; /* more of them, "Name: value", up to NULL; NULL: none */
	bool is_gzip; /* of the bodies */
	unsigned int timeout_s; /* of a request */
	size_t most; /* bytes that are kept of an answer */
	/* Called at least once a second during a request. True: end it. NULL: never. */
	bool (*stops)(void *arg);
	void *arg;
};

struct post_answer {
	long status; /* of HTTP; 0: there was no answer */
	unsigned int wait_s; /* the server wants no request for so long; 0: it does not say */
	struct bytes body; /* its beginning; bytes__free() */
	char why[POST_TEXT]; /* what failed, sanitized; empty if the status is 2xx */
};

/*
 * 0, or with the reason in `why` -EINVAL: something that is no URL of HTTP with a host, or -ENOPKG:
 * there is no libcurl.
 */
int post__check(const char *url, char why[POST_TEXT]);

/* The URL without a user, a password and a query, to be shown. */
void post__describe(const char *url, char shown[POST_TEXT]);

/*
 * Copies the configuration. The first one of a process must be made while it has one thread, and
 * before a filter of system calls: libraries are loaded. 0, -EINVAL, -ENOMEM or -ENOPKG.
 */
int post__new(struct post **post, const struct post_config *config);
void post__free(struct post *post); /* NULL is allowed */

/* 0, or -errno if there was no answer; -ECANCELED: it was stopped. Always sets *answer. */
int post__send(struct post *post, const void *body, size_t len, struct post_answer *answer);

#endif
