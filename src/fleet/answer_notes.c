// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/hist.h>
#include <core/units.h>

#include "answer.h"

#define LISTED 5 /* hosts with the same problem that are named */
#define LEAST_COVERED 0.95 /* of the time between the first and the last interval of a host */
#define MOST_COVERED 1.05
#define SLACK_S 120 /* intervals at both ends */
#define SHOWN_LOST 0.001
#define NS 1e9

/* A problem that hosts may have: describes it in `text`, or returns false. */
typedef bool problem_of(const struct fleet_host *host, char text[RUN_TEXT]);

static bool refused(const struct fleet_host *host, char text[RUN_TEXT])
{
	if (host->refused)
		snprintf(text, RUN_TEXT,
			 "%.64s reports what cannot be true (%s): %llu of its intervals are left "
			 "out",
			 host->name, host->refused_why, (unsigned long long)host->refused);
	return host->refused;
}

static bool ahead(const struct fleet_host *host, char text[RUN_TEXT])
{
	char time[UNITS_TEXT];

	if (host->ahead)
		snprintf(
			text, RUN_TEXT,
			"the clock of %.64s is ahead by up to %s: %llu of its intervals lie in the "
			"future and are left out",
			host->name, units__ns(time, (double)host->ahead_s * NS),
			(unsigned long long)host->ahead);
	return host->ahead;
}

static bool twice(const struct fleet_host *host, char text[RUN_TEXT])
{
	if (host->twice)
		snprintf(text, RUN_TEXT,
			 "%llu recordings of %.64s are there more than once, and count once",
			 (unsigned long long)host->twice, host->name);
	return host->twice;
}

static double span_of(const struct fleet_host *host)
{
	return host->first_s < host->last_s ? (double)(host->last_s - host->first_s) : 0;
}

static bool gaps(const struct fleet_host *host, char text[RUN_TEXT])
{
	double span = span_of(host), covered = (double)host->covered_ns / NS;
	char share[UNITS_TEXT];
	bool has = span > 0 && covered + SLACK_S < span * LEAST_COVERED;

	if (has)
		snprintf(text, RUN_TEXT,
			 "%.64s has data for only %s of the time between its first and its last "
			 "interval",
			 host->name, units__ratio(share, covered / span));
	return has;
}

static bool overlaps(const struct fleet_host *host, char text[RUN_TEXT])
{
	double span = span_of(host), covered = (double)host->covered_ns / NS;
	bool has = span > 0 && covered > span * MOST_COVERED + SLACK_S;

	if (has)
		snprintf(text, RUN_TEXT,
			 "%.64s has data for more time than has passed: more than one machine may "
			 "have this name, or recordings overlap",
			 host->name);
	return has;
}

static int add_problems(struct fleet_answer *answer, problem_of *problem, const char *others)
{
	const struct fleet_data *data = answer->data;
	char text[RUN_TEXT];
	size_t found = 0;
	int err = 0;

	for (size_t i = 0; !err && i < data->nr_hosts; i++) {
		if (!problem(&data->hosts[i], text))
			continue;
		if (++found <= LISTED)
			err = notes__add(&answer->notes, "%s", text);
	}
	if (!err && found > LISTED)
		err = notes__add(&answer->notes, "%zu more hosts %s", found - LISTED, others);
	return err;
}

static int add_lost(struct fleet_answer *answer)
{
	const struct fleet_data *data = answer->data;
	uint64_t recorded = 0, lost = 0;
	size_t unknown = 0;
	char share[UNITS_TEXT];
	int err = 0;

	for (size_t i = 0; i < data->nr_hosts; i++) {
		recorded += data->hosts[i].recorded;
		lost += data->hosts[i].lost;
		unknown += data->hosts[i].in && !data->hosts[i].lost_known;
	}
	if ((double)lost >= SHOWN_LOST * (double)(recorded + lost) && lost)
		err = notes__add(&answer->notes, "MISSING: %s of the events were not measured",
				 units__share(share, lost, recorded + lost));
	if (!err && unknown)
		err = notes__add(
			&answer->notes,
			"how many events were not measured is not known for %zu of %zu hosts",
			unknown, answer->hosts);
	return err;
}

static int add_methods(struct fleet_answer *answer)
{
	const struct fleet_list *list = &answer->data->methods;
	char text[RUN_TEXT] = "";
	size_t used = 0;

	if (list->nr < 2)
		return 0;
	for (size_t i = 0; i < list->nr && used < sizeof(text); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i ? ", " : "",
					 list->methods[i]);
	return notes__add(&answer->notes,
			  "hosts use different methods (%s), which may differ in what they measure",
			  text);
}

/* The pooled percentiles are then mostly those of one host. */
static int add_dominant(struct fleet_answer *answer)
{
	const struct fleet_data *data = answer->data;
	uint64_t *events = calloc(data->nr_hosts + 1, sizeof(*events)), all = 0;
	char share[UNITS_TEXT];
	int err = events ? 0 : -ENOMEM;

	for (size_t i = 0; !err && i < data->nr; i++) {
		events[data->cells[i].host] += sparse__count(&data->cells[i].hist);
		all += sparse__count(&data->cells[i].hist);
	}
	for (size_t i = 0; !err && i < data->nr_hosts && answer->hosts > 2; i++)
		if (events[i] > all / 2)
			err = notes__add(&answer->notes,
					 "%.64s alone has %s of the events: percentiles are mostly "
					 "its own",
					 data->hosts[i].name, units__share(share, events[i], all));
	free(events);
	return err;
}

static int add_caveats(struct fleet_answer *answer)
{
	int err = 0;

	if (answer->question->kind != FLEET_COMPARE)
		return 0;
	if (answer->both)
		err = notes__add(&answer->notes,
				 "%zu hosts are on both sides: each is compared with itself",
				 answer->both);
	if (!err && answer->both < answer->hosts)
		err = notes__add(&answer->notes,
				 "hosts were not assigned to the sides by chance: a difference may "
				 "come from something else that differs between them");
	else if (!err)
		err = notes__add(
			&answer->notes,
			"the sides were not assigned by chance: a difference may come from "
			"something else that changed");
	return err;
}

static int add_unknown(struct fleet_answer *answer)
{
	const struct fleet_data *data = answer->data;

	for (size_t i = 0; i < data->nr_hosts; i++)
		if (!strcmp(data->hosts[i].name, "(unknown)"))
			return notes__add(
				&answer->notes,
				"recordings without the name of a host count as one host");
	return 0;
}

int fleet_answer__add_notes(struct fleet_answer *answer)
{
	const struct notes *found = &answer->data->notes;
	int err = 0;

	for (size_t i = 0; !err && i < found->nr; i++)
		err = notes__add(&answer->notes, "%s", found->lines[i]);
	if (!err)
		err = add_problems(answer, refused, "report what cannot be true");
	if (!err)
		err = add_problems(answer, ahead, "have clocks that are ahead");
	if (!err)
		err = add_problems(answer, twice, "have recordings that are there more than once");
	if (!err)
		err = add_problems(answer, gaps, "have gaps");
	if (!err)
		err = add_problems(answer, overlaps, "have data for more time than has passed");
	if (!err)
		err = add_unknown(answer);
	if (!err)
		err = add_lost(answer);
	if (!err)
		err = add_methods(answer);
	if (!err)
		err = add_dominant(answer);
	return err ? err : add_caveats(answer);
}
