// SPDX-License-Identifier: BSD-2-Clause
/*
 * msrfs MOUNTPOINT [COMMAND...]: a machine whose uncore counters tell what is known, as files.
 *
 *   msrfs /tmp/m 'machine gen=icx sockets=2 boxes=40' 'stream name=near rate=1e8 latency=90' &
 *
 * It serves until it is unmounted, gets a signal or its parent is gone. The files:
 *
 *   cpu/N/msr    as /dev/cpu/N/msr: a register is read and written at the offset that is its number
 *   ctl          takes commands, a line each (command.c); -EINVAL: see "error" in state
 *   move         takes decisions of tierlat, which change the shares of the tiers (moves.h)
 *   state        JSON: the reference, and what was accessed since the last mark
 *   changed      JSON: the registers whose content is not what it was at the last mark
 *   writes       every write of a register since then: SOCKET REGISTER OLD NEW
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
#include <sys/stat.h>
#include <unistd.h>

#include "emulator.h"
#include "moves.h"

#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))

static struct emulator emulator;

enum file { ROOT, CPUS, CPU, MSR, CTL, MOVE, STATE, CHANGED, WRITES };

static const struct {
	const char *path;
	enum file file;
	mode_t mode;
} fixed[] = {
	{ "/", ROOT, S_IFDIR | 0755 },	       { "/cpu", CPUS, S_IFDIR | 0755 },
	{ "/ctl", CTL, S_IFREG | 0200 },       { "/move", MOVE, S_IFREG | 0200 },
	{ "/state", STATE, S_IFREG | 0400 },   { "/changed", CHANGED, S_IFREG | 0400 },
	{ "/writes", WRITES, S_IFREG | 0400 },
};

/* An open file. */
struct handle {
	enum file file;
	unsigned int cpu;
	char *text; /* of state and writes, as they were when it was opened */
	size_t length;
	struct moves moves; /* of move: what was written through this handle */
};

static bool is_online(unsigned long cpu)
{
	return cpu < emulator.machine.cpus && !emulator.offline[cpu];
}

/* The directory /cpu/N of a CPU that is online, or what is in it. */
static bool find_cpu(const char *path, enum file *file, unsigned int *cpu)
{
	unsigned long number;
	char *end;

	if (strncmp(path, "/cpu/", 5) || path[5] < '0' || path[5] > '9')
		return false;
	number = strtoul(path + 5, &end, 10);
	if (!is_online(number) || (*end && strcmp(end, "/msr")))
		return false;
	*file = *end ? MSR : CPU;
	*cpu = number;
	return true;
}

static int files_getattr(const char *path, struct stat *stat, struct fuse_file_info *info)
{
	enum file file;
	unsigned int cpu;

	(void)info;
	stat->st_uid = getuid();
	stat->st_gid = getgid();
	if (find_cpu(path, &file, &cpu)) {
		stat->st_mode = file == MSR ? S_IFREG | 0600 : S_IFDIR | 0755;
		stat->st_nlink = 1;
		return 0;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(fixed); i++)
		if (!strcmp(fixed[i].path, path)) {
			stat->st_mode = fixed[i].mode;
			stat->st_nlink = 1;
			return 0;
		}
	return -ENOENT;
}

static void fill_fixed(void *buffer, fuse_fill_dir_t fill)
{
	for (unsigned int i = 1; i < ARRAY_SIZE(fixed); i++)
		fill(buffer, fixed[i].path + 1, NULL, 0, 0);
}

static void fill_cpus(void *buffer, fuse_fill_dir_t fill)
{
	char name[12];

	for (unsigned int i = 0; i < emulator.machine.cpus; i++) {
		snprintf(name, sizeof(name), "%u", i);
		if (is_online(i))
			fill(buffer, name, NULL, 0, 0);
	}
}

static int files_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
			 struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
	(void)offset, (void)info, (void)flags;
	fill(buffer, ".", NULL, 0, 0);
	fill(buffer, "..", NULL, 0, 0);
	if (!strcmp(path, "/"))
		fill_fixed(buffer, fill);
	else if (!strcmp(path, "/cpu"))
		fill_cpus(buffer, fill);
	else
		fill(buffer, "msr", NULL, 0, 0);
	return 0;
}

static int open_text(struct handle *handle)
{
	if (handle->file == STATE)
		handle->text = emulator__state(&emulator, &handle->length);
	else if (handle->file == CHANGED)
		handle->text = emulator__changed(&emulator, &handle->length);
	else if (handle->file == WRITES)
		handle->text = emulator__writes(&emulator, &handle->length);
	else
		return 0;
	return handle->text ? 0 : -ENOMEM;
}

