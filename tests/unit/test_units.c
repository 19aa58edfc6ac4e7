// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "core/sanitize.h"
#include "core/units.h"

#define SECOND 1000000000ULL

/* A text, and what it is parsed into; the number stays 0 if there is an error. */
struct parsed {
	const char *text;
	int err;
	uint64_t number;
};

static const struct parsed durations[] = {
	{ "10s", 0, 10 * SECOND },
	{ "10", 0, 10 * SECOND },
	{ "500ms", 0, SECOND / 2 },
	{ "250us", 0, 250000 },
	{ "1ns", 0, 1 },
	{ "2m", 0, 120 * SECOND },
	{ "2min", 0, 120 * SECOND },
	{ "1h", 0, 3600 * SECOND },
	{ "30d", 0, UNITS_MAX_NS },
	{ "720h", 0, UNITS_MAX_NS },
	{ "0.5", 0, SECOND / 2 },
	{ "1.5h", 0, 5400 * SECOND },
	{ "2.9ns", 0, 3 },
	{ "1.000000001s", 0, SECOND + 1 },
	{ "007s", 0, 7 * SECOND },
	{ "2592000000000001ns", -ERANGE, 0 },
	{ "31d", -ERANGE, 0 },
	{ "0", -ERANGE, 0 },
	{ "0s", -ERANGE, 0 },
	{ "0.0000000001s", -ERANGE, 0 },
	{ "0.00000000000000000000000000000000000001s", -ERANGE, 0 },
	{ "99999999999999999999999999999999999999", -ERANGE, 0 },
	{ "18446744073709551616ns", -ERANGE, 0 },
};

static const struct parsed counts[] = {
	{ "1", 0, 1 },
	{ "0010", 0, 10 },
	{ "1000", 0, 1000 },
	{ "0", -ERANGE, 0 },
	{ "1001", -ERANGE, 0 },
	{ "18446744073709551616", -ERANGE, 0 },
	{ "18446744073709551625", -ERANGE, 0 },
	{ "99999999999999999999999", -ERANGE, 0 },
};

static const char *const no_durations[] = { ".5s",    "",    "s",    ".",   ".s",  "1.s", "-1s",
					    "-0",     "+1s", " 1s",  "1 s", "1s ", "1ss", "1S",
					    "1.2.3s", "1e3", "0x10", "nan", "inf", "ten", "1,5s" };
static const char *const no_counts[] = { "",   "-1",  "+1",  " 1",
					 "1 ", "1.0", "0x1", "99999999999999999999999x" };

static int parse_count(const char *text, uint64_t *count)
{
	return units__parse_count(text, 1, 1000, count);
}

static void assert_parsed(const struct parsed *cases, size_t nr,
			  int parse(const char *text, uint64_t *number))
{
	for (size_t i = 0; i < nr; i++) {
		uint64_t number = 0;
		int err = parse(cases[i].text, &number);

		if (err != cases[i].err || number != cases[i].number)
			fail_msg("'%s': error %d, %ju", cases[i].text, err, (uintmax_t)number);
	}
}

static void assert_invalid(const char *const *texts, size_t nr,
			   int parse(const char *text, uint64_t *number))
{
	for (size_t i = 0; i < nr; i++)
		assert_parsed(&(struct parsed){ texts[i], -EINVAL, 0 }, 1, parse);
}

TEST(parse_durations_and_counts)
{
	uint64_t value;

	assert_parsed(durations, COUNT_OF(durations), units__parse_duration);
	assert_invalid(no_durations, COUNT_OF(no_durations), units__parse_duration);
	assert_parsed(counts, COUNT_OF(counts), parse_count);
	assert_invalid(no_counts, COUNT_OF(no_counts), parse_count);
	assert_int_equal(units__parse_count("18446744073709551615", 0, UINT64_MAX, &value), 0);
	assert_true(value == UINT64_MAX);
}

