// SPDX-License-Identifier: BSD-2-Clause
/* record, and memlat, runqlat, iolat and rmid, which are record with one module. */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <core/split.h>
#include <print/rmid_text.h>
#include <print/streams.h>
#include <print/text.h>
#include <print/tierlat.h>
#include <session/session.h>
#include <session/target.h>
#include <session/workload.h>
#include <store/csv.h>
#include <store/json.h>
#include <store/recording.h>

#include "cmd.h"
#include "log.h"
#include "options.h"
#include "output.h"
#include "rmid.h"
#include "tiers.h"

#define MOST_INTERVAL_NS 1000000000ULL
#define LEAST_INTERVAL_NS 10000000ULL
#define INTERVALS 60
#define DEFAULT_DIR "runs"

struct record {
	const char *command;
	bool all; /* the command is record */
	struct options options;
	struct lat_config config;
	struct run *run;
	struct session *session;
	struct recording recording;
	struct restore *lent; /* gives the recording back to root */
	struct rmid_command rmid;
	struct tiers_command tiers;
	struct workload_user user; /* of the workload */
};

enum key { KEY_WITH_RMID = 0x200, KEY_TIERS, KEY_TIERS_AT };

static const struct argp_option record_options[] = {
	{ "rmid", KEY_WITH_RMID, 0, 0, "Also who has the CPUs and caches, by process and ms", 0 },
	{ "tiers", KEY_TIERS, 0, 0, "Sample the latency of memory tiers too (see tierlat)", 0 },
	{ "tiers-at", KEY_TIERS_AT, "MODEL:BOXES:DIR", OPTION_HIDDEN, 0, 0 },
	{ 0 },
};

static const char record_doc[] =
	"Measures page-fault, run-queue and block-I/O latency of the whole machine at the same "
	"time, and leaves a directory with the histograms, their summaries and run.db. With a "
	"workload, the window is the workload's life.\v"
	"Examples:\n"
	"  latscope record -d 10s                    ten seconds of all, into runs/\n"
	"  latscope record -o runs/ -- make -j8      while a command runs\n"
	"  latscope record -d 1m --by process,disk   who waited, and for which disk\n"
	"  latscope record -d 1h -i 10s --label host=db1\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 this machine cannot.";

static const char probe_doc[] =
	"Measures one latency of the whole machine, or of what the filters leave, until -d has "
	"passed, the workload has ended or Ctrl-C.\v"
	"Examples:\n"
	"  latscope runqlat -d 5s                    who waits for a CPU, and how long\n"
	"  latscope iolat --by disk,op -i 1s         a line a second, tables at the end\n"
	"  latscope memlat -p 1234 --json            one process, for a script\n"
	"  latscope memlat -- ./workload             while a command runs\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 this machine cannot.";

static const char rmid_doc[] =
	"Tells who has the CPUs, and with a PMU and RDT how many cycles, instructions, cache "
	"misses, how much cache and memory traffic, by process and slot of 1 ms, until -d has "
	"passed, the workload has ended or Ctrl-C.\v"
	"Examples:\n"
	"  latscope rmid -d 5s                       who had the CPUs\n"
	"  latscope rmid -i 1s                       a table a second\n"
	"  latscope rmid -d 1s --csv                 every millisecond of every process\n"
	"  latscope rmid --counters page-faults -o runs/ -- ./workload\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 this machine cannot.";

/* Is rmid all that it does? */
static bool is_rmid(const struct record *record)
{
	return !strcmp(record->command, "rmid");
}

/* An error that was printed; the exit code. */
static int failed(const struct record *record, const char *why, const char *todo, int code)
{
	log__error(record->command, why, todo);
	return code;
}

