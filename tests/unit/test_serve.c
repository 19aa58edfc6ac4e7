// SPDX-License-Identifier: BSD-2-Clause
/* The parts of serve that need no probe: exposition, exported cgroups, triggers, addresses. */
#include "sample.h"

#include <sys/sysinfo.h>

#include <net/listen.h>
#include <serve/exposition.h>
#include <serve/health.h>
#include <serve/series.h>
#include <serve/times_rows.h>
#include <serve/trigger.h>

/* What most tests fill; empty at the beginning of each. */
static struct run *run;
static struct run_data *delta;
static struct lat_hist hist;
static char text[RUN_TEXT];

static void begin(void)
{
	run = calloc(1, sizeof(*run));
	delta = calloc(RUN_PROBES, sizeof(*delta));
	assert_true(run && delta);
	memset(&hist, 0, sizeof(hist));
}

static void end(void)
{
	run__clear_data(delta);
	free(delta);
	free(run);
}

/* The text of an exposition, which is done. */
static const char *shown(struct exposition *to)
{
	bytes__add(&to->out, "", 1);
	assert_false(to->out.failed);
	return unit_keep(to->out.at);
}

/* What a histogram with one sample of each of these looks like in text. */
TEST(test_text_counts_are_exact_at_the_edges)
{
	struct exposition to = { .format = EXPOSITION_TEXT };

	sample_add(&hist, 1999, 1);
	sample_add(&hist, 2000, 2); /* the first of the next slot */
	sample_add(&hist, 4095999, 4);
	exposition__family(&to, EXPOSITION_HISTOGRAM, "a_seconds", "A.");
	exposition__histogram(&to, NULL, &hist, false);
	exposition__end(&to);
	assert_has(shown(&to), "a_seconds_bucket{le=\"1e-06\"} 0\n",
		   "a_seconds_bucket{le=\"2e-06\"} 1\n", "a_seconds_bucket{le=\"4e-06\"} 3\n",
		   "a_seconds_bucket{le=\"0.002048\"} 3\n", "a_seconds_bucket{le=\"0.004096\"} 7\n",
		   "a_seconds_bucket{le=\"+Inf\"} 7\n", "a_seconds_sum 0.016389995\n",
		   "a_seconds_count 7\n");
}

TEST(test_labels_are_escaped_and_empty_ones_absent)
{
	static const struct exposition_label labels[] = {
		{ "a", "x\"y\\z\nw" }, { "b", "" }, { "c", NULL }, { "d", "e" }, { 0 }
	};
	struct exposition to = { .format = EXPOSITION_TEXT };

	exposition__family(&to, EXPOSITION_GAUGE, "g", "G.");
	exposition__value(&to, labels, 0.5);
	exposition__value(&to, NULL, 3);
	assert_has(shown(&to), "g{a=\"x\\\"y\\\\z\\nw\",d=\"e\"} 0.5\ng 3\n");
}

/* Bucket i of schema 3 is (2^((i-1)/8), 2^(i/8)] seconds. */
TEST(test_native_buckets_have_the_upper_edges_of_the_slots)
{
	for (uint32_t slot = 1; slot < HIST_OVERFLOW_SLOT; slot++) {
		double high = (double)hist_slot_scaled_low(slot + 1) / HIST_SUB / 1e6;
		int bucket = exposition_proto__bucket(slot);

		assert_true(high <= pow(2, bucket / 8.0) * (1 + 1e-12));
		assert_true(high > pow(2, (bucket - 1) / 8.0) * (1 - 1e-12));
		assert_true(slot == 1 || bucket >= exposition_proto__bucket(slot - 1));
	}
	assert_int_equal(exposition_proto__bucket(HIST_OVERFLOW_SLOT),
			 exposition_proto__bucket(HIST_OVERFLOW_SLOT - 1) + 1);
}

TEST(test_protobuf_of_one_sample)
{
	static const unsigned char expected[] = {
		0x52, /* length of the family */
		0x0a, 1,    'h', /* name */
		0x12, 2,    'H', '.', /* help */
		0x18, 4, /* a histogram */
		0x22, 0x47, /* a metric */
	};
	struct exposition to = { .format = EXPOSITION_PROTOBUF };

	sample_add(&hist, 1000000, 3);
	exposition__family(&to, EXPOSITION_HISTOGRAM, "h", "H.");
	exposition__histogram(&to, NULL, &hist, true);
	exposition__end(&to);
	assert_false(to.out.failed);
	assert_int_equal(to.out.len, (size_t)(unsigned char)to.out.at[0] + 1);
	assert_memory_equal(to.out.at + 1, expected + 1, 9);
	bytes__free(&to.out);
}

