// SPDX-License-Identifier: BSD-2-Clause
#include "privilege.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cap-ng.h>

#include <store/caller.h>

/*
 * systemd's list of ranges (UIDS-GIDS) assigns these to no program; SSSD and FreeIPA end before
 * them, and containers use numbers below.
 */
#define SPARE_FIRST 2100000000U
#define SPARE_COUNT 47000000U
#define SPARE_TRIES 64
#define NOBODY 65534 /* if no user is called nobody: the kernel shows it for unknown ids */

#define BIT(capability) (UINT64_C(1) << (capability))

/* Capabilities of this process once it has dropped the rest. */
static uint64_t kept;
static uint64_t to_remove_dir; /* number of kept capabilities */

__attribute__((format(printf, 3, 4))) static int fail(char why[RUN_TEXT], int err,
						      const char *format, ...)
{
	va_list args;
	size_t used;

	va_start(args, format);
	vsnprintf(why, RUN_TEXT, format, args);
	va_end(args);
	used = strlen(why);
	snprintf(why + used, RUN_TEXT - used, ": %s", strerror(-err));
	return err;
}

/* Does this user namespace map the whole range? */
static bool is_mapped(const char *path)
{
	unsigned long long first, count;
	FILE *stream = fopen(path, "re");
	bool found = false;

	while (stream && !found && fscanf(stream, "%llu %*u %llu", &first, &count) == 2)
		found = first <= SPARE_FIRST && first + count >= SPARE_FIRST + SPARE_COUNT;
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

/*
 * A spare user: no process, no account and no range of another program has its number. A
 * different one at each call. In a user namespace that maps too few numbers, as in a rootless
 * container, it is the user nobody.
 */
static struct caller find_spare(void)
{
	bool mapped = is_mapped("/proc/self/uid_map") && is_mapped("/proc/self/gid_map");
	unsigned int number, id;

	for (int i = 0; mapped && i < SPARE_TRIES; i++) {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			break;
		id = SPARE_FIRST + number % SPARE_COUNT;
		if (!getpwuid(id) && !getgrgid(id) && !is_running(id))
			return (struct caller){ .uid = id, .gid = id };
	}
	return find_nobody();
}

/*
 * The user who called latscope, if that is not root; else a user without processes. It is chosen
 * once, because finding a user without processes takes several ms.
 */
static struct caller choose_user(void)
{
	static struct caller user;

	if (!user.uid)
		user = caller__find();
	if (!user.uid)
		user = find_spare();
	return user;
}

static bool is_root(void)
{
	uid_t real, effective, saved;

	return !getresuid(&real, &effective, &saved) && (!real || !effective || !saved);
}

/*
 * Selects those of `wanted` that the process has as permitted; they become effective only if
 * `effective`.
 */
static void select_capabilities(uint64_t wanted, bool effective)
{
	uint64_t had = 0;

	for (unsigned int i = 0; i <= CAP_LAST_CAP; i++)
		if (wanted & BIT(i) && capng_have_capability(CAPNG_PERMITTED, i))
			had |= BIT(i);
	capng_clear(CAPNG_SELECT_CAPS);
	for (unsigned int i = 0; i <= CAP_LAST_CAP; i++)
		if (had & BIT(i))
			capng_update(CAPNG_ADD, CAPNG_PERMITTED | (effective ? CAPNG_EFFECTIVE : 0),
				     i);
}

/* Emptying the bounding set takes CAP_SETPCAP; without it, no_new_privs must be enough. */
static int change_user(const struct caller *user, char why[RUN_TEXT])
{
	bool bounded = capng_have_capability(CAPNG_EFFECTIVE, CAP_SETPCAP);
	capng_flags_t flags = CAPNG_CLEAR_AMBIENT | (bounded ? CAPNG_CLEAR_BOUNDING : 0);

	select_capabilities(kept, false);
	errno = EPERM;
	if (!is_root())
		return capng_change_id(-1, -1, flags) ? fail(why, -errno, "capabilities") : 0;
	if (capng_change_id((int)user->uid, (int)user->gid, flags | CAPNG_DROP_SUPP_GRP))
		return fail(why, -errno,
			    "cannot become user %u, for which it needs CAP_SETUID, "
			    "CAP_SETGID and CAP_SETPCAP",
			    user->uid);
	return is_root() ? fail(why, -EPERM, "still root") : 0;
}

/* Before Linux 5.19 (c8644cd0efe7) bpf() without CAP_BPF cannot even read a map. */
static bool bpf_needs_capability(void)
{
	struct bpf_prog_info info;
	uint32_t len = sizeof(info);

	return bpf_obj_get_info_by_fd(-1, &info, &len) && errno == EPERM;
}

/* The capability that this user, who has no effective ones, needs to write in the directory. */
static uint64_t needed_for_dir(int dir)
{
	if (dir < 0 || !faccessat(dir, ".", W_OK | X_OK, 0))
		return 0;
	return BIT(CAP_DAC_OVERRIDE); /* the owner could not be changed, or it has no owner */
}

/*
 * Sets *dir to the descriptor of the recording's directory, -1 if there is none. From here on this
 * user creates its files. needed_for_dir() finds out whether the directory could change its owner.
 */
static int give_recording(struct recording *recording, const struct caller *user, int *dir,
			  char why[RUN_TEXT])
{
	int err;

	*dir = -1;
	if (!recording || !recording->dir[0])
		return 0;
	*dir = recording->rundir.fd;
	err = recording__keep_owner(recording);
	if (err)
		return fail(why, err, "cannot make files as user %u", user->uid);
	if (is_root() && !user->by_sudo && fchown(*dir, user->uid, user->gid))
		errno = 0;
	return 0;
}

static int apply(void)
{
	select_capabilities(kept, true);
	return capng_apply(CAPNG_SELECT_CAPS) ? -EPERM : 0;
}

static int drop_user(const struct privilege_needs *needs, const struct caller *user, int dir,
		     char why[RUN_TEXT])
{
	uint64_t own = needs->capability ? BIT(needs->capability) : 0;
	int err;

	if (needs->calls.workload)
		own |= BIT(CAP_KILL);
	kept = own | BIT(CAP_BPF) | BIT(CAP_DAC_OVERRIDE);
	err = change_user(user, why);
	if (err)
		return err;
	kept = own | needed_for_dir(dir);
	if (bpf_needs_capability())
		kept |= BIT(CAP_BPF);
	if (needs->removes_dir && dir >= 0)
		to_remove_dir = BIT(CAP_DAC_OVERRIDE) & ~kept;
	kept |= to_remove_dir;
	err = apply();
	return err ? fail(why, err, "cannot give up capabilities") : 0;
}

int privilege__drop(const struct privilege_needs *needs, char why[RUN_TEXT])
{
	const struct caller user = choose_user();
	int dir, err;

	capng_get_caps_process();
	err = give_recording(needs->recording, &user, &dir, why);
	if (!err)
		err = drop_user(needs, &user, dir, why);
	if (err)
		return err;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return fail(why, -errno, "no_new_privs");
	if (needs->times_calls)
		return 0;
	err = seccomp__install(&needs->calls);
	return err ? fail(why, err, "cannot install the filter of system calls") : 0;
}

/* Runs in a process of its own. 0 or -errno; `why` goes back to our process. */
typedef int attempt(struct recording *recording, char why[RUN_TEXT]);

static int try_drop(struct recording *recording, char why[RUN_TEXT])
{
	const struct privilege_needs none = { .recording = recording };

	return privilege__drop(&none, why);
}

/* If it cannot become that user, privilege__drop() reports it. */
static int try_writing(struct recording *recording, char why[RUN_TEXT])
{
	const struct privilege_needs needs = { .recording = recording, .times_calls = true };
	int err;

	if (privilege__drop(&needs, why)) {
		why[0] = '\0';
		return 0;
	}
	err = rundir__try(&recording->rundir);
	return err ? fail(why, err, "user %u cannot write a file there", geteuid()) : 0;
}

static int try_apart(attempt *make, struct recording *recording, char why[RUN_TEXT])
{
	int result[2], err;
	pid_t pid;

	choose_user(); /* here, so that both processes know it */
	if (pipe2(result, O_CLOEXEC))
		return fail(why, -errno, "pipe");
	pid = fork();
	if (!pid) {
		memset(why, 0, RUN_TEXT);
		make(recording, why);
		_exit(write(result[1], why, RUN_TEXT) != RUN_TEXT);
	}
	err = pid < 0 ? fail(why, -errno, "fork") : 0;
	close(result[1]);
	if (!err && read(result[0], why, RUN_TEXT) != RUN_TEXT)
		err = fail(why, -EIO, "the process that tried it died");
	close(result[0]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return err ? err : why[0] ? -EPERM : 0;
}

int privilege__try(char why[RUN_TEXT])
{
	return try_apart(try_drop, NULL, why);
}

int privilege__try_writing(struct recording *recording, char why[RUN_TEXT])
{
	return recording->dir[0] ? try_apart(try_writing, recording, why) : 0;
}

int privilege__keep_dir(void)
{
	kept &= ~to_remove_dir;
	to_remove_dir = 0;
	return apply();
}

int privilege__end_workload(void)
{
	kept &= ~BIT(CAP_KILL);
	return apply();
}
