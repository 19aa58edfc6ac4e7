/* SPDX-License-Identifier: BSD-2-Clause */
/* A list of messages. */
#ifndef LATSCOPE_STATS_NOTES_H
#define LATSCOPE_STATS_NOTES_H

#include <stddef.h>

struct notes {
	char **lines; /* owned */
	size_t nr;
};

/* 0 or -ENOMEM. */
int notes__add(struct notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));
void notes__clear(struct notes *notes);

#endif