/* A body with one histogram. */
static const char *otlp_body(struct otlp_past *past, const char *cgroup)
{
	const struct exposition_label labels[] = { { "cgroup", cgroup }, { 0 } };
	struct exposition to = {
		.format = EXPOSITION_OTLP, .start_ns = 1000, .time_ns = 2000, .past = past
	};

	exposition_otlp__begin(&to, "host");
	exposition__family(&to, EXPOSITION_GAUGE, "nothing", "No points.");
	exposition__family(&to, EXPOSITION_HISTOGRAM, "a_seconds", "A.");
	exposition__histogram(&to, labels, &hist, true);
	exposition__end(&to);
	exposition_otlp__end(&to);
	return shown(&to);
}

/* 1 ms is the lower edge of its slot, which ends at 1.024 ms: 2^(-80/8) to 2^(-79/8) s. */
TEST(test_otlp_of_one_histogram)
{
	const char *body;

	sample_add(&hist, 10, 2);
	sample_add(&hist, 1000000, 3);
	body = otlp_body(NULL, "a\"b\\");
	assert_lacks(body, "nothing");
	assert_has(body, "\"stringValue\":\"a\\\"b\\\\\"}",
		   "\"count\":\"5\",\"sum\":0.003000020,\"scale\":3,\"zeroCount\":\"2\"",
		   "\"positive\":{\"offset\":-80,\"bucketCounts\":[\"3\"]}",
		   "\"startTimeUnixNano\":\"1000\"", "\"aggregationTemporality\":2");
}

TEST(test_otlp_differences_are_those_to_the_body_before)
{
	struct otlp_past *past = otlp_past__new();

	sample_add(&hist, 1000000, 3);
	assert_has(otlp_body(past, "a"), "\"count\":\"3\"", "\"aggregationTemporality\":1");
	sample_add(&hist, 1000000, 4);
	assert_has(otlp_body(past, "a"), "\"count\":\"4\",\"sum\":0.004000000",
		   "\"startTimeUnixNano\":\"2000\"");
	assert_lacks(otlp_body(past, "a"), "a_seconds");
	memset(&hist, 0, sizeof(hist));
	sample_add(&hist, 1000000, 2); /* it began again */
	assert_has(otlp_body(past, "a"), "\"count\":\"2\"");
	assert_has(otlp_body(past, "b"), "\"count\":\"2\"");
	assert_has(otlp_body(past, "a"), "\"count\":\"2\""); /* was away: it is new */
	otlp_past__free(past);
}

TEST(test_accept_chooses_the_format)
{
	assert_int_equal(exposition__choose(NULL), EXPOSITION_TEXT);
	assert_int_equal(exposition__choose("*/*"), EXPOSITION_TEXT);
	assert_int_equal(exposition__choose("application/openmetrics-text;version=1.0.0,"
					    "text/plain;version=0.0.4;q=0.5"),
			 EXPOSITION_OPENMETRICS);
	assert_int_equal(exposition__choose("application/vnd.google.protobuf;"
					    "proto=io.prometheus.client.MetricFamily;"
					    "encoding=delimited,text/plain;q=0.3"),
			 EXPOSITION_PROTOBUF);
	assert_int_equal(exposition__choose("text/plain,application/openmetrics-text"),
			 EXPOSITION_TEXT);
}

/* ---- exported cgroups ---- */

static void set_up(unsigned int keys)
{
	run->nr_probes = 1;
	run->probes[0].nr_metrics = 1;
	for (unsigned int i = 0; i < keys; i++) {
		const struct lat_key key = { .id = i + 1, .by = LAT_BY_CGROUP };

		assert_int_equal(run__add_key(delta, &key, unit_text(i ? "/%u" : "cgroup %u", i)),
				 0);
	}
}

static uint64_t count_of(const struct series *series, const char *name)
{
	for (size_t i = 0; i < series->nr; i++)
		if (!strcmp(series->all[i].name, name))
			return sparse__count(&series->all[i].hist);
	return 0;
}

static void add_interval(struct series *series, uint64_t end_ns)
{
	const struct run_interval interval = { .end_ns = end_ns, .delta = delta };

	assert_int_equal(series__add(series, run, &interval), 0);
	run__zero_data(delta);
}

