/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of rings. Only names that the recorder makes are touched, links are not followed, and
 * nothing is deleted below a segment but what SQLite makes.
 */
#ifndef LATSCOPE_SERVE_RING_FILES_H
#define LATSCOPE_SERVE_RING_FILES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_name {
	char name[NAME_MAX + 1];
	uint64_t number; /* of a segment */
};

/*
 * Lists the entries of a directory whose names are `prefix`, digits and nothing else, by number;
 * or, with `suffix`, all that end so, by name. The caller frees *names. Their number, or -errno.
 */
long ring_files__list(int dir, const char *prefix, const char *suffix, struct ring_name **names);

/* Size of the files in a directory below `dir`; with `deep` also of those one level below. */
uint64_t ring_files__size(int dir, const char *name, bool deep);

/* Deletes a directory with the files of a recording; with `deep` also those in it. */
void ring_files__delete(int dir, const char *name, bool deep);

#endif
