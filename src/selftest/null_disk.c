// SPDX-License-Identifier: BSD-2-Clause
#include "null_disk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <host/restore.h>
#include <loadgen/primitives.h>

#define CONFIG "/sys/kernel/config"
#define PREFIX CONFIG "/nullb/latscope" /* then the PID of the owner */
#define TRIES 100 /* until the device has its node, 10 ms each */
#define UNLOADS 60 /* 50 ms each */

/* In memory that the process shares which removes it. */
struct null_disk {
	char dir[64];
	char path[64];
	bool loaded, mounted; /* by us, or about to be */
	struct restore *restore;
};

/* Silently. -ENOENT: there is no such program; -EIO: it failed. */
static int run(char **argv)
{
	char *const environment[] = { NULL };
	posix_spawn_file_actions_t actions;
	int status, err;
	pid_t pid;

	if (posix_spawn_file_actions_init(&actions))
		return -ENOMEM;
	for (int fd = 1; fd <= 2; fd++)
		posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_WRONLY, 0);
	err = posix_spawn(&pid, argv[0], &actions, NULL, argv, environment);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		return -ENOENT;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status ? -EIO : 0;
}

/* As the kernel would load it. */
static int run_modprobe(const char *option, const char *setting)
{
	char program[256] = "",
	     *argv[] = { program, (char *)option, (char *)"null_blk", (char *)setting, NULL };
	FILE *file = fopen("/proc/sys/kernel/modprobe", "re");

	if (!file)
		return -ENODEV;
	if (!fgets(program, sizeof(program), file))
		program[0] = '\0';
	fclose(file);
	program[strcspn(program, "\n")] = '\0';
	return run(argv) ? -ENODEV : 0;
}

static int write_to(const char *dir, const char *name, const char *text)
{
	char path[128];
	int fd, err = 0;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		err = -errno;
	close(fd);
	return err;
}

static int set(const struct null_disk *disk, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return write_to(disk->dir, name, text);
}

/* Those who read the disk may need a moment to end. */
static int unload(void)
{
	int err = -EBUSY;

	for (int i = 0; err && i < UNLOADS; i++) {
		if (i)
			load__sleep(50 * NSEC_PER_MSEC);
		err = run_modprobe("-r", NULL);
	}
	return err;
}

/* A file system on it is unmounted when those who have it have ended. */
static void await_unmount(const struct null_disk *disk)
{
	int fd = -1;

	for (int i = 0; i < UNLOADS && fd < 0; i++) {
		fd = open(disk->path, O_RDONLY | O_EXCL | O_CLOEXEC);
		if (fd < 0 && errno != EBUSY)
			return;
		if (fd < 0)
			load__sleep(50 * NSEC_PER_MSEC);
	}
	if (fd >= 0)
		close(fd);
}

static int undo(void *arg)
{
	const struct null_disk *disk = arg;
	int err = 0;

	await_unmount(disk);
	set(disk, "power", 0);
	if (rmdir(disk->dir) && errno != ENOENT)
		err = -errno;
	if (disk->mounted)
		umount2(CONFIG, MNT_DETACH);
	if (disk->loaded && unload() && !err)
		err = -EBUSY;
	return err;
}

/* Its directory exists as soon as the kernel module configfs does, on which null_blk depends. */
static int have_config(struct null_disk *disk)
{
	int err = 0;

	if (access("/sys/module/null_blk", F_OK)) {
		disk->loaded = true;
		err = run_modprobe("-q", "nr_devices=0");
		disk->loaded = !err;
	}
	if (!err && access(CONFIG "/nullb", F_OK)) {
		if (mount("none", CONFIG, "configfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
			err = errno == ENOENT ? -ENODEV : -errno;
		disk->mounted = !err;
	}
	return err;
}

/* Since Linux 6.4 it is called as its directory is. */
static int find_path(struct null_disk *disk)
{
	unsigned int index = 0;
	char path[128];
	struct stat st;
	FILE *file;

	snprintf(path, sizeof(path), "%s/index", disk->dir);
	file = fopen(path, "re");
	if (!file || fscanf(file, "%u", &index) != 1)
		index = 0;
	if (file)
		fclose(file);
	for (int i = 0; i < 2 * TRIES; i++) {
		if (i % 2)
			snprintf(disk->path, sizeof(disk->path), "/dev/nullb%u", index);
		else
			snprintf(disk->path, sizeof(disk->path), "/dev%s", strrchr(disk->dir, '/'));
		if (!stat(disk->path, &st) && S_ISBLK(st.st_mode))
			return 0;
		load__sleep(10 * NSEC_PER_MSEC / 2);
	}
	return -ENODEV;
}

/* Requests wait in the queue: without a scheduler, there is only one at a time. */
static int set_queue(const struct null_disk *disk)
{
	char queue[96];
	int err;

	snprintf(queue, sizeof(queue), "/sys/block%s/queue", strrchr(disk->path, '/'));
	err = write_to(queue, "scheduler", "mq-deadline");
	return err ? err : write_to(queue, "nr_requests", "64");
}

static int make(struct null_disk *disk, uint64_t request_ns, unsigned int at_a_time)
{
	const struct {
		const char *name;
		uint64_t value;
	} settings[] = { { "memory_backed", 1 },
			 { "size", 64 }, /* MB */
			 { "queue_mode", 2 }, /* multi-queue */
			 { "irqmode", 2 }, /* a timer completes */
			 { "completion_nsec", request_ns },
			 { "submit_queues", 1 },
			 { "hw_queue_depth", at_a_time },
			 { "power", 1 } };
	int err = have_config(disk);

	if (!err && mkdir(disk->dir, 0755))
		err = -errno;
	for (size_t i = 0; !err && i < sizeof(settings) / sizeof(*settings); i++)
		err = set(disk, settings[i].name, settings[i].value);
	if (!err)
		err = find_path(disk);
	return err ? err : set_queue(disk);
}

int null_disk__new(struct null_disk **out, uint64_t request_ns, unsigned int at_a_time)
{
	static const struct restore_ops ops = { .undo = undo };
	struct null_disk *disk = mmap(NULL, sizeof(*disk), PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int err;

	if (disk == MAP_FAILED)
		return -ENOMEM;
	snprintf(disk->dir, sizeof(disk->dir), PREFIX "%d", getpid());
	err = restore__begin(&disk->restore, &ops, disk);
	if (err) {
		munmap(disk, sizeof(*disk));
		return err;
	}
	err = make(disk, request_ns, at_a_time);
	if (err)
		null_disk__free(disk);
	else
		*out = disk;
	return err;
}

int null_disk__format(const struct null_disk *disk)
{
	static const char *const programs[] = { "/usr/sbin/mkfs.ext4", "/sbin/mkfs.ext4" };
	char *argv[] = { NULL,
			 (char *)"-qF",
			 (char *)"-b4096",
			 (char *)"-Enodiscard,lazy_itable_init=0",
			 (char *)"-Jsize=4",
			 (char *)disk->path,
			 NULL };
	int err = -ENOENT;

	for (size_t i = 0; err == -ENOENT && i < sizeof(programs) / sizeof(*programs); i++) {
		argv[0] = (char *)programs[i];
		err = run(argv);
	}
	return err;
}

const char *null_disk__path(const struct null_disk *disk)
{
	return disk->path;
}

int null_disk__free(struct null_disk *disk)
{
	int err;

	if (!disk)
		return 0;
	err = restore__end(disk->restore, false);
	munmap(disk, sizeof(*disk));
	return err;
}
