/* SPDX-License-Identifier: BSD-2-Clause */
/* The screen of a recording, also of one that is still being written. */
#ifndef LATSCOPE_TUI_REPLAY_H
#define LATSCOPE_TUI_REPLAY_H

#include <core/run.h>

struct replay;

/* Opens the recording. 0, -ENOMEM, or an error of rundb.h. */
int replay__new(struct replay **replay, const char *path);

/*
 * Shows it until the user quits or a signal arrives. 0 or -errno; errors of the recording are those
 * of rundb.h.
 */
int replay__run(struct replay *replay);

/* NULL is allowed. */
void replay__free(struct replay *replay);

#endif
