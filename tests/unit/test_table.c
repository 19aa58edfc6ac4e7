// SPDX-License-Identifier: BSD-2-Clause
#include "fields.h"
#include "sample.h"
#include "sheet.h"

#include <sqlite3.h>

#include "store/csv.h"
#include "store/json.h"
#include "store/recording.h"
#include "store/rundb.h"
#include "print/text.h"

enum { SOCKET, TIER, LATENCY, COUNT };

static const struct table_column columns[] = {
	[SOCKET] = { "socket", "", "physical package", TABLE_INTEGER, true },
	[TIER] = { "tier", "", "tier of memory", TABLE_TEXT, true },
	[LATENCY] = { "latency_ns", "ns", "mean latency", TABLE_REAL, false },
	[COUNT] = { "requests", "", "requests", TABLE_INTEGER, false },
};

/* The mean of the cost is that of all requests, not of the rows. */
enum { COST_SUM, COST_REQUESTS, COST };

static const struct table_column ratio_columns[] = {
	[COST_SUM] = { "cost_sum", "", "of all requests", TABLE_REAL, false },
	[COST_REQUESTS] = { "requests", "", "requests", TABLE_INTEGER, false },
	[COST] = { "cost", "", "of a request", TABLE_REAL, false, "cost_sum", "requests", 10 },
};

/* A run of one probe with an empty table, a recording of it, and what is read from that. */
static struct run *run, *back;
static struct table *table;
static struct recording recording;
static const struct writer *failed;

static void begin(void)
{
	run = calloc(1, sizeof(*run));
	back = calloc(1, sizeof(*back));
	assert_true(run && back);
	strcpy(run->start_utc, "2026-11-20T23:15:00Z");
	run->host = strdup("{}");
	run->interval_ns = 1000000000;
	run->complete = true;
	assert_int_equal(table__new(&table, columns, COUNT_OF(columns)), 0);
	sample_probe(run, "tierlat", "perf", "made up")->table = table;
	memset(&recording, 0, sizeof(recording));
}

static void end(void)
{
	sample_free(run);
	sample_free(back);
}

/* latency NAN: there is none. */
static void add(uint64_t ns, int socket, const char *tier, double latency, int64_t count)
{
	assert_int_equal(table__add_row(table, ns), 0);
	table__set_integer(table, SOCKET, socket);
	assert_int_equal(table__set_text(table, TIER, tier), 0);
	table__set_real(table, LATENCY, latency);
	if (count >= 0)
		table__set_integer(table, COUNT, count);
}

TEST(set_values_are_read_back)
{
	add(10, 1, "local, \"ddr\"", 91.5, -1);
	assert_int_equal(table__rows(table), 1);
	assert_int_equal(table__time_ns(table, 0), 10);
	assert_int_equal(table__value(table, 0, SOCKET).integer, 1);
	assert_string_equal(table__value(table, 0, TIER).text, "local, \"ddr\"");
	assert_true(table__value(table, 0, LATENCY).real == 91.5);
	assert_true(table__value(table, 0, LATENCY).known);
	assert_false(table__value(table, 0, COUNT).known);
}

TEST(non_finite_values_are_unknown)
{
	add(0, 0, NULL, NAN, 0);
	add(0, 0, NULL, INFINITY, 0);
	add(0, 0, NULL, 0, 0);
	assert_false(table__value(table, 0, LATENCY).known);
	assert_false(table__value(table, 1, LATENCY).known);
	assert_true(table__value(table, 2, LATENCY).known);
	assert_false(table__value(table, 0, TIER).known);
}

TEST(rows_go_forward_in_time)
{
	add(5, 0, "a", 1, 1);
	add(5, 0, "a", 1, 1);
	assert_int_equal(table__add_row(table, 4), -EINVAL);
	assert_int_equal(table__rows(table), 2);
	assert_int_equal(table__fold(table), 0);
	assert_int_equal(table__add_row(table, 4), -EINVAL);
}

