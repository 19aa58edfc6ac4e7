/* SPDX-License-Identifier: BSD-2-Clause */
/* A line for each interval. */
#ifndef LATSCOPE_PROBES_WHERE_VIEW_LIVE_H
#define LATSCOPE_PROBES_WHERE_VIEW_LIVE_H

#include <store/writer.h>

/* See probe_view.print_interval. */
int live__print(FILE *out, const struct run_probe *probe, const struct run_interval *interval,
		unsigned int top);

extern const struct writer_ops writer_live_where;

#endif
