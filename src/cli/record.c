// SPDX-License-Identifier: BSD-2-Clause
/*
 * record; the commands of probes, which are record with one probe; why and top, which show the same
 * in another way.
 */
#include "record.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <core/split.h>
#include <core/units.h>
#include <core/why.h>
#include <print/probe_view.h>
#include <session/target.h>

#include "cmd.h"
#include "log.h"
#include "outcome.h"
#include "output.h"
#include "result.h"

#define MOST_INTERVAL_NS 1000000000ULL
#define LEAST_INTERVAL_NS 10000000ULL
#define INTERVALS 60
#define REPORT_INTERVAL_NS 100000000ULL /* of a workload, which may take only some seconds */

/* Does it measure a single probe that has a table and no histograms? */
static bool has_table(const struct record *record)
{
	return record->only && !record->only->nr_metrics;
}

/* Prints an error and returns the exit code. */
static int failed(const struct record *record, const char *why, const char *todo, int code)
{
	log__error(record->command, why, todo);
	return code;
}

static int out_of_memory(const struct record *record)
{
	return failed(record, "out of memory", NULL, EXIT_ERROR);
}

static size_t number_of(const struct probe_ops *ops)
{
	size_t i = 0;

	while (probe_list[i] != ops)
		i++;
	return i;
}

/* The options that only this probe has; NULL: it has none. */
static void *own_of(const struct record *record, const struct probe_ops *ops)
{
	return record->own[number_of(ops)];
}

static bool is_wanted(const struct record *record, const struct probe_ops *ops)
{
	if (record->kind->accounts)
		return ops == record->only || (record->config.why && ops->explains);
	if (record->only)
		return ops == record->only;
	if (record->kind->explains && record->config.why == 1 + LAT_BY_CPU)
		return ops->explains && why__words(ops->name)->of_cpu;
	if (record->kind->explains)
		return ops->explains || ops->accounts;
	return ops->by_default || record->with[number_of(ops)];
}

/* The next selected probe, or the first if `after` is NULL; NULL: there are no more. */
static const struct probe_ops *next_probe(const struct record *record, const struct probe_ops *ops)
{
	bool found = !ops;

	for (size_t i = 0; probe_list[i]; i++) {
		if (found && is_wanted(record, probe_list[i]))
			return probe_list[i];
		found = found || probe_list[i] == ops;
	}
	return NULL;
}

/* The options for a probe that not all of its methods support. */
static struct lat_config asked(const struct options *options, const struct probe_ops *ops)
{
	struct lat_config config = {
		.by = options->by,
		.tgid = options->target.pid,
		.tid = options->target.tid,
		.cgroup = options->target.cgroup != NULL,
		.cpus = options->target.cpus != NULL,
		.metrics = options->metric ? probe__find_metric(ops, options->metric) : 0,
	};

	if (options->target.comm)
		strncpy(config.comm, options->target.comm, sizeof(config.comm) - 1);
	return config;
}

/* The option that the requested method supports in no probe; NULL: none. */
static const char *beyond_method(const struct record *record, const struct probe_ops *ops,
				 char option[RUN_TEXT])
{
	const char *name = record->options.method;
	const struct probe_method *method = name ? probe__find_method(ops, name) : NULL;
	struct lat_config config = asked(&record->options, ops);

	return method ? probe__beyond(method, &config, option) : NULL;
}

/* The option that no method of the probe supports; NULL: none. */
static const char *beyond_all(const struct record *record, const struct probe_ops *ops,
			      char option[RUN_TEXT])
{
	struct lat_config config = asked(&record->options, ops);

	for (unsigned int i = 0; i < ops->nr_methods; i++)
		if (!probe__beyond(&ops->methods[i], &config, option))
			return NULL;
	return ops->nr_methods ? option : NULL;
}

