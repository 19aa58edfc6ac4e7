// SPDX-License-Identifier: BSD-2-Clause
#include "recording.h"

#include <assert.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <core/clock.h>
#include <core/sanitize.h>
#include <host/host.h>

#include "rundb.h"
#include "rundir.h"

struct writer *recording__add(struct recording *recording, const struct writer_ops *ops)
{
	struct writer *writer;

	assert(recording->nr_writers < RECORDING_WRITERS);
	writer = &recording->writers[recording->nr_writers++];
	writer->ops = ops;
	writer->dir = recording->dir[0] ? recording->rundir.at : NULL;
	writer->shown = recording->dir[0] ? recording->dir : NULL;
	return writer;
}

/* Checks the length before anything is made, with the longest possible name. */
static int check_path(const char *parent, const char *label)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/20261120T231500Z%s%.*s-1000", parent, label ? "-" : "",
		     RUNDIR_LABEL - 1, label ? label : "") >= PATH_MAX)
		return -ENAMETOOLONG;
	return rundb__check_path(path);
}

static void add_files(struct recording *recording)
{
	recording__add(recording, &writer_db)->log_pages =
		size_limits__log_pages(recording->max_size);
	recording__add(recording, &writer_csv);
	recording__add(recording, &writer_rows);
	recording__add(recording, &writer_summary);
}

int recording__create(struct recording *recording, const char *parent,
		      const struct recording_settings *settings)
{
	const char *label = NULL;
	int err;

	for (unsigned int i = 0; i < settings->nr_labels && !label; i++) {
		if (!strcmp(settings->labels[i].key, "name"))
			label = settings->labels[i].value;
	}
	err = check_path(parent, label);
	if (!err)
		err = rundir__create(&recording->rundir, parent, time(NULL), label, recording->dir,
				     sizeof(recording->dir));
	if (err) {
		recording->dir[0] = '\0';
		return err;
	}
	recording->max_size = settings->max_size;
	recording->min_free = size_limits__floor(&recording->rundir, settings->min_free);
	add_files(recording);
	return 0;
}

int recording__create_in(struct recording *recording, const struct rundir *above, const char *name)
{
	int err = rundir__create_in(&recording->rundir, above, name);

	if (err)
		return err;
	snprintf(recording->dir, sizeof(recording->dir), "%s", name);
	add_files(recording);
	return 0;
}

void recording__free(struct recording *recording)
{
	rundir__close(&recording->rundir);
}

void recording__discard(struct recording *recording)
{
	rundir__discard(&recording->rundir);
	recording->dir[0] = '\0';
}

int recording__keep_owner(struct recording *recording)
{
	return rundir__enter_for_good(&recording->rundir);
}

int recording__room(const struct recording *recording, const struct run *run)
{
	if (!recording->dir[0])
		return 0;
	return size_limits__check(&recording->rundir, run, recording->max_size,
				  recording->min_free);
}

int recording__describe(struct run *run, const struct recording_settings *settings)
{
	run->nr_labels = settings->nr_labels;
	memcpy(run->labels, settings->labels, sizeof(run->labels));
	for (unsigned int i = 0; i < run->nr_labels; i++) {
		sanitize__in_place(run->labels[i].key);
		sanitize__in_place(run->labels[i].value);
	}
	sanitize__in_place(run->workload);
	sanitize__in_place(run->filter);
	for (unsigned int i = 0; i < run->nr_probes; i++)
		sanitize__in_place(run->probes[i].filter);
	run->host = host__describe("");
	return run->host ? 0 : -ENOMEM;
}

void recording__start(struct run *run)
{
	rundir__utc(time(NULL), run->start_utc, sizeof(run->start_utc));
	run->start_mono_ns = clock__now_ns();
	run->real_offset_ns = clock__unix_ns() - run->start_mono_ns;
	run->boot_offset_ns = clock__boot_ns() - run->start_mono_ns;
}

/* Keeps the first error and the writer that caused it. */
static void note(int *first, int err, const struct writer *writer, const struct writer **failed)
{
	if (!err || *first)
		return;
	*first = err;
	if (failed)
		*failed = writer;
}

int recording__open(struct recording *recording, const struct run *run,
		    const struct writer **failed)
{
	int first = 0, err;

	rundir__enter(&recording->rundir);
	for (size_t i = 0; i < recording->nr_writers; i++) {
		struct writer *writer = &recording->writers[i];

		err = writer->ops->open ? writer->ops->open(writer, run) : 0;
		recording->states[i] = err ? RECORDING_CLOSED : RECORDING_OPEN;
		note(&first, err, writer, failed);
	}
	rundir__leave(&recording->rundir);
	return first;
}

int recording__interval(struct recording *recording, struct run *run,
			const struct run_interval *interval, const struct writer **failed)
{
	int first = 0, err;

	rundir__enter(&recording->rundir);
	for (size_t i = 0; i < recording->nr_writers; i++) {
		struct writer *writer = &recording->writers[i];

		if (recording->states[i] != RECORDING_OPEN || !writer->ops->interval)
			continue;
		err = writer->ops->interval(writer, run, interval);
		if (err)
			recording->states[i] = RECORDING_FAILED;
		note(&first, err, writer, failed);
	}
	rundir__leave(&recording->rundir);
	err = run__end_rows(run, !recording->is_endless);
	note(&first, err, NULL, failed);
	return first;
}

int recording__close(struct recording *recording, struct run *run, const struct writer **failed)
{
	bool is_said = false; /* run.db says that the recording is complete */
	int first = 0, err;

	rundir__enter(&recording->rundir);
	for (size_t i = 0; i < recording->nr_writers; i++) {
		struct writer *writer = &recording->writers[i];

		if (recording->states[i] == RECORDING_CLOSED)
			continue;
		recording->states[i] = RECORDING_CLOSED;
		err = writer->ops->close ? writer->ops->close(writer, run) : 0;
		note(&first, err, writer, failed);
		run->complete = run->complete && !err;
		if (writer->ops == &writer_db)
			is_said = run->complete;
	}
	if (is_said && !run->complete)
		writer__retract_complete(recording->rundir.at);
	rundir__leave(&recording->rundir);
	return first;
}
