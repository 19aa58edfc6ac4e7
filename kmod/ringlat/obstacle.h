/* SPDX-License-Identifier: GPL-2.0-only */
/* Properties of a machine that make the entry code impossible or unsafe. */
#ifndef RINGLAT_CONFLICT_H
#define RINGLAT_CONFLICT_H

/* One line for the user, with what to do; NULL if nothing stands against them on this CPU. */
const char *conflict__find(void);

#endif
