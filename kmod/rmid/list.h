/* SPDX-License-Identifier: GPL-2.0-only */
/* /proc/latscope_rmid, as described in <uapi/latscope/rmid.h>. */
#ifndef LATSCOPE_RMID_LIST_H
#define LATSCOPE_RMID_LIST_H

int list__init(void);
void list__exit(void);

#endif
