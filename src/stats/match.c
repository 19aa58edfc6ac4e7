// SPDX-License-Identifier: BSD-2-Clause
#include "checks.h"

#include <stdio.h>
#include <string.h>

#include <core/units.h>

#include "judge.h"

static const struct run_probe *probe_of(const struct group *group, size_t recording,
					const char *name)
{
	return run__probe(group->recordings[recording].run, name);
}

static size_t count_with(const struct group *group, const char *name)
{
	size_t nr = 0;

	for (size_t i = 0; i < group->nr; i++)
		nr += probe_of(group, i, name) != NULL;
	return nr;
}

/* The reason why a probe could not run in this recording; NULL: it ran, or was not requested. */
static const struct run_probe *refused_on(const struct group *group, const char *name)
{
	for (size_t i = 0; i < group->nr; i++) {
		const struct run_probe *probe = probe_of(group, i, name);

		if (probe && probe->refused[0])
			return probe;
	}
	return NULL;
}

/* The number of metrics that both have: optional ones are the last. */
static unsigned int in_common(const struct run_probe *a, const struct run_probe *b)
{
	unsigned int nr = 0;

	while (nr < a->nr_metrics && nr < b->nr_metrics &&
	       !strcmp(a->metrics[nr].name, b->metrics[nr].name))
		nr++;
	return nr;
}

static bool lacks_probe(const struct group *group, const char *name, const char *label,
			char why[RUN_TEXT])
{
	const struct run_probe *refused = refused_on(group, name);
	size_t with = count_with(group, name);

	if (!with)
		snprintf(why, RUN_TEXT, "not recorded on %s", label);
	else if (with < group->nr)
		snprintf(why, RUN_TEXT, "recorded in only %zu of %zu recordings of %s", with,
			 group->nr, label);
	else if (refused)
		snprintf(why, RUN_TEXT, "could not run on %s: %.200s", label, refused->refused);
	else
		return false;
	return true;
}

bool match__probe(const struct group groups[2], const char *probe, char why[RUN_TEXT])
{
	const struct run_probe *first, *other;

	for (unsigned int i = 0; i < 2; i++) {
		if (lacks_probe(&groups[i], probe, judge__groups[i], why))
			return false;
	}
	first = probe_of(&groups[0], 0, probe);
	if (!first->nr_metrics && table__has_parts(first->table))
		return true;
	if (!first->nr_metrics) {
		snprintf(why, RUN_TEXT,
			 "it has a table, not latencies; 'latscope report' shows it");
		return false;
	}
	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < groups[i].nr; j++) {
			other = probe_of(&groups[i], j, probe);
			if (in_common(first, other))
				continue;
			snprintf(why, RUN_TEXT,
				 "different metrics: %.40s by method %.40s, but %.40s by method "
				 "%.40s on %s; record both with one --method",
				 first->metrics[0].name, first->method, other->metrics[0].name,
				 other->method, judge__groups[i]);
			return false;
		}
	}
	return true;
}

unsigned int match__metrics(const struct group groups[2], const char *probe)
{
	const struct run_probe *first = probe_of(&groups[0], 0, probe);
	unsigned int nr = first->nr_metrics, common;

	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < groups[i].nr; j++) {
			common = in_common(first, probe_of(&groups[i], j, probe));
			nr = common < nr ? common : nr;
		}
	}
	return nr;
}

static uint64_t threshold(const struct group_recording *recording, const char *probe)
{
	const struct run_probe *found = run__probe(recording->run, probe);

	return found ? found->tail_ns : 0;
}

/* Can the tails of all recordings be counted from this threshold on? */
static bool fits_all(const struct group groups[2], const char *probe, uint64_t tail_ns)
{
	if (observation__is_edge(tail_ns))
		return true;
	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < groups[i].nr; j++) {
			if (threshold(&groups[i].recordings[j], probe) != tail_ns)
				return false;
		}
	}
	return true;
}

static uint64_t choose(const struct group groups[2], const char *probe)
{
	for (unsigned int i = 0; i < 2; i++) {
		for (size_t j = 0; j < groups[i].nr; j++) {
			uint64_t tail_ns = threshold(&groups[i].recordings[j], probe);

			if (tail_ns && fits_all(groups, probe, tail_ns))
				return tail_ns;
		}
	}
	return 0;
}

static void recount(struct group *group, const char *probe, uint64_t tail_ns)
{
	for (size_t i = 0; i < group->nr_series; i++) {
		struct group_series *series = group->series[i];

		for (size_t j = 0; !strcmp(series->probe, probe) && j < series->nr; j++) {
			struct observation *observation = &series->observations[j];

			if (threshold(&group->recordings[observation->recording], probe) != tail_ns)
				observation__count_tail(observation, tail_ns);
		}
	}
}

uint64_t match__tail(struct group groups[2], const char *probe, uint64_t wanted, char why[RUN_TEXT])
{
	uint64_t tail_ns = wanted ? wanted : choose(groups, probe);
	char text[UNITS_TEXT];

	if (!tail_ns || !fits_all(groups, probe, tail_ns)) {
		if (wanted)
			snprintf(why, RUN_TEXT, "%s is not the edge of a histogram slot",
				 units__duration(text, wanted));
		else
			snprintf(why, RUN_TEXT,
				 "the recordings have different thresholds, none "
				 "of them an edge of a slot");
		return 0;
	}
	recount(&groups[0], probe, tail_ns);
	recount(&groups[1], probe, tail_ns);
	return tail_ns;
}
