// SPDX-License-Identifier: BSD-2-Clause
#include "wrap.h"

#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <core/sanitize.h>

static const FILE *stand_in, *unbroken;

void wrap__stand_in(const FILE *stream)
{
	stand_in = stream;
}

void wrap__unbroken(const FILE *stream)
{
	unbroken = stream;
}

unsigned int wrap__columns(const FILE *out)
{
	static unsigned int columns; /* the same for the whole output */
	struct winsize size;

	if (unbroken && out == unbroken)
		return sizeof(((struct wrap *)NULL)->text);
	if (out != stdout && out != stand_in)
		return WRAP_COLUMNS;
	if (columns)
		return columns;
	columns = WRAP_COLUMNS;
	if (isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) &&
	    size.ws_col > WRAP_COLUMNS)
		columns = size.ws_col < WRAP_MOST_COLUMNS ? size.ws_col : WRAP_MOST_COLUMNS;
	return columns;
}

static void add(struct wrap *wrap, const char *format, va_list args)
{
	char piece[sizeof(wrap->text)];

	vsnprintf(piece, sizeof(piece), format, args);
	sanitize__text(wrap->text + wrap->len, sizeof(wrap->text) - wrap->len, piece);
	wrap->len += strlen(wrap->text + wrap->len);
}

void wrap__add(struct wrap *wrap, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	add(wrap, format, args);
	va_end(args);
}

void wrap__line(FILE *out, unsigned int indent, unsigned int hang, const char *format, ...)
{
	struct wrap wrap = { 0 };
	va_list args;

	va_start(args, format);
	add(&wrap, format, args);
	va_end(args);
	wrap__print(&wrap, out, indent, hang);
}

/*
 * Bytes of the next word that fit into this many columns. A word that is too long is broken, but
 * never within a character.
 */
static size_t take(const char *word, size_t len, size_t columns)
{
	size_t bytes = 0;

	while (bytes < len && columns--) {
		bytes++;
		while (bytes < len && (word[bytes] & 0xc0) == 0x80)
			bytes++;
	}
	return bytes;
}

/* The line has `written` columns; so many more are before the text, and on each further line. */
static void print(struct wrap *wrap, FILE *out, size_t written, size_t first, size_t margin)
{
	size_t begin = written + first, before = first, column = 0, most = wrap__columns(out);
	const char *at = wrap->text;

	while (*(at += strspn(at, " "))) {
		size_t len = strcspn(at, " "), columns = sanitize__columns(at, len);

		if (column && column + 1 + columns > most) {
			fputc('\n', out);
			column = 0;
			begin = before = margin;
		}
		len = take(at, len, most - begin);
		fprintf(out, "%*s", column ? 1 : (int)before, "");
		column = column ? column + 1 : begin;
		column += sanitize__columns(at, len);
		fwrite(at, 1, len, out);
		at += len;
	}
	fputc('\n', out);
	wrap->text[0] = '\0';
	wrap->len = 0;
}

void wrap__print(struct wrap *wrap, FILE *out, unsigned int indent, unsigned int hang)
{
	print(wrap, out, 0, indent, indent + hang);
}

void wrap__print_after(struct wrap *wrap, FILE *out, unsigned int column)
{
	print(wrap, out, column, 0, column);
}
