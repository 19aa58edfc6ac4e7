// SPDX-License-Identifier: BSD-2-Clause
#include "sender.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/clock.h>

#include "gzip.h"

#define ANSWER 4096 /* bytes that are kept, for the message */

struct body {
	struct body *next;
	void *at;
	size_t len;
	uint64_t id;
	unsigned int failures; /* only of the thread */
	bool is_packed;
	enum sender_outcome outcome; /* once it is done */
};

struct list {
	struct body *first, **last;
};

struct sender {
	struct sender_config config;
	struct post *post;
	pthread_t thread;
	bool runs;
	char shown[POST_TEXT];
	bool fails; /* `changed` was told so */
	atomic_bool ends;
	_Atomic uint64_t end_ns; /* once it ends: nothing is sent later */

	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct list queue, results;
	bool in_flight; /* the first of the queue: only the thread may take it */
	struct sender_counts counts;
};

static void append(struct list *list, struct body *body)
{
	body->next = NULL;
	*list->last = body;
	list->last = &body->next;
}

static struct body *take_at(struct list *list, struct body **at)
{
	struct body *body = *at;

	*at = body->next;
	if (!*at)
		list->last = at;
	return body;
}

static void free_body(struct body *body)
{
	free(body->at);
	free(body);
}

static void free_list(struct list *list)
{
	while (list->first)
		free_body(take_at(list, &list->first));
}

/* Takes it out of the queue. The caller holds the lock. */
static void finish(struct sender *sender, struct body **at, enum sender_outcome outcome)
{
	struct body *body = take_at(&sender->queue, at);

	sender->counts.queued--;
	sender->counts.queued_bytes -= body->len;
	sender->counts.sent += outcome == SENDER_SENT;
	sender->counts.refused += outcome == SENDER_REFUSED;
	sender->counts.dropped += outcome == SENDER_DROPPED;
	sender->counts.put_off += outcome == SENDER_PUT_OFF;
	if (outcome == SENDER_SENT)
		sender->counts.bytes += body->len;
	if (!sender->config.keeps_results) {
		free_body(body);
		return;
	}
	free(body->at);
	body->at = NULL;
	body->outcome = outcome;
	append(&sender->results, body);
}

/* Drops the oldest that are not being sent until there is room. The caller holds the lock. */
static void make_room(struct sender *sender)
{
	while (sender->counts.queued_bytes > sender->config.most) {
		struct body **at = &sender->queue.first;

		if (sender->in_flight)
			at = &(*at)->next;
		if (!*at)
			break;
		finish(sender, at, SENDER_DROPPED);
	}
}

/* ---- the thread ---- */

static bool is_over(const struct sender *sender)
{
	return atomic_load(&sender->ends) && clock__now_ns() >= atomic_load(&sender->end_ns);
}

static bool stops(void *arg)
{
	return is_over(arg);
}

/* Only this thread touches a body that is in flight, but its length is in the counts. */
static bool pack_body(struct sender *sender, struct body *body)
{
	size_t len;
	void *packed;

	if (!sender->config.gzip || body->is_packed)
		return true;
	packed = gzip__pack(body->at, body->len, false, &len);
	if (!packed)
		return false;
	free(body->at);
	pthread_mutex_lock(&sender->lock);
	sender->counts.queued_bytes += len;
	sender->counts.queued_bytes -= body->len;
	body->at = packed;
	body->len = len;
	body->is_packed = true;
	pthread_mutex_unlock(&sender->lock);
	return true;
}

static bool is_temporary(const struct sender *sender, long status)
{
	if (sender->config.retries)
		return status / 100 != 2 && sender->config.retries(status);
	switch (status) {
	case 0: /* no answer */
	case 408:
	case 429:
	case 502:
	case 503:
	case 504:
		return true;
	default:
		return sender->config.retries_500 && status >= 500;
	}
}

static bool is_ready(const struct sender *sender, struct post_answer *answer)
{
	return !sender->config.ready || sender->config.ready(sender->config.arg, answer->why);
}

/* Sends the first of the queue. False: nothing must be sent for *wait_s seconds. */
static bool send_first(struct sender *sender, struct body *body, unsigned int *wait_s)
{
	struct post_answer answer = { .why = "out of memory" };
	bool is_sent = is_ready(sender, &answer) && pack_body(sender, body);
	bool again;

	if (is_sent)
		post__send(sender->post, body->at, body->len, &answer);
	bytes__free(&answer.body);
	again = is_temporary(sender, answer.status);
	body->failures += is_sent && again;
	*wait_s = answer.wait_s;

	pthread_mutex_lock(&sender->lock);
	sender->in_flight = false;
	sender->counts.fails = answer.status / 100 != 2;
	if (sender->counts.fails)
		memcpy(sender->counts.why, answer.why, sizeof(answer.why));
	if (!again)
		finish(sender, &sender->queue.first,
		       sender->counts.fails ? SENDER_REFUSED : SENDER_SENT);
	else if (sender->config.tries && body->failures >= sender->config.tries)
		finish(sender, &sender->queue.first, SENDER_PUT_OFF);
	pthread_mutex_unlock(&sender->lock);
	return !again;
}

/* Waits until `until_ns`, or the end. False: the end has come. */
static bool pause_until(struct sender *sender, uint64_t until_ns)
{
	pthread_mutex_lock(&sender->lock);
	for (;;) {
		uint64_t end =
			atomic_load(&sender->ends) ? atomic_load(&sender->end_ns) : UINT64_MAX;
		uint64_t first = until_ns < end ? until_ns : end;
		const struct timespec at = clock__timespec(first);

		if (clock__now_ns() >= first)
			break;
		pthread_cond_timedwait(&sender->changed, &sender->lock, &at);
	}
	pthread_mutex_unlock(&sender->lock);
	return !is_over(sender);
}

