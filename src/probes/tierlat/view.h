/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables of tierlat as text, within 80 columns: a line for each tier. */
#ifndef LATSCOPE_PROBES_TIERLAT_VIEW_H
#define LATSCOPE_PROBES_TIERLAT_VIEW_H

#include <stdio.h>

#include <core/run.h>
#include <store/writer.h>

/* After each interval, to stdout: a line for each tier, and one for each decision. */
extern const struct writer_ops writer_live_tierlat;
/* Its state is a FILE *, which it closes. */
extern const struct writer_ops writer_decisions;

/* --per-cha: a line for each CHA and tier. The table has cha_columns. */
void tierlat_print__chas(FILE *out, const struct table *table);

/*
 * --pages: for each node its pages, and the `top` processes that have most of them; 0: all. The
 * table has pages_columns. 0 or -ENOMEM.
 */
int tierlat_print__pages(FILE *out, const struct table *table, unsigned int top);

#endif