TEST(columns_have_names_that_sql_takes)
{
	static const char *const bad[] = { "",	  "A",	     "latency ns", "x\"; DROP TABLE meta",
					   "1st", "_hidden", "caf\303\251" };
	struct table_column column = { .unit = "", .what = "", .kind = TABLE_REAL };
	struct table *made;

	for (size_t i = 0; i < COUNT_OF(bad); i++) {
		column.name = bad[i];
		assert_int_equal(table__new(&made, &column, 1), -EINVAL);
	}
	assert_int_equal(table__new(&made, columns, 0), -EINVAL);
	assert_int_equal(table__new(&made, columns, TABLE_COLUMNS + 1), -EINVAL);
}

TEST(the_top_k_is_by_key)
{
	const struct table_aggregate *aggregate;

	for (unsigned int i = 0; i < 1000; i++) {
		add(i, 0, "near", i % 2 ? 100 : NAN, i);
		add(i, 0, "far", 200 + (i == 500), 1);
		if (i % 7 == 0)
			assert_int_equal(table__fold(table), 0);
	}
	assert_int_equal(table__fold(table), 0);
	assert_int_equal(table__rows(table), 0);
	assert_int_equal(table__folded_rows(table), 2000);
	assert_int_equal(table__keys(table), 2);
	assert_string_equal(table__key(table, 0, TIER).text, "near");
	assert_string_equal(table__key(table, 1, TIER).text, "far");
	aggregate = table__aggregate(table, 0, LATENCY);
	assert_int_equal(aggregate->rows, 500);
	assert_true(aggregate->sum == 50000 && aggregate->low == 100 && aggregate->high == 100);
	aggregate = table__aggregate(table, 1, LATENCY);
	assert_true(aggregate->rows == 1000 && aggregate->low == 200 && aggregate->high == 201);
	aggregate = table__aggregate(table, 0, COUNT);
	assert_true(aggregate->sum == 499500);
}

/* A fold of one row. */
static void count(int socket, const char *tier, double latency)
{
	add(0, socket, tier, latency, 1);
	assert_int_equal(table__fold(table), 0);
}

static size_t find(int socket)
{
	for (size_t key = 0; key < table__keys(table); key++)
		if (table__key(table, key, SOCKET).integer == socket)
			return key;
	fail_msg("no key of %d", socket);
	return 0;
}

/* More keys than there is room for, then some that have much, one of them bit by bit. */
TEST(heavy_keys_are_kept_whenever_they_arrive)
{
	double steady = 0;

	count(1, "early", 1e6);
	for (int i = 0; i < TABLE_KEYS; i++)
		count(1000 + i, "heavy", 100);
	for (int i = 0; i < 20 * TABLE_KEYS; i++) {
		count(100000 + i, "storm", 1);
		if (i % (TABLE_KEYS / 2) == 0) {
			count(2, "steady", 99);
			steady += 99;
		}
	}
	count(3, "late", 1e6);
	assert_true(table__keys(table) <= TABLE_KEYS);
	assert_true(table__aggregate(table, find(1), LATENCY)->sum == 1e6);
	assert_true(table__aggregate(table, find(3), LATENCY)->sum == 1e6);
	assert_true(table__aggregate(table, find(2), LATENCY)->sum + table__others_most(table) >=
		    steady);
}

/* Keys that return again and again, each time with too little to be kept. */
TEST(returning_keys_are_kept)
{
	double all = TABLE_KEYS * 500.0, of_one = 0;

	for (int i = 0; i < TABLE_KEYS / 2; i++)
		count(1000 + i, "heavy", 1000);
	for (int i = 0; i < 200; i++) {
		count(1, "back", 999);
		of_one += 999;
		for (int j = 0; j < TABLE_KEYS; j++)
			count(100000 + i * TABLE_KEYS + j, "storm", 0);
	}
	all += of_one;
	assert_true(of_one > all * 2 / TABLE_KEYS);
	assert_true(table__others_most(table) <= all * 2 / TABLE_KEYS);
	assert_true(table__aggregate(table, find(1), LATENCY)->sum + table__others_most(table) >=
		    of_one);
}

static void add_aggregate(struct table_aggregate *to, const struct table_aggregate *from)
{
	to->rows += from->rows;
	to->sum += from->sum;
}

