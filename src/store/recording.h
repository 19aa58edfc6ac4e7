/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a command keeps of its window: a new directory and the writers that fill it, and whatever
 * the command adds to them. A session drives it, or a command that has none.
 */
#ifndef LATSCOPE_STORE_RECORDING_H
#define LATSCOPE_STORE_RECORDING_H

#include <limits.h>

#include <core/run.h>

#include "rundir.h"
#include "writer.h"

#define RECORDING_WRITERS 6

/* What the user chose. */
struct recording_settings {
	uint64_t max_size; /* bytes; 0: no limit */
	uint64_t min_free; /* bytes; ROOM_MIN_FREE: it depends on the disk */
	unsigned int nr_labels;
	struct run_label labels[RUN_LABELS];
};

struct recording {
	char dir[PATH_MAX]; /* for people; empty: nothing is kept */
	struct rundir rundir;
	uint64_t max_size, min_free; /* bytes; 0: no limit */
	struct writer writers[RECORDING_WRITERS];
	size_t nr_writers;
	enum { RECORDING_SHUT, RECORDING_OPEN, RECORDING_FAILED } states[RECORDING_WRITERS];
};

/*
 * Makes the directory below `parent`, named after the label "name" if there is one, and takes the
 * writers of its files. Errors of rundir__create().
 */
int recording__create(struct recording *recording, const char *parent,
		      const struct recording_settings *settings);

/* The files are closed already, but for the directory. */
void recording__free(struct recording *recording);

/* Removes the directory, in which nothing was written. */
void recording__discard(struct recording *recording);

/*
 * For who gives up CAP_SETUID before recording__open(): the files will belong to the user who
 * called sudo. 0 or -EPERM.
 */
int recording__keep_owner(struct recording *recording);

/* Returns it, for who has a state to give it. */
struct writer *recording__add(struct recording *recording, const struct writer_ops *ops);

/*
 * What every run has, whoever makes it: the labels and the host. Texts of the command line are
 * cleaned. 0 or -ENOMEM.
 */
int recording__describe(struct run *run, const struct recording_settings *settings);

/* The window opens now. */
void recording__start(struct run *run);

/*
 * One that fails is told nothing more until it is closed, the others go on. All return the first
 * error, and *failed (may be NULL) is then whose it is.
 */
int recording__open(struct recording *recording, const struct run *run,
		    const struct writer **failed);
int recording__interval(struct recording *recording, struct run *run,
			const struct run_interval *interval, const struct writer **failed);

/*
 * May the window go on? -EFBIG: the recording has the size it may have; -ENOSPC: the file system
 * has less free than it is to have, what is yet to be written taken off.
 */
int recording__room(const struct recording *recording, const struct run *run);

/* The run is not complete once a writer failed here: those after it say so. */
int recording__close(struct recording *recording, struct run *run, const struct writer **failed);

#endif
