// SPDX-License-Identifier: BSD-2-Clause
#include "options.h"

#include <argp.h>
#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <core/cpu_list.h>
#include <core/nearest.h>
#include <core/sanitize.h>
#include <core/split.h>
#include <core/units.h>
#include <store/recording.h>

#include "cmd.h"
#include "log.h"

#define MAX_PID (1 << 22) /* PID_MAX_LIMIT of 64-bit kernels */
#define MAX_TOP 1000000
#define MAX_KEYS 65536
#define MIN_INTERVAL_NS 1000000
#define MIN_MAX_SIZE (1 << 20)
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Answers in place of parsing; NULL: parse. */
static options_answer *answer;

#define OWN struct options

static const struct option_row window_rows[] = {
	{ "duration", 'd', "TIME", "Measure for TIME: 500ms, 10s, 2m, 1h (unit: s)",
	  OPT_DURATION(duration_ns) },
	{ "interval", 'i', "TIME", "Report every TIME", OPT_DURATION(interval_ns) },
	{ 0 },
};

static const struct option_row workload_rows[] = {
	{ "user", 0, "NAME", "Run the workload as this user", OPT_NAME(user) },
	{ 0 },
};

static int set_comm(struct options *options, void *at, const char *text);
static int set_cpus(struct options *options, void *at, const char *text);
static int set_by(struct options *options, void *at, const char *text);

static const struct option_row filter_rows[] = {
	{ "pid", 'p', "PID", "Only this process, with all its threads",
	  OPT_COUNT(target.pid, 1, MAX_PID) },
	{ "tid", 't', "TID", "Only this thread", OPT_COUNT(target.tid, 1, MAX_PID) },
	{ "cgroup", 0, "PATH", "Only this cgroup (v2) and its descendants",
	  OPT_NAME(target.cgroup) },
	{ "comm", 0, "NAME", "Only tasks with this name", OPT_CALL(set_comm) },
	{ "cpu", 0, "LIST", "Only what happens on these CPUs: 1,3-5", OPT_CALL(set_cpus) },
	{ "disk", 0, "NAME", "Only this disk, or that of a file (iolat)", OPT_NAME(target.disk) },
	{ 0 },
};

static const struct option_row process_rows[] = {
	{ "pid", 'p', "PID", "Caches only of this process", OPT_COUNT(target.pid, 1, MAX_PID) },
	{ "cgroup", 0, "PATH", "Caches only of this cgroup (v2) and below",
	  OPT_NAME(target.cgroup) },
	{ "comm", 0, "NAME", "Caches only of processes with this name", OPT_CALL(set_comm) },
	{ 0 },
};

static const struct option_row split_rows[] = {
	{ "by", 0, "LIST", "Split by process, thread, cgroup, disk, op, ...", OPT_CALL(set_by) },
	{ "top", 0, "N", "Show at most N keys per split (10)", OPT_COUNT(top, 1, MAX_TOP) },
	{ 0 },
};

static const struct option_row probe_rows[] = {
	{ "tail-us", 0, "N", "Tail: N us or more (8), or iolat=N (1024), a list",
	  OPT_CALL_ON(options__tails, tails) },
	{ "method", 0, "NAME", "Use this method and no other; see doctor", OPT_NAME(method) },
	{ "metric", 0, "NAME", "Also measure wakeup (runqlat) or wait (iolat)", OPT_TEXT(metric) },
	{ "max-keys", 0, "N", "Maximum keys per probe; the rest: (other) (1024)",
	  OPT_COUNT(max_keys, 1, MAX_KEYS) },
	{ 0 },
};

static const struct option_row output_rows[] = {
	{ "output", 'o', "DIR", "Create a recording in DIR", OPT_NAME(output) },
	{ "label", 0, "KEY=VALUE", "Add a label to the recording; repeatable",
	  OPT_CALL(options__label) },
	{ "max-size", 0, "SIZE", "Maximum size of the recording: 500M, 2G",
	  OPT_SIZE(recording.max_size, MIN_MAX_SIZE) },
	{ "min-free", 0, "SIZE", "Keep SIZE free on the disk (64M or 1 %)",
	  OPT_SIZE(recording.min_free, 0) },
	{ 0 },
};

static const struct option_row format_rows[] = {
	{ "json", 0, NULL, "Print JSON", OPT_FLAG(json) },
	{ "csv", 0, NULL, "Print CSV", OPT_FLAG(csv) },
	{ 0 },
};

#define QUIET "quiet", 'q', NULL, "Print no progress and no warnings", OPT_FLAG(quiet)
#define HELP "help", 'h', NULL, "Print this help", OPT_FLAG(help)

