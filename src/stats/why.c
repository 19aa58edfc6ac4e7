// SPDX-License-Identifier: BSD-2-Clause
#include "why.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/names.h>

#define REASONS 3 /* maximum in the sentence */
#define LEAST_SHARE 0.1 /* of a reason in the sentence */
#define LARGE_SHARE 0.25 /* if no culprit has that much, the sentence names only parts */
#define NEARLY_ALL 0.95 /* a subject with less is said to have that share */
#define CROWD_TEXT (RUN_NAME + 32)
#define SUBJECT_SHARE 0.5 /* a victim with that much of the slow time is the subject */

static const char *text_of(const struct table *table, size_t key, unsigned int column)
{
	struct table_value value = table__key(table, key, column);

	return value.known ? value.text : NULL;
}

static int largest_first(const void *left, const void *right)
{
	const struct why_line *a = left, *b = right;

	return a->ns > b->ns ? -1 : a->ns < b->ns;
}

static void take_line(struct why_summary *summary, const struct run_probe *probe, size_t key)
{
	const struct table *table = probe->why->parts;
	struct why_line *line = &summary->lines[summary->nr_lines++];
	int part;

	line->victim = text_of(table, key, WHY_VICTIM);
	line->part = text_of(table, key, WHY_PART);
	line->culprit = text_of(table, key, WHY_CULPRIT);
	line->ns = (uint64_t)table__aggregate(table, key, WHY_NS)->sum;
	line->events = (uint64_t)table__aggregate(table, key, WHY_EVENTS)->sum;
	line->victim = line->victim ? line->victim : "?";
	line->part = line->part ? line->part : "unknown";
	part = why__find_part(probe->name, line->part);
	summary->part_ns[part < 0 ? WHY_UNKNOWN : part] += line->ns;
	summary->total_ns += line->ns;
}

/* ---- the sentence ---- */

/* Who shares a name, without its ID: "cc1 (12)" and "cc1 (13)". */
struct crowd {
	const char *name; /* of the first; NULL: nobody in particular */
	size_t tasks; /* how many have it */
};

struct reason {
	const char *part;
	struct crowd culprit;
	uint64_t ns;
};

static int most_first(const void *left, const void *right)
{
	uint64_t a = ((const struct reason *)left)->ns, b = ((const struct reason *)right)->ns;

	return a > b ? -1 : a < b;
}

