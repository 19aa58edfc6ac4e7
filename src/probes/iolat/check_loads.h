/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_PROBES_IOLAT_CHECK_LOADS_H
#define LATSCOPE_PROBES_IOLAT_CHECK_LOADS_H

#include <selftest/probe_checks.h>

extern const struct experiment iolat_experiment;

#endif