static const struct option_row metrics_rows[] = {
	{ QUIET },
	{ "verbose", 'v', NULL, "Also metrics in full, method, verifier logs", OPT_FLAG(verbose) },
	{ HELP },
	{ 0 },
};

static const struct option_row general_rows[] = {
	{ QUIET },
	{ "verbose", 'v', NULL, "Print details: method, verifier logs", OPT_FLAG(verbose) },
	{ HELP },
	{ 0 },
};

static const struct {
	unsigned int group, unless;
	const char *title;
	const struct option_row *rows;
} groups[] = {
	{ OPTIONS_WINDOW, 0, "Window:", window_rows },
	{ OPTIONS_WORKLOAD, 0, "Workload:", workload_rows },
	{ OPTIONS_FILTER, 0, "Filters:", filter_rows },
	{ OPTIONS_PROCESS, 0, "Filters (method resctrl):", process_rows },
	{ OPTIONS_SPLIT, 0, "Split:", split_rows },
	{ OPTIONS_PROBE, 0, "Measurement:", probe_rows },
	{ OPTIONS_OUTPUT, 0, "Recording:", output_rows },
	{ OPTIONS_FORMAT, 0, "Output:", format_rows },
	{ OPTIONS_METRICS, 0, "General:", metrics_rows },
	{ 0, OPTIONS_METRICS, "General:", general_rows },
};

#define TABLES (COUNT_OF(groups) + 1) /* the last one is the command's own */
#define MAX_ROWS 128 /* of all tables of a command */

int options__fail(struct options *options, const char *format, ...)
{
	char raw[sizeof(options->error)];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	sanitize__text(options->error, sizeof(options->error), raw);
	return -EINVAL;
}

int options__duration(struct options *options, void *at, const char *text)
{
	switch (units__parse_duration(text, at)) {
	case 0:
		return 0;
	case -ERANGE:
		return options__fail(options, "--%s %s: use a time above 0 and up to 30 days",
				     options->parsed, text);
	default:
		return options__fail(options,
				     "--%s '%s': invalid duration; use 10s, 500ms, 2m or 1h",
				     options->parsed, text);
	}
}

int options__tails(struct options *options, void *at, const char *text)
{
	char wrong[RUN_TEXT];

	switch (tails__parse(at, text, wrong)) {
	case 0:
		return 0;
	case -ERANGE:
		return options__fail(options, "--tail-us %s: use a number from 1 to %llu", wrong,
				     TAILS_MOST_US);
	case -E2BIG:
		return options__fail(options, "--tail-us %s: too many probes", text);
	default:
		return options__fail(options,
				     "--tail-us '%s': not a whole number; use 100, iolat=1000 or "
				     "a list",
				     wrong);
	}
}

static void put(const struct option_row *row, void *at, uint64_t value)
{
	switch (row->size) {
	case sizeof(bool):
		*(bool *)at = value;
		break;
	case sizeof(uint32_t):
		*(uint32_t *)at = (uint32_t)value;
		break;
	default:
		*(uint64_t *)at = value;
	}
}

static int set_text(struct options *options, const struct option_row *row, void *at,
		    const char *text)
{
	if (row->low && !*text)
		return options__fail(options, "--%s is empty", row->name);
	memcpy(at, &text, sizeof(text));
	return 0;
}

static int set_count(struct options *options, const struct option_row *row, void *at,
		     const char *text)
{
	uint64_t value = 0;

	switch (units__parse_count(text, row->low, row->high, &value)) {
	case 0:
		put(row, at, value);
		return 0;
	case -ERANGE:
		return options__fail(options, "--%s %s: use a number from %llu to %llu", row->name,
				     text, (unsigned long long)row->low,
				     (unsigned long long)row->high);
	default:
		return options__fail(options, "--%s '%s': not a whole number", row->name, text);
	}
}

static int set_percent(struct options *options, const struct option_row *row, void *at,
		       const char *text)
{
	switch (units__parse_percent(text, row->least, row->most, at)) {
	case 0:
		return 0;
	case -ERANGE:
		return options__fail(options, "--%s %s: use %g to %g percent", row->name, text,
				     row->least, row->most);
	default:
		return options__fail(options, "--%s '%s': invalid percentage", row->name, text);
	}
}

static int set_size(struct options *options, const struct option_row *row, uint64_t *at,
		    const char *text)
{
	char least[UNITS_TEXT];
	int err;

	err = units__parse_size(text, at);
	if (err == -EINVAL)
		return options__fail(options, "--%s '%s': invalid size; use 65536, 500M or 2G",
				     row->name, text);
	if (err || *at < row->low)
		return options__fail(options, "--%s %s: use a size from %s to 1 EiB", row->name,
				     text, units__size(least, row->low));
	return 0;
}

