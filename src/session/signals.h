/* SPDX-License-Identifier: BSD-2-Clause */
/* The signals that end a window: SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGPIPE. */
#ifndef LATSCOPE_SESSION_SIGNALS_H
#define LATSCOPE_SESSION_SIGNALS_H

#include <signal.h>

/*
 * Blocks them, stores the previous mask in `before`, and returns a descriptor that is readable when
 * one has arrived, or -errno.
 */
int signals__hold(sigset_t *before);

#endif
