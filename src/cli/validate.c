// SPDX-License-Identifier: BSD-2-Clause
/* validate: checks on this machine that the probes measure correctly. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <json-c/json.h>

#include <print/streams.h>
#include <print/wrap.h>
#include <probes/kit/inject.h>
#include <selftest/probe_checks.h>
#include <selftest/validate.h>
#include <store/json.h>

#include "cmd.h"
#include "log.h"
#include "options.h"

#define DIR "/var/tmp"
#define REPLICATES 3
#define MAX_REPLICATES 100
#define WINDOW_NS 1000000000ULL

struct command {
	struct options options;
	struct validate validate;
	const char *disk;
	const char *part; /* of --only; NULL: all */
	const struct probe_ops *only; /* NULL: all probes */
	bool is_why; /* not a probe, but what `why` says */
	struct json_object *checks; /* with --json */
	char node[RUN_TEXT]; /* of the disk */
	const char *shown; /* probe whose heading was printed, with this method */
	char shown_method[RUN_NAME];
	char shown_why[RUN_TEXT]; /* the last reason */
	unsigned int count[CHECK_VERDICTS];
	bool interrupted;
};

static const char default_dir[] = DIR;

#ifdef LATSCOPE_FAULTS
static int set_fault(struct options *options, void *at, const char *text)
{
	(void)at;
	inject__fault = inject__find(text);
	return inject__fault ? 0 : options__fail(options, "unknown fault '%s'", text);
}
#endif

#define OWN struct command
static const char *const parts[] = { "reference", "reaction", "overhead" };

static const struct option_row validate_rows[] = {
	{ "only", 0, "PART", "Run one part: reference, reaction or overhead; of why: one situation",
	  OPT_TEXT(part) },
	{ "method", 0, "NAME", "Use this measurement method; see 'latscope doctor'",
	  OPT_TEXT(validate.method) },
	{ "dir", 0, "DIR", "Directory of iolat's temporary file (" DIR ")",
	  OPT_TEXT(validate.dir) },
	{ "disk", 0, "NAME", "Read this disk instead; never write to it", OPT_TEXT(disk) },
	{ "replicates", 0, "N", "Windows per group of an experiment (3)",
	  OPT_COUNT(validate.replicates, 1, MAX_REPLICATES) },
	{ "window", 0, "TIME", "Length of each window (1s)", OPT_DURATION(validate.window_ns) },
	{ "seed", 0, "N", "Seed of the random order and offsets (0)",
	  OPT_COUNT(validate.seed, 0, UINT32_MAX) },
	{ "json", 0, NULL, "Print JSON", OPT_FLAG(options.json) },
#ifdef LATSCOPE_FAULTS
	{ "break", 0, "NAME", NULL, OPT_CALL(set_fault) },
#endif
	{ "at", 0, "PLACE", NULL, OPT_TEXT(validate.place) },
	{ 0 },
};

static const char validate_doc[] =
	"Checks on this machine that a PROBE (memlat, runqlat, iolat; by default all of these; or "
	"tierlat) measures correctly: makes latencies whose number and duration the kernel itself "
	"accounts for, measures them with the probe and compares. Then checks that the probe "
	"reacts to loads, and measures its overhead. With why: makes situations in which it is "
	"known why a task waits, and compares what 'latscope why' says.\v"
	"Examples:\n"
	"  sudo latscope validate                    everything, about a minute\n"
	"  sudo latscope validate runqlat --only reference\n"
	"  sudo latscope validate iolat --disk nvme0n1\n"
	"  sudo latscope validate why                is the right one blamed, about 30 s\n"
	"  sudo latscope validate why --only hog\n\n"
	"Exit status: 0 all pass, 1 error, 2 wrong usage, 3 a check failed, 77 a probe cannot "
	"run here.";

static int find_part(struct command *command)
{
	const char *arg = command->part, *name;

	for (unsigned int i = 0; command->is_why && (name = validate__situation(i)); i++)
		if (!strcmp(arg, name))
			return 0;
	for (int i = 0; !command->is_why && i < 3; i++) {
		if (strcmp(arg, parts[i]))
			continue;
		command->validate.parts = 1U << i;
		return 0;
	}
	if (command->is_why)
		return options__fail(&command->options,
				     "invalid --only '%s'; use a situation of latscope-validate(1)",
				     arg);
	return options__fail(&command->options,
			     "invalid --only '%s'; use reference, reaction or overhead", arg);
}