static int set_choice(struct options *options, const struct option_row *row, void *at,
		      const char *text)
{
	for (unsigned int i = 0; row->choices[i]; i++) {
		if (strcmp(text, row->choices[i]))
			continue;
		put(row, at, row->low + i);
		return 0;
	}
	return options__fail(options, "--%s '%.64s': %s", row->name, text, row->wrong);
}

static int set(struct options *options, const struct option_match *match, const char *text)
{
	const struct option_row *row = match->row;
	void *at = (char *)match->own + row->at;

	options->parsed = options->given[row->class] = row->name;
	switch (row->kind) {
	case OPTION_VALUE:
		put(row, at, row->low);
		return 0;
	case OPTION_TEXT:
		return set_text(options, row, at, text);
	case OPTION_COUNT:
		return set_count(options, row, at, text);
	case OPTION_SIZE:
		return set_size(options, row, at, text);
	case OPTION_DURATION:
		return options__duration(options, at, text);
	case OPTION_PERCENT:
		return set_percent(options, row, at, text);
	case OPTION_CHOICE:
		return set_choice(options, row, at, text);
	case OPTION_CALL:
		return row->set(options, at, text);
	}
	return -EINVAL;
}

static int set_comm(struct options *options, void *at, const char *text)
{
	(void)at;
	if (!*text)
		return options__fail(options, "--comm is empty");
	if (strlen(text) >= LAT_COMM_LEN)
		return options__fail(options,
				     "--comm '%s' matches nothing: the kernel keeps %d bytes of a "
				     "name",
				     text, LAT_COMM_LEN - 1);
	options->target.comm = text;
	return 0;
}

static int set_cpus(struct options *options, void *at, const char *text)
{
	uint64_t mask[LAT_CPUS / 64];

	(void)at;
	switch (cpu_list__parse(text, mask)) {
	case 0:
		options->target.cpus = text;
		return 0;
	case -ERANGE:
		return options__fail(options, "--cpu %s: use numbers from 0 to %d", text,
				     LAT_CPUS - 1);
	default:
		return options__fail(options, "--cpu '%s': invalid list; use 3, 0-3 or 1,3-5",
				     text);
	}
}

/* Sets the bit of a split of the command's own; false: it is none. */
static bool set_more_by(struct options *options, const char *name)
{
	const char *const *more = options->more_splits;

	for (unsigned int i = 0; more && more[i]; i++) {
		if (strcmp(more[i], name) != 0)
			continue;
		options->more_by |= 1U << i;
		return true;
	}
	return false;
}

static int fail_by(struct options *options, const char *text)
{
	char names[SPLIT_TEXT], more[SPLIT_TEXT] = "";

	for (unsigned int i = 0; options->more_splits && options->more_splits[i]; i++) {
		strcat(more, ",");
		strcat(more, options->more_splits[i]);
	}
	return options__fail(options, "--by '%s': unknown split; choose from %s%s", text,
			     split__list(options->splits, names), more);
}

static int set_by(struct options *options, void *at, const char *text)
{
	char name[SPLIT_TEXT];
	uint32_t mask;

	(void)at;
	for (const char *rest = text;; rest++) {
		size_t len = strcspn(rest, ",");

		snprintf(name, sizeof(name), "%.*s", (int)len, rest);
		if (!set_more_by(options, name)) {
			if (len >= sizeof(name) || split__parse(name, &mask))
				return fail_by(options, text);
			options->by |= mask;
		}
		rest += len;
		if (!*rest)
			return 0;
	}
}

int options__label(struct options *options, void *at, const char *text)
{
	size_t len = strcspn(text, "=");
	struct run_label *label;

	(void)at;
	if (!text[len] || !len)
		return options__fail(options, "--label '%s': use KEY=VALUE", text);
	if (len >= sizeof(label->key) || strlen(text + len + 1) >= sizeof(label->value))
		return options__fail(options,
				     "--label '%.20s...' is too long: a key has up to %zu "
				     "bytes, a value %zu",
				     text, sizeof(label->key) - 1, sizeof(label->value) - 1);
	for (unsigned int i = 0; i < options->recording.nr_labels; i++) {
		if (strlen(options->recording.labels[i].key) == len &&
		    !memcmp(options->recording.labels[i].key, text, len))
			return options__fail(options, "--label %s is given twice",
					     options->recording.labels[i].key);
	}
	if (options->recording.nr_labels == RUN_LABELS)
		return options__fail(options, "more than %d options --label", RUN_LABELS);
	label = &options->recording.labels[options->recording.nr_labels++];
	memcpy(label->key, text, len);
	label->key[len] = '\0';
	strcpy(label->value, text + len + 1);
	return 0;
}

