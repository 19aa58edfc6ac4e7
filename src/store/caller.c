// SPDX-License-Identifier: BSD-2-Clause
#include "caller.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/fsuid.h>
#include <unistd.h>

/* A user or group ID as sudo writes it. The largest one means "none". */
static bool read_id(const char *name, unsigned int *id)
{
	const char *text = getenv(name);
	unsigned long long value;
	char *end;

	if (!text || !isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno || *end || value >= UINT32_MAX)
		return false;
	*id = (unsigned int)value;
	return true;
}

struct caller caller__find(void)
{
	struct caller caller = { .uid = geteuid(), .gid = getegid() };
	unsigned int uid, gid;

	/* If the program is root by its set-user-ID bit, any user may have set its environment. */
	if (getuid() || geteuid() || !read_id("SUDO_UID", &uid) || !read_id("SUDO_GID", &gid))
		return caller;
	if (!uid || !getpwuid(uid))
		return caller;
	return (struct caller){ .uid = uid, .gid = gid, .by_sudo = true };
}

/* These calls do not report errors. Asking for an invalid ID returns the one in force. */
static bool is_in_force(uid_t uid, gid_t gid)
{
	return setfsuid((uid_t)-1) == (int)uid && setfsgid((gid_t)-1) == (int)gid;
}

int caller__enter(const struct caller *caller)
{
	if (!caller->by_sudo)
		return 0;
	setfsgid(caller->gid);
	setfsuid(caller->uid);
	if (is_in_force(caller->uid, caller->gid))
		return 0;
	caller__leave();
	return -EPERM;
}

void caller__leave(void)
{
	setfsuid(geteuid());
	setfsgid(getegid());
}
