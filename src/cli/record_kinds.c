// SPDX-License-Identifier: BSD-2-Clause
#include "record.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <core/units.h>

#include "output.h"

#define OWN struct record
#define MOST_EVENTS 65536
#define ACCOUNT_OVER_NS 1000000 /* shorter waits are of little account */
#define OVER_LIMITS "250us for a CPU, 100us for a disk, 1ms for others" /* see probe_ops.over_ns */

static int set_over(struct options *options, void *at, const char *text)
{
	struct record_why *why = at;

	why->over = text;
	why->request.over_ns = 0;
	why->request.quantile = 0;
	if (text[0] == 'p')
		return units__parse_percent(text + 1, 50, 99.9999, &why->request.quantile)
			       ? options__fail(options, "--over %s: use p50 to p99.9999", text)
			       : 0;
	return units__parse_duration(text, &why->request.over_ns)
		       ? options__fail(options,
				       "--over '%s': invalid threshold; use 1ms, 500us or p99.9",
				       text)
		       : 0;
}

#define WHY "why", 0, NULL, "Also say why the slow samples were slow; see why", OPT_FLAG(why.wanted)
#define OVER \
	"over", 0, "LIMIT", "Explain what took longer: 1ms, p99.9 (p99)", OPT_CALL_ON(set_over, why)
#define EVENTS                                                              \
	"events", 0, "N", "Room for N slow events between two reads (256)", \
		OPT_COUNT(why.request.events, 1, MOST_EVENTS)

static const struct option_row record_rows[] = {
	{ .help = "Slow samples:" },
	{ WHY },
	{ "over", 0, "LIMIT",
	  "Explain what took longer: 1ms, p99.9 (" OVER_LIMITS "; with --why p99)",
	  OPT_CALL_ON(set_over, why) },
	{ EVENTS },
	{ "no-why", 0, NULL, "Do not explain slow samples: costs less", OPT_FLAG(without_why) },
	{ .help = "Result:" },
	{ "report", 0, NULL, "Print what report prints: time line, correlation",
	  OPT_FLAG(with_report) },
	{ 0 },
};

_Static_assert(2 * RUN_PROBES + sizeof(record_rows) / sizeof(record_rows[0]) <= RECORD_ROWS,
	       "record.rows has room for options of all probes");

static const struct option_row probe_rows[] = { { WHY }, { OVER }, { EVENTS }, { 0 } };

static const struct option_row why_rows[] = { { OVER }, { EVENTS }, { 0 } };

static int set_threads(struct options *options, void *at, const char *text)
{
	(void)at;
	(void)text;
	options->by |= 1U << LAT_BY_THREAD;
	return 0;
}

static const struct option_row account_rows[] = {
	{ "threads", 0, NULL, "A row for each thread: --by thread", OPT_CALL(set_threads) },
	{ "over", 0, "LIMIT", "Say who caused waits of this time or more (" OVER_LIMITS ")",
	  OPT_CALL_ON(set_over, why) },
	{ EVENTS },
	{ "no-why", 0, NULL, "The parts without who caused waits: costs less",
	  OPT_FLAG(without_why) },
	{ "folded", 0, NULL, "Print the stacks of long sleeps for flamegraph.pl: in us",
	  OPT_FLAG(folded) },
	{ 0 },
};

static const struct option_row answer_rows[] = {
	{ "over", 0, "LIMIT", "Say who caused waits of this time or more (" OVER_LIMITS ")",
	  OPT_CALL_ON(set_over, why) },
	{ 0 },
};

static const struct option_row top_rows[] = {
	{ "replay", 0, "DIR", "Step through this recording instead", OPT_TEXT(top.replay) },
	{ OVER },
	{ "no-why", 0, NULL, "Do not explain slow samples: costs less", OPT_FLAG(top.without_why) },
	{ 0 },
};

static const char answer_doc[] =
	"Measures the machine, or what the filters select, for ten seconds, and says on one screen "
	"who waited for what, because of whom, and what to do next. Ctrl-C ends it sooner. With a "
	"workload, it is about that and its children.\v"
	"Examples:\n"
	"  latscope                                  the machine\n"
	"  latscope -p 1234                          one process\n"
	"  latscope --cgroup web.service -d 1m       a service, for a minute\n"
	"  latscope -o runs/ -- ./workload           a command; the recording is kept\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 not supported here.";

