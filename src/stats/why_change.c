// SPDX-License-Identifier: BSD-2-Clause
#include "why_change.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>
#include <core/vec.h>

#include "inference.h"
#include "judge.h"

#define CONFIDENCE 0.95

/* A part, or a part and its culprit, in all recordings. */
struct row {
	struct why_change change;
	double *rates[2]; /* one per recording of the group */
};

struct rows {
	const struct group *groups;
	const char *probe;
	struct row *rows;
	size_t nr;
};

static struct row *find_row(struct rows *rows, const char *part, const char *culprit)
{
	struct row *grown;

	for (size_t i = 0; i < rows->nr; i++)
		if (!strcmp(rows->rows[i].change.part, part) &&
		    !strcmp(rows->rows[i].change.culprit, culprit))
			return &rows->rows[i];
	grown = vec__grow(rows->rows, rows->nr, sizeof(*grown));
	if (!grown)
		return NULL;
	rows->rows = grown;
	grown += rows->nr;
	memset(grown, 0, sizeof(*grown));
	snprintf(grown->change.part, RUN_NAME, "%s", part);
	snprintf(grown->change.culprit, RUN_NAME, "%s", culprit);
	for (int i = 0; i < 2; i++)
		grown->rates[i] = calloc(rows->groups[i].nr, sizeof(double));
	rows->nr++;
	return grown->rates[0] && grown->rates[1] ? grown : NULL;
}

static void clear_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++) {
		free(rows->rows[i].rates[0]);
		free(rows->rows[i].rates[1]);
	}
	free(rows->rows);
}

static int add(struct rows *rows, const char *part, const char *culprit, int side, size_t recording,
	       double rate)
{
	struct row *row = find_row(rows, part, culprit);

	if (!row)
		return -ENOMEM;
	row->change.unwaited = why__named(rows->probe, part)->unwaited;
	row->rates[side][recording] += rate;
	return 0;
}

static int add_recording(struct rows *parts, struct rows *culprits, int side, size_t recording,
			 const struct run_why *why, uint64_t duration_ns)
{
	double seconds = (double)duration_ns / 1e9;
	int err = 0;

	for (unsigned int part = 0; !err && part < why->nr_parts; part++)
		if (why->part_ns[part])
			err = add(parts, why__part(why->probe, part)->name, "", side, recording,
				  (double)why->part_ns[part] / seconds);
	for (size_t key = 0; !err && key < table__keys(why->names); key++) {
		struct table_value part = table__key(why->names, key, WHY_NAME_PART);
		struct table_value culprit = table__key(why->names, key, WHY_NAME_CULPRIT);

		if (culprit.known)
			err = add(culprits, part.known ? part.text : "unknown", culprit.text, side,
				  recording,
				  table__aggregate(why->names, key, WHY_NAME_NS)->sum / seconds);
	}
	return err;
}

static struct contrast_group describe(const double *rates, size_t nr)
{
	struct contrast_group group = { .observations = (double)nr };

	for (size_t i = 0; i < nr; i++)
		group.centre += rates[i] / (double)nr;
	for (size_t i = 0; nr > 1 && i < nr; i++)
		group.variance +=
			(rates[i] - group.centre) * (rates[i] - group.centre) / (double)(nr - 1);
	return group;
}

/* nr: recordings that explain the samples of the probe. */
static void judge(struct why_change *change, double *const rates[2], const size_t nr[2])
{
	struct contrast_group sides[2];
	struct contrast contrast;

	for (int i = 0; i < 2; i++) {
		sides[i] = describe(rates[i], nr[i]);
		change->rate[i] = sides[i].centre;
	}
	change->has_interval =
		nr[0] >= JUDGE_LEAST_OBSERVATIONS && nr[1] >= JUDGE_LEAST_OBSERVATIONS;
	if (!change->has_interval)
		return;
	contrast = contrast__of(&sides[0], &sides[1], CONFIDENCE, 0);
	change->low = contrast.low;
	change->high = contrast.high;
}

static double difference(const struct why_change *change)
{
	return change->rate[1] - change->rate[0];
}

static int largest_first(const void *left, const void *right)
{
	const struct why_change *one = left, *other = right;
	double a = fabs(difference(left)), b = fabs(difference(right));

	if (one->unwaited != other->unwaited)
		return one->unwaited ? 1 : -1;
	return a > b ? -1 : a < b;
}

