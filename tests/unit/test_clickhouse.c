// SPDX-License-Identifier: BSD-2-Clause
/* Rows as text, names of services, addresses of servers, statements of packaging/clickhouse. */
#include "sample.h"

#include <net/clickhouse_rows.h>
#include <net/clickhouse_server.h>
#include <net/clickhouse_sql.h>

TEST(test_a_row_has_its_columns_in_order)
{
	const struct run_label labels[] = { { "odd", "it's \\ \x1b[1m" }, { "role", "db" } };
	const struct clickhouse_batch batch = { .start_s = 1767225600,
						.interval_ns = 60000000001,
						.number = 7,
						.host = "red\thost",
						.run = "r",
						.kernel = "6.1",
						.nr_labels = 2,
						.labels = labels };
	struct sparse hist = { .sum_ns = 8200, .max_ns = 8000, .tail = 1 };
	__u64 counts[LAT_COUNTS] = { [LAT_SEEN] = 14, [LAT_MISSED_START] = 3, [LAT_CONTINUED] = 5 };
	struct clickhouse_row row = { .probe = "runqlat",
				      .metric = "run_queue",
				      .method = "stamps",
				      .tail_ns = 8000,
				      .hist = &hist,
				      .counts = counts,
				      .lost = 4,
				      .lost_ns_known = true,
				      .lost_ns = 900 };
	struct bytes text = { 0 };

	assert_int_equal(sparse__add_slot(&hist, 3, 2), 0);
	assert_int_equal(sparse__add_slot(&hist, 128, 1), 0);
	clickhouse_rows__add(&text, &batch, &row);
	row.counts = NULL;
	row.service = "nginx.service";
	hist.nr = hist.sum_ns = hist.max_ns = hist.tail = 0;
	clickhouse_rows__add(&text, &batch, &row);
	bytes__add(&text, "", 1);
	assert_string_equal(
		text.at,
		"1767225600\tred?host\tr\t7\t60000000001\trunqlat\trun_queue\t\t\t6.1\tstamps\t"
		"['odd=it\\'s \\\\ ?[1m','role=db']\t[3,128]\t[2,1]\t3\t8200\t8000\t1\t8000\t"
		"14\t0\t3\t0\t0\t0\t0\t5\t4\t900\n"
		"1767225600\tred?host\tr\t7\t60000000001\trunqlat\trun_queue\tservice\t"
		"nginx.service\t6.1\tstamps\t['odd=it\\'s \\\\ ?[1m','role=db']\t"
		"[]\t[]\t0\t0\t0\t0\t"
		"8000\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\t\\N\n");
	bytes__free(&text);
	sparse__clear(&hist);
}

TEST(test_services_have_the_same_name_on_every_host)
{
	static const char id[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	char service[RUN_NAME * 2], docker[256];
	const struct {
		const char *name, *path, *service;
	} cgroups[] = {
		{ "/system.slice/nginx.service", "/system.slice/nginx.service", "nginx.service" },
		{ "...ice/nginx.service", "/a.slice/nginx.service/worker", "nginx.service" },
		{ "/system.slice/docker", docker, "(docker)" },
		{ "/lxc.payload.web", "/lxc.payload.web", "web" },
		{ "(other)", NULL, "(other)" },
		{ "/my\ngroup", "/my\ngroup", "/my?group" },
	};

	snprintf(docker, sizeof(docker), "/system.slice/docker-%s.scope", id);
	for (size_t i = 0; i < COUNT_OF(cgroups); i++) {
		clickhouse_rows__service(service, cgroups[i].name, cgroups[i].path);
		assert_string_equal(service, cgroups[i].service);
	}
}

static int address(const char *url, struct clickhouse_address *to)
{
	char why[POST_TEXT];

	return clickhouse__address(to, url, NULL, why);
}

TEST(test_urls)
{
	static const char *const wrong[] = { "127.0.0.1:8123",
					     "ftp://a",
					     "http://me@a",
					     "http://me:secret@a/",
					     "http://a/?x=1",
					     "http://a/?database=",
					     "http://a/?database=1a",
					     "http://a/?database=a&query=b",
					     "http://a/?database=a%20b",
					     "http://a/#b" };
	struct clickhouse_address to;
	char url[CLICKHOUSE_URL];

	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		assert_int_equal(address(wrong[i], &to), -EINVAL);
	assert_int_equal(address("http://a:8123", &to), 0);
	clickhouse__url(&to, NULL, url);
	assert_string_equal(url, "http://a:8123/?database=latscope&wait_end_of_query=1");
	assert_int_equal(address("https://a/proxy?database=b_2", &to), 0);
	clickhouse__url(&to, "SELECT 'a&b' %", url);
	assert_string_equal(url, "https://a/proxy?database=b_2&insert_distributed_sync=1&query="
				 "SELECT%20%27a%26b%27%20%25");
}

TEST(test_a_login_is_in_the_headers)
{
	struct clickhouse_address to;

	assert_int_equal(address("http://a", &to), 0);
	assert_null(to.headers[0]);
	setenv(CLICKHOUSE_USER, "me", 1);
	setenv(CLICKHOUSE_PASSWORD, "secret", 1);
	assert_int_equal(address("http://a", &to), 0);
	assert_string_equal(to.headers[0], "X-ClickHouse-User: me");
	assert_string_equal(to.headers[1], "X-ClickHouse-Key: secret");
	assert_null(to.headers[2]);
	setenv(CLICKHOUSE_PASSWORD, "a\r\nX-Other: b", 1);
	assert_int_equal(address("http://a", &to), -EBADMSG);
	unsetenv(CLICKHOUSE_USER);
	unsetenv(CLICKHOUSE_PASSWORD);
}

/* Every word of every file is filled in. */
TEST(test_statements_of_the_files)
{
	static const struct clickhouse_word words[] = {
		{ "rows_days", "14" }, { "days", "400" },
		{ "database", "d" },   { "cluster", "c" },
		{ "into", "t" },       { "as_of", "1" },
		{ "start", "2" },      { "slices", "3" },
		{ "slice", "4" },      { 0 },
	};
	const struct {
		const char *file;
		unsigned int statements;
		const char *has;
	} files[] = {
		{ clickhouse_tables, 6, "CREATE TABLE IF NOT EXISTS rows" },
		{ clickhouse_problem, 1, "MODIFY COLUMN problem String" },
		{ clickhouse_distributed, 5, "Distributed(c, d_local, rows, cityHash64(host))" },
		{ clickhouse_retention, 2, "toUInt32(14) AS rows_days, toUInt32(400) AS days" },
		{ clickhouse_ttl, 6, "MODIFY TTL start + INTERVAL 14 DAY" },
		{ clickhouse_hours, 1, "toDateTime(2 + 3600, 'UTC')" },
		{ clickhouse_days, 1, "cityHash64(host) % 3 = 4" },
	};
	struct bytes sql = { 0 };

	for (size_t i = 0; i < COUNT_OF(files); i++) {
		const char *at = files[i].file;
		unsigned int nr = 0;
		bool has = false;

		for (; clickhouse_sql__next(&at, words, &sql); nr++) {
			assert_null(strchr(sql.at, '{'));
			has |= strstr(sql.at, files[i].has) != NULL;
		}
		assert_int_equal(nr, files[i].statements);
		assert_true(has);
	}
	bytes__free(&sql);
}
