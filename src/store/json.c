// SPDX-License-Identifier: BSD-2-Clause
#include "json.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <json-c/json.h>

#include <core/counts.h>
#include <core/coverage.h>
#include <core/hist.h>
#include <core/pressure.h>
#include <core/sanitize.h>
#include <core/split.h>
#include <core/summary.h>
#include <host/account.h>

/* Latencies are in ns; trailing zeros are omitted. */
static struct json_object *number(double value, int decimals)
{
	char text[64];
	size_t len = (size_t)snprintf(text, sizeof(text), "%.*f", decimals, value);

	while (strchr(text, '.') && (text[len - 1] == '0' || text[len - 1] == '.'))
		text[--len] = '\0';
	return json_object_new_double_s(value, text);
}

static struct json_object *us(double ns)
{
	return number(ns / 1000, 3);
}

static struct json_object *seconds(uint64_t ns)
{
	return number((double)ns / 1e9, 9);
}

static struct json_object *percentiles(const struct summary *summary)
{
	struct json_object *object = json_object_new_object();
	char name[32];

	for (unsigned int i = 0; i < SUMMARY_QUANTILES; i++) {
		snprintf(name, sizeof(name), "%s_us", summary__fields[i]);
		fields__put(object, name,
			    summary->events ? us((double)summary->quantiles_ns[i]) : NULL);
	}
	return object;
}

static void put_summary(struct json_object *to, const struct lat_hist *hist, uint64_t tail_ns)
{
	struct summary summary;

	summary__of(&summary, hist);
	fields__count(to, "total_events", summary.events);
	fields__count(to, "tail_events", summary.tail);
	fields__put(to, "tail_threshold_us", us((double)tail_ns));
	fields__put(to, "max_bucket",
		    summary.events ? json_object_new_int(summary.top_bucket) : NULL);
	fields__put(to, "max_us", summary.events ? us((double)summary.max_ns) : NULL);
	fields__put(to, "mean_us", summary.events ? us(summary.mean_ns) : NULL);
	fields__put(to, "percentiles", percentiles(&summary));
}

/* The term that this time belongs to; 0: not a time. */
static unsigned int term_of_time(unsigned int count)
{
	return count == LAT_FILTERED_NS	      ? LAT_FILTERED
	       : count == LAT_MISSED_START_NS ? LAT_MISSED_START
	       : count == LAT_UNMATCHED_NS    ? LAT_UNMATCHED
					      : 0;
}

static struct json_object *accounting(const struct lat_cell *cell)
{
	struct json_object *object = json_object_new_object();
	uint64_t ns;

	for (unsigned int i = 0; i < LAT_COUNTS; i++) {
		if (term_of_time(i) && !run__term_ns(cell, term_of_time(i), &ns) && !ns)
			/* null: not known, which is different from 0 */
			fields__put(object, counts__name(i), NULL);
		else if (counts__name(i))
			fields__count(object, counts__name(i), cell->counts[i]);
		if (i == LAT_SEEN)
			fields__count(object, "recorded", run__recorded(cell));
	}
	fields__flag(object, "balanced", !run__imbalance(cell));
	return object;
}

/* No upper limit is null. */
static struct json_object *range(uint64_t low, uint64_t high)
{
	struct json_object *array = json_object_new_array();

	json_object_array_add(array, json_object_new_uint64(low));
	json_object_array_add(array, high == UINT64_MAX ? NULL : json_object_new_uint64(high));
	return array;
}

static struct json_object *checked_sum(const struct run_checked *sum)
{
	struct json_object *object;

	if (!sum->known)
		return NULL;
	object = json_object_new_object();
	fields__put(object, "ours", range(sum->ours_low, sum->ours_high));
	fields__put(object, "kernel", range(sum->kernel_low, sum->kernel_high));
	fields__put(object, "off", json_object_new_int64(account__off(sum)));
	fields__put(object, "off_share", number(account__off_share(sum), 6));
	fields__count(object, "tolerance", sum->tolerance);
	fields__flag(object, "agrees", !account__disagrees(sum));
	return object;
}

static struct json_object *kernel_check(const struct run_check *check)
{
	struct json_object *object;

	if (!check->source[0])
		return NULL;
	object = json_object_new_object();
	fields__text(object, "source", check->source);
	fields__text(object, "reason", check->why[0] ? check->why : NULL);
	fields__put(object, "events", checked_sum(&check->events));
	fields__put(object, "time_ns", checked_sum(&check->time));
	return object;
}

static struct json_object *in_flight(const struct run_probe *probe)
{
	struct json_object *object = json_object_new_object();

