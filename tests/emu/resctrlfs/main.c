// SPDX-License-Identifier: BSD-2-Clause
/*
 * resctrlfs MOUNTPOINT [COMMAND...]: a machine with resctrl, as files: sys/fs/resctrl, proc/PID/
 * task, and of the emulator `ctl` (takes commands, see state.h), `state` and `reads`.
 *
 * It serves until it is unmounted, gets a signal or its parent is gone.
 */
#define FUSE_USE_VERSION 35
#define _FILE_OFFSET_BITS 64 /* libfuse insists */
#include <errno.h>
#include <fuse3/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "state.h"

#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))
#define TREE "/sys/fs/resctrl"
#define MON "/mon_groups"

static struct state state;

enum kind {
	NONE,
	ROOT, /* a directory with a fixed list */
	CTL,
	STATE,
	READS,
	TOP, /* of resctrl */
	INFO, /* a file with a fixed text, or `number` */
	GROUPS,
	GROUP,
	TASKS,
	DATA, /* mon_data */
	DOMAIN,
	EVENT,
	PROCESS,
	THREADS, /* the directory task */
	THREAD,
	MEMBERSHIP, /* cpu_resctrl_groups */
};

struct file {
	enum kind kind;
	int group, tgid, tid;
	unsigned int domain, event;
	const char *text;
};

static const struct {
	const char *path;
	enum kind kind;
	const char *text; /* of a directory: what is in it */
} fixed[] = {
	{ "/", ROOT, "sys proc ctl state reads" },
	{ "/sys", ROOT, "fs" },
	{ "/sys/fs", ROOT, "resctrl" },
	{ "/proc", ROOT, "" },
	{ "/ctl", CTL, NULL },
	{ "/state", STATE, NULL },
	{ "/reads", READS, NULL },
	{ TREE "/info", ROOT, "L3_MON" },
	{ TREE "/info/L3_MON", ROOT, "num_rmids mon_features max_threshold_occupancy" },
	{ TREE "/info/L3_MON/num_rmids", INFO, NULL },
	{ TREE "/info/L3_MON/mon_features", INFO,
	  "llc_occupancy\nmbm_total_bytes\nmbm_total_bytes_config\nmbm_local_bytes\n" },
	{ TREE "/info/L3_MON/max_threshold_occupancy", INFO, "65536\n" },
	{ TREE, TOP, NULL },
	{ TREE MON, GROUPS, NULL },
};

static bool is_dir(enum kind kind)
{
	return kind == ROOT || kind == TOP || kind == GROUPS || kind == GROUP || kind == DATA ||
	       kind == DOMAIN || kind == PROCESS || kind == THREADS || kind == THREAD;
}

/* What is in a group: `rest` is below it. */
static enum kind find_in_group(const char *rest, struct file *file)
{
	char event[32];

	if (!*rest)
		return GROUP;
	if (!strcmp(rest, "/tasks"))
		return TASKS;
	if (!strcmp(rest, "/mon_data"))
		return DATA;
	if (sscanf(rest, "/mon_data/mon_L3_%2u/%31s", &file->domain, event) < 1 ||
	    file->domain >= state.domains)
		return NONE;
	if (strlen(rest) == strlen("/mon_data/mon_L3_00"))
		return DOMAIN;
	for (file->event = 0; file->event < STATE_EVENTS; file->event++)
		if (!strcmp(event, state_events[file->event]))
			return EVENT;
	return NONE;
}

static enum kind find_group(const char *path, struct file *file)
{
	const char *rest = path + strlen(TREE);
	char name[STATE_NAME];
	bool mon = !strncmp(rest, MON "/", strlen(MON "/"));

	if (!mon && (!strcmp(rest, "/tasks") || !strncmp(rest, "/mon_data", 9)))
		return find_in_group(rest, file);
	if (sscanf(mon ? rest + strlen(MON) : rest, "/%63[^/]", name) != 1)
		return NONE;
	file->group = state__group(&state, name, !mon);
	if (file->group < 0)
		return NONE;
	return find_in_group((mon ? rest + strlen(MON) : rest) + 1 + strlen(name), file);
}

