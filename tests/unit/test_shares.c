// SPDX-License-Identifier: BSD-2-Clause
#include "sample.h"
#include "fields.h"
#include "sheet.h"

#include "store/json.h"
#include "core/process_shares.h"
#include "print/text.h"

/* Three probes, the third with a metric that includes the first; times are round. */
static struct run *run;

static void begin(void)
{
	static const char *const names[] = { "memlat", "runqlat", "iolat" };
	struct run_data *data[3];

	run = sample_bare();
	run->nr_probes = 0;
	memset(run->probes, 0, sizeof(run->probes));
	for (unsigned int i = 0; i < 3; i++) {
		sample_metric(sample_probe(run, names[i], "x", "y"), "first", "made up");
		run->probes[i].by = 1U << LAT_BY_PROCESS;
		data[i] = &run->probes[i].total;
	}
	sample_metric(&run->probes[2], "total", "made up");
	sample_key(data[0], 12, LAT_BY_PROCESS, 0, "fio (12)", 1000000, 50);
	sample_key(data[1], 14, LAT_BY_PROCESS, 0, "make (14)", 10000000, 500);
	sample_key(data[1], 12, LAT_BY_PROCESS, 0, "fio (12)", 1000000, 1000);
	sample_key(data[1], 13, LAT_BY_PROCESS, 0, "gone (13)", 1000000, 250);
	sample_key(data[1], RUN_OTHER_ID, LAT_BY_PROCESS, 0, "(other)", 1000000, 90000);
	sample_key(data[2], 12, LAT_BY_PROCESS, 0, "fio (12)", 1000000, 1);
	sample_key(data[2], 12, LAT_BY_PROCESS, 1, "fio (12)", 1000000, 7500);
	sample_key(data[2], 12, LAT_BY_DISK, 1, "sda", 1000000, 7500);
	sample_lives(run);
}

static void end(void)
{
	sample_free(run);
}

TEST(shares)
{
	struct process_shares shares;

	assert_int_equal(process_shares__of(&shares, run), 0);
	assert_int_equal(shares.nr_columns, 3);
	assert_int_equal(shares.columns[2].metric, 1);
	assert_int_equal(shares.nr, 4);
	assert_int_equal(shares.rows[0].id, 12);
	/* 50 ms, 1 s and 7.5 s of 5 s. */
	assert_true(fabs(process_shares__wait(&shares.rows[0], 0) - 0.01) < 1e-12);
	assert_true(fabs(process_shares__wait(&shares.rows[0], 1) - 0.2) < 1e-12);
	assert_true(fabs(process_shares__wait(&shares.rows[0], 2) - 1.5) < 1e-12);
	assert_true(fabs(process_shares__threads(&shares.rows[0]) - 2) < 1e-12);
	assert_int_equal(shares.rows[1].id, 14);
	assert_true(fabs(process_shares__wait(&shares.rows[1], 1) - 0.5) < 1e-12);
	assert_int_equal(shares.rows[2].id, 13);
	assert_true(isnan(process_shares__wait(&shares.rows[2], 1)));
	assert_true(isnan(process_shares__threads(&shares.rows[2])));
	/* However long they waited. */
	assert_int_equal(shares.rows[3].id, RUN_OTHER_ID);
	process_shares__clear(&shares);
}

static size_t rows_of(void)
{
	struct process_shares shares;
	size_t nr;

	assert_int_equal(process_shares__of(&shares, run), 0);
	nr = shares.nr;
	process_shares__clear(&shares);
	return nr;
}

TEST(processes_of_no_length_and_no_processes)
{
	sample_key(&run->probes[1].total, 15, LAT_BY_PROCESS, 0, "brief (15)", 0, 3);
	assert_int_equal(rows_of(), 5);
	run__zero_data(&run->probes[1].total);
	assert_int_equal(rows_of(), 1);
}

static const char *unknown(void)
{
	struct process_shares shares;
	const char *why;

	assert_int_equal(process_shares__of(&shares, run), 0);
	why = process_shares__unknown(&shares, run);
	process_shares__clear(&shares);
	return why ? why : "";
}

TEST(why_it_is_not_known)
{
	assert_string_equal(unknown(), "the BPF iterator did not show them");
	run->nr_lives = 0;
	assert_string_equal(unknown(), "it was not recorded");
	run->complete = false;
	assert_string_equal(unknown(), "the recording was cut off");
	run->running = true;
	assert_string_equal(unknown(), "the recording is still running");
	strcpy(run->lives_why, "of some it was not kept");
	assert_string_equal(unknown(), "of some it was not kept");
	run->nr_lives = 2;
	sparse__clear(&run->probes[1].total.keys[2].hist);
	memset(&run->probes[1].total.keys[2], 0, sizeof(struct run_key));
	assert_string_equal(unknown(), "");
}

static char *text(unsigned int top)
{
	text__processes(unit_print(), run, top);
	return sheet();
}

TEST(for_people)
{
	static const char table[] =
		"process                  lived  threads     memlat    runqlat      iolat\n"
		"fio (12)                5.00 s        2     1.00 %     20.0 %      150 %\n"
		"make (14)               10.0 s        1          -     50.0 %          -\n"
		"(other)                      ?        ?          -     90.0 s          -\n"
		"1 more that waited less\n";

	assert_has(text(2), table);
	for (unsigned int i = 0; i < 3; i++)
		run->probes[i].by = 0;
	assert_string_equal(text(2), "");
}

TEST(as_json)
{
	struct json_object *object = json__run(run);

	assert_field(object, "processes/0/waits/2",
		     "{\"probe\":\"iolat\",\"metric\":\"total\",\"sum_us\":7500000,\"share\":1.5}");
	assert_null(json_object_object_get(field(object, "processes/2"), "lived_sec"));
	assert_true(fabs(field_number(object, "processes/1/lived_sec") - 10) < 1e-9);
	json_object_put(object);
}

UNIT_FIXTURES(.each = { begin, end })
