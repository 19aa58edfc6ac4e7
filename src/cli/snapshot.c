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

struct command {
	struct options options;
	const char *ring;
	uint64_t last_ns;
	struct snapshot *snapshot;
	struct recording recording;
};

#define OWN struct command

static const struct option_row snapshot_rows[] = {
	{ "last", 0, "TIME", "Take the last TIME (10m)", OPT_DURATION(last_ns) },
	{ 0 },
};

static const char snapshot_doc[] =
	"Makes a recording of the last minutes that the flight recorder of 'latscope serve' has in "
	"DIR (" RECORDER_DIR "). report and compare read it. The service need not be running.\v"
	"Examples:\n"
	"  sudo latscope snapshot                    the last ten minutes, into runs/\n"
	"  sudo latscope snapshot --last 1h -o /tmp --label incident=42\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage.";

static const struct usage snapshot_usage = {
	.groups = OPTIONS_OUTPUT,
	.rows = snapshot_rows,
	.title = "Time:",
	.args = "[DIR]",
	.doc = snapshot_doc,
	.max_args = 1,
};

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
	struct command command = { .last_ns = LAST_NS };
	int got = options__begin(&command.options, &snapshot_usage, &command, argc, argv), dir;

	if (got != OPTIONS_RUN)
		return got;
	command.ring = command.options.nr_args ? command.options.args[0] : RECORDER_DIR;
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
