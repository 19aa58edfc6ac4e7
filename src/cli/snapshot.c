// SPDX-License-Identifier: BSD-2-Clause
/* snapshot: makes a recording of what the flight recorder of serve has. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <core/sanitize.h>
#include <serve/recorder.h>
#include <serve/snapshot.h>
#include <store/rundb.h>

#include "cmd.h"
#include "log.h"
#include "options.h"
#include "output.h"

#define LAST_NS 600000000000ULL

enum key { KEY_LAST = 0x200 };

struct command {
	struct options options;
	const char *ring;
	uint64_t last_ns;
	struct snapshot *snapshot;
	struct recording recording;
};

static const struct argp_option snapshot_options[] = {
	{ "last", KEY_LAST, "TIME", 0, "Take the last TIME (10m)", 0 },
	{ 0 },
};

static const char snapshot_doc[] =
	"Makes a recording of the last minutes that the flight recorder of 'latscope serve' has in "
	"DIR (" RECORDER_DIR "). report and compare read it. The service need not be running.\v"
	"Examples:\n"
	"  sudo latscope snapshot                    the last ten minutes, into runs/\n"
	"  sudo latscope snapshot --last 1h -o /tmp --label incident=42\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage.";

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct command *command = state->input;

	if (key == KEY_LAST)
		return options__duration(&command->options, "--last", arg, &command->last_ns);
	return ARGP_ERR_UNKNOWN;
}

static int parse(struct command *command, int argc, char **argv)
{
	const struct argp own = { .options = snapshot_options,
				  .parser = parse_own,
				  .args_doc = "[DIR]",
				  .doc = snapshot_doc };
	struct options *options = &command->options;
	int got;

	options->command = "snapshot";
	options->own_title = "Time:";
	options->groups = OPTIONS_OUTPUT;
	options->max_args = 1;
	command->last_ns = LAST_NS;
	got = options__parse(options, &own, command, argc, argv, stdout);
	log__set_level(options->quiet ? LOG_QUIET : LOG_NORMAL);
	if (got < 0)
		log__usage("snapshot", options->error);
	command->ring = options->nr_args ? options->args[0] : RECORDER_DIR;
	return got;
}

static int explain(const struct command *command, int err)
{
	char what[PATH_MAX + RUN_TEXT];

	snprintf(what, sizeof(what), "cannot read the flight recorder in %s", command->ring);
	log__error(what, err == -ENOENT ? "there is no flight recorder" : rundb__explain(err),
		   err == -EACCES ? "only root can"
		   : err == -ENOENT
			   ? "start 'latscope serve', or install the package latscope-exporter"
			   : NULL);
	return EXIT_ERROR;
}

static void describe(const struct command *command)
{
	const struct recording_settings *settings = &command->options.recording;
	struct run *run = snapshot__run(command->snapshot);

	run->nr_labels = settings->nr_labels;
	memcpy(run->labels, settings->labels, sizeof(run->labels));
	for (unsigned int i = 0; i < run->nr_labels; i++) {
		sanitize__in_place(run->labels[i].key);
		sanitize__in_place(run->labels[i].value);
	}
}

static int copy(struct command *command)
{
	const char *parent = command->options.output ? command->options.output : OUTPUT_DIR;
	size_t damaged;
	char what[64];
	int got, code;

	code = output__create(&command->recording, parent, &command->options);
	if (code)
		return code;
	describe(command);
	do {
		got = snapshot__step(command->snapshot, &command->recording);
	} while (got > 0);
	damaged = snapshot__damaged(command->snapshot);
	if (damaged) {
		snprintf(what, sizeof(what), "%zu segment%s of the flight recorder", damaged,
			 damaged == 1 ? "" : "s");
		log__warn(what, "damaged", "what cannot be read of it is missing in the recording");
	}
	if (!got) {
		output__show(&command->recording);
		return EXIT_DONE;
	}
	code = explain(command, got);
	recording__discard(&command->recording);
	return code;
}

int cmd_snapshot(int argc, char **argv)
{
	struct command command = { 0 };
	int got, dir;

	got = parse(&command, argc, argv);
	if (got)
		return got < 0 ? EXIT_USAGE : EXIT_DONE;
	dir = snapshot__find(command.ring);
	if (dir < 0)
		return explain(&command, dir);
	got = snapshot__new(&command.snapshot, dir, command.last_ns);
	close(dir);
	got = got ? explain(&command, got) : copy(&command);
	snapshot__free(command.snapshot);
	recording__free(&command.recording);
	return got;
}
