// SPDX-License-Identifier: BSD-2-Clause
#include "metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <core/cgroup_name.h>
#include <core/counts.h>
#include <core/sanitize.h>
#include <core/summary.h>
#include <host/account.h>

#define EACH_PROBE(probe, run)                                  \
	for (const struct run_probe *probe = (run)->probes;     \
	     probe < (run)->probes + (run)->nr_probes; probe++) \
		if (!probe->refused[0])

/* A value with one label. */
static void put_labelled(struct exposition *to, const char *name, const char *label, double value)
{
	const struct exposition_label labels[] = { { name, label }, { 0 } };

	exposition__value(to, labels, value);
}

/* A family with one value. */
static void put_one(struct exposition *to, enum exposition_type type, const char *name,
		    const char *help, double value)
{
	exposition__family(to, type, name, help);
	exposition__value(to, NULL, value);
}

static double seconds(uint64_t ns)
{
	return (double)ns / 1e9;
}

/* "handle_mm_fault", "run queue" to a part of a name. */
static void make_name(char name[EXPOSITION_NAME], const char *prefix, const struct run_probe *probe,
		      const struct run_metric *metric)
{
	snprintf(name, EXPOSITION_NAME, "latscope_%s%.40s_%.60s_seconds", prefix, probe->name,
		 metric->name);
	for (char *at = name; *at; at++)
		if (*at == ' ' || *at == '-')
			*at = '_';
}

static void put_whole(const struct run_probe *probe, struct exposition *to)
{
	char name[EXPOSITION_NAME], help[RUN_TEXT];

	for (unsigned int i = 0; i < probe->nr_metrics; i++) {
		make_name(name, "", probe, &probe->metrics[i]);
		snprintf(help, sizeof(help), "Whole machine: %.200s.", probe->metrics[i].what);
		exposition__family(to, EXPOSITION_HISTOGRAM, name, help);
		exposition__histogram(to, NULL, &probe->total.metrics[i].hist, false);
	}
}

static void put_series(const struct series *series, unsigned int index,
		       const struct run_probe *probe, unsigned int metric, struct exposition *to)
{
	char name[EXPOSITION_NAME], help[RUN_TEXT];
	struct lat_hist hist;

	make_name(name, "cgroup_", probe, &probe->metrics[metric]);
	snprintf(help, sizeof(help), "By cgroup: %.200s.", probe->metrics[metric].what);
	exposition__family(to, EXPOSITION_HISTOGRAM, name, help);
	for (size_t i = 0; i < series->nr; i++) {
		const struct exported *one = &series->all[i];
		const struct exposition_label labels[] = { { "cgroup", one->name }, { 0 } };

		if (one->probe == index && one->metric == metric)
			exposition__histogram(to, labels, sparse__expand(&one->hist, &hist), true);
	}
}

static void put_times(const struct times *times, const struct run *run, struct exposition *to)
{
	exposition__family(to, EXPOSITION_COUNTER, "latscope_time_seconds_total",
			   "Time of threads by what they did; the states sum to their life.");
	for (size_t i = 0; i < times->nr; i++) {
		const struct spent *one = &times->all[i];
		const struct table *table = run->probes[one->probe].table;
		char state[RUN_NAME];
		const struct exposition_label labels[] = { { "cgroup", one->name },
							   { "state", state },
							   { 0 } };

		for (unsigned int j = 0; j < table__columns(table); j++)
			if (times__state(table, j, state))
				exposition__value(to, labels, seconds(one->ns[j]));
	}
}

/* Has an earlier one, below `end`, the same cgroup? */
static bool is_known(const struct series *series, size_t end, const char *name)
{
	for (size_t i = 0; i < end; i++)
		if (!strcmp(series->all[i].name, name))
			return true;
	return false;
}

static void put_cgroup(const char *cgroup, const char *whole, struct exposition *to)
{
	struct cgroup_name name;
	char path[4096];
	const struct exposition_label labels[] = { { "cgroup", cgroup },
						   { "path", path },
						   { "unit", name.unit },
						   { "container", name.container },
						   { "runtime", name.runtime },
						   { "pod", name.pod },
						   { 0 } };

	cgroup_name__parse(&name, whole);
	sanitize__in_place(name.unit);
	sanitize__in_place(name.container);
	sanitize__text(path, sizeof(path), whole);
	exposition__value(to, labels, 1);
}