static const char record_doc[] =
	"Measures page faults, waits for a CPU, block I/O and the whole time of threads of the "
	"machine at the same time. Prints who waited for what, because of whom; -v and report "
	"print the histograms, too. Writes these, their summaries and run.db into a new directory. "
	"With a workload, it measures until the workload ends.\v"
	"Examples:\n"
	"  latscope record -d 10s                    ten seconds, into runs/\n"
	"  latscope record -o runs/ -- make -j8      while a command runs\n"
	"  latscope record -d 1m --by process,disk   who waited, and for which disk\n"
	"  latscope record --report -- latscope load pressure\n"
	"                                            do they follow memory pressure?\n"
	"  latscope record -d 1h -i 10s --label host=db1\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 not supported here.";

#define PROBE_DOC                                                                                \
	"Measures %s, of the whole machine or of what the filters select, until -d has passed, " \
	"the workload has ended or Ctrl-C.\v"                                                    \
	"Examples:\n%s\n"                                                                        \
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 not supported here."

static const char why_doc[] =
	"Explains what was slow: divides each slow page fault, wait for a CPU and block request "
	"into parts that sum to it, and names who caused it. Prints for each probe a conclusion, "
	"the parts, the worst pairs of victim and culprit, and the slowest events with their "
	"stacks. Measures until -d has passed, the workload has ended or Ctrl-C.\v"
	"Examples:\n"
	"  latscope why -d 10s                       the slowest 1 % of each probe\n"
	"  latscope why -d 10s --over 1ms -p 1234    what took a process over 1 ms\n"
	"  latscope runqlat --why -d 10s             only waits for a CPU\n"
	"  latscope why --by cgroup --over p99.9 -d 1m\n"
	"  latscope why --by cpu --cpu 2-7 --over 20us   who takes isolated CPUs\n"
	"  latscope why -o runs/ -- make -j8         while a command runs\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 not supported here.";

static const char account_doc[] =
	"Says where the time of threads went: on a CPU, waiting for a CPU, a disk, memory, a lock, "
	"a socket, for work. The parts sum to the life of each thread. Names who caused the "
	"waits. Measures until -d has passed, the workload has ended or Ctrl-C. With filters, the "
	"account is of these threads alone; with a workload, of that and its children.\v"
	"Examples:\n"
	"  latscope where -d 10s                     the machine: who waited, for what\n"
	"  latscope where -d 10s -p 1234             one process, all its parts\n"
	"  latscope where --cgroup web.service -i 1s a line each second\n"
	"  latscope where -d 10s --by call           in which system calls threads slept\n"
	"  latscope where --folded -d 10s | grep -v ';work;' | flamegraph.pl > off-cpu.svg\n"
	"                                            where long sleeps were in the kernel; only\n"
	"                                            those over the threshold\n"
	"  latscope where -- ./workload              a command, from its start to its end\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 not supported here.";

static const char top_doc[] =
	"Shows where the time of each process goes, as a bar of parts, who waited most, for what "
	"and because of whom. Tab goes on to each probe: rate, percentiles, a heat map of the last "
	"minutes. Enter explains a row: parts, percentiles, who caused them, chains of long waits, "
	"slow events. The key h lists the keys. With --replay it shows a recording "
	"in the same way; the arrow keys step in time, also while it is still being written.\v"
	"Examples:\n"
	"  latscope top                              where the time goes\n"
	"  latscope top -i 200ms --by process        five times a second\n"
	"  latscope top --cgroup /system.slice -o runs/   r records into runs/\n"
	"  latscope top --replay runs/20260102T030405Z\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 not supported here.";

#define CHOICE (OPTIONS_WINDOW | OPTIONS_FILTER | OPTIONS_SPLIT | OPTIONS_PROBE | OPTIONS_OUTPUT)
#define WORKLOAD (OPTIONS_FORMAT | OPTIONS_WORKLOAD)
#define WORKLOAD_ARGS .args = "[-- WORKLOAD ARG...]", .takes_workload = true