/* By default, those that record measures by default. */
static bool is_wanted(const struct command *command, const struct probe_ops *ops)
{
	return command->only ? command->only == ops : ops->by_default && probe_checks__of(ops);
}

static int check_method(struct command *command)
{
	const char *method = command->validate.method;
	bool found = !method;

	for (size_t i = 0; !found && probe_list[i]; i++)
		found = is_wanted(command, probe_list[i]) &&
			probe__find_method(probe_list[i], method);
	return found ? 0 : options__fail(&command->options, "unknown method '%.64s'", method);
}

/* "memlat, runqlat, iolat, all, tierlat or why" */
static const char *list_probes(char list[RUN_TEXT])
{
	size_t len = 0;

	for (int by_default = 1; by_default >= 0; by_default--) {
		for (size_t i = 0; probe_list[i]; i++)
			if (probe_list[i]->by_default == by_default &&
			    probe_checks__of(probe_list[i]))
				len += (size_t)snprintf(list + len, RUN_TEXT - len, "%s%s",
							len ? ", " : "", probe_list[i]->name);
		if (by_default)
			len += (size_t)snprintf(list + len, RUN_TEXT - len, ", all");
	}
	snprintf(list + len, RUN_TEXT - len, " or why");
	return list;
}

static int find_probe(struct command *command)
{
	const struct probe_checks *checks;
	char known[RUN_TEXT];
	const char *name = command->options.nr_args ? command->options.args[0] : "all";

	command->is_why = !strcmp(name, "why");
	command->only = command->is_why ? NULL : probe__find(name);
	if (command->part && find_part(command))
		return -EINVAL;
	if (command->is_why)
		command->validate.situation = command->part;
	if (command->is_why && command->validate.method)
		return options__fail(&command->options, "why has no --method");
	if (command->validate.place && (command->is_why || !strcmp(name, "all")))
		return options__fail(&command->options, "--at is for one probe");
	if (command->is_why || !strcmp(name, "all"))
		return 0;
	checks = command->only ? probe_checks__of(command->only) : NULL;
	if (!checks)
		return options__fail(&command->options, "unknown probe '%.32s'; use %s", name,
				     list_probes(known));
	if (checks->run && !(command->validate.parts & checks->parts))
		return options__fail(&command->options,
				     "%s has no overhead part; use --only "
				     "reference or reaction",
				     name);
	if (command->validate.place &&
	    !(checks->place && checks->knows_place(command->validate.place)))
		return options__fail(&command->options, "--at: %s",
				     checks->place ? checks->place : "no probe has this here");
	return 0;
}

static int check(struct options *options, void *own)
{
	struct command *command = own;

	(void)options;
	return find_probe(command) || check_method(command) ? -EINVAL : 0;
}

static const struct usage validate_usage = {
	.rows = validate_rows,
	.args = "[PROBE|why]",
	.doc = validate_doc,
	.max_args = 1,
	.check = check,
};

/* As printed in the table. */
static const char *const verdicts[CHECK_VERDICTS] = { "pass", "FAIL", "skip",
						      "note", "ERR ", "disturbed" };
static const char *const verdicts_of_why[CHECK_VERDICTS] = { "right", "WRONG", "cannot",
							     "note",  "ERR",   "disturbed" };
static const char *const verdict_names[CHECK_VERDICTS] = { "pass", "fail",  "skip",
							   "note", "error", "disturbed" };

/* Again for another method: one method may not support all checks. */
static void print_heading(struct command *command, const struct check *check)
{
	bool first = !command->shown;

	if (first || strcmp(command->shown, check->probe) ||
	    strcmp(command->shown_method, check->method))
		printf("%s%s: %s\n", first ? "" : "\n", check->probe,
		       check->method[0] ? check->method : "no method");
	if (first && command->is_why)
		printf("  %-9s  %-34s %-19s %s\n", "", "situation", "reference", "latscope said");
	else if (first)
		printf("  %4s  %-35s %-19s %s\n", "", "check", "expected", "got");
	command->shown = check->probe;
	snprintf(command->shown_method, RUN_NAME, "%s", check->method);
}