static enum kind find_task(const char *path, struct file *file)
{
	char last[32] = "", end[8] = "";
	int got = sscanf(path, "/proc/%d/task/%d/%31[^/]%7s", &file->tgid, &file->tid, last, end);

	if (got < 1 || !state__threads(&state, file->tgid, NULL, NULL))
		return NONE;
	if (got == 1)
		return strstr(path, "/task") ? THREADS : PROCESS;
	if (!state__task(&state, file->tgid, file->tid))
		return NONE;
	if (got == 2)
		return THREAD;
	return got == 3 && !strcmp(last, "cpu_resctrl_groups") ? MEMBERSHIP : NONE;
}

static struct file find(const char *path)
{
	struct file file = { 0 };

	if (!state.mounted && !strncmp(path, TREE "/", strlen(TREE "/")))
		return file;
	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		if (!strcmp(path, fixed[i].path)) {
			file.kind = fixed[i].kind;
			file.text = fixed[i].text;
			return file;
		}
	if (!strncmp(path, TREE "/", strlen(TREE "/")))
		file.kind = find_group(path, &file);
	else if (!strncmp(path, "/proc/", 6))
		file.kind = find_task(path, &file);
	return file;
}

static int fs_getattr(const char *path, struct stat *stat, struct fuse_file_info *info)
{
	enum kind kind = find(path).kind;

	(void)info;
	if (kind == NONE)
		return -ENOENT;
	stat->st_nlink = 1;
	stat->st_mode = is_dir(kind)	? S_IFDIR | 0755
			: kind == TASKS ? S_IFREG | 0644
			: kind == CTL	? S_IFREG | 0200
					: S_IFREG | 0444;
	return 0;
}

struct listing {
	void *buffer;
	fuse_fill_dir_t fill;
};

static void list(const struct listing *listing, const char *names)
{
	char text[256], *name, *rest = text;

	snprintf(text, sizeof(text), "%s", names);
	while ((name = strsep(&rest, " ")))
		if (*name)
			listing->fill(listing->buffer, name, NULL, 0, 0);
}

static void list_groups(const struct listing *listing, bool control)
{
	for (int i = 1; i < STATE_GROUPS; i++)
		if (state.groups[i].name[0] && state.groups[i].control == control)
			list(listing, state.groups[i].name);
}

static void list_domains(const struct listing *listing)
{
	char name[32];

	for (unsigned int i = 0; i < state.domains; i++) {
		snprintf(name, sizeof(name), "mon_L3_%02u", i);
		list(listing, name);
	}
	if (state.vanishing && state.domains) {
		state.vanishing--;
		state.domains--;
	}
}

static void list_thread(void *to, int tid)
{
	char name[16];

	snprintf(name, sizeof(name), "%d", tid);
	list(to, name);
}

static int fs_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
		      struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	struct listing listing = { buffer, fill };
	struct file file = find(path);

	(void)offset, (void)info, (void)flags;
	list(&listing, ". ..");
	if (file.kind == ROOT)
		list(&listing, file.text);
	if (file.kind == TOP && state.mounted) {
		list(&listing, "info mon_groups mon_data tasks");
		list_groups(&listing, true);
	}
	if (file.kind == GROUPS)
		list_groups(&listing, false);
	if (file.kind == GROUP)
		list(&listing, "tasks mon_data");
	if (file.kind == DATA)
		list_domains(&listing);
	for (int i = 0; file.kind == DOMAIN && i < STATE_EVENTS; i++)
		list(&listing, state_events[i]);
	if (file.kind == PROCESS)
		list(&listing, "task");
	if (file.kind == THREADS && !state__threads(&state, file.tgid, list_thread, &listing))
		return -ENOENT;
	return 0;
}

static int fs_open(const char *path, struct fuse_file_info *info)
{
	(void)path;
	info->direct_io = 1; /* every read and write comes here */
	return 0;
}

static char *describe_task(const struct file *file)
{
	const struct state_task *task = state__task(&state, file->tgid, file->tid);
	const struct state_group *group = task ? &state.groups[task->group] : NULL;
	char *text = NULL;

	if (group && asprintf(&text, "res:%s\nmon:%s\n", group->control ? group->name : "/",
			      group->control ? "" : group->name) < 0)
		text = NULL;
	return text;
}

