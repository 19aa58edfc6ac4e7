// SPDX-License-Identifier: BSD-2-Clause
#include "chains.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/sanitize.h>
#include <core/units.h>
#include <latscope/why.h>

#include "view_states.h"

int chains__new(struct chains **out)
{
	struct chains *chains = calloc(1, sizeof(*chains));

	if (chains)
		chains->kept = calloc(CHAINS_KEPT, sizeof(*chains->kept));
	if (!chains || !chains->kept) {
		free(chains);
		return -ENOMEM;
	}
	*out = chains;
	return 0;
}

void chains__free(struct chains *chains)
{
	if (chains)
		free(chains->kept);
	free(chains);
}

void chains__add(struct chains *chains, const struct where_part *part)
{
	uint64_t *head = &chains->heads[part->tid % CHAINS_HEADS];
	struct kept *kept = &chains->kept[++chains->nr % CHAINS_KEPT];

	kept->part = *part;
	kept->before = *head;
	*head = chains->nr;
}

static uint64_t overlap(const struct where_part *part, uint64_t from, uint64_t to)
{
	uint64_t begin = part->begin_ns > from ? part->begin_ns : from;
	uint64_t end = part->end_ns < to ? part->end_ns : to;

	return end > begin ? end - begin : 0;
}

/* The part of the thread that takes most of this time; NULL: none was long. */
static const struct where_part *longest(const struct chains *chains, uint32_t tid, uint64_t from,
					uint64_t to)
{
	const struct where_part *most = NULL;
	uint64_t number = chains->heads[tid % CHAINS_HEADS];

	while (number && number + CHAINS_KEPT > chains->nr) {
		const struct kept *kept = &chains->kept[number % CHAINS_KEPT];

		if (kept->part.tid == tid) {
			if (kept->part.end_ns <= from)
				break;
			if (!most || overlap(&kept->part, from, to) > overlap(most, from, to))
				most = &kept->part;
		}
		number = kept->before;
	}
	return most && overlap(most, from, to) ? most : NULL;
}

/* A kernel thread that has nothing to do: whoever gave it work did not end an earlier wait. */
static bool is_idle(uint32_t what)
{
	return what == WHERE_WHAT(WHERE_WORK, WHERE_NO_CALL);
}

/*
 * A sleep for a time or for a disk ends in an interrupt, or in the thread that does the work of
 * interrupts: there is nothing to tell.
 */
static bool ends_alone(uint32_t what, uint32_t source, const char *waker)
{
	return (WHERE_STATE(what) == WHERE_TIMER || WHERE_STATE(what) == WHERE_DISK) &&
	       (source != WHY_NO_SOURCE || !strncmp(waker, "ksoftirqd/", strlen("ksoftirqd/")));
}

void chains__walk(const struct chains *chains, const struct where_part *part, struct chain *chain)
{
	uint64_t from = part->begin_ns, to = part->end_ns;

	memset(chain, 0, sizeof(*chain));
	for (;;) {
		struct chain_link *link = &chain->links[chain->nr++];

		link->tid = part->tid;
		link->tgid = part->tgid;
		link->what = part->what;
		memcpy(link->comm, part->comm, sizeof(link->comm));
		link->begin_ns = from;
		link->ns = to - from;
		chain->source = part->waker_source;
		chain->tid = part->waker_tid;
		memcpy(chain->comm, part->waker_comm, sizeof(chain->comm));
		if (!WHERE_IS_SLEEP(part->what) || !part->waker_tid || chain->nr == CHAINS_DEPTH ||
		    ends_alone(part->what, part->waker_source, part->waker_comm))
			return;
		part = longest(chains, part->waker_tid, from, to);
		if (!part || is_idle(part->what))
			return;
		from = part->begin_ns > from ? part->begin_ns : from;
		to = part->end_ns < to ? part->end_ns : to;
	}
}

