/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sub-commands. argv[0] is the command's name. Each parses, calls, prints, and returns the exit
 * code of the program.
 */
#ifndef LATSCOPE_CMD_H
#define LATSCOPE_CMD_H

enum exit_code {
	EXIT_DONE = 0,
	EXIT_ERROR = 1,
	EXIT_USAGE = 2,
};

int cmd_load(int argc, char **argv);

#endif