TEST(parse_percents)
{
	static const struct {
		const char *text;
		int err;
		double share;
	} table[] = {
		{ "10%", 0, 0.1 },	{ "10", 0, 0.1 },	{ "99.9%", 0, 0.999 },
		{ "0", 0, 0 },		{ "100", 0, 1 },	{ "100.1", -ERANGE, -1 },
		{ "", -EINVAL, -1 },	{ "%", -EINVAL, -1 },	{ "-1%", -EINVAL, -1 },
		{ "1.", -EINVAL, -1 },	{ ".5", -EINVAL, -1 },	{ "5 %", -EINVAL, -1 },
		{ "5%%", -EINVAL, -1 }, { "5pp", -EINVAL, -1 }, { "nan", -EINVAL, -1 },
		{ "1e1", -EINVAL, -1 },
	};
	double share;

	for (size_t i = 0; i < COUNT_OF(table); i++) {
		share = -1;
		if (units__parse_percent(table[i].text, 0, 100, &share) != table[i].err)
			fail_msg("'%s'", table[i].text);
		if (share < table[i].share - 1e-12 || share > table[i].share + 1e-12)
			fail_msg("'%s' is %g", table[i].text, share);
	}
	assert_int_equal(units__parse_percent("49", 50, 100, &share), -ERANGE);
}

TEST(latencies)
{
	static const struct {
		double ns;
		const char *text;
	} table[] = {
		{ 0, "0 ns" },		{ 0.4, "0 ns" },
		{ 870, "870 ns" },	{ 999, "999 ns" },
		{ 999.7, "1.00 us" },	{ 1000, "1.00 us" },
		{ 1234, "1.23 us" },	{ 9994, "9.99 us" },
		{ 9996, "10.0 us" },	{ 99960, "100 us" },
		{ 999499, "999 us" },	{ 999500, "1.00 ms" },
		{ 1234567, "1.23 ms" }, { 1.5e9, "1.50 s" },
		{ 65e9, "65.0 s" },	{ 999.4e9, "999 s" },
		{ 9999e9, "9,999 s" },	{ 1e13, "2.78 h" },
		{ 1e16, "116 d" },	{ 1.8446744073709552e19, "585 y" },
	};
	char buf[UNITS_TEXT];

	for (size_t i = 0; i < COUNT_OF(table); i++)
		assert_string_equal(units__ns(buf, table[i].ns), table[i].text);
}

TEST(windows)
{
	char buf[UNITS_TEXT];

	assert_string_equal(units__duration(buf, 0), "0 ns");
	assert_string_equal(units__duration(buf, 8000), "8 us");
	assert_string_equal(units__duration(buf, 12500), "12.5 us");
	assert_string_equal(units__duration(buf, 500000000), "500 ms");
	assert_string_equal(units__duration(buf, 10 * SECOND), "10 s");
	assert_string_equal(units__duration(buf, 10003456789), "10 s");
	assert_string_equal(units__duration(buf, 1500000000), "1.5 s");
	assert_string_equal(units__duration(buf, 120 * SECOND), "2 min");
	assert_string_equal(units__duration(buf, 7200 * SECOND), "2 h");
	assert_true(strlen(units__duration(buf, UINT64_MAX)) < UNITS_TEXT);
}

TEST(numbers)
{
	char buf[UNITS_TEXT];

	assert_string_equal(units__count(buf, 0), "0");
	assert_string_equal(units__count(buf, 999), "999");
	assert_string_equal(units__count(buf, 1000), "1,000");
	assert_string_equal(units__count(buf, 12345), "12,345");
	assert_string_equal(units__count(buf, 123456), "123,456");
	assert_string_equal(units__count(buf, UINT64_MAX), "18,446,744,073,709,551,615");
	assert_string_equal(units__short_count(buf, 9999999), "9,999,999");
	assert_string_equal(units__short_count(buf, 12345678), "12.3 M");
	assert_string_equal(units__short_count(buf, 999600000), "1.00 G");
	assert_string_equal(units__short_count(buf, UINT64_MAX), "18.4 E");
	assert_string_equal(units__rate(buf, 0), "0/s");
	assert_string_equal(units__rate(buf, 0.25), "0.25/s");
	assert_string_equal(units__rate(buf, 12.34), "12.3/s");
	assert_string_equal(units__rate(buf, 12345.4), "12,345/s");
}

