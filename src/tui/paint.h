/* SPDX-License-Identifier: BSD-2-Clause */
/* Text on the screen. Texts are sanitized, and cut at their width. */
#ifndef LATSCOPE_TUI_PAINT_H
#define LATSCOPE_TUI_PAINT_H

#include <stdbool.h>

#include <print/bars.h>

/* For curses: colours are used, and text may be more than ASCII. */
void paint__begin(bool color, bool utf8);

enum paint_style {
	PAINT_PLAIN,
	PAINT_DIM, /* labels */
	PAINT_STRONG, /* numbers that matter */
	PAINT_BAR, /* title and heads of tables */
	PAINT_CHOSEN, /* the row of the cursor */
	PAINT_ALERT, /* what the user must know */
};

/* At most `width` columns from (y, x). Returns the columns used. */
int paint__text(int y, int x, int width, enum paint_style style, const char *text);
int paint__format(int y, int x, int width, enum paint_style style, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* Right-aligned in the `width` columns from x. */
void paint__right(int y, int x, int width, enum paint_style style, const char *text);

/* Fills the line from x with the style. */
void paint__line(int y, int x, int width, enum paint_style style);

/* Cells of a part of a bar: its colour; its letter if there are too few colours. */
void paint__part(int y, int x, int width, enum bar_part part);

/* A name: if it is longer than the width, its middle is cut out. */
void paint__name(int y, int x, int width, enum paint_style style, const char *name);

#endif
