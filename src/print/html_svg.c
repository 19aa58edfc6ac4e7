// SPDX-License-Identifier: BSD-2-Clause
/* A heat map as SVG: time to the right, latency upwards by octaves, darker with more events. */
#include <math.h>

#include <core/hist.h>
#include <core/units.h>

#include "html_page.h"

#define LEVELS 8
#define CELL_WIDTH 6
#define CELL_HEIGHT 12
#define LEFT 70
#define BOTTOM 20

void html_svg__add(struct html_svg *svg, size_t column, size_t columns, const struct lat_hist *hist)
{
	size_t at = columns > HTML_SVG_COLUMNS ? column * HTML_SVG_COLUMNS / columns : column;
	uint64_t buckets[HIST_LOG2_BUCKETS];

	hist__log2(hist, buckets);
	for (unsigned int i = 0; at < HTML_SVG_COLUMNS && i < HIST_LOG2_BUCKETS; i++)
		svg->counts[at][i] += buckets[i];
}

struct extent {
	uint64_t most;
	unsigned int low, high; /* octaves */
	size_t columns;
};

static struct extent extent_of(const struct html_svg *svg)
{
	struct extent extent = { .low = HIST_LOG2_BUCKETS };

	for (size_t at = 0; at < HTML_SVG_COLUMNS; at++) {
		for (unsigned int i = 0; i < HIST_LOG2_BUCKETS; i++) {
			if (!svg->counts[at][i])
				continue;
			extent.columns = at + 1;
			extent.low = i < extent.low ? i : extent.low;
			extent.high = i > extent.high ? i : extent.high;
			if (extent.most < svg->counts[at][i])
				extent.most = svg->counts[at][i];
		}
	}
	return extent;
}

static unsigned int level_of(uint64_t count, uint64_t most)
{
	return (unsigned int)ceil(sqrt((double)count / (double)most) * LEVELS);
}

/* All cells of one colour are one path. */
static void print_level(FILE *out, const struct html_svg *svg, const struct extent *extent,
			unsigned int level)
{
	fprintf(out, "<path class=\"h%u\" d=\"", level);
	for (size_t at = 0; at < extent->columns; at++) {
		for (unsigned int i = extent->low; i <= extent->high; i++) {
			if (!svg->counts[at][i] ||
			    level_of(svg->counts[at][i], extent->most) != level)
				continue;
			fprintf(out, "M%zu %uh%dv%dh-%dz", LEFT + at * CELL_WIDTH,
				(extent->high - i) * CELL_HEIGHT, CELL_WIDTH, CELL_HEIGHT,
				CELL_WIDTH);
		}
	}
	fputs("\"/>\n", out);
}

static void print_axes(FILE *out, const struct extent *extent, uint64_t start_ns, uint64_t end_ns)
{
	unsigned int height = (extent->high - extent->low + 1) * CELL_HEIGHT;
	char text[UNITS_TEXT];

	for (unsigned int i = extent->low; i <= extent->high; i += 2) {
		double ns = i ? (double)(1ULL << i) * 1e3 : 0;

		fprintf(out, "<text x=\"%d\" y=\"%u\" text-anchor=\"end\">%s</text>\n", LEFT - 6,
			(extent->high - i + 1) * CELL_HEIGHT, units__ns(text, ns));
	}
	fprintf(out, "<text x=\"%d\" y=\"%u\">%.3g s</text>\n", LEFT, height + BOTTOM - 5,
		(double)start_ns / 1e9);
	fprintf(out, "<text x=\"%zu\" y=\"%u\" text-anchor=\"end\">%.6g s</text>\n",
		LEFT + extent->columns * CELL_WIDTH, height + BOTTOM - 5, (double)end_ns / 1e9);
}

void html_svg__print(FILE *out, const struct html_svg *svg, const char *title, uint64_t start_ns,
		     uint64_t end_ns)
{
	struct extent extent = extent_of(svg);

	if (!extent.most)
		return;
	fprintf(out, "<svg viewBox=\"0 0 %d %u\" width=\"%d\" role=\"img\" aria-label=\"",
		LEFT + HTML_SVG_COLUMNS * CELL_WIDTH,
		(extent.high - extent.low + 1) * CELL_HEIGHT + BOTTOM,
		LEFT + HTML_SVG_COLUMNS * CELL_WIDTH);
	html_page__format(out, "Heat map of %s: latency over time", title);
	fputs("\">\n", out);
	for (unsigned int level = 1; level <= LEVELS; level++)
		print_level(out, svg, &extent, level);
	print_axes(out, &extent, start_ns, end_ns);
	fputs("</svg>\n", out);
}