static bool same_name(const char *a, const char *b)
{
	size_t len = a ? names__length(a) : 0;

	return a && b ? len == names__length(b) && !strncmp(a, b, len) : a == b;
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* (other) and (unknown) are nobody in particular. */
static const char *somebody(const char *name)
{
	return name && name[0] != '(' ? name : NULL;
}

/* Is this the first line of the subject with this part and culprit? */
static bool is_new(const struct why_summary *summary, size_t line, const char *subject)
{
	const struct why_line *of = &summary->lines[line];

	for (size_t i = 0; i < line; i++)
		if (!strcmp(summary->lines[i].part, of->part) &&
		    same_text(summary->lines[i].culprit, of->culprit) &&
		    (!subject || same_name(summary->lines[i].victim, subject)))
			return false;
	return true;
}

/*
 * Adds up the lines of the victims with one name (NULL: of all) by part, and by the culprits' names
 * if `culprits`; returns their number.
 */
static size_t find_reasons(const struct why_summary *summary, const char *subject, bool culprits,
			   struct reason *reasons)
{
	size_t nr = 0, at;

	for (size_t i = 0; i < summary->nr_lines; i++) {
		const struct why_line *line = &summary->lines[i];
		const char *culprit = culprits ? somebody(line->culprit) : NULL;

		if (subject && !same_name(line->victim, subject))
			continue;
		for (at = 0; at < nr; at++)
			if (same_name(reasons[at].culprit.name, culprit) &&
			    !strcmp(reasons[at].part, line->part))
				break;
		if (at == nr)
			reasons[nr++] = (struct reason){ line->part, { culprit, 0 }, 0 };
		reasons[at].ns += line->ns;
		reasons[at].culprit.tasks += is_new(summary, i, subject);
	}
	qsort(reasons, nr, sizeof(*reasons), most_first);
	return nr;
}

/* The victims with most of the slow time, if that is enough, and how much it is. */
static struct crowd find_subject(const struct why_summary *summary, struct reason *sums,
				 uint64_t *ns)
{
	const struct crowd nobody = { NULL, 0 };
	size_t nr = 0, at, seen;

	for (size_t i = 0; i < summary->nr_lines; i++) {
		const char *victim = summary->lines[i].victim;

		for (at = 0; at < nr; at++)
			if (same_name(sums[at].culprit.name, victim))
				break;
		if (at == nr)
			sums[nr++] = (struct reason){ NULL, { victim, 0 }, 0 };
		sums[at].ns += summary->lines[i].ns;
		for (seen = 0; strcmp(summary->lines[seen].victim, victim);)
			seen++;
		sums[at].culprit.tasks += seen == i;
	}
	qsort(sums, nr, sizeof(*sums), most_first);
	*ns = summary->total_ns;
	if (!nr || (double)sums[0].ns < SUBJECT_SHARE * (double)summary->total_ns ||
	    !somebody(sums[0].culprit.name))
		return nobody;
	*ns = sums[0].ns;
	return sums[0].culprit;
}

/* "web (1)", or "web (4 tasks)". Returns out. */
static const char *crowd_text(const struct crowd *crowd, char out[CROWD_TEXT])
{
	if (crowd->tasks > 1)
		snprintf(out, CROWD_TEXT, "%.*s (%zu tasks)", (int)names__length(crowd->name),
			 crowd->name, crowd->tasks);
	else
		snprintf(out, CROWD_TEXT, "%s", crowd->name);
	return out;
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
	return name && name[0] == '/' && !name[names__length(name)];
}

/* What the part means if the culprit is a cgroup; NULL: the same as if it is a task. */
static const char *cgroup_phrase(const struct reason *reason, const char *victim, const char *probe)
{
	bool cpu = !strcmp(probe, "runqlat");

	if (!is_cgroup(reason->culprit.name))
		return NULL;
	if (!strcmp(reason->part, "other") && same_text(reason->culprit.name, victim))
		return cpu ? "its other processes ran on the same CPUs"
			   : "its other processes kept the disk busy";
	if (!strcmp(reason->part, "kernel")) /* of which cgroup does not matter */
		return "kernel threads ran on the same CPUs";
	if (!strcmp(reason->part, "realtime"))
		return "real-time tasks of %s ran on the same CPUs";
	return NULL;
}

/* What the part means, as the end of a sentence. */
static void add_reason(char *sentence, const struct reason *reason, const char *victim,
		       const char *probe)
{
	const char *of_cgroup = cgroup_phrase(reason, victim, probe);
	static const struct {
		const char *probe, *part, *with_culprit, *without;
	} phrases[] = {
		{ "runqlat", "own", "its own threads had the CPU", NULL },
		{ "runqlat", "other", "%s ran on the same CPUs",
		  "other processes ran on the same CPUs" },
		{ "runqlat", "kernel", "the kernel thread %s ran on the same CPUs",
		  "kernel threads ran on the same CPUs" },
		{ "runqlat", "realtime", "the real-time task %s ran on the same CPUs",
		  "real-time tasks ran on the same CPUs" },
		{ "runqlat", "idle", NULL, "the CPU was idle, and took that long to wake up" },
		{ "runqlat", "quota", NULL, "out of its CPU quota (cpu.max)" },
		{ "runqlat", "moved", NULL, "waiting for another CPU, before a move" },
		{ "memlat", "cpu", NULL, "the kernel worked on the page fault" },
		{ "memlat", "runnable", NULL, "page faults waited for a CPU" },
		{ "memlat", "io", "page faults waited for disk %s",
		  "page faults waited for block I/O" },
		{ "memlat", "blocked", NULL,
		  "page faults slept, for a lock, userfaultfd or FUSE (see the stacks)" },
		{ "memlat", "reclaim", NULL, "page faults reclaimed memory" },
		{ "memlat", "compaction", NULL, "page faults compacted memory" },
		{ "iolat", "queued", NULL, "requests waited in the queue" },
		{ "iolat", "device", NULL, "the disk itself took that long" },
		{ "iolat", "own", NULL, "other requests of the same process kept the disk busy" },
		{ "iolat", "other", "%s kept the disk busy", "other processes kept the disk busy" },
		{ "iolat", "flush", "%s had the disk flush its cache",
		  "the disk flushed its cache" },
		{ "iolat", "discard", "%s had the disk discard blocks",
		  "the disk discarded blocks" },
		{ "iolat", "requeued", NULL, "the driver gave requests back" },
	};

	char culprit[CROWD_TEXT];

	if (of_cgroup) {
		add(sentence, of_cgroup, reason->culprit.name);
		return;
	}
	for (size_t i = 0; i < sizeof(phrases) / sizeof(phrases[0]); i++) {
		if (strcmp(phrases[i].probe, probe) || strcmp(phrases[i].part, reason->part))
			continue;
		if (!strcmp(reason->part, "quota"))
			add(sentence, "%s was ", victim ? victim : "a cgroup");
		if (!strcmp(reason->part, "own") && !strcmp(probe, "runqlat"))
			add(sentence, "%s",
			    victim ? "its own threads had the CPU"
				   : "other threads of the same process had the CPU");
		else if (reason->culprit.name && phrases[i].with_culprit)
			add(sentence, phrases[i].with_culprit,
			    crowd_text(&reason->culprit, culprit));
		else
			add(sentence, "%s", phrases[i].without);
		return;
	}
	add(sentence, "the reason is unknown");
}

static void conclude(struct why_summary *summary, struct reason *room, const char *probe)
{
	uint64_t whole;
	const struct crowd subject = find_subject(summary, room, &whole);
	size_t nr = find_reasons(summary, subject.name, true, room), said = 0;
	double of_all = (double)whole / (double)summary->total_ns;
	char *sentence = summary->sentence, victim[CROWD_TEXT];

	if (nr && (double)room[0].ns < LARGE_SHARE * (double)whole)
		nr = find_reasons(summary, subject.name, false, room);
	if (subject.name)
		crowd_text(&subject, victim);

	for (; said < nr && said < REASONS; said++) {
		double share = (double)room[said].ns / (double)whole;

		if (said && share < LEAST_SHARE)
			break;
		add(sentence, "%s%.0f %%", said ? "; " : "", 100 * share);
		if (!said)
			add(sentence, " of the slow time%s%s", subject.name ? " of " : "",
			    subject.name ? victim : "");
		if (!said && of_all < NEARLY_ALL)
			add(sentence, ", which has %.0f %% of all slow time", 100 * of_all);
		add(sentence, ": ");
		add_reason(sentence, &room[said], subject.name ? victim : NULL, probe);
	}
}

int why_summary__of(struct why_summary *summary, const struct run_probe *probe)
{
	const struct table *table = probe->why->parts;
	size_t keys = table__keys(table);
	struct reason *room;

	memset(summary, 0, sizeof(*summary));
	if (table__others_keys(table))
		summary->others_ns = (uint64_t)table__others(table, WHY_NS)->sum;
	summary->total_ns = summary->others_ns;
	summary->lines = calloc(keys + 1, sizeof(*summary->lines));
	room = calloc(keys + 1, sizeof(*room));
	if (!summary->lines || !room) {
		free(room);
		return -ENOMEM;
	}
	for (size_t key = 0; key < keys; key++)
		take_line(summary, probe, key);
	qsort(summary->lines, summary->nr_lines, sizeof(*summary->lines), largest_first);
	if (summary->total_ns)
		conclude(summary, room, probe->name);
	free(room);
	return 0;
}

void why_summary__clear(struct why_summary *summary)
{
	free(summary->lines);
	memset(summary, 0, sizeof(*summary));
}
