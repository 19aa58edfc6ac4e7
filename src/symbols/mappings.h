/* SPDX-License-Identifier: BSD-2-Clause */
/* What processes have mapped to execute, with the files open. Reads no content of these files. */
#ifndef LATSCOPE_SYMBOLS_MAPPINGS_H
#define LATSCOPE_SYMBOLS_MAPPINGS_H

#include <sys/types.h>
#include <time.h>

#include "symbols.h"

struct mapped_file {
	uint64_t dev; /* major << 32 | minor */
	uint64_t inode;
	int fd; /* -1: could not be opened, or must not be */
	bool perf_map; /* names of JIT code, by address */
	off_t size;
	struct timespec modified;
	char name[SYMBOL_FILE]; /* base name, unsanitized */
};

struct mapping {
	uint64_t start, end;
	uint64_t offset; /* of start in the file */
	enum symbol_kind kind;
	int file; /* index; -1: none */
};

/* One reading of /proc/PID/maps; equal ones in a row are one. */
struct mapping_note {
	uint32_t tgid;
	uint32_t first, last; /* numbers of the readings */
	struct mapping *mappings; /* by address */
	size_t nr;
};

struct mappings {
	struct mapping_note *notes;
	size_t nr_notes;
	struct mapped_file *files;
	size_t nr_files;
	size_t missed; /* readings that failed, or for which there was no room */
};

/* The first file is the vDSO of this process. 0 or -errno. */
int mappings__new(struct mappings *mappings);

/*
 * Reads what the process has mapped now; `number` grows with each reading. 0, -ESRCH: it has
 * exited; -ENOSPC or another -errno.
 */
int mappings__note(struct mappings *mappings, uint32_t tgid, uint32_t number);

/* Where the address was when that number was read, or next; NULL: unknown. */
const struct mapping *mappings__find(const struct mappings *mappings, uint32_t tgid,
				     uint32_t number, uint64_t address);

/* Was the file written since it was opened? */
bool mappings__is_changed(const struct mapped_file *file);

#endif