/* An option that no probe of this command supports is wrong usage, not silently ignored. */
static int check_probes(const struct record *record)
{
	const struct options *options = &record->options;
	const struct probe_ops *ops = NULL;
	uint32_t splits = 0, by = 0;
	bool method = !options->method, metric = !options->metric;
	char text[RUN_TEXT], names[SPLIT_TEXT], option[RUN_TEXT];

	while ((ops = next_probe(record, ops))) {
		splits |= ops->splits;
		by |= record->kind->accounts && ops != record->only ? 0 : ops->splits;
		method = method || probe__find_method(ops, options->method);
		metric = metric || probe__find_metric(ops, options->metric);
	}
	if (options->by & ~by) {
		split__list(options->by & ~by, names);
		snprintf(text, sizeof(text), "--by %s does not apply here", names);
	} else if (options->target.disk && !(splits & 1U << LAT_BY_DISK)) {
		snprintf(text, sizeof(text), "--disk does not apply here");
	} else if (options->target.cpus && !(splits & 1U << LAT_BY_CPU)) {
		snprintf(text, sizeof(text), "--cpu does not apply here");
	} else if (!metric) {
		snprintf(text, sizeof(text), "--metric '%.64s': unknown metric", options->metric);
	} else if (!method) {
		snprintf(text, sizeof(text), "--method '%.64s': unknown method", options->method);
	} else if (record->only && beyond_all(record, record->only, option)) {
		snprintf(text, sizeof(text), "%.60s does not apply here", option);
	} else if (record->only && beyond_method(record, record->only, option)) {
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

	config->by = options->by;
	config->rows = options->max_keys + 1;
	err = target__resolve(&options->target, config, why);
	if (err < 0)
		return failed(record, why, NULL, EXIT_ERROR);
	if (err > 0)
		log__warn(record->command, why, NULL);
	return EXIT_DONE;
}

/* The machine cannot measure it, or not with the requested method (NULL: none requested). */
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

/*
 * Prints why a probe could not be opened. Returns the exit code for the case that no other probe
 * runs.
 */
static int refuse(const struct record *record, const struct probe_ops *ops, const char *method,
		  const char *why, int err)
{
	if (err == -EINVAL && record->only) {
		log__usage(record->command, why);
		return EXIT_USAGE;
	}
	if (record->only && !ops->nr_methods)
		log__error(record->command, why, NULL);
	else
		explain_refused(record, ops, method, why);
	return err == -EOPNOTSUPP ? EXIT_CANNOT : EXIT_ERROR;
}

/* Else slow samples are explained only because the account, or the first answer, has causes. */
static bool asks_why(const struct record *record)
{
	return !record->kind->accounts && (!record->kind->answers || record->why.wanted);
}

static void use_threshold(struct opening *opening, uint64_t over_ns)
{
	opening->slow = *opening->request.why;
	opening->slow.over_ns = over_ns;
	opening->request.why = &opening->slow;
}

/* Each probe has its own config: some members depend on the probe. */
static void prepare_probe(const struct record *record, const struct probe_ops *ops,
			  struct lat_config *config, struct opening *opening)
{
	const char *wanted = record->options.method;

	*config = record->config;
	if (record->kind->on_screen && ops->accounts) /* the screen can sum it up by cgroup */
		config->by |= 1U << LAT_BY_PROCESS;
	config->metrics = asked(&record->options, ops).metrics;
	config->tail_ns = tails__of(&record->options.tails, ops->name);
	if (!config->tail_ns)
		config->tail_ns = ops->tail_ns;
	*opening = (struct opening){
		.ops = ops,
		.request = { .config = config,
			     .method = wanted && probe__find_method(ops, wanted) ? wanted : NULL,
			     .own = own_of(record, ops),
			     .why = &record->why.request },
		.why_can_go = ops->explains && !asks_why(record),
	};
	if (ops->over_ns && !record->why.over && !asks_why(record))
		use_threshold(opening, ops->over_ns);
}

/* Returns the exit code for the case that no other probe runs. */
static int end_opening(const struct record *record, const struct opening *opening,
		       struct run_probe *entry)
{
	if (opening->err == -ENOMEM)
		return out_of_memory(record);
	if (opening->ops->nr_metrics || opening->ops->accounts)
		entry->filter = target__describe(&record->options.target, opening->request.config,
						 opening->ops);
	if (!opening->err && opening->request.config == &opening->plain)
		log__warn(opening->ops->name, "slow samples are not explained", opening->why);
	return opening->err ? refuse(record, opening->ops, opening->request.method, entry->refused,
				     opening->err)
			    : EXIT_DONE;
}

static bool any_works(const struct run *run)
{
	for (unsigned int i = 0; i < run->nr_probes; i++)
		if (!run->probes[i].refused[0])
			return true;
	return false;
}

/* Probes that were added, and that filters do not apply to. */
static void warn_of_filters(const struct record *record)
{
	if (!probe__filters_tasks(&record->config))
		return;
	for (size_t i = 0; probe_list[i]; i++) {
		const struct probe_command *command = probe_command__of(probe_list[i]);

		if (record->with[i] && command->unfiltered)
			log__warn(command->unfiltered, "the filter is for the other probes", NULL);
	}
}

/* The account that the command is about, if it cannot be had: the other probes only explain it. */
static const struct opening *find_lost_account(const struct record *record,
					       const struct opening *openings, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		if (openings[i].ops == record->only && openings[i].ops->accounts && openings[i].err)
			return &openings[i];
	return NULL;
}

/* Names the probes that cannot run; it is an error only if none can. */
static int open_probes(struct record *record)
{
	struct lat_config configs[RUN_PROBES];
	struct opening openings[RUN_PROBES];
	const struct probe_ops *ops = NULL;
	const struct opening *lost;
	unsigned int nr = 0;
	int code = EXIT_DONE;

	while ((ops = next_probe(record, ops))) {
		prepare_probe(record, ops, &configs[nr], &openings[nr]);
		nr++;
	}
	session__add_all(record->session, openings, nr);
	lost = find_lost_account(record, openings, nr);
	if (lost)
		return end_opening(record, lost, &record->run->probes[lost - openings]);
	for (unsigned int i = 0; i < nr; i++)
		code = end_opening(record, &openings[i], &record->run->probes[i]);
	warn_of_filters(record);
	if (any_works(record->run))
		return EXIT_DONE;
	return record->only ? code : EXIT_CANNOT;
}

/* What prints the lines of -i. */
static const struct writer_ops *live_of(const struct record *record)
{
	const struct probe_view *view =
		record->only ? probe_view__of(&record->run->probes[0]) : NULL;

	return view && view->live ? view->live : &writer_live;
}

/* Is the CSV that of the whole window? */
static bool prints_csv_at_end(const struct record *record)
{
	const struct probe_view *view = probe_view__of(&record->run->probes[0]);

	return !record->options.interval_ns && view && view->print_csv;
}

static int open_output(struct record *record)
{
	const struct options *options = &record->options;
	const char *dir = options->output ? options->output : record->kind->dir;
	int code;

	if (record->kind->on_screen) /* -o is where it records on request */
		dir = NULL;
	code = output__create(&record->recording, dir, options);
	if (!code)
		code = output__lend(&record->lent, &record->recording);
	if (!code && record->its->add_writer)
		code = record->its->add_writer(own_of(record, record->only), &record->recording);
	if (code)
		return code;
	if (options->csv && has_table(record) && !prints_csv_at_end(record))
		recording__add(&record->recording, &writer_live_csv)->more_by = options->more_by;
	if (!options->interval_ns || options->csv || record->kind->on_screen)
		return EXIT_DONE;
	if (options->json)
		recording__add(&record->recording, &writer_live_json);
	else
		recording__add(&record->recording, live_of(record))->top = options->top;
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
 * report and compare need ten intervals, whatever the duration. Intervals shorter than 10 ms would
 * cost more than they show. Rounded up, so that no interval of a few ns is left at the end.
 */
static uint64_t default_interval_ns(const struct record *record)
{
	uint64_t duration_ns = record->options.duration_ns;
	uint64_t part = (duration_ns + INTERVALS - 1) / INTERVALS;

	if (record->with_report && record->options.nr_args && !duration_ns)
		return REPORT_INTERVAL_NS;
	if (!duration_ns || part > MOST_INTERVAL_NS || record->its->by_second)
		return MOST_INTERVAL_NS;
	return part < LEAST_INTERVAL_NS ? LEAST_INTERVAL_NS : part;
}

static int describe_run(struct record *record)
{
	const struct options *options = &record->options;
	struct run *run = record->run;

	run->interval_ns =
		options->interval_ns ? options->interval_ns : default_interval_ns(record);
	run->why_by = record->config.why;
	run->filter = target__describe(&options->target, &record->config, NULL);
	if (target__name_cgroup(session__names(record->session), &record->config,
				&run->pressure.cgroup))
		return out_of_memory(record);
	if (options->nr_args) {
		run->workload = join(options->args);
		if (!run->workload)
			return out_of_memory(record);
	}
	return recording__describe(run, &options->recording) ? out_of_memory(record) : EXIT_DONE;
}

/* Output of the workload or of -i would be appended to the progress line. */
static bool is_alone(const struct options *options)
{
	return !options->nr_args && !(options->interval_ns && isatty(STDOUT_FILENO));
}

static void progress(void *arg, uint64_t elapsed_ns, uint64_t duration_ns)
{
	(void)arg;
	if (duration_ns)
		log__progress("%.1f s of %.1f s", elapsed_ns / 1e9, duration_ns / 1e9);
	else
		log__progress("%.1f s; Ctrl-C ends it", elapsed_ns / 1e9);
}

/* main() checks whether stdout could be written. */
static int print_result(const struct record *record)
{
	struct result result = {
		.run = record->run,
		.options = &record->options,
		.has_table = has_table(record),
		.is_why = record->kind->explains,
		.is_account = record->kind->accounts,
		.answers = record->kind->answers,
		.explains = record->why.wanted && !record->kind->accounts,
		.folded = record->folded,
		.has_printed =
			record->its->prints && record->its->prints(own_of(record, record->only)),
	};
	int code;

	if (record->with_report && record->run->complete)
		result.recording = record->recording.rundir.at;
	code = result__print(&result);
	output__show(&record->recording);
	return code;
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
			   err == -ENOENT ? "does the interpreter in its first line exist?" : NULL);
		break;
	case SESSION_READ:
		if (result->why[0])
			log__error(result->probe, result->why, "what came before is kept");
		else
			log__error("cannot read what the probes counted", strerror(-err), NULL);
		break;
	case SESSION_RESTORE:
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

/* Nothing may be printed on a screen. */
static void keep_silent(const char *probe, const char *why)
{
	(void)probe;
	(void)why;
}

static void warn(const char *probe, const char *why)
{
	log__warn(probe, why, NULL);
}

static int measure(struct record *record)
{
	struct session_config config = {
		.duration_ns = record->options.duration_ns,
		.interval_ns = record->run->interval_ns,
		.workload = record->options.nr_args ? record->options.args : NULL,
		.accounts_workload = record->kind->accounts,
		.user = record->user,
		.recording = &record->recording,
		.write_failed = write_failed,
		.warn = warn,
		.progress = is_alone(&record->options) ? progress : NULL,
	};
	struct session_result result;
	int err, code;

	if (record->kind->on_screen) {
		code = top__show(&record->top, record->run, &record->recording, &config);
		if (code)
			return code;
		config.warn = keep_silent;
	}
	err = session__run(record->session, &config, &result);
	top__hide(&record->top);
	log__progress_end();
	code = err ? explain_fault(record, &result, err) : EXIT_DONE;
	if (result.left_by)
		log__error(result.left_by, result.left, NULL);
	if (result.fault == SESSION_WORKLOAD || result.fault == SESSION_PRIVILEGE) {
		recording__discard(&record->recording);
		return code;
	}
	outcome__of_workload(record->run, &result);
	if (result.room && !code)
		code = output__no_room(&record->recording, result.room);
	err = record->kind->on_screen ? EXIT_DONE : print_result(record);
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
	uint64_t ns;
	int err;

	if (!options->nr_args)
		return EXIT_DONE;
	err = workload__find(options->args[0]);
	if (!err)
		return EXIT_DONE;
	snprintf(what, sizeof(what), "cannot run '%s'", options->args[0]);
	log__error(what, strerror(-err),
		   units__parse_duration(options->args[0], &ns)
			   ? "the workload must be an executable file"
			   : "a duration needs -d before it");
	return EXIT_ERROR;
}

/* Everything that can fail is checked before anything is attached or written. */
static int prepare(struct record *record)
{
	int code;

	code = check_probes(record);
	if (!code && (!record->only || record->only->needs_bpf))
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
		code = open_probes(record);
	if (!code)
		code = open_output(record);
	return code;
}

static int run_record(struct record *record)
{
	char why[RUN_TEXT];
	int code;

	code = record->kind->on_screen ? top__begin(&record->top, record->argc, record->argv)
				       : EXIT_DONE;
	if (code)
		return code;
	if (session__new(&record->session, record->run))
		return out_of_memory(record);
	if (record->kind->on_screen)
		session__skip_stacks(record->session);
	code = prepare(record);
	if (!code)
		code = measure(record);
	if (session__close(record->session, why))
		code = failed(record, why, NULL, EXIT_ERROR);
	session__free(record->session);
	return output__end(record->lent, &record->recording, code);
}

/* The options that only one probe has, with their defaults. */
static int make_own(struct record *record)
{
	for (size_t i = 0; probe_list[i]; i++) {
		const struct probe_command *command = probe_command__of(probe_list[i]);

		if (!command->new)
			continue;
		record->own[i] = command->new ();
		if (!record->own[i])
			return out_of_memory(record);
	}
	return EXIT_DONE;
}

static int run_command(struct record *record)
{
	int code = make_own(record);
	void *own = record->only ? own_of(record, record->only) : NULL;

	if (code)
		return code;
	code = record__parse(record, own);
	if (code != OPTIONS_RUN)
		return code;
	if (record->its->acts && record->its->acts(own, &code))
		return code;
	if (record->top.replay)
		return top__replay(&record->top);
	record->run = calloc(1, sizeof(*record->run));
	if (!record->run)
		return out_of_memory(record);
	code = run_record(record);
	top__end(&record->top);
	run__free(record->run);
	return code;
}

static int run_kind(struct record *record, int argc, char **argv)
{
	int code;

	record->command = argv[0];
	record->argc = argc;
	record->argv = argv;
	record->its = probe_command__of(record->only);
	code = run_command(record);
	for (size_t i = 0; i < RUN_PROBES; i++)
		free(record->own[i]);
	return code;
}

int cmd_record(int argc, char **argv)
{
	struct record record = { .only = probe__find(argv[0]),
				 .kind = record_kind__find(argv[0], probe__find(argv[0])) };

	return run_kind(&record, argc, argv);
}

int cmd_answer(int argc, char **argv)
{
	struct record record = { .kind = record_kind__find("", NULL) };

	for (size_t i = 0; probe_list[i]; i++)
		if (probe_list[i]->accounts)
			record.only = probe_list[i];
	if (!record.only) {
		log__usage("", "missing command: this build has no account of threads");
		return EXIT_USAGE;
	}
	argv[0] = "";
	return run_kind(&record, argc, argv);
}
