/* SPDX-License-Identifier: BSD-2-Clause */
/* What tierlat prints for people, within 80 columns. */
#ifndef LATSCOPE_PRINT_TIERLAT_H
#define LATSCOPE_PRINT_TIERLAT_H

#include <stdio.h>

#include <core/run.h>

void tierlat_print__head(FILE *out);

/* The rows that the table holds: a line a tier, and one for each decision. */
void tierlat_print__rows(FILE *out, const struct table *table);

/* What was folded: the means over the window. */
void tierlat_print__summary(FILE *out, const struct run *run, const struct run_probe *probe);

#endif
