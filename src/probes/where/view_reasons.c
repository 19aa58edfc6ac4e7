// SPDX-License-Identifier: BSD-2-Clause
#include "view_reasons.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/split.h>
#include <core/vec.h>

#include "columns.h"
#include "view_limits.h"
#include "view_parts.h"
#include "view_states.h"
#include "waits.h"

#define LEAST_SHARE 0.1

/* 0 or -ENOMEM */
static int read_causes(struct reasons *reasons)
{
	const struct table *table = reasons->probe->more[RUN_CAUSES];
	size_t keys = table ? table__keys(table) : 0;

	reasons->causes = calloc(keys + 1, sizeof(*reasons->causes));
	if (!reasons->causes)
		return -ENOMEM;
	for (size_t key = 0; key < keys; key++)
		reasons->causes[key] = (struct reasons_cause){
			.row = accounts__find(reasons->accounts, table__key(table, key, CAUSES_PID),
					      accounts__text(table, key, CAUSES_COMM)),
			.state = where_state(accounts__text(table, key, CAUSES_STATE)),
		};
	return 0;
}

int reasons__of(struct reasons *reasons, const struct run *run, const struct run_probe *probe,
		const struct accounts *accounts)
{
	int err;

	*reasons = (struct reasons){ .run = run, .probe = probe, .accounts = accounts };
	err = read_causes(reasons);
	for (unsigned int i = 0; !err && i < run->nr_probes; i++)
		if (run->probes[i].why && !run->probes[i].refused[0])
			err = why_summary__of(&reasons->of[i], &run->probes[i], run);
	return err;
}

void reasons__clear(struct reasons *reasons)
{
	for (unsigned int i = 0; i < RUN_PROBES; i++)
		why_summary__clear(&reasons->of[i]);
	free(reasons->causes);
}

/* ---- by the probes that explain samples ---- */

/* Does the probe explain this part? By what it knows, not by its name. */
static bool explains(const struct why_words *words, unsigned int state)
{
	switch (state) {
	case WHERE_READY:
		return words->of_cpu;
	case WHERE_DISK:
		return words->requests;
	case WHERE_FAULT:
	case WHERE_MEMORY:
		return words->nr_parts && !words->of_cpu && !words->requests;
	default:
		return false;
	}
}

bool reasons__is_of_row(const struct where_account *row, const char *name)
{
	const char *of = row->comm ? row->comm : row->cgroup;

	return of && (why_tasks__same_name(name, of) || !strcmp(name, of));
}

bool reasons__is_itself(const struct where_account *row, const struct reason *reason)
{
	return !strcmp(reason->who, "itself") ||
	       (reason->is_named && reasons__is_of_row(row, reason->who));
}

static bool is_victim(const struct reasons *reasons, const struct where_account *account,
		      const char *victim)
{
	const struct accounts *accounts = reasons->accounts;

	if (account != &accounts->all)
		return reasons__is_of_row(account, victim);
	for (size_t i = 0; i < accounts->nr; i++)
		if (reasons__is_of_row(&accounts->rows[i], victim))
			return true;
	return false;
}

struct list {
	struct reason *reasons; /* owned */
	size_t nr;
};

/*
 * Adds the share to the reason of the same kind. If their texts differ, only by IDs of tasks, that
 * reason loses its IDs. Without memory, the fresh reason is left out.
 */
static void add(struct list *list, const struct reason *fresh)
{
	for (size_t i = 0; i < list->nr; i++) {
		struct reason *known = &list->reasons[i];

		if (strcmp(known->kind, fresh->kind) != 0)
			continue;
		known->share += fresh->share;
		if (strcmp(known->text, fresh->text) != 0)
			strcpy(known->text, known->kind);
		return;
	}
	vec__append(&list->reasons, &list->nr, fresh, sizeof(*fresh));
}

static int largest_first(const void *left, const void *right)
{
	double a = ((const struct reason *)left)->share, b = ((const struct reason *)right)->share;

	return a < b ? 1 : a > b ? -1 : 0;
}

static void say_line(struct reason *reason, const struct run_probe *probe,
		     const struct why_summary *summary, const struct why_line *line)
{
	const struct why_part *part = why__named(probe->name, line->part);
	bool is_named = line->culprit && line->culprit[0] != '(';
	char culprit[WHY_CROWD];

	reason->part = part;
	reason->is_named = is_named;
	if (is_named)
		why_summary__culprit(summary, line, culprit);
	if (part->of_task && is_named && why__words(probe->name)->of_cpu) {
		snprintf(reason->text, sizeof(reason->text), "behind %s", culprit);
	} else if (part->of_quota && is_named) {
		snprintf(reason->text, sizeof(reason->text), "out of the CPU quota of %s", culprit);
	} else if (is_named && part->disk_action) {
		/* flawfinder: ignore: as the next one */
		snprintf(reason->text, sizeof(reason->text), part->disk_action, culprit);
	} else if (is_named && part->with) {
		/* flawfinder: ignore: a constant of the probe, with one %s */
		snprintf(reason->text, sizeof(reason->text), part->with, culprit);
	} else {
		snprintf(reason->text, sizeof(reason->text), "%s",
			 part->without ? part->without
			 : part->what  ? part->what
				       : line->part);
	}
	snprintf(reason->who, sizeof(reason->who), "%s",
		 is_named		      ? culprit
		 : !strcmp(line->part, "own") ? "itself"
					      : reason->text);
	if (is_named && part->of_quota)
		snprintf(reason->who, sizeof(reason->who), "the CPU quota of %s", culprit);
	else if (is_named && split__name_length(culprit) == strlen(culprit))
		snprintf(reason->who, sizeof(reason->who), "%s", line->culprit); /* of several */
}

