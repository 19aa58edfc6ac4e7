// SPDX-License-Identifier: BSD-2-Clause
#include "clickhouse.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>

#include <core/clock.h>
#include <core/hist.h>
#include <core/sanitize.h>
#include <core/vec.h>
#include <net/clickhouse_rows.h>
#include <net/gzip.h>

#include "times_rows.h"

#define BODY (1 << 20) /* bytes of batches that are sent together */
#define BODY_MOST (32 << 20) /* a batch may be larger */
#define CHECK_S 10 /* of a question about the schema */
#define CHECK_NS 600000000000ULL /* until it is asked again */
#define LAST_NS 3000000000ULL /* patience at the end */
#define ANSWER 4096
#define TRIES 3 /* requests until a batch is put off */
#define STRIKES 4 /* after which it is dropped: see spool__put_off() */

/* What the probe had lost when the last batch ended. */
struct lost {
	uint64_t events, ns;
};

struct service {
	char name[RUN_NAME * 2];
	unsigned int probe, metric;
	struct sparse hist; /* owned */
};

struct clickhouse {
	struct clickhouse_config config;
	struct clickhouse_address address;
	char insert[CLICKHOUSE_URL];
	const char *headers[4];
	struct post *server; /* only of the thread */
	struct sender *sender;
	struct spool *spool;
	struct utsname name;
	char run[64];

	struct series series; /* of this interval, as the next ones */
	struct times times;
	struct lat_cell (*cells)[RUN_METRICS]; /* owned; by probe */
	struct lost lost[RUN_PROBES][RUN_METRICS];
	uint64_t start_ns, end_ns; /* of it, since the window opened */
	uint32_t number;

	bool sending, alone; /* alone: only one batch, to find the one that is refused */
	struct spool_body body; /* what is being sent; its memory is the sender's */
	uint64_t made, stored, refused, unspooled;

	/* of the thread */
	_Atomic uint64_t last_ns; /* nothing is asked any more; 0: no end yet */
	uint64_t checked_ns; /* 0: not yet, or it failed */
	atomic_bool skew_known;
	_Atomic int64_t skew_s;
};

/* ---- the thread ---- */

static bool is_ending(void *arg)
{
	struct clickhouse *clickhouse = arg;

	uint64_t end = atomic_load(&clickhouse->last_ns);

	return end && clock__now_ns() >= end;
}

/*
 * Our clock minus the server's, which told its second at some time from asked_s to now. All of them
 * are of time(), which can be some ms behind.
 */
static int64_t skew(uint64_t asked_s, uint64_t server_s)
{
	uint64_t now_s = (uint64_t)time(NULL);

	if (server_s < asked_s)
		return (int64_t)(asked_s - server_s);
	return server_s > now_s ? -(int64_t)(server_s - now_s) : 0;
}

/* Rows for a schema that is not ours must not be sent: they could fit by chance. */
static bool check_schema(void *arg, char why[POST_TEXT])
{
	struct clickhouse *clickhouse = arg;
	uint64_t now = clock__now_ns(), asked_s = (uint64_t)time(NULL), server_s;
	int err;

	if (clickhouse->checked_ns && now - clickhouse->checked_ns < CHECK_NS)
		return true;
	err = clickhouse_server__check(clickhouse->server, &server_s, why);
	clickhouse->checked_ns = err ? 0 : now;
	if (err == -ENOENT || err == -ESTALE) {
		size_t used = strlen(why);

		snprintf(why + used, POST_TEXT - used, "; see 'latscope fleet init'");
	}
	if (err)
		return false;
	atomic_store(&clickhouse->skew_s, skew(asked_s, server_s));
	atomic_store(&clickhouse->skew_known, true);
	return true;
}

/* What only these rows can be the reason of is not sent again. */
static bool is_sent_again(long status)
{
	return status != 400 && status != 413;
}

/* ---- start and end ---- */

static int compare_labels(const void *a, const void *b)
{
	return strcmp(((const struct run_label *)a)->key, ((const struct run_label *)b)->key);
}