TEST(shares)
{
	char buf[UNITS_TEXT];

	assert_string_equal(units__share(buf, 0, 0), "0 %");
	assert_string_equal(units__share(buf, 0, 10), "0 %");
	assert_string_equal(units__share(buf, 84, 10000), "0.84 %");
	assert_string_equal(units__share(buf, 1, 1000000), "<0.01 %");
	assert_string_equal(units__share(buf, 1, 8), "12.5 %");
	assert_string_equal(units__share(buf, 10, 10), "100 %");
	assert_string_equal(units__share(buf, 999999, 1000000), ">99.9 %");
	assert_string_equal(units__ratio(buf, 1.25), "125 %");
}

TEST(clean_texts)
{
	static const struct {
		const char *raw, *clean;
	} table[] = {
		{ "bash", "bash" },
		{ "a\033[31mb", "a?[31mb" },
		{ "tab\tnl\ncr\rdel\177", "tab?nl?cr?del?" },
		{ "caf\303\251", "caf\303\251" },
		{ "\355\225\234\352\270\200", "\355\225\234\352\270\200" },
		{ "\360\237\220\247", "\360\237\220\247" },
		{ "cut\303", "cut?" },
		{ "cut\355\225", "cut??" },
		{ "\377\376", "??" },
		{ "\300\200", "??" }, /* overlong */
		{ "\355\240\200", "???" }, /* half of an UTF-16 pair */
		{ "\302\233m", "??m" }, /* CSI of C1 */
		{ "\364\220\200\200", "????" }, /* above U+10FFFF */
		{ "a\342\200\256b", "a?b" }, /* U+202E: right to left from here on */
		{ "\342\201\246a\342\201\251", "?a?" }, /* U+2066, U+2069: isolates */
		{ "\330\234", "?" }, /* U+061C: Arabic letter mark */
		{ "a\342\200\213b", "a?b" }, /* U+200B: zero-width space */
		{ "a\302\255b", "a?b" }, /* U+00AD: soft hyphen */
		{ "\357\273\277a", "?a" }, /* U+FEFF: byte order mark */
		{ "a\342\200\250b", "a?b" }, /* U+2028: line separator */
		{ "\343\205\244", "?" }, /* U+3164: Hangul filler */
		{ "\363\240\201\201", "?" }, /* U+E0041: a tag */
		{ "\342\200\220", "\342\200\220" }, /* U+2010: a hyphen, which is seen */
		{ "\360\237\230\200", "\360\237\230\200" },
	};
	char out[64];

	for (size_t i = 0; i < COUNT_OF(table); i++)
		assert_string_equal(sanitize__text(out, sizeof(out), table[i].raw), table[i].clean);
	assert_string_equal(sanitize__text(out, 4, "abcdef"), "abc");
	assert_string_equal(sanitize__text(out, 5, "abc\303\251"), "abc");
	assert_string_equal(sanitize__text(out, 6, "abc\303\251"), "abc\303\251");
	assert_string_equal(sanitize__text(out, 1, "abc"), "");
	sanitize__text(out, 0, "abc");
	assert_int_equal(sanitize__columns("caf\303\251", 5), 4);
}

TEST(sizes)
{
	static const struct {
		const char *text;
		int err;
		uint64_t bytes;
		const char *shown;
	} cases[] = {
		{ "0", 0, 0, "0 B" },
		{ "1000", 0, 1000, "1000 B" },
		{ "1023", 0, 1023, "1023 B" },
		{ "1024", 0, 1024, "1 KiB" },
		{ "64K", 0, 65536, "64 KiB" },
		{ "1.5MB", 0, 1572864, "1.5 MiB" },
		{ "2GiB", 0, 2ULL << 30, "2 GiB" },
		{ "1048577T", -ERANGE, 0, NULL },
		{ "", -EINVAL, 0, NULL },
		{ "M", -EINVAL, 0, NULL },
		{ "-1", -EINVAL, 0, NULL },
		{ "1X", -EINVAL, 0, NULL },
		{ "1Mib", -EINVAL, 0, NULL },
		{ "1 M", -EINVAL, 0, NULL },
	};

	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		char text[UNITS_TEXT];
		uint64_t bytes = 0;

		assert_int_equal(units__parse_size(cases[i].text, &bytes), cases[i].err);
		if (cases[i].err)
			continue;
		assert_int_equal(bytes, cases[i].bytes);
		assert_string_equal(units__size(text, bytes), cases[i].shown);
	}
}
