/* SPDX-License-Identifier: BSD-2-Clause */
/* tierlat as text, within 80 columns. */
#ifndef LATSCOPE_PRINT_TIERLAT_H
#define LATSCOPE_PRINT_TIERLAT_H

#include <stdio.h>

#include <core/run.h>
#include <store/writer.h>

/* After each interval, to stdout: a line for each tier, and one for each decision. */
extern const struct writer_ops writer_live_tierlat;

/* The means over the window. */
void tierlat_print__summary(FILE *out, const struct run *run, const struct run_probe *probe);

#endif
