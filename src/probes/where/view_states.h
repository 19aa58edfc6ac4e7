/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of the parts. */
#ifndef LATSCOPE_PROBES_WHERE_VIEW_STATES_H
#define LATSCOPE_PROBES_WHERE_VIEW_STATES_H

#include "types.h"

/* "disk"; of enum where_state. */
extern const char *const where_states[WHERE_STATES];

#endif
