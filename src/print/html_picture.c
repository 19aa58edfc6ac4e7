// SPDX-License-Identifier: BSD-2-Clause
/*
 * The first screen of a page as one SVG without a script or a style: title, sentences, what all
 * threads did over time, pressure, who waited. The font has a fixed width, so that texts are
 * wrapped before they would be cut.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <core/sanitize.h>
#include <core/split.h>
#include <core/units.h>

#include "html.h"
#include "html_data.h"
#include "host_words.h"
#include "html_picture.h"

#define WIDTH 960
#define MARGIN 24
#define LEFT (MARGIN + 56) /* of what has a time axis */
#define RIGHT (WIDTH - MARGIN)
#define CHAR 7.4 /* px; the fonts below have 7.2 at most */
#define LINE 18
#define BAND 120
#define LANE 20
#define COLUMNS 240 /* most columns over time */
#define INK "#1c2430"
#define DIM "#647083"
#define SOFT "#f4f6f9"
#define MARK "#d1480a"

/* Those of web/draw.js. */
static const char *const palette[] = { "#0072b2", "#e69f00", "#009e73", "#cc79a7",
				       "#d55e00", "#56b4e9", "#b8a500", "#888888" };

struct picture {
	FILE *out;
	int y; /* the top of what comes next */
};

/* ---- texts ---- */

/* The text is sanitized. */
static void put(const struct picture *picture, double x, int y, const char *look, const char *text)
{
	fprintf(picture->out, "<text x=\"%.1f\" y=\"%d\" %s>", x, y, look);
	html_page__text(picture->out, text);
	fputs("</text>\n", picture->out);
}

/* Bytes of the next line: up to a space, or if a word is too long, within it. */
static size_t line_of(const char *text, size_t columns)
{
	size_t at = 0, space = 0;

	while (text[at]) {
		size_t next = at + 1;

		while ((text[next] & 0xc0) == 0x80)
			next++;
		if (text[at] == ' ')
			space = at;
		if (sanitize__columns(text, next) > columns)
			return space ? space : at ? at : next;
		at = next;
	}
	return at;
}

/* In lines of so many columns, the first at `y`. Returns the bottom. */
static int put_lines(const struct picture *picture, double x, int y, size_t columns,
		     const char *look, const char *text)
{
	char clean[WHY_SENTENCE], line[WHY_SENTENCE];
	const char *at = clean;

	sanitize__text(clean, sizeof(clean), text);
	while (*(at += strspn(at, " "))) {
		size_t len = line_of(at, columns);

		memcpy(line, at, len);
		line[len] = '\0';
		put(picture, x, y + LINE - 5, look, line);
		at += len;
		y += LINE;
	}
	return y;
}

static void head(struct picture *picture, const char *text)
{
	picture->y += 14;
	put(picture, MARGIN, picture->y + 14, "fill=\"" INK "\" font-weight=\"bold\"", text);
	picture->y += LINE + 4;
}

static size_t columns_in(double width)
{
	return (size_t)(width / CHAR);
}

/* ---- title and sentences ---- */

static void print_title(struct picture *picture, const struct run *run)
{
	char text[WHY_SENTENCE], title[2 * RUN_NAME], host[RUN_TEXT], time[UNITS_TEXT];

	snprintf(title, sizeof(title), "latscope %s", run->start_utc);
	put(picture, MARGIN, picture->y + 16,
	    "fill=\"" INK "\" font-size=\"16\" font-weight=\"bold\"", title);
	snprintf(text, sizeof(text), "%s%s%s of %s%s%s%s", run->filter ? run->filter : "",
		 run->filter ? ", " : "", units__duration(time, run->duration_ns),
		 host_words__describe(run, host),
		 run->complete	? ""
		 : run->running ? ", still being recorded"
				: ", cut off",
		 run->workload ? ", " : "", run->workload ? run->workload : "");
	picture->y = put_lines(picture, MARGIN, picture->y + 22, columns_in(RIGHT - MARGIN),
			       "fill=\"" DIM "\"", text);
}

