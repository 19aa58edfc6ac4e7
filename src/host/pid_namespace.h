/* SPDX-License-Identifier: BSD-2-Clause */
/* The numbers of processes. */
#ifndef LATSCOPE_HOST_PID_NAMESPACE_H
#define LATSCOPE_HOST_PID_NAMESPACE_H

#include <stdbool.h>

/*
 * Is latscope in a PID namespace of its own? Then /proc and system calls have other numbers for a
 * process than the BPF programs, which see those of the first one.
 */
bool pid_namespace__differs(void);

#endif
