// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "core/hist.h"
#include "host/host.h"
#include "probes/ringlat/view.h"
#include "probes/ringlat/ring.h"

/* Empty at the beginning of each test. */
static struct ring_hist *hist, *empty;
static struct ring_result *result;
static char why[RUN_TEXT];

/* A method that makes the requested samples: the driver is compared with them. */
static struct {
	unsigned int windows, empties;
	uint64_t crossings;
	enum ring_verdict every_third, drop_all;
	unsigned int empties_switched; /* the first ones */
	bool odd_unhooked, seventh_backwards, seventh_back_early;
} fake;

static void begin(void)
{
	memset(&fake, 0, sizeof(fake));
	hist = calloc(1, sizeof(*hist));
	empty = calloc(1, sizeof(*empty));
	result = calloc(1, sizeof(*result));
	assert_true(hist && empty && result);
}

static void end(void)
{
	free(hist);
	free(empty);
	free(result);
}

/* Each value is in the one bucket that holds it, at every edge there is. */
TEST(buckets_hold_their_values)
{
	static const uint64_t two_41 = 1ULL << 41;
	const uint64_t values[] = { 0,	  1,	31,	    32,		4095,	4096,	       4097,
				    8191, 8192, two_41 / 2, two_41 - 1, two_41, UINT64_MAX - 1 };

	for (size_t i = 0; i < COUNT_OF(values); i++) {
		struct ring_bucket bucket = { 0 };

		memset(hist, 0, sizeof(*hist));
		ring_hist__add(hist, values[i]);
		assert_true(ring_hist__next(hist, &bucket));
		assert_int_equal(bucket.count, 1);
		assert_true(bucket.low <= values[i] && values[i] < bucket.high);
		if (values[i] < RING_EXACT)
			assert_int_equal(bucket.high - bucket.low, 1);
		else if (values[i] < two_41)
			assert_true((bucket.high - bucket.low) * 32 <= bucket.low);
		assert_false(ring_hist__next(hist, &bucket));
	}
}

/* Against the sorted samples: exact below RING_EXACT, within 1/32 above. */
TEST(quantiles_are_those_of_the_samples)
{
	enum { NR = 10007 };
	static uint64_t values[NR];
	static const unsigned int permilles[] = { 1, 250, 500, 900, 990, 999, 1000 };

	for (unsigned int shift = 0; shift < 2; shift++) {
		memset(hist, 0, sizeof(*hist));
		for (size_t i = 0; i < NR; i++) {
			values[i] = (unit_random() % 4000) << shift * 8;
			ring_hist__add(hist, values[i]);
		}
		qsort(values, NR, sizeof(values[0]), unit_by_value);
		for (size_t i = 0; i < COUNT_OF(permilles); i++) {
			uint64_t rank = (NR * permilles[i] + 999) / 1000;
			double wanted = (double)values[rank - 1];
			double got = ring_hist__quantile(hist, permilles[i]);

			if (wanted < RING_EXACT)
				assert_true(got == wanted);
			else
				assert_true(got >= wanted * 31 / 32 && got <= wanted * 33 / 32);
		}
		assert_int_equal(hist->min, values[0]);
		assert_int_equal(hist->max, values[NR - 1]);
	}
}

/* If a bucket has more than one value, none is returned that no sample can have had. */
TEST(quantiles_lie_between_the_ends)
{
	static const uint64_t values[] = { RING_EXACT, RING_EXACT + 1, 7980, 7991, 1ULL << 41 };

	for (size_t i = 0; i < COUNT_OF(values); i++) {
		memset(hist, 0, sizeof(*hist));
		ring_hist__add(hist, values[i]);
		assert_true(ring_hist__quantile(hist, 1) == (double)values[i]);
		assert_true(ring_hist__quantile(hist, 500) == (double)values[i]);
		ring_hist__add(hist, values[i] + 3);
		assert_true(ring_hist__quantile(hist, 1) >= (double)values[i]);
		assert_true(ring_hist__quantile(hist, 1000) <= (double)values[i] + 3);
	}
}

