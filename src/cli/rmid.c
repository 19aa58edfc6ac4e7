// SPDX-License-Identifier: BSD-2-Clause
/* The options of rmid, and opening it as part of a session. */
#include "rmid.h"

#include <errno.h>
#include <string.h>

#include <core/arch.h>
#include <probes/rmid/conflict.h>
#include <probes/rmid/counters.h>

#include "cmd.h"
#include "log.h"

#define MAX_TOP 1000000
#define METHOD_OF_X86 "module" /* the kernel module is for x86-64 only */
#define METHOD_OF_ALL "switches"

enum { KEY_COUNTERS = 0x1000, KEY_METHOD, KEY_TOP };

#define COUNTERS "cycles, instructions, llc-misses, llc-references, branch-misses, page-faults"
#define COUNTERS_HELP \
	"Perf events to read, up to 4 of " COUNTERS ", or none (the first three, if they are there)"

const struct argp_option rmid_options[] = {
	{ "counters", KEY_COUNTERS, "LIST", 0, COUNTERS_HELP, 0 },
	{ "method", KEY_METHOD, "NAME", 0, "Measure in this way and no other: module or switches",
	  0 },
	{ "top", KEY_TOP, "N", 0, "Processes that are shown (10)", 0 },
	{ 0 },
};

static error_t set_counters(struct rmid_command *command, const char *list)
{
	command->counters_given = true;
	if (!strcmp(list, "none")) {
		command->counters = 0;
		return 0;
	}
	switch (counters__parse(list, &command->counters)) {
	case 0:
		return 0;
	case -E2BIG:
		return options__fail(command->options, "--counters '%s': %d at most", list,
				     RMID_COUNTERS);
	default:
		return options__fail(command->options,
				     "--counters '%s': none, or some of " COUNTERS " is wanted",
				     list);
	}
}

error_t rmid__parse(struct rmid_command *command, int key, char *arg)
{
	uint64_t value = 0;
	int err;

	switch (key) {
	case KEY_COUNTERS:
		return set_counters(command, arg);
	case KEY_METHOD:
		command->method = arg;
		return 0;
	case KEY_TOP:
		err = options__count(command->options, "--top", arg, 1, MAX_TOP, &value);
		command->options->top = (unsigned int)value;
		return err;
	}
	return ARGP_ERR_UNKNOWN;
}

static int ready(void *state)
{
	return rmid__ready(state);
}

static void start(void *state, uint64_t start_mono_ns)
{
	rmid__start(state, start_mono_ns);
}

static int poll(void *state, struct table *table)
{
	return rmid__poll(state, table);
}

static int interval(void *state, struct table *table, uint64_t end_ns)
{
	(void)end_ns;
	return rmid__interval(state, table);
}

static int stop(void *state, struct table *table, uint64_t end_mono_ns)
{
	return rmid__stop(state, table, end_mono_ns);
}

static int describe(const void *state, struct run_probe *probe)
{
	return rmid__describe(state, probe);
}

/* A method that nobody knows is wrong usage, what the machine lacks is not. */
static int explain(const struct rmid_command *command, int err)
{
	char text[RUN_TEXT];

	if (err == -EINVAL) {
		snprintf(text, sizeof(text), "no method '%.64s'", command->method);
		log__usage(command->options->command, text);
		return EXIT_USAGE;
	}
	log__error(RMID_PROBE, strerror(-err), NULL);
	return EXIT_ERROR;
}

static void warn_of_conflict(const struct rmid *rmid)
{
	const struct conflict *conflict = rmid__uses_rdt(rmid) ? conflict__find("") : NULL;

	if (conflict)
		log__warn("figures of caches may be wrong, RDT is for one at a time", conflict->why,
			  conflict->todo);
}

bool rmid__wants_x86(const char *method)
{
	return method && !strcmp(method, METHOD_OF_X86);
}

static int refuse(const struct rmid_command *command, struct session *session, const char *why)
{
	session__add_refused(session, RMID_PROBE, why);
	log__refused(RMID_PROBE, command->method, probe__reason(why, command->method));
	return EXIT_DONE;
}

int rmid__add(struct rmid_command *command, struct session *session)
{
	struct rmid_config config = {
		.method = command->method,
		.counters =
			command->counters_given ? command->counters : (1U << COUNTERS_DEFAULT) - 1,
		.counters_optional = !command->counters_given,
	};
	char why[RUN_TEXT];
	int err;

	if (arch__not_x86() && rmid__wants_x86(command->method))
		return refuse(command, session, arch__not_x86());
	if (arch__not_x86() && !command->method)
		config.method = METHOD_OF_ALL;
	err = rmid__open(&command->rmid, &config, why);
	if (err == -EOPNOTSUPP || err == -ENOENT)
		return refuse(command, session, why);
	if (err)
		return explain(command, err);
	if (why[0])
		log__warn("rmid goes by process, not by RMID", why, NULL);
	warn_of_conflict(command->rmid);
	command->source = (struct session_source){
		.state = command->rmid,
		.poll_ns = RMID_POLL_NS,
		.ready = ready,
		.start = start,
		.poll = poll,
		.stop = stop,
		.interval = interval,
		.describe = describe,
	};
	err = session__add_source(session, &command->source);
	return err ? explain(command, err) : EXIT_DONE;
}
