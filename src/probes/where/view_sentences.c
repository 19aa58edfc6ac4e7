// SPDX-License-Identifier: BSD-2-Clause
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>
#include <print/wrap.h>

#include "view_answer.h"
#include "view_limits.h"
#include "view_parts.h"
#include "view_states.h"

#define LEAST_NS_SHARE 0.01 /* of the window: a shorter wait has no sentence */
#define LEAST_REASON 0.1 /* of the wait */
#define REASONS_SHOWN 2
#define OF_ONE 2 /* sentences about one row */
#define CLAUSE (3 * WHY_CROWD)
#define CLAUSES 8
#define LEAST_OF_FIRST 0.05 /* of the first sentence's wait: a shorter one has none */

/* A wait of a row that may have a sentence. */
struct finding {
	const struct sufferer *sufferer;
	unsigned int state; /* WHERE_MEMORY stands for page faults, too */
	double ns;
};

static double ns_of(const struct where_account *row, unsigned int state)
{
	return row->waited_ns[state] + (state == WHERE_MEMORY ? row->waited_ns[WHERE_FAULT] : 0);
}

/* ---- what it waited for ---- */

static const char *const waited_for[WHERE_STATES] = {
	[WHERE_READY] = "was ready to run and had no CPU",
	[WHERE_DISK] = "waited for a disk",
	[WHERE_MEMORY] = "waited for memory",
	[WHERE_LOCK] = "waited for a lock of the kernel",
	[WHERE_FUTEX] = "waited for a lock of its own (futex)",
	[WHERE_SOCKET] = "waited for answers (sockets, pipes)",
	[WHERE_OTHER] = "waited in the kernel",
};

static void say_wait(struct wrap *wrap, const struct answer *answer, unsigned int state)
{
	const char *disk = state == WHERE_DISK ? reasons__disk(&answer->reasons) : NULL;

	if (disk)
		wrap__add(wrap, "waited for disk %s", disk);
	else
		wrap__add(wrap, "%s", waited_for[state]);
}

/* ---- because of what ---- */

static const char *const meanwhile[WHERE_STATES] = {
	[WHERE_CPU] = "worked",
	[WHERE_READY] = "waited for a CPU",
	[WHERE_DISK] = "waited for a disk",
	[WHERE_MEMORY] = "waited for memory",
	[WHERE_FAULT] = "was in a page fault",
	[WHERE_LOCK] = "waited for a lock of the kernel",
	[WHERE_FUTEX] = "waited for another lock",
	[WHERE_SOCKET] = "waited for an answer",
	[WHERE_WORK] = "waited for work",
	[WHERE_TIMER] = "slept (timer)",
	[WHERE_CHILD] = "waited for a child",
	[WHERE_STOPPED] = "was stopped",
};

/* Who ended the waits, "mysqld: disk": the last thread, and what it did meanwhile. */
static void say_ender(char out[CLAUSE], const struct reason *reason)
{
	const char *last = waits__last_link(reason->kind + strlen("ended by "));
	const char *state = strstr(last, ": ");
	int len;

	len = state ? (int)(state - last) : (int)strlen(last);
	if (!reason->is_named && !state)
		snprintf(out, CLAUSE, "it waited until %.*s ended it,", len, last);
	else if (state && where_state(state + 2) >= 0 && meanwhile[where_state(state + 2)])
		snprintf(out, CLAUSE, "it waited for %.*s, which %s,", len, last,
			 meanwhile[where_state(state + 2)]);
	else
		snprintf(out, CLAUSE, "it waited for %.*s", len, last);
}

/* Of a probe that explains waits. */
static void say_part(char out[CLAUSE], const struct reason *reason)
{
	const struct why_part *part = reason->part;

	if (reason->is_named && part->of_quota)
		snprintf(out, CLAUSE, "%s was used up", reason->who);
	else if (reason->is_named && part->with)
		/* flawfinder: ignore: a constant of the probe, with one %s */
		snprintf(out, CLAUSE, part->with, reason->who);
	else
		snprintf(out, CLAUSE, "%s%s", part->of_quota ? "it was " : "",
			 part->without ? part->without : reason->text);
}

struct clause {
	char text[CLAUSE];
	const struct reason *reason;
	double share;
};

/* Reasons of which the same is said are one. Returns how many there are. */
static size_t list_clauses(struct clause clauses[CLAUSES], const struct reason *list, size_t nr)
{
	size_t known = 0;

	for (size_t i = 0; i < nr; i++) {
		struct clause clause = { .reason = &list[i], .share = list[i].share };
		size_t at = 0;

		if (list[i].part)
			say_part(clause.text, &list[i]);
		else
			say_ender(clause.text, &list[i]);
		while (at < known && strcmp(clauses[at].text, clause.text) != 0)
			at++;
		if (at < known)
			clauses[at].share += clause.share;
		else if (known < CLAUSES)
			clauses[known++] = clause;
	}
	return known;
}

/* Is the same said of both: "backup had the CPU for 52 % of that, cc1 for 45 %"? */
static bool are_alike(const struct reason *one, const struct reason *other)
{
	return one->part && one->part == other->part && one->is_named && other->is_named;
}