/* Up to a quarter less, so that many hosts do not come back in the same moment. */
static uint64_t shorten(uint64_t ns)
{
	return ns - (clock__now_ns() % 1024) * (ns / 4096);
}

static bool back_off(struct sender *sender, uint64_t *pause_ns, unsigned int wait_s)
{
	uint64_t wait = (uint64_t)wait_s * 1000000000, ns = shorten(*pause_ns);

	*pause_ns *= 2;
	if (*pause_ns > sender->config.longest_pause_ns)
		*pause_ns = sender->config.longest_pause_ns;
	if (!pause_until(sender, clock__now_ns() + (ns > wait ? ns : wait)))
		return false;
	pthread_mutex_lock(&sender->lock);
	sender->counts.retries++;
	pthread_mutex_unlock(&sender->lock);
	return true;
}

/* The first of the queue; waits for one. NULL: the end. */
static struct body *next(struct sender *sender)
{
	struct body *body;

	pthread_mutex_lock(&sender->lock);
	while (!sender->queue.first && !atomic_load(&sender->ends))
		pthread_cond_wait(&sender->changed, &sender->lock);
	body = sender->queue.first;
	sender->in_flight = body != NULL;
	pthread_mutex_unlock(&sender->lock);
	return body;
}

static void *work(void *arg)
{
	struct sender *sender = arg;
	uint64_t pause_ns = sender->config.pause_ns;
	unsigned int wait_s;
	struct body *body;

	while ((body = next(sender)) && !is_over(sender)) {
		if (send_first(sender, body, &wait_s))
			pause_ns = sender->config.pause_ns;
		else if (!back_off(sender, &pause_ns, wait_s))
			break;
	}
	return NULL;
}

/* ---- the caller ---- */

static int start(struct sender *sender)
{
	if (!sender->runs && !pthread_create(&sender->thread, NULL, work, sender))
		sender->runs = true;
	return sender->runs ? 0 : -EAGAIN;
}

int sender__new(struct sender **out, const struct sender_config *config)
{
	struct sender *sender = calloc(1, sizeof(*sender));
	const struct post_config post = {
		.url = config->url,
		.content_type = config->content_type,
		.headers = config->headers,
		.is_gzip = config->gzip,
		.timeout_s = config->timeout_s,
		.most = ANSWER,
		.stops = stops,
		.arg = sender,
	};
	pthread_condattr_t attr;
	int err;

	if (!sender)
		return -ENOMEM;
	err = post__new(&sender->post, &post);
	if (err) {
		free(sender);
		return err;
	}
	sender->config = *config;
	post__describe(config->url, sender->shown);
	sender->queue.last = &sender->queue.first;
	sender->results.last = &sender->results.first;
	pthread_mutex_init(&sender->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&sender->changed, &attr);
	pthread_condattr_destroy(&attr);
	*out = sender;
	return 0;
}

int sender__push(struct sender *sender, void *at, size_t len, uint64_t id)
{
	struct body *body = malloc(sizeof(*body)), **place;
	int err = start(sender);

	pthread_mutex_lock(&sender->lock);
	sender->counts.pushed++;
	if (!body || err) {
		sender->counts.dropped++;
		pthread_mutex_unlock(&sender->lock);
		free(body);
		free(at);
		return err ? err : -ENOMEM;
	}
	*body = (struct body){ .at = at, .len = len, .id = id };
	place = sender->queue.last;
	append(&sender->queue, body);
	sender->counts.queued++;
	sender->counts.queued_bytes += len;
	if (len > sender->config.most)
		finish(sender, place, SENDER_DROPPED);
	make_room(sender);
	pthread_cond_signal(&sender->changed);
	pthread_mutex_unlock(&sender->lock);
	return 0;
}

bool sender__result(struct sender *sender, uint64_t *id, enum sender_outcome *outcome)
{
	struct body *body = NULL;

	pthread_mutex_lock(&sender->lock);
	if (sender->results.first)
		body = take_at(&sender->results, &sender->results.first);
	pthread_mutex_unlock(&sender->lock);
	if (!body)
		return false;
	*id = body->id;
	*outcome = body->outcome;
	free_body(body);
	return true;
}

void sender__counts(struct sender *sender, struct sender_counts *counts)
{
	pthread_mutex_lock(&sender->lock);
	*counts = sender->counts;
	pthread_mutex_unlock(&sender->lock);
}

const char *sender__shown(const struct sender *sender)
{
	return sender->shown;
}

void sender__tell(struct sender *sender)
{
	struct sender_counts counts;

	sender__counts(sender, &counts);
	if (counts.fails == sender->fails)
		return;
	sender->fails = counts.fails;
	sender->config.changed(sender->shown, counts.fails ? counts.why : NULL);
}

void sender__end(struct sender *sender, uint64_t patience_ns)
{
	pthread_mutex_lock(&sender->lock);
	atomic_store(&sender->end_ns, clock__now_ns() + patience_ns);
	atomic_store(&sender->ends, true);
	pthread_cond_signal(&sender->changed);
	pthread_mutex_unlock(&sender->lock);
	if (sender->runs)
		pthread_join(sender->thread, NULL);
	sender->runs = false;
	sender->in_flight = false;
	while (sender->queue.first)
		finish(sender, &sender->queue.first, SENDER_DROPPED);
}

void sender__free(struct sender *sender)
{
	if (!sender)
		return;
	sender__end(sender, 0);
	free_list(&sender->results);
	post__free(sender->post);
	pthread_cond_destroy(&sender->changed);
	pthread_mutex_destroy(&sender->lock);
	free(sender);
}