static int open_handle(const char *path, struct handle *handle)
{
	if (find_cpu(path, &handle->file, &handle->cpu))
		return emulator__open(&emulator, handle->cpu);
	for (unsigned int i = 0; i < ARRAY_SIZE(fixed); i++)
		if (!strcmp(fixed[i].path, path))
			handle->file = fixed[i].file;
	return open_text(handle);
}

static int files_open(const char *path, struct fuse_file_info *info)
{
	struct handle *handle = calloc(1, sizeof(*handle));
	int err;

	if (!handle)
		return -ENOMEM;
	err = open_handle(path, handle);
	if (err) {
		free(handle);
		return err;
	}
	info->direct_io = 1; /* every read and write comes here, at its very offset */
	info->fh = (uintptr_t)handle;
	return 0;
}

static int files_release(const char *path, struct fuse_file_info *info)
{
	struct handle *handle = (struct handle *)(uintptr_t)info->fh;

	(void)path;
	free(handle->text);
	free(handle);
	return 0;
}

/* The kernel's driver would repeat the register until the buffer is full; no test uses that. */
static int read_register(const struct handle *handle, char *buffer, size_t size, off_t offset)
{
	uint64_t value;
	int ret;

	if (size % 8)
		return -EINVAL;
	ret = emulator__read(&emulator, handle->cpu, offset, &value);
	if (ret > 0)
		memcpy(buffer, &value, ret);
	return ret;
}

static int read_text(const struct handle *handle, char *buffer, size_t size, off_t offset)
{
	if ((size_t)offset >= handle->length)
		return 0;
	if (size > handle->length - offset)
		size = handle->length - offset;
	memcpy(buffer, handle->text + offset, size);
	return size;
}

static int files_read(const char *path, char *buffer, size_t size, off_t offset,
		      struct fuse_file_info *info)
{
	const struct handle *handle = (const struct handle *)(uintptr_t)info->fh;

	(void)path;
	if (handle->file == MSR)
		return read_register(handle, buffer, size, offset);
	return read_text(handle, buffer, size, offset);
}

/* One command per line; lines after the first that fails are ignored. */
static int carry_out(const char *buffer, size_t size)
{
	char text[4096], *line, *rest = text;

	if (size >= sizeof(text))
		return -EINVAL;
	memcpy(text, buffer, size);
	text[size] = '\0';
	while ((line = strtok_r(NULL, "\n", &rest)))
		if (emulator__command(&emulator, line))
			return -EINVAL;
	return size;
}

static int files_write(const char *path, const char *buffer, size_t size, off_t offset,
		       struct fuse_file_info *info)
{
	struct handle *handle = (struct handle *)(uintptr_t)info->fh;
	uint64_t value;

	(void)path;
	if (handle->file == CTL)
		return carry_out(buffer, size);
	if (handle->file == MOVE) {
		moves__take(&handle->moves, &emulator, buffer, size);
		return size;
	}
	if (size % 8 || handle->file != MSR)
		return -EINVAL;
	memcpy(&value, buffer, sizeof(value));
	return emulator__write(&emulator, handle->cpu, offset, value);
}

/* A shell truncates what it writes to. */
static int files_truncate(const char *path, off_t offset, struct fuse_file_info *info)
{
	(void)path, (void)offset, (void)info;
	return 0;
}

static void *files_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
	(void)connection;
	config->attr_timeout = config->entry_timeout = config->negative_timeout = 0;
	return NULL;
}

int main(int argc, char **argv)
{
	static const char *const defaults[] = {
		"machine gen=icx sockets=2 boxes=40",
		"stream name=near rate=1e8 latency=90",
		"stream name=far rate=5e7 latency=180 remote=1",
	};
	static const struct fuse_operations operations = {
		.init = files_init,
		.getattr = files_getattr,
		.readdir = files_readdir,
		.open = files_open,
		.release = files_release,
		.read = files_read,
		.write = files_write,
		.truncate = files_truncate,
	};

	if (argc < 2) {
		fprintf(stderr, "usage: msrfs MOUNTPOINT [COMMAND...]\n");
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (unsigned int i = 0; i < ARRAY_SIZE(defaults); i++)
		emulator__command(&emulator, defaults[i]);
	for (int i = 2; i < argc; i++)
		if (emulator__command(&emulator, argv[i])) {
			fprintf(stderr, "msrfs: %s: %s\n", argv[i], emulator.error);
			return 2;
		}
	emulator__mark(&emulator);
	char *args[] = {
		argv[0], "-f", "-s", "-ofsname=latscope,default_permissions", argv[1], NULL
	};

	return fuse_main((int)ARRAY_SIZE(args) - 1, args, &operations, NULL);
}
