/* SPDX-License-Identifier: BSD-2-Clause */
/* How much a recording may grow: up to --max-size, and as long as --min-free stays free. */
#ifndef LATSCOPE_BASE_ROOM_H
#define LATSCOPE_BASE_ROOM_H

#include "run.h"
#include "rundir.h"

/* What is to stay free, in bytes. `asked` may be OPTIONS_MIN_FREE: it depends on the disk then. */
uint64_t room__floor(const struct rundir *rundir, uint64_t asked);

/* How long the log of run.db may get, in pages. 0: as long as it likes. */
int room__log_pages(uint64_t max_size);

/* As recording__room(). A limit of 0 is none. */
int room__check(const struct rundir *rundir, const struct run *run, uint64_t max_size,
		uint64_t min_free);

#endif
