// SPDX-License-Identifier: BSD-2-Clause
#include "options.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <core/cpu_list.h>
#include <core/sanitize.h>
#include <core/split.h>
#include <core/units.h>
#include <store/recording.h>

#define MAX_PID (1 << 22) /* PID_MAX_LIMIT of 64-bit kernels */
#define MAX_TOP 1000000
#define MAX_KEYS 65536
#define MIN_INTERVAL_NS 1000000
#define MIN_MAX_SIZE (1 << 20)
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Answers in place of parsing; NULL: parse. */
static options_answer *answer;

/* Options without a letter. */
enum key {
	KEY_CGROUP = 0x100,
	KEY_COMM,
	KEY_CPU,
	KEY_DISK,
	KEY_BY,
	KEY_TOP,
	KEY_METHOD,
	KEY_METRIC,
	KEY_TAIL_US,
	KEY_MAX_KEYS,
	KEY_LABEL,
	KEY_MAX_SIZE,
	KEY_MIN_FREE,
	KEY_JSON,
	KEY_CSV,
	KEY_USER,
};

static const struct argp_option window_options[] = {
	{ "duration", 'd', "TIME", 0, "Measure for TIME: 500ms, 10s, 2m, 1h (unit: s)", 0 },
	{ "interval", 'i', "TIME", 0, "Report every TIME", 0 },
	{ 0 },
};

static const struct argp_option workload_options[] = {
	{ "user", KEY_USER, "NAME", 0, "Run the workload as this user", 0 },
	{ 0 },
};

static const struct argp_option filter_options[] = {
	{ "pid", 'p', "PID", 0, "Only this process, with all its threads", 0 },
	{ "tid", 't', "TID", 0, "Only this thread", 0 },
	{ "cgroup", KEY_CGROUP, "PATH", 0, "Only this cgroup (v2) and its descendants", 0 },
	{ "comm", KEY_COMM, "NAME", 0, "Only tasks with this name", 0 },
	{ "cpu", KEY_CPU, "LIST", 0, "Only what happens on these CPUs: 1,3-5", 0 },
	{ "disk", KEY_DISK, "NAME", 0, "Only this disk, or that of a file (iolat)", 0 },
	{ 0 },
};

static const struct argp_option process_options[] = {
	{ "pid", 'p', "PID", 0, "Caches only of this process", 0 },
	{ "cgroup", KEY_CGROUP, "PATH", 0, "Caches only of this cgroup (v2) and below", 0 },
	{ "comm", KEY_COMM, "NAME", 0, "Caches only of processes with this name", 0 },
	{ 0 },
};

static const struct argp_option split_options[] = {
	{ "by", KEY_BY, "LIST", 0, "Split by process, thread, cgroup, disk, op, ...", 0 },
	{ "top", KEY_TOP, "N", 0, "Show at most N keys per split (10)", 0 },
	{ 0 },
};

static const struct argp_option probe_options[] = {
	{ "tail-us", KEY_TAIL_US, "N", 0, "Tail: N us or more (8), or iolat=N (1024), a list", 0 },
	{ "method", KEY_METHOD, "NAME", 0, "Use this method and no other; see doctor", 0 },
	{ "metric", KEY_METRIC, "NAME", 0, "Also measure wakeup (runqlat) or wait (iolat)", 0 },
	{ "max-keys", KEY_MAX_KEYS, "N", 0, "Maximum keys per probe; the rest: (other) (1024)", 0 },
	{ 0 },
};

static const struct argp_option output_options[] = {
	{ "output", 'o', "DIR", 0, "Create a recording in DIR", 0 },
	{ "label", KEY_LABEL, "KEY=VALUE", 0, "Add a label to the recording; repeatable", 0 },
	{ "max-size", KEY_MAX_SIZE, "SIZE", 0, "Maximum size of the recording: 500M, 2G", 0 },
	{ "min-free", KEY_MIN_FREE, "SIZE", 0, "Keep SIZE free on the disk (64M or 1 %)", 0 },
	{ 0 },
};

static const struct argp_option format_options[] = {
	{ "json", KEY_JSON, 0, 0, "Print JSON", 0 },
	{ "csv", KEY_CSV, 0, 0, "Print CSV", 0 },
	{ 0 },
};

static const struct argp_option metrics_options[] = {
	{ "quiet", 'q', 0, 0, "Print no progress and no warnings", 0 },
	{ "verbose", 'v', 0, 0, "Show every metric in full, and verifier logs", 0 },
	{ "help", 'h', 0, 0, "Print this help", 0 },
	{ 0 },
};