TEST(keys_and_others_are_the_whole)
{
	struct table_aggregate whole = { 0 };
	double sum = 0;

	for (int i = 0; i < 5 * TABLE_KEYS; i++) {
		count(i * 31 % 8191, unit_text("tier %d", i * 7919 % TABLE_KEYS), i % 97);
		sum += i % 97;
	}
	for (size_t key = 0; key < table__keys(table); key++) {
		add_aggregate(&whole, table__aggregate(table, key, LATENCY));
		for (size_t other = key + 1; other < table__keys(table) && other < key + 100;
		     other++)
			assert_false(table__key(table, key, SOCKET).integer ==
					     table__key(table, other, SOCKET).integer &&
				     !strcmp(table__key(table, key, TIER).text,
					     table__key(table, other, TIER).text));
	}
	assert_true(table__others_keys(table) > TABLE_KEYS);
	add_aggregate(&whole, table__others(table, LATENCY));
	assert_int_equal(whole.rows, 5 * TABLE_KEYS);
	assert_int_equal(table__folded_rows(table), 5 * TABLE_KEYS);
	assert_true(whole.sum == sum);
	assert_true(table__others(table, LATENCY)->low == 0);
}

TEST(rows_that_stand_for_several_keys_stay)
{
	count(7, NULL, 0);
	for (int i = 0; i < 3 * TABLE_KEYS; i++)
		count(1000 + i, "near", 1);
	assert_int_equal(table__key(table, 0, SOCKET).integer, 7);
	assert_false(table__key(table, 0, TIER).known);
	count(7, NULL, 0);
	assert_int_equal(table__aggregate(table, 0, LATENCY)->rows, 2);
}

/* Even where all of them do. */
TEST(no_table_is_too_full)
{
	for (int i = 0; i < 3 * TABLE_KEYS; i++)
		count(i, NULL, NAN);
	assert_true(table__keys(table) <= TABLE_KEYS);
	assert_int_equal(table__others_keys(table) + table__keys(table), 3 * TABLE_KEYS);
}

TEST(csv_leaves_the_unknown_empty)
{
	add(1000000000, 0, "a,b", 91.25, 12);
	add(1000000001, 1, NULL, NAN, -1);
	table__csv_head(unit_print(), table);
	assert_string_equal(unit_printed(), "time_ns,socket,tier,latency_ns,requests\n");
	table__csv_rows(unit_print(), table);
	assert_string_equal(unit_printed(), "1000000000,0,\"a,b\",91.25,12\n1000000001,1,,,\n");
}

static const char *streamed(struct json_object *object, bool indented)
{
	assert_int_equal(json__print(object, unit_print(), indented), 0);
	return unit_printed();
}

TEST(json_has_null_for_the_unknown)
{
	add(7, 1, "ne\033ar", NAN, 3);
	assert_string_equal(streamed(table__json_row(table, 0), false),
			    "{\"time_ns\":7,\"socket\":1,\"tier\":\"ne?ar\",\"latency_ns\":null,"
			    "\"requests\":3}\n");
}

static struct json_object *make_string(const void *of, size_t index)
{
	return json_object_new_string(of);
}

/* Whatever puts a text or a name into JSON: control characters, bidi, bytes that are no UTF-8. */
TEST(hostile_texts_are_printed_clean)
{
	static char hostile[] = "a\033b\nc\xe2\x80\xae\"d\xff\xe2\x80\x8b\xc2\x9b";
	struct json_object *object = json_object_new_object(), *array = json_object_new_array();

	json_object_array_add(array, json_object_new_string(hostile));
	json_object_object_add(object, hostile, array);
	json_object_object_add(object, "made", json__array(1, make_string, hostile, NULL));
	json_object_object_add(object, "text", json_object_new_string(hostile));
	assert_string_equal(streamed(object, false),
			    "{\"a?b?c?\\\"d????\":[\"a?b?c?\\\"d????\"],"
			    "\"made\":[\"a?b?c?\\\"d????\"],\"text\":\"a?b?c?\\\"d????\"}\n");
}

