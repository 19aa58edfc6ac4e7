/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits of a recording's size: --max-size and --min-free. */
#ifndef LATSCOPE_STORE_SIZE_LIMITS_H
#define LATSCOPE_STORE_SIZE_LIMITS_H

#include <core/run.h>

#include "rundir.h"

#define SIZE_LIMITS_MIN_FREE UINT64_MAX

/* Bytes to keep free. `asked` may be SIZE_LIMITS_MIN_FREE: then it depends on the disk. */
uint64_t size_limits__floor(const struct rundir *rundir, uint64_t asked);

/* Maximum pages of the log of run.db. 0: no limit. */
int size_limits__log_pages(uint64_t max_size);

/* As recording__room(). 0: no limit. */
int size_limits__check(const struct rundir *rundir, const struct run *run, uint64_t max_size,
		       uint64_t min_free);

#endif
