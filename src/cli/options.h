/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that every command shares, and parsing of them and of a command's own options. */
#ifndef LATSCOPE_CLI_OPTIONS_H
#define LATSCOPE_CLI_OPTIONS_H

#include <argp.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <core/tails.h>
#include <session/target.h>
#include <store/recording.h>

/* Each command chooses its groups; all commands take -h, -q and -v. */
enum options_group {
	OPTIONS_WINDOW = 1, /* -d -i */
	OPTIONS_FILTER = 2, /* -p -t --cgroup --comm --cpu --disk */
	OPTIONS_SPLIT = 4, /* --by --top */
	OPTIONS_PROBE = 8, /* --method --tail-us --max-keys */
	OPTIONS_OUTPUT = 16, /* -o --label */
	OPTIONS_FORMAT = 32, /* --json --csv */
	OPTIONS_METRICS = 64, /* -v does something */
	OPTIONS_WORKLOAD = 128, /* --user */
	OPTIONS_PROCESS = 256, /* -p --cgroup --comm, instead of OPTIONS_FILTER */
};

#define OPTIONS_TOP 10
#define OPTIONS_MAX_KEYS 1024

struct options {
	/* Set by the command before parsing. */
	const char *command; /* "record" */
	unsigned int groups; /* of enum options_group */
	const char *own_title; /* title of the command's own options in the help; or NULL */
	bool takes_workload; /* the arguments are a command line to run */
	int max_args; /* maximum number of arguments, unless they are a workload */

	/* Not given: numbers are 0 and texts NULL, except top, max_keys and min_free. */
	uint64_t duration_ns;
	uint64_t interval_ns;
	struct tails tails;
	struct target target;
	uint32_t by; /* mask of 1 << enum lat_by */
	unsigned int top;
	unsigned int max_keys;
	const char *method;
	const char *user; /* of the workload */
	const char *metric; /* measured in addition */
	const char *output;
	struct recording_settings recording;
	bool json;
	bool csv;
	bool quiet;
	bool verbose;
	char **args; /* the workload, or the arguments; NULL after the last, as in argv */
	int nr_args;

	/* The error, on one line without the command's name. */
	char error[PATH_MAX + RUN_TEXT];
	bool help; /* -h was given */
};

/*
 * Parses argv[1..]; argv[0] is the command's name; strings point into argv. `own` has the command's
 * own options and texts, no children; its parser gets `input`. NULL: no own options. Returns 0; 1
 * after it printed the help to `help`, or a completion; -EINVAL for wrong usage:
 * options->error.
 */
int options__parse(struct options *options, const struct argp *own, void *input, int argc,
		   char **argv, FILE *help);

/* Called with the tables of a command's options in place of parsing: see complete.h. */
typedef void options_answer(const char *command, const struct argp_child *children,
			    bool takes_workload);
void options__answer_by(options_answer *answer);

/* Is this an entry of a table, not its end? Titles are entries without a name. */
static inline bool options__more(const struct argp_option *option)
{
	return option && (option->name || option->key || option->doc);
}

/* For a command's own checks: stores the message and returns -EINVAL. */
int options__fail(struct options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* For a command's own parser: units__parse_...() with an error message. `name` is "--window". */
int options__duration(struct options *options, const char *name, const char *text, uint64_t *ns);
int options__count(struct options *options, const char *name, const char *text, uint64_t low,
		   uint64_t high, uint64_t *value);
int options__size(struct options *options, const char *name, const char *text, uint64_t low,
		  uint64_t *bytes);
int options__label(struct options *options, const char *text); /* into options->recording */
int options__tails(struct options *options, const char *text, struct tails *tails);
int options__percent(struct options *options, const char *name, const char *text, double low,
		     double high, double *share);

#endif