/* json-c 0.16 prints empty ones in two lines. */
TEST(json_is_streamed_as_json_c_prints_it)
{
	static const char text[] =
		"{\"a/b\":[1,null,-2.50,true,\"x\\\\\\\"/\"],\"\\u00e4\":{\"c\":[{\"d\":0}]}}";
	struct json_object *object = json_tokener_parse(text);
	const int pretty = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;

	for (int indented = 0; indented < 2; indented++) {
		int flags = JSON_C_TO_STRING_NOSLASHESCAPE | (indented ? pretty : 0);

		assert_string_equal(streamed(json_object_get(object), indented),
				    unit_text("%s\n",
					      json_object_to_json_string_ext(object, flags)));
	}
	json_object_put(object);
	assert_string_equal(streamed(json_tokener_parse("[[],{}]"), true), "[\n  [],\n  {}\n]\n");
	assert_string_equal(streamed(json_tokener_parse("{\"\\u0001\":\"x\\n\"}"), false),
			    "{\"?\":\"x?\"}\n");
}

TEST(the_others_are_in_the_json)
{
	struct json_object *others;

	assert_null(table__json_others(table));
	for (int i = 0; i < TABLE_KEYS; i++)
		count(i, "near", i);
	others = json_tokener_parse(streamed(table__json_top_k(table), false));
	assert_int_equal(json_object_array_length(others), TABLE_KEYS);
	assert_null(table__json_others(table));
	json_object_put(others);
	count(-1, "near", 0);
	others = table__json_others(table);
	assert_true(field_number(others, "keys") == TABLE_KEYS / 2);
	assert_true(field_number(others, "most") == TABLE_KEYS / 2 - 1);
	assert_true(field_number(others, "latency_ns/rows") == TABLE_KEYS / 2);
	assert_null(json_object_object_get(others, "socket"));
	json_object_put(others);
}

static void create_recording(void)
{
	const struct recording_settings settings = { 0 };

	assert_int_equal(recording__create(&recording, dir, &settings), 0);
	assert_int_equal(recording__open(&recording, run, &failed), 0);
}

static void add_interval(uint64_t start_ns, uint64_t end_ns)
{
	static struct run_data deltas[RUN_PROBES];
	const struct run_interval interval = { .start_ns = start_ns,
					       .end_ns = end_ns,
					       .delta = deltas };

	assert_int_equal(recording__interval(&recording, run, &interval, &failed), 0);
	run->duration_ns = end_ns;
}

/* Two rows in each interval; the totals of the probe are folded. */
static void record(unsigned int intervals)
{
	create_recording();
	for (unsigned int i = 0; i < intervals; i++) {
		uint64_t end_ns = (i + 1) * 1000000000ULL;

		add(end_ns, 0, "near", 90 + i, 100);
		add(end_ns, 0, "far", i ? 180 : NAN, i ? 5 : 0);
		add_interval(end_ns - 1000000000, end_ns);
	}
	assert_int_equal(recording__close(&recording, run, &failed), 0);
	assert_null(failed);
}

static void add_cost(double sum, int64_t requests, double cost)
{
	assert_int_equal(table__add_row(table, 0), 0);
	table__set_real(table, COST_SUM, sum);
	table__set_integer(table, COST_REQUESTS, requests);
	table__set_real(table, COST, cost);
}

static void assert_mean_cost(const struct table *of, double expected)
{
	struct json_object *keys;

	assert_true(table__mean(of, 0, COST).real == expected);
	assert_true(table__mean(of, 0, COST_REQUESTS).real == 2);
	keys = json_tokener_parse(streamed(table__json_top_k(of), false));
	assert_true(field_number(keys, "0/cost/mean") == expected);
	json_object_put(keys);
}