static void name_run(struct clickhouse *clickhouse)
{
	const time_t now = time(NULL);
	uint32_t random[2];
	struct tm tm;
	size_t used;

	if (getrandom(random, sizeof(random), 0) != sizeof(random)) {
		random[0] = (uint32_t)clock__now_ns();
		random[1] = (uint32_t)(clock__now_ns() >> 32);
	}
	gmtime_r(&now, &tm);
	used = strftime(clickhouse->run, sizeof(clickhouse->run), "%Y%m%dT%H%M%SZ-", &tm);
	snprintf(clickhouse->run + used, sizeof(clickhouse->run) - used, "%08x%08x", random[0],
		 random[1]);
	uname(&clickhouse->name);
}

static int open_sender(struct clickhouse *clickhouse)
{
	struct sender_config config = { SENDER_DEFAULTS };
	size_t nr = 0;
	int err;

	clickhouse__url(&clickhouse->address, CLICKHOUSE_INSERT, clickhouse->insert);
	while (clickhouse->address.headers[nr]) {
		clickhouse->headers[nr] = clickhouse->address.headers[nr];
		nr++;
	}
	clickhouse->headers[nr] = "Content-Encoding: gzip";
	config.url = clickhouse->insert;
	config.content_type = "text/tab-separated-values; charset=utf-8";
	config.headers = clickhouse->headers;
	config.keeps_results = true;
	config.tries = TRIES;
	config.most = BODY_MOST;
	config.ready = check_schema;
	config.retries = is_sent_again;
	config.changed = clickhouse->config.changed;
	config.arg = clickhouse;
	err = clickhouse_server__new(&clickhouse->server, &clickhouse->address, CHECK_S, ANSWER,
				     is_ending, clickhouse);
	return err ? err : sender__new(&clickhouse->sender, &config);
}

int clickhouse__new(struct clickhouse **out, const struct clickhouse_config *config,
		    const struct clickhouse_address *address)
{
	struct clickhouse *clickhouse = calloc(1, sizeof(*clickhouse));
	int err;

	if (!clickhouse)
		return -ENOMEM;
	clickhouse->config = *config;
	clickhouse->address = *address;
	clickhouse->series.most = clickhouse->times.most = config->max_series;
	qsort(clickhouse->config.labels, config->nr_labels, sizeof(config->labels[0]),
	      compare_labels);
	name_run(clickhouse);
	clickhouse->cells = calloc(RUN_PROBES, sizeof(*clickhouse->cells));
	err = clickhouse->cells ? spool__new(&clickhouse->spool, config->spool, config->spool_most)
				: -ENOMEM;
	if (!err)
		err = open_sender(clickhouse);
	if (err) {
		clickhouse__free(clickhouse);
		return err;
	}
	*out = clickhouse;
	return 0;
}

void clickhouse__free(struct clickhouse *clickhouse)
{
	if (!clickhouse)
		return;
	atomic_store(&clickhouse->last_ns, 1);
	sender__free(clickhouse->sender);
	post__free(clickhouse->server);
	spool__free(clickhouse->spool);
	series__free(&clickhouse->series);
	times__free(&clickhouse->times);
	free(clickhouse->cells);
	free(clickhouse);
}

/* ---- rows ---- */

/* What was lost since the last batch. */
static void put_lost(struct clickhouse *clickhouse, const struct run *run, unsigned int probe,
		     unsigned int metric, struct clickhouse_row *row)
{
	struct lost *before = &clickhouse->lost[probe][metric];
	struct lost now = { .events = run__lost(&run->probes[probe], metric) };

	row->lost_ns_known = run__lost_ns(&run->probes[probe], metric, &now.ns);
	row->lost = now.events > before->events ? now.events - before->events : 0;
	row->lost_ns = now.ns > before->ns ? now.ns - before->ns : 0;
	*before = now;
}

static int put_whole(struct clickhouse *clickhouse, const struct run *run,
		     const struct clickhouse_batch *batch, struct bytes *to, uint32_t *rows)
{
	for (unsigned int probe = 0; probe < run->nr_probes; probe++) {
		const struct run_probe *of = &run->probes[probe];

		for (unsigned int i = 0; !of->refused[0] && i < of->nr_metrics; i++) {
			struct lat_cell *cell = &clickhouse->cells[probe][i];
			struct sparse hist = { 0 };
			struct clickhouse_row row = { .probe = of->name,
						      .metric = of->metrics[i].name,
						      .method = of->method,
						      .tail_ns = of->tail_ns,
						      .hist = &hist,
						      .counts = cell->counts };

			if (sparse__set(&hist, &cell->hist))
				return -ENOMEM;
			put_lost(clickhouse, run, probe, i, &row);
			clickhouse_rows__add(to, batch, &row);
			sparse__clear(&hist);
			memset(cell, 0, sizeof(*cell));
			++*rows;
		}
	}
	return 0;
}

