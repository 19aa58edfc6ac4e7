/* SPDX-License-Identifier: BSD-2-Clause */
/* The account as bars, for screens and pages: members of struct probe_view. */
#ifndef LATSCOPE_PROBES_WHERE_VIEW_BARS_H
#define LATSCOPE_PROBES_WHERE_VIEW_BARS_H

#include <print/bars.h>

int view_bars__make(struct bars *bars, const struct run_probe *probe, enum lat_by by,
		    uint64_t length_ns);
int view_bars__rank(struct bars *bars, const struct run *run, const struct run_probe *probe,
		    enum lat_by by);
int view_bars__select(struct run_probe *to, const struct run_probe *from, enum lat_by by,
		      const struct bar *bar);
bool view_bars__wait(const struct run_probe *probe, size_t row, struct bar_wait *wait);
const char *view_bars__link(const char *chain, struct bar_link *link);

/* ---- view_bars.c, for view_rank.c ---- */

extern const enum bar_part view_bars__part_of[];

/* ID and name of the bar of a key of the parts. */
void view_bars__name(const struct table *parts, size_t key, enum lat_by by, uint64_t *id,
		     char name[BAR_NAME]);

#endif