/* In memory, in JSON and read back from a file; as the mean of the rows where a part is unknown. */
TEST(a_mean_may_be_a_ratio_of_sums)
{
	struct rundb *db;

	table__free(table);
	assert_int_equal(table__new(&table, ratio_columns, COUNT_OF(ratio_columns)), 0);
	run->probes[0].table = table;
	create_recording();
	add_cost(1, 1, 10);
	add_cost(9, 3, 30);
	add_interval(0, 1);
	assert_int_equal(recording__close(&recording, run, NULL), 0);
	assert_mean_cost(table, 25);
	assert_int_equal(rundb__open(&db, recording.dir, back), 0);
	assert_mean_cost(back->probes[0].table, 25);
	rundb__close(db);

	add_cost(NAN, 2, 80);
	assert_int_equal(table__fold(table), 0);
	assert_mean_cost(table, 40);
}

TEST(a_recording_is_read_back)
{
	struct run_interval interval;
	const struct table *read;
	struct rundb *db;

	record(3);
	assert_int_equal(rundb__open(&db, recording.dir, back), 0);
	read = back->probes[0].table;
	assert_int_equal(back->probes[0].nr_metrics, 0);
	assert_int_equal(table__folded_rows(read), 6);
	assert_int_equal(table__aggregate(read, 1, LATENCY)->rows, 2);
	assert_true(table__aggregate(read, 0, LATENCY)->sum == 90 + 91 + 92);
	assert_string_equal(table__column(read, LATENCY)->unit, "ns");
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(rundb__next(db, &interval), 1);
		assert_int_equal(table__rows(read), 2);
		assert_true(table__value(read, 0, LATENCY).real == 90 + i);
		assert_int_equal(table__value(read, 1, LATENCY).known, i > 0);
		assert_true(table__value(read, 1, COUNT).known);
	}
	assert_int_equal(rundb__next(db, &interval), 0);
	rundb__close(db);
}

TEST(the_directory_has_csv_and_summary)
{
	struct json_object *summary;
	const char *text;

	record(1);
	text = unit_read(recording.dir, "tierlat.csv");
	assert_non_null(text);
	assert_string_equal(text, "time_ns,socket,tier,latency_ns,requests\n"
				  "1000000000,0,near,90,100\n1000000000,0,far,,0\n");
	text = unit_read(recording.dir, "tierlat.summary.json");
	assert_has(text, "\"latency_ns\"");
	summary = json_tokener_parse(text);
	assert_int_equal(field_length(summary, "top_k"), 2);
	json_object_put(summary);
	assert_null(unit_read(recording.dir, ".tierlat.csv.tmp"));
}

TEST(no_line_of_a_report_is_too_long)
{
	const struct text_style style = { .top = 1 };
	FILE *out = unit_print();

	for (int i = 0; i < TABLE_KEYS; i++)
		count(10 + i, "c", 1);
	add(1, 0, "a tier of a very long name that nobody would give it", 1234567.891,
	    123456789012);
	add(1, 1, "b", NAN, -1);
	table__text_rows(out, "tierlat", table);
	assert_int_equal(run__end_rows(run, true), 0);
	text__probe(out, run, &run->probes[0], &style);
	assert_has(sheet(), " more\n\n2048 of the smallest, in total\n");
}

/* Whatever is wrong with the file: an error, not a crash and not a made-up number. */
TEST(a_damaged_table_is_refused)
{
	static const char *const damages[] = {
		"UPDATE table_column SET name='x\" FROM meta; --' WHERE position=0",
		"UPDATE table_column SET kind='BLOB'",
		"UPDATE table_column SET name='gone' WHERE position=2",
		"DROP TABLE tierlat",
		"UPDATE tierlat SET time_ns=-1",
		"UPDATE tierlat SET time_ns=NULL",
		"UPDATE tierlat SET latency_ns='fast'",
		"UPDATE tierlat SET requests=x'00'",
	};

	for (size_t i = 0; i < COUNT_OF(damages); i++) {
		sqlite3 *db;

		record(2);
		assert_int_equal(sqlite3_open(unit_path(recording.dir, "run.db"), &db), SQLITE_OK);
		assert_int_equal(sqlite3_exec(db, damages[i], NULL, NULL, NULL), SQLITE_OK);
		sqlite3_close(db);
		assert_int_equal(rundb__load(recording.dir, back), -EUCLEAN);
		end();
		begin();
	}
}

UNIT_FIXTURES(.each = { begin, end }, .all = { unit_enter_dir, unit_leave_dir })
