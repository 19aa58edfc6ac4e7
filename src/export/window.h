/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_EXPORT_WINDOW_H
#define LATSCOPE_EXPORT_WINDOW_H

#include <core/run.h>

/* When the window opened, since 1970. To the second, if the recording has no more; 0: unknown. */
uint64_t window__unix_ns(const struct run *run);

#endif
