// SPDX-License-Identifier: BSD-2-Clause
#include "moves.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A tier always keeps some requests: without any, its latency would be unknown. */
#define LEAST_SHARE 0.001

/* The field of a number from 1 on; NULL: the line has fewer. */
static const char *field(const char *line, int number)
{
	while (line && --number > 0) {
		line = strchr(line, ',');
		line = line ? line + 1 : NULL;
	}
	return line;
}

static size_t length_of(const char *text)
{
	return strcspn(text, ",");
}

/* 0: no column has that name. */
static int column(const char *line, const char *name)
{
	const char *at;

	for (int i = 1; (at = field(line, i)); i++) {
		if (length_of(at) == strlen(name) && !strncmp(at, name, strlen(name)))
			return i;
	}
	return 0;
}

/* A whole field that is a finite number. */
static bool number(const char *line, int at, double *value)
{
	const char *text = at ? field(line, at) : NULL;
	char *end;

	if (!text || !length_of(text))
		return false;
	*value = strtod(text, &end);
	return end == text + length_of(text) && isfinite(*value);
}

/* All sockets of the load share one split: the decision of the first one counts. */
static void take_line(struct moves *moves, struct emulator *emulator)
{
	struct loop *loop = &emulator->machine.loop;
	double shift, socket = 0;

	if (column(moves->line, "shift")) {
		moves->shift = column(moves->line, "shift");
		moves->socket = column(moves->line, "socket");
		return;
	}
	if (!number(moves->line, moves->shift, &shift))
		return;
	if (moves->socket && (!number(moves->line, moves->socket, &socket) || socket != 0))
		return;
	emulator__move(emulator, fmin(fmax(loop->p + shift, LEAST_SHARE), 1 - LEAST_SHARE));
}

void moves__take(struct moves *moves, struct emulator *emulator, const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (text[i] == '\n') {
			moves->line[moves->length] = '\0';
			if (!moves->too_long)
				take_line(moves, emulator);
			moves->length = 0;
			moves->too_long = false;
		} else if (moves->length + 1 < MOVES_LINE) {
			moves->line[moves->length++] = text[i];
		} else {
			moves->too_long = true;
		}
	}
}