TEST(test_cgroups_beyond_the_limit_are_other)
{
	struct series series = { .most = 2 };

	set_up(5);
	for (unsigned int i = 0; i < 5; i++)
		sparse__add_slot(&delta->keys[i].hist, 7, i + 1);
	add_interval(&series, 1);
	assert_int_equal(count_of(&series, SERIES_UNKNOWN), 1);
	assert_int_equal(count_of(&series, SERIES_OTHER) + count_of(&series, "/1") +
				 count_of(&series, "/2"),
			 14);
	assert_true(count_of(&series, SERIES_OTHER) > 0);

	/* After a long pause a new one takes the place of an idle one. */
	sparse__add_slot(&delta->keys[4].hist, 7, 10);
	add_interval(&series, SERIES_IDLE_NS + 2);
	assert_int_equal(count_of(&series, "/4"), 10);
	series__free(&series);
}

TEST(test_a_new_cgroup_of_the_same_name_goes_on)
{
	const struct lat_key again = { .id = 99, .by = LAT_BY_CGROUP };
	struct series series = { .most = 10 };

	set_up(2);
	sparse__add_slot(&delta->keys[1].hist, 7, 3);
	add_interval(&series, 1);
	assert_int_equal(run__add_key(delta, &again, "/1"), 0);
	sparse__add_slot(&delta->keys[2].hist, 7, 4);
	add_interval(&series, 2);
	assert_int_equal(count_of(&series, "/1"), 7);
	assert_int_equal(series.nr, 1);

	/* The positions of the keys change: see renew.h. */
	run->probes[0].generation++;
	snprintf(delta->keys[0].name, RUN_NAME, "/new");
	sparse__add_slot(&delta->keys[0].hist, 7, 1);
	snprintf(delta->keys[1].name, RUN_NAME, "/newer");
	sparse__add_slot(&delta->keys[1].hist, 7, 2);
	add_interval(&series, 3);
	assert_int_equal(count_of(&series, "/1"), 7);
	assert_int_equal(count_of(&series, "/newer"), 2);
	series__free(&series);
}

/* ---- times ---- */

static const struct table_column parts[] = {
	{ "cgroup", "", "", TABLE_TEXT, .key = true },
	{ "life_ns", "ns", "", TABLE_INTEGER, .key = false },
	{ "cpu_ns", "ns", "", TABLE_INTEGER, false, "cpu_ns", "life_ns", 1 },
	{ "disk_ns", "ns", "", TABLE_INTEGER, false, "disk_ns", "life_ns", 1 },
};

static void set_up_parts(void)
{
	run->nr_probes = 2;
	assert_int_equal(table__new(&run->probes[1].table, parts, 4), 0);
}

static void add_parts(const char *cgroup, int64_t cpu, int64_t disk)
{
	struct table *table = run->probes[1].table;

	assert_int_equal(table__add_row(table, 0), 0);
	assert_int_equal(table__set_text(table, 0, cgroup), 0);
	table__set_integer(table, 1, cpu + disk);
	table__set_integer(table, 2, cpu);
	table__set_integer(table, 3, disk);
}

static void add_rows(struct times *times, uint64_t now_ns)
{
	assert_int_equal(times__add(times, run, now_ns), 0);
	table__rewind(run->probes[1].table);
}

static uint64_t ns_of(const struct times *times, const char *name, unsigned int column)
{
	for (size_t i = 0; i < times->nr; i++)
		if (!strcmp(times->all[i].name, name))
			return times->all[i].ns[column];
	return 0;
}

TEST(test_states_are_the_columns_that_are_parts)
{
	char state[RUN_NAME];

	set_up_parts();
	assert_false(times__state(run->probes[1].table, 1, state));
	assert_true(times__state(run->probes[1].table, 3, state));
	assert_string_equal(state, "disk");
	run__clear(run);
}

