/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The terminal as a full screen. It is always restored: before the process stops (SIGTSTP), and by
 * terminal__close(). The signals that end a window are not handled here: see session/signals.h.
 */
#ifndef LATSCOPE_TUI_TERMINAL_H
#define LATSCOPE_TUI_TERMINAL_H

#include <signal.h>
#include <stdbool.h>

#include <core/run.h>

#define TERMINAL_LINES 20 /* the smallest screen */
#define TERMINAL_COLUMNS 60

/* Results of terminal__next() that are no keys. */
#define TERMINAL_NONE (-1) /* nothing more to read */
#define TERMINAL_RESIZED (-2) /* or continued: draw everything again */
#define TERMINAL_GONE (-3) /* it was closed */

enum terminal_heat {
	TERMINAL_ASCII, /* a character for each density */
	TERMINAL_SHADES, /* UTF-8 without 256 colours: shaded blocks */
	TERMINAL_HALF, /* UTF-8 and 256 colours: two cells in a character */
};

struct terminal {
	int ready; /* poll it: readable when terminal__next() has something */
	int signals; /* signalfd of SIGWINCH, SIGTSTP, SIGCONT */
	sigset_t before; /* signals that were blocked */
	bool is_open, utf8, color;
	enum terminal_heat heat;
	void *screen; /* of curses */
};

/* Can standard input and output show a full screen? 0, or -ENOTTY with `why` and `todo`. */
int terminal__check(char why[RUN_TEXT], const char **todo);

/*
 * Opens the screen. 0, or -errno; the caller must call terminal__close() in either case.
 */
int terminal__open(struct terminal *terminal);

/* Restores the terminal; may be called twice. */
void terminal__close(struct terminal *terminal);

/* The next key (KEY_... of curses, or a byte) or one of TERMINAL_...; never waits. */
int terminal__next(struct terminal *terminal);

/* Is it as large as TERMINAL_LINES and TERMINAL_COLUMNS? */
bool terminal__is_large_enough(void);

#endif
