/* SPDX-License-Identifier: BSD-2-Clause */
/* Probes with a table as text, within 80 columns. */
#ifndef LATSCOPE_PRINT_PROBE_TEXT_H
#define LATSCOPE_PRINT_PROBE_TEXT_H

#include <stdio.h>

#include <core/run.h>
#include <store/writer.h>

/* ---- rmid: a line for each process ---- */

/* Is it rmid, with the expected columns? A file may contain anything. */
bool rmid__has_rows(const struct run_probe *probe);

/* The processes with the most CPU time; `top` of them, 0: all. 0 or -ENOMEM. */
int rmid__print(FILE *out, const struct run *run, const struct run_probe *probe, unsigned int top);

/*
 * The same for every interval, to stdout; other probes as writer_live prints them. The writer's
 * state is an unsigned int, `top`.
 */
extern const struct writer_ops writer_live_rmid;

/* ---- tierlat: a line for each tier ---- */

/* After each interval, to stdout: a line for each tier, and one for each decision. */
extern const struct writer_ops writer_live_tierlat;
/* Its state is a FILE *, which it closes. */
extern const struct writer_ops writer_decisions;

/* The means over the window. */
void tierlat_print__summary(FILE *out, const struct run *run, const struct run_probe *probe);

/* --per-cha: a line for each CHA and tier. The table has cha_columns. */
void tierlat_print__chas(FILE *out, const struct table *table);

/*
 * --pages: for each node its pages, and the `top` processes that have most of them; 0: all. The
 * table has pages_columns. 0 or -ENOMEM.
 */
int tierlat_print__pages(FILE *out, const struct table *table, unsigned int top);

#endif
