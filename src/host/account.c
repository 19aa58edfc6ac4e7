// SPDX-License-Identifier: BSD-2-Clause
#include "account.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#define NSEC_PER_MSEC 1000000ULL
#define FNV_PRIME 0x100000001b3ULL

/* name of the line, for files with one number per line */
static const char *const lines[] = {
	[ACCOUNT_FAULTS] = "pgfault",
	[ACCOUNT_SWITCHES] = "ctxt",
	[ACCOUNT_SOFTIRQS] = "softirq",
};

static const char *const sources[] = {
	[ACCOUNT_FAULTS] = "/proc/vmstat",	  [ACCOUNT_WAITS] = "/proc/schedstat",
	[ACCOUNT_SWITCHES] = "/proc/stat",	  [ACCOUNT_SOFTIRQS] = "/proc/stat",
	[ACCOUNT_REQUESTS] = "/sys/block/*/stat",
};

const char *account__source(enum account_kind kind)
{
	return sources[kind];
}

static int fail(char why[RUN_TEXT], int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(char why[RUN_TEXT], int err, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, RUN_TEXT, format, arguments);
	va_end(arguments);
	return err;
}

/* Independent of the order, because a directory has none. */
static void mix(uint64_t *parts, uint64_t value)
{
	*parts += (value + 1) * FNV_PRIME;
}

/* NULL and errno. In containers another file may be mounted over it (lxcfs). */
static FILE *open_kernel_file(const char *root, const char *path)
{
	char full[PATH_MAX];
	struct statfs fs;
	FILE *file;

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	file = fopen(full, "re");
	if (!file || root[0])
		return file;
	if (!fstatfs(fileno(file), &fs) && fs.f_type != PROC_SUPER_MAGIC &&
	    fs.f_type != SYSFS_MAGIC) {
		fclose(file);
		errno = EMEDIUMTYPE;
		return NULL;
	}
	return file;
}

static int cannot_open(char why[RUN_TEXT])
{
	if (errno == EMEDIUMTYPE)
		return fail(why, -errno, "this container has a file of its own there");
	return fail(why, -errno, "%s", strerror(errno));
}

/* Finds the line "NAME NUMBER". /proc/stat has lines of many kilobytes before that of ctxt. */
static int read_line(struct account *account, FILE *file, const char *name, char why[RUN_TEXT])
{
	unsigned long long value;
	int err = -ENODATA;
	size_t size = 0, len = strlen(name);
	char *line = NULL;

	while (err && getline(&line, &size, file) > 0) {
		if (strncmp(line, name, len) || sscanf(line + len, " %llu", &value) != 1)
			continue;
		account->events = value;
		err = 0;
	}
	free(line);
	return err ? fail(why, err, "it has no %s", name) : 0;
}

/*
 * "cpu0" and nine numbers. The last two are run_delay and pcount in versions 15 and 17; only the
 * lines of the domains changed in between.
 */
static int read_waits(struct account *account, FILE *file, char why[RUN_TEXT])
{
	unsigned long long delay, count;
	unsigned int version = 0, cpu;
	char line[1024];

	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "version %u", &version) == 1 && (version < 15 || version > 17))
			break;
		if (sscanf(line, "cpu%u %*u %*u %*u %*u %*u %*u %*u %llu %llu", &cpu, &delay,
			   &count) != 3)
			continue;
		account->ns += delay;
		account->events += count;
		mix(&account->parts, cpu);
	}
	if (version < 15 || version > 17)
		return fail(why, -EPROTONOSUPPORT, "version %u of its format is unknown", version);
	return account->parts ? 0 : fail(why, -ENODATA, "it has no CPU");
}

/* Errors after a disk was removed: its files are missing or no longer readable. */
static bool is_gone(int err)
{
	return err == ENOENT || err == ENODEV;
}

/* The only number of a file; -1: it has none. errno is 0 if it could be read. */
static long read_number(const char *root, const char *disk, const char *name)
{
	char path[PATH_MAX];
	long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/block/%s/%s", disk, name);
	file = open_kernel_file(root, path);
	if (!file)
		return -1;
	errno = 0;
	if (fscanf(file, "%ld", &value) != 1)
		value = -1;
	fclose(file);
	return value;
}

