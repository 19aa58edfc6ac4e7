// SPDX-License-Identifier: BSD-2-Clause
#include "why.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <core/hist.h>
#include <core/units.h>
#include <stats/why.h>

#include "text.h"
#include "wrap.h"

#define FRAMES 6 /* of a stack that are shown */
#define WHY_NOT_ENDED_NS 1000000 /* without a threshold */

/* If the first metric has another number of samples, it also says of which metric they are. */
static void say_slow(struct wrap *wrap, const struct run_probe *probe)
{
	unsigned int metric = why__words(probe->name)->metric;
	uint64_t all = run__recorded(&probe->total.metrics[metric]);
	uint64_t first = run__recorded(&probe->total.metrics[0]);
	char slow[UNITS_TEXT], text[UNITS_TEXT];

	wrap__add(wrap, "%s: %s of %s samples", probe->name, units__count(slow, probe->why->slow),
		  units__count(text, all));
	if (first != all)
		wrap__add(wrap, " of %s (%s has %s)", probe->metrics[metric].name,
			  probe->metrics[0].name, units__count(text, first));
	wrap__add(wrap, " took ");
}

/* "10 of 73 samples", "the slowest 10 of 73 samples, which are too few for a share of them,". */
static void say_samples(struct wrap *wrap, const struct run_probe *probe)
{
	const struct run_why *why = probe->why;
	const struct lat_hist *hist = &probe->total.metrics[why__words(probe->name)->metric].hist;
	char slow[UNITS_TEXT], all[UNITS_TEXT];

	if (why->few)
		wrap__add(wrap, "%s: too few samples for a threshold (%s): the slowest %s took ",
			  probe->name, units__count(all, hist__count(hist)),
			  units__count(slow, why->slow));
	else if (why->slow)
		say_slow(wrap, probe);
	else if (why->slow_ns) /* a recording that was cut off, or a part of one */
		wrap__add(wrap, "%s: samples that took ", probe->name);
	else
		wrap__add(wrap, "%s: no sample took ", probe->name);
}

/* Waits that have not ended are no samples. Older ones than the threshold are told. */
static void not_ended(FILE *out, const struct run_probe *probe)
{
	const struct lat_in_flight *open = &probe->in_flight;
	const char *of = probe->in_flight_of;
	uint64_t over_ns = probe->why->over_low_ns ? probe->why->over_low_ns : WHY_NOT_ENDED_NS;
	char count[UNITS_TEXT], age[UNITS_TEXT];
	struct wrap wrap = { 0 };

	if (!open->count || !probe->in_flight_age_known || open->oldest_ns < over_ns)
		return;
	wrap__add(&wrap, "%s %s", units__count(count, open->count),
		  open->count > 1 ? why__words(probe->name)->waits : why__words(probe->name)->wait);
	if (open->count > 1)
		wrap__add(&wrap, " have not ended; one");
	wrap__add(&wrap, "%s%s has lasted %s%s%s", *of ? " of " : "", of,
		  open->before ? "at least " : "", units__ns(age, (double)open->oldest_ns),
		  open->count > 1 ? "; they are in no sum" : " and has not ended; it is in no sum");
	wrap__print(&wrap, out, 2, 2);
}

static void heading(FILE *out, const struct run_probe *probe)
{
	const struct run_why *why = probe->why;
	char low[UNITS_TEXT], high[UNITS_TEXT], sum[UNITS_TEXT];
	struct wrap wrap = { 0 };

	if (!why->over_high_ns) {
		wrap__line(out, 0, 2, "%s: no samples", probe->name);
		return;
	}
	say_samples(&wrap, probe);
	wrap__add(&wrap, "at least %s", units__ns(low, (double)why->over_low_ns));
	if (why->over_low_ns != why->over_high_ns)
		wrap__add(&wrap, " to %s (the threshold followed the load)",
			  units__ns(high, (double)why->over_high_ns));
	if (why->slow_ns)
		wrap__add(&wrap, ": slow time %s", units__ns(sum, (double)why->slow_ns));
	if (why->of_latscope_ns)
		wrap__add(&wrap, "; latscope itself, which is left out: %s",
			  units__ns(sum, (double)why->of_latscope_ns));
	wrap__print(&wrap, out, 0, 2);
}