static const struct record_kind kinds[] = {
	{ .command = "record",
	  .usage = { .groups = CHOICE | WORKLOAD | OPTIONS_METRICS,
		     .rows = record_rows,
		     .title = "Additional probes:",
		     .doc = record_doc,
		     WORKLOAD_ARGS },
	  .dir = OUTPUT_DIR,
	  .answers = true },
	{ .command = "",
	  .accounts = true,
	  .usage = { .groups = OPTIONS_WINDOW | OPTIONS_FILTER | OPTIONS_OUTPUT | WORKLOAD,
		     .rows = answer_rows,
		     .title = "Threshold:",
		     .doc = answer_doc,
		     WORKLOAD_ARGS },
	  .answers = true,
	  .duration_ns = 10000000000ULL },
	{ .command = "why",
	  .usage = { .groups = CHOICE | WORKLOAD,
		     .rows = why_rows,
		     .title = "Threshold:",
		     .doc = why_doc,
		     WORKLOAD_ARGS },
	  .explains = true },
	{ .command = "top",
	  .usage = { .groups = CHOICE, .rows = top_rows, .title = "Screen:", .doc = top_doc },
	  .on_screen = true },
	{ .accounts = true,
	  .usage = { .groups = CHOICE | WORKLOAD,
		     .rows = account_rows,
		     .title = "Account:",
		     .doc = account_doc,
		     WORKLOAD_ARGS } },
	{ .usage = { .groups = CHOICE | WORKLOAD | OPTIONS_METRICS,
		     .rows = probe_rows,
		     .title = "Slow samples:",
		     WORKLOAD_ARGS } },
};

const struct record_kind *record_kind__find(const char *command, const struct probe_ops *ops)
{
	const struct record_kind *kind = kinds;

	while (ops ? kind->command || kind->accounts != !!ops->accounts
		   : strcmp(kind->command, command) != 0)
		kind++;
	return kind;
}

/* Appends the options that add a probe to record, or to top. */
static struct option_row *append_probes(struct option_row *row, bool top)
{
	for (int i = 0; probe_list[i]; i++) {
		const struct probe_command *command = probe_command__of(probe_list[i]);

		if (command->with && (!top || command->with_top))
			*row++ = (struct option_row){ command->with, 0, NULL, command->with_help,
						      /* cppcheck-suppress nullPointer */
						      OPT_FLAG(with[i]) };
	}
	return row;
}

/* Appends the hidden options that name a place for a probe that they add. */
static struct option_row *append_places(struct record *record, struct option_row *row)
{
	for (int i = 0; probe_list[i]; i++) {
		const struct probe_command *command = probe_command__of(probe_list[i]);

		if (!command->place)
			continue;
		snprintf(record->at[i], sizeof(record->at[i]), "%s-at", command->with);
		*row++ = (struct option_row){ record->at[i], 0, command->place, NULL,
					      /* cppcheck-suppress nullPointer */
					      OPT_WORDS(place[i]) };
	}
	return row;
}

static struct option_row *append(struct option_row *row, const struct option_row *rows)
{
	while (options__more(rows))
		*row++ = *rows++;
	return row;
}

static const char *const not_of_accounts[] = { "method", "metric", "tail-us", "max-keys", NULL };

/* The options that no method of this probe can follow. */
static void list_absent(struct record *record, const struct probe_ops *ops)
{
	const uint32_t tasks = 1U << LAT_BY_PROCESS | 1U << LAT_BY_THREAD | 1U << LAT_BY_CGROUP;
	const struct {
		const char *option;
		bool applies;
	} options[] = {
		{ "pid", ops->splits & tasks },
		{ "tid", ops->splits & tasks },
		{ "comm", ops->splits & tasks },
		{ "cgroup", ops->splits & tasks },
		{ "cpu", ops->splits & 1U << LAT_BY_CPU },
		{ "disk", ops->splits & 1U << LAT_BY_DISK },
		{ "metric", ops->optional },
		{ "tail-us", ops->tail_ns },
		{ "by", ops->splits },
		{ "method", ops->nr_methods > 1 },
	};
	size_t nr = 0;

	_Static_assert(sizeof(options) / sizeof(options[0]) == RECORD_ABSENT, "room for all");
	for (size_t i = 0; i < RECORD_ABSENT; i++)
		if (!options[i].applies)
			record->absent[nr++] = options[i].option;
}

static struct usage describe(struct record *record)
{
	const struct record_kind *kind = record->kind;
	struct option_row *row = record->rows;
	struct usage usage = kind->usage;

	if (kind->accounts) {
		usage.splits = record->only->splits;
		usage.more_splits = record->only->more_splits;
	}
	if (record->its->usage.rows)
		return record->its->usage;
	if (kind->accounts) {
		usage.absent = not_of_accounts;
	} else if (record->only && record->only->nr_methods) {
		list_absent(record, record->only);
		usage.absent = record->absent;
		snprintf(record->doc, sizeof(record->doc), PROBE_DOC, record->only->help,
			 record->only->examples ? record->only->examples : "");
		usage.doc = record->doc;
	}
	if (record->only && !record->only->explains && !kind->accounts)
		usage.rows = NULL;
	if (record->only || kind->explains)
		return usage;
	if (kind->on_screen)
		append_probes(append(row, usage.rows), true);
	else
		append(append_places(record, append_probes(row, false)), usage.rows);
	usage.rows = record->rows;
	return usage;
}

