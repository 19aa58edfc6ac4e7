// SPDX-License-Identifier: BSD-2-Clause
#include "unit.h"

#include "cli/options.h"

#define ALL                                                                                 \
	(OPTIONS_WINDOW | OPTIONS_FILTER | OPTIONS_SPLIT | OPTIONS_PROBE | OPTIONS_OUTPUT | \
	 OPTIONS_FORMAT)
#define MAX_ARGS 64

static char words[MAX_ARGS][600];
static char *arguments[MAX_ARGS + 1];

/* Splits at single spaces; parsing reorders, so every call gets words of its own. */
static int split(const char *line)
{
	int argc = 0;

	arguments[argc++] = strcpy(words[0], "record");
	while (*line) {
		size_t len = strcspn(line, " ");

		assert_true(argc < MAX_ARGS && len < sizeof(words[0]));
		memcpy(words[argc], line, len);
		words[argc][len] = '\0';
		arguments[argc] = words[argc];
		argc++;
		line += len + (line[len] == ' ');
	}
	arguments[argc] = NULL;
	return argc;
}

static struct options options; /* that were parsed last */

static int parse(const char *line)
{
	static const struct usage usage = { .groups = ALL, .takes_workload = true };

	options = (struct options){ 0 };
	return options__parse(&options, &usage, NULL, split(line), arguments, NULL);
}

TEST(defaults)
{
	assert_int_equal(parse(""), 0);
	assert_int_equal(options.duration_ns, 0);
	assert_int_equal(options.top, OPTIONS_TOP);
	assert_int_equal(options.max_keys, OPTIONS_MAX_KEYS);
	assert_int_equal(options.nr_args, 0);
	assert_null(options.output);
}

TEST(everything_at_once)
{
	assert_int_equal(parse("-d 10s --interval=500ms -p 12 --tid 13 --cgroup /a --comm sh "
			       "--disk sda --by process,op --by disk --top 3 --method hash "
			       "--tail-us 8,iolat=1000 --max-keys 5 -o out --label a=b --label c= "
			       "--json -qv"),
			 0);
	assert_int_equal(options.duration_ns, 10000000000);
	assert_int_equal(options.interval_ns, 500000000);
	assert_int_equal(options.target.pid, 12);
	assert_int_equal(options.target.tid, 13);
	assert_string_equal(options.target.cgroup, "/a");
	assert_string_equal(options.target.comm, "sh");
	assert_string_equal(options.target.disk, "sda");
	assert_int_equal(options.by, 1U << LAT_BY_PROCESS | 1U << LAT_BY_OP | 1U << LAT_BY_DISK);
	assert_int_equal(options.top, 3);
	assert_string_equal(options.method, "hash");
	assert_int_equal(options.tails.ns, 8000);
	assert_int_equal(tails__of(&options.tails, "memlat"), 8000);
	assert_int_equal(tails__of(&options.tails, "iolat"), 1000000);
	assert_int_equal(options.max_keys, 5);
	assert_string_equal(options.output, "out");
	assert_int_equal(options.recording.nr_labels, 2);
	assert_string_equal(options.recording.labels[0].key, "a");
	assert_string_equal(options.recording.labels[0].value, "b");
	assert_string_equal(options.recording.labels[1].value, "");
	assert_true(options.json && options.quiet && options.verbose);
	assert_false(options.csv);
}

