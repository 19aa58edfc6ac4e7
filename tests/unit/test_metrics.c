// SPDX-License-Identifier: BSD-2-Clause
/* What the exporter shows of a run: each value if it is known, and no line if it is not. */
#include "unit.h"

#include <serve/metrics.h>

#define QUEUE "{probe=\"runqlat\",metric=\"run_queue\"}"
#define CHECKED "{probe=\"runqlat\",sum=\"%s\",source=\"/proc/schedstat\"}"

/* The flight recorder and the snapshots are those of recorder.c and keeper.c. */
struct recorder_state recorder__state(const struct recorder *recorder)
{
	return (struct recorder_state){ 0 };
}

uint64_t keeper__snapshots(const struct keeper *keeper)
{
	return 0;
}

/* A run of one probe that knows nothing but its count of events. */
static struct run *run;
static struct run_probe *probe;
static __u64 *counts;

static void begin(void)
{
	run = calloc(1, sizeof(*run));
	probe = &run->probes[0];
	counts = probe->total.metrics[0].counts;
	run->nr_probes = 1;
	run->duration_ns = 2000000000;
	snprintf(probe->name, RUN_NAME, "runqlat");
	snprintf(probe->method, RUN_NAME, "stamps");
	probe->nr_metrics = 1;
	snprintf(probe->metrics[0].name, RUN_NAME, "run_queue");
	counts[LAT_SEEN] = 10;
	probe->total.metrics[0].hist.slots[9] = 10;
}

static void end(void)
{
	run__free(run);
}

static struct times times;

/* What /metrics shows, with a line feed before it. */
static const char *show(const struct series *series)
{
	static const struct series no_series;
	const struct metrics metrics = { .run = run,
					 .series = series ? series : &no_series,
					 .times = &times };
	struct exposition to = { .format = EXPOSITION_TEXT };

	bytes__text(&to.out, "\n");
	metrics__write(&metrics, &to);
	bytes__add(&to.out, "", 1);
	assert_false(to.out.failed);
	return unit_keep(to.out.at);
}

/* Its first line that begins with NAME and LABELS is "NAMELABELS VALUE"; NULL: there is none. */
static void expect(const char *name, const char *labels, const char *value)
{
	const char *shown = show(NULL);
	char start[256], line[512];

	snprintf(start, sizeof(start), "\n%s%s ", name, labels);
	snprintf(line, sizeof(line), "%s%s\n", start, value ? value : "");
	if (value && !strstr(shown, line))
		fail_msg("there is no%sin:%s", line, shown);
	if (!value && strstr(shown, start))
		fail_msg("there is%sin:%s", start, shown);
}

TEST(test_a_cost_that_was_not_timed_is_absent)
{
	expect("latscope_probe_event_cost_seconds", "{probe=\"runqlat\"}", NULL);
	expect("latscope_probe_cpu_ratio", "{probe=\"runqlat\"}", NULL);
	probe->cost = (struct run_cost){
		.runs = 1000, .run_ns = 250000, .timed_ns = 1000000, .timed_events = 1000
	};
	expect("latscope_probe_event_cost_seconds", "{probe=\"runqlat\"}", "2.5e-07");
	expect("latscope_probe_cpu_ratio", "{probe=\"runqlat\"}", "1.25e-06");
	probe->cost.timed_events = 1; /* too few */
	expect("latscope_probe_event_cost_seconds", "{probe=\"runqlat\"}", NULL);
}

TEST(test_a_check_that_was_not_possible_is_absent)
{
	static const char name[] = "latscope_kernel_check_agrees";
	struct run_check *check = &probe->check;
	char events[128], ns[128];

	snprintf(events, sizeof(events), CHECKED, "events");
	snprintf(ns, sizeof(ns), CHECKED, "time");
	check->events.known = check->time.known = true; /* without a source it is not */
	expect(name, "{probe=\"runqlat\",sum=\"events\"}", NULL);
	snprintf(check->source, sizeof(check->source), "/proc/schedstat");
	check->time.known = false;
	check->events = (struct run_checked){ true, 110, 110, 100, 100, 10 };
	expect(name, events, "1");
	expect("latscope_kernel_check_off_ratio", events, "0.1");
	expect(name, ns, NULL);
	expect("latscope_kernel_check_off_ratio", ns, NULL);
	check->time = (struct run_checked){ true, 89, 89, 100, 100, 10 };
	expect(name, ns, "0");
	expect("latscope_kernel_check_off_ratio", ns, "-0.11");
}