static int out_of_memory(const struct record *record)
{
	return failed(record, "out of memory", NULL, EXIT_ERROR);
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct record *record = state->input;

	if (is_rmid(record))
		return rmid__parse(&record->rmid, key, arg);
	switch (key) {
	case KEY_WITH_RMID:
		record->rmid.wanted = true;
		return 0;
	case KEY_TIERS_AT:
		record->tiers.wanted = true;
		return tiers__parse_place(&record->tiers, arg);
	case KEY_TIERS:
		record->tiers.wanted = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static int parse(struct record *record, int argc, char **argv)
{
	struct argp own = {
		.options = record->all ? record_options : NULL,
		.parser = parse_own,
		.args_doc = "[-- WORKLOAD ARG...]",
		.doc = record->all ? record_doc : probe_doc,
	};
	struct options *options = &record->options;
	int got;

	options->command = record->command;
	options->groups = OPTIONS_WINDOW | OPTIONS_FILTER | OPTIONS_SPLIT | OPTIONS_PROBE |
			  OPTIONS_OUTPUT | OPTIONS_FORMAT | OPTIONS_METRICS | OPTIONS_WORKLOAD;
	options->own_title = record->all ? "What is measured beside:" : NULL;
	options->takes_workload = true;
	record->rmid.options = options;
	record->tiers.options = options;
	if (is_rmid(record)) {
		own.options = rmid_options;
		own.doc = rmid_doc;
		options->groups =
			OPTIONS_WINDOW | OPTIONS_OUTPUT | OPTIONS_FORMAT | OPTIONS_WORKLOAD;
		record->rmid.wanted = true;
	}
	got = options__parse(options, &own, record, argc, argv, stdout);
	log__set_level(options->quiet ? LOG_QUIET : LOG_NORMAL);
	if (!got && options->csv && record->all)
		got = options__fail(options,
				    "--csv is for one module; the recording's directory has "
				    "the CSV of each");
	if (got < 0)
		log__usage(record->command, options->error);
	return got;
}

static const struct probe_ops *probe_of(const struct record *record, size_t i)
{
	if (record->all)
		return probe_list[i];
	if (is_rmid(record))
		return NULL;
	return i ? NULL : probe__find(record->command);
}

/* What a module is asked for, as far as a method may be unable to do it. */
static struct lat_config asked(const struct options *options, const struct probe_ops *ops)
{
	struct lat_config config = {
		.by = options->by,
		.tgid = options->target.pid,
		.tid = options->target.tid,
		.cgroup = options->target.cgroup != NULL,
		.metrics = options->metric ? probe__find_metric(ops, options->metric) : 0,
	};

	if (options->target.comm)
		strncpy(config.comm, options->target.comm, sizeof(config.comm) - 1);
	return config;
}

/* The option that the method asked for cannot do, wherever it runs; NULL: none. */
static const char *beyond_method(const struct record *record, const struct probe_ops *ops,
				 char option[RUN_TEXT])
{
	const char *name = record->options.method;
	const struct probe_method *method = name ? probe__find_method(ops, name) : NULL;
	struct lat_config config = asked(&record->options, ops);

	return method ? probe__beyond(method, &config, option) : NULL;
}

/* What no module of this command knows is wrong usage, not a silent nothing. */
static int check_probes(const struct record *record)
{
	const struct options *options = &record->options;
	const struct probe_ops *ops;
	uint32_t splits = 0;
	bool method = !options->method, disk = !options->target.disk, metric = !options->metric;
	char text[RUN_TEXT], names[SPLIT_TEXT], option[RUN_TEXT];

	for (size_t i = 0; (ops = probe_of(record, i)); i++) {
		splits |= ops->splits;
		method = method || probe__find_method(ops, options->method);
		disk = disk || target__knows_disks(ops);
		metric = metric || probe__find_metric(ops, options->metric);
	}
	if (options->by & ~splits) {
		split__list(options->by & ~splits, names);
		snprintf(text, sizeof(text), "--by %s does not apply here", names);
	} else if (!disk) {
		snprintf(text, sizeof(text), "--disk does not apply here");
	} else if (!metric) {
		snprintf(text, sizeof(text), "no optional metric '%.64s'", options->metric);
	} else if (!method) {
		snprintf(text, sizeof(text), "no method '%.64s'", options->method);
	} else if (!record->all && (ops = probe_of(record, 0)) &&
		   beyond_method(record, ops, option)) {
		snprintf(text, sizeof(text),
			 "method %.32s cannot do %.60s; leave out --method or %.60s",
			 options->method, option, option);
	} else {
		return EXIT_DONE;
	}
	log__usage(record->command, text);
	return EXIT_USAGE;
}

static int set_config(struct record *record)
{
	const struct options *options = &record->options;
	struct lat_config *config = &record->config;
	char why[TARGET_WHY];
	int err;

	config->tail_ns = options->tail_ns ? options->tail_ns : OPTIONS_TAIL_NS;
	config->by = options->by;
	config->rows = options->max_keys + 1;
	err = target__resolve(&options->target, config, why);
	if (err < 0)
		return failed(record, why, NULL, EXIT_ERROR);
	if (err > 0)
		log__warn(record->command, why, NULL);
	return EXIT_DONE;
}

/*
 * Whether it is the machine that cannot, or the method, whose name is NULL if none was asked for.
 */
static void explain_refused(const struct record *record, const struct probe_ops *ops,
			    const char *method, const char *why)
{
	char what[RUN_TEXT], todo[RUN_TEXT], option[RUN_TEXT];

	why = probe__reason(why, method);
	if (!beyond_method(record, ops, option)) {
		log__refused(ops->name, method, why);
		return;
	}
	snprintf(what, sizeof(what), "%s cannot be measured by method %s", ops->name, method);
	snprintf(todo, sizeof(todo), "leave out --method or %.60s", option);
	log__error(what, why, todo);
}

static int open_probes(struct record *record)
{
	const char *wanted = record->options.method, *method;
	const struct probe_ops *ops;
	struct run_probe *entry;
	int err;

	for (size_t i = 0; (ops = probe_of(record, i)); i++) {
		entry = &record->run->probes[record->run->nr_probes];
		method = wanted && probe__find_method(ops, wanted) ? wanted : NULL;
		record->config.metrics = asked(&record->options, ops).metrics;
		err = session__add(record->session, ops, &record->config, method);
		if (err)
			return failed(record, strerror(-err), NULL, EXIT_ERROR);
		if (entry->refused[0])
			explain_refused(record, ops, method, entry->refused);
		entry->filter = target__describe(&record->options.target, &record->config, ops);
	}
	return EXIT_DONE;
}

static bool any_works(const struct run *run)
{
	for (unsigned int i = 0; i < run->nr_probes; i++)
		if (!run->probes[i].refused[0])
			return true;
	return false;
}

/* Opens every module. Those that cannot run are named; only if none can is it an error. */
static int open_all(struct record *record)
{
	int code;

	code = open_probes(record);
	if (!code && record->rmid.wanted) {
		if (probe__filters_tasks(&record->config))
			log__warn("rmid tells of all processes",
				  "the filter is for the other modules", NULL);
		code = rmid__add(&record->rmid, record->session);
	}
	if (!code && record->tiers.wanted)
		code = tiers__add(&record->tiers, record->session);
	if (code)
		return code;
	return any_works(record->run) ? EXIT_DONE : EXIT_CANNOT;
}

static int open_output(struct record *record)
{
	const struct options *options = &record->options;
	const char *dir = options->output;
	int code;

	if (!dir && record->all)
		dir = DEFAULT_DIR;
	code = output__create(&record->recording, dir, options);
	if (!code)
		code = output__lend(&record->lent, &record->recording);
	if (code)
		return code;
	if (options->csv && is_rmid(record))
		recording__add(&record->recording, &writer_live_csv);
	if (!options->interval_ns || options->csv)
		return EXIT_DONE;
	if (options->json)
		recording__add(&record->recording, &writer_live_json);
	else if (record->rmid.wanted)
		recording__add(&record->recording, &writer_live_rmid)->state = &record->options.top;
	else
		recording__add(&record->recording, &writer_live);
	return EXIT_DONE;
}

static char *join(char *const argv[])
{
	size_t len = 1;
	char *text;

	for (int i = 0; argv[i]; i++)
		len += strlen(argv[i]) + 1;
	text = calloc(1, len);
	for (int i = 0; text && argv[i]; i++) {
		strcat(text, argv[i]);
		if (argv[i + 1])
			strcat(text, " ");
	}
	return text;
}

/*
 * Enough intervals for report and compare, which need ten, whatever the duration. Shorter ones than
 * 10 ms would cost more than they tell. Rounded up, so that none of a few ns is left at the end.
 */
static uint64_t default_interval_ns(uint64_t duration_ns)
{
	uint64_t part = (duration_ns + INTERVALS - 1) / INTERVALS;

	if (!duration_ns || part > MOST_INTERVAL_NS)
		return MOST_INTERVAL_NS;
	return part < LEAST_INTERVAL_NS ? LEAST_INTERVAL_NS : part;
}

static int describe_run(struct record *record)
{
	const struct options *options = &record->options;
	struct run *run = record->run;

	run->interval_ns = options->interval_ns ? options->interval_ns
						: default_interval_ns(options->duration_ns);
	run->tail_ns = record->config.tail_ns;
	run->filter = target__describe(&options->target, &record->config, NULL);
	if (options->nr_args) {
		run->workload = join(options->args);
		if (!run->workload)
			return out_of_memory(record);
	}
	return recording__describe(run, &options->recording) ? out_of_memory(record) : EXIT_DONE;
}

/* What the workload or -i prints would continue its line. */
static bool is_alone(const struct options *options)
{
	return !options->nr_args && !(options->interval_ns && isatty(STDOUT_FILENO));
}

static void progress(uint64_t elapsed_ns, uint64_t duration_ns)
{
	if (duration_ns)
		log__progress("%.1f s of %.1f s", elapsed_ns / 1e9, duration_ns / 1e9);
	else
		log__progress("%.1f s; Ctrl-C ends it", elapsed_ns / 1e9);
}

/* A module that has a table instead of metrics. */
static int print_table(const struct record *record, const struct run_probe *entry)
{
	if (rmid__has_rows(entry))
		return rmid__print(stdout, record->run, entry, record->options.top);
	tierlat_print__summary(stdout, record->run, entry);
	return 0;
}

static int print_text(const struct record *record)
{
	const struct run_probe *entry = record->run->probes;
	int err = 0;

	struct text_style style = {
		.color = isatty(STDOUT_FILENO) && !getenv("NO_COLOR"),
		.all_metrics = record->options.verbose,
		.top = record->options.top,
	};

	text__run(stdout, record->run);
	for (; !err && entry < record->run->probes + record->run->nr_probes; entry++) {
		if (entry->table)
			err = print_table(record, entry);
		else
			text__probe(stdout, record->run, entry, &style);
	}
	text__processes(stdout, record->run, style.top);
	return err;
}

/* Whether stdout took it is for main to see. */
static int print_result(const struct record *record)
{
	int err = 0;

	if (record->options.json)
		err = json__print(json__run(record->run), stdout, !record->options.interval_ns);
	else if (!record->options.csv)
		err = print_text(record);
	else if (!is_rmid(record))
		csv__histogram(stdout, &record->run->probes[0].total.metrics[0].hist);
	if (err)
		return out_of_memory(record);
	streams__flush();
	output__show(&record->recording);
	return EXIT_DONE;
}

static void warn_of_workload(const struct record *record, const struct session_result *result)
{
	unsigned long long outlived = record->run->workload_outlived;
	int status = record->run->workload_status;
	char why[RUN_TEXT];

	if (record->run->workload_uncounted) {
		log__warn("processes that the workload started and that outlived the window",
			  "cannot be counted",
			  "/proc hides the processes of other users (mount option hidepid)");
	} else if (outlived) {
		snprintf(why, sizeof(why), "%llu process%s that it started outlived the window",
			 outlived, outlived == 1 ? "" : "es");
		log__warn("the workload", why, "latscope does not end them");
	}
	if (result->workload_ended_early) {
		log__warn("the workload", "still ran when the window closed and was ended", NULL);
		return;
	}
	if (!record->run->workload || !status || status == RUN_NOT_ENDED)
		return;
	if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "was killed by signal %d (%s); the recording ends there",
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(why, sizeof(why), "exited with status %d", WEXITSTATUS(status));
	log__warn("the workload", why, NULL);
}

static int explain_fault(struct record *record, const struct session_result *result, int err)
{
	char what[PATH_MAX + RUN_TEXT];

	switch (result->fault) {
	case SESSION_PRIVILEGE:
		cmd__privileges_kept(result->why[0] ? result->why : strerror(-err));
		break;
	case SESSION_WORKLOAD:
		snprintf(what, sizeof(what), "cannot run '%s'", record->options.args[0]);
		log__error(what, strerror(-err),
			   err == -ENOENT ? "is the interpreter of its first line there?" : NULL);
		break;
	case SESSION_READ:
		log__error("cannot read what the probes counted", strerror(-err), NULL);
		break;
	case SESSION_WRITE:
		break;
	case SESSION_OK:
		log__error(record->command, strerror(-err), NULL);
		break;
	}
	return EXIT_ERROR;
}

static void write_failed(const struct writer *writer, int err)
{
	output__failed(writer, err);
}

static int measure(struct record *record)
{
	struct session_config config = {
		.duration_ns = record->options.duration_ns,
		.interval_ns = record->run->interval_ns,
		.workload = record->options.nr_args ? record->options.args : NULL,
		.user = record->user,
		.recording = &record->recording,
		.write_failed = write_failed,
		.progress = is_alone(&record->options) ? progress : NULL,
	};
	struct session_result result;
	int err, code;

	err = session__run(record->session, &config, &result);
	log__progress_end();
	/* Before anything is printed: what was found is to be there again whatever comes. */
	code = tiers__close(&record->tiers);
	if (err)
		code = explain_fault(record, &result, err);
	if (result.fault == SESSION_WORKLOAD || result.fault == SESSION_PRIVILEGE) {
		recording__discard(&record->recording);
		return code;
	}
	warn_of_workload(record, &result);
	if (result.room && !code)
		code = output__no_room(&record->recording, result.room);
	err = print_result(record);
	return code ? code : err;
}

static int find_user(struct record *record)
{
	const char *name = record->options.user;
	char what[PATH_MAX + RUN_TEXT];
	int err = name ? workload__find_user(&record->user, name) : 0;

	if (!err)
		return EXIT_DONE;
	snprintf(what, sizeof(what), "cannot run the workload as user '%s'", name);
	log__error(what, err == -ENOENT ? "no such user" : strerror(-err),
		   err == -EPERM ? "only root can" : NULL);
	return EXIT_ERROR;
}

static int check_workload(const struct record *record)
{
	const struct options *options = &record->options;
	char what[PATH_MAX + RUN_TEXT];
	int err;

	if (!options->nr_args)
		return EXIT_DONE;
	err = workload__find(options->args[0]);
	if (!err)
		return EXIT_DONE;
	snprintf(what, sizeof(what), "cannot run '%s'", options->args[0]);
	log__error(what, strerror(-err), "the workload must be an executable file");
	return EXIT_ERROR;
}

/* Everything that can fail does so before anything is attached or written. */
static int prepare(struct record *record)
{
	int code;

	code = check_probes(record);
	if (!code)
		code = cmd__check_kernel(record->command, record->options.verbose);
	if (!code)
		code = set_config(record);
	if (!code)
		code = check_workload(record);
	if (!code)
		code = find_user(record);
	if (!code)
		code = describe_run(record);
	if (!code)
		code = open_all(record);
	if (!code)
		code = open_output(record);
	return code;
}

static int run_record(struct record *record)
{
	int code;

	if (session__new(&record->session, record->run))
		return out_of_memory(record);
	code = prepare(record);
	if (!code)
		code = measure(record);
	tiers__close(&record->tiers);
	session__free(record->session);
	rmid__close(record->rmid.rmid);
	return output__end(record->lent, &record->recording, code);
}

int cmd_record(int argc, char **argv)
{
	struct record record = { .command = argv[0], .all = !strcmp(argv[0], "record") };
	int got, code;

	got = parse(&record, argc, argv);
	if (got)
		return got < 0 ? EXIT_USAGE : EXIT_DONE;
	record.run = calloc(1, sizeof(*record.run));
	if (!record.run)
		return out_of_memory(&record);
	code = run_record(&record);
	run__free(record.run);
	return code;
}
