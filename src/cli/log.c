// SPDX-License-Identifier: BSD-2-Clause
#include "log.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <core/sanitize.h>

#define LINE (4 * PATH_MAX) /* a line may hold several paths */

static enum log_level level = LOG_NORMAL;
static bool progress_shown;

void log__set_level(enum log_level to)
{
	level = to;
}

void log__progress_end(void)
{
	if (progress_shown)
		fputs("\r\033[K", stderr);
	progress_shown = false;
}

/* One write, so that lines of several processes do not mix. */
static void print(const char *line)
{
	char clean[LINE];

	log__progress_end();
	fprintf(stderr, "%s\n", sanitize__text(clean, sizeof(clean), line));
}

static void problem(const char *what, const char *why, const char *todo)
{
	char line[LINE];

	snprintf(line, sizeof(line), "latscope: %s%s%s%s%s", what, *what && why ? ": " : "",
		 why ? why : "", todo ? "; " : "", todo ? todo : "");
	print(line);
}

void log__error(const char *what, const char *why, const char *todo)
{
	problem(what, why, todo);
}

void log__warn(const char *what, const char *why, const char *todo)
{
	if (level > LOG_QUIET)
		problem(what, why, todo);
}

void log__refused(const char *probe, const char *method, const char *why)
{
	char what[192];

	snprintf(what, sizeof(what), "%.64s cannot %s%.64s on this machine", probe,
		 method ? "be measured by method " : "run", method ? method : "");
	log__error(what, why, "'latscope doctor' explains");
}

void log__usage(const char *command, const char *text)
{
	char line[LINE];

	snprintf(line, sizeof(line), "latscope%s%s: %s; try 'latscope%s%s --help'",
		 *command ? " " : "", command, text, *command ? " " : "", command);
	print(line);
}

void log__quote(const char *lines)
{
	char line[LINE];

	for (; *lines; lines += strspn(lines, "\n")) {
		int len = (int)strcspn(lines, "\n");

		snprintf(line, sizeof(line), "  %.*s", len, lines);
		print(line);
		lines += len;
	}
}

void log__note(const char *format, ...)
{
	char line[LINE];
	va_list args;

	if (level == LOG_QUIET)
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	print(line);
}

void log__progress(const char *format, ...)
{
	char line[80], clean[80]; /* a longer one would wrap and could not be wiped */
	va_list args;

	if (level == LOG_QUIET || !isatty(STDERR_FILENO))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	fprintf(stderr, "\r\033[K%s", sanitize__text(clean, sizeof(clean), line));
	fflush(stderr);
	progress_shown = true;
}
