/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of splits, and of the ids of splits that are enumerated. */
#ifndef LATSCOPE_CORE_SPLIT_H
#define LATSCOPE_CORE_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include <latscope/event.h>

#define SPLIT_TEXT 80 /* room for all names, with commas */

/* "process"; NULL outside enum lat_by. */
const char *split__name(unsigned int by);

/* The split of a name; -EINVAL if unknown. */
int split__find(const char *name);

/* "process,disk" to a mask of 1 << enum lat_by; -EINVAL if any part is unknown or empty. */
int split__parse(const char *list, uint32_t *mask);

/* The reverse; returns buf. */
const char *split__list(uint32_t mask, char buf[SPLIT_TEXT]);

/* Name of an id of LAT_BY_OP ... LAT_BY_KIND ("read"); NULL for others. */
const char *split__id_name(unsigned int by, uint64_t id);

/*
 * Length of the name of a key without the ID of its task, which differs in each run: 3 for
 * "web (12)".
 */
size_t split__name_length(const char *name);

#endif
