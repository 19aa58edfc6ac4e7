// SPDX-License-Identifier: BSD-2-Clause
#include "witness.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <host/account.h>

#include "check.h"
#include "probe_checks.h"

#define OFF 33 /* a claim may be off by this part of it: 3 % */

/* Those of all probes that are built; NULL: there are no more. */
static const struct situation *nth_situation(unsigned int nth)
{
	for (size_t i = 0; probe_list[i]; i++) {
		const struct probe_checks *checks = probe_checks__of(probe_list[i]);
		const struct situation *situation = checks ? checks->situations : NULL;

		for (; situation && situation->name; situation++)
			if (!nth--)
				return situation;
	}
	return NULL;
}

const char *validate__situation(unsigned int nth)
{
	const struct situation *situation = nth_situation(nth);

	return situation ? situation->name : NULL;
}

void witness__doubt(struct witness *witness, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(witness->doubt, RUN_TEXT, format, args);
	va_end(args);
	witness->validate->doubt = witness->doubt;
}

/* Some hosts run no BPF program while certain tasks are current. */
void witness__doubt_events(struct witness *witness)
{
	const struct run_check *check = &witness->window->probe->check;

	if (check->events.known && account__disagrees(&check->events) &&
	    account__off(&check->events) < 0)
		witness__doubt(witness, "the kernel ran no program for some events of %s",
			       check->source);
}

int witness__measure(struct witness *witness, const char *probe, struct lat_config config)
{
	struct window *window = witness->window;
	int err;

	witness->validate->ops = probe__find(probe);
	witness->request.skips_stacks = true;
	witness->request.counts_latscope = true; /* it makes those that are to blame */
	window->explain = &witness->request;
	config.why = 1 + LAT_BY_PROCESS;
	err = window__measure(window, witness->validate, config);
	if (!err)
		err = why_summary__of(&witness->summary, window->probe, NULL);
	return err;
}

static bool is_of_victim(const struct witness *witness, const struct why_line *line)
{
	char name[RUN_NAME];

	snprintf(name, sizeof(name), "%s (%d)", witness->victim_name, witness->victim);
	return !strcmp(line->victim, name);
}

uint64_t witness__part_of(const struct witness *witness, const char *part, const char *begins)
{
	const struct why_summary *summary = &witness->summary;
	uint64_t ns = 0;

	for (size_t i = 0; i < summary->nr_lines; i++) {
		const struct why_line *line = &summary->lines[i];
		const char *culprit = line->culprit ? line->culprit : "";

		if (is_of_victim(witness, line) && (!part || !strcmp(line->part, part)) &&
		    !strncmp(culprit, begins, strlen(begins)))
			ns += line->ns;
	}
	return ns;
}

uint64_t witness__part(const struct witness *witness, const char *part)
{
	return witness__part_of(witness, part, "");
}

uint64_t witness__blamed(const struct witness *witness, pid_t culprit, const char *name)
{
	char text[RUN_NAME];

	snprintf(text, sizeof(text), "%s (%d)", name, culprit);
	return witness__part_of(witness, NULL, text);
}

uint64_t witness__blamed_name(const struct witness *witness, const char *name)
{
	const struct why_summary *summary = &witness->summary;
	uint64_t ns = 0;

	for (size_t i = 0; i < summary->nr_names; i++)
		if (!strcmp(summary->names[i].victim, witness->victim_name) &&
		    summary->names[i].culprit && !strcmp(summary->names[i].culprit, name))
			ns += summary->names[i].ns;
	return ns;
}

uint64_t witness__blamed_tasks(const struct witness *witness)
{
	const char *probe = witness->window->probe->name;
	uint64_t ns = 0;

	for (unsigned int part = 0; part < why__words(probe)->nr_parts; part++)
		if (why__part(probe, part)->of_task)
			ns += witness__part(witness, why__part(probe, part)->name);
	return ns;
}

void witness__claim(const struct witness *witness, const char *name, uint64_t low, uint64_t high,
		    uint64_t got)
{
	uint64_t below = low / OFF + witness->slack_ns;

	check__time(witness->validate, name, low > below ? low - below : 1,
		    high + high / OFF + witness->slack_ns, got);
}

void witness__at_most(const struct witness *witness, const char *name, uint64_t high, uint64_t got)
{
	check__time(witness->validate, name, 0, high + high / OFF + witness->slack_ns, got);
}

void witness__none(const struct witness *witness, const char *name, uint64_t got)
{
	check__time(witness->validate, name, 0, 0, got);
}

static int judge(struct validate *validate, const struct situation *situation, char why[RUN_TEXT])
{
	struct window window = { 0 };
	struct witness witness = { .validate = validate,
				   .window = &window,
				   .victim_name = "victim" };
	int err;

	validate->progress(validate->arg, situation->what);
	validate->refused = false;
	validate->doubt = NULL;
	err = situation->judge(&witness);
	validate->doubt = NULL;
	if (err)
		snprintf(why, RUN_TEXT, "%s", window.why[0] ? window.why : strerror(-err));
	why_summary__clear(&witness.summary);
	window__close(&window);
	return err;
}

int validate__why(struct validate *validate, char why[RUN_TEXT])
{
	const struct situation *situation;
	int first = 0, err;

	validate->part = validate->probe = "why";
	validate->method = NULL;
	for (unsigned int nth = 0; (situation = nth_situation(nth)); nth++) {
		if (validate->situation && strcmp(validate->situation, situation->name))
			continue;
		err = judge(validate, situation, why);
		if (err == -EINTR || (err == -EOPNOTSUPP && validate->refused))
			return err;
		if (err == -EOPNOTSUPP)
			check__skip(validate, situation->what, why);
		else if (err)
			check__error(validate, situation->what, why);
		if (!first && err != -EOPNOTSUPP)
			first = err;
	}
	return first;
}
