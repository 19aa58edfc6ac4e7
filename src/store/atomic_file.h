/* SPDX-License-Identifier: BSD-2-Clause */
/* A file that appears complete or not at all: written under a temporary name, then renamed. */
#ifndef LATSCOPE_STORE_ATOMIC_FILE_H
#define LATSCOPE_STORE_ATOMIC_FILE_H

#include <limits.h>
#include <stdio.h>

struct outfile {
	FILE *stream;
	char path[PATH_MAX];
	char temporary[PATH_MAX]; /* in the same directory: rename() does not cross file systems */
};

int outfile__open(struct outfile *file, const char *dir, const char *name);

/* Always closes the file. After an error it removes the file. */
int outfile__commit(struct outfile *file);
void outfile__abort(struct outfile *file);

/* A whole file, by print(stream, of); an error of that removes it, and is returned. */
int outfile__write(const char *dir, const char *name, int (*print)(FILE *stream, const void *of),
		   const void *of);

#endif