static int compare_services(const void *a, const void *b)
{
	const struct service *one = a, *other = b;

	if (one->probe != other->probe)
		return one->probe < other->probe ? -1 : 1;
	if (one->metric != other->metric)
		return one->metric < other->metric ? -1 : 1;
	return strcmp(one->name, other->name);
}

/* The cgroups of the interval that have samples, by service; several cgroups may be one. */
static int list_services(struct clickhouse *clickhouse, const struct series *named,
			 struct service **services, size_t *nr)
{
	int err = 0;

	for (size_t i = 0; i < clickhouse->series.nr && !err; i++) {
		struct exported *one = &clickhouse->series.all[i];
		struct service *grown;

		if (!one->hist.nr && !one->hist.sum_ns)
			continue;
		grown = vec__grow(*services, *nr, sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		*services = grown;
		grown += (*nr)++;
		*grown = (struct service){ .probe = one->probe, .metric = one->metric };
		clickhouse_rows__service(grown->name, one->name, series__path(named, one->name));
		err = sparse__add(&grown->hist, &one->hist);
		sparse__zero(&one->hist);
	}
	if (*nr)
		qsort(*services, *nr, sizeof(**services), compare_services);
	return err;
}

/* Neighbours of the same name are one row: the table would keep only one of two. */
static int put_services(const struct run *run, const struct clickhouse_batch *batch,
			struct service *services, size_t nr, struct bytes *to, uint32_t *rows)
{
	int err = 0;

	for (size_t i = 0; i < nr && !err; i++) {
		const struct run_probe *of = &run->probes[services[i].probe];
		const struct clickhouse_row row = { .probe = of->name,
						    .metric = of->metrics[services[i].metric].name,
						    .method = of->method,
						    .service = services[i].name,
						    .tail_ns = of->tail_ns,
						    .hist = &services[i].hist };

		if (i + 1 < nr && !compare_services(&services[i], &services[i + 1])) {
			err = sparse__add(&services[i + 1].hist, &services[i].hist);
			continue;
		}
		clickhouse_rows__add(to, batch, &row);
		++*rows;
	}
	return err;
}

static int put_rows(struct clickhouse *clickhouse, const struct run *run,
		    const struct clickhouse_batch *batch, const struct series *named,
		    struct bytes *to, uint32_t *rows)
{
	struct service *services = NULL;
	size_t nr = 0;
	int err = put_whole(clickhouse, run, batch, to, rows);