static const struct {
	const char *line, *error;
} wrong[] = {
	{ "-d", "-d needs a value" },
	{ "--duration", "--duration needs a value" },
	{ "--dur", "--duration needs a value" },
	{ "-d 0", "--duration 0: use a time above 0 and up to 30 days" },
	{ "-d 31d", "--duration 31d: use a time above 0 and up to 30 days" },
	{ "-d -5", "--duration '-5': invalid duration; use 10s, 500ms, 2m or 1h" },
	{ "-d ten", "--duration 'ten': invalid duration; use 10s, 500ms, 2m or 1h" },
	{ "-d1s -i2s", "--interval 2 s is longer than --duration 1 s" },
	{ "-i 2s -d 1s", "--interval 2 s is longer than --duration 1 s" },
	{ "-i 10us", "--interval 10 us is too short; use 1 ms or more" },
	{ "-p 0", "--pid 0: use a number from 1 to 4194304" },
	{ "-p -1", "--pid '-1': not a whole number" },
	{ "-p 12x", "--pid '12x': not a whole number" },
	{ "-p 4294967308", "--pid 4294967308: use a number from 1 to 4194304" },
	{ "--pid=99999999999999999999",
	  "--pid 99999999999999999999: use a number from 1 to 4194304" },
	{ "--pid=", "--pid '': not a whole number" },
	{ "-t 0x10", "--tid '0x10': not a whole number" },
	{ "--top 0", "--top 0: use a number from 1 to 1000000" },
	{ "--max-keys 65537", "--max-keys 65537: use a number from 1 to 65536" },
	{ "--tail-us 0", "--tail-us 0: use a number from 1 to 68719476736" },
	{ "--tail-us 8,iolat=0", "--tail-us iolat=0: use a number from 1 to 68719476736" },
	{ "--tail-us iolat=",
	  "--tail-us 'iolat=': not a whole number; use 100, iolat=1000 or a list" },
	{ "--tail-us =5", "--tail-us '=5': not a whole number; use 100, iolat=1000 or a list" },
	{ "--tail-us 8,,9", "--tail-us '': not a whole number; use 100, iolat=1000 or a list" },
	{ "--tail-us a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1",
	  "--tail-us a=1,b=1,c=1,d=1,e=1,f=1,g=1,h=1,i=1: too many probes" },
	{ "--by node", "--by 'node': unknown split; choose from process,thread,cgroup,disk,op,mode,"
		       "type,access,page,vector,kind,cpu" },
	{ "--cpu=", "--cpu '': invalid list; use 3, 0-3 or 1,3-5" },
	{ "--cpu 3-1", "--cpu '3-1': invalid list; use 3, 0-3 or 1,3-5" },
	{ "--cpu 1,8192", "--cpu 1,8192: use numbers from 0 to 8191" },
	{ "--cgroup=", "--cgroup is empty" },
	{ "--comm=", "--comm is empty" },
	{ "--comm 0123456789abcdef", "--comm '0123456789abcdef' matches nothing: the kernel keeps "
				     "15 bytes of a name" },
	{ "--output=", "--output is empty" },
	{ "--label x", "--label 'x': use KEY=VALUE" },
	{ "--label =x", "--label '=x': use KEY=VALUE" },
	{ "--label a=1 --label a=2", "--label a is given twice" },
	{ "--json --csv", "--json and --csv exclude each other" },
	{ "--json=1", "--json takes no value" },
	{ "--nonesuch", "unknown option '--nonesuch'" },
	{ "--nonesuch=5", "unknown option '--nonesuch=5'" },
	{ "--t", "ambiguous option '--t'" },
	{ "-x", "unknown option '-x'" },
	{ "-qx", "unknown option '-x'" },
	{ "-qxv", "unknown option '-x'" },
	{ "-qd", "-d needs a value" },
	{ "-q --bad -v", "unknown option '--bad'" },
	{ "--\033[31m", "unknown option '--?[31m'" },
};

TEST(wrong_usage_is_one_line)
{
	for (size_t i = 0; i < COUNT_OF(wrong); i++) {
		int err = parse(wrong[i].line);

		if (err != -EINVAL || strcmp(options.error, wrong[i].error))
			fail_msg("'%s': %d '%s'", wrong[i].line, err, options.error);
	}
}

TEST(a_short_option_may_have_any_value)
{
	assert_int_equal(parse("-o="), 0);
	assert_string_equal(options.output, "=");
}

