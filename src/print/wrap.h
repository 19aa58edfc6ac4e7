/* SPDX-License-Identifier: BSD-2-Clause */
/* A paragraph that is built piece by piece and printed within the columns of the terminal. */
#ifndef LATSCOPE_PRINT_WRAP_H
#define LATSCOPE_PRINT_WRAP_H

#include <stddef.h>
#include <stdio.h>

#define WRAP_COLUMNS 80 /* if it is no terminal, and at least */
#define WRAP_MOST_COLUMNS 200

struct wrap {
	char text[2048]; /* the rest is cut */
	size_t len;
};

/* Columns of text in this stream: those of the terminal if it is standard output and one. */
unsigned int wrap__columns(const FILE *out);

/* What is written to this stream goes to standard output later. NULL: there is none any more. */
void wrap__stand_in(const FILE *stream);

/* A paragraph in this stream is one line. NULL: there is none any more. */
void wrap__unbroken(const FILE *stream);

void wrap__add(struct wrap *wrap, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Lines begin with `indent` spaces, those after the first with `hang` more. Empties it. */
void wrap__print(struct wrap *wrap, FILE *out, unsigned int indent, unsigned int hang);

/* The same after `column` columns of a line that are written: further lines begin there, too. */
void wrap__print_after(struct wrap *wrap, FILE *out, unsigned int column);

/* A paragraph that is one piece. */
void wrap__line(FILE *out, unsigned int indent, unsigned int hang, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

#endif
