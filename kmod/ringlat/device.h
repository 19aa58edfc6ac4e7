/* SPDX-License-Identifier: GPL-2.0-only */
/* /dev/latscope-ringlat. */
#ifndef RINGLAT_DEVICE_H
#define RINGLAT_DEVICE_H

#include <linux/types.h>

/* `refusal`: why nothing can be started, or NULL. */
int device__init(const char *refusal);
void device__exit(void);

#endif