	fields__count(object, "count", probe->in_flight.count);
	fields__count(object, "before_attach", probe->in_flight.before);
	fields__put(object, "oldest_us",
		    probe->in_flight.count && probe->in_flight_age_known
			    ? us((double)probe->in_flight.oldest_ns)
			    : NULL);
	if (probe->in_flight_of[0])
		fields__text(object, "oldest_of", probe->in_flight_of);
	fields__put(object, "sum_us",
		    probe->in_flight_age_known ? us((double)probe->in_flight.sum_ns) : NULL);
	return object;
}

/* Ends that the kernel did not show to latscope also make it unbalanced. */
static struct json_object *probe_accounting(const struct run *run, const struct run_probe *probe)
{
	const struct lat_cell *cell = &probe->total.metrics[0];
	struct json_object *object = accounting(cell);
	uint64_t lost_ns;
	bool known = run__lost_ns(probe, 0, &lost_ns);
	bool part = run->span_to_ns; /* of a recording; then these are not known */

	fields__put(object, "recursion_missed",
		    part ? NULL : json_object_new_uint64(probe->recursion_missed));
	if (probe->no_event)
		fields__count(object, "no_event", probe->no_event);
	fields__put(object, "lost", part ? NULL : json_object_new_uint64(run__lost(probe, 0)));
	fields__put(object, "lost_ns", known && !part ? json_object_new_uint64(lost_ns) : NULL);
	fields__flag(object, "balanced", !run__imbalance(cell) && !probe->recursion_missed);
	fields__put(object, "in_flight", part ? NULL : in_flight(probe));
	fields__put(object, "kernel_check", kernel_check(&probe->check));
	return object;
}

static struct json_object *cost(const struct run *run, const struct run_probe *probe)
{
	struct json_object *object;
	struct summary_cost price;

	summary__of_cost(&price, run, probe);
	if (!price.timed)
		return NULL;
	object = json_object_new_object();
	fields__count(object, "events", probe->cost.timed_events);
	fields__put(object, "ns_per_event", price.known ? number(price.ns_per_event, 1) : NULL);
	fields__put(object, "cpu_share", price.known ? number(price.cpu_share, 6) : NULL);
	return object;
}

static struct json_object *mechanism(const struct run *run, const struct run_probe *probe)
{
	struct json_object *object = json_object_new_object();

	fields__text(object, "method", probe->method);
	fields__text(object, "text", probe->mechanism);
	fields__put(object, "cost", cost(run, probe));
	return object;
}

static struct json_object *log2_counts(const struct lat_hist *hist)
{
	struct json_object *array = json_object_new_array();
	uint64_t buckets[HIST_LOG2_BUCKETS];
	int top = hist__top_bucket(hist);

	hist__log2(hist, buckets);
	for (int i = 0; i <= top; i++)
		json_object_array_add(array, json_object_new_uint64(buckets[i]));
	return array;
}

static struct json_object *metric(const struct run_probe *probe, const struct run_metric *what,
				  const struct lat_cell *cell)
{
	struct json_object *object = json_object_new_object();

	fields__text(object, "metric", what->name);
	fields__text(object, "what", what->what);
	put_summary(object, &cell->hist, probe->tail_ns);
	fields__put(object, "accounting", accounting(cell));
	fields__put(object, "log2_counts", log2_counts(&cell->hist));
	return object;
}

static struct json_object *metrics(const struct run_probe *probe, const struct run_data *data)
{
	struct json_object *array = json_object_new_array();

	for (unsigned int i = 0; i < probe->nr_metrics; i++)
		json_object_array_add(array, metric(probe, &probe->metrics[i], &data->metrics[i]));
	return array;
}

static struct json_object *key(const struct run_probe *probe, const struct run_key *of)
{
	struct json_object *object = json_object_new_object();
	bool other = of->key.id == RUN_OTHER_ID;
	struct lat_hist hist;

	fields__text(object, "by", split__name(of->key.by));
	fields__text(object, "metric", probe->metrics[of->key.metric].name);
	fields__put(object, "id", other ? NULL : json_object_new_uint64(of->key.id));
	fields__text(object, "name", of->name);
	put_summary(object, sparse__expand(&of->hist, &hist), probe->tail_ns);
	fields__put(object, "sum_us", us((double)of->hist.sum_ns));
	return object;
}

/* The keys of a probe, ranked. The object of a key is made only when it is printed. */
struct key_list {
	const struct run_probe *probe;
	const struct run_key **keys;
	size_t nr;
};

