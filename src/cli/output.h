/* SPDX-License-Identifier: BSD-2-Clause */
/* What commands say of the recording that they keep. Those that return int give an exit code. */
#ifndef LATSCOPE_CLI_OUTPUT_H
#define LATSCOPE_CLI_OUTPUT_H

#include <core/restore.h>
#include <store/recording.h>

#include "options.h"

/* Nothing is kept if `parent` is NULL. */
int output__create(struct recording *recording, const char *parent, const struct options *options);

/*
 * For who gives up root before the recording is written. It has to be possible for the user that
 * this process becomes, before anything is measured. output__end() gives it back to root, and
 * also frees it. `code` is the exit code so far; returns what it is then.
 */
int output__lend(struct restore **restore, struct recording *recording);
int output__end(struct restore *restore, struct recording *recording, int code);

/* A writer failed by -errno. NULL: one that has no directory. */
int output__failed(const struct writer *writer, int err);

/* It cannot grow further: recording__room(). An exit code. */
int output__no_room(const struct recording *recording, int why);

/* Where it is, if it is kept. */
void output__show(const struct recording *recording);

#endif