TEST(baseline_is_taken_off)
{
	struct ring_summary summary;

	ring_summary__of(&summary, hist, ring_hist__quantile(empty, 500));
	assert_int_equal(summary.kept, 0);
	assert_true(summary.p50 == 0 && summary.mean == 0);
	for (unsigned int i = 0; i < 3; i++)
		ring_hist__add(empty, 40 + i); /* median 41 */
	for (unsigned int i = 0; i < 4; i++)
		ring_hist__add(hist, 141 + 10 * i);
	ring_hist__add(hist, 5); /* a window that was shorter than an empty one: 0, not wrapped */
	ring_summary__of(&summary, hist, ring_hist__quantile(empty, 500));
	assert_int_equal(summary.kept, 5);
	assert_true(summary.baseline == 41);
	assert_true(summary.min == 0);
	assert_true(summary.p50 == 110);
	assert_true(summary.max == 130);
	assert_true(summary.mean > 84.79 &&
		    summary.mean < 84.81); /* (141 + ... + 171 + 5) / 5 - 41 */
}

/* 1000 samples from 1000 cycles on, each 1 % longer than the one before. */
TEST(statistics_have_the_right_names)
{
	struct ring_summary summary;
	double cycles[1001] = { 1000 };

	for (unsigned int rank = 1; rank <= 1000; rank++) {
		cycles[rank] = cycles[rank - 1] * 1.01;
		ring_hist__add(hist, (uint64_t)cycles[rank]);
	}
	ring_summary__of(&summary, hist, ring_hist__quantile(empty, 500));
	assert_true(fabs(summary.p50 / cycles[500] - 1) < 1.0 / 32);
	assert_true(fabs(summary.p99 / cycles[990] - 1) < 1.0 / 32);
	assert_true(fabs(summary.p999 / cycles[999] - 1) < 1.0 / 32);
	assert_true(summary.p999 > summary.p99);
}

TEST(ns_follow_the_tsc)
{
	struct lat_hist ns;

	for (unsigned int i = 0; i < 10; i++)
		ring_hist__add(hist, 1050);
	ring_hist__add(hist, 40050);
	ring_hist__to_ns(hist, 50, 2500000, 16000, &ns); /* 2.5 GHz: 400 ns and 16 us */
	assert_int_equal(hist__count(&ns), 11);
	assert_int_equal(ns.slots[hist_slot(400)], 10);
	assert_int_equal(ns.max_ns, 16000);
	assert_int_equal(ns.sum_ns, 20000);
	assert_int_equal(hist__quantile_ns(&ns, 1), 16000);
	assert_true(ring__ns(1000, 0) == 0);
}

static const struct ring_event way_and_back = { "fault", "a fault", false };
static const struct ring_event round_trip = { "syscall", "a call", true };
static const struct ring_method kvm = { .name = "kvm", .mechanism = "a guest" };

TEST(result_becomes_a_module)
{
	struct run_probe *module = calloc(1, sizeof(*module));
	struct ring_count *count = &result->events[0];

	result->method = &kvm;
	result->tsc_khz = 1000000;
	result->where.place = RING_NESTED;
	result->nr_events = 2;
	count->event = &way_and_back;
	count->nr_ways = RING_WAYS;
	count->attempted = 1000;
	count->kept = 1;
	count->misses[RING_SWITCHED] = 900;
	count->misses[RING_VM_EXITS] = 90;
	count->misses[RING_NOT_HOOKED] = 7;
	count->misses[RING_BACKWARDS] = 2;
	ring_hist__add(&count->ways[RING_USER_TO_KERNEL], 300);
	ring_hist__add(&count->ways[RING_KERNEL_TO_USER], 200);
	ring_hist__add(&count->empty[RING_USER_TO_KERNEL], 100);
	ring_hist__add(&count->empty[RING_KERNEL_TO_USER], 50);
	result->events[1].event = &round_trip;
	result->events[1].nr_ways = 1;
	ring_result__to_probe(result, 8000, module);

	assert_string_equal(module->name, "ringlat");
	assert_string_equal(module->method, "kvm");
	assert_has(module->mechanism, "nested");
	assert_int_equal(module->nr_metrics, 3);
	assert_string_equal(module->metrics[0].name, "fault_u2k");
	assert_string_equal(module->metrics[1].name, "fault_k2u");
	assert_string_equal(module->metrics[2].name, "syscall");
	assert_int_equal(module->total.metrics[0].hist.sum_ns, 200);
	assert_int_equal(module->total.metrics[1].hist.sum_ns, 150);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(run__imbalance(&module->total.metrics[i]), 0);
	assert_int_equal(module->total.metrics[0].counts[LAT_EXCLUDED], 990);
	assert_int_equal(module->total.metrics[0].counts[LAT_MISSED_START], 7);
	assert_int_equal(module->total.metrics[0].counts[LAT_NEGATIVE], 2);
	free(module);
}

