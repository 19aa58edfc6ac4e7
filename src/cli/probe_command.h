/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a probe has on the command line besides `latscope NAME`, which is `record` with the probe
 * alone. A probe NAME with more than that has a struct probe_command NAME_command in its folder.
 */
#ifndef LATSCOPE_CLI_PROBE_COMMAND_H
#define LATSCOPE_CLI_PROBE_COMMAND_H

#include <probes/kit/probe.h>
#include <store/recording.h>

#include "options.h"

#define PROBE_COMMAND_GROUPS (OPTIONS_WINDOW | OPTIONS_OUTPUT | OPTIONS_FORMAT)

/* All may be 0 or NULL. `own` is what new() returned. */
struct probe_command {
	const struct probe_ops *ops;
	int (*run)(int argc, char **argv); /* in place of cmd_record(); as these */

	/* ---- own options of `latscope NAME`: members of what new() returned ---- */
	struct usage usage;
	/* With the defaults, for free(); it begins with what probe_request.own points to. */
	void *(*new)(void);
	bool (*prints)(const void *own); /* it prints during the window, in place of the table */
	/* Adds an output. Prints its error, and returns the exit code. */
	int (*add_writer)(const void *own, struct recording *recording);
	/* What it was asked to do in place of a measurement; sets the exit code. False: nothing. */
	bool (*acts)(const void *own, int *code);
	bool by_second; /* the default of -i does not depend on -d */

	/* ---- of `record`: an option adds the probe ---- */
	const char *with, *with_help; /* "rmid" */
	bool with_top; /* the same option is one of top */
	const char *place; /* format of the value of --NAME-at, a hidden option that adds it, too */
	int (*find)(void *own, char *place); /* takes that value; 0 or -EINVAL */
	const char *unfiltered; /* filters do not apply to it: why, as a warning */

	/* ---- doctor, --version, completions ---- */
	void (*examine)(void); /* in doctor, after its methods */
	/* The nth method, and what it is (NULL: nothing), if ops has none; NULL: no more. */
	const char *(*method)(unsigned int nth, const char **about);
};

/* One without anything, not even ops, if the probe has none or `ops` is NULL. */
const struct probe_command *probe_command__of(const struct probe_ops *ops);

#endif