void chain__find_disk(struct chain *chain)
{
	const struct chain_link *last = &chain->links[chain->nr - 1];
	const struct why_served *request;

	if (chain->disk[0] || WHERE_STATE(last->what) != WHERE_DISK)
		return;
	request = why_requests__find(last->tid, last->begin_ns, last->begin_ns + last->ns);
	if (request)
		why_requests__text(request, last->ns, chain->disk);
}

/* Is this a wait for something that was short? */
static bool is_short_of(const struct chain *chain, unsigned int link)
{
	switch (WHERE_STATE(chain->links[link].what)) {
	case WHERE_DISK:
	case WHERE_MEMORY:
	case WHERE_FAULT:
	case WHERE_LOCK:
	case WHERE_READY:
		return true;
	case WHERE_CPU:
		return link;
	case WHERE_OTHER:
		return !link;
	case WHERE_TIMER:
		return link && WHERE_STATE(chain->links[0].what) == WHERE_FUTEX &&
		       chain->links[0].tgid == chain->links[link].tgid;
	default:
		return false;
	}
}

uint64_t chain__explained_ns(const struct chain *chain)
{
	for (unsigned int i = 0; i < chain->nr; i++)
		if (is_short_of(chain, i))
			return chain->links[i].ns;
	return 0;
}

/* ---- as text ---- */

static void name_task(const char *comm, uint32_t tid, char out[RUN_NAME])
{
	char raw[LAT_COMM_LEN + 1] = "", clean[LAT_COMM_LEN + 1];

	memcpy(raw, comm, LAT_COMM_LEN);
	snprintf(out, RUN_NAME, "%s (%u)", sanitize__text(clean, sizeof(clean), raw), tid);
}

static bool ended_by_task(const struct chain *chain)
{
	const struct chain_link *last = &chain->links[chain->nr - 1];

	return WHERE_IS_SLEEP(last->what) && chain->source == WHY_NO_SOURCE && chain->tid;
}

static void say_end(FILE *out, const struct chain *chain, const struct names *names,
		    const char *before)
{
	const struct chain_link *last = &chain->links[chain->nr - 1];
	char name[RUN_NAME];

	if (!WHERE_IS_SLEEP(last->what) ||
	    (chain->nr > 1 && ends_alone(last->what, chain->source, chain->comm)))
		return;
	if (ended_by_task(chain))
		name_task(chain->comm, chain->tid, name);
	else if (chain->source != WHY_NO_SOURCE)
		names__source(names, chain->source, name);
	else
		return;
	fprintf(out, "%s%s", before, name);
}

const char *chain__text(const struct chain *chain, const struct names *names,
			char text[CHAINS_TEXT])
{
	FILE *out = fmemopen(text, CHAINS_TEXT, "w");
	char name[RUN_NAME], ns[UNITS_TEXT];

	text[0] = '\0';
	if (!out)
		return text;
	for (unsigned int i = 1; i < chain->nr; i++) {
		const struct chain_link *link = &chain->links[i];

		name_task(link->comm, link->tid, name);
		fprintf(out, "%s%s: %s %s", i > 1 ? " < " : "", name,
			where_states[WHERE_STATE(link->what)], units__ns(ns, (double)link->ns));
	}
	if (chain->disk[0])
		fprintf(out, "%s%s", chain->nr > 1 ? " < " : "", chain->disk);
	else
		say_end(out, chain, names, chain->nr > 1 ? " < " : "");
	fclose(out);
	return text;
}

const char *chain__cause(const struct chain *chain, const struct names *names,
			 char text[CHAINS_TEXT])
{
	FILE *out = fmemopen(text, CHAINS_TEXT, "w");
	char name[RUN_NAME];

	text[0] = '\0';
	if (!out)
		return text;
	for (unsigned int i = 1; i < chain->nr; i++) {
		name_task(chain->links[i].comm, chain->links[i].tid, name);
		fprintf(out, "%s%s: %s", i > 1 ? " < " : "", name,
			where_states[WHERE_STATE(chain->links[i].what)]);
	}
	say_end(out, chain, names, chain->nr > 1 ? " < " : "");
	fclose(out);
	return text;
}
