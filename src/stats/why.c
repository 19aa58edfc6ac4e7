// SPDX-License-Identifier: BSD-2-Clause
#include "why.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/split.h>
#include <core/units.h>
#include <core/why_traits.h>

#define REASONS 3 /* maximum in the sentence */
#define LEAST_SHARE 0.1 /* of a reason in the sentence */
#define LARGE_SHARE 0.25 /* if no culprit has that much, the sentence names only parts */
#define ALL 0.995 /* is printed as all */
#define LITTLE_SHARE 0.001 /* of the window: slow time that is said to be little */
#define LATSCOPE "latscope" /* part of what it caused itself: told, but never the answer */
#define SUBJECT_SHARE 0.5 /* a victim with that much of the slow time is the subject */

static const char *text_of(const struct table *table, size_t key, unsigned int column)
{
	struct table_value value = table__key(table, key, column);

	return value.known ? value.text : NULL;
}

static int largest_first(const void *left, const void *right)
{
	const struct why_line *a = left, *b = right;

	if (a->unwaited != b->unwaited)
		return a->unwaited ? 1 : -1;
	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static struct why_line pair_of(const struct table *table, size_t key, bool traits)
{
	const char *victim = text_of(table, key, WHY_VICTIM), *part = text_of(table, key, WHY_PART);
	struct why_line line = {
		.victim = victim ? victim : "?",
		.part = part ? part : "unknown",
		.culprit = text_of(table, key, WHY_CULPRIT),
		.ns = (uint64_t)table__aggregate(table, key, WHY_NS)->sum,
		.events = (uint64_t)table__aggregate(table, key, WHY_EVENTS)->sum,
	};

	if (traits) {
		line.victim_traits = text_of(table, key, WHY_VICTIM_TRAITS);
		line.culprit_traits = text_of(table, key, WHY_CULPRIT_TRAITS);
	}
	return line;
}

static struct why_line name_of(const struct table *table, size_t key)
{
	const char *victim = text_of(table, key, WHY_NAME_VICTIM);
	const char *part = text_of(table, key, WHY_NAME_PART);

	return (struct why_line){
		.victim = victim ? victim : "?",
		.part = part ? part : "unknown",
		.culprit = text_of(table, key, WHY_NAME_CULPRIT),
		.ns = (uint64_t)table__aggregate(table, key, WHY_NAME_NS)->sum,
	};
}

/* ---- the sentence ---- */

/* NULL comes first. */
static int compare(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : (a != NULL) - (b != NULL);
}

static int by_names(const void *left, const void *right)
{
	const struct why_line *a = left, *b = right;
	int order = compare(a->victim, b->victim);

	if (!order)
		order = compare(a->part, b->part);
	return order ? order : compare(a->culprit, b->culprit);
}

/* Adds up the lines with the same names. Returns how many are left, the largest first. */
static size_t merge(struct why_line *lines, size_t nr)
{
	size_t left = 0;

	qsort(lines, nr, sizeof(*lines), by_names);
	for (size_t i = 0; i < nr; i++) {
		if (left && !by_names(&lines[left - 1], &lines[i]))
			lines[left - 1].ns += lines[i].ns;
		else
			lines[left++] = lines[i];
	}
	qsort(lines, left, sizeof(*lines), largest_first);
	return left;
}

/* The slow time that tasks waited, without what latscope itself caused. */
static uint64_t others_ns(const struct why_summary *summary)
{
	return summary->total_ns - summary->unwaited_ns - summary->latscope_ns;
}

/* (other) and (unknown) are nobody in particular. */
static const char *somebody(const char *name)
{
	return name && name[0] != '(' ? name : NULL;
}

/*
 * Adds up the lines by name of a victim (NULL: of all) by part, and by culprit if `culprits`;
 * returns their number.
 */
static size_t find_reasons(const struct why_summary *summary, const char *victim, bool culprits,
			   struct why_line *reasons)
{
	size_t nr = 0;

	for (size_t i = 0; i < summary->nr_names; i++) {
		const struct why_line *line = &summary->names[i];

		if (!line->unwaited && !line->of_latscope &&
		    (!victim || !strcmp(line->victim, victim)))
			reasons[nr++] = (struct why_line){
				.victim = victim,
				.part = line->part,
				.culprit = culprits ? somebody(line->culprit) : NULL,
				.ns = line->ns,
			};
	}
	return merge(reasons, nr);
}

/*
 * The victim with most of the slow time that tasks waited, if that is enough, and how much it is;
 * else NULL, and *ns is that of all.
 */
static const char *find_subject(const struct why_summary *summary, struct why_line *room,
				uint64_t *ns)
{
	size_t nr = 0;

	for (size_t i = 0; i < summary->nr_names; i++)
		if (!summary->names[i].unwaited && !summary->names[i].of_latscope)
			room[nr++] = (struct why_line){ .victim = summary->names[i].victim,
							.ns = summary->names[i].ns };
	nr = merge(room, nr);
	*ns = others_ns(summary);
	if (!nr || (double)room[0].ns < SUBJECT_SHARE * (double)*ns || !somebody(room[0].victim))
		return NULL;
	*ns = room[0].ns;
	return room[0].victim;
}

static int by_text(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/*
 * Writes who has a name: "web (1)", "web (4 tasks)", or "web (more than 4 tasks)" if not all pairs
 * are listed. The room has `nr` texts of such tasks, which may repeat. Returns out.
 */
static const char *crowd_text(const struct why_summary *summary, const char *name, size_t nr,
			      char out[WHY_CROWD])
{
	size_t tasks = 0;

	qsort(summary->room, nr, sizeof(*summary->room), by_text);
	for (size_t i = 0; i < nr; i++)
		tasks += !i || strcmp(summary->room[i - 1], summary->room[i]);
	if (tasks > 1)
		snprintf(out, WHY_CROWD, "%s (%s%zu tasks)", name,
			 summary->others_ns ? "more than " : "", tasks);
	else
		snprintf(out, WHY_CROWD, "%s", tasks ? summary->room[0] : name);
	return out;
}

const char *why_summary__victim(const struct why_summary *summary, const struct why_line *line,
				char out[WHY_CROWD])
{
	size_t nr = 0;

	for (size_t i = 0; i < summary->nr_lines; i++)
		if (why_tasks__is_victim(&summary->lines[i], line))
			summary->room[nr++] = summary->lines[i].victim;
	return crowd_text(summary, line->victim, nr, out);
}

/* The victim of the line may be NULL: then it is of all victims. */
const char *why_summary__culprit(const struct why_summary *summary, const struct why_line *line,
				 char out[WHY_CROWD])
{
	size_t nr = 0;

	for (size_t i = 0; i < summary->nr_lines; i++)
		if (why_tasks__is_culprit(&summary->lines[i], line))
			summary->room[nr++] = summary->lines[i].culprit;
	return crowd_text(summary, line->culprit ? line->culprit : "-", nr, out);
}

static void add(char *sentence, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(char *sentence, const char *format, ...)
{
	size_t len = strlen(sentence);
	va_list args;

	va_start(args, format);
	vsnprintf(sentence + len, WHY_SENTENCE - len, format, args);
	va_end(args);
}

/* Is it the path of a cgroup, and not a task with its ID? */
static bool is_cgroup(const char *name)
{
	return name && name[0] == '/' && !name[split__name_length(name)];
}

/* What the part means, as the end of a sentence. */
static void add_reason(char *sentence, const struct why_line *reason, const char *culprit,
		       const char *victim, const char *probe)
{
	const struct why_part *part = why__named(probe, reason->part);
	bool of_cgroup = is_cgroup(reason->culprit);

	if (of_cgroup && part->within && victim && !strcmp(reason->culprit, victim)) {
		add(sentence, "%s", part->within);
		return;
	}
	if (of_cgroup && part->of_cgroup) {
		add(sentence, part->of_cgroup, reason->culprit);
		return;
	}
	if (part->of_quota)
		add(sentence, "%s was ", victim ? victim : "a cgroup");
	if (!victim && part->of_all)
		add(sentence, "%s", part->of_all);
	else if (culprit && part->with)
		add(sentence, part->with, culprit);
	else
		add(sentence, "%s", part->without ? part->without : "the reason is unknown");
}

/* A cause of next to nothing is no answer to the question why something is slow. */
static void say_little(struct why_summary *summary, uint64_t slow_ns, const struct run *run)
{
	char share[UNITS_TEXT];

	if (run && (double)slow_ns < LITTLE_SHARE * (double)run->duration_ns)
		add(summary->sentence, "Little was slow (%s of the window). ",
		    units__share(share, slow_ns, run->duration_ns));
}

/* The probe that knows who had the CPU; NULL: it was not there. */
static const struct run_probe *find_waits(const struct run *run)
{
	for (unsigned int i = 0; run && i < run->nr_probes; i++)
		if (run->probes[i].why && why__words(run->probes[i].name)->of_cpu)
			return &run->probes[i];
	return NULL;
}

/* The culprit of a quota did not have the CPU. */
static bool has_cpu(const struct run_probe *waits, const struct why_line *line)
{
	return !why__named(waits->name, line->part)->of_quota;
}

/*
 * Samples that waited for a CPU: another probe knows who had it in all slow waits of the victim, in
 * these samples and elsewhere.
 */
static void add_who_had_the_cpu(struct why_summary *summary, const struct run *run,
				const char *victim)
{
	const struct run_probe *of_cpu = find_waits(run);
	struct why_summary waits;
	char culprit[WHY_CROWD];
	uint64_t whole = 0;

	if (!of_cpu)
		return;
	if (!why_summary__of(&waits, of_cpu, NULL)) {
		const struct why_line *most = NULL;

		for (size_t i = 0; i < waits.nr_names; i++) {
			const struct why_line *line = &waits.names[i];

			if (victim && strcmp(line->victim, victim))
				continue;
			whole += line->ns;
			if (!most && somebody(line->culprit) && has_cpu(of_cpu, line))
				most = line; /* the largest */
		}
		if (most && (double)most->ns >= LARGE_SHARE * (double)whole)
			add(summary->sentence,
			    " (%s had it for %.0f %% of its slow waits for a CPU)",
			    why_summary__culprit(&waits, most, culprit),
			    100 * (double)most->ns / (double)whole);
	}
	why_summary__clear(&waits);
}

#define DESCRIBED (WHY_CROWD + WHY_TRAITS_TEXT)

/*
 * The culprit of a reason, and what sets it apart: "hog (12), nice -5,". Tasks with the name of the
 * victim are others. NULL: it has none.
 */
static const char *describe_culprit(const struct why_summary *summary,
				    const struct why_line *reason, char out[DESCRIBED])
{
	const char *traits = why_tasks__traits(summary, reason, why_tasks__is_culprit);

	if (!reason->culprit)
		return NULL;
	if (reason->victim && why_tasks__same_name(reason->victim, reason->culprit))
		snprintf(out, DESCRIBED, "other tasks called %s", reason->culprit);
	else
		why_summary__culprit(summary, reason, out);
	if (traits)
		snprintf(out + strlen(out), DESCRIBED - strlen(out), ", %s,", traits);
	return out;
}

/* "web (4 tasks), nice 10, waited most: 73 % of all slow time." */
static void add_subject(struct why_summary *summary, const struct why_line *reason,
			const char *victim, double of_all)
{
	const char *traits = why_tasks__traits(summary, reason, why_tasks__is_victim);
	const char *comma = traits ? ", " : "";

	add(summary->sentence, "%s%s%s%s waited most: %.0f %% of all slow time%s", victim, comma,
	    traits ? traits : "", comma[0] ? "," : "", 100 * of_all,
	    summary->unwaited_ns ? " that tasks wait" : "");
}

static void add_latscope(struct why_summary *summary)
{
	char own[UNITS_TEXT];

	if ((double)summary->latscope_ns >= LEAST_SHARE * (double)summary->total_ns)
		add(summary->sentence, " without latscope itself (%s)",
		    units__ns(own, (double)summary->latscope_ns));
}

/* "For 33 % of that, cc1 (14 tasks) had the CPU; for 27 %, ...". */
static void add_reasons(struct why_summary *summary, const struct why_line *reasons, size_t nr,
			uint64_t whole, const char *subject, const char *victim, const char *probe,
			const struct run *run)
{
	char *sentence = summary->sentence, culprit[DESCRIBED], size[UNITS_TEXT];

	for (size_t i = 0; i < nr && i < REASONS; i++) {
		double share = (double)reasons[i].ns / (double)whole;

		if (i && share < LEAST_SHARE)
			break;
		snprintf(size, sizeof(size), share < ALL ? "%.0f %%" : "all", 100 * share);
		add(sentence, "%s %s", i ? "; for" : "For", size);
		if (!i)
			add(sentence, subject ? " of that" : " of the slow time");
		if (!i && !subject)
			add_latscope(summary);
		add(sentence, ", ");
		add_reason(sentence, &reasons[i], describe_culprit(summary, &reasons[i], culprit),
			   victim, probe);
		if (why__named(probe, reasons[i].part)->for_cpu)
			add_who_had_the_cpu(summary, run, subject);
	}
}

static void conclude(struct why_summary *summary, struct why_line *reasons, const char *probe,
		     const struct run *run)
{
	uint64_t whole, waited_ns = others_ns(summary);
	const char *subject = find_subject(summary, reasons, &whole);
	size_t nr = find_reasons(summary, subject, true, reasons);
	char *sentence = summary->sentence, victim[WHY_CROWD];

	if (!waited_ns) {
		add(sentence,
		    summary->latscope_ns
			    ? "all of the slow time is due to latscope itself"
			    : "only asynchronous writes were slow: no task waits for them");
		return;
	}
	say_little(summary, waited_ns, run);
	if (nr && (double)reasons[0].ns < LARGE_SHARE * (double)whole)
		nr = find_reasons(summary, subject, false, reasons);
	if (subject && nr) {
		why_summary__victim(summary, reasons, victim);
		add_subject(summary, reasons, victim, (double)whole / (double)waited_ns);
		add_latscope(summary);
		add(sentence, ". ");
	}
	add_reasons(summary, reasons, nr, whole, subject, subject ? victim : NULL, probe, run);
}

/* Which of the lines no task waited for, and which are latscope's own. */
static void mark(struct why_line *lines, size_t nr, const char *probe)
{
	for (size_t i = 0; i < nr; i++) {
		lines[i].unwaited = why__named(probe, lines[i].part)->unwaited;
		lines[i].of_latscope = !strcmp(lines[i].part, LATSCOPE);
	}
}

static void take_lines(struct why_summary *summary, const struct run_why *why)
{
	bool traits = why__words(why->probe)->traits;

	for (size_t key = 0; key < table__keys(why->parts); key++)
		summary->lines[summary->nr_lines++] = pair_of(why->parts, key, traits);
	for (size_t key = 0; key < table__keys(why->names); key++)
		summary->names[summary->nr_names++] = name_of(why->names, key);
	mark(summary->lines, summary->nr_lines, why->probe);
	mark(summary->names, summary->nr_names, why->probe);
	qsort(summary->lines, summary->nr_lines, sizeof(*summary->lines), largest_first);
	qsort(summary->names, summary->nr_names, sizeof(*summary->names), largest_first);
	if (table__others_keys(why->parts))
		summary->others_ns = (uint64_t)table__others(why->parts, WHY_NS)->sum;
	for (unsigned int part = 0; part < WHY_PARTS; part++) {
		const struct why_part *of = why__part(why->probe, part);

		summary->total_ns += why->part_ns[part];
		if (of->unwaited)
			summary->unwaited_ns += why->part_ns[part];
		if (of->name && !strcmp(of->name, LATSCOPE))
			summary->latscope_ns += why->part_ns[part];
	}
	memcpy(summary->part_ns, why->part_ns, sizeof(summary->part_ns));
}

int why_summary__of(struct why_summary *summary, const struct run_probe *probe,
		    const struct run *run)
{
	size_t pairs = table__keys(probe->why->parts), names = table__keys(probe->why->names);
	struct why_line *reasons = calloc(names + 1, sizeof(*reasons));
	int err = -ENOMEM;

	memset(summary, 0, sizeof(*summary));
	summary->lines = calloc(pairs + 1, sizeof(*summary->lines));
	summary->names = calloc(names + 1, sizeof(*summary->names));
	summary->room = calloc(pairs + 1, sizeof(*summary->room));
	if (reasons && summary->lines && summary->names && summary->room) {
		take_lines(summary, probe->why);
		if (summary->total_ns)
			conclude(summary, reasons, probe->name, run);
		err = 0;
	}
	free(reasons);
	return err;
}

void why_summary__clear(struct why_summary *summary)
{
	free(summary->lines);
	free(summary->names);
	free(summary->room);
	memset(summary, 0, sizeof(*summary));
}