static void paragraph(FILE *out, const char *before, const char *text, const char *after)
{
	if (!text[0])
		return;
	fputc('\n', out);
	wrap__line(out, 0, 2, "%s%s%s", before, text, after);
}

static void print_parts(FILE *out, const struct run_probe *probe, const struct why_summary *summary)
{
	char share[UNITS_TEXT], time[UNITS_TEXT];

	fprintf(out, "\n%-46s %9s %11s\n", "where the slow time went", "share", "time");
	for (unsigned int i = 1; i <= WHY_PARTS; i++) {
		unsigned int part = i % WHY_PARTS; /* what is unknown comes last */
		const char *what = why__part(probe->name, part)->what;

		if (!what || !summary->part_ns[part])
			continue;
		fprintf(out, "%-46.46s %9s %11s\n", what,
			units__share(share, summary->part_ns[part], summary->total_ns),
			units__ns(time, (double)summary->part_ns[part]));
	}
}

struct pair_names {
	char victim[WHY_CROWD], culprit[WHY_CROWD];
};

static const char *name_of_victim(const void *rows, size_t row)
{
	return ((const struct pair_names *)rows)[row].victim;
}

static const char *name_of_culprit(const void *rows, size_t row)
{
	return ((const struct pair_names *)rows)[row].culprit;
}

static void print_pairs(FILE *out, const struct why_summary *summary,
			const struct why_line *const *lines, const struct pair_names *names,
			size_t nr)
{
	unsigned int victim = text__name_head(out, name_of_victim, names, nr);
	unsigned int culprit = text__name_head(out, name_of_culprit, names, nr);
	char share[UNITS_TEXT], time[UNITS_TEXT];

	for (size_t i = 0; i < nr; i++) {
		text__key_name_cut(out, names[i].victim, victim);
		fputc(' ', out);
		text__key_name_cut(out, names[i].culprit, culprit);
		fprintf(out, " %-8.8s %9s %11s\n", lines[i]->part,
			units__share(share, lines[i]->ns, summary->total_ns),
			units__ns(time, (double)lines[i]->ns));
	}
}

/*
 * Tasks of one name are one line; run.db and the JSON have each pair. What latscope itself caused
 * is one line of the parts above.
 */
static int print_names(FILE *out, const struct why_summary *summary, unsigned int top)
{
	const struct why_line **lines = calloc(summary->nr_names + 1, sizeof(*lines));
	struct pair_names *names = calloc(summary->nr_names + 1, sizeof(*names));
	int columns = text__name_columns(out), err = lines && names ? 0 : -ENOMEM;
	size_t nr = 0, left = 0;

	for (size_t i = 0; !err && i < summary->nr_names; i++) {
		const struct why_line *line = &summary->names[i];

		if (line->of_latscope)
			continue;
		if (top && nr >= top) {
			left++;
			continue;
		}
		why_summary__victim(summary, line, names[nr].victim);
		why_summary__culprit(summary, line, names[nr].culprit);
		lines[nr++] = line;
	}
	fprintf(out, "\n%-*s %-*s %-8s %9s %11s\n", columns, "victim", columns, "culprit", "part",
		"share", "time");
	if (!err)
		print_pairs(out, summary, lines, names, nr);
	if (left)
		fprintf(out, "%zu more\n", left);
	free(lines);
	free(names);
	return err;
}