/* Most slow time first. */
static const struct html_why *next_why(const struct html_data *data, bool done[RUN_PROBES])
{
	int most = -1;

	for (int i = 0; i < (int)data->run->nr_probes; i++) {
		const struct why_summary *of = &data->probes[i].why.summary;

		if (!done[i] && of->sentence[0] &&
		    (most < 0 || of->total_ns > data->probes[most].why.summary.total_ns))
			most = i;
	}
	if (most < 0)
		return NULL;
	done[most] = true;
	return &data->probes[most].why;
}

static void print_sentence(struct picture *picture, const char *sentence)
{
	int top = picture->y;

	picture->y = put_lines(picture, MARGIN + 12, top, columns_in(RIGHT - MARGIN - 12),
			       "fill=\"" INK "\"", sentence);
	fprintf(picture->out,
		"<rect x=\"%d\" y=\"%d\" width=\"4\" height=\"%d\" fill=\"" MARK "\"/>\n", MARGIN,
		top + 2, picture->y - top - 2);
	picture->y += 4;
}

/* Without the first answer: those of each probe that explains samples. */
static void print_sentences(struct picture *picture, const struct html_data *data)
{
	bool done[RUN_PROBES] = { false };
	const struct html_why *why = NULL;
	char *rest, *sentence = NULL;

	if (data->sentences)
		sentence = strtok_r(data->sentences, "\n", &rest);
	else
		why = next_why(data, done);
	if (sentence || why)
		head(picture, "Who slowed whom");
	for (; sentence; sentence = strtok_r(NULL, "\n", &rest))
		print_sentence(picture, sentence);
	for (; why; why = next_why(data, done))
		print_sentence(picture, why->summary.sentence);
}

/* ---- over time ---- */

/* Columns that are joined until there are few enough. */
struct over_time {
	struct html_column columns[COLUMNS];
	size_t nr;
	uint64_t machine[BAR_PARTS], length_ns; /* of all */
	double most; /* threads that ran or waited at a time */
};

static double length_of(const struct html_column *column)
{
	return (double)(column->end_ns - column->start_ns);
}

/* Of how many threads at a time; without idle ones. */
static double threads_of(const struct html_column *column)
{
	double ns = 0;

	for (unsigned int i = 0; i < BAR_IDLE; i++)
		ns += (double)column->machine[i];
	return column->end_ns > column->start_ns ? ns / length_of(column) : 0;
}

static double mean_pressure(const struct html_column *columns, size_t nr, unsigned int which)
{
	double sum = 0, length = 0;

	for (size_t i = 0; i < nr; i++) {
		if (isnan(columns[i].pressure[which]))
			continue;
		sum += columns[i].pressure[which] * length_of(&columns[i]);
		length += length_of(&columns[i]);
	}
	return length > 0 ? fmin(1, sum / length) : NAN;
}

static void join(struct over_time *to, const struct html_data *data)
{
	size_t per = (data->column + COLUMNS - 1) / COLUMNS;

	for (size_t i = 0; i < data->column; i += per) {
		struct html_column *column = &to->columns[to->nr++];
		size_t nr = data->column - i < per ? data->column - i : per;
		const struct html_column *from = &data->over_time[i];

		column->start_ns = from->start_ns;
		column->end_ns = from[nr - 1].end_ns;
		for (unsigned int part = 0; part < BAR_PARTS; part++) {
			for (size_t at = 0; at < nr; at++)
				column->machine[part] += from[at].machine[part];
			to->machine[part] += column->machine[part];
		}
		for (unsigned int which = 0; which < HTML_PRESSURES; which++)
			column->pressure[which] = mean_pressure(from, nr, which);
		to->length_ns += column->end_ns - column->start_ns;
		to->most = fmax(to->most, threads_of(column));
	}
}