TEST(test_times_beyond_the_limit_are_other_and_none_is_lost)
{
	struct times times = { .most = 2 };
	uint64_t sum = 0;

	set_up_parts();
	for (int i = 1; i <= 5; i++)
		add_parts(unit_text("/%d", i), i, 10 * i);
	add_parts("cgroup 77", 6, 60);
	add_parts(NULL, 7, 70);
	add_rows(&times, 1);
	assert_int_equal(ns_of(&times, "/2", 3), 20);
	assert_int_equal(ns_of(&times, SERIES_OTHER, 2), 3 + 4 + 5);
	assert_int_equal(ns_of(&times, SERIES_UNKNOWN, 2), 6 + 7);

	/* (other) keeps what it has when one of them gets the place of an idle one. */
	add_parts("/2", 1, 1);
	add_parts("/5", 1, 1);
	add_rows(&times, SERIES_IDLE_NS + 2);
	assert_int_equal(ns_of(&times, "/2", 2), 3);
	assert_int_equal(ns_of(&times, "/5", 2), 1);
	assert_int_equal(ns_of(&times, SERIES_OTHER, 2), 3 + 4 + 5);
	for (size_t i = 0; i < times.nr; i++)
		sum += times.all[i].ns[1];
	assert_int_equal(sum, 0); /* the whole is no part */
	times__free(&times);
	run__clear(run);
}

TEST(test_cgroups_of_a_service_are_one_row_of_each_state)
{
	const struct clickhouse_batch batch = { .host = "h", .run = "r", .kernel = "k" };
	struct times times = { .most = 5 };
	struct bytes to = { 0 };
	uint32_t rows = 0;
	const char *shown_rows;

	set_up_parts();
	snprintf(run->probes[1].name, RUN_NAME, "where");
	add_parts("/a/web.service", 1, 20);
	add_parts("/b/web.service", 2, 40);
	add_parts("/c/db.service", 0, 5);
	add_rows(&times, 1);
	assert_int_equal(times_rows__put(&times, run, &batch, &to, &rows), 0);
	bytes__add(&to, "", 1);
	shown_rows = unit_keep(to.at);
	assert_int_equal(rows, 2 + 1 + 2);
	assert_has(shown_rows, "where\tcpu\tservice\tweb.service\tk\t\t[]\t[]\t[]\t0\t3\t",
		   "where\tdisk\tservice\tweb.service\tk\t\t[]\t[]\t[]\t0\t60\t",
		   "where\tdisk\tservice\tdb.service\tk\t\t[]\t[]\t[]\t0\t5\t",
		   "where\tcpu\t\t\tk\t\t[]\t[]\t[]\t0\t3\t",
		   "where\tdisk\t\t\tk\t\t[]\t[]\t[]\t0\t65\t");
	memset(&to, 0, sizeof(to));
	assert_int_equal(times_rows__put(&times, run, &batch, &to, &rows), 0);
	assert_int_equal(to.len, 0); /* they are stored once */
	times__free(&times);
	run__clear(run);
}

/* As those of histograms, so that both can be joined. */
TEST(test_a_long_path_has_the_name_of_other_metrics)
{
	struct times times = { .most = 2 };
	char path[200] = "/", name[RUN_NAME];

	set_up_parts();
	memset(path + 1, 'x', sizeof(path) - 2);
	names__shorten(path, name, sizeof(name));
	assert_int_equal(strlen(name), RUN_NAME - 1);
	add_parts(path, 1, 2);
	add_rows(&times, 1);
	assert_int_equal(ns_of(&times, name, 3), 2);
	assert_string_equal(times.all[0].path, path);
	times__free(&times);
	run__clear(run);
}

/* ---- triggers ---- */

TEST(test_conditions_are_parsed)
{
	struct trigger trigger;

	assert_int_equal(trigger__parse(&trigger, "runqlat.p99.9>5ms for 10s"), 0);
	assert_string_equal(trigger.probe, "runqlat");
	assert_string_equal(trigger.metric, "");
	assert_true(fabs(trigger.quantile - 0.999) < 1e-9 && trigger.above == 5e6);
	assert_int_equal(trigger.for_ns, 10000000000);
	assert_int_equal(trigger__parse(&trigger, " iolat.device.max > 1s"), 0);
	assert_string_equal(trigger.metric, "device");
	assert_int_equal(trigger__parse(&trigger, "iolat.rate>100"), 0);
	assert_int_equal(trigger__parse(&trigger, "iolat.p0>1s"), -ENOENT);
	assert_int_equal(trigger__parse(&trigger, "iolat.p100>1s"), -ENOENT);
	assert_int_equal(trigger__parse(&trigger, "iolat>1s"), -EINVAL);
	assert_int_equal(trigger__parse(&trigger, ".p99>1s"), -EINVAL);
	assert_int_equal(trigger__parse(&trigger, "iolat.p99>"), -EINVAL);
	assert_int_equal(trigger__parse(&trigger, "iolat.p99>1s for"), -EINVAL);
}

