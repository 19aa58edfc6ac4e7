/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The output of a window: a new directory with the writers that fill it, and writers that the
 * command adds. Driven by a session, or by a command without a session.
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
	uint64_t min_free; /* bytes; SIZE_LIMITS_MIN_FREE: it depends on the disk */
	unsigned int nr_labels;
	struct run_label labels[RUN_LABELS];
};

struct recording {
	char dir[PATH_MAX]; /* for messages; empty: nothing is kept */
	struct rundir rundir;
	uint64_t max_size, min_free; /* bytes; 0: no limit */
	struct writer writers[RECORDING_WRITERS];
	size_t nr_writers;
	bool is_endless; /* nobody wants the sketches of tables, which grow with the window */
	enum { RECORDING_CLOSED, RECORDING_OPEN, RECORDING_FAILED } states[RECORDING_WRITERS];
};

/*
 * Makes the directory below `parent`, named after the label "name" if there is one, and takes the
 * writers of its files. Errors of rundir__create().
 */
int recording__create(struct recording *recording, const char *parent,
		      const struct recording_settings *settings);

/*
 * The same in a directory that rundir__create() made, also after privileges were dropped. Errors of
 * rundir__create_in().
 */
int recording__create_in(struct recording *recording, const struct rundir *above, const char *name);

/* Closes the directory; the files must be closed. */
void recording__free(struct recording *recording);

/* Removes the directory, which must be empty. */
void recording__discard(struct recording *recording);

/*
 * For a caller that drops CAP_SETUID before recording__open(): the files will belong to the user
 * who called sudo. 0 or -EPERM.
 */
int recording__keep_owner(struct recording *recording);

/* Adds a writer and returns it. */
struct writer *recording__add(struct recording *recording, const struct writer_ops *ops);

/*
 * Fills in the labels and the host. Texts of the command line are sanitized. 0 or -ENOMEM.
 */
int recording__describe(struct run *run, const struct recording_settings *settings);

/* Stores the start time: the window opens now. */
void recording__start(struct run *run);

/*
 * A writer that fails is not called again until it is closed; the others go on. All return the
 * first error and its writer in *failed (may be NULL).
 */
int recording__open(struct recording *recording, const struct run *run,
		    const struct writer **failed);
int recording__interval(struct recording *recording, struct run *run,
			const struct run_interval *interval, const struct writer **failed);

/*
 * May the window continue? -EFBIG: the recording reached its maximum size; -ENOSPC: the file system
 * would have too little free space after everything was written.
 */
int recording__room(const struct recording *recording, const struct run *run);

/* After a writer fails here, the run is not complete, and later writers say so. */
int recording__close(struct recording *recording, struct run *run, const struct writer **failed);

/* ---- size_limits.c ---- */

#define SIZE_LIMITS_MIN_FREE UINT64_MAX

/* Bytes to keep free. `asked` may be SIZE_LIMITS_MIN_FREE: then it depends on the disk. */
uint64_t size_limits__floor(const struct rundir *rundir, uint64_t asked);

/* Maximum pages of the log of run.db. 0: no limit. */
int size_limits__log_pages(uint64_t max_size);

/* As recording__room(). 0: no limit. */
int size_limits__check(const struct rundir *rundir, const struct run *run, uint64_t max_size,
		       uint64_t min_free);

#endif
