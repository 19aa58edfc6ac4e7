/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sends bodies to a server by HTTP, in order, in a thread: the caller never waits. What the server
 * did not take is sent again, later and later, while the queue has room; then the oldest is
 * dropped, and counted.
 *
 * A body is refused if the server answers that it will never take it. It is sent again after no
 * answer, and after the status 408, 429, 502, 503 and 504; with `retries_500` after every 5xx. With
 * `tries` it leaves the queue after so many failures, so that others are not behind it for ever.
 *
 * The thread is started with the first body, so it has the privileges and the filter of system
 * calls that the process has then (privilege.h: `sends`).
 */
#ifndef LATSCOPE_NET_SENDER_H
#define LATSCOPE_NET_SENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "post.h"

struct sender;

struct sender_config {
	const char *url; /* see post__check() */
	const char *content_type;
	const char *const *headers; /* as in post.h */
	bool gzip; /* compress the bodies */
	bool retries_500;
	bool keeps_results; /* for sender__result() */
	unsigned int tries; /* requests until a body is put off; 0: it is not */
	size_t most; /* bytes in the queue */
	unsigned int timeout_s; /* of a request */
	uint64_t pause_ns, longest_pause_ns; /* after the first failure, doubled with each */
	/* Called by the thread before a body is sent. False with a reason: later. NULL: always. */
	bool (*ready)(void *arg, char why[POST_TEXT]);
	/* Is a body sent again after this status? NULL: as above. */
	bool (*retries)(long status);
	void *arg;
	/* By sender__tell(): when sending begins to fail, and when it works again (why: NULL). */
	void (*changed)(const char *shown, const char *why);
};

/* A configuration with the usual limits: 8 MiB, 30 s, from 1 s to 1 min. */
#define SENDER_DEFAULTS \
	.most = 8 << 20, .timeout_s = 30, .pause_ns = 1000000000, .longest_pause_ns = 60000000000

enum sender_outcome { SENDER_SENT, SENDER_REFUSED, SENDER_DROPPED, SENDER_PUT_OFF };

struct sender_counts {
	uint64_t pushed, sent, refused, dropped, put_off; /* bodies; the rest is in the queue */
	uint64_t retries; /* requests that were sent again */
	uint64_t bytes; /* of bodies that were sent, as they were sent */
	uint64_t queued, queued_bytes;
	bool fails; /* the last request failed */
	char why[POST_TEXT]; /* of the last one that failed; empty: none did */
};

/* Copies the configuration. 0, -EINVAL or -ENOMEM. See post__new(). */
int sender__new(struct sender **sender, const struct sender_config *config);

/*
 * Puts a body at the end of the queue, and takes it over: it is freed with free(). `id` is for
 * sender__result(). 0; -ENOMEM or -EAGAIN: the body was dropped (and counted). A body larger than
 * the queue is dropped, too.
 */
int sender__push(struct sender *sender, void *body, size_t len, uint64_t id);

/* What became of a body, in order, once for each. False: of no further one is it known. */
bool sender__result(struct sender *sender, uint64_t *id, enum sender_outcome *outcome);

void sender__counts(struct sender *sender, struct sender_counts *counts);

/* The URL without secrets, for messages. */
const char *sender__shown(const struct sender *sender);

/*
 * Call often. Calls `changed`, in the caller's thread, when sending begins to fail or works again.
 */
void sender__tell(struct sender *sender);

/* Waits at most so long for what is in the queue, then drops it, and ends the thread. */
void sender__end(struct sender *sender, uint64_t patience_ns);

/* Also ends it, at once. NULL is allowed. */
void sender__free(struct sender *sender);

#endif
