/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands. argv[0] is the command's name. Each parses its options, prints, and returns the
 * exit code.
 */
#ifndef LATSCOPE_CLI_CMD_H
#define LATSCOPE_CLI_CMD_H

#include <stdbool.h>

enum exit_code {
	EXIT_DONE = 0,
	EXIT_ERROR = 1,
	EXIT_USAGE = 2,
	EXIT_WORSE = 3, /* compare, ab, validate: the answer is "worse" */
	EXIT_CANNOT = 77, /* this machine cannot */
};

int cmd_record(int argc, char **argv); /* and probes, why and top, by argv[0] */
int cmd_answer(int argc, char **argv); /* without a command: argv[0] is not looked at */
int cmd_report(int argc, char **argv);
int cmd_compare(int argc, char **argv);
int cmd_ab(int argc, char **argv);
int cmd_validate(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_load(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_snapshot(int argc, char **argv);
int cmd_fleet(int argc, char **argv);

/*
 * Checks that the kernel can load BPF programs; if not, prints why `what` cannot run. `verbose`:
 * from now on the verifier's log of a refused program goes to stderr. Returns an exit code.
 */
int cmd__check_kernel(const char *what, bool verbose);

struct privilege_needs;

/* Calls privilege__drop() and prints its error. Returns an exit code. */
int cmd__drop_privileges(const struct privilege_needs *needs);

/* Prints why another process could not drop privileges. Returns the exit code. */
int cmd__privileges_kept(const char *why);

#endif
