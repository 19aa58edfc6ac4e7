/* SPDX-License-Identifier: BSD-2-Clause */
/* The screen of `top`. */
#ifndef LATSCOPE_CLI_TOP_H
#define LATSCOPE_CLI_TOP_H

#include <tui/live.h>

#include "options.h"

struct top_command {
	const char *replay; /* path of a recording; NULL: live */
	bool adds_probe; /* an option adds one */
	bool without_why;
	bool default_splits; /* --by was not given */
	struct live *live; /* NULL until top__begin() */
	int errors; /* the standard error, while the screen is there */
	struct options *options;
};

/* Sets the defaults. -EINVAL: see options->error. */
int top__check(struct top_command *command);

/* top --replay. Returns the exit code. */
int top__replay(const struct top_command *command);

/*
 * Starts the process that records on request, and opens the screen; before anything else is opened.
 * Errors are printed when it is closed. argv: the command line, from which a recording takes its
 * options. Returns an exit code.
 */
int top__begin(struct top_command *command, int argc, char **argv);

/* Shows the probes on the screen; before the window. Returns an exit code. */
int top__show(struct top_command *command, const struct run *run, struct recording *recording,
	      struct session_config *config);

/* Restores the terminal; may be called twice. */
void top__hide(struct top_command *command);

/* The same, and ends a recording that runs. */
void top__end(struct top_command *command);

#endif
