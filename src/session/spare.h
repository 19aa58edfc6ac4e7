/* SPDX-License-Identifier: BSD-2-Clause */
/* A user that nobody else is: no process, account or range of another program has its number. */
#ifndef LATSCOPE_SESSION_SPARE_H
#define LATSCOPE_SESSION_SPARE_H

#include <store/caller.h>

/*
 * Another one at each call. In a user namespace that maps too few numbers, as that of a rootless
 * container, it is nobody.
 */
struct caller spare__find(void);

#endif