/* Policy, nice value, weight and workqueue of those that have not the usual ones. */
static int print_traits(FILE *out, const struct why_summary *summary, bool victims,
			unsigned int top)
{
	struct why_task *tasks;
	long nr = why_tasks__list(summary, victims, &tasks);
	long shown = top && top < nr ? (long)top : nr;
	char share[UNITS_TEXT], time[UNITS_TEXT];

	if (nr > 0)
		fprintf(out, "\n%-*s %-36s %9s %11s\n", text__name_columns(out),
			victims ? "victim" : "culprit", "traits", "share", "time");
	for (long i = 0; i < shown; i++) {
		text__key_name(out, tasks[i].name);
		fprintf(out, " %-36.36s %9s %11s\n", tasks[i].traits,
			units__share(share, tasks[i].ns, summary->total_ns),
			units__ns(time, (double)tasks[i].ns));
	}
	if (shown < nr)
		fprintf(out, "%ld more\n", nr - shown);
	free(tasks);
	return nr < 0 ? (int)nr : 0;
}

/* The first frames of a stack; pid 0: of the kernel. */
static void print_stack(FILE *out, const struct frames *frames, uint64_t pid, const char *stack)
{
	struct frames_walk walk = frames__walk(frames, pid, stack, FRAMES);
	const char *frame, *before = "";
	struct wrap wrap = { 0 };
	char text[FRAME_TEXT];

	if (!*stack)
		return;
	wrap__add(&wrap, pid ? "user:" : "kernel:");
	for (; (frame = frames__walk_next(&walk, text)); before = " <")
		wrap__add(&wrap, "%s %.60s", before, frame);
	wrap__print(&wrap, out, 6, 2);
}

/* Is this the ID at the end of a name such as "hog (12)"? */
static bool has_id(const char *name, int64_t id)
{
	char end[24];
	size_t len = strlen(name), of_end;

	of_end = (size_t)snprintf(end, sizeof(end), " (%lld)", (long long)id);
	return len > of_end && !strcmp(name + len - of_end, end);
}

/* The culprit with this ID, as the pairs name it; NULL: it is in none. */
static const char *find_culprit(const struct run_why *why, const struct why_slow *slow)
{
	for (unsigned int i = 0; i < WHY_CULPRITS && slow->culprits[i].ns; i++)
		if (has_id(slow->culprits[i].name, slow->stack_tid) ||
		    has_id(slow->culprits[i].name, slow->stack_pid))
			return slow->culprits[i].name;
	for (size_t key = 0; key < table__keys(why->parts); key++) {
		struct table_value culprit = table__key(why->parts, key, WHY_CULPRIT);

		if (culprit.known && (has_id(culprit.text, slow->stack_tid) ||
				      has_id(culprit.text, slow->stack_pid)))
			return culprit.text;
	}
	return NULL;
}

void why_text__add_owner(struct wrap *wrap, const struct run_probe *probe,
			 const struct why_slow *slow)
{
	const char *name = find_culprit(probe->why, slow);

	if (slow->stack_tid == slow->tid)
		wrap__add(wrap, "its stack");
	else if (name)
		wrap__add(wrap, "stack of %s", name);
	else
		wrap__add(wrap, "stack of thread %lld", (long long)slow->stack_tid);
	if (slow->stack_tid != slow->tid && why__words(probe->name)->of_cpu)
		wrap__add(wrap, ", which had the CPU");
}

static void print_owner(FILE *out, const struct run_probe *probe, const struct why_slow *slow)
{
	struct wrap wrap = { 0 };

	why_text__add_owner(&wrap, probe, slow);
	wrap__print(&wrap, out, 4, 2);
}

