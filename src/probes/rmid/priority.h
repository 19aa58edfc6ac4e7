/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process gets a CPU soon also on a machine that is overloaded: else the kernel's buffers
 * overflow. Its children do not inherit that.
 */
#ifndef LATSCOPE_PROBES_RMID_PRIORITY_H
#define LATSCOPE_PROBES_RMID_PRIORITY_H

/*
 * Nice value -20. Does nothing if the user has chosen another one than 0, or another policy. 0 or
 * -errno: it needs CAP_SYS_NICE.
 */
int priority__raise(void);

void priority__restore(void); /* what priority__raise() changed */

#endif
