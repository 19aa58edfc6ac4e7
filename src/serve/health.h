/* SPDX-License-Identifier: BSD-2-Clause */
/* The answer of /healthz. */
#ifndef LATSCOPE_SERVE_HEALTH_H
#define LATSCOPE_SERVE_HEALTH_H

#include <stdbool.h>

#include <core/run.h>

/*
 * Does any probe measure, and has each of them accounted for every event? `text` is "ok" or why
 * not. What the kernel's own account says is no part of it: a new start would not mend that. It is
 * for an alert (latscope_kernel_check_agrees).
 */
bool health__is_good(const struct run *run, char text[RUN_TEXT]);

#endif
