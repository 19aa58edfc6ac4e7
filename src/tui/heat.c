// SPDX-License-Identifier: BSD-2-Clause
#include "view.h"

#include <curses.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>

#include "paint.h"

#define LEVELS 8 /* of density; 0 is "measured, no events" */
#define MOST_BANDS 32
#define LEAST_NS 31.25 /* a slot below 1 us */

static enum terminal_heat mode;
static double middles[HIST_SLOTS]; /* of the slots: decimal logarithms of ns */

/* Dark to light; readable for the colour-blind, because the lightness grows with the level. */
static const short colors[LEVELS] = { 235, 53, 89, 125, 167, 209, 215, 229 };

static int pair_of(int top, int bottom)
{
	return 1 + top * (LEVELS + 1) + bottom;
}

/* A cell without data is LEVELS: it has the terminal's own background. */
static short color_of(int level)
{
	return level < LEVELS ? colors[level] : -1;
}

static double middle_of(uint32_t slot)
{
	double low = (double)hist_slot_low_ns(slot);

	if (slot >= HIST_SLOTS - 1)
		return log10(low);
	return log10(fmax(LEAST_NS, (low + (double)hist_slot_low_ns(slot + 1)) / 2));
}

void heat__begin(enum terminal_heat heat)
{
	mode = heat;
	for (uint32_t slot = 0; slot < HIST_SLOTS; slot++)
		middles[slot] = middle_of(slot);
	for (int top = 0; mode == TERMINAL_HALF && top <= LEVELS; top++)
		for (int bottom = 0; bottom <= LEVELS; bottom++)
			init_pair((short)pair_of(top, bottom), color_of(top), color_of(bottom));
}

/* What is drawn: events by column and band. */
struct map {
	uint64_t *counts; /* of column, band; owned */
	bool *known; /* of column; owned */
	int columns, bands;
	uint64_t last; /* frame of the last column */
	double low, high; /* decimal logarithms of ns: the axis */
	uint64_t most; /* events of a cell */
};

/* 1, 2 or 5 times a power of ten, at most that of the logarithm; `above`: at least. */
static double round_axis(double logarithm, bool above)
{
	static const double steps[] = { 0, 0.30103, 0.69897, 1 };
	double whole = floor(logarithm), part = logarithm - whole;
	int at = 0;

	while (at < 2 && steps[at + 1] <= part)
		at++;
	return whole + steps[at + (above ? 1 : 0)];
}

static const struct sparse *hist_of(const struct model *model, unsigned int probe,
				    const struct map *map, int column)
{
	uint64_t age = (uint64_t)(map->columns - 1 - column);
	const struct model_column *found;

	found = map->last >= age ? model__column(model, map->last - age) : NULL;
	return found ? &found->hists[probe] : NULL;
}

static bool find_axis(const struct model *model, unsigned int probe, struct map *map)
{
	uint32_t low = HIST_SLOTS, high = 0;

	for (int i = 0; i < map->columns; i++) {
		const struct sparse *hist = hist_of(model, probe, map, i);

		if (!hist || !hist->nr)
			continue;
		low = hist->slots[0].slot < low ? hist->slots[0].slot : low;
		high = hist->slots[hist->nr - 1].slot > high ? hist->slots[hist->nr - 1].slot
							     : high;
	}
	if (low == HIST_SLOTS)
		return false;
	map->low = round_axis(middles[low], false);
	map->high = round_axis(middles[high], true);
	return true;
}

static int band_of(const struct map *map, uint32_t slot)
{
	double share = (middles[slot] - map->low) / (map->high - map->low);
	int band = (int)(share * map->bands);

	return band < 0 ? 0 : band >= map->bands ? map->bands - 1 : band;
}

static void fill(const struct model *model, unsigned int probe, struct map *map)
{
	for (int i = 0; i < map->columns; i++) {
		const struct sparse *hist = hist_of(model, probe, map, i);

		map->known[i] = hist != NULL;
		for (uint64_t j = 0; hist && j < hist->nr; j++) {
			uint64_t *cell =
				&map->counts[i * map->bands + band_of(map, hist->slots[j].slot)];

			*cell += hist->slots[j].count;
			map->most = *cell > map->most ? *cell : map->most;
		}
	}
}

/* A cell with a single event differs from one without. */
static int level_of(const struct map *map, int column, int band)
{
	uint64_t count = map->counts[column * map->bands + band];
	int level;

	if (!map->known[column])
		return LEVELS;
	if (!count)
		return 0;
	level = (int)ceil(sqrt((double)count / (double)map->most) * (LEVELS - 1));
	return level < 1 ? 1 : level > LEVELS - 1 ? LEVELS - 1 : level;
}

static void draw_half(const struct map *map, int y, int x, int line, int lines)
{
	for (int i = 0; i < map->columns; i++) {
		int top = level_of(map, i, 2 * (lines - line) - 1);
		int bottom = level_of(map, i, 2 * (lines - line) - 2);

		attrset(COLOR_PAIR(pair_of(top, bottom)));
		mvaddstr(y + line, x + i, top == LEVELS ? " " : "\u2580");
	}
	attrset(A_NORMAL);
}

static void draw_whole(const struct map *map, int y, int x, int line, int lines)
{
	static const char *const ascii[] = { ".", ":", "-", "=", "+", "*", "#", "@", " " };
	static const char *const shades[] = { "\u00b7", "\u2591", "\u2591", "\u2592", "\u2592",
					      "\u2593", "\u2593", "\u2588", " " };
	const char *const *levels = mode == TERMINAL_ASCII ? ascii : shades;

	for (int i = 0; i < map->columns; i++)
		mvaddstr(y + line, x + i, levels[level_of(map, i, lines - line - 1)]);
}

static void draw_axis(const struct map *map, int y, int x, int lines)
{
	char text[UNITS_TEXT];

	paint__right(y, x, HEAT_AXIS - 1, PAINT_DIM, units__ns(text, pow(10, map->high)));
	paint__right(y + lines - 1, x, HEAT_AXIS - 1, PAINT_DIM,
		     units__ns(text, pow(10, map->low)));
}

static void mark_current(const struct model *model, const struct map *map, int y, int x)
{
	uint64_t age = map->last - model->frame;

	if (!age || age >= (uint64_t)map->columns)
		return;
	paint__text(y, x + map->columns - 1 - (int)age, 1, PAINT_CHOSEN, "^");
}

void heat__draw(const struct model *model, unsigned int probe, uint64_t last,
		const struct heat_place *place)
{
	struct map map = { .columns = place->columns - HEAT_AXIS,
			   .last = last,
			   .bands = mode == TERMINAL_HALF ? 2 * place->lines : place->lines };
	int x = place->x + HEAT_AXIS;

	if (map.columns <= 0 || map.bands <= 0 || map.bands > MOST_BANDS)
		return;
	if (map.columns > MODEL_COLUMNS)
		map.columns = MODEL_COLUMNS;
	map.counts = calloc((size_t)(map.columns * map.bands), sizeof(*map.counts));
	map.known = calloc((size_t)map.columns, sizeof(*map.known));
	if (!map.counts || !map.known)
		goto free_map;
	if (find_axis(model, probe, &map))
		draw_axis(&map, place->y, place->x, place->lines);
	else
		map.high = 1;
	fill(model, probe, &map);
	for (int line = 0; line < place->lines; line++) {
		if (mode == TERMINAL_HALF)
			draw_half(&map, place->y, x, line, place->lines);
		else
			draw_whole(&map, place->y, x, line, place->lines);
	}
	mark_current(model, &map, place->y + place->lines - 1, x);
free_map:
	free(map.counts);
	free(map.known);
}
