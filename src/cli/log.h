/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All output to stderr; only the commands and main use it. A problem is one line:
 *
 *   latscope: WHAT: WHY; WHAT TO DO
 */
#ifndef LATSCOPE_CLI_LOG_H
#define LATSCOPE_CLI_LOG_H

#include <stdbool.h>

enum log_level { LOG_QUIET, LOG_NORMAL };

void log__set_level(enum log_level level);

/* why and todo may be NULL. An error is always printed, a warning unless the level is quiet. */
void log__error(const char *what, const char *why, const char *todo);
void log__warn(const char *what, const char *why, const char *todo);

/* A probe, or the chosen method, cannot run here: an error that refers to doctor. */
void log__refused(const char *probe, const char *method, const char *why);

/* latscope COMMAND: TEXT; try 'latscope COMMAND --help' */
void log__usage(const char *command, const char *text);

/* Lines of another program that belong to an error. */
void log__quote(const char *lines);

/* A line that is no problem, such as the recording's path. Not at level quiet. */
void log__note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Replaces the previous progress line; only on a terminal, unless quiet. */
void log__progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log__progress_end(void);

#endif