TEST(labels_have_limits)
{
	char line[1000] = "", text[600];
	for (int i = 0; i < RUN_LABELS; i++) {
		snprintf(text, sizeof(text), "--label=k%d=v ", i);
		strcat(line, text);
	}
	line[strlen(line) - 1] = '\0';
	assert_int_equal(parse(line), 0);
	assert_int_equal(options.recording.nr_labels, RUN_LABELS);
	strcat(line, " --label one=more");
	assert_int_equal(parse(line), -EINVAL);

	memset(text, 'x', sizeof(text));
	snprintf(text + 300, 10, "=");
	assert_int_equal(parse(unit_text("--label=%s", text)), -EINVAL);
	assert_int_equal(parse(unit_text("--label=k=%s", text)), -EINVAL);
	assert_has(options.error, "too long");
}

TEST(workloads)
{
	static const struct {
		const char *line;
		int nr;
		const char *first, *last;
	} table[] = {
		{ "-- ls -l --json", 3, "ls", "--json" },
		{ "ls -l --json", 3, "ls", "--json" },
		{ "-q ls -d", 2, "ls", "-d" },
		{ "-q -- -odd", 1, "-odd", "-odd" },
		{ "-d 5 fio -- x", 3, "fio", "x" },
		{ "-q", 0, NULL, NULL },
	};
	for (size_t i = 0; i < COUNT_OF(table); i++) {
		assert_int_equal(parse(table[i].line), 0);
		assert_int_equal(options.nr_args, table[i].nr);
		assert_false(options.json);
		if (!table[i].nr)
			continue;
		assert_string_equal(options.args[0], table[i].first);
		assert_string_equal(options.args[table[i].nr - 1], table[i].last);
		assert_null(options.args[table[i].nr]);
	}
	assert_int_equal(parse("-q --"), -EINVAL);
}

static int parse_report(const char *line)
{
	static const struct usage usage = { .groups = OPTIONS_SPLIT | OPTIONS_FORMAT,
					    .max_args = 1 };

	options = (struct options){ 0 };
	return options__parse(&options, &usage, NULL, split(line), arguments, NULL);
}

TEST(arguments_may_stand_anywhere)
{
	assert_int_equal(parse_report("DIR --json --top 5"), 0);
	assert_true(options.json);
	assert_int_equal(options.nr_args, 1);
	assert_string_equal(options.args[0], "DIR");
	assert_null(options.args[1]);
}

TEST(arguments_and_groups_not_taken_are_refused)
{
	static const char *const refused[][2] = {
		{ "--json DIR OTHER", "unexpected argument 'OTHER'" },
		{ "--pid 5", "unknown option '--pid'" },
		{ "DIR -d 5", "unknown option '-d'" },
	};
	for (size_t i = 0; i < COUNT_OF(refused); i++) {
		assert_int_equal(parse_report(refused[i][0]), -EINVAL);
		assert_string_equal(options.error, refused[i][1]);
	}
}

struct own {
	struct options options;
	uint64_t runs;
};

#define OWN struct own

static const struct option_row own_rows[] = {
	{ "runs", 'n', "N", "Repeat N times", OPT_COUNT(runs, 1, 9) },
	{ 0 },
};

static const struct usage own_usage = {
	.groups = ALL, .rows = own_rows, .args = "[-- WORKLOAD ARGS]", .doc = "Measure it all."
};

static struct own own;

static int parse_with_own(const char *line, FILE *help)
{
	own = (struct own){ 0 };
	return options__parse(&own.options, &own_usage, &own, split(line), arguments, help);
}

TEST(own_options_are_parsed_with_common_ones)
{
	assert_int_equal(parse_with_own("-n 3 --json", NULL), 0);
	assert_int_equal(own.runs, 3);
	assert_true(own.options.json);
	assert_int_equal(parse_with_own("--runs 10", NULL), -EINVAL);
	assert_string_equal(own.options.error, "--runs 10: use a number from 1 to 9");
	assert_int_equal(parse_with_own("--runs", NULL), -EINVAL);
	assert_string_equal(own.options.error, "--runs needs a value");
}

TEST(help_is_printed_to_the_given_stream)
{
	char *text;

	assert_int_equal(parse_with_own("-n 3 --help --nonesuch", unit_print()), 1);
	text = unit_printed();
	assert_has(text, "Usage: latscope record [OPTION...] [-- WORKLOAD ARGS]\n",
		   "Measure it all.", "--runs=N", "--max-keys=N");
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 80);
}