static void free_keys(void *to_free)
{
	struct key_list *list = to_free;

	free(list->keys);
	free(list);
}

static struct json_object *make_key(const void *of, size_t index)
{
	const struct key_list *list = of;

	return key(list->probe, list->keys[index]);
}

/* By split and metric; within these, the keys with most time first. */
static int rank_keys(struct key_list *list)
{
	const struct run_probe *probe = list->probe;
	const struct run_key **ranked;

	list->keys = calloc(probe->total.nr_keys + 1, sizeof(*list->keys));
	for (unsigned int i = 0; list->keys && i < LAT_BY_COUNT * probe->nr_metrics; i++) {
		ssize_t nr = run__ranked_keys(&probe->total, i / probe->nr_metrics,
					      i % probe->nr_metrics, &ranked);

		if (nr < 0)
			return -ENOMEM;
		memcpy(list->keys + list->nr, ranked, (size_t)nr * sizeof(*ranked));
		list->nr += (size_t)nr;
		free(ranked);
	}
	return list->keys ? 0 : -ENOMEM;
}

static struct json_object *keys(const struct run_probe *probe)
{
	struct key_list *list = calloc(1, sizeof(*list));

	if (!list)
		return NULL;
	list->probe = probe;
	if (rank_keys(list)) {
		free_keys(list);
		return NULL;
	}
	return json__array(list->nr, make_key, list, free_keys);
}

static void put_table(struct json_object *to, const struct run *run, const struct run_probe *probe)
{
	fields__put(to, "duration_sec", seconds(run->duration_ns));
	fields__put(to, "mechanism", mechanism(run, probe));
	fields__count(to, "rows", table__folded_rows(probe->table));
	fields__put(to, "columns", table__json_columns(probe->table));
	fields__put(to, "top_k", table__json_top_k(probe->table));
	if (table__others_keys(probe->table))
		fields__put(to, "others", table__json_others(probe->table));
	for (unsigned int i = 0; i < RUN_MORE; i++)
		if (probe->more[i])
			fields__put(to, run__more(i), table__json_top_k(probe->more[i]));
}

/* Totals of the slow samples, and all pairs of victim and culprit. */
static struct json_object *why(const struct run_why *of)
{
	struct json_object *object = json_object_new_object();

	/* not known of a part of a recording */
	fields__put(object, "slow",
		    of->slow || !of->slow_ns ? json_object_new_uint64(of->slow) : NULL);
	fields__count(object, "slow_ns", of->slow_ns);
	fields__count(object, "over_least_ns", of->over_low_ns);
	fields__count(object, "over_most_ns", of->over_high_ns);
	fields__count(object, "events_sent", of->sent);
	fields__count(object, "events_dropped", of->dropped);
	fields__put(object, "pairs", table__json_top_k(of->parts));
	if (table__others_keys(of->parts))
		fields__put(object, "others", table__json_others(of->parts));
	return object;
}

static void put_coverage(struct json_object *to, const struct run *run,
			 const struct run_probe *probe)
{
	struct json_object *object;
	struct coverage coverage;
	bool known;

	if (!coverage__of(&coverage, run, probe))
		return;
	known = coverage.samples_ns != UINT64_MAX;
	object = json_object_new_object();
	fields__text(object, "stall_of", coverage.words->resource);
	fields__count(object, "stall_ns", coverage.stall_ns);
	fields__put(object, "explained_at_most_ns",
		    known ? json_object_new_uint64(coverage.most_ns) : NULL);
	fields__count(object, "lost", coverage.lost);
	fields__put(to, "coverage", object);
}

static void put_probe(struct json_object *to, const struct run *run, const struct run_probe *probe)
{
	const struct lat_cell *primary = &probe->total.metrics[0];

	fields__text(to, "module", probe->name);
	if (probe->refused[0]) {
		fields__text(to, "refused", probe->refused);
		return;
	}
	if (!probe->nr_metrics && probe->table) {
		put_table(to, run, probe);
		return;
	}
	fields__text(to, "metric", probe->metrics[0].name);
	fields__put(to, "duration_sec", seconds(run->duration_ns));
	put_summary(to, &primary->hist, probe->tail_ns);
	fields__put(to, "accounting", probe_accounting(run, probe));
	fields__put(to, "mechanism", mechanism(run, probe));
	fields__put(to, "metrics", metrics(probe, &probe->total));
	put_coverage(to, run, probe);
	if (probe->by)
		fields__put(to, "keys", keys(probe));
	if (probe->why)
		fields__put(to, "why", why(probe->why));
}

