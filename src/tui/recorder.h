/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The key r: a process that was started before privileges were dropped runs `latscope record` when
 * it is told to, so a recording from now on is one like any other. It ends with its parent.
 */
#ifndef LATSCOPE_TUI_RECORDER_H
#define LATSCOPE_TUI_RECORDER_H

#include <stdbool.h>
#include <sys/types.h>

#include <core/run.h>

struct tui_recorder {
	int socket; /* to the process; -1: there is none */
	pid_t pid;
};

/* `argv`: the command line after the name of the program, NULL-terminated. 0 or -errno. */
int tui_recorder__begin(struct tui_recorder *recorder, char *const argv[]);

/* Starts a recording, or ends the one that runs. 0 or -errno. */
int tui_recorder__toggle(const struct tui_recorder *recorder);

/*
 * Reads what the recording said last into `line`, unless it said nothing. *ended: it has ended.
 * Never waits. False: nothing more will follow.
 */
bool tui_recorder__read(const struct tui_recorder *recorder, char line[RUN_TEXT], bool *ended);

/* Ends the process; waits until a recording is written. */
void tui_recorder__end(struct tui_recorder *recorder);

#endif
