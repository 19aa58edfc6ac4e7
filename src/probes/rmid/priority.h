/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Raises the priority of this process, so that it gets a CPU soon on an overloaded machine:
 * otherwise the kernel's buffers overflow. Its children do not inherit that.
 */
#ifndef LATSCOPE_PROBES_RMID_PRIORITY_H
#define LATSCOPE_PROBES_RMID_PRIORITY_H

/*
 * Sets nice -20. Does nothing if the user chose a nice value other than 0, or another policy. 0 or
 * -errno: needs CAP_SYS_NICE.
 */
int priority__raise(void);

void priority__restore(void); /* undoes priority__raise() */

#endif