static int check(struct options *options, const struct usage *usage)
{
	char one[UNITS_TEXT], two[UNITS_TEXT];

	if (!usage->takes_workload && options->nr_args > usage->max_args)
		return options__fail(options, "unexpected argument '%s'",
				     options->args[usage->max_args]);
	if (options->user && !options->nr_args)
		return options__fail(options, "--user needs a workload");
	if (options->json && options->csv)
		return options__fail(options, "--json and --csv exclude each other");
	if (options->interval_ns && options->interval_ns < MIN_INTERVAL_NS)
		return options__fail(options, "--interval %s is too short; use 1 ms or more",
				     units__duration(one, options->interval_ns));
	if (options->duration_ns && options->interval_ns > options->duration_ns)
		return options__fail(options, "--interval %s is longer than --duration %s",
				     units__duration(one, options->interval_ns),
				     units__duration(two, options->duration_ns));
	return 0;
}

/* The common groups, then the command's own options. */
static void list_tables(struct option_table tables[TABLES + 1], struct options *options,
			const struct usage *usage, void *own)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < COUNT_OF(groups); i++)
		if ((!groups[i].group || usage->groups & groups[i].group) &&
		    !(usage->groups & groups[i].unless))
			tables[nr++] = (struct option_table){ groups[i].title, (int)i + 2,
							      groups[i].rows, options };
	tables[nr++] = (struct option_table){ usage->title, 1, usage->rows, own };
	tables[nr].rows = NULL;
}

struct option_match options__match(const struct option_table *tables, const char *name, size_t len,
				   int letter)
{
	struct option_match match = { 0 };

	for (; tables->rows; tables++) {
		for (const struct option_row *row = tables->rows; options__more(row); row++) {
			if (letter ? row->letter != letter
				   : !row->name || strncmp(row->name, name, len))
				continue;
			match.row = row;
			match.own = tables->own;
			match.nr++;
			match.exact = letter || strlen(row->name) == len;
			if (!match.exact)
				continue;
			match.nr = 1;
			return match;
		}
	}
	return match;
}

static int unknown_option(struct options *options, const struct option_table *tables,
			  const char *word, size_t len)
{
	struct nearest nearest = { 0 };
	char name[RUN_NAME];

	snprintf(name, sizeof(name), "%.*s", (int)len, word + 2);
	for (; tables->rows; tables++)
		for (const struct option_row *row = tables->rows; options__more(row); row++)
			if (row->name && row->help)
				nearest__add(&nearest, name, row->name);
	return nearest.name ? options__fail(options, "unknown option '%s' (did you mean --%s?)",
					    word, nearest.name)
			    : options__fail(options, "unknown option '%s'", word);
}

/* argv[*i] is "--name" or "--name=value", or a part of the name that only one option has. */
static int parse_long(struct options *options, const struct option_table *tables, char **argv,
		      int *i)
{
	const char *word = argv[*i], *text = strchr(word, '=');
	size_t len = strcspn(word, "=") - 2;
	struct option_match match = options__match(tables, word + 2, len, 0);

	if (!match.nr)
		return unknown_option(options, tables, word, len);
	if (match.nr > 1)
		return options__fail(options, "ambiguous option '%s'", word);
	if (!match.row->argument && text)
		return options__fail(options, "--%s takes no value", match.row->name);
	text = text ? text + 1 : match.row->argument ? argv[++*i] : NULL;
	if (match.row->argument && !text)
		return options__fail(options, "--%s needs a value", match.row->name);
	return set(options, &match, text);
}

/* argv[*i] is "-d10s", "-d" or "-qd". */
static int parse_letters(struct options *options, const struct option_table *tables, char **argv,
			 int *i)
{
	int err = 0;

	for (const char *letter = argv[*i] + 1; *letter && !err && !options->help; letter++) {
		struct option_match match = options__match(tables, "", 0, *letter);

		if (!match.nr)
			return options__fail(options, "unknown option '-%c'", *letter);
		if (match.row->argument) {
			const char *text = letter[1] ? letter + 1 : argv[++*i];

			return text ? set(options, &match, text)
				    : options__fail(options, "-%c needs a value", *letter);
		}
		err = set(options, &match, NULL);
	}
	return err;
}

/*
 * A workload begins at the first word that is no option. Other arguments may stand anywhere; they
 * move to the front of argv.
 */