static struct json_object *workload(const struct run *run)
{
	struct json_object *object = json_object_new_object();
	int status = run->workload_status;
	bool known = status != RUN_NOT_ENDED;

	fields__text(object, "command", run->workload);
	fields__put(object, "exit_status",
		    known && WIFEXITED(status) ? json_object_new_int(WEXITSTATUS(status)) : NULL);
	fields__put(object, "signal",
		    known && WIFSIGNALED(status) ? json_object_new_int(WTERMSIG(status)) : NULL);
	if (run->workload_uncounted)
		fields__put(object, "outlived", NULL);
	else
		fields__count(object, "outlived", run->workload_outlived);
	return object;
}

static struct json_object *labels(const struct run *run)
{
	struct json_object *object = json_object_new_object();

	for (unsigned int i = 0; i < run->nr_labels; i++) {
		char name[RUN_NAME];

		/* Keys that are equal when printed share one member. */
		sanitize__text(name, sizeof(name), run->labels[i].key);
		fields__text(object, name, run->labels[i].value);
	}
	return object;
}

/* What the kernel's counters of the cgroup that filters gained. */
static struct json_object *cgroup(const struct run_pressure *pressure)
{
	struct json_object *object = json_object_new_object();
	uint64_t gained;

	fields__text(object, "path", pressure->cgroup);
	fields__text(object, "unknown", pressure->why[0] ? pressure->why : NULL);
	for (unsigned int i = 0; i < PRESSURE_COLUMNS; i++) {
		bool known = pressure__gained(pressure->table, i, &gained);

		fields__put(object, pressure_columns[i].name,
			    known ? json_object_new_uint64(gained) : NULL);
	}
	return object;
}

static void put_run(struct json_object *to, const struct run *run, const char *filter)
{
	if (run->span_to_ns) {
		fields__put(to, "span_from_sec", seconds(run->span_from_ns));
		fields__put(to, "span_to_sec", seconds(run->span_to_ns));
	}
	fields__text(to, "start_utc", run->start_utc);
	fields__put(to, "workload", run->workload ? workload(run) : NULL);
	fields__text(to, "filter", filter);
	if (run->pressure.cgroup)
		fields__put(to, "cgroup", cgroup(&run->pressure));
	fields__put(to, "host", run->host ? json_tokener_parse(run->host) : NULL);
	fields__put(to, "labels", labels(run));
	fields__flag(to, "complete", run->complete);
	fields__flag(to, "running", run->running);
}

struct json_object *json__summary(const struct run *run, const struct run_probe *probe)
{
	struct json_object *object = json_object_new_object();

	fields__put(object, "schema", json_object_new_int(RUN_SCHEMA));
	put_probe(object, run, probe);
	put_run(object, run, probe->filter);
	return object;
}

struct json_object *json__run(const struct run *run)
{
	struct json_object *object = json_object_new_object();
	struct json_object *probes = json_object_new_array();

	fields__put(object, "schema", json_object_new_int(RUN_SCHEMA));
	fields__put(object, "duration_sec", seconds(run->duration_ns));
	put_run(object, run, run->filter);
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		struct json_object *probe = json_object_new_object();

		put_probe(probe, run, &run->probes[i]);
		json_object_array_add(probes, probe);
	}
	fields__put(object, "probes", probes);
	return object;
}

struct json_object *json__interval(const struct run *run, const struct run_interval *interval)
{
	struct json_object *object = json_object_new_object();
	struct json_object *probes = json_object_new_array();

	fields__put(object, "schema", json_object_new_int(RUN_SCHEMA));
	fields__put(object, "start_sec", seconds(interval->start_ns));
	fields__put(object, "end_sec", seconds(interval->end_ns));
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		const struct run_probe *probe = &run->probes[i];
		struct json_object *one;

		if (probe->refused[0])
			continue;
		one = json_object_new_object();
		fields__text(one, "module", probe->name);
		if (probe->nr_metrics)
			fields__put(one, "metrics", metrics(probe, &interval->delta[i]));
		if (probe->table)
			fields__put(one, "rows", table__json_rows(probe->table));
		for (unsigned int j = 0; j < RUN_MORE; j++)
			if (probe->more[j])
				fields__put(one, run__more(j), table__json_rows(probe->more[j]));
		if (probe->why)
			fields__put(one, "why", table__json_rows(probe->why->parts));
		if (probe->why)
			fields__put(one, "slow", table__json_rows(probe->why->events));
		json_object_array_add(probes, one);
	}
	fields__put(object, "probes", probes);
	if (run->pressure.table)
		fields__put(object, PRESSURE_NAME, table__json_rows(run->pressure.table));
	return object;
}