static void put_cgroups(const struct series *series, const struct times *times,
			struct exposition *to)
{
	exposition__family(to, EXPOSITION_GAUGE, "latscope_cgroup_info",
			   "What the path of a cgroup says; the value is always 1.");
	for (size_t i = 0; i < series->nr; i++) {
		const struct exported *one = &series->all[i];

		if (one->path && !is_known(series, i, one->name))
			put_cgroup(one->name, one->path, to);
	}
	for (size_t i = 0; i < times->nr; i++) {
		const struct spent *one = &times->all[i];

		if (one->path[0] && !is_known(series, series->nr, one->name))
			put_cgroup(one->name, one->path, to);
	}
}

static void put_histograms(const struct metrics *metrics, struct exposition *to)
{
	const struct run *run = metrics->run;

	EACH_PROBE(probe, run)
	put_whole(probe, to);
	EACH_PROBE(probe, run)
	for (unsigned int i = 0; probe->by && i < probe->nr_metrics; i++)
		put_series(metrics->series, (unsigned int)(probe - run->probes), probe, i, to);
	put_times(metrics->times, run, to);
	put_cgroups(metrics->series, metrics->times, to);
}

/* ---- can the numbers be trusted? ---- */

static void put_terms(const struct run *run, struct exposition *to)
{
	exposition__family(to, EXPOSITION_COUNTER, "latscope_accounted_events_total",
			   "Events by what became of them: seen = recorded and the other terms.");
	EACH_PROBE(probe, run)
	for (unsigned int i = 0; i < probe->nr_metrics; i++) {
		const struct lat_cell *cell = &probe->total.metrics[i];
		struct exposition_label labels[] = { { "probe", probe->name },
						     { "metric", probe->metrics[i].name },
						     { "term", "recorded" },
						     { 0 } };

		exposition__value(to, labels, (double)run__recorded(cell));
		for (unsigned int term = 0; term < LAT_TERMS; term++) {
			labels[2].value = counts__name(term);
			exposition__value(to, labels, (double)cell->counts[term]);
		}
	}
}

/* A value of each metric of a probe. False: it is not known. */
typedef bool metric_value(const struct run_probe *probe, unsigned int metric, double *value);

static bool balanced(const struct run_probe *probe, unsigned int metric, double *value)
{
	*value = !run__imbalance(&probe->total.metrics[metric]);
	return true;
}

static bool lost(const struct run_probe *probe, unsigned int metric, double *value)
{
	*value = (double)run__lost(probe, metric);
	return true;
}

static bool lost_time(const struct run_probe *probe, unsigned int metric, double *value)
{
	uint64_t ns = 0;
	bool known = run__lost_ns(probe, metric, &ns);

	*value = seconds(ns);
	return known;
}

static void put_metrics(const struct run *run, struct exposition *to, enum exposition_type type,
			const char *name, const char *help, metric_value *get)
{
	double value;

	exposition__family(to, type, name, help);
	EACH_PROBE(probe, run)
	for (unsigned int i = 0; i < probe->nr_metrics; i++) {
		const struct exposition_label labels[] = { { "probe", probe->name },
							   { "metric", probe->metrics[i].name },
							   { 0 } };

		if (get(probe, i, &value))
			exposition__value(to, labels, value);
	}
}

typedef double checked_value(const struct run_checked *checked);

static double agrees(const struct run_checked *checked)
{
	return !account__disagrees(checked);
}

static void put_check(const struct run *run, struct exposition *to, const char *name,
		      const char *help, checked_value *value)
{
	exposition__family(to, EXPOSITION_GAUGE, name, help);
	EACH_PROBE(probe, run)
	{
		const struct run_check *check = &probe->check;
		struct exposition_label labels[] = { { "probe", probe->name },
						     { "sum", "events" },
						     { "source", check->source },
						     { 0 } };

		if (check->source[0] && check->events.known)
			exposition__value(to, labels, value(&check->events));
		labels[1].value = "time";
		if (check->source[0] && check->time.known)
			exposition__value(to, labels, value(&check->time));
	}
}

static void put_cost(const struct run *run, struct exposition *to)
{
	struct summary_cost price;

	exposition__family(to, EXPOSITION_GAUGE, "latscope_probe_event_cost_seconds",
			   "CPU time of the probe per event, timed by the kernel at the start.");
	EACH_PROBE(probe, run)
	{
		summary__of_cost(&price, run, probe);
		if (price.timed && price.known)
			put_labelled(to, "probe", probe->name, price.ns_per_event / 1e9);
	}
	exposition__family(to, EXPOSITION_GAUGE, "latscope_probe_cpu_ratio",
			   "The same for all events so far, as a share of one CPU.");
	EACH_PROBE(probe, run)
	{
		summary__of_cost(&price, run, probe);
		if (price.timed && price.known)
			put_labelled(to, "probe", probe->name, price.cpu_share);
	}
}

