// SPDX-License-Identifier: BSD-2-Clause
#include "print/text.h"
#include "unit.h"

#include "probes/ringlat/fault_cost.h"
#include "probes/ringlat/view.h"

static struct run *run;
static struct fault_cost cost;

static void new_run(void)
{
	run = calloc(1, sizeof(*run));
	assert_non_null(run);
}

static void free_run(void)
{
	free(run);
}

static struct run_probe *add_probe(const char *name, const char *method)
{
	struct run_probe *probe = &run->probes[run->nr_probes++];

	strcpy(probe->name, name);
	strcpy(probe->method, method);
	return probe;
}

/* Ten samples of so many ns. */
static void add_metric(struct run_probe *probe, const char *name, uint64_t ns)
{
	struct lat_hist *hist = &probe->total.metrics[probe->nr_metrics].hist;

	strcpy(probe->metrics[probe->nr_metrics++].name, name);
	hist->slots[hist_slot(ns)] = 10;
	hist->sum_ns = 10 * ns;
	hist->max_ns = ns;
}

TEST(crossings_and_handler_add_up)
{
	struct run_probe *ringlat = add_probe("ringlat", "kvm");

	add_metric(ringlat, "fault_u2k", 200);
	add_metric(ringlat, "fault_k2u", 100);
	assert_false(fault_cost__of(&cost, run)); /* without memlat there is nothing between */
	add_metric(add_probe("memlat", "fentry"), "handle_mm_fault", 700);
	assert_true(fault_cost__of(&cost, run));
	assert_false(cost.round_trip);
	assert_int_equal(cost.nr_parts, 3);
	assert_string_equal(cost.parts[0].name, "u2k");
	assert_string_equal(cost.parts[1].name, "handler");
	assert_string_equal(cost.parts[2].name, "k2u");
	assert_true(cost.parts[0].mean_ns == 200 && cost.parts[1].mean_ns == 700);
	assert_true(cost.whole.mean_ns == 1000);
	assert_true(cost.whole.p50_ns ==
		    cost.parts[0].p50_ns + cost.parts[1].p50_ns + cost.parts[2].p50_ns);
}

TEST(handler_is_taken_from_a_round_trip)
{
	add_metric(add_probe("ringlat", "user"), "minor_fault", 1000);
	add_metric(add_probe("memlat", "fentry"), "handle_mm_fault", 700);
	assert_true(fault_cost__of(&cost, run));
	assert_true(cost.round_trip);
	assert_int_equal(cost.nr_parts, 2);
	assert_string_equal(cost.parts[1].name, "rest");
	assert_true(cost.parts[1].mean_ns == 300);
	assert_true(cost.whole.mean_ns == 1000);
}

TEST(nothing_is_made_up)
{
	struct run_probe *ringlat = add_probe("ringlat", "kvm"), *memlat;

	memlat = add_probe("memlat", "fentry");
	assert_false(fault_cost__of(&cost, run));
	add_metric(ringlat, "fault_u2k", 200);
	add_metric(memlat, "handle_mm_fault", 700);
	assert_false(fault_cost__of(&cost, run)); /* one way is not both */
	add_metric(ringlat, "fault_k2u", 100);
	assert_true(fault_cost__of(&cost, run));
	memset(&memlat->total.metrics[0].hist, 0, sizeof(memlat->total.metrics[0].hist));
	assert_false(fault_cost__of(&cost, run)); /* nor is a handler that no fault went to */
	strcpy(memlat->refused, "not permitted");
	assert_false(fault_cost__of(&cost, run));
}

static char *printed(void)
{
	fault_cost__print(unit_print(), run);
	return unit_printed();
}

TEST(text_says_what_is_what)
{
	struct run_probe *ringlat = add_probe("ringlat", "module");

	assert_string_equal(printed(), "");
	add_metric(ringlat, "fault_u2k", 200);
	add_metric(ringlat, "fault_k2u", 100);
	add_metric(add_probe("memlat", "fentry"), "handle_mm_fault", 700);
	assert_has(printed(), "ringlat by module, memlat by fentry (handle_mm_fault)\n",
		   " 200 ns    20.0 %\n  handler ", " 1.00 us   100.0 %\n  not included: ");
}

UNIT_FIXTURES(.each = { new_run, free_run })
