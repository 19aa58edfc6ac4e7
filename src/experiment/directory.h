/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of an experiment. Made as its owner: links that the owner planted gain nothing. */
#ifndef LATSCOPE_EXPERIMENT_DIRECTORY_H
#define LATSCOPE_EXPERIMENT_DIRECTORY_H

#include "experiment.h"

#define DIRECTORY_SIDE 64

/* The directory of a side: "off", "on", or for a cell "001-rw=read". */
void directory__side(const struct plan *plan, size_t side, char name[DIRECTORY_SIDE]);

/* Makes it, with the directories of all sides. -errno with `why`. */
int directory__create(struct experiment *experiment, const char *parent, const char *label);

/* Opens it and the log. -errno with `why`. */
int directory__open(struct experiment *experiment);

/* Counts the recordings of each side. */
int directory__count(struct experiment *experiment);

int directory__write_plan(struct experiment *experiment);

/* Makes a directory for the next recording of a side; `name` gets its name. */
int directory__begin_run(const struct experiment *experiment, size_t side, char name[NAME_MAX + 1]);

/* Path of the recording in the directory `name`. -ENOENT: there is none. */
int directory__find_recording(const struct experiment *experiment, const char *name,
			      char recording[NAME_MAX + 1]);

/* The recording counts: moves it to the others of its side, and removes the directory `name`. */
int directory__keep_run(struct experiment *experiment, size_t side, const char *name,
			const char *recording);

/* Keeps in `said` the last lines that the commands printed from this place of the log on. */
void directory__last_lines(struct experiment *experiment, off_t from);

#endif