/* Descriptions of machines, and the names that they must get. */
static const struct {
	unsigned int cpuid_cycles, empty_cycles;
	const char *signature; /* NULL: CPUID reports no hypervisor */
	bool guest;
	const char *vendor; /* of the DMI; NULL: none */
	enum ring_place place;
	const char *evidence;
} places[] = {
	{ 150, 0, NULL, false, "Dell Inc.", RING_BARE_METAL, "no sign of a hypervisor" },
	{ 150, 0, NULL, false, NULL, RING_BARE_METAL, "no sign of a hypervisor" },
	{ 0, 0, NULL, false, NULL, RING_VIRTUAL, "unknown" },
	{ 1500, 0, NULL, false, "Dell Inc.", RING_VIRTUAL, "something intercepts it" },
	{ 150, 0, NULL, false, "QEMU", RING_VIRTUAL, "calls itself 'QEMU'" },
	{ 1500, 0, "KVMKVMKVM", false, "Amazon EC2", RING_VIRTUAL, "'KVMKVMKVM'" },
	{ 150, 0, "", false, NULL, RING_VIRTUAL, "''" },
	{ 30000, 0, "KVMKVMKVM", false, NULL, RING_NESTED, "30000 cycles" },
	{ 1500, 0, "KVMKVMKVM", true, NULL, RING_NESTED, "latscope's own guest" },
	{ 150, 0, NULL, true, NULL, RING_BARE_METAL, "no sign" },
	{ 900, 0, "TCGTCGTCGTCG", true, "QEMU", RING_EMULATED, "TCG" },
	{ 2, 1, NULL, false, NULL, RING_EMULATED, "counts instructions" },
	{ 150, 44, NULL, false, "Bochs", RING_EMULATED, "Bochs" },
};

TEST(place_is_recognised)
{
	for (size_t i = 0; i < COUNT_OF(places); i++) {
		struct ring_facts facts = { .hypervisor = places[i].signature,
					    .cpuid_cycles = places[i].cpuid_cycles,
					    .empty_cycles = places[i].empty_cycles,
					    .guest = places[i].guest };
		struct ring_where where;

		unit_empty_dir();
		if (places[i].signature)
			strcpy(facts.signature, places[i].signature);
		if (places[i].vendor)
			unit_write(dir, "sys/class/dmi/id/sys_vendor", places[i].vendor);
		ring_where__judge(&where, &facts, NULL, dir);
		if (where.place != places[i].place || !strstr(where.evidence, places[i].evidence))
			fail_msg("%zu: %s: %s", i, ring_place__name(where.place), where.evidence);
		assert_string_equal(where.cpu_model, "not known");
		assert_string_equal(where.kpti, "not known");
	}
}

TEST(xen_domain_is_virtual)
{
	struct ring_facts facts = { .cpuid_cycles = 150 };
	struct ring_where where;

	unit_write(dir, "sys/hypervisor/type", "xen\n");
	ring_where__judge(&where, &facts, NULL, dir);
	assert_int_equal(where.place, RING_VIRTUAL);
	assert_string_equal(where.evidence, "the machine calls itself 'xen'");
}

#define VULNERABILITIES "sys/devices/system/cpu/vulnerabilities/"

static const struct {
	const char *meltdown, *spectre_v2, *retbleed, *mds, *flags;
	const char *line;
} mitigations[] = {
	{ "Mitigation: PTI", "Mitigation: IBRS, IBPB: conditional", "Mitigation: IBRS",
	  "Mitigation: Clear CPU buffers; SMT vulnerable", "fpu",
	  "KPTI yes, IBRS at each entry, retbleed: IBRS, VERW yes, FRED no" },
	{ "Not affected", "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional",
	  "Not affected", "Not affected", "fpu fred",
	  "KPTI no, IBRS enhanced, retbleed: Not affected, VERW no, FRED yes" },
	{ "Vulnerable", "Vulnerable", "Vulnerable",
	  "Vulnerable: Clear CPU buffers attempted, no "
	  "microcode",
	  "fpu", "KPTI no, IBRS no, retbleed: Vulnerable, VERW yes, FRED no" },
};

