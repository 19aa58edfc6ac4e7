/* SPDX-License-Identifier: GPL-2.0-only */
/* Properties of a machine that make the entry code impossible or unsafe. */
#ifndef RINGLAT_UNSUPPORTED_H
#define RINGLAT_UNSUPPORTED_H

/* Why this CPU is unsupported, and what to do, on one line for the user; NULL: it is supported. */
const char *unsupported__why(void);

#endif