TEST(test_a_time_without_a_bound_is_absent)
{
	expect("latscope_lost_seconds", QUEUE, "0");
	counts[LAT_SEEN] += 3;
	counts[LAT_MISSED_START] = 3;
	expect("latscope_lost_events_total", QUEUE, "3");
	expect("latscope_lost_seconds", QUEUE, NULL);
	counts[LAT_MISSED_START_NS] = 1500000000;
	expect("latscope_lost_seconds", QUEUE, "1.5");
	counts[LAT_UNTIMED] = 1;
	expect("latscope_lost_seconds", QUEUE, NULL);
}

TEST(test_the_accounting_is_that_of_the_run)
{
	expect("latscope_accounting_balanced", QUEUE, "1");
	counts[LAT_SEEN]++;
	expect("latscope_accounting_balanced", QUEUE, "0");
	expect("latscope_accounted_events_total",
	       "{probe=\"runqlat\",metric=\"run_queue\",term=\"seen\"}", "11");
	expect("latscope_accounted_events_total",
	       "{probe=\"runqlat\",metric=\"run_queue\",term=\"recorded\"}", "10");
}

TEST(test_a_refused_probe_is_down_and_has_no_numbers)
{
	expect("latscope_probe_up", "{probe=\"runqlat\"}", "1");
	expect("latscope_runqlat_run_queue_seconds_count", "", "10");
	snprintf(probe->refused, RUN_TEXT, "no such event");
	expect("latscope_probe_up", "{probe=\"runqlat\"}", "0");
	expect("latscope_accounting_balanced", QUEUE, NULL);
	expect("latscope_lost_events_total", QUEUE, NULL);
	expect("latscope_runqlat_run_queue_seconds_count", "", NULL);
}

TEST(test_every_state_of_a_cgroup_is_shown_and_its_path)
{
	static const struct table_column columns[] = {
		{ "life_ns", "ns", "", TABLE_INTEGER, .key = false },
		{ "cpu_ns", "ns", "", TABLE_INTEGER, false, "cpu_ns", "life_ns", 1 },
		{ "disk_ns", "ns", "", TABLE_INTEGER, false, "disk_ns", "life_ns", 1 },
	};
	struct spent spent = { .name = "/a.service", .path = "/a.service" };

	assert_int_equal(table__new(&probe->table, columns, 3), 0);
	spent.ns[2] = 1500000000;
	times = (struct times){ .all = &spent, .nr = 1 };
	expect("latscope_time_seconds_total", "{cgroup=\"/a.service\",state=\"disk\"}", "1.5");
	expect("latscope_time_seconds_total", "{cgroup=\"/a.service\",state=\"cpu\"}", "0");
	expect("latscope_time_seconds_total", "{cgroup=\"/a.service\",state=\"life\"}", NULL);
	expect("latscope_cgroup_info",
	       "{cgroup=\"/a.service\",path=\"/a.service\",unit=\"a.service\"}", "1");
	times = (struct times){ 0 };
}

TEST(test_what_a_path_does_not_say_is_absent)
{
	struct exported all[] = { { .name = "/a.service", .path = "/a.service" },
				  { .name = "(unknown)" } };
	const struct series series = { .all = all, .nr = 2 };
	const char *shown;

	probe->by = 1U << LAT_BY_CGROUP;
	shown = show(&series);
	assert_has(shown,
		   "\nlatscope_cgroup_info{cgroup=\"/a.service\","
		   "path=\"/a.service\",unit=\"a.service\"} 1\n",
		   "\nlatscope_cgroup_runqlat_run_queue_seconds_count{"
		   "cgroup=\"(unknown)\"} 0\n");
	assert_lacks(shown, "latscope_cgroup_info{cgroup=\"(unknown)\"");
}

UNIT_FIXTURES(.each = { begin, end })