static void print_event(FILE *out, const struct run *run, const struct run_probe *probe,
			const struct why_slow *slow)
{
	char time[UNITS_TEXT];
	struct wrap wrap = { 0 };
	bool first = true;

	wrap__add(&wrap, "%.6f s: %s: %s (%lld)", (double)slow->time_ns / 1e9,
		  units__ns(time, (double)slow->ns), slow->process, (long long)slow->pid);
	if (slow->tid != slow->pid)
		wrap__add(&wrap, ", thread %s (%lld)", slow->comm, (long long)slow->tid);
	wrap__add(&wrap, ", CPU %lld, %s", (long long)slow->cpu, slow->cgroup);
	if (*slow->waker)
		wrap__add(&wrap, ", woken up by %s", slow->waker);
	if (slow->waker_tid)
		wrap__add(&wrap, " (%lld)", (long long)slow->waker_tid);
	if (*slow->disk)
		wrap__add(&wrap, ", %s of %s on %s", slow->op, units__size(time, slow->bytes),
			  slow->disk);
	if (*slow->disk && slow->sector != WHY_NO_SECTOR)
		wrap__add(&wrap, ", sector %llu", (unsigned long long)slow->sector);
	wrap__print(&wrap, out, 2, 2);
	for (unsigned int i = 0; i < WHY_PARTS; i++) {
		if (!slow->part_ns[i])
			continue;
		wrap__add(&wrap, "%s%s %s", first ? "" : ", ", why__part(probe->name, i)->name,
			  units__ns(time, (double)slow->part_ns[i]));
		first = false;
	}
	first = true;
	for (unsigned int i = 0; i < WHY_CULPRITS && slow->culprits[i].ns; i++) {
		wrap__add(&wrap, "%s%s %s", first ? "; " : ", ", slow->culprits[i].name,
			  units__ns(time, (double)slow->culprits[i].ns));
		first = false;
	}
	wrap__print(&wrap, out, 4, 2);
	if (slow->stack_tid && (*slow->kernel_stack || *slow->user_stack))
		print_owner(out, probe, slow);
	print_stack(out, &run->frames, 0, slow->kernel_stack);
	print_stack(out, &run->frames, (uint64_t)slow->stack_pid, slow->user_stack);
}

static void print_events(FILE *out, const struct run *run, const struct run_probe *probe)
{
	const struct run_why *why = probe->why;
	char sent[UNITS_TEXT], dropped[UNITS_TEXT];

	if (why->nr_slowest)
		fprintf(out, "\nslowest\n");
	for (unsigned int i = 0; i < why->nr_slowest; i++)
		print_event(out, run, probe, &why->slowest[i]);
	if (why->dropped)
		fprintf(out, "%s slow events were sent, %s found no room; see --events\n",
			units__count(sent, why->sent), units__count(dropped, why->dropped));
}

int why_text__print(FILE *out, const struct run *run, const struct run_probe *probe,
		    unsigned int top)
{
	struct why_summary summary;
	int err;

	if (!probe->why || probe->refused[0])
		return 0;
	err = why_summary__of(&summary, probe, run);
	if (err)
		goto clear;
	heading(out, probe);
	not_ended(out, probe);
	coverage_text__probe(out, run, probe);
	if (summary.total_ns) {
		paragraph(out, "", summary.sentence, ".");
		paragraph(out, "", probe->why->disks, "."); /* the slow time was divided by them */
		print_parts(out, probe, &summary);
		err = print_names(out, &summary, top);
		if (!err)
			err = print_traits(out, &summary, false, top);
		if (!err)
			err = print_traits(out, &summary, true, top);
		print_events(out, run, probe);
	}
clear:
	why_summary__clear(&summary);
	return err;
}

int why_text__sentence(FILE *out, const struct run *run, const struct run_probe *probe)
{
	struct why_summary summary;
	int err;

	if (!probe->why || probe->refused[0])
		return 0;
	err = why_summary__of(&summary, probe, run);
	if (!err && summary.total_ns)
		wrap__line(out, 0, 2, "Slow %s: %s.", why__words(probe->name)->waits,
			   summary.sentence);
	why_summary__clear(&summary);
	return err;
}

void why_text__missing_names(FILE *out, const struct run *run)
{
	paragraph(out, "names in stacks: some are missing: ", run->frames_why, "");
}
