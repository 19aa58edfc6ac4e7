/* SPDX-License-Identifier: BSD-2-Clause */
/* A spare user: no process, no account and no range of another program has its number. */
#ifndef LATSCOPE_SESSION_SPARE_H
#define LATSCOPE_SESSION_SPARE_H

#include <store/caller.h>

/*
 * A different one at each call. In a user namespace that maps too few numbers, as in a rootless
 * container, it is the user nobody.
 */
struct caller spare__find(void);

#endif
