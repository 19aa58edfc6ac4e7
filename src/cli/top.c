// SPDX-License-Identifier: BSD-2-Clause
#include "top.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <store/rundb.h>
#include <tui/replay.h>

#include "cmd.h"
#include "log.h"
#include "output.h"

#define SECOND_NS 1000000000ULL

static bool chooses_probes(const struct options *options)
{
	const struct target *target = &options->target;

	return options->duration_ns || options->interval_ns || options->by || options->method ||
	       options->metric || options->tails.ns || options->tails.nr || options->output ||
	       target->pid || target->tid || target->cgroup || target->comm || target->cpus ||
	       target->disk;
}

int top__check(struct top_command *command)
{
	struct options *options = command->options;

	if (command->replay && (chooses_probes(options) || command->adds_probe))
		return options__fail(options, "--replay shows what was recorded; leave out the "
					      "options of a measurement");
	if (!options->by) {
		command->default_splits = true;
		options->by = 1U << LAT_BY_PROCESS | 1U << LAT_BY_CGROUP | 1U << LAT_BY_DISK;
	}
	if (!options->interval_ns)
		options->interval_ns = SECOND_NS;
	return 0;
}

static int check_terminal(void)
{
	char why[RUN_TEXT];
	const char *todo;

	if (!terminal__check(why, &todo))
		return EXIT_DONE;
	log__error("cannot show a screen", why, todo);
	return EXIT_ERROR;
}

int top__replay(const struct top_command *command)
{
	struct replay *replay = NULL;
	int code = check_terminal(), err;

	if (code)
		return code;
	err = replay__new(&replay, command->replay);
	if (!err)
		err = replay__run(replay);
	replay__free(replay);
	if (err)
		log__error(command->replay, rundb__explain(err),
			   err == -ENOENT ? "give the directory of a recording, or its run.db"
					  : NULL);
	return err ? EXIT_ERROR : EXIT_DONE;
}

/*
 * The command line of a recording: the same options, except those that only top has. NULL: out of
 * memory.
 */
static char **record_line(const struct top_command *command, int argc, char **argv)
{
	char **line = calloc((size_t)argc + 8, sizeof(*line));
	int nr = 0;

	if (!line)
		return NULL;
	line[nr++] = "latscope";
	line[nr++] = "record";
	if (!command->without_why)
		line[nr++] = "--why";
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], "--no-why"))
			line[nr++] = argv[i];
	if (command->default_splits) {
		line[nr++] = "--by";
		line[nr++] = "process,cgroup,disk";
	}
	if (!command->options->output) {
		line[nr++] = "-o";
		line[nr++] = OUTPUT_DIR;
	}
	return line;
}

/* A file in memory takes the errors while there is a screen. */
static int hold_errors(struct top_command *command)
{
	int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	int file = memfd_create("latscope", MFD_CLOEXEC);
	int err = kept < 0 || file < 0 || dup2(file, STDERR_FILENO) < 0 ? -errno : 0;

	if (file >= 0)
		close(file);
	if (kept >= 0 && err)
		close(kept);
	command->errors = err ? 0 : kept;
	return err;
}

/* Only by calls that the filter of system calls allows. */
static void print_errors(struct top_command *command)
{
	char text[4096];
	off_t at = 0;
	ssize_t got;

	while ((got = pread(STDERR_FILENO, text, sizeof(text), at)) > 0) {
		at += got;
		if (write(command->errors, text, (size_t)got) != got)
			break;
	}
	dup2(command->errors, STDERR_FILENO);
	close(command->errors);
	command->errors = 0;
}

static int open_screen(struct top_command *command)
{
	int err = hold_errors(command);

	if (!err)
		err = live__open(command->live, command->without_why ? "loading the probes ..."
								     : "loading why ...");
	if (!err)
		return EXIT_DONE;
	top__hide(command);
	log__error("cannot show a screen", strerror(-err), NULL);
	return EXIT_ERROR;
}

int top__begin(struct top_command *command, int argc, char **argv)
{
	int code = check_terminal(), err;
	char **line;

	if (code)
		return code;
	command->live = calloc(1, sizeof(*command->live));
	line = record_line(command, argc, argv);
	err = command->live && line ? tui_recorder__begin(&command->live->recorder, line) : -ENOMEM;
	free(line);
	if (err) {
		log__error("top", strerror(-err), NULL);
		return EXIT_ERROR;
	}
	command->live->where = command->options->output ? command->options->output : OUTPUT_DIR;
	return open_screen(command);
}

int top__show(struct top_command *command, const struct run *run, struct recording *recording,
	      struct session_config *config)
{
	int err = live__show(command->live, run);

	if (err) {
		top__hide(command);
		log__error("cannot show a screen", strerror(-err), NULL);
		return EXIT_ERROR;
	}
	recording__add(recording, &writer_screen)->state = command->live;
	config->watcher = &command->live->watcher;
	return EXIT_DONE;
}

void top__hide(struct top_command *command)
{
	if (!command->live)
		return;
	live__close(command->live);
	if (command->errors)
		print_errors(command);
}

void top__end(struct top_command *command)
{
	top__hide(command);
	if (command->live)
		tui_recorder__end(&command->live->recorder);
	free(command->live);
	command->live = NULL;
}