/*
 * Completed reads, writes, discards and flushes, and the ms that each kind took. Kernels before 5.5
 * do not count flushes, only the other requests of their sequences.
 */
static int add_disk(struct account *account, const char *root, const char *disk, char why[RUN_TEXT])
{
	static const int counts[] = { 0, 4, 11, 15 }, times[] = { 3, 7, 14, 16 };
	unsigned long long fields[17] = { 0 };
	char path[PATH_MAX];
	bool gone;
	int nr = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/block/%s/stat", disk);
	file = open_kernel_file(root, path);
	if (!file)
		return is_gone(errno) ? 0 : cannot_open(why);
	errno = 0;
	while (nr < 17 && fscanf(file, "%llu", &fields[nr]) == 1)
		nr++;
	gone = is_gone(errno);
	fclose(file);
	if (gone)
		return 0;
	for (int i = 0; i < 4; i++) {
		account->events += fields[counts[i]];
		account->ns += fields[times[i]] * NSEC_PER_MSEC;
		account->step_ns += NSEC_PER_MSEC;
	}
	return nr < 17 ? fail(why, -ENODATA, "%s has no flushes in it", disk) : 0;
}

/*
 * A disk that returns under the same name has another inode, and counts from 0. A disk that is
 * removed while its files are read is ignored.
 */
static int take_disk(struct account *account, const char *root, const char *disk,
		     char why[RUN_TEXT])
{
	char path[PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/sys/block/%s/mq", root, disk);
	if (stat(path, &st)) /* it has no requests of its own */
		return 0;
	if (read_number(root, disk, "queue/iostats") != 1)
		return is_gone(errno)
			       ? 0
			       : fail(why, -ENODATA, "%s keeps no account (queue/iostats)", disk);
	mix(&account->parts, st.st_ino);
	return add_disk(account, root, disk, why);
}

static int read_requests(struct account *account, const char *root, char why[RUN_TEXT])
{
	char path[PATH_MAX];
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/sys/block", root);
	dir = opendir(path);
	if (!dir)
		return cannot_open(why);
	while (!err && (entry = readdir(dir))) {
		if (entry->d_name[0] != '.')
			err = take_disk(account, root, entry->d_name, why);
	}
	closedir(dir);
	if (!err && !account->parts)
		err = fail(why, -ENODEV, "no disk has requests of its own");
	return err;
}

int account__read(struct account *account, enum account_kind kind, const char *root,
		  char why[RUN_TEXT])
{
	FILE *file;
	int err;

	memset(account, 0, sizeof(*account));
	why[0] = '\0';
	if (kind == ACCOUNT_REQUESTS)
		return read_requests(account, root, why);
	file = open_kernel_file(root, sources[kind]);
	if (!file && errno == ENOENT && kind == ACCOUNT_WAITS)
		return fail(why, -ENOENT, "this kernel has none (CONFIG_SCHEDSTATS)");
	if (!file)
		return cannot_open(why);
	if (kind == ACCOUNT_WAITS)
		err = read_waits(account, file, why);
	else
		err = read_line(account, file, lines[kind], why);
	fclose(file);
	return err;
}

int64_t account__off(const struct run_checked *checked)
{
	if (checked->ours_high < checked->kernel_low)
		return -(int64_t)(checked->kernel_low - checked->ours_high);
	if (checked->ours_low > checked->kernel_high)
		return (int64_t)(checked->ours_low - checked->kernel_high);
	return 0;
}

double account__off_share(const struct run_checked *checked)
{
	double kernel = ((double)checked->kernel_low + (double)checked->kernel_high) / 2;

	return (double)account__off(checked) / (kernel > 1 ? kernel : 1);
}

bool account__disagrees(const struct run_checked *checked)
{
	int64_t off = account__off(checked);

	return (uint64_t)(off < 0 ? -off : off) > checked->tolerance;
}
