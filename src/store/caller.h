/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The owner of the files that latscope makes: its own user, or under sudo the user who called sudo.
 * The files are made with that user's rights, not with root's, so links that the user planted gain
 * nothing.
 */
#ifndef LATSCOPE_STORE_CALLER_H
#define LATSCOPE_STORE_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

struct caller {
	uid_t uid;
	gid_t gid;
	bool by_sudo; /* the owner is a different user from this process's */
};

/*
 * SUDO_UID and SUDO_GID are used only by root, and only if the user exists.
 */
struct caller caller__find(void);

/*
 * From now on this thread opens and makes files as that user. Needs CAP_SETUID and CAP_SETGID.
 * 0, or -EPERM and nothing changed.
 */
int caller__enter(const struct caller *caller);

/* Ends caller__enter(). */
void caller__leave(void);

#endif
