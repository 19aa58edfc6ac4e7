// SPDX-License-Identifier: BSD-2-Clause
#include "paint.h"

#include <curses.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include <core/sanitize.h>

#define MOST_TEXT 1024
#define FIRST_PAIR 100 /* the heat map has those below */

#define MANY_COLORS 256

enum { PAIR_BAR = FIRST_PAIR, PAIR_ALERT, PAIR_STRONG, PAIR_PARTS };

static struct {
	bool color, utf8;
	bool solid; /* a part of a bar is its colour alone */
} mode;

/* The palette of web/draw.js. The last one, of what is idle, is the terminal's own background. */
static const struct {
	short many, few; /* of 256 colours, of 8 */
} palette[] = {
	{ 25, COLOR_BLUE },	{ 172, COLOR_YELLOW }, { 36, COLOR_GREEN },
	{ 175, COLOR_MAGENTA }, { 166, COLOR_RED },    { 74, COLOR_CYAN },
	{ 142, COLOR_WHITE },	{ 245, COLOR_WHITE },  { -1, COLOR_WHITE },
};

static void begin_parts(void)
{
	mode.solid = mode.color && COLORS >= MANY_COLORS && COLOR_PAIRS > PAIR_PARTS + BAR_PARTS;
	for (unsigned int i = 0; i < BAR_PARTS; i++) {
		unsigned int color = bar_looks[i].color;

		if (mode.solid)
			init_pair((short)(PAIR_PARTS + i), COLOR_WHITE, palette[color].many);
		else if (COLOR_PAIRS > PAIR_PARTS + BAR_PARTS)
			init_pair((short)(PAIR_PARTS + i), palette[color].few, -1);
	}
}

void paint__begin(bool color, bool utf8)
{
	mode.color = color && COLOR_PAIRS > PAIR_STRONG;
	mode.utf8 = utf8;
	mode.solid = false;
	if (!mode.color)
		return;
	init_pair(PAIR_BAR, COLOR_BLACK, COLOR_CYAN);
	init_pair(PAIR_ALERT, COLOR_RED, -1);
	init_pair(PAIR_STRONG, COLOR_CYAN, -1);
	begin_parts();
}

static attr_t attribute(enum paint_style style)
{
	switch (style) {
	case PAINT_PLAIN:
		return A_NORMAL;
	case PAINT_DIM:
		return A_DIM;
	case PAINT_STRONG:
		return A_BOLD | (mode.color ? COLOR_PAIR(PAIR_STRONG) : 0);
	case PAINT_BAR:
		return mode.color ? COLOR_PAIR(PAIR_BAR) : A_REVERSE;
	case PAINT_CHOSEN:
		return A_REVERSE;
	case PAINT_ALERT:
		return A_BOLD | (mode.color ? COLOR_PAIR(PAIR_ALERT) : 0);
	}
	return A_NORMAL;
}

/* Columns of one character; *length is set to its bytes. */
static int columns_of(const char *text, size_t *length)
{
	mbstate_t state = { 0 };
	wchar_t wide;
	size_t got = mbrtowc(&wide, text, strlen(text), &state);
	int columns;

	*length = 1;
	if (got == (size_t)-1 || got == (size_t)-2 || !got)
		return -1;
	*length = got;
	columns = wcwidth(wide);
	return columns > 0 && (mode.utf8 || got == 1) ? columns : -1;
}

static void skip_character(const char **text)
{
	(*text)++;
	while ((**text & 0xc0) == 0x80)
		(*text)++;
}

/* Adds characters at the cursor; what the terminal cannot show is '?'. Returns the columns. */
static int add_clipped(const char *text, int width)
{
	int used = 0, columns;
	size_t length;

	while (*text) {
		columns = columns_of(text, &length);
		if (used + (columns < 0 ? 1 : columns) > width)
			break;
		if (columns < 0) {
			addch('?');
			skip_character(&text);
			used++;
			continue;
		}
		addnstr(text, (int)length);
		text += length;
		used += columns;
	}
	return used;
}

int paint__text(int y, int x, int width, enum paint_style style, const char *text)
{
	char clean[MOST_TEXT];
	int used;

	if (width <= 0 || y < 0 || y >= LINES || x >= COLS || move(y, x) == ERR)
		return 0;
	if (width > COLS - x)
		width = COLS - x;
	attrset(attribute(style));
	used = add_clipped(sanitize__text(clean, sizeof(clean), text), width);
	attrset(A_NORMAL);
	return used;
}

int paint__format(int y, int x, int width, enum paint_style style, const char *format, ...)
{
	char text[MOST_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return paint__text(y, x, width, style, text);
}

void paint__right(int y, int x, int width, enum paint_style style, const char *text)
{
	int length = (int)strlen(text);

	if (length < width)
		x += width - length;
	paint__text(y, x, length < width ? length : width, style, text);
}

void paint__line(int y, int x, int width, enum paint_style style)
{
	if (y < 0 || y >= LINES || x >= COLS)
		return;
	attrset(attribute(style));
	mvhline(y, x, ' ' | attribute(style), width);
	attrset(A_NORMAL);
}

void paint__part(int y, int x, int width, enum bar_part part)
{
	bool colored = mode.color && COLOR_PAIRS > PAIR_PARTS + BAR_PARTS;
	attr_t style = colored ? COLOR_PAIR(PAIR_PARTS + (int)part) : A_NORMAL;
	char cell = mode.solid && part != BAR_IDLE ? ' ' : bar_looks[part].letter;

	if (y < 0 || y >= LINES || x >= COLS || width <= 0)
		return;
	mvhline(y, x, (chtype)cell | (part == BAR_IDLE ? A_DIM : style), width);
}

static int columns_of_text(const char *text)
{
	int all = 0, columns;
	size_t length;

	while (*text) {
		columns = columns_of(text, &length);
		all += columns < 0 ? 1 : columns;
		if (columns < 0)
			skip_character(&text);
		else
			text += length;
	}
	return all;
}

void paint__name(int y, int x, int width, enum paint_style style, const char *name)
{
	char clean[MOST_TEXT];
	const char *tail = clean;
	int all, head = (width - 2) / 2;

	sanitize__text(clean, sizeof(clean), name);
	all = columns_of_text(clean);
	if (all <= width || width < 6) {
		paint__text(y, x, width, style, clean);
		return;
	}
	x += paint__text(y, x, head, style, clean);
	x += paint__text(y, x, 2, style, "..");
	for (; *tail && columns_of_text(tail) > width - head - 2; skip_character(&tail))
		;
	paint__text(y, x, width - head - 2, style, tail);
}