static void put_trust(const struct run *run, struct exposition *to)
{
	put_terms(run, to);
	put_metrics(run, to, EXPOSITION_GAUGE, "latscope_accounting_balanced",
		    "1 if each event that was seen is accounted for.", balanced);
	put_metrics(run, to, EXPOSITION_COUNTER, "latscope_lost_events_total",
		    "Events that ended, but are not in the histogram.", lost);
	put_metrics(run, to, EXPOSITION_GAUGE, "latscope_lost_seconds",
		    "Upper bound of the time of these events; absent if it is not known.",
		    lost_time);
	put_check(run, to, "latscope_kernel_check_agrees",
		  "1 if the probe's sum agrees with the kernel's own account.", agrees);
	put_check(run, to, "latscope_kernel_check_off_ratio",
		  "The probe's sum minus the kernel's, as a share of the kernel's.",
		  account__off_share);
	put_cost(run, to);
}

/* ---- what runs ---- */

static void put_probes(const struct run *run, struct exposition *to)
{
	exposition__family(to, EXPOSITION_GAUGE, "latscope_probe_up",
			   "1 if the probe measures, 0 if this machine cannot.");
	for (unsigned int i = 0; i < run->nr_probes; i++)
		put_labelled(to, "probe", run->probes[i].name, !run->probes[i].refused[0]);
	exposition__family(to, EXPOSITION_GAUGE, "latscope_probe_info",
			   "How the probe measures; the value is always 1.");
	EACH_PROBE(probe, run)
	{
		const struct exposition_label labels[] = { { "probe", probe->name },
							   { "method", probe->method },
							   { "mechanism", probe->mechanism },
							   { 0 } };

		exposition__value(to, labels, 1);
	}
}

static void put_keys(const struct metrics *metrics, struct exposition *to)
{
	const struct run *run = metrics->run;

	exposition__family(to, EXPOSITION_GAUGE, "latscope_keys",
			   "Cgroups that have a row in the kernel, by metric.");
	EACH_PROBE(probe, run)
	if (probe->by)
		put_labelled(to, "probe", probe->name, (double)probe->total.nr_keys);
	put_one(to, EXPOSITION_GAUGE, "latscope_keys_limit",
		"Rows in the kernel; cgroups without a row are counted as (other).",
		metrics->max_keys);
}