TEST(test_a_condition_must_hold_without_a_pause)
{
	struct trigger trigger;

	set_up(0);
	snprintf(run->probes[0].name, RUN_NAME, "runqlat");
	assert_int_equal(trigger__parse(&trigger, "runqlat.p50>1ms for 2s"), 0);
	assert_true(trigger__applies(&trigger, run));
	sample_add(&delta->metrics[0].hist, 2000000, 10);
	assert_false(trigger__test(&trigger, run, delta, 1000000000));
	run__zero_data(delta); /* no samples: not met */
	assert_false(trigger__test(&trigger, run, delta, 1000000000));
	sample_add(&delta->metrics[0].hist, 2000000, 10);
	assert_false(trigger__test(&trigger, run, delta, 1000000000));
	assert_true(trigger__test(&trigger, run, delta, 1000000000));
	assert_int_equal(trigger__parse(&trigger, "memlat.p50>1ms"), 0);
	assert_false(trigger__applies(&trigger, run));
}

TEST(test_health_is_that_every_probe_accounts_for_each_event)
{
	struct lat_cell *cell = &run->probes[1].total.metrics[1];

	run->nr_probes = 2;
	snprintf(run->probes[0].refused, RUN_TEXT, "no such event");
	snprintf(run->probes[1].refused, RUN_TEXT, "no such event");
	assert_false(health__is_good(run, text));
	assert_string_equal(text, "no probe measures");

	run->probes[1].refused[0] = '\0';
	run->probes[1].nr_metrics = 2;
	snprintf(run->probes[1].name, RUN_NAME, "iolat");
	snprintf(run->probes[1].metrics[1].name, RUN_NAME, "queued");
	cell->counts[LAT_SEEN] = 1000000;
	cell->counts[LAT_FILTERED] = 999000;
	cell->hist.slots[9] = 1000;
	assert_true(health__is_good(run, text));
	assert_string_equal(text, "ok");
	cell->counts[LAT_FILTERED] = 0;
	assert_false(health__is_good(run, text));
	assert_string_equal(text, "iolat queued: 999000 events are not accounted for");
	cell->counts[LAT_SEEN] = 500;
	assert_false(health__is_good(run, text));
	assert_string_equal(text, "iolat queued: 500 events are counted twice");
	run->probes[0].nr_metrics = 1; /* it does not measure */
	run->probes[0].total.metrics[0].counts[LAT_SEEN] = 1000000;
	cell->counts[LAT_SEEN] = 1000;
	assert_true(health__is_good(run, text));
}

/* One event per CPU can be between two of its counts when the cells are read. */
TEST(test_health_allows_an_event_in_progress_on_each_cpu)
{
	run->nr_probes = 1;
	run->probes[0].nr_metrics = 1;
	run->probes[0].total.metrics[0].counts[LAT_SEEN] = (uint64_t)get_nprocs_conf();
	assert_true(health__is_good(run, text));
	run->probes[0].total.metrics[0].counts[LAT_SEEN]++;
	assert_false(health__is_good(run, text));
}

TEST(test_addresses)
{
	static const struct {
		const char *text, *shown;
		bool is_local;
	} good[] = {
		{ "127.0.0.1:9469", "127.0.0.1:9469", true },
		{ "[::1]:1", "[::1]:1", true },
		{ ":9469", "127.0.0.1:9469", true },
		{ "0.0.0.0:0", "0.0.0.0:0", false },
		{ "[::]:80", "[::]:80", false },
		{ "127.1.2.3:5", "127.1.2.3:5", true },
	};
	static const char *const bad[] = { "",	      "9469",	  "a:1",	"::1:80",
					   "1.2.3:4", "1.2.3.4:", "1.2.3.4:-1", "[::1]" };
	struct listen_address address;

	for (size_t i = 0; i < COUNT_OF(good); i++) {
		assert_int_equal(listen__parse(&address, good[i].text), 0);
		assert_string_equal(address.text, good[i].shown);
		assert_int_equal(address.is_local, good[i].is_local);
	}
	for (size_t i = 0; i < COUNT_OF(bad); i++)
		assert_int_equal(listen__parse(&address, bad[i]), -EINVAL);
}

UNIT_FIXTURES(.each = { begin, end })
