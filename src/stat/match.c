// SPDX-License-Identifier: BSD-2-Clause
#include "match.h"

#include <stdio.h>
#include <string.h>

#include <base/units.h>

#include "judge.h"

static const struct run_module *module_of(const struct side *side, size_t recording,
					  const char *name)
{
	return side__module(side->recordings[recording].run, name);
}

static size_t count_with(const struct side *side, const char *name)
{
	size_t nr = 0;

	for (size_t i = 0; i < side->nr; i++)
		nr += module_of(side, i, name) != NULL;
	return nr;
}

/* A module that was recorded but could not run, with why; NULL: none. */
static const struct run_module *refused_on(const struct side *side, const char *name)
{
	for (size_t i = 0; i < side->nr; i++) {
		const struct run_module *module = module_of(side, i, name);

		if (module && module->refused[0])
			return module;
	}
	return NULL;
}

static bool same_way(const struct run_module *a, const struct run_module *b)
{
	if (strcmp(a->rung, b->rung) || a->nr_metrics != b->nr_metrics)
		return false;
	for (unsigned int i = 0; i < a->nr_metrics; i++) {
		if (strcmp(a->metrics[i].name, b->metrics[i].name))
			return false;
	}
	return true;
}

static bool lacks_module(const struct side *side, const char *name, const char *label,
			 char why[RUN_TEXT])
{
	const struct run_module *refused = refused_on(side, name);
	size_t with = count_with(side, name);

	if (!with)
		snprintf(why, RUN_TEXT, "not recorded on %s", label);
	else if (with < side->nr)
		snprintf(why, RUN_TEXT, "recorded in only %zu of %zu recordings of %s", with,
			 side->nr, label);
	else if (refused)
		snprintf(why, RUN_TEXT, "could not run on %s: %.200s", label, refused->refused);
	else
		return false;
	return true;
}

bool match__module(const struct side sides[2], const char *module, char why[RUN_TEXT])
{
	const struct run_module *first, *other;

	for (unsigned int i = 0; i < 2; i++) {
		if (lacks_module(&sides[i], module, judge__sides[i], why))
			return false;
	}
	first = module_of(&sides[0], 0, module);
	if (!first->nr_metrics) {
		snprintf(why, RUN_TEXT,
			 "it has a table, not latencies; 'latscope report' shows it");
		return false;
	}
	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < sides[i].nr; j++) {
			other = module_of(&sides[i], j, module);
			if (same_way(first, other))
				continue;
			snprintf(why, RUN_TEXT,
				 "not measured alike: %.40s by rung %.40s, but %.40s by rung %.40s "
				 "on %s; record both with one --rung",
				 first->metrics[0].name, first->rung, other->metrics[0].name,
				 other->rung, judge__sides[i]);
			return false;
		}
	}
	return true;
}

/* Can all recordings' tails be counted from this threshold on? */
static bool fits_all(const struct side sides[2], uint64_t tail_ns)
{
	if (unit__is_edge(tail_ns))
		return true;
	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < sides[i].nr; j++) {
			if (sides[i].recordings[j].run->tail_ns != tail_ns)
				return false;
		}
	}
	return true;
}

static uint64_t choose(const struct side sides[2])
{
	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < sides[i].nr; j++) {
			uint64_t tail_ns = sides[i].recordings[j].run->tail_ns;

			if (tail_ns && fits_all(sides, tail_ns))
				return tail_ns;
		}
	}
	return 0;
}

static void recount(struct side *side, uint64_t tail_ns)
{
	for (size_t i = 0; i < side->nr_series; i++) {
		struct side_series *series = side->series[i];

		for (size_t j = 0; j < series->nr; j++) {
			struct unit *unit = &series->units[j];

			if (side->recordings[unit->recording].run->tail_ns != tail_ns)
				unit__count_tail(unit, tail_ns);
		}
	}
}

uint64_t match__tail(struct side sides[2], uint64_t wanted, char why[RUN_TEXT])
{
	uint64_t tail_ns = wanted ? wanted : choose(sides);
	char text[UNITS_TEXT];

	if (!tail_ns || !fits_all(sides, tail_ns)) {
		if (wanted)
			snprintf(why, RUN_TEXT, "%s is not an edge of a slot of the histogram",
				 units__duration(text, wanted));
		else
			snprintf(why, RUN_TEXT,
				 "the recordings have different thresholds, none "
				 "of them an edge of a slot");
		return 0;
	}
	recount(&sides[0], tail_ns);
	recount(&sides[1], tail_ns);
	return tail_ns;
}
