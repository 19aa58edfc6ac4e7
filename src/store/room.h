/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits of a recording's size: --max-size and --min-free. */
#ifndef LATSCOPE_STORE_ROOM_H
#define LATSCOPE_STORE_ROOM_H

#include <core/run.h>

#include "rundir.h"

#define ROOM_MIN_FREE UINT64_MAX

/* Bytes to keep free. `asked` may be ROOM_MIN_FREE: then it depends on the disk. */
uint64_t room__floor(const struct rundir *rundir, uint64_t asked);

/* Maximum pages of the log of run.db. 0: no limit. */
int room__log_pages(uint64_t max_size);

/* As recording__room(). 0: no limit. */
int room__check(const struct rundir *rundir, const struct run *run, uint64_t max_size,
		uint64_t min_free);

#endif
