// SPDX-License-Identifier: BSD-2-Clause
#include "resctrl_tree.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <host/pid_namespace.h>

#define RESCTRL_MAGIC 0x7655821 /* RDTGROUP_SUPER_MAGIC, <linux/magic.h> */
#define FUSE_MAGIC 0x65735546
#define GROUPS "mon_groups"
#define PASSES 100 /* of looking for threads that began meanwhile */

int resctrl_tree__at(int dir, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned int)flags | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | (*path == '/' ? 0 : RESOLVE_BENEATH),
	};
	int fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int resctrl_tree__text(int dir, const char *path, char *text, size_t size)
{
	int fd = resctrl_tree__at(dir, path, O_RDONLY);
	ssize_t length;

	if (fd < 0)
		return fd;
	length = read(fd, text, size - 1);
	if (length < 0)
		length = -errno;
	close(fd);
	if (length < 0)
		return (int)length;
	if (length && text[length - 1] == '\n')
		length--;
	text[length] = '\0';
	return 0;
}

static DIR *list_at(int dir, const char *path)
{
	int fd = resctrl_tree__at(dir, path, O_RDONLY | O_DIRECTORY);
	DIR *list = fd < 0 ? NULL : fdopendir(fd);

	if (fd >= 0 && !list)
		close(fd);
	return list;
}

/* ---- opening ---- */

static bool is_fs(int fd, long magic)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == magic;
}