/* To be freed; NULL: there is nothing to read. */
static char *text_of(const struct file *file)
{
	char text[64];

	switch (file->kind) {
	case STATE:
		return state__describe(&state);
	case READS:
		return strdup(state.log ? state.log : "");
	case MEMBERSHIP:
		return describe_task(file);
	case EVENT:
		state__read(&state, file->group, file->domain, file->event, text, sizeof(text));
		return strdup(text);
	case INFO:
		snprintf(text, sizeof(text), "%u\n", state.rmids);
		return strdup(file->text ? file->text : text);
	default:
		return NULL;
	}
}

/* A reading that does not begin at 0 is of a long text, which must be the same as before. */
static int fs_read(const char *path, char *buffer, size_t size, off_t offset,
		   struct fuse_file_info *info)
{
	struct file file = find(path);
	char *text;
	size_t length;

	(void)info;
	if (file.kind == NONE)
		return -ENODEV;
	if (file.kind == EVENT && offset)
		return 0;
	text = text_of(&file);
	if (!text)
		return -EACCES;
	length = strlen(text);
	if ((size_t)offset >= length)
		size = 0;
	else if (size > length - offset)
		size = length - offset;
	if (size)
		memcpy(buffer, text + offset, size);
	free(text);
	return (int)size;
}

static int fs_write(const char *path, const char *buffer, size_t size, off_t offset,
		    struct fuse_file_info *info)
{
	struct file file = find(path);
	char text[256], *line, *rest = text;
	int err = -EACCES;

	(void)offset, (void)info;
	if (size >= sizeof(text))
		return -EINVAL;
	memcpy(text, buffer, size);
	text[size] = '\0';
	if (file.kind == NONE)
		return -ENODEV;
	if (file.kind == TASKS)
		err = state__move(&state, file.group, text);
	for (; file.kind == CTL && (line = strsep(&rest, "\n")) && *line;) {
		err = state__command(&state, line);
		if (err)
			break;
	}
	return err ? err : (int)size;
}

/* The directory in which a group is made or removed; NULL: none may be there. */
static const char *name_of(const char *path, bool *control)
{
	const char *name = strrchr(path, '/') + 1;
	size_t above = (size_t)(name - path) - 1;

	*control = above == strlen(TREE) && !strncmp(path, TREE, above);
	return *control || (above == strlen(TREE MON) && !strncmp(path, TREE MON, above)) ? name
											  : NULL;
}

static int fs_mkdir(const char *path, mode_t mode)
{
	bool control;
	const char *name = name_of(path, &control);

	(void)mode;
	return name ? state__make(&state, name, control) : -EPERM;
}

static int fs_rmdir(const char *path)
{
	bool control;
	const char *name = name_of(path, &control);

	return name ? state__remove(&state, name, control) : -EPERM;
}

/* A shell truncates what it writes to. */
static int fs_truncate(const char *path, off_t offset, struct fuse_file_info *info)
{
	(void)path, (void)offset, (void)info;
	return 0;
}

static void *fs_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	(void)connection;
	config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct fuse_operations operations = {
		.init = fs_init,
		.getattr = fs_getattr,
		.readdir = fs_readdir,
		.open = fs_open,
		.read = fs_read,
		.write = fs_write,
		.mkdir = fs_mkdir,
		.rmdir = fs_rmdir,
		.truncate = fs_truncate,
	};

	if (argc < 2) {
		fprintf(stderr, "usage: resctrlfs MOUNTPOINT [COMMAND...]\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	state__init(&state);
	for (int i = 2; i < argc; i++)
		if (state__command(&state, argv[i])) {
			fprintf(stderr, "resctrlfs: %s: no such command\n", argv[i]);
			return 2;
		}
	char *args[] = { argv[0], "-f", "-s", "-ofsname=resctrlfs,default_permissions",
			 argv[1], NULL };

	return fuse_main((int)ARRAY_SIZE(args) - 1, args, &operations, NULL);
}
