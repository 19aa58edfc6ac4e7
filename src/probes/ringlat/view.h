/* SPDX-License-Identifier: BSD-2-Clause */
/* The result of ringlat as text, JSON and CSV. */
#ifndef LATSCOPE_PROBES_RINGLAT_VIEW_H
#define LATSCOPE_PROBES_RINGLAT_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "ring.h"

struct json_object;
struct run;

/* At most 80 columns. */
void ringlat__print_text(FILE *out, const struct ring_result *result, bool histogram);

/* --like xperf: platforms and directions, next to the figures of xperf. */
void ringlat__print_xperf(FILE *out, const struct ring_result *result);

/* A line for each way of each event; or, as histogram, for each of its buckets. */
void ringlat__print_csv(FILE *out, const struct ring_result *result, bool histogram);

/* What a recording lacks: ticks, baselines, misses, the place. The caller frees it. */
struct json_object *ringlat__json(const struct ring_result *result, bool histogram);

/* What a page fault costs as a whole, if the run has memlat, too. */
void fault_cost__print(FILE *out, const struct run *run);

#endif
