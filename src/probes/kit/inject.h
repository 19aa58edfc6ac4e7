/* SPDX-License-Identifier: BSD-2-Clause */
/* The fault that tests inject into all probes; only compiled with -DLATSCOPE_FAULTS. */
#ifndef LATSCOPE_PROBES_KIT_INJECT_H
#define LATSCOPE_PROBES_KIT_INJECT_H

#ifdef LATSCOPE_FAULTS
#include <latscope/event.h>

/* Set it before a probe is opened. Only samples that are split by key get the fault. */
extern enum lat_inject inject__fault;

/* LAT_INJECT_NONE: no fault has that name. */
enum lat_inject inject__find(const char *name);
#endif

#endif