/* What is unknown is no reason: it is what is missing to the whole. */
static bool is_unknown(const struct run_probe *probe, const struct why_line *line)
{
	return why__find_part(probe->name, line->part) == WHY_UNKNOWN;
}

static void find_lines(const struct reasons *reasons, unsigned int at,
		       const struct where_account *account, unsigned int state, struct list *list)
{
	const struct why_summary *summary = &reasons->of[at];
	const struct run_probe *probe = &reasons->run->probes[at];
	/* Waits in page faults are in other parts, too. */
	bool is_part = state == WHERE_READY || state == WHERE_DISK;
	double whole = is_part ? account->ns[state] : 0, slow = 0;

	for (size_t i = 0; i < summary->nr_names; i++)
		if (!summary->names[i].unwaited &&
		    is_victim(reasons, account, summary->names[i].victim))
			slow += (double)summary->names[i].ns;
	if (whole < slow)
		whole = slow;
	for (size_t i = 0; i < summary->nr_names; i++) {
		const struct why_line *line = &summary->names[i];
		struct reason reason;

		if (line->unwaited || is_unknown(probe, line) ||
		    !is_victim(reasons, account, line->victim))
			continue;
		reason = (struct reason){ .share = accounts__share((double)line->ns, whole) };
		say_line(&reason, probe, summary, line);
		strcpy(reason.kind, reason.text);
		add(list, &reason);
	}
}

/* ---- a full queue ---- */

static const struct why_part full_queue = {
	.name = "full",
	.with = "requests of %s filled the queue of the disk",
	.without = "its own requests filled the queue of the disk",
};

/*
 * Before it has a request, a task waits until the disk's queue has room. Those whose requests were
 * in it have caused that, each by the time that its slow ones were.
 */
static void find_full_queue(const struct reasons *reasons, unsigned int at,
			    const struct where_account *account, struct list *list)
{
	const struct why_summary *summary = &reasons->of[at];
	double full =
		accounts__share(limits__full_queue_ns(reasons, account), account->ns[WHERE_DISK]);

	for (size_t i = 0; full > 0 && i < summary->nr_names; i++) {
		const struct why_line *line = &summary->names[i];
		bool itself = account != &reasons->accounts->all &&
			      reasons__is_of_row(account, line->victim);
		struct reason reason = {
			.share =
				full * accounts__share((double)line->ns, (double)summary->total_ns),
			.part = &full_queue,
			.is_named = !itself,
		};

		why_summary__victim(summary, line, reason.who);
		if (itself)
			strcpy(reason.who, "itself");
		/* flawfinder: ignore: a constant, with one %s */
		snprintf(reason.text, sizeof(reason.text),
			 itself ? full_queue.without : full_queue.with, reason.who);
		strcpy(reason.kind, reason.text);
		add(list, &reason);
	}
}

/* ---- by who ended them ---- */

static bool is_cause_of(const struct reasons *reasons, const struct where_account *account,
			const struct reasons_cause *cause)
{
	return account == cause->row || account == &reasons->accounts->all ||
	       (cause->row && accounts__are_twins(account, cause->row));
}

/* Leaves the IDs of tasks out: "make (12): ready" to "make: ready". */
static void drop_ids(char *text)
{
	char *to = text;

	for (const char *from = text; *from;) {
		size_t digits =
			from[0] == ' ' && from[1] == '(' ? strspn(from + 2, "0123456789") : 0;

		if (digits && from[2 + digits] == ')')
			from += 3 + digits;
		else
			*to++ = *from++;
	}
	*to = '\0';
}

/* A queue for a lock: "db: futex < db: futex < db: disk" to "db: futex < db: disk". */
static void drop_repeated(char *text)
{
	char *link = text, *next;

	while ((next = strstr(link, " < "))) {
		size_t len = (size_t)(next - link);

		next += strlen(" < ");
		if (!strncmp(link, next, len) && !strncmp(next + len, " < ", strlen(" < ")))
			memmove(link, next, strlen(next) + 1);
		else
			link = next;
	}
}

