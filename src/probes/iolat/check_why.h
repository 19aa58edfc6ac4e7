/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_PROBES_IOLAT_CHECK_WHY_H
#define LATSCOPE_PROBES_IOLAT_CHECK_WHY_H

#include <selftest/probe_checks.h>

/* In which a task waits for a disk. */
extern const struct situation iolat_situations[];

#endif
