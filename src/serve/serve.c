// SPDX-License-Identifier: BSD-2-Clause
#include "serve.h"

#include <errno.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>
#include <net/gzip.h>
#include <net/http.h>

#include "clickhouse.h"
#include "health.h"
#include "keeper.h"
#include "metrics.h"
#include "otlp.h"
#include "page.h"
#include "recorder.h"
#include "series.h"
#include "times.h"

#define LARGE (128 << 10) /* bytes of memory that is mapped alone */
#define LAST_NS 600000000000ULL /* of a page, if the request does not say */

struct serve {
	struct serve_config config;
	struct http *http;
	struct session_watcher watcher; /* of the session */
	struct series series;
	struct times times;
	struct page page;
	uint64_t version; /* of what the exporter shows: it changes when the keys are read */
	unsigned int intervals, keys_every; /* since then; from one reading of keys to the next */
};

static const char index_page[] =
	"<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>latscope</title>"
	"<h1>latscope " LATSCOPE_VERSION "</h1><ul>"
	"<li><a href=\"/metrics\">/metrics</a>: for Prometheus"
	"<li><a href=\"/report?last=10m\">/report?last=10m</a>: the last ten minutes as a page"
	"<li><a href=\"/healthz\">/healthz</a>: do the probes measure and account for each event?"
	"</ul></html>\n";

static void put_text(struct http_answer *answer, unsigned int status, const char *text)
{
	answer->status = status;
	answer->type = "text/plain; charset=utf-8";
	answer->body = strdup(text);
	answer->len = strlen(text);
}

struct counts {
	struct sender_counts otlp;
	struct clickhouse_counts clickhouse;
};

/* `counts` is only for the result to refer to. */
static struct metrics metrics_of(const struct serve *serve, struct counts *counts)
{
	if (serve->config.otlp)
		otlp__counts(serve->config.otlp, &counts->otlp);
	if (serve->config.clickhouse)
		counts->clickhouse = clickhouse__counts(serve->config.clickhouse);
	return (struct metrics){
		.run = serve->config.run,
		.series = &serve->series,
		.times = &serve->times,
		.max_keys = serve->config.max_keys,
		.requests = http__requests(serve->http),
		.recorder = serve->config.recorder,
		.keeper = serve->config.keeper,
		.otlp = serve->config.otlp ? &counts->otlp : NULL,
		.clickhouse = serve->config.clickhouse ? &counts->clickhouse : NULL,
	};
}

/* Many lines are alike: with 1,000 cgroups, 2.4 MB become 0.1 MB. */
static void pack(struct http_answer *answer)
{
	size_t len;
	void *packed = gzip__pack(answer->body, answer->len, true, &len);

	if (!packed) {
		answer->version = 0;
		answer->is_gzip = false;
		return;
	}
	free(answer->body);
	answer->body = packed;
	answer->len = len;
}

static void put_metrics(struct serve *serve, const struct http_request *request,
			struct http_answer *answer)
{
	struct counts counts;
	const struct metrics metrics = metrics_of(serve, &counts);
	struct exposition to = { .format = exposition__choose(request->accept) };

	answer->type = exposition__content_type(to.format);
	answer->slot = 2 * to.format + request->takes_gzip;
	answer->is_gzip = request->takes_gzip;
	answer->version = serve->version;
	if (http__has(serve->http, answer->slot, answer->version))
		return;
	metrics__write(&metrics, &to);
	if (to.out.failed) {
		bytes__free(&to.out);
		answer->version = 0;
		return;
	}
	answer->body = to.out.at;
	answer->len = to.out.len;
	if (request->takes_gzip)
		pack(answer);
}

static void put_health(const struct serve *serve, struct http_answer *answer)
{
	char why[RUN_TEXT], text[RUN_TEXT + 1];
	bool good = health__is_good(serve->config.run, why);

	snprintf(text, sizeof(text), "%s\n", why);
	put_text(answer, good ? 200 : 503, text);
}

/* Begins a page; finish_page() answers. */
static void put_page(struct serve *serve, const struct http_request *request,
		     struct http_answer *answer)
{
	uint64_t last_ns = LAST_NS;
	int err;

	if (!serve->config.recorder) {
		put_text(answer, 404, "no flight recorder: the service runs with --no-ring\n");
		return;
	}
	err = request->last ? units__parse_duration(request->last, &last_ns) : 0;
	if (!err)
		err = page__begin(&serve->page, last_ns);
	if (!err)
		answer->is_later = true;
	else if (err == -EINVAL || err == -ERANGE)
		put_text(answer, 400, "use a time up to 1h, such as /report?last=10m\n");
	else if (err == -ENOENT)
		put_text(answer, 503, "the flight recorder has nothing yet; try again\n");
	else if (err == -EBUSY)
		put_text(answer, 503, "another page is being made; try again\n");
	else
		put_text(answer, 500, "cannot make the page\n");
}

static void finish_page(struct serve *serve)
{
	struct http_answer answer = { .status = 200, .type = "text/html; charset=utf-8" };
	int got = page__work(&serve->page, &answer.file, &answer.len);

	if (!got)
		return;
	answer.is_file = got > 0;
	if (got < 0)
		put_text(&answer, 500, "the page failed\n");
	http__answer_later(serve->http, &answer);
}