/* The last thread of a chain, which made all others wait; "db: disk", if the disk did. */
static void say_root(struct reason *reason, const char *cause)
{
	const char *last = waits__last_link(cause);
	size_t len = strcspn(last, ":");

	snprintf(reason->who, sizeof(reason->who), "%s", last);
	if (!strcmp(last + len, ": disk"))
		drop_ids(reason->who);
	else if (len < sizeof(reason->who))
		reason->who[len] = '\0';
}

/* "db (7)", not "timer", "IRQ 25 (nvme0q1)" or "db: disk". */
static bool is_task(const char *who)
{
	const char *id = strrchr(who, '(');
	size_t digits = id ? strspn(id + 1, "0123456789") : 0;

	return digits && !strcmp(id + 1 + digits, ")");
}

static void find_causes(const struct reasons *reasons, const struct where_account *account,
			unsigned int state, struct list *list)
{
	const struct table *causes = reasons->probe->more[RUN_CAUSES];
	bool many = account->processes > 1;
	char cause[WHY_CROWD];

	for (size_t key = 0; causes && key < table__keys(causes); key++) {
		const char *text = accounts__text(causes, key, CAUSES_CAUSE);
		struct reason reason;

		if (reasons->causes[key].state != (int)state || !text[0] ||
		    !is_cause_of(reasons, account, &reasons->causes[key]))
			continue;
		reason = (struct reason){ .share = accounts__share(accounts__sum(causes, key,
										 CAUSES_NS),
								   account->ns[state]) };
		snprintf(cause, sizeof(cause), "%s", text);
		snprintf(reason.text, sizeof(reason.text), "ended by %s", cause);
		drop_ids(cause);
		drop_repeated(cause);
		snprintf(reason.kind, sizeof(reason.kind), "ended by %s", cause);
		if (many)
			strcpy(reason.text, reason.kind);
		say_root(&reason, text);
		reason.is_named = is_task(reason.who);
		add(list, &reason);
	}
}

/* ---- all ---- */

static void find_probe(const struct reasons *reasons, unsigned int at,
		       const struct where_account *account, unsigned int state, struct list *list)
{
	find_lines(reasons, at, account, state, list);
	if (state == WHERE_DISK)
		find_full_queue(reasons, at, account, list);
}

size_t reasons__list(const struct reasons *reasons, const struct where_account *account,
		     unsigned int state, struct reason **all)
{
	struct list list = { 0 };

	for (unsigned int i = 0; i < reasons->run->nr_probes; i++)
		if (reasons->of[i].total_ns &&
		    explains(why__words(reasons->run->probes[i].name), state))
			find_probe(reasons, i, account, state, &list);
	if (!list.nr && state != WHERE_READY && state != WHERE_CPU && !where_is_idle(state))
		find_causes(reasons, account, state, &list);
	if (list.nr)
		qsort(list.reasons, list.nr, sizeof(*list.reasons), largest_first);
	*all = list.reasons;
	return list.nr;
}

unsigned int reasons__find(const struct reasons *reasons, const struct where_account *account,
			   unsigned int state, struct reason found[REASONS_MOST])
{
	struct reason *list = NULL;
	size_t listed = reasons__list(reasons, account, state, &list);
	unsigned int nr = 0;

	for (; nr < listed && nr < REASONS_MOST && list[nr].share >= LEAST_SHARE; nr++)
		found[nr] = list[nr];
	free(list);
	return nr;
}

const char *reasons__disk(const struct reasons *reasons)
{
	const char *disk = NULL;

	for (unsigned int i = 0; i < reasons->run->nr_probes; i++) {
		const struct run_why *why = reasons->run->probes[i].why;

		for (unsigned int slow = 0; why && slow < why->nr_slowest; slow++) {
			const char *of = why->slowest[slow].disk;

			if (!explains(why__words(why->probe), WHERE_DISK) || !of[0])
				continue;
			if (disk && strcmp(disk, of))
				return NULL;
			disk = of;
		}
	}
	return disk;
}

/* The account can be of the workload alone, when the other probes measure the machine. */
static bool same_filter(const struct run_probe *one, const struct run_probe *other)
{
	return !strcmp(one->filter ? one->filter : "", other->filter ? other->filter : "");
}

const struct run_probe *reasons__probe(const struct reasons *reasons, unsigned int state)
{
	for (unsigned int i = 0; i < reasons->run->nr_probes; i++) {
		const struct run_probe *probe = &reasons->run->probes[i];

		if (!probe->refused[0] && explains(why__words(probe->name), state) &&
		    same_filter(probe, reasons->probe))
			return probe;
	}
	return NULL;
}

double reasons__faults_ns(const struct reasons *reasons)
{
	const struct run_probe *probe = reasons__probe(reasons, WHERE_FAULT);
	const struct run *run = reasons->run;
	bool is_of_run = reasons->probe >= run->probes && /* else it is of some of its tasks */
			 reasons->probe < run->probes + run->nr_probes;

	return probe && is_of_run ? (double)probe->total.metrics[0].hist.sum_ns : 0;
}