static void add_reasons(struct wrap *wrap, const struct reason *list, size_t nr)
{
	struct clause clauses[CLAUSES];
	size_t shown = 0;

	nr = list_clauses(clauses, list, nr);
	for (size_t i = 0; i < nr && shown < REASONS_SHOWN; i++) {
		double percent = 100 * fmin(clauses[i].share, 1);

		if (clauses[i].share < LEAST_REASON)
			continue;
		if (shown && are_alike(list, clauses[i].reason))
			wrap__add(wrap, ", %s for %.0f %%", clauses[i].reason->who, percent);
		else
			wrap__add(wrap, "%s%s for %.0f %%%s", shown ? ", and " : "; ",
				  clauses[i].text, percent, shown ? "" : " of that");
		shown++;
	}
}

static void print_finding(FILE *out, const struct answer *answer, const struct finding *finding)
{
	const struct where_account *row = finding->sufferer->row;
	char time[UNITS_TEXT];
	struct reason *list = NULL;
	struct limit limit;
	struct wrap wrap = { 0 };
	size_t nr;

	wrap__add(&wrap, "%s ", row->name);
	say_wait(&wrap, answer, finding->state);
	wrap__add(&wrap, " for %s of its life",
		  accounts__percent(time, accounts__share(finding->ns, row->life_ns)));
	wrap__add(&wrap, " (%s)", units__ns(time, finding->ns));
	nr = reasons__list(&answer->reasons, row, finding->state, &list);
	/* Reasons are of all sleeps of the state, a finding only of those that were waits. */
	for (size_t i = 0; i < nr && finding->ns < row->ns[finding->state]; i++)
		list[i].share *= row->ns[finding->state] / finding->ns;
	if (finding->state == WHERE_MEMORY && limits__find(&limit, &answer->reasons, row))
		wrap__add(&wrap, "; for %.0f %% of that because of %s", 100 * limit.share,
			  limit.who);
	else
		add_reasons(&wrap, list, nr);
	wrap__add(&wrap, ".");
	wrap__print(&wrap, out, 0, 2);
	free(list);
}

/* ---- which waits ---- */

static int longest_first(const void *left, const void *right)
{
	double a = ((const struct finding *)left)->ns, b = ((const struct finding *)right)->ns;

	return a < b ? 1 : a > b ? -1 : 0;
}

/* Its longest waits; returns how many. */
static size_t list_findings(const struct sufferer *sufferer, double least_ns,
			    struct finding found[WHERE_STATES])
{
	size_t nr = 0;

	for (unsigned int state = 0; state < WHERE_STATES; state++) {
		double ns = ns_of(sufferer->row, state);

		if (where_is_wait(state) && state != WHERE_FAULT && ns >= least_ns)
			found[nr++] = (struct finding){ sufferer, state, ns };
	}
	qsort(found, nr, sizeof(*found), longest_first);
	return nr < OF_ONE ? nr : OF_ONE;
}

/* Of what those waited who are no culprits themselves. */
static void print_most_blamed(FILE *out, const struct answer *answer)
{
	const struct culprit *most = answer->blame.culprits;
	char time[UNITS_TEXT], all[UNITS_TEXT];
	struct wrap wrap = { 0 };
	double suffered_ns = 0;

	for (size_t i = 0; i < answer->accounts.nr; i++)
		if (!answer->blame.rows[i].is_culprit)
			suffered_ns += blame__suffered_ns(&answer->blame.rows[i]);
	if (!answer->blame.nr_culprits || most->victims_ns < LEAST_REASON * suffered_ns)
		return;
	wrap__add(&wrap, "%s is behind %.0f %% of the waiting of others (%s of %s).", most->who,
		  100 * accounts__share(most->victims_ns, suffered_ns),
		  units__ns(time, most->victims_ns), units__ns(all, suffered_ns));
	if (!strncmp(wrap.text, "the ", strlen("the ")))
		wrap.text[0] = 'T';
	wrap__print(&wrap, out, 0, 2);
}

void sentences__print(FILE *out, const struct answer *answer, unsigned int most)
{
	double least_ns = LEAST_NS_SHARE * (double)answer->run->duration_ns;
	unsigned int printed = 0;

	if (answer->accounts.nr > 1 && !answer->probe->filter)
		print_most_blamed(out, answer);
	for (size_t i = 0; i < answer->accounts.nr && printed < most; i++) {
		const struct sufferer *sufferer = &answer->blame.rows[i];
		struct finding found[WHERE_STATES];
		size_t nr = 0;

		if (!sufferer->order ||
		    (!sufferer->is_culprit && blame__suffered_ns(sufferer) >= least_ns))
			nr = list_findings(sufferer, least_ns, found);
		for (size_t n = 0; n < nr && printed < most; n++) {
			if (found[n].ns < least_ns)
				break;
			least_ns = fmax(least_ns, LEAST_OF_FIRST * found[n].ns);
			print_finding(out, answer, &found[n]);
			printed++;
		}
	}
	if (!printed)
		fputs("Nobody waited for others for more than 1 % of the time.\n", out);
}
