/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_PROBES_RUNQLAT_CHECK_WHY_H
#define LATSCOPE_PROBES_RUNQLAT_CHECK_WHY_H

#include <selftest/probe_checks.h>

/* In which a task waits for a CPU. */
extern const struct situation runqlat_situations[];

#endif