static int parse_words(struct options *options, const struct option_table *tables,
		       bool takes_workload, int argc, char **argv)
{
	bool quoted = false;
	int nr = 0, err = 0, i;

	for (i = 1; i < argc && !err && !options->help; i++) {
		if (quoted || argv[i][0] != '-' || !argv[i][1]) {
			if (takes_workload)
				break;
			argv[1 + nr++] = argv[i];
		} else if (!strcmp(argv[i], "--")) {
			quoted = true;
		} else {
			err = argv[i][1] == '-' ? parse_long(options, tables, argv, &i)
						: parse_letters(options, tables, argv, &i);
		}
	}
	if (err || options->help)
		return err;
	options->nr_args = takes_workload ? argc - i : nr;
	options->args = argv + (takes_workload ? i : 1);
	if (!options->nr_args)
		options->args = argv + argc;
	options->args[options->nr_args] = NULL;
	/*
	 * Often an empty variable in a script. Without a workload latscope would run until Ctrl-C.
	 */
	if (quoted && takes_workload && !options->nr_args)
		return options__fail(options, "missing workload after '--'");
	return 0;
}

static bool is_absent(const struct usage *usage, const struct option_row *row)
{
	for (unsigned int i = 0; usage->absent && row->name && usage->absent[i]; i++)
		if (!strcmp(usage->absent[i], row->name))
			return true;
	return false;
}

/* Leaves out what does not apply, from the tables that are offered. */
static void drop_absent(struct option_table tables[TABLES + 1], const struct usage *usage)
{
	static struct option_row kept[MAX_ROWS];
	struct option_row *to = kept;

	for (; usage->absent && tables->rows; tables++) {
		const struct option_row *from = tables->rows;

		tables->rows = to;
		for (; options__more(from); from++)
			if (!is_absent(usage, from))
				*to++ = *from;
		assert(to < kept + MAX_ROWS - 1);
		*to++ = (struct option_row){ 0 };
	}
}

static void print_help(const struct option_table *tables, const struct usage *usage,
		       const char *command, FILE *out)
{
	struct argp_option options[MAX_ROWS], *option = options;
	struct argp_child children[TABLES + 1] = { 0 };
	struct argp argps[TABLES] = { 0 };
	struct argp root = { .args_doc = usage->args, .doc = usage->doc, .children = children };
	char name[RUN_NAME];

	for (unsigned int i = 0; tables[i].rows; i++) {
		argps[i].options = option;
		children[i] = (struct argp_child){ &argps[i], 0, tables[i].title, tables[i].group };
		for (const struct option_row *row = tables[i].rows; options__more(row); row++) {
			int key = row->letter ? row->letter : UCHAR_MAX + 1;

			assert(option < options + MAX_ROWS - 1);
			*option++ = (struct argp_option){ .name = row->name,
							  .key = row->name ? key : 0,
							  .arg = row->argument,
							  .flags = row->help ? 0 : OPTION_HIDDEN,
							  .doc = row->help };
		}
		*option++ = (struct argp_option){ 0 };
	}
	snprintf(name, sizeof(name), "latscope%s%s", *command ? " " : "", command);
	argp_help(&root, out, ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, name);
}

void options__answer_by(options_answer *other)
{
	answer = other;
}

int options__parse(struct options *options, const struct usage *usage, void *own, int argc,
		   char **argv, FILE *help)
{
	struct option_table tables[TABLES + 1];
	int err;

	list_tables(tables, options, usage, own);
	options->command = argv[0];
	if (answer) {
		drop_absent(tables, usage);
		answer(options->command, tables, usage->takes_workload);
		return 1;
	}
	options->top = OPTIONS_TOP;
	options->more_splits = usage->more_splits;
	options->splits = usage->splits ? usage->splits : (1U << LAT_BY_COUNT) - 1;
	options->max_keys = OPTIONS_MAX_KEYS;
	options->recording.min_free = SIZE_LIMITS_MIN_FREE;
	err = parse_words(options, tables, usage->takes_workload, argc, argv);
	if (!err && options->help) {
		drop_absent(tables, usage);
		print_help(tables, usage, options->command, help);
		return 1;
	}
	return err ? err : check(options, usage);
}

int options__end(const struct options *options, int got)
{
	log__set_level(options->quiet ? LOG_QUIET : LOG_NORMAL);
	if (got < 0)
		log__usage(options->command, options->error);
	return got < 0 ? EXIT_USAGE : got ? EXIT_DONE : OPTIONS_RUN;
}

int options__begin(struct options *options, const struct usage *usage, void *own, int argc,
		   char **argv)
{
	int got = options__parse(options, usage, own, argc, argv, stdout);

	if (!got && usage->check)
		got = usage->check(options, own);
	return options__end(options, got);
}