static const struct argp_option general_options[] = {
	{ "quiet", 'q', 0, 0, "Print no progress and no warnings", 0 },
	{ "verbose", 'v', 0, 0, "Print details, such as verifier logs", 0 },
	{ "help", 'h', 0, 0, "Print this help", 0 },
	{ 0 },
};

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

int options__duration(struct options *options, const char *name, const char *text, uint64_t *ns)
{
	switch (units__parse_duration(text, ns)) {
	case 0:
		return 0;
	case -ERANGE:
		return options__fail(options, "%s %s: use a time above 0 and up to 30 days", name,
				     text);
	default:
		return options__fail(options, "%s '%s': invalid duration; use 10s, 500ms, 2m or 1h",
				     name, text);
	}
}

int options__tails(struct options *options, const char *text, struct tails *tails)
{
	char wrong[RUN_TEXT];

	switch (tails__parse(tails, text, wrong)) {
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

int options__count(struct options *options, const char *name, const char *text, uint64_t low,
		   uint64_t high, uint64_t *value)
{
	switch (units__parse_count(text, low, high, value)) {
	case 0:
		return 0;
	case -ERANGE:
		return options__fail(options, "%s %s: use a number from %llu to %llu", name, text,
				     (unsigned long long)low, (unsigned long long)high);
	default:
		return options__fail(options, "%s '%s': not a whole number", name, text);
	}
}

int options__percent(struct options *options, const char *name, const char *text, double low,
		     double high, double *share)
{
	switch (units__parse_percent(text, low, high, share)) {
	case 0:
		return 0;
	case -ERANGE:
		return options__fail(options, "%s %s: use %g to %g percent", name, text, low, high);
	default:
		return options__fail(options, "%s '%s': invalid percentage", name, text);
	}
}

int options__size(struct options *options, const char *name, const char *text, uint64_t low,
		  uint64_t *bytes)
{
	char least[UNITS_TEXT];
	int err;

	err = units__parse_size(text, bytes);
	if (err == -EINVAL)
		return options__fail(options, "%s '%s': invalid size; use 65536, 500M or 2G", name,
				     text);
	if (err || *bytes < low)
		return options__fail(options, "%s %s: use a size from %s to 1 EiB", name, text,
				     units__size(least, low));
	return 0;
}

static int set_u32(struct options *options, const char *name, const char *text, uint64_t high,
		   uint32_t *value)
{
	uint64_t parsed = 0;
	int err;

	err = options__count(options, name, text, 1, high, &parsed);
	*value = (uint32_t)parsed;
	return err;
}

static int set_text(struct options *options, const char *name, const char *text, const char **value)
{
	if (!*text)
		return options__fail(options, "%s is empty", name);
	*value = text;
	return 0;
}

static int set_comm(struct options *options, const char *text)
{
	if (strlen(text) >= LAT_COMM_LEN)
		return options__fail(options,
				     "--comm '%s' matches nothing: the kernel keeps %d bytes of a "
				     "name",
				     text, LAT_COMM_LEN - 1);
	return set_text(options, "--comm", text, &options->target.comm);
}

static int set_cpus(struct options *options, const char *text)
{
	uint64_t mask[LAT_CPUS / 64];

	switch (cpu_list__parse(text, mask)) {
	case 0:
		return set_text(options, "--cpu", text, &options->target.cpus);
	case -ERANGE:
		return options__fail(options, "--cpu %s: use numbers from 0 to %d", text,
				     LAT_CPUS - 1);
	default:
		return options__fail(options, "--cpu '%s': invalid list; use 3, 0-3 or 1,3-5",
				     text);
	}
}

static int set_by(struct options *options, const char *text)
{
	uint32_t all = (1U << LAT_BY_COUNT) - 1;
	char names[SPLIT_TEXT];
	uint32_t mask;

	if (split__parse(text, &mask))
		return options__fail(options, "--by '%s': unknown split; choose from %s", text,
				     split__list(all, names));
	options->by |= mask;
	return 0;
}

int options__label(struct options *options, const char *text)
{
	size_t len = strcspn(text, "=");
	struct run_label *label;

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

static int parse_filter(struct options *options, int key, const char *arg)
{
	switch (key) {
	case 'p':
		return set_u32(options, "--pid", arg, MAX_PID, &options->target.pid);
	case 't':
		return set_u32(options, "--tid", arg, MAX_PID, &options->target.tid);
	case KEY_CGROUP:
		return set_text(options, "--cgroup", arg, &options->target.cgroup);
	case KEY_COMM:
		return set_comm(options, arg);
	case KEY_CPU:
		return set_cpus(options, arg);
	case KEY_DISK:
		return set_text(options, "--disk", arg, &options->target.disk);
	}
	return ARGP_ERR_UNKNOWN;
}

static int parse_window(struct options *options, int key, const char *arg)
{
	switch (key) {
	case 'd':
		return options__duration(options, "--duration", arg, &options->duration_ns);
	case 'i':
		return options__duration(options, "--interval", arg, &options->interval_ns);
	case KEY_USER:
		return set_text(options, "--user", arg, &options->user);
	case KEY_BY:
		return set_by(options, arg);
	case KEY_TOP:
		return set_u32(options, "--top", arg, MAX_TOP, &options->top);
	case KEY_METRIC:
		options->metric = arg;
		return 0;
	case KEY_METHOD:
		return set_text(options, "--method", arg, &options->method);
	case KEY_TAIL_US:
		return options__tails(options, arg, &options->tails);
	case KEY_MAX_KEYS:
		return set_u32(options, "--max-keys", arg, MAX_KEYS, &options->max_keys);
	}
	return parse_filter(options, key, arg);
}

static int parse_output(struct options *options, int key, const char *arg)
{
	switch (key) {
	case 'o':
		return set_text(options, "--output", arg, &options->output);
	case KEY_LABEL:
		return options__label(options, arg);
	case KEY_MAX_SIZE:
		return options__size(options, "--max-size", arg, MIN_MAX_SIZE,
				     &options->recording.max_size);
	case KEY_MIN_FREE:
		return options__size(options, "--min-free", arg, 0, &options->recording.min_free);
	case KEY_JSON:
		options->json = true;
		return 0;
	case KEY_CSV:
		options->csv = true;
		return 0;
	case 'q':
		options->quiet = true;
		return 0;
	case 'v':
		options->verbose = true;
		return 0;
	case 'h':
		options->help = true;
		return ECANCELED;
	}
	return parse_window(options, key, arg);
}

/* Handles the options of all groups: the tables decide which of them a command takes. */
static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	if (key == ARGP_KEY_ARGS) {
		options->args = state->argv + state->next;
		options->nr_args = state->argc - state->next;
		return 0;
	}
	/*
	 * Often an empty variable in a script. Without a workload latscope would run until Ctrl-C.
	 */
	if (key == ARGP_KEY_NO_ARGS && state->quoted && options->takes_workload &&
	    !options->nr_args)
		return options__fail(options, "missing workload after '--'");
	return parse_output(options, key, arg);
}

static int check(struct options *options)
{
	char one[UNITS_TEXT], two[UNITS_TEXT];

	if (!options->takes_workload && options->nr_args > options->max_args)
		return options__fail(options, "unexpected argument '%s'",
				     options->args[options->max_args]);
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

/* The command's own options, then the common groups that it takes. */
#define MAX_CHILDREN 10

struct tables {
	struct argp common[MAX_CHILDREN];
	struct argp_child children[MAX_CHILDREN + 2];
	struct argp own; /* its texts are in root */
	struct argp root;
	unsigned int nr_common;
	void *own_input;
	struct options *options;
	int failed_at;
};

static const struct {
	unsigned int group, unless;
	const char *title;
	const struct argp_option *options;
} groups[] = {
	{ OPTIONS_WINDOW, 0, "Window:", window_options },
	{ OPTIONS_WORKLOAD, 0, "Workload:", workload_options },
	{ OPTIONS_FILTER, 0, "Filters:", filter_options },
	{ OPTIONS_PROCESS, 0, "Filters (method resctrl):", process_options },
	{ OPTIONS_SPLIT, 0, "Split:", split_options },
	{ OPTIONS_PROBE, 0, "Measurement:", probe_options },
	{ OPTIONS_OUTPUT, 0, "Recording:", output_options },
	{ OPTIONS_FORMAT, 0, "Output:", format_options },
	{ OPTIONS_METRICS, 0, "General:", metrics_options },
	{ 0, OPTIONS_METRICS, "General:", general_options },
};
_Static_assert(COUNT_OF(groups) <= MAX_CHILDREN, "room for every group");

static error_t parse_root(int key, char *arg, struct argp_state *state)
{
	struct tables *tables = state->input;

	(void)arg;
	if (key == ARGP_KEY_ERROR)
		tables->failed_at = state->next;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	for (unsigned int i = 0; i < tables->nr_common; i++)
		state->child_inputs[i] = tables->options;
	if (tables->children[tables->nr_common].argp)
		state->child_inputs[tables->nr_common] = tables->own_input;
	return 0;
}

static void build(struct tables *tables, struct options *options, const struct argp *own,
		  void *input)
{
	unsigned int nr = 0;

	memset(tables, 0, sizeof(*tables));
	tables->options = options;
	tables->own_input = input;
	for (unsigned int i = 0; i < COUNT_OF(groups); i++) {
		if (groups[i].group && !(options->groups & groups[i].group))
			continue;
		if (options->groups & groups[i].unless)
			continue;
		tables->common[nr].options = groups[i].options;
		tables->common[nr].parser = parse_common;
		tables->children[nr].argp = &tables->common[nr];
		tables->children[nr].header = groups[i].title;
		tables->children[nr].group = (int)i + 2;
		nr++;
	}
	tables->nr_common = nr;
	tables->root.parser = parse_root;
	tables->root.children = tables->children;
	if (!own)
		return;
	tables->own.options = own->options;
	tables->own.parser = own->parser;
	tables->children[nr].argp = &tables->own;
	tables->children[nr].header = options->own_title;
	tables->children[nr].group = 1;
	tables->root.args_doc = own->args_doc;
	tables->root.doc = own->doc;
}

struct match {
	const struct argp_option *option;
	unsigned int nr;
	bool exact;
};

static void match_long(const struct argp_option *option, const char *name, size_t len,
		       struct match *match)
{
	for (; options__more(option); option++) {
		bool exact;

		if (!option->name || strncmp(option->name, name, len))
			continue;
		exact = strlen(option->name) == len;
		if (match->exact)
			continue;
		match->nr = exact ? 1 : match->nr + 1;
		match->option = option;
		match->exact = exact;
	}
}

static int fault_in_long(struct options *options, const struct tables *tables, const char *arg)
{
	size_t len = strcspn(arg + 2, "=");
	struct match match = { 0 };

	for (const struct argp_child *child = tables->children; child->argp; child++)
		match_long(child->argp->options, arg + 2, len, &match);
	if (!match.nr)
		return options__fail(options, "unknown option '%s'", arg);
	if (match.nr > 1)
		return options__fail(options, "ambiguous option '%s'", arg);
	if (match.option->arg && !arg[2 + len])
		return options__fail(options, "--%s needs a value", match.option->name);
	if (!match.option->arg && arg[2 + len])
		return options__fail(options, "--%s takes no value", match.option->name);
	return 0;
}

static const struct argp_option *find_short(const struct tables *tables, int letter)
{
	for (const struct argp_child *child = tables->children; child->argp; child++) {
		const struct argp_option *option = child->argp->options;

		for (; options__more(option); option++) {
			if (option->key == letter)
				return option;
		}
	}
	return NULL;
}

static int fault_in_short(struct options *options, const struct tables *tables, const char *arg)
{
	for (const char *letter = arg + 1; *letter; letter++) {
		const struct argp_option *option = find_short(tables, *letter);

		if (!option)
			return options__fail(options, "unknown option '-%c'", *letter);
		if (option->arg)
			return letter[1] ? 0 : options__fail(options, "-%c needs a value", *letter);
	}
	return 0;
}

/* argp would print the reason to stderr itself, in two lines: find the reason again. */
static void explain(struct options *options, const struct tables *tables, int argc, char **argv)
{
	int next = tables->failed_at;

	for (int i = next > 1 ? next - 1 : 1; i <= next && i < argc; i++) {
		const char *arg = argv[i];

		if (arg[0] != '-' || !arg[1])
			continue;
		if (arg[1] == '-' ? fault_in_long(options, tables, arg)
				  : fault_in_short(options, tables, arg))
			return;
	}
	options__fail(options, "invalid options");
}

void options__answer_by(options_answer *other)
{
	answer = other;
}

int options__parse(struct options *options, const struct argp *own, void *input, int argc,
		   char **argv, FILE *help)
{
	unsigned int flags = ARGP_NO_ERRS | ARGP_NO_HELP | ARGP_NO_EXIT;
	char name[RUN_NAME];
	struct tables tables;
	int err;

	build(&tables, options, own, input);
	if (answer) {
		answer(options->command, tables.children, options->takes_workload);
		return 1;
	}
	options->top = OPTIONS_TOP;
	options->max_keys = OPTIONS_MAX_KEYS;
	options->recording.min_free = SIZE_LIMITS_MIN_FREE;
	if (options->takes_workload)
		flags |= ARGP_IN_ORDER;
	err = argp_parse(&tables.root, argc, argv, flags, NULL, &tables);
	if (options->help) {
		snprintf(name, sizeof(name), "latscope %s", options->command);
		argp_help(&tables.root, help,
			  ARGP_HELP_SHORT_USAGE | ARGP_HELP_LONG | ARGP_HELP_DOC, name);
		return 1;
	}
	if (!err)
		err = check(options);
	else if (!options->error[0])
		explain(options, &tables, argc, argv);
	return err ? -EINVAL : 0;
}