static void answer(void *arg, const struct http_request *request, struct http_answer *to)
{
	struct serve *serve = arg;

	if (!strcmp(request->path, "/metrics")) {
		put_metrics(serve, request, to);
	} else if (!strcmp(request->path, "/healthz")) {
		put_health(serve, to);
	} else if (!strcmp(request->path, "/report")) {
		put_page(serve, request, to);
	} else if (!strcmp(request->path, "/")) {
		put_text(to, 200, index_page);
		to->type = "text/html; charset=utf-8";
	} else {
		put_text(to, 404, "no such page; see /\n");
	}
}

int serve__new(struct serve **out, const struct serve_config *config)
{
	struct serve *serve = calloc(1, sizeof(*serve));
	const struct http_config http = {
		.socket = config->socket, .token = config->token, .answer = answer, .arg = serve
	};
	int err;

	if (!serve)
		return -ENOMEM;
	mallopt(M_MMAP_THRESHOLD, LARGE); /* what is freed is given back at once */
	serve->config = *config;
	serve->series.most = serve->times.most = config->max_series;
	serve->series.names = config->names;
	serve->version = 1;
	serve->keys_every = config->run->interval_ns < SERVE_KEYS_NS
				    ? (unsigned int)(SERVE_KEYS_NS / config->run->interval_ns)
				    : 1;
	err = http__new(&serve->http, &http);
	if (err)
		goto err_free;
	*out = serve;
	return 0;

err_free:
	series__free(&serve->series);
	free(serve);
	return err;
}

void serve__free(struct serve *serve)
{
	if (!serve)
		return;
	page__clear(&serve->page);
	http__free(serve->http);
	series__free(&serve->series);
	times__free(&serve->times);
	otlp__free(serve->config.otlp);
	clickhouse__free(serve->config.clickhouse);
	keeper__free(serve->config.keeper);
	recorder__free(serve->config.recorder);
	free(serve);
}

/* ---- the writer ---- */

static void test_triggers(struct serve *serve, uint64_t end_ns)
{
	const struct run_data *sum;
	uint64_t start_ns;

	sum = recorder__sum(serve->config.recorder, &start_ns);
	if (serve->config.keeper)
		keeper__test(serve->config.keeper, sum, start_ns, end_ns);
}

static void send_metrics(struct serve *serve, uint64_t at_ns, bool is_last)
{
	struct counts counts;
	const struct metrics metrics = metrics_of(serve, &counts);

	otlp__work(serve->config.otlp, &metrics, at_ns, is_last);
}

static int take_interval(struct writer *writer, const struct run *run,
			 const struct run_interval *interval)
{
	struct serve *serve = writer->state;
	int err;

	if (++serve->intervals >= serve->keys_every) {
		serve->intervals = 0;
		serve->version++;
		http__forget(serve->http);
	}
	err = series__add(&serve->series, run, interval);
	if (!err)
		err = times__add(&serve->times, run, interval->end_ns);
	if (!err && serve->config.clickhouse)
		err = clickhouse__add(serve->config.clickhouse, run, interval, !serve->intervals,
				      &serve->series);
	if (!err && serve->config.otlp && !serve->intervals)
		send_metrics(serve, run->start_mono_ns + interval->end_ns, false);
	if (err || !serve->config.recorder)
		return err;
	err = recorder__add(serve->config.recorder, interval, !serve->intervals);
	if (!err && !serve->intervals)
		test_triggers(serve, interval->end_ns);
	return err;
}

static int end(struct writer *writer, const struct run *run)
{
	struct serve *serve = writer->state;

	if (serve->config.recorder)
		recorder__end(serve->config.recorder);
	if (serve->config.otlp) {
		send_metrics(serve, run->start_mono_ns + run->duration_ns, true);
		otlp__end(serve->config.otlp);
	}
	if (serve->config.clickhouse)
		clickhouse__end(serve->config.clickhouse, run, &serve->series);
	return 0;
}

static const struct writer_ops writer_serve = {
	.name = "serve",
	.interval = take_interval,
	.close = end,
};

static void awake(void *arg)
{
	struct serve *serve = arg;

	finish_page(serve);
	http__run(serve->http);
	if (serve->config.keeper)
		keeper__work(serve->config.keeper);
	if (serve->config.clickhouse)
		clickhouse__work(serve->config.clickhouse);
}

void serve__attach(struct serve *serve, struct session_config *config, struct recording *recording)
{
	config->keys_every = serve->keys_every;
	config->check_ns = SERVE_CHECK_NS;
	serve->watcher = (struct session_watcher){ .fd = http__descriptor(serve->http),
						   .awake = awake,
						   .arg = serve,
						   .calls = { .serves = true } };
	config->watcher = &serve->watcher;
	serve->page.ring = recording;
	serve->watcher.calls.sends = serve->config.otlp || serve->config.clickhouse;
	serve->watcher.calls.forks = serve->config.recorder != NULL;
	config->renews = true;
	recording->is_endless = true;
	config->recording = recording;
	recording__add(recording, &writer_serve)->state = serve;
}
