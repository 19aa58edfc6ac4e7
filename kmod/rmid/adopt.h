/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LATSCOPE_RMID_ADOPT_H
#define LATSCOPE_RMID_ADOPT_H

#include <linux/types.h>

/*
 * Takes in the processes that are there already; the hooks are in place. Stops the machine for the
 * time it takes to go through all threads, once or a few times. May sleep.
 */
void adopt__all(void);

/*
 * From then on looks every few seconds whether some found the table of processes full when there is
 * room again, and takes them in. Anybody can bring that about, so it is done ever less often.
 */
void adopt__watch(void);
void adopt__unwatch(void);

u32 adopt__count(void); /* times that the machine was stopped */

#endif