/* Of this process; nothing is shown where /proc cannot be read. */
static void put_process(struct exposition *to)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long long pages;
	struct rusage usage;

	if (statm && fscanf(statm, "%*u %llu", &pages) == 1)
		put_one(to, EXPOSITION_GAUGE, "process_resident_memory_bytes",
			"Resident memory of latscope.",
			(double)pages * (double)sysconf(_SC_PAGESIZE));
	if (statm)
		fclose(statm);
	if (getrusage(RUSAGE_SELF, &usage))
		return;
	put_one(to, EXPOSITION_COUNTER, "process_cpu_seconds_total",
		"CPU time of latscope, without that of its programs in the kernel.",
		(double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			(double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
}

static void put_own(const struct metrics *metrics, struct exposition *to)
{
	exposition__family(to, EXPOSITION_GAUGE, "latscope_build_info",
			   "Version of latscope; the value is always 1.");
	put_labelled(to, "version", LATSCOPE_VERSION, 1);
	put_one(to, EXPOSITION_GAUGE, "latscope_window_seconds",
		"Time since the probes began to count.", seconds(metrics->run->duration_ns));
	put_one(to, EXPOSITION_COUNTER, "latscope_http_requests_total",
		"Requests that were answered.", (double)metrics->requests);
}

static void put_recorder(const struct recorder *recorder, struct exposition *to)
{
	struct recorder_state state = recorder__state(recorder);

	put_one(to, EXPOSITION_GAUGE, "latscope_recorder_bytes",
		"Size of the flight recorder on disk.", (double)state.bytes);
	exposition__family(to, EXPOSITION_GAUGE, "latscope_recorder_span_seconds",
			   "Time that the flight recorder has, by level.");
	for (unsigned int i = 0; i < RECORDER_LEVELS; i++)
		put_labelled(to, "level", i == RECORDER_FINE ? "fine" : "coarse",
			     seconds(state.span_ns[i]));
	put_one(to, EXPOSITION_COUNTER, "latscope_recorder_lost_intervals_total",
		"Intervals that the flight recorder could not write.", (double)state.lost);
	put_one(to, EXPOSITION_GAUGE, "latscope_recorder_writes",
		"1 if the last interval was written, 0 after an error.", !state.err);
}

/* Bodies are requests of OTLP, each with all metrics of a moment. */
static void put_otlp(const struct sender_counts *counts, struct exposition *to)
{
	exposition__family(to, EXPOSITION_COUNTER, "latscope_otlp_bodies_total",
			   "Bodies by what became of them; refused and dropped ones are lost.");
	put_labelled(to, "result", "sent", (double)counts->sent);
	put_labelled(to, "result", "refused", (double)counts->refused);
	put_labelled(to, "result", "dropped", (double)counts->dropped);
	put_one(to, EXPOSITION_COUNTER, "latscope_otlp_retries_total",
		"Bodies that were sent again.", (double)counts->retries);
	put_one(to, EXPOSITION_GAUGE, "latscope_otlp_queue_bytes",
		"Bodies that wait for the collector.", (double)counts->queued_bytes);
	put_one(to, EXPOSITION_GAUGE, "latscope_otlp_works",
		"1 if the last body was taken, 0 after an error.", !counts->fails);
}

static void put_spool_age(uint64_t oldest_s, struct exposition *to)
{
	uint64_t now_s = (uint64_t)time(NULL);

	if (!oldest_s)
		return;
	put_one(to, EXPOSITION_GAUGE, "latscope_clickhouse_spool_age_seconds",
		"How long the oldest rows have waited; absent if none waits.",
		now_s > oldest_s ? (double)(now_s - oldest_s) : 0);
}

static void put_clickhouse(const struct clickhouse_counts *counts, struct exposition *to)
{
	exposition__family(to, EXPOSITION_COUNTER, "latscope_clickhouse_rows_total",
			   "Rows by what became of them; refused and lost ones are not stored.");
	put_labelled(to, "result", "stored", (double)counts->stored);
	put_labelled(to, "result", "refused", (double)counts->refused);
	put_labelled(to, "result", "lost", (double)counts->lost);
	put_one(to, EXPOSITION_COUNTER, "latscope_clickhouse_retries_total",
		"Batches that were sent again.", (double)counts->sender.retries);
	put_one(to, EXPOSITION_COUNTER, "latscope_clickhouse_put_off_total",
		"Batches that failed several times, and wait until others are stored.",
		(double)counts->sender.put_off);
	put_one(to, EXPOSITION_GAUGE, "latscope_clickhouse_spool_rows",
		"Rows that wait for the server.", (double)counts->spool.rows);
	put_one(to, EXPOSITION_GAUGE, "latscope_clickhouse_spool_bytes",
		"Size of the file in which they wait.", (double)counts->spool.bytes);
	put_one(to, EXPOSITION_GAUGE, "latscope_clickhouse_spool_writes",
		"1 if the last batch was written to it, 0 after an error.", !counts->spool.err);
	put_spool_age(counts->spool.oldest_s, to);
	put_one(to, EXPOSITION_GAUGE, "latscope_clickhouse_works",
		"1 if the last batch was taken, 0 after an error.", !counts->sender.fails);
	if (!counts->skew_known)
		return;
	put_one(to, EXPOSITION_GAUGE, "latscope_clickhouse_clock_skew_seconds",
		"This machine's clock minus the server's, in whole seconds.", counts->skew_s);
}

void metrics__write(const struct metrics *metrics, struct exposition *to)
{
	put_own(metrics, to);
	put_probes(metrics->run, to);
	put_trust(metrics->run, to);
	put_keys(metrics, to);
	if (metrics->recorder)
		put_recorder(metrics->recorder, to);
	if (metrics->keeper) {
		put_one(to, EXPOSITION_COUNTER, "latscope_snapshots_total",
			"Snapshots made for signals and triggers.",
			(double)keeper__snapshots(metrics->keeper));
	}
	if (metrics->otlp)
		put_otlp(metrics->otlp, to);
	if (metrics->clickhouse)
		put_clickhouse(metrics->clickhouse, to);
	put_process(to);
	put_histograms(metrics, to);
	exposition__end(to);
}