static double x_of(const struct over_time *of, uint64_t ns)
{
	uint64_t start = of->columns[0].start_ns, end = of->columns[of->nr - 1].end_ns;

	return LEFT +
	       (double)(ns - start) / (double)(end > start ? end - start : 1) * (RIGHT - LEFT);
}

static void print_back(const struct picture *picture, int y, int height)
{
	fprintf(picture->out,
		"<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"" SOFT "\"/>\n", LEFT, y,
		RIGHT - LEFT, height);
}

/* A rectangle of a column, from `low` up to `high` of the height. */
static void put_cell(const struct picture *picture, const struct over_time *of, size_t at, int foot,
		     double low, double high)
{
	fprintf(picture->out, "M%.1f %.1fH%.1fV%.1fH%.1fz", x_of(of, of->columns[at].start_ns),
		foot - low, x_of(of, of->columns[at].end_ns) + 0.3, foot - high,
		x_of(of, of->columns[at].start_ns));
}

/* A square of each colour, what it is, and how much there is at a time. */
static void print_key(struct picture *picture, const struct over_time *of)
{
	double x = LEFT;

	for (unsigned int part = 0; part < BAR_IDLE; part++) {
		char text[RUN_TEXT];
		double width;

		if (!of->machine[part])
			continue;
		snprintf(text, sizeof(text), "%s %.2f", bar_looks[part].what,
			 (double)of->machine[part] / (double)of->length_ns);
		width = 16 + (double)strlen(text) * CHAR + 14;
		if (x > LEFT && x + width > RIGHT) {
			x = LEFT;
			picture->y += LINE;
		}
		fprintf(picture->out,
			"<rect x=\"%.1f\" y=\"%d\" width=\"11\" height=\"11\" fill=\"%s\"/>\n", x,
			picture->y + 3, palette[bar_looks[part].color]);
		put(picture, x + 16, picture->y + LINE - 5, "fill=\"" INK "\"", text);
		x += width;
	}
	picture->y += LINE + 4;
}

static void print_band(struct picture *picture, const struct over_time *of)
{
	double base[COLUMNS] = { 0 };
	int foot = picture->y + BAND;
	char text[UNITS_TEXT];

	print_back(picture, picture->y, BAND);
	for (unsigned int part = 0; part < BAR_IDLE; part++) {
		if (!of->machine[part])
			continue;
		fprintf(picture->out, "<path fill=\"%s\" d=\"", palette[bar_looks[part].color]);
		for (size_t i = 0; i < of->nr; i++) {
			double height = (double)of->columns[i].machine[part] /
					fmax(1, length_of(&of->columns[i])) / of->most * BAND;

			if (height > 0)
				put_cell(picture, of, i, foot, base[i], base[i] + height);
			base[i] += height;
		}
		fputs("\"/>\n", picture->out);
	}
	snprintf(text, sizeof(text), "%.3g", of->most);
	put(picture, LEFT - 6, picture->y + 10, "fill=\"" DIM "\" text-anchor=\"end\"", text);
	put(picture, LEFT - 6, foot, "fill=\"" DIM "\" text-anchor=\"end\"", "0");
	picture->y = foot + 6;
}

static void print_pressure(struct picture *picture, const struct over_time *of)
{
	static const struct {
		const char *name;
		enum bar_part part; /* with its colour */
	} lanes[HTML_PRESSURES] = { { "CPU", BAR_READY },
				    { "memory", BAR_MEMORY },
				    { "I/O", BAR_DISK } };
	char text[RUN_TEXT] = "Pressure, share of the time in which a task waited (PSI):",
	     share[UNITS_TEXT];

	for (unsigned int lane = 0; lane < HTML_PRESSURES; lane++) {
		double mean = mean_pressure(of->columns, of->nr, lane);
		size_t len = strlen(text);

		snprintf(text + len, sizeof(text) - len, "%s %s %s", lane ? "," : "",
			 lanes[lane].name, isnan(mean) ? "unknown" : units__ratio(share, mean));
	}
	picture->y = put_lines(picture, LEFT, picture->y, columns_in(RIGHT - LEFT),
			       "fill=\"" DIM "\"", text) +
		     2;
	for (unsigned int lane = 0; lane < HTML_PRESSURES; lane++, picture->y += LANE) {
		int foot = picture->y + LANE - 4;

		print_back(picture, picture->y, LANE - 4);
		fprintf(picture->out, "<path fill=\"%s\" d=\"",
			palette[bar_looks[lanes[lane].part].color]);
		for (size_t i = 0; i < of->nr; i++)
			if (of->columns[i].pressure[lane] > 0)
				put_cell(picture, of, i, foot, 0,
					 fmin(1, of->columns[i].pressure[lane]) * (LANE - 4));
		fputs("\"/>\n", picture->out);
		put(picture, LEFT - 6, foot - 3, "fill=\"" DIM "\" text-anchor=\"end\"",
		    lanes[lane].name);
	}
}

