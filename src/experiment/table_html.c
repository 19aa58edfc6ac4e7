// SPDX-License-Identifier: BSD-2-Clause
/*
 * The page of a matrix: for each latency a small histogram of each cell, all with the same axes.
 * The line is that of the reference. Events by octave of us, as shares.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>
#include <print/html_page.h>

#include "table.h"

#define BAR 12 /* width */
#define HEIGHT 80
#define LABELS 16

/* The rows of one latency. */
struct panels {
	const struct cell_table *table;
	const struct table_row *rows;
	size_t nr;
	const struct table_row *reference; /* NULL: it has none */
	unsigned int low, high; /* octaves with events */
	double most; /* the largest share */
};

static double share_of(const struct table_row *row, unsigned int bucket)
{
	return row->events ? (double)row->buckets[bucket] / (double)row->events : 0;
}

static struct panels panels_of(const struct cell_table *table, size_t first)
{
	struct panels panels = { .table = table,
				 .rows = &table->rows[first],
				 .low = HIST_LOG2_BUCKETS - 1 };

	for (size_t i = first; i < table->nr; i++) {
		const struct table_row *row = &table->rows[i];

		if (strcmp(row->probe, panels.rows->probe) != 0 ||
		    strcmp(row->metric, panels.rows->metric) != 0)
			break;
		panels.nr++;
		if (row->side == table->experiment->plan.reference)
			panels.reference = row;
		for (unsigned int j = 0; j < HIST_LOG2_BUCKETS; j++) {
			if (!row->buckets[j])
				continue;
			panels.low = j < panels.low ? j : panels.low;
			panels.high = j > panels.high ? j : panels.high;
			panels.most = fmax(panels.most, share_of(row, j));
		}
	}
	return panels;
}

static double top_of(const struct panels *panels, const struct table_row *row, unsigned int bucket)
{
	return HEIGHT - share_of(row, bucket) / panels->most * (HEIGHT - 2);
}

static void print_bars(FILE *out, const struct panels *panels, const struct table_row *row)
{
	fputs("<path class=\"h4\" d=\"", out);
	for (unsigned int i = panels->low; i <= panels->high; i++) {
		double top = top_of(panels, row, i);

		if (row->buckets[i])
			fprintf(out, "M%u %.1fh%dV%dh-%dz", (i - panels->low) * BAR, top, BAR - 1,
				HEIGHT, BAR - 1);
	}
	fputs("\"/>\n", out);
}

static void print_line(FILE *out, const struct panels *panels)
{
	if (!panels->reference)
		return;
	fprintf(out, "<path fill=\"none\" stroke=\"currentColor\" d=\"M0 %d", HEIGHT);
	for (unsigned int i = panels->low; i <= panels->high; i++)
		fprintf(out, "V%.1fh%d", top_of(panels, panels->reference, i), BAR);
	fprintf(out, "V%d\"/>\n", HEIGHT);
}

/* The low edge of an octave: bucket 0 is below 1 us. */
static const char *edge(char buf[UNITS_TEXT], unsigned int bucket)
{
	return units__ns(buf, bucket ? (double)(1ULL << bucket) * 1e3 : 0);
}

static void print_panel(FILE *out, const struct panels *panels, const struct table_row *row)
{
	unsigned int width = (panels->high - panels->low + 1) * BAR;
	const char *name = panels->table->experiment->plan.sides[row->side].name;
	char text[UNITS_TEXT];

	fputs("<figure style=\"display:inline-block;vertical-align:top;width:17em;margin:.5em\">"
	      "<figcaption>",
	      out);
	html_page__format(out, "%s%s", name, row == panels->reference ? " (reference)" : "");
	fprintf(out, "</figcaption>\n<svg viewBox=\"0 0 %u %d\" role=\"img\" aria-label=\"", width,
		HEIGHT + LABELS);
	html_page__format(out, "Histogram of %s", name);
	fputs("\">\n", out);
	print_bars(out, panels, row);
	print_line(out, panels);
	fprintf(out, "<text x=\"0\" y=\"%d\">%s</text>\n", HEIGHT + LABELS - 4,
		edge(text, panels->low));
	fprintf(out, "<text x=\"%u\" y=\"%d\" text-anchor=\"end\">%s</text>\n</svg>\n", width,
		HEIGHT + LABELS - 4, edge(text, panels->high + 1));
	fputs("<small>", out);
	for (unsigned int i = 0; i < JUDGE_STATISTICS; i++) {
		const struct judged *judged = &row->statistics[i];

		if (row == panels->reference || !judged->tested ||
		    judged->verdict == JUDGE_NO_DIFFERENCE)
			continue;
		fprintf(out, "%s: %s, x%.3g<br>", judge__name(i), judge__verdict(judged),
			judged->ratio);
	}
	fputs("</small></figure>\n", out);
}

static int print_table(FILE *out, const struct cell_table *table)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	if (!stream)
		return -ENOMEM;
	cell_table__print_text(stream, table, false);
	if (fclose(stream))
		return -ENOMEM;
	html_page__end_plain(out, text);
	free(text);
	return 0;
}

int cell_table__print_html(FILE *out, void *of)
{
	const struct cell_table *table = of;
	struct panels panels;

	html_page__begin_plain(out, "latscope ab --matrix");
	fputs("<p>Share of events by latency. Bars: the cell. Line: the reference.</p>\n", out);
	for (size_t i = 0; i < table->nr; i += panels.nr) {
		panels = panels_of(table, i);
		if (panels.low > panels.high)
			continue;
		fputs("<h2>", out);
		html_page__format(out, "%s %s", panels.rows->probe, panels.rows->metric);
		fputs("</h2>\n", out);
		for (size_t j = 0; j < panels.nr; j++)
			print_panel(out, &panels, &panels.rows[j]);
	}
	return print_table(out, table);
}