TEST(mitigations_are_reported)
{
	char text[RING_MITIGATIONS_TEXT];
	struct ring_facts facts = { .cpuid_cycles = 150 };
	struct ring_where where;

	for (size_t i = 0; i < COUNT_OF(mitigations); i++) {
		char *host;

		unit_write(dir, VULNERABILITIES "meltdown", mitigations[i].meltdown);
		unit_write(dir, VULNERABILITIES "spectre_v2", mitigations[i].spectre_v2);
		unit_write(dir, VULNERABILITIES "retbleed", mitigations[i].retbleed);
		unit_write(dir, VULNERABILITIES "mds", mitigations[i].mds);
		unit_write(dir, "proc/cpuinfo",
			   unit_text("model name : CPU X\nmicrocode : 0x7\nflags : %s\n\n",
				     mitigations[i].flags));
		host = host__describe(dir);
		ring_where__judge(&where, &facts, host, dir);
		ring_where__mitigations(&where, text);
		assert_string_equal(text, mitigations[i].line);
		assert_string_equal(where.cpu_model, "CPU X");
		assert_string_equal(where.microcode, "0x7");
		free(host);
	}
}

/* The kernel's text on a vulnerability, and whether VERW runs on the way to user mode then. */
static const struct {
	const char *vulnerability, *text, *verw;
} verws[] = {
	{ "mds", "Mitigation: Clear CPU buffers; SMT disabled", "yes" },
	{ "mds", "Vulnerable: Clear CPU buffers attempted, no microcode; SMT vulnerable", "yes" },
	{ "mds", "Vulnerable; SMT vulnerable", "no" },
	{ "tsx_async_abort", "Mitigation: Clear CPU buffers; SMT vulnerable", "yes" },
	{ "tsx_async_abort", "Vulnerable: Clear CPU buffers attempted, no microcode", "yes" },
	{ "tsx_async_abort", "Mitigation: TSX disabled", "no" },
	{ "reg_file_data_sampling", "Mitigation: Clear Register File", "yes" },
	{ "reg_file_data_sampling", "Vulnerable: No microcode", "no" },
	{ "tsa", "Mitigation: Clear CPU buffers", "yes" },
	{ "tsa", "Mitigation: Clear CPU buffers: user/kernel boundary", "yes" },
	{ "tsa", "Mitigation: Clear CPU buffers: VM", "no" },
	{ "tsa", "Vulnerable: No microcode", "no" },
	{ "mmio_stale_data", "Mitigation: Clear CPU buffers; SMT vulnerable", "not known" },
};

TEST(verw_is_reported)
{
	struct ring_facts facts = { .cpuid_cycles = 150 };

	for (size_t i = 0; i < COUNT_OF(verws); i++) {
		struct ring_where where;
		char *host;

		unit_empty_dir();
		unit_write(dir, unit_text(VULNERABILITIES "%s", verws[i].vulnerability),
			   verws[i].text);
		host = host__describe(dir);
		ring_where__judge(&where, &facts, host, dir);
		if (strcmp(where.verw, verws[i].verw))
			fail_msg("%s: %s: VERW %s", verws[i].vulnerability, verws[i].text,
				 where.verw);
		free(host);
	}
}

#define WARM_UP_EMPTIES 3 /* of the driver, for each event */

static int fake_window(struct ring *ring, unsigned int event, bool is_empty,
		       struct ring_sample *samples, unsigned int nr, char unused[RUN_TEXT])
{
	for (unsigned int i = 0; i < nr; i++) {
		uint64_t in = is_empty ? 10 : 110, out = is_empty ? 20 : 220;

		samples[i] = (struct ring_sample){ 1000, 1000 + in, 5000, 5000 + out };
		if (!is_empty && fake.odd_unhooked && i % 2)
			samples[i].kernel_in = 0;
		else if (!is_empty && fake.seventh_backwards && i % 7 == 0)
			samples[i].kernel_out = 1;
		else if (!is_empty && fake.seventh_back_early && i % 7 == 0)
			samples[i].user_in = samples[i].user_out - 1;
	}
	if (is_empty)
		return fake.empties++ < fake.empties_switched ? RING_SWITCHED : RING_KEPT;
	fake.crossings += nr;
	return fake.windows++ % 3 == 2 ? fake.every_third : fake.drop_all;
}

static const struct ring_method fake_method = {
	.name = "fake",
	.mechanism = "made up",
	.events = &way_and_back,
	.nr_events = 1,
	.window = 100,
	.window_of = fake_window,
};

