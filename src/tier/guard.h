/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A process that outlives ours should ours be killed, crash or exit without a word, and then undoes
 * what must not stay.
 */
#ifndef LATSCOPE_TIER_GUARD_H
#define LATSCOPE_TIER_GUARD_H

struct guard;

/*
 * From now on undo(arg) is called in the guard if this process ends before guard__end(). It sees
 * memory as it is now, but for what is mapped shared, and has its own copies of descriptors. 0 or
 * -errno.
 */
int guard__begin(struct guard **guard, void (*undo)(void *arg), void *arg);

/* There is nothing to be undone any more. NULL: there is no guard. */
void guard__end(struct guard *guard);

#endif
