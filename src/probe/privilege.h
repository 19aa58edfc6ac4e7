/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef LATSCOPE_PROBE_PRIVILEGE_H
#define LATSCOPE_PROBE_PRIVILEGE_H

/*
 * Gives up, for good, all capabilities but those that reading BPF maps and attaching what is already
 * loaded need: CAP_BPF and CAP_PERFMON. Files are still written as the user that runs us. 0 or -EPERM.
 */
int privilege__drop(void);

#endif