static FILE *raw_to; /* for the next measure_by(); NULL: not wanted */

typedef bool go_on(const struct ring_count *count, uint64_t crossings);

/* while_it NULL: until it is done. */
static int measure_by(const struct ring_method *by, uint64_t crossings, go_on *while_it)
{
	struct ring *ring = calloc(1, sizeof(*ring));
	int err;

	fake.windows = fake.empties = 0;
	fake.crossings = 0;
	ring->method = by;
	ring__begin(ring, crossings, result);
	if (raw_to)
		ring__keep_raw(ring, raw_to);
	do
		err = ring__next(ring, why);
	while (err > 0 && (!while_it || while_it(&result->events[0], crossings)));
	if (err >= 0)
		err = ring__end(ring, why);
	free(ring);
	return err;
}

static int measure(uint64_t crossings)
{
	return measure_by(&fake_method, crossings, NULL);
}

TEST(round_trips_that_end_before_they_begin_are_dropped)
{
	struct ring_count *count = &result->events[0];
	struct ring_method method = fake_method;

	method.events = &round_trip;
	fake.seventh_back_early = true;
	assert_int_equal(measure_by(&method, 1000, NULL), 0);
	assert_int_equal(count->misses[RING_BACKWARDS], 10 * 15);
	assert_int_equal(count->kept, 1000 - 10 * 15);
	assert_int_equal(count->ways[0].max, 4000 + 220);
}

TEST(nothing_is_subtracted_like_xperf)
{
	struct run_probe *probe = calloc(1, sizeof(*probe));
	const struct ring_count *count = &result->events[0];
	struct ring_method method = fake_method;

	/* Like xperf: what is stamped is the result. */
	method.between = "nothing";
	method.gross = true;
	assert_int_equal(measure_by(&method, 1000, NULL), 0);
	assert_true(ring_count__baseline(result, count, RING_USER_TO_KERNEL) == 0);
	assert_true(ring_count__empty_cycles(count, RING_USER_TO_KERNEL) == 10);
	assert_true(ring_count__empty_cycles(count, RING_KERNEL_TO_USER) == 20);
	ringlat__print_xperf(unit_print(), result);
	assert_has(unit_printed(), "by fake", " 110.0             220.0\n",
		   " 10.0              20.0\n", " ~440              ~270\n");
	result->tsc_khz = 1000000; /* a cycle is a ns */
	ring_result__to_probe(result, 0, probe);
	assert_int_equal(probe->total.metrics[0].hist.sum_ns, 1000 * 110);
	assert_int_equal(probe->total.metrics[1].hist.sum_ns, 1000 * 220);
	assert_has(probe->mechanism, "nothing subtracted");
	free(probe);
}

/* From the file alone: the accounting and the sums of the result. */
TEST(the_raw_stamps_give_the_result)
{
	const struct ring_count *count = &result->events[0];
	unsigned long long windows = 0, kept = 0, u2k = 0, k2u = 0, exits = 0, unhooked = 0;
	unsigned long long window, crossing, stamp[4];
	char verdict[32], *line, *rest;

	fake.every_third = RING_VM_EXITS;
	fake.odd_unhooked = true;
	raw_to = unit_print();
	assert_int_equal(measure(1050), 0);
	raw_to = NULL;
	line = strtok_r(unit_printed(), "\n", &rest);
	assert_string_equal(line, "event,window,crossing,verdict,u2k_u,u2k_k,k2u_k,k2u_u");
	while ((line = strtok_r(NULL, "\n", &rest))) {
		int got = sscanf(line, "fault,%llu,%llu,%31[a-z_],%llu,%llu,%llu,%llu", &window,
				 &crossing, verdict, &stamp[0], &stamp[1], &stamp[2], &stamp[3]);

		assert_true(got == 7 || !strcmp(verdict, "vm_exits") ||
			    !strcmp(verdict, "not_hooked"));
		assert_true(crossing < 100 && window >= windows);
		windows = window;
		exits += !strcmp(verdict, "vm_exits");
		unhooked += !strcmp(verdict, "not_hooked");
		if (strcmp(verdict, "kept"))
			continue;
		kept++;
		u2k += stamp[1] - stamp[0];
		k2u += stamp[3] - stamp[2];
	}
	assert_int_equal(windows, 10);
	assert_int_equal(kept + exits + unhooked, 1050);
	assert_int_equal(kept, count->kept);
	assert_int_equal(exits, count->misses[RING_VM_EXITS]);
	assert_int_equal(unhooked, count->misses[RING_NOT_HOOKED]);
	assert_int_equal(u2k, count->ways[RING_USER_TO_KERNEL].sum);
	assert_int_equal(k2u, count->ways[RING_KERNEL_TO_USER].sum);
}

