/* SPDX-License-Identifier: BSD-2-Clause */
/* How much a recording may grow: up to --max-size, and as long as --min-free stays free. */
#ifndef LATSCOPE_STORE_ROOM_H
#define LATSCOPE_STORE_ROOM_H

#include <core/run.h>

#include "rundir.h"

#define ROOM_MIN_FREE UINT64_MAX

/* What is to stay free, in bytes. `asked` may be ROOM_MIN_FREE: it depends on the disk then. */
uint64_t room__floor(const struct rundir *rundir, uint64_t asked);

/* How long the log of run.db may get, in pages. 0: as long as it likes. */
int room__log_pages(uint64_t max_size);

/* As recording__room(). A limit of 0 is none. */
int room__check(const struct rundir *rundir, const struct run *run, uint64_t max_size,
		uint64_t min_free);

#endif
