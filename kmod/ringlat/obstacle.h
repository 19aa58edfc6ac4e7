/* SPDX-License-Identifier: GPL-2.0-only */
/* What about a machine makes the stubs impossible, or not safe. */
#ifndef RINGLAT_CONFLICT_H
#define RINGLAT_CONFLICT_H

/* One line for the user, with what to do; NULL if nothing stands against them on this CPU. */
const char *conflict__find(void);

#endif
