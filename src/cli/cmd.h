/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sub-commands. argv[0] is the command's name. Each parses, calls, prints, and returns the exit
 * code of the program.
 */
#ifndef LATSCOPE_CLI_CMD_H
#define LATSCOPE_CLI_CMD_H

#include <stdbool.h>

enum exit_code {
	EXIT_DONE = 0,
	EXIT_ERROR = 1,
	EXIT_USAGE = 2,
	EXIT_WORSE = 3, /* compare, validate: the answer is "worse" */
	EXIT_CANNOT = 77, /* this machine cannot */
};

int cmd_record(int argc, char **argv); /* and each probe but ringlat, by argv[0] */
int cmd_report(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_ringlat(int argc, char **argv);
int cmd_load(int argc, char **argv);

/*
 * Will the kernel take our programs at all? If not, says why `what` cannot be. `verbose`: from now
 * on the verifier's log of a program that it refuses goes to stderr. Returns an exit code.
 */
int cmd__check_kernel(const char *what, bool verbose);

struct privilege_needs;

/* privilege__drop(), and if it fails says why. Returns an exit code. */
int cmd__drop_privileges(const struct privilege_needs *needs);

/* Says why it failed where somebody else tried. Returns the exit code for that. */
int cmd__privileges_kept(const char *why);

#endif
