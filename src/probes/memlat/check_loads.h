/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_PROBES_MEMLAT_CHECK_LOADS_H
#define LATSCOPE_PROBES_MEMLAT_CHECK_LOADS_H

#include <selftest/probe_checks.h>

extern const struct experiment memlat_experiment;

#endif