/* *out is allocated; NULL: there are none, or no memory. */
static int conclude_rows(const struct rows *rows, const size_t nr[2], struct why_change **out)
{
	*out = calloc(rows->nr + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (size_t i = 0; i < rows->nr; i++) {
		(*out)[i] = rows->rows[i].change;
		judge(&(*out)[i], rows->rows[i].rates, nr);
	}
	qsort(*out, rows->nr, sizeof(**out), largest_first);
	return 0;
}

/* The culprit with most of the change of that part; NULL: none has half, or it is "(other)". */
static const char *main_culprit(const struct why_changes *changes, const struct why_change *part)
{
	for (size_t i = 0; i < changes->nr_culprits; i++) {
		const struct why_change *culprit = &changes->culprits[i];

		if (!strcmp(culprit->part, part->part))
			return difference(culprit) / difference(part) >= 0.5 &&
					       culprit->culprit[0] != '('
				       ? culprit->culprit
				       : NULL;
	}
	return NULL;
}

/* Slow time per second is also how many tasks waited on average. */
static void add_size(char *sentence, double ns_per_second)
{
	size_t len = strlen(sentence);
	bool more = ns_per_second > 0;
	char size[UNITS_TEXT];

	if (fabs(ns_per_second) >= 1e9)
		snprintf(sentence + len, RUN_HOW - len, " kept %.2g %s tasks waiting on average",
			 fabs(ns_per_second) / 1e9, more ? "more" : "fewer");
	else
		snprintf(sentence + len, RUN_HOW - len, " took %s %s in each second",
			 units__ns(size, fabs(ns_per_second)), more ? "more" : "less");
}

static void say(struct why_changes *changes, const char *probe)
{
	double whole = difference(&changes->whole);
	const struct why_change *part = changes->parts;
	char *sentence = changes->sentence;
	const char *culprit, *what;
	const char *doubt = "";
	size_t len;

	snprintf(sentence, RUN_HOW, "Slow %s", why__words(probe)->waits);
	if (whole == 0 || !changes->nr_parts || difference(part) / whole <= 0) {
		len = strlen(sentence);
		snprintf(sentence + len, RUN_HOW - len, " took neither more nor less time");
		return;
	}
	if (!changes->whole.has_interval)
		doubt = " (too few recordings to tell this from chance)";
	else if (changes->whole.low <= 0 && changes->whole.high >= 0)
		doubt = " (this may be chance: the interval includes 0)";
	what = why__named(probe, part->part)->what;
	culprit = main_culprit(changes, part);
	add_size(sentence, whole);
	len = strlen(sentence);
	snprintf(sentence + len, RUN_HOW - len, "%s; %.0f %% of that: %s%s%s%s", doubt,
		 100 * difference(part) / whole, what ? what : "unknown", culprit ? " (" : "",
		 culprit ? culprit : "", culprit ? ")" : "");
}

static uint64_t waited_ns(const struct run_why *why)
{
	uint64_t ns = why->slow_ns;

	for (unsigned int part = 0; part < why->nr_parts; part++)
		if (why__part(why->probe, part)->unwaited)
			ns -= why->part_ns[part] < ns ? why->part_ns[part] : ns;
	return ns;
}

/* Collects the recordings of a group in which the probe explains; counts them in *nr. */
static int add_group(struct why_changes *changes, struct rows *parts, struct rows *culprits,
		     int side, const char *probe, double *whole, size_t *nr)
{
	const struct group *group = &parts->groups[side];
	int err = 0;

	for (size_t i = 0; !err && i < group->nr; i++) {
		const struct run *run = group->recordings[i].run;
		const struct run_probe *entry = run__probe(run, probe);
		const struct run_why *why = entry ? entry->why : NULL;

		if (!why || !run->duration_ns || !why->over_high_ns)
			continue;
		err = add_recording(parts, culprits, side, *nr, why, run->duration_ns);
		whole[(*nr)++] = (double)waited_ns(why) * 1e9 / (double)run->duration_ns;
		if (!changes->over_low_ns[side] || why->over_low_ns < changes->over_low_ns[side])
			changes->over_low_ns[side] = why->over_low_ns;
		if (why->over_high_ns > changes->over_high_ns[side])
			changes->over_high_ns[side] = why->over_high_ns;
	}
	return err;
}

int why_changes__of(struct why_changes *changes, const struct group *groups, const char *probe)
{
	struct rows parts = { .groups = groups, .probe = probe };
	struct rows culprits = { .groups = groups, .probe = probe };
	double *whole[2] = { calloc(groups[0].nr + 1, sizeof(double)),
			     calloc(groups[1].nr + 1, sizeof(double)) };
	size_t nr[2] = { 0, 0 };
	int err = whole[0] && whole[1] ? 0 : -ENOMEM;

	memset(changes, 0, sizeof(*changes));
	for (int side = 0; !err && side < 2; side++)
		err = add_group(changes, &parts, &culprits, side, probe, whole[side], &nr[side]);
	if (!err && nr[0] && nr[1]) {
		judge(&changes->whole, whole, nr);
		err = conclude_rows(&parts, nr, &changes->parts);
		if (!err)
			err = conclude_rows(&culprits, nr, &changes->culprits);
		changes->nr_parts = parts.nr;
		changes->nr_culprits = culprits.nr;
		if (!err)
			say(changes, probe);
	}
	clear_rows(&parts);
	clear_rows(&culprits);
	free(whole[0]);
	free(whole[1]);
	return err ? err : nr[0] && nr[1];
}

void why_changes__clear(struct why_changes *changes)
{
	free(changes->parts);
	free(changes->culprits);
	memset(changes, 0, sizeof(*changes));
}