static void print_axis(struct picture *picture, const struct over_time *of)
{
	static const char *const looks[] = { "start", "middle", "middle", "middle", "end" };
	uint64_t start = of->columns[0].start_ns, length = of->columns[of->nr - 1].end_ns - start;
	char look[RUN_NAME], text[UNITS_TEXT];

	for (unsigned int i = 0; i < 5; i++) {
		uint64_t ns = start + length / 4 * i;

		snprintf(look, sizeof(look), "fill=\"" DIM "\" text-anchor=\"%s\"", looks[i]);
		snprintf(text, sizeof(text), "%.4g s", (double)ns / 1e9);
		put(picture, x_of(of, ns), picture->y + 12, look, text);
	}
	picture->y += LINE;
}

static void print_over_time(struct picture *picture, const struct html_data *data,
			    const struct over_time *of)
{
	bool pressure = data->run->pressure.table != NULL;

	if (!of->nr || (of->most <= 0 && !pressure))
		return;
	head(picture, of->most > 0 ? "Where the time went: threads that ran or waited at a time"
				   : "Pressure");
	if (of->most > 0) {
		print_key(picture, of);
		print_band(picture, of);
	}
	if (pressure)
		print_pressure(picture, of);
	print_axis(picture, of);
}

/* ---- who waited ---- */

#define CELLS 5

/* Where each cell begins, in columns; the two numbers end before the next. */
static const size_t tabs[CELLS + 1] = { 0, 30, 41, 54, 90, 123 };

static void print_row(struct picture *picture, const char *look, const char *const cells[CELLS])
{
	int bottom = picture->y + LINE;
	char right[RUN_NAME];

	snprintf(right, sizeof(right), "%s text-anchor=\"end\"", look);
	for (unsigned int i = 0; i < CELLS; i++) {
		bool number = i == 1 || i == 2;
		double x = MARGIN + (double)(number ? tabs[i + 1] - 2 : tabs[i]) * CHAR;
		int end = put_lines(picture, x, picture->y, tabs[i + 1] - tabs[i] - 2,
				    number ? right : look, cells[i]);

		bottom = end > bottom ? end : bottom;
	}
	picture->y = bottom;
}

/* "CPU 41.0, disk 2.0": the largest waits, as shares of the life. */
static void name_waits(const struct bar *bar, char *out, size_t size)
{
	bool done[BAR_PARTS] = { false };
	size_t len = 0;

	out[0] = '\0';
	for (unsigned int i = 0; i < 3; i++) {
		unsigned int most = BAR_CPU; /* which never waits */

		for (unsigned int part = 0; part < BAR_IDLE; part++)
			if (!done[part] && bar->waits_ns[part] > bar->waits_ns[most])
				most = part;
		if (done[most] || bar->waits_ns[most] <= bar->life_ns / 200)
			return;
		done[most] = true;
		len += (size_t)snprintf(out + len, size - len, "%s%s %.1f", len ? ", " : "",
					most == BAR_READY ? "CPU" : bar_looks[most].name,
					100 * (double)bar->waits_ns[most] / (double)bar->life_ns);
	}
}

