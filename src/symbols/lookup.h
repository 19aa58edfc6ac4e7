/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses to be named, sorted, so that a symbol table of any size is read only once. */
#ifndef LATSCOPE_SYMBOLS_LOOKUP_H
#define LATSCOPE_SYMBOLS_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

#include "symbols.h"

struct lookup {
	uint64_t at; /* address, or offset in the file */
	int file; /* index of the mapped file; negative: none */
	struct symbol *symbol; /* gets the answer */
	uint64_t start; /* of the symbol that it is in; 0: none so far */
	const char *name;
	uint64_t nearest; /* start of the nearest symbol before it */
	const char *nearest_name; /* NULL: it has a size, so that it ends before `at` */
};

/* By file, then by `at`. */
void lookup__sort(struct lookup *lookups, size_t nr);

/* Index of the first whose `at` is not less; nr: none. */
size_t lookup__first(const struct lookup *lookups, size_t nr, uint64_t at);

/* Copies a name up to `len` bytes, unsanitized, and sets the offset in the function. */
void lookup__answer(const struct lookup *lookup, const char *name, size_t len);

/*
 * Names kernel addresses from a table of symbols in any order. 0, or -EACCES: it hides all
 * addresses.
 */
struct kallsyms;
int lookup__kernel(struct lookup *lookups, size_t nr, struct kallsyms *symbols);

/* Names addresses of a JIT compiler's file: lines of "start size name". 0 or -errno. */
int lookup__perf_map(struct lookup *lookups, size_t nr, int fd);

/*
 * Names offsets in an ELF file, sets the build-id and whether the function has no frame pointer.
 * Symbols come from the file, or from the file below debug_dir that has its build-id. Not for
 * processes with privileges: libdw has had bugs with broken files. 0, -ENOEXEC: not an ELF file,
 * broken or truncated; -EOPNOTSUPP: built without libdw.
 */
int lookup__elf(struct lookup *lookups, size_t nr, int fd, const char *debug_dir);

#endif