static int find_places(struct record *record)
{
	for (size_t i = 0; probe_list[i]; i++) {
		const struct probe_command *command = probe_command__of(probe_list[i]);

		if (!record->place[i])
			continue;
		record->with[i] = true;
		if (command->find(record->own[i], record->place[i]))
			return options__fail(&record->options, "--%s: %s", record->at[i],
					     command->place);
	}
	return 0;
}

/* Sets lat_config.why: 1 + the split that names victims and culprits; 0 if nothing is explained. */
static int check_why(struct record *record)
{
	struct options *options = &record->options;
	uint32_t tasks = 1U << LAT_BY_PROCESS | 1U << LAT_BY_THREAD | 1U << LAT_BY_CGROUP;
	uint32_t all = tasks | 1U << LAT_BY_CPU, by = options->by & tasks;
	bool only = record->kind->explains;

	if (record->kind->on_screen)
		record->why.wanted = !record->top.without_why;
	if (record->kind->answers && !record->without_why && !record->why.wanted &&
	    !record->why.over)
		record->why.request.over_ns = ACCOUNT_OVER_NS;
	if (record->kind->answers && record->without_why && record->why.wanted)
		return options__fail(options, "--why and --no-why exclude each other");
	if (record->kind->accounts)
		record->why.wanted = !record->without_why;
	if (record->kind->accounts && by & (by - 1))
		return options__fail(options,
				     "--by takes one of process, thread, cgroup, and call, "
				     "state");
	if (record->kind->accounts && record->why.wanted && !record->why.over)
		record->why.request.over_ns = ACCOUNT_OVER_NS;
	if (!record->why.wanted && !only && (record->without_why || !record->kind->answers))
		return record->why.over || record->why.request.events
			       ? options__fail(options, "--over and --events need --why")
			       : 0;
	if (only && (options->by & (options->by - 1) || options->by & ~all))
		return options__fail(options, "--by takes one of process, thread, cgroup, cpu");
	record->config.why = 1 + (by & 1U << LAT_BY_PROCESS  ? LAT_BY_PROCESS
				  : by & 1U << LAT_BY_THREAD ? LAT_BY_THREAD
				  : by & 1U << LAT_BY_CGROUP ? LAT_BY_CGROUP
				  : only && options->by	     ? LAT_BY_CPU
							     : LAT_BY_PROCESS);
	if (only)
		options->by = 0;
	return 0;
}

static int check_folded(struct record *record)
{
	struct options *options = &record->options;

	if (record->without_why)
		return options__fail(options, "--folded needs what --no-why leaves out");
	if (options->json || options->csv || options->interval_ns)
		return options__fail(options, "--folded prints stacks; leave out --json, --csv and "
					      "-i");
	return 0;
}

static int check(struct record *record, void *own)
{
	struct options *options = &record->options;
	int err = find_places(record);

	if (err)
		return err;
	if (!options->duration_ns && !options->nr_args)
		options->duration_ns = record->kind->duration_ns;
	if (options->csv && !record->only)
		return options__fail(options, "--csv is for one probe; the recording's directory "
					      "has the CSV of each");
	for (unsigned int i = 0; i < options->tails.nr; i++)
		if (!probe__find(options->tails.of[i].probe))
			return options__fail(options, "--tail-us '%s': unknown probe",
					     options->tails.of[i].probe);
	err = check_why(record);
	if (!err && record->folded)
		err = check_folded(record);
	for (size_t i = 0; i < RUN_PROBES; i++)
		record->top.adds_probe |= record->with[i];
	if (!err && record->kind->on_screen)
		err = top__check(&record->top);
	if (!err && record->its->usage.check)
		err = record->its->usage.check(options, own);
	return err;
}

int record__parse(struct record *record, void *own)
{
	const struct usage usage = describe(record);
	int got;

	record->top.options = &record->options;
	got = options__parse(&record->options, &usage, record->its->usage.rows ? own : record,
			     record->argc, record->argv, stdout);
	return options__end(&record->options, got ? got : check(record, own));
}
