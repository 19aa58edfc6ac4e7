// SPDX-License-Identifier: BSD-2-Clause
#include "spare.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

/*
 * systemd's list of ranges (UIDS-GIDS) assigns these to no program; SSSD and FreeIPA end before
 * them, and containers use numbers below.
 */
#define FIRST 2100000000U
#define COUNT 47000000U
#define TRIES 64
#define NOBODY 65534 /* if no user is called nobody: the kernel shows it for unknown ids */

/* Does this user namespace map the whole range? */
static bool is_mapped(const char *path)
{
	unsigned long long first, count;
	FILE *stream = fopen(path, "re");
	bool found = false;

	while (stream && !found && fscanf(stream, "%llu %*u %llu", &first, &count) == 2)
		found = first <= FIRST && first + count >= FIRST + COUNT;
	if (stream)
		fclose(stream);
	return found;
}

/* Does a process in /proc have this user? Only root sees hidden ones. */
static bool is_running(uid_t uid)
{
	DIR *dir = opendir("/proc");
	struct dirent *entry;
	bool found = false;
	struct stat st;

	while (dir && !found && (entry = readdir(dir)))
		found = isdigit((unsigned char)entry->d_name[0]) &&
			!fstatat(dirfd(dir), entry->d_name, &st, 0) && st.st_uid == uid;
	if (dir)
		closedir(dir);
	return found;
}

static struct caller find_nobody(void)
{
	const struct passwd *nobody = getpwnam("nobody");

	if (nobody && nobody->pw_uid && nobody->pw_gid)
		return (struct caller){ nobody->pw_uid, nobody->pw_gid, false };
	return (struct caller){ NOBODY, NOBODY, false };
}

struct caller spare__find(void)
{
	bool mapped = is_mapped("/proc/self/uid_map") && is_mapped("/proc/self/gid_map");
	unsigned int number, id;

	for (int i = 0; mapped && i < TRIES; i++) {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			break;
		id = FIRST + number % COUNT;
		if (!getpwuid(id) && !getgrgid(id) && !is_running(id))
			return (struct caller){ .uid = id, .gid = id };
	}
	return find_nobody();
}