TEST(each_method_can_measure_like_xperf)
{
	for (size_t i = 0; ring_methods[i]; i++) {
		const struct ring_method *like = ring_methods[i]->like_xperf;

		assert_string_equal(like->name, ring_methods[i]->name);
		assert_true(like->gross && !ring_methods[i]->gross);
		assert_int_equal(like->nr_events, 1);
		assert_string_equal(like->events->name, RING_FRESH);
		assert_int_equal(ring_methods[i]->nr_events, RING_EVENTS);
		assert_int_equal(like->guest, ring_methods[i]->guest);
		assert_int_equal(like->capability, ring_methods[i]->capability);
		assert_true(like->window <= RING_WINDOW);
	}
}

TEST(driver_counts_everything)
{
	struct ring_count *count = &result->events[0];
	struct ring_summary summary;

	fake.every_third = RING_VM_EXITS;
	fake.odd_unhooked = fake.seventh_backwards = true;
	assert_int_equal(measure(3050), 0);
	assert_int_equal(count->attempted, 3050);
	assert_int_equal(count->attempted, count->kept + count->misses[RING_VM_EXITS] +
						   count->misses[RING_NOT_HOOKED] +
						   count->misses[RING_BACKWARDS]);
	assert_int_equal(count->misses[RING_VM_EXITS], 1000);
	assert_int_equal(count->misses[RING_NOT_HOOKED], 1025);
	assert_int_equal(count->misses[RING_BACKWARDS], 20 * 8 + 4);
	assert_int_equal(count->ways[0].count, count->kept);
	assert_int_equal(fake.crossings, 3050 + 300); /* and the warm-up, which is in no summary */
	ring_summary__of(&summary, &count->ways[RING_USER_TO_KERNEL],
			 ring_count__baseline(result, count, RING_USER_TO_KERNEL));
	assert_true(summary.min == 100 && summary.max == 100 && summary.baseline == 10);
	ring_summary__of(&summary, &count->ways[RING_KERNEL_TO_USER],
			 ring_count__baseline(result, count, RING_KERNEL_TO_USER));
	assert_true(summary.min == 200 && summary.max == 200 && summary.baseline == 20);
	assert_true(result->tsc_khz > 100000);
}

TEST(driver_gives_no_summary_of_nothing)
{
	fake.drop_all = fake.every_third = RING_VM_EXITS;
	assert_int_equal(measure(1000000), -ENODATA);
	assert_string_equal(why, "no fault was undisturbed: 6400 vm_exits");
	assert_int_equal(result->events[0].attempted, 6400); /* it gave up in time */
}

/* One window of crossings that are kept, and empty ones that are not: at first, or ever. */
TEST(driver_insists_on_a_baseline)
{
	fake.empties_switched = 20;
	assert_int_equal(measure(100), 0);
	assert_int_equal(result->events[0].kept, 100);
	assert_int_equal(result->events[0].empty[0].count, 100);
	assert_int_equal(result->events[0].empty_misses[RING_SWITCHED], 20 - WARM_UP_EMPTIES);
	fake.empties_switched = 1000;
	assert_int_equal(measure(100), -ENODATA);
	assert_string_equal(why, "no empty window for fault was undisturbed: 65 switched");
}

static bool nothing(const struct ring_count *count, uint64_t crossings)
{
	return false;
}

/* A measurement that is interrupted at once has no result, which is no error. */
TEST(driver_ends_at_once)
{
	fake.drop_all = RING_SWITCHED;
	assert_int_equal(measure_by(&fake_method, 100000, nothing), 0);
	assert_true(result->interrupted);
	assert_int_equal(result->nr_events, 0);
}

static bool no_more(const struct ring_count *count, uint64_t crossings)
{
	return count->attempted < 500;
}

TEST(driver_ends_early)
{
	assert_int_equal(measure_by(&fake_method, 100000, no_more), 0);
	assert_true(result->interrupted);
	assert_int_equal(result->events[0].attempted, 500);
	assert_int_equal(result->events[0].kept, 500);
}

UNIT_FIXTURES(.each = { begin, end })
