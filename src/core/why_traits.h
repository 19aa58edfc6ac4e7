/* SPDX-License-Identifier: BSD-2-Clause */
/* What sets a task apart from most others, as text. */
#ifndef LATSCOPE_CORE_WHY_TRAITS_H
#define LATSCOPE_CORE_WHY_TRAITS_H

#include <latscope/why.h>

#define WHY_TRAITS_TEXT 96

/*
 * "SCHED_FIFO 50"; "nice -5, cpu.weight 200"; "workqueue events". NULL: nothing does; else returns
 * out. The name is sanitized.
 */
const char *why_traits__text(const struct why_traits *traits, char out[WHY_TRAITS_TEXT]);

#endif