static void print_bar(struct picture *picture, const struct bar *bar, size_t others)
{
	char name[BAR_NAME], waited[UNITS_TEXT], share[UNITS_TEXT], waits[RUN_TEXT];
	const char *cells[CELLS] = { name, waited, share, waits, bar->cause };

	snprintf(name, sizeof(name), "%s", bar->name);
	if (!name[0])
		snprintf(name, sizeof(name), "%zu others", others);
	units__ns(waited, (double)bar__waited(bar));
	units__share(share, bar__waited(bar), bar->life_ns);
	name_waits(bar, waits, sizeof(waits));
	print_row(picture, "fill=\"" INK "\"", cells);
}

static void print_waiters(struct picture *picture, const struct html_bar_split *split)
{
	const char *const heads[CELLS] = { split__name(split->by), "waited", "of its life",
					   "for what, % of life", "because of, % of it" };

	head(picture, "Who waited");
	print_row(picture, "fill=\"" DIM "\"", heads);
	for (size_t i = 0; i < split->nr; i++)
		if (bar__waited(&split->bars[i].whole))
			print_bar(picture, &split->bars[i].whole, 0);
	if (split->nr_others)
		print_bar(picture, &split->bars[HTML_BARS].whole, split->nr_others);
}

/* Without the time of threads: the keys of the first probe that has some, in its first split. */
static void print_keys(struct picture *picture, const struct html_data *data)
{
	const struct html_probe *of = data->probes;
	const struct run_probe *probe = data->run->probes;
	const struct run_key *first;

	while (of < data->probes + data->run->nr_probes && !of->nr_keys)
		of++, probe++;
	if (of == data->probes + data->run->nr_probes)
		return;
	first = &probe->total.keys[of->keys[0].index];
	head(picture, "Who waited");
	print_row(picture, "fill=\"" DIM "\"",
		  (const char *const[CELLS]){ split__name(first->key.by), "waited", "events",
					      "for what", "longest" });
	for (size_t i = 0; i < of->nr_keys && i < HTML_BARS; i++) {
		const struct run_key *key = &probe->total.keys[of->keys[i].index];
		char waited[UNITS_TEXT], events[UNITS_TEXT], longest[UNITS_TEXT];

		if (key->key.by != first->key.by || !key->hist.nr)
			continue;
		units__ns(waited, (double)key->hist.sum_ns);
		units__ns(longest, (double)key->hist.max_ns);
		units__short_count(events, sparse__count(&key->hist));
		print_row(picture, "fill=\"" INK "\"",
			  (const char *const[CELLS]){ key->name, waited, events,
						      probe->metrics[0].what, longest });
	}
}

/* ---- all ---- */

static int print_body(struct picture *picture, const struct html_data *data)
{
	struct over_time *over_time = calloc(1, sizeof(*over_time));

	if (!over_time)
		return -ENOMEM;
	if (data->column)
		join(over_time, data);
	print_title(picture, data->run);
	print_sentences(picture, data);
	print_over_time(picture, data, over_time);
	if (data->bars.nr_splits)
		print_waiters(picture, &data->bars.splits[0]);
	else
		print_keys(picture, data);
	free(over_time);
	return 0;
}

int html_picture__print(FILE *out, struct html_data *data, const struct html_report *report)
{
	struct picture picture = { .y = 14 };
	char *body = NULL;
	size_t size = 0;
	int err;

	(void)report;
	picture.out = open_memstream(&body, &size);
	if (!picture.out)
		return -ENOMEM;
	err = print_body(&picture, data);
	if (fclose(picture.out) && !err)
		err = -ENOMEM;
	if (!err)
		fprintf(out,
			"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
			"viewBox=\"0 0 %d %d\" font-family=\"'DejaVu Sans Mono', Menlo, Consolas, "
			"monospace\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" "
			"fill=\"#ffffff\"/>\n%s</svg>\n",
			WIDTH, picture.y + 14, WIDTH, picture.y + 14, body);
	free(body);
	return err;
}
