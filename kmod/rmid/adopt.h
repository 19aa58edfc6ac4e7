/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LATSCOPE_RMID_ADOPT_H
#define LATSCOPE_RMID_ADOPT_H

#include <linux/types.h>

/*
 * Adopts the processes that exist already; the hooks must be in place. Stops the machine while it
 * goes through all threads, once or a few times. May sleep.
 */
void adopt__all(void);

/*
 * From then on checks every few seconds: if there is room again for processes that found the table
 * full, it adopts them. Any user can cause that, so it is done less and less often.
 */
void adopt__watch(void);
void adopt__unwatch(void);

u32 adopt__count(void); /* times that the machine was stopped */

#endif
