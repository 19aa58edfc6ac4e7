// SPDX-License-Identifier: BSD-2-Clause
#include "html_page.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include <core/sanitize.h>
#include <store/json_print.h>

#include "web_files.h"

static void escape(FILE *out, char byte)
{
	switch (byte) {
	case '<':
		fputs("&lt;", out);
		break;
	case '>':
		fputs("&gt;", out);
		break;
	case '&':
		fputs("&amp;", out);
		break;
	case '"':
		fputs("&quot;", out);
		break;
	case '\'':
		fputs("&#39;", out);
		break;
	default:
		fputc(byte, out);
	}
}

/* Lines and columns of the text stay: each line is sanitized by itself. */
static void escape_lines(FILE *out, const char *text)
{
	char line[4096];

	while (*text) {
		size_t len = strcspn(text, "\n");
		size_t put = len < sizeof(line) ? len : sizeof(line) - 1;

		memcpy(line, text, put);
		line[put] = '\0';
		sanitize__in_place(line);
		for (const char *at = line; *at; at++)
			escape(out, *at);
		text += put;
		if (put == len && *text) {
			fputc('\n', out);
			text++;
		}
	}
}

void html_page__text(FILE *out, const char *text)
{
	char *clean = strdup(text);

	sanitize__in_place(clean);
	for (const char *at = clean; at && *at; at++)
		escape(out, *at);
	free(clean);
}

void html_page__cell(FILE *out, const char *text)
{
	fputs("<td>", out);
	html_page__text(out, text);
	fputs("</td>", out);
}

void html_page__format(FILE *out, const char *format, ...)
{
	char text[2 * RUN_HOW];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	html_page__text(out, text);
}

static void put(FILE *out, const char *from, const char *to)
{
	fwrite(from, 1, (size_t)(to - from), out);
}

/* Nothing is ever fetched, and no script runs but the one with this hash, if any. */
static void print_head(FILE *out, const char *title, bool script)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n", out);
	fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
	      "style-src 'unsafe-inline'; ",
	      out);
	if (script) {
		fputs("script-src 'sha256-", out);
		put(out, web_hash, web_hash_end);
		fputs("'; ", out);
	}
	fputs("base-uri 'none'; form-action 'none'\">\n", out);
	fputs("<meta name=\"viewport\" content=\"width=device-width\">\n<title>", out);
	html_page__text(out, title);
	fputs("</title>\n<style>", out);
	put(out, web_style, web_style_end);
	fputs("</style>\n</head>\n<body>\n", out);
}

void html_page__begin_plain(FILE *out, const char *title)
{
	print_head(out, title, false);
	fputs("<h1>", out);
	html_page__text(out, title);
	fputs("</h1>\n", out);
}

void html_page__end_plain(FILE *out, const char *text)
{
	fputs("<pre>", out);
	escape_lines(out, text);
	fputs("</pre>\n</body>\n</html>\n", out);
}

void html_page__begin(FILE *out, const char *title)
{
	print_head(out, title, true);
	put(out, web_body, web_body_end);
	fputs("<div id=\"static\">\n", out);
}

/*
 * JSON within a script element: "<" could end the element or begin a comment. Elsewhere than in
 * strings, JSON has no "<".
 */
static int put_json(FILE *out, struct json_object *data)
{
	char *json = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&json, &size);
	int err;

	if (!stream) {
		json_object_put(data);
		return -ENOMEM;
	}
	err = json__print(data, stream, false);
	if (fclose(stream))
		err = -ENOMEM;
	for (size_t i = 0; !err && i < size; i++) {
		if (json[i] == '<')
			fputs("\\u003c", out);
		else
			fputc(json[i], out);
	}
	free(json);
	return err;
}

void html_page__end_static(FILE *out)
{
	fputs("</div>\n", out);
}

int html_page__end(FILE *out, struct json_object *data, const char *text)
{
	int err;

	fputs("<details id=\"text\"><summary>The same as text</summary>\n<pre>", out);
	escape_lines(out, text);
	fputs("</pre></details>\n<script type=\"application/json\" id=\"data\">", out);
	err = put_json(out, data);
	fputs("</script>\n<script>", out);
	put(out, web_script, web_script_end);
	fputs("</script>\n</body>\n</html>\n", out);
	return err;
}