static int open_chosen(struct resctrl_tree *tree, const char *root, char why[RUN_TEXT])
{
	int base = open(root, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (base >= 0) {
		tree->resctrl = resctrl_tree__at(base, &RESCTRL_TREE[1], O_RDONLY | O_DIRECTORY);
		tree->proc = resctrl_tree__at(base, "proc", O_RDONLY | O_DIRECTORY);
		close(base);
	}
	if (tree->resctrl >= 0 && tree->proc >= 0 && is_fs(tree->resctrl, FUSE_MAGIC) &&
	    is_fs(tree->proc, FUSE_MAGIC))
		return 0;
	snprintf(why, RUN_TEXT, "--resctrl-root is for tests: it must be a FUSE file system");
	return -EOPNOTSUPP;
}

static int open_own(struct resctrl_tree *tree, char why[RUN_TEXT])
{
	/* Processes of other numbers would be moved. */
	if (pid_namespace__differs()) {
		snprintf(why, RUN_TEXT, "numbers differ in a PID namespace; run it on the host");
		return -EOPNOTSUPP;
	}
	tree->resctrl = resctrl_tree__at(AT_FDCWD, RESCTRL_TREE, O_RDONLY | O_DIRECTORY);
	tree->proc = resctrl_tree__at(AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY);
	if (tree->resctrl == -ENOENT)
		snprintf(why, RUN_TEXT, "this kernel or CPU has no resctrl");
	else if (tree->resctrl < 0)
		return tree->resctrl;
	else if (!is_fs(tree->resctrl, RESCTRL_MAGIC))
		snprintf(why, RUN_TEXT,
			 "not mounted; needs 'mount -t resctrl resctrl " RESCTRL_TREE "'");
	else
		return tree->proc < 0 ? tree->proc : 0;
	return -EOPNOTSUPP;
}

/* The path of a task's group in /proc. */
static void name_task(char path[RESCTRL_NAME], uint32_t tgid, const char *tid)
{
	snprintf(path, RESCTRL_NAME, "%u/task/%.20s/cpu_resctrl_groups", tgid, tid);
}

static int check_proc(const struct resctrl_tree *tree, char why[RUN_TEXT])
{
	char path[RESCTRL_NAME], self[16], text[256];
	int err;

	snprintf(self, sizeof(self), "%d", getpid());
	name_task(path, (uint32_t)getpid(), self);
	err = resctrl_tree__text(tree->proc, path, text, sizeof(text));
	if (err)
		snprintf(why, RUN_TEXT,
			 "the kernel does not say which group a task is in "
			 "(CONFIG_PROC_CPU_RESCTRL)");
	return err ? -EOPNOTSUPP : 0;
}

int resctrl_tree__open(struct resctrl_tree *tree, const char *root, char why[RUN_TEXT])
{
	int err;

	*tree = (struct resctrl_tree){ .resctrl = -1, .proc = -1, .owner = getpid() };
	err = root ? open_chosen(tree, root, why) : open_own(tree, why);
	if (!err)
		err = check_proc(tree, why);
	if (err)
		resctrl_tree__close(tree);
	return err;
}

void resctrl_tree__close(struct resctrl_tree *tree)
{
	if (tree->resctrl >= 0)
		close(tree->resctrl);
	if (tree->proc >= 0)
		close(tree->proc);
	tree->resctrl = tree->proc = -1;
}

/* ---- groups ---- */

void resctrl_tree__name(const struct resctrl_tree *tree, uint32_t number, char name[RESCTRL_NAME])
{
	snprintf(name, RESCTRL_NAME, RESCTRL_PREFIX "%d-%u", tree->owner, number);
}

int resctrl_tree__make(const struct resctrl_tree *tree, uint32_t number)
{
	char name[RESCTRL_NAME], path[PATH_MAX];

	resctrl_tree__name(tree, number, name);
	snprintf(path, sizeof(path), GROUPS "/%s", name);
	return mkdirat(tree->resctrl, path, 0755) ? -errno : 0;
}

/* The PID in the name of a group of a latscope; 0: it is no such group. */
static pid_t owner_of(const char *name)
{
	unsigned int pid, number;
	char rest;

	if (sscanf(name, RESCTRL_PREFIX "%u-%u%c", &pid, &number, &rest) != 2)
		return 0;
	return (pid_t)pid;
}

/* Of this process, or of one that was killed, with the process that restores. */
static bool is_ours(const struct resctrl_tree *tree, const char *name)
{
	pid_t owner = owner_of(name);
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", owner);
	return owner && (owner == tree->owner || faccessat(tree->proc, pid, F_OK, 0));
}

int resctrl_tree__remove(const struct resctrl_tree *tree)
{
	DIR *list = list_at(tree->resctrl, GROUPS);
	const struct dirent *entry;
	int err = 0;

	if (!list)
		return -errno;
	while ((entry = readdir(list)))
		if (is_ours(tree, entry->d_name) &&
		    unlinkat(dirfd(list), entry->d_name, AT_REMOVEDIR) && errno != ENOENT)
			err = -errno;
	closedir(list);
	return err;
}

static bool is_part(const char *name)
{
	return name[0] == '.' || !strcmp(name, "info") || !strcmp(name, GROUPS) ||
	       !strcmp(name, "mon_data");
}

uint32_t resctrl_tree__foreign(const struct resctrl_tree *tree)
{
	const char *const places[] = { ".", GROUPS };
	uint32_t count = 0;

	for (int i = 0; i < 2; i++) {
		DIR *list = list_at(tree->resctrl, places[i]);
		const struct dirent *entry;
		struct stat stat;

		while (list && (entry = readdir(list)))
			count += !is_part(entry->d_name) && !is_ours(tree, entry->d_name) &&
				 !fstatat(dirfd(list), entry->d_name, &stat, AT_SYMLINK_NOFOLLOW) &&
				 S_ISDIR(stat.st_mode);
		if (list)
			closedir(list);
	}
	return count;
}

/* ---- moving ---- */

enum place { THERE, ELSEWHERE, FOREIGN, GONE };

/*
 * The file says "res:CONTROL\nmon:GROUP": CONTROL is "/" for no control group, GROUP is empty for
 * no monitoring group.
 */
static enum place place_of(const struct resctrl_tree *tree, const char *wanted, uint32_t tgid,
			   const char *tid)
{
	char path[RESCTRL_NAME], text[PATH_MAX], *mon;

	name_task(path, tgid, tid);
	if (resctrl_tree__text(tree->proc, path, text, sizeof(text)))
		return GONE;
	mon = strstr(text, "\nmon:");
	if (strncmp(text, "res:/\n", 6) != 0 || !mon)
		return FOREIGN;
	mon += strlen("\nmon:");
	if (!strcmp(mon, wanted))
		return THERE;
	return !*mon || owner_of(mon) == tree->owner ? ELSEWHERE : FOREIGN;
}

struct move {
	const struct resctrl_tree *tree;
	uint32_t tgid;
	char wanted[RESCTRL_NAME]; /* the group; empty: none of ours */
	int tasks; /* its file */
	int moved; /* threads; negative: the errno */
	bool again; /* a thread was elsewhere */
};

/* Writes the number of one task at a time, as the kernel reads one. */
static void move_thread(struct move *move, const char *tid)
{
	char line[32];
	int length = snprintf(line, sizeof(line), "%.20s\n", tid);

	move->again = true;
	if (write(move->tasks, line, (size_t)length) == length)
		move->moved++;
	else if (errno == EINVAL) /* since then, another program has put it into a group */
		move->moved = -EBUSY;
	else if (errno != ESRCH)
		move->moved = -errno;
}

/* False: the process has ended. */
static bool each_thread(struct move *move, void (*visit)(struct move *move, const char *tid))
{
	char path[RESCTRL_NAME];
	const struct dirent *entry;
	DIR *list;

	snprintf(path, sizeof(path), "%u/task", move->tgid);
	list = list_at(move->tree->proc, path);
	if (!list)
		return false;
	while (move->moved >= 0 && (entry = readdir(list)))
		if (isdigit((unsigned char)entry->d_name[0]))
			visit(move, entry->d_name);
	closedir(list);
	return true;
}

static void refuse_foreign(struct move *move, const char *tid)
{
	if (place_of(move->tree, move->wanted, move->tgid, tid) == FOREIGN)
		move->moved = -EBUSY;
}

static void move_if_elsewhere(struct move *move, const char *tid)
{
	switch (place_of(move->tree, move->wanted, move->tgid, tid)) {
	case ELSEWHERE:
		move_thread(move, tid);
		break;
	case FOREIGN:
		move->moved = -EBUSY;
		break;
	case THERE:
	case GONE:
		break;
	}
}

static int open_tasks(struct move *move, uint32_t number)
{
	char path[PATH_MAX] = "tasks";

	if (number) {
		resctrl_tree__name(move->tree, number, move->wanted);
		snprintf(path, sizeof(path), GROUPS "/%s/tasks", move->wanted);
	}
	move->tasks = resctrl_tree__at(move->tree->resctrl, path, O_WRONLY);
	return move->tasks < 0 ? move->tasks : 0;
}

int resctrl_tree__move(const struct resctrl_tree *tree, uint32_t number, uint32_t tgid)
{
	struct move move = { .tree = tree, .tgid = tgid };
	bool lives;
	int err = open_tasks(&move, number);

	if (err)
		return err;
	lives = each_thread(&move, refuse_foreign);
	move.again = true;
	for (int i = 0; lives && move.moved >= 0 && move.again; i++) {
		move.again = false;
		if (i == PASSES)
			move.moved = -EAGAIN;
		else if (!each_thread(&move, move_if_elsewhere))
			lives = false;
	}
	close(move.tasks);
	return lives ? move.moved : -ESRCH;
}
