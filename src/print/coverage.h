/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel tells of the cgroup that filters, and how much of it the samples can be. */
#ifndef LATSCOPE_PRINT_COVERAGE_H
#define LATSCOPE_PRINT_COVERAGE_H

#include <stdio.h>

#include <core/run.h>

/* A paragraph about the cgroup; nothing if none filters. */
void coverage_text__cgroup(FILE *out, const struct run *run);

/* A paragraph about a probe; nothing if the kernel does not tell. */
void coverage_text__probe(FILE *out, const struct run *run, const struct run_probe *probe);

#endif
