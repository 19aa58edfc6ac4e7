/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An owner is a thread with the entry code before the entry points of its CPU while it runs: it is
 * placed when the thread is switched in, and removed when it is switched out.
 *
 * Only the thread itself can end that while it lives, because its list of notifiers has no lock.
 * Others request it: owner__abandon() releases an owner, which ends when the thread handles the
 * request, or dies. Nothing waits for it.
 */
#ifndef RINGLAT_OWNER_H
#define RINGLAT_OWNER_H

#include <linux/types.h>

#include <uapi/latscope/ringlat.h>

struct owner;

int owner__init(void);
void owner__exit(void);

/* The current thread becomes an owner. The caller gets a reference, for owner__abandon(). */
struct owner *owner__start(u32 events);

/* -EPERM: called by another thread; -EINVAL: it has ended; -EBUSY: during KVM_RUN. */
int owner__stop(struct owner *owner);

bool owner__is_running(const struct owner *owner);
void owner__read(const struct owner *owner, struct ringlat_counts *counts);

/* Drops the reference and requests the end of the owner. */
void owner__abandon(struct owner *owner);

#endif
