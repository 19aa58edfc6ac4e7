// SPDX-License-Identifier: BSD-2-Clause
/*
 * SVG, so that it needs no script: the latencies of both tiers over time, below them the share of
 * the bytes on the default tier, and a lane of marks for each kind of action.
 */
#include "html_data.h"

#include <math.h>
#include <string.h>

#include <core/units.h>

#include "text.h"
#include "html_page.h"

#define LEFT 230 /* labels and names */
#define WIDTH 600
#define TOP 10
#define HEIGHT 110 /* of a plot */
#define GAP 20
#define LANE 16
#define MARK 10
#define BOTTOM 20

static const struct {
	const char *column, *style, *label;
	int plot;
} lines[HTML_ACTION_LINES] = {
	[HTML_ACTION_DEFAULT] = { "latency_default_ns", "near", "latency of the default tier", 0 },
	[HTML_ACTION_ALTERNATE] = { "latency_alternate_ns", "far", "latency of the alternate tier",
				    0 },
	[HTML_ACTION_SHARE] = { "placement_before", "share", "share on the default tier", 1 },
};

/* ---- rows ---- */

static const char *text_of(struct table_value value)
{
	return value.known && value.kind == TABLE_TEXT ? value.text : "";
}

/* Empty: nothing was done. */
static void label_row(char label[HTML_ACTION_LABEL], const struct table *table, size_t row)
{
	const char *action = text_of(actions__value(table, row, "action"));
	const char *to = text_of(actions__value(table, row, "to"));

	label[0] = '\0';
	if (!strcmp(action, "stay") || !strcmp(action, "wait"))
		return;
	if (*to && strcmp(to, "none"))
		snprintf(label, HTML_ACTION_LABEL, "%s to %s", action, to);
	else
		snprintf(label, HTML_ACTION_LABEL, "%s", action);
}

static void mark_row(struct html_actions *actions, size_t row, size_t at)
{
	char label[HTML_ACTION_LABEL];
	unsigned int lane = 0;

	label_row(label, actions->table, row);
	if (!label[0])
		return;
	while (lane < actions->nr_lanes && strcmp(actions->lanes[lane].label, label))
		lane++;
	if (lane == HTML_ACTION_LANES) {
		actions->more = true;
		return;
	}
	if (lane == actions->nr_lanes)
		strcpy(actions->lanes[actions->nr_lanes++].label, label);
	actions->lanes[lane].at[at] = true;
	actions->lanes[lane].count++;
}

static void add_value(struct html_actions *actions, unsigned int line, size_t row, size_t at)
{
	struct table_value value = actions__value(actions->table, row, lines[line].column);
	double *low = &actions->lines[line].low, *high = &actions->lines[line].high;

	if (!value.known || value.kind != TABLE_REAL || !(value.real >= 0 && value.real < 1e18))
		return;
	actions->lines[line].sums[at] += value.real;
	actions->lines[line].rows[at]++;
	*low = actions->lines[line].known ? fmin(*low, value.real) : value.real;
	*high = fmax(*high, value.real);
	actions->lines[line].known = true;
}

void html_actions__add(struct html_actions *actions, const struct table *table, size_t column,
		       size_t columns)
{
	size_t at = columns > HTML_ACTION_COLUMNS ? column * HTML_ACTION_COLUMNS / columns : column;
	size_t key;

	actions->table = table;
	actions->columns = columns < HTML_ACTION_COLUMNS ? columns : HTML_ACTION_COLUMNS;
	for (size_t row = 0; at < actions->columns && row < table__rows(table); row++) {
		for (unsigned int i = 0; i < HTML_ACTION_LINES; i++)
			add_value(actions, i, row, at);
		mark_row(actions, row, at);
		key = table__key_of(table, row);
		if (key < HTML_ACTION_KEYS)
			actions->times[key]++;
	}
}

/* ---- the picture ---- */

static int top_of(int plot)
{
	return TOP + plot * (HEIGHT + GAP);
}

static double x_of(const struct html_actions *actions, size_t at)
{
	return LEFT + ((double)at + 0.5) * WIDTH / (double)actions->columns;
}

/* Each piece begins with a dot, so that one column alone is seen. */
static void print_line(FILE *out, const struct html_actions *actions, unsigned int line,
		       double most)
{
	bool begun = false;

	fprintf(out, "<path class=\"line %s\" d=\"", lines[line].style);
	for (size_t at = 0; at < actions->columns; at++) {
		uint32_t rows = actions->lines[line].rows[at];
		double value = rows ? actions->lines[line].sums[at] / rows : 0;
		double y = top_of(lines[line].plot) + HEIGHT * (1 - value / most);

		if (rows)
			fprintf(out, "%s%.1f %.1f%s", begun ? "L" : "M", x_of(actions, at), y,
				begun ? "" : "h0");
		begun = rows;
	}
	fputs("\"/>\n", out);
}

static void print_text(FILE *out, int x, int y, bool at_end, const char *text)
{
	fprintf(out, "<text x=\"%d\" y=\"%d\"%s>", x, y, at_end ? " text-anchor=\"end\"" : "");
	html_page__text(out, text);
	fputs("</text>\n", out);
}

static void print_plot(FILE *out, int plot, const char *most)
{
	fprintf(out, "<path class=\"grid\" d=\"M%d %dh%dM%d %dh%d\"/>\n", LEFT, top_of(plot), WIDTH,
		LEFT, top_of(plot) + HEIGHT, WIDTH);
	print_text(out, LEFT - 6, top_of(plot) + 4, true, most);
	print_text(out, LEFT - 6, top_of(plot) + HEIGHT + 4, true, "0");
}

