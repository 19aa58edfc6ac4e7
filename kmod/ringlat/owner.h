/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A thread that has the stubs before the entry points of its CPU while it runs, and only then: they
 * are placed when it is switched in and removed when it is switched out.
 *
 * Only the thread itself can end that while it lives, for its list of notifiers has no lock. So
 * what others do is to ask: owner__abandon() lets go of an owner, which ends as soon as the thread
 * gets to it, or dies. Nobody waits for anybody.
 */
#ifndef RINGLAT_OWNER_H
#define RINGLAT_OWNER_H

#include <linux/types.h>

#include <uapi/latscope/ringlat.h>

struct owner;

int owner__init(void);
void owner__exit(void);

/* The current thread becomes one. The caller has a reference, for owner__abandon(). */
struct owner *owner__start(u32 events);

/* -EPERM if the current thread is not it, -EINVAL if it has ended, -EBUSY amid KVM_RUN. */
int owner__stop(struct owner *owner);

bool owner__is_running(const struct owner *owner);
void owner__read(const struct owner *owner, struct ringlat_counts *counts);

/* Drop the reference, and have the owner end. */
void owner__abandon(struct owner *owner);

#endif
