/* SPDX-License-Identifier: BSD-2-Clause */
/* The screen of a live window: a writer gets its intervals, and the session watches the keys. */
#ifndef LATSCOPE_TUI_LIVE_H
#define LATSCOPE_TUI_LIVE_H

#include <session/session.h>
#include <store/writer.h>

#include "recorder.h"
#include "view.h"

struct live {
	struct view view;
	struct tui_recorder recorder;
	struct session_watcher watcher; /* for the session's config */
	uint64_t cpu_ns, wall_ns; /* at the last interval: for the cost */
	uint64_t next_frame;
	const char *where; /* directory of recordings, for messages */
};

/*
 * Opens the screen before there are probes: it says that they are loaded. Signals that end a window
 * wait from now on. 0 or -errno; call live__close() in either case.
 */
int live__open(struct live *live, const char *loading);

/* Shows the probes of the run. 0 or -errno. */
int live__show(struct live *live, const struct run *run);

/* Restores the terminal. */
void live__close(struct live *live);

/* The writer's state is the struct live. */
extern const struct writer_ops writer_screen;

#endif
