/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands of fleet: fleet.c has them, and the completion offers them. */
#ifndef LATSCOPE_CLI_FLEET_COMMANDS_H
#define LATSCOPE_CLI_FLEET_COMMANDS_H

#include <fleet/question.h>

struct fleet;

struct fleet_command {
	const char *name;
	int (*run)(struct fleet *fleet); /* returns the exit code */
	const char *help;
	bool asks; /* it is a question, which takes a probe */
	enum fleet_kind kind; /* of the question */
};

#define FLEET_PERCENTILE "pN" /* name of the command for p99 and all others */

extern const struct fleet_command fleet_commands[]; /* the last one has no name */

#endif
