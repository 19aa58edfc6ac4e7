/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Whose files we make: our own, or under sudo those of the user who called it. Then files are made
 * with that user's rights and not with root's: it can gain nothing by what it puts in our way.
 */
#ifndef LATSCOPE_STORE_CALLER_H
#define LATSCOPE_STORE_CALLER_H

#include <stdbool.h>
#include <sys/types.h>

struct caller {
	uid_t uid;
	gid_t gid;
	bool by_sudo; /* the user is another than we are */
};

/*
 * SUDO_UID and SUDO_GID count only for root, and only if they are numbers of a user that exists.
 */
struct caller caller__find(void);

/*
 * From here on this thread opens and makes files as that user. It takes CAP_SETUID and CAP_SETGID.
 * 0, or -EPERM: as before.
 */
int caller__enter(const struct caller *caller);

/* Files are ours again. */
void caller__leave(void);

#endif