static void print_check(struct command *command, const struct check *check)
{
	bool is_why = command->is_why;
	const char *verdict = (is_why ? verdicts_of_why : verdicts)[check->verdict];

	print_heading(command, check);
	if (check->verdict == CHECK_SKIP || check->verdict == CHECK_ERROR)
		printf("  %-*s  %s\n", is_why ? 9 : 4, verdict, check->name);
	else if (is_why)
		printf("  %-9s  %-34s %-19s %s\n", verdict, check->name, check->expected,
		       check->got);
	else
		printf("  %s  %-35s %-19s %s\n", verdict, check->name, check->expected, check->got);
	if (!check->why[0] || (is_why && !strcmp(command->shown_why, check->why)))
		return;
	snprintf(command->shown_why, RUN_TEXT, "%s", check->why);
	wrap__line(stdout, is_why ? 15 : 10, 0, "%s", check->why);
}

static struct json_object *text_of(const char *text)
{
	return text[0] ? json_object_new_string(text) : NULL;
}

static void keep_check(struct command *command, const struct check *check)
{
	struct json_object *object = json_object_new_object();

	json_object_object_add(object, "module", json_object_new_string(check->probe));
	json_object_object_add(object, "method", text_of(check->method));
	json_object_object_add(object, "part", json_object_new_string(check->part));
	json_object_object_add(object, "check",
			       json_object_new_string(check->name + strspn(check->name, " ")));
	json_object_object_add(object, "verdict",
			       json_object_new_string(verdict_names[check->verdict]));
	json_object_object_add(object, "expected", text_of(check->expected));
	json_object_object_add(object, "got", text_of(check->got));
	json_object_object_add(object, "reason", text_of(check->why));
	json_object_array_add(command->checks, object);
}

static void report(void *arg, const struct check *check)
{
	struct command *command = arg;

	command->count[check->verdict]++;
	log__progress_end();
	if (command->checks)
		keep_check(command, check);
	else
		print_check(command, check);
	streams__flush();
}

static void progress(void *arg, const char *doing)
{
	struct command *command = arg;

	log__progress("%s: %s ...", command->validate.probe, doing);
}

static bool does_io(const struct validate *validate)
{
	return validate->ops && validate->ops->splits & 1U << LAT_BY_DISK;
}

static int explain(struct command *command, const struct validate *validate, int err,
		   const char *why)
{
	char what[RUN_TEXT];

	log__progress_end();
	if (!err)
		return EXIT_DONE;
	snprintf(what, sizeof(what), "cannot validate %s", command->validate.probe);
	if (err == -EOPNOTSUPP && validate->refused)
		log__refused(command->validate.probe, validate->method,
			     probe__reason(why, validate->method));
	else if (err == -EOPNOTSUPP)
		log__error(what, why,
			   does_io(validate) ? "choose another disk with --dir or --disk" : NULL);
	else
		log__error(what, err == -EINTR ? "interrupted" : why, NULL);
	command->interrupted = err == -EINTR;
	return err == -EOPNOTSUPP ? EXIT_CANNOT : EXIT_ERROR;
}

static int validate_probe(struct command *command, const struct probe_ops *ops)
{
	struct validate validate = command->validate;
	char why[RUN_TEXT] = "";
	int err;

	if (validate.method && !probe__find_method(ops, validate.method))
		validate.method = NULL;
	command->validate.probe = ops->name;
	err = validate__probe(&validate, ops, why);
	return explain(command, &validate, err, why);
}

/* A kernel on which no cause can be named is no success. */
static int validate_why(struct command *command)
{
	char why[RUN_TEXT] = "";
	int code, err;

	command->validate.probe = "why";
	err = validate__why(&command->validate, why);
	code = explain(command, &command->validate, err, why);
	if (command->count[CHECK_FAIL] && !command->interrupted)
		return EXIT_WORSE;
	return code == EXIT_DONE && !command->count[CHECK_PASS] ? EXIT_CANNOT : code;
}

