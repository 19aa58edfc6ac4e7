/* SPDX-License-Identifier: BSD-2-Clause */
/* Messages about the recording. Functions that return int return an exit code. */
#ifndef LATSCOPE_CLI_OUTPUT_H
#define LATSCOPE_CLI_OUTPUT_H

#include <host/restore.h>
#include <store/recording.h>

#include "options.h"

#define OUTPUT_DIR "runs" /* default of -o for commands that always keep a recording */

/* `parent` NULL: no recording is kept. */
int output__create(struct recording *recording, const char *parent, const struct options *options);

/*
 * For a command that drops root before it writes the recording: checks before the window that the
 * unprivileged user can write it. output__end() returns the recording to root and frees it; `code`
 * is the exit code so far, the return value the final one.
 */
int output__lend(struct restore **restore, struct recording *recording);
int output__end(struct restore *restore, struct recording *recording, int code);

/* A writer failed with -errno. NULL: one without a directory. */
int output__failed(const struct writer *writer, int err);

/* The recording reached a limit: recording__room(). */
int output__no_room(const struct recording *recording, int why);

/* Prints the path of the recording, if one is kept. */
void output__show(const struct recording *recording);

#endif