static void print_names(FILE *out)
{
	int y = 0;

	for (unsigned int i = 0; i < HTML_ACTION_LINES; i++) {
		y = i && lines[i].plot == lines[i - 1].plot ? y + LANE
							    : top_of(lines[i].plot) + HEIGHT / 2;
		fprintf(out, "<path class=\"line %s\" d=\"M4 %dh20\"/>\n", lines[i].style, y - 4);
		print_text(out, 30, y, false, lines[i].label);
	}
}

static void print_lane(FILE *out, const struct html_actions *actions, unsigned int lane)
{
	int y = top_of(2) + (int)lane * LANE;
	char text[HTML_ACTION_LABEL + UNITS_TEXT + 4], count[UNITS_TEXT];

	snprintf(text, sizeof(text), "%s: %s", actions->lanes[lane].label,
		 units__count(count, actions->lanes[lane].count));
	print_text(out, LEFT - 6, y + MARK, true, text);
	fputs("<path class=\"mark\" d=\"", out);
	for (size_t at = 0; at < actions->columns; at++)
		if (actions->lanes[lane].at[at])
			fprintf(out, "M%.1f %dv%d", x_of(actions, at), y, MARK);
	fputs("\"/>\n", out);
}

static void print_picture(FILE *out, const struct html_actions *actions, uint64_t start_ns,
			  uint64_t end_ns)
{
	double most = fmax(actions->lines[HTML_ACTION_DEFAULT].high,
			   actions->lines[HTML_ACTION_ALTERNATE].high);
	int bottom = top_of(2) + (int)actions->nr_lanes * LANE + BOTTOM;
	char text[UNITS_TEXT];

	fprintf(out,
		"<svg viewBox=\"0 0 %d %d\" width=\"%d\" role=\"img\" aria-label=\"Latency of both "
		"tiers, placement of the pages and actions over time\">\n",
		LEFT + WIDTH + GAP, bottom, LEFT + WIDTH + GAP);
	print_plot(out, 0, units__ns(text, most));
	print_plot(out, 1, "100 %");
	print_names(out);
	for (unsigned int i = 0; i < HTML_ACTION_LINES; i++)
		print_line(out, actions, i, lines[i].plot ? 1 : fmax(most, 1));
	for (unsigned int i = 0; i < actions->nr_lanes; i++)
		print_lane(out, actions, i);
	snprintf(text, sizeof(text), "%.3g s", (double)start_ns / 1e9);
	print_text(out, LEFT, bottom - 5, false, text);
	snprintf(text, sizeof(text), "%.6g s", (double)end_ns / 1e9);
	print_text(out, LEFT + WIDTH, bottom - 5, true, text);
	fputs("</svg>\n", out);
}

/* ---- the same as text ---- */

static void print_range(FILE *out, const struct html_actions *actions, unsigned int line)
{
	const char *unit = lines[line].plot ? "" : " ns";

	if (actions->lines[line].known)
		html_page__format(out, "%s %s %.4g to %.4g%s", line ? ";" : "", lines[line].label,
				  actions->lines[line].low, actions->lines[line].high, unit);
}

static void mean_cell(FILE *out, const struct table *table, size_t key, const char *column,
		      const char *format)
{
	const struct table_aggregate *of = actions__aggregate(table, key, column);
	char text[RUN_NAME] = "-";

	if (of->rows)
		snprintf(text, sizeof(text), format, of->sum / (double)of->rows);
	html_page__cell(out, text);
}

static void print_key(FILE *out, const struct html_actions *actions, size_t key)
{
	static const char *const names[] = { "action", "to", "why" };
	const struct table *table = actions->table;
	char text[UNITS_TEXT];

	fputs("<tr>", out);
	for (unsigned int i = 0; i < 3; i++)
		html_page__cell(out, text_of(actions__key(table, key, names[i])));
	html_page__cell(out, units__count(text, actions->times[key]));
	mean_cell(out, table, key, "latency_default_ns", "%.1f ns");
	mean_cell(out, table, key, "latency_alternate_ns", "%.1f ns");
	mean_cell(out, table, key, "placement_before", "%.3f");
	mean_cell(out, table, key, "placement_after", "%.3f");
	mean_cell(out, table, key, "moved_bytes", "%.0f");
	fputs("</tr>\n", out);
}

static void print_table(FILE *out, const struct html_actions *actions)
{
	size_t keys = table__keys(actions->table);

	fputs("<table><caption>Means of all actions of a kind</caption>\n<thead><tr><th>action</th>"
	      "<th>to</th><th>why</th><th>times</th><th>latency, default</th>"
	      "<th>latency, alternate</th><th>share on default</th><th>share after</th>"
	      "<th>bytes moved</th></tr></thead>\n<tbody>\n",
	      out);
	for (size_t key = 0; key < keys && key < HTML_ACTION_KEYS; key++)
		print_key(out, actions, key);
	fputs("</tbody></table>\n", out);
	if (keys > HTML_ACTION_KEYS || actions->more)
		fputs("<p class=\"note\">There are further kinds: see the text.</p>\n", out);
}

void html_actions__print(FILE *out, const struct html_actions *actions, uint64_t start_ns,
			 uint64_t end_ns)
{
	if (!actions->table || !table__keys(actions->table))
		return;
	fputs("<section id=\"actions\"><h2>Actions of tierlat</h2>\n", out);
	print_picture(out, actions, start_ns, end_ns);
	fputs("<p class=\"note\">Over all intervals:", out);
	for (unsigned int i = 0; i < HTML_ACTION_LINES; i++)
		print_range(out, actions, i);
	fputs("</p>\n<div class=\"scroll\">", out);
	print_table(out, actions);
	fputs("</div></section>\n", out);
}