/* A failed check has precedence over an error, and an error over a probe that cannot run. */
static int validate_all(struct command *command)
{
	int code = EXIT_DONE, got;

	for (size_t i = 0; probe_list[i] && !command->interrupted; i++) {
		if (!is_wanted(command, probe_list[i]))
			continue;
		got = validate_probe(command, probe_list[i]);
		if (got == EXIT_ERROR || code == EXIT_DONE)
			code = got;
	}
	return command->count[CHECK_FAIL] && !command->interrupted ? EXIT_WORSE : code;
}

static void print_counts(const struct command *command)
{
	printf(command->is_why ? "\n%u right, %u wrong, %u cannot be made here"
			       : "\n%u passed, %u failed, %u skipped",
	       command->count[CHECK_PASS], command->count[CHECK_FAIL], command->count[CHECK_SKIP]);
	if (command->count[CHECK_DISTURBED])
		printf(", %u disturbed", command->count[CHECK_DISTURBED]);
	if (command->count[CHECK_ERROR])
		printf(", %u errors", command->count[CHECK_ERROR]);
	fputc('\n', stdout);
}

static int print_result(const struct command *command)
{
	struct json_object *object;

	if (!command->checks) {
		if (command->shown)
			print_counts(command);
		return 0;
	}
	object = json_object_new_object();
	json_object_object_add(object, "schema", json_object_new_int(RUN_SCHEMA));
	json_object_object_add(object, "passed", json_object_new_int(command->count[CHECK_PASS]));
	json_object_object_add(object, "failed", json_object_new_int(command->count[CHECK_FAIL]));
	json_object_object_add(object, "skipped", json_object_new_int(command->count[CHECK_SKIP]));
	json_object_object_add(object, "errors", json_object_new_int(command->count[CHECK_ERROR]));
	if (command->is_why)
		json_object_object_add(object, "disturbed",
				       json_object_new_int(command->count[CHECK_DISTURBED]));
	json_object_object_add(object, "checks", command->checks);
	return json__print(object, stdout, true);
}

/* "sda" and "/dev/sda" are the same. */
static int find_disk(struct command *command)
{
	struct stat st;

	if (!command->disk)
		return 0;
	snprintf(command->node, sizeof(command->node), "%s%.200s",
		 command->disk[0] == '/' ? "" : "/dev/", command->disk);
	command->validate.disk = command->node;
	if (!stat(command->node, &st) && S_ISBLK(st.st_mode))
		return 0;
	log__error(command->node, "no such disk", "see lsblk");
	return -ENODEV;
}

static int find_dir(const struct command *command)
{
	const char *dir = command->validate.dir;
	struct stat st;

	if (dir == default_dir || (!stat(dir, &st) && S_ISDIR(st.st_mode)))
		return 0;
	log__error(dir, "no such directory", "use --dir with a directory that exists");
	return -ENOTDIR;
}

static int run(struct command *command)
{
	int code, err;

	code = command->only && !command->only->needs_bpf
		       ? EXIT_DONE
		       : cmd__check_kernel("validate", command->options.verbose);
	if (code)
		return code;
	if (find_disk(command) || find_dir(command))
		return EXIT_ERROR;
	err = interrupt__hold();
	if (err) {
		log__error("validate", strerror(-err), NULL);
		return EXIT_ERROR;
	}
	if (command->options.json)
		command->checks = json_object_new_array();
	code = command->is_why ? validate_why(command) : validate_all(command);
	if (print_result(command)) {
		log__error("validate", "out of memory", NULL);
		return EXIT_ERROR;
	}
	return code;
}

int cmd_validate(int argc, char **argv)
{
	struct command command = {
		.validate = {
			.parts = VALIDATE_REFERENCE | VALIDATE_REACTION | VALIDATE_OVERHEAD,
			.dir = default_dir,
			.replicates = REPLICATES,
			.window_ns = WINDOW_NS,
			.report = report,
			.progress = progress,
		},
	};
	int code;

	command.validate.arg = &command;
	code = options__begin(&command.options, &validate_usage, &command, argc, argv);
	return code == OPTIONS_RUN ? run(&command) : code;
}
