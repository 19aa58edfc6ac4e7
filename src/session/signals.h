/* SPDX-License-Identifier: BSD-2-Clause */
/* The signals that end a window: SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE. */
#ifndef LATSCOPE_SESSION_SIGNALS_H
#define LATSCOPE_SESSION_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/*
 * Blocks them, stores the previous mask in `before`, and returns a descriptor that is readable when
 * one has arrived, or -errno.
 */
int signals__hold(sigset_t *before);

/*
 * A write beyond the limit of a file's size (ulimit -f) is an error, EFBIG, as on a full disk. What
 * latscope executes is ended by SIGXFSZ, as ever.
 */
void signals__survive_size_limit(void);

/*
 * Two signals that libc's threads keep for themselves (nptl(7)). The first thread takes them: if
 * they were ignored, a program that is executed later would no longer inherit that.
 */
#define SIGNALS_OF_THREADS 2

/* Which of them are ignored. */
void signals__note_ignored(bool ignored[SIGNALS_OF_THREADS]);

/* Ignores them again; for the child that becomes another program. */
void signals__ignore_again(const bool ignored[SIGNALS_OF_THREADS]);

#endif