	if (!err)
		err = list_services(clickhouse, named, &services, &nr);
	if (!err)
		err = put_services(run, batch, services, nr, to, rows);
	if (!err)
		err = times_rows__put(&clickhouse->times, run, batch, to, rows);
	for (size_t i = 0; i < nr; i++)
		sparse__clear(&services[i].hist);
	free(services);
	return err || to->failed ? -ENOMEM : 0;
}

/* The interval is over: its rows go to the spool. */
static int end_batch(struct clickhouse *clickhouse, const struct run *run,
		     const struct series *named)
{
	uint64_t age_ns = clock__now_ns() - (run->start_mono_ns + clickhouse->start_ns);
	const struct clickhouse_batch batch = {
		.start_s = (clock__unix_ns() - age_ns) / 1000000000,
		.interval_ns = clickhouse->end_ns - clickhouse->start_ns,
		.number = clickhouse->number++,
		.host = clickhouse->name.nodename,
		.kernel = clickhouse->name.release,
		.run = clickhouse->run,
		.nr_labels = clickhouse->config.nr_labels,
		.labels = clickhouse->config.labels,
	};
	struct bytes text = { 0 };
	uint32_t rows = 0;
	size_t len = 0;
	void *packed = NULL;
	int err = put_rows(clickhouse, run, &batch, named, &text, &rows);

	clickhouse->start_ns = clickhouse->end_ns;
	clickhouse->made += rows;
	if (!err && rows)
		packed = gzip__pack(text.at, text.len, true, &len);
	if (packed)
		spool__put(clickhouse->spool, packed, len, rows);
	else
		clickhouse->unspooled += rows;
	free(packed);
	bytes__free(&text);
	return err;
}

static void add_cells(struct clickhouse *clickhouse, const struct run *run,
		      const struct run_interval *interval)
{
	for (unsigned int probe = 0; probe < run->nr_probes; probe++)
		for (unsigned int i = 0;
		     !run->probes[probe].refused[0] && i < run->probes[probe].nr_metrics; i++)
			hist__add_cell(&clickhouse->cells[probe][i],
				       &interval->delta[probe].metrics[i]);
}

int clickhouse__add(struct clickhouse *clickhouse, const struct run *run,
		    const struct run_interval *interval, bool whole, const struct series *named)
{
	int err = series__add(&clickhouse->series, run, interval);

	if (!err)
		err = times__add(&clickhouse->times, run, interval->end_ns);
	add_cells(clickhouse, run, interval);
	clickhouse->end_ns = interval->end_ns;
	if (err || !whole ||
	    clickhouse->end_ns - clickhouse->start_ns < clickhouse->config.every_ns)
		return err;
	return end_batch(clickhouse, run, named);
}

/* ---- sending ---- */

static void drop_refused(struct clickhouse *clickhouse)
{
	struct sender_counts counts;

	sender__counts(clickhouse->sender, &counts);
	clickhouse->refused += clickhouse->body.rows;
	spool__done(clickhouse->spool);
	clickhouse->config.dropped(sender__shown(clickhouse->sender), clickhouse->body.rows,
				   counts.why);
}

/* One that is refused may be due to one batch of it: the others are sent alone. */
static void take_result(struct clickhouse *clickhouse, enum sender_outcome outcome)
{
	const struct spool_body *body = &clickhouse->body;

	clickhouse->sending = false;
	if (outcome == SENDER_DROPPED)
		return; /* it is still in the spool */
	if (outcome != SENDER_SENT && body->batches > 1) {
		clickhouse->alone = true;
		return;
	}
	clickhouse->alone = false;
	if (outcome == SENDER_SENT) {
		clickhouse->stored += body->rows;
		spool__done(clickhouse->spool);
	} else if (outcome == SENDER_REFUSED ||
		   spool__put_off(clickhouse->spool, clickhouse->stored) >= STRIKES) {
		drop_refused(clickhouse);
	}
}

void clickhouse__work(struct clickhouse *clickhouse)
{
	enum sender_outcome outcome;
	uint64_t id;

	while (sender__result(clickhouse->sender, &id, &outcome))
		take_result(clickhouse, outcome);
	sender__tell(clickhouse->sender);
	if (clickhouse->sending ||
	    spool__read(clickhouse->spool, clickhouse->alone ? 0 : BODY, &clickhouse->body))
		return;
	clickhouse->sending = true;
	sender__push(clickhouse->sender, clickhouse->body.at, clickhouse->body.len,
		     clickhouse->body.last);
	clickhouse->body.at = NULL;
}

/* What came since the last batch is one more, if it has any length; others may still wait. */
void clickhouse__end(struct clickhouse *clickhouse, const struct run *run,
		     const struct series *named)
{
	const uint64_t last_ns = clock__now_ns() + LAST_NS;
	const struct timespec moment = { .tv_nsec = 10000000 };
	enum sender_outcome outcome;
	uint64_t id;

	if (clickhouse->end_ns > clickhouse->start_ns)
		end_batch(clickhouse, run, named);
	atomic_store(&clickhouse->last_ns, last_ns);
	clickhouse__work(clickhouse);
	while (clickhouse->sending && clock__now_ns() < last_ns) {
		nanosleep(&moment, NULL);
		clickhouse__work(clickhouse);
	}
	sender__end(clickhouse->sender, 0);
	while (sender__result(clickhouse->sender, &id, &outcome))
		take_result(clickhouse, outcome);
	sender__tell(clickhouse->sender);
}

struct clickhouse_counts clickhouse__counts(const struct clickhouse *clickhouse)
{
	struct clickhouse_counts counts = { .made = clickhouse->made,
					    .stored = clickhouse->stored,
					    .refused = clickhouse->refused,
					    .spool = spool__counts(clickhouse->spool) };

	counts.lost = counts.spool.lost_rows + clickhouse->unspooled;
	sender__counts(clickhouse->sender, &counts.sender);
	counts.skew_known = atomic_load(&clickhouse->skew_known);
	counts.skew_s = (double)atomic_load(&clickhouse->skew_s);
	return counts;
}
