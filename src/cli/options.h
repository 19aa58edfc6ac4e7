/* SPDX-License-Identifier: BSD-2-Clause */
/* Options are rows of tables: those that commands share, and those that a command has alone. */
#ifndef LATSCOPE_CLI_OPTIONS_H
#define LATSCOPE_CLI_OPTIONS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
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
#define OPTIONS_CLASSES 3
#define OPTIONS_MAX_KEYS 1024

struct options {
	const char *command; /* "record" */

	/* Not given: numbers are 0 and texts NULL, except top, max_keys and min_free. */
	uint64_t duration_ns;
	uint64_t interval_ns;
	struct tails tails;
	struct target target;
	uint32_t by; /* mask of 1 << enum lat_by */
	uint32_t more_by; /* mask of 1 << index of usage.more_splits */
	uint32_t splits; /* of the usage, as the next one */
	const char *const *more_splits;
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
	const char *given[OPTIONS_CLASSES]; /* by option_row.class: the last option; NULL: none */

	/* The error, on one line without the command's name. */
	char error[PATH_MAX + RUN_TEXT];
	const char *parsed; /* name of the option that is parsed now */
	bool help; /* -h was given */
};

enum option_kind {
	OPTION_VALUE,
	OPTION_TEXT,
	OPTION_COUNT,
	OPTION_SIZE,
	OPTION_DURATION,
	OPTION_PERCENT,
	OPTION_CHOICE,
	OPTION_CALL,
};

/*
 * An option. The first four members are written out, the others by one of the macros below. A row
 * with nothing but help is a title of the rows after it; an empty row ends the table.
 */
struct option_row {
	const char *name;
	int letter; /* 0: none */
	const char *argument; /* its name in the help; NULL: takes none */
	const char *help; /* NULL: not shown */
	enum option_kind kind;
	size_t at, size; /* the member that gets the value */
	uint64_t low, high;
	double least, most; /* of a percentage */
	const char *wrong; /* what to use instead of an unknown choice */
	int (*set)(struct options *options, void *at, const char *text);
	const char *const *choices; /* NULL-terminated; offered by the completion; or NULL */
	unsigned int class; /* index of options.given */
};

/* `member` is one of OWN, the struct that a file defines before its table. */
#define OPT_ANY(member) .at = offsetof(OWN, member), .size = sizeof(((OWN *)0)->member)
#define OPT_OF(type, member) .at = _Generic(((OWN *)0)->member, type : offsetof(OWN, member))

#define OPT_FLAG(member) .kind = OPTION_VALUE, .size = sizeof(bool), .low = 1, OPT_OF(bool, member)
#define OPT_VALUE(member, value) .kind = OPTION_VALUE, .low = (value), OPT_ANY(member)
#define OPT_TEXT(member) .kind = OPTION_TEXT, OPT_OF(const char *, member)
#define OPT_WORDS(member) .kind = OPTION_TEXT, OPT_OF(char *, member) /* may be changed */
#define OPT_NAME(member) OPT_TEXT(member), .low = 1 /* not empty */
#define OPT_COUNT(member, from, to) \
	.kind = OPTION_COUNT, .low = (from), .high = (to), OPT_ANY(member)
#define OPT_SIZE(member, from) .kind = OPTION_SIZE, .low = (from), OPT_OF(uint64_t, member)
#define OPT_DURATION(member) .kind = OPTION_DURATION, OPT_OF(uint64_t, member)
#define OPT_PERCENT(member, from, to) \
	.kind = OPTION_PERCENT, .least = (from), .most = (to), OPT_OF(double, member)
/* Stores first for the first of the list, first + 1 for the second, and so on. */
#define OPT_CHOICE(member, first, list, instead)                                      \
	.kind = OPTION_CHOICE, .low = (first), .choices = (list), .wrong = (instead), \
	OPT_ANY(member)
/* Calls function(options, &own->member, text), or with own itself. 0, or options__fail(). */
#define OPT_CALL(function) .kind = OPTION_CALL, .set = (function)
#define OPT_CALL_ON(function, member) OPT_CALL(function), OPT_ANY(member)

/* What the command line of a command can have. */
struct usage {
	unsigned int groups; /* of enum options_group */
	const struct option_row *rows; /* the command's own options; or NULL */
	const char *title; /* of those in the help; or NULL */
	const char *args; /* name of the arguments in the help; or NULL */
	const char *doc; /* of the help; what follows \v comes after the options */
	bool takes_workload; /* the arguments are a command line to run */
	int max_args; /* maximum number of arguments, unless they are a workload */
	uint32_t splits; /* what an error of --by offers: mask of 1 << enum lat_by; 0: all */
	const char *const *more_splits; /* what --by takes besides; NULL-terminated; or NULL */
	/* Options of the groups that do not apply here: not offered. NULL-terminated; or NULL. */
	const char *const *absent;
	/* After all were parsed; 0, or options__fail(). Or NULL. */
	int (*check)(struct options *options, void *own);
};

#define OPTIONS_RUN (-1)

/*
 * Parses argv[1..]; argv[0] is the command's name; strings point into argv. `own` has the members
 * of the command's rows. Prints errors. Returns OPTIONS_RUN if the command should go on, else the
 * exit code: it printed the help, or a completion, or an error.
 */
int options__begin(struct options *options, const struct usage *usage, void *own, int argc,
		   char **argv);

/*
 * The two steps of it, for a command that has more to check. The first one returns 0; 1 after it
 * printed the help to `help`, or a completion; -EINVAL for wrong usage: options->error.
 */
int options__parse(struct options *options, const struct usage *usage, void *own, int argc,
		   char **argv, FILE *help);
int options__end(const struct options *options, int got);

/* The rows of a group, or of the command. */
struct option_table {
	const char *title;
	int group; /* order in the help */
	const struct option_row *rows; /* NULL: the end */
	void *own;
};

/* Called with the tables of a command in place of parsing: see complete.h. */
typedef void options_answer(const char *command, const struct option_table *tables,
			    bool takes_workload);
void options__answer_by(options_answer *answer);

/* Is this a row of a table, not its end? */
static inline bool options__more(const struct option_row *row)
{
	return row->name || row->help;
}

struct option_match {
	const struct option_row *row;
	void *own;
	unsigned int nr; /* of options that begin so; 1 if one has exactly this name */
	bool exact;
};

/* The option of a letter; if that is 0, of the name's first len bytes. */
struct option_match options__match(const struct option_table *tables, const char *name, size_t len,
				   int letter);

/* For a command's own checks: stores the message and returns -EINVAL. */
int options__fail(struct options *options, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* For functions that rows of a command call; `at` as in option_row.set. */
int options__duration(struct options *options, void *at, const char *text);
int options__tails(struct options *options, void *at, const char *text);
int options__label(struct options *options, void *at, const char *text); /* at: not used */

#endif
