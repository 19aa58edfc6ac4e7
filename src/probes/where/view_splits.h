/* SPDX-License-Identifier: BSD-2-Clause */
/* What --by can divide the account by besides tasks: tables that exist. */
#ifndef LATSCOPE_PROBES_WHERE_VIEW_SPLITS_H
#define LATSCOPE_PROBES_WHERE_VIEW_SPLITS_H

#include <stdio.h>

#include <core/run.h>

/* In the order of where_probe.more_splits. */
enum where_more_split { WHERE_BY_CALL = 1, WHERE_BY_STATE = 2 };

/* The table of these splits: by call and state, that of sleeps. */
const struct table *splits__table(const struct run_probe *probe, uint32_t more_by);

/* That table over the whole window: a row for each key. */
void splits__print_csv(FILE *out, const struct run_probe *probe, uint32_t more_by);

#endif
