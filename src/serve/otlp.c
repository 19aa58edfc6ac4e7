// SPDX-License-Identifier: BSD-2-Clause
#include "otlp.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include <core/clock.h>
#include <core/sanitize.h>

#define URL 2048
#define HEADERS 16
#define STEP_NS 1000000000 /* a clock that is off by more was set */
#define LAST_NS 3000000000ULL /* patience at the end */

struct otlp {
	struct otlp_config config;
	char url[URL], host[POST_TEXT];
	char *headers; /* owned; what the list points into */
	const char *list[HEADERS + 1];
	struct sender *sender;
	struct otlp_past *past;
	uint64_t start_ns; /* Unix time when counting began */
	uint64_t next_ns; /* CLOCK_MONOTONIC */
};

/* "name=value" to "name: value" in place. */
static bool add_header(struct otlp *otlp, size_t nr, char *text)
{
	static const char token[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
	size_t name = strspn(text, token);
	char *header;

	if (nr == HEADERS || !name || text[name] != '=' || strpbrk(text, "\r\n"))
		return false;
	header = malloc(strlen(text) + 2);
	if (!header)
		return false;
	sprintf(header, "%.*s: %s", (int)name, text, text + name + 1);
	otlp->list[nr] = header;
	return true;
}

static int read_headers(struct otlp *otlp)
{
	const char *given = getenv(OTLP_HEADERS);
	char *rest = NULL, *text;
	size_t nr = 0;
	bool valid = true;

	if (!given)
		return 0;
	otlp->headers = strdup(given);
	if (!otlp->headers)
		return -ENOMEM;
	for (text = strtok_r(otlp->headers, ",", &rest); text && valid;
	     text = strtok_r(NULL, ",", &rest))
		valid = add_header(otlp, nr++, text + strspn(text, " "));
	return valid ? 0 : -EINVAL;
}

/* http://host:4318 and http://host:4318/ have no path. */
static void make_url(struct otlp *otlp, const char *given)
{
	const char *host = strstr(given, "://"), *path = host ? strchr(host + 3, '/') : NULL;
	int len = (int)strlen(given);

	if (path && path[1])
		snprintf(otlp->url, sizeof(otlp->url), "%s", given);
	else
		snprintf(otlp->url, sizeof(otlp->url), "%.*s/v1/metrics", path ? len - 1 : len,
			 given);
}

static int begin(struct otlp *otlp)
{
	struct sender_config config = { SENDER_DEFAULTS };
	struct utsname name;
	int err;

	config.url = otlp->url;
	config.content_type = "application/json";
	config.headers = otlp->list;
	config.gzip = true;
	config.changed = otlp->config.changed;
	if (!uname(&name))
		sanitize__text(otlp->host, sizeof(otlp->host), name.nodename);
	if (otlp->config.delta) {
		otlp->past = otlp_past__new();
		if (!otlp->past)
			return -ENOMEM;
	}
	err = read_headers(otlp);
	return err ? err : sender__new(&otlp->sender, &config);
}

int otlp__new(struct otlp **out, const struct otlp_config *config)
{
	struct otlp *otlp = calloc(1, sizeof(*otlp));
	int err;

	if (!otlp)
		return -ENOMEM;
	otlp->config = *config;
	make_url(otlp, config->url);
	err = begin(otlp);
	if (err) {
		otlp__free(otlp);
		return err;
	}
	*out = otlp;
	return 0;
}

void otlp__free(struct otlp *otlp)
{
	if (!otlp)
		return;
	sender__free(otlp->sender);
	otlp_past__free(otlp->past);
	for (size_t i = 0; i < HEADERS; i++)
		free((char *)otlp->list[i]);
	free(otlp->headers);
	free(otlp);
}

/*
 * The start must not move, or receivers would take each point for a new beginning. It does only
 * when the clock was set.
 */
static void set_times(struct otlp *otlp, struct exposition *to, uint64_t elapsed_ns)
{
	uint64_t now = clock__unix_ns();
	int64_t off = (int64_t)(now - otlp->start_ns - elapsed_ns);

	if (!otlp->start_ns || off > STEP_NS || off < -STEP_NS)
		otlp->start_ns = now - elapsed_ns;
	to->start_ns = otlp->start_ns;
	to->time_ns = otlp->start_ns + elapsed_ns;
}

static void send_metrics(struct otlp *otlp, const struct metrics *metrics, uint64_t at_ns)
{
	struct exposition to = { .format = EXPOSITION_OTLP, .past = otlp->past };

	set_times(otlp, &to, at_ns - metrics->run->start_mono_ns);
	exposition_otlp__begin(&to, otlp->host);
	metrics__write(metrics, &to);
	exposition_otlp__end(&to);
	if (to.out.failed)
		bytes__free(&to.out);
	else
		sender__push(otlp->sender, to.out.at, to.out.len, 0);
}

void otlp__work(struct otlp *otlp, const struct metrics *metrics, uint64_t at_ns, bool is_last)
{
	sender__tell(otlp->sender);
	if (at_ns < otlp->next_ns && !is_last)
		return;
	otlp->next_ns = at_ns + otlp->config.every_ns;
	send_metrics(otlp, metrics, at_ns);
}

void otlp__end(struct otlp *otlp)
{
	sender__end(otlp->sender, LAST_NS);
	sender__tell(otlp->sender);
}

void otlp__counts(const struct otlp *otlp, struct sender_counts *counts)
{
	sender__counts(otlp->sender, counts);
}
