// SPDX-License-Identifier: BSD-2-Clause
#include "target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <core/cpu_list.h>
#include <host/disks.h>
#include <host/names.h>
#include <host/pid_namespace.h>

static int resolve_task(const char *option, uint32_t id, char why[TARGET_WHY])
{
	bool process = option[1] == 'p';
	char path[RUN_NAME];

	if (!id)
		return 0;
	if (pid_namespace__differs()) {
		snprintf(why, TARGET_WHY,
			 "%s %u: numbers differ in a PID namespace; run it on the host", option,
			 id);
		return -EOPNOTSUPP;
	}
	snprintf(path, sizeof(path), "/proc/%u", id);
	/* /proc/ID exists for every thread; a process is a thread whose group has the same ID. */
	if (!access(path, F_OK) && (!process || !syscall(SYS_tgkill, id, id, 0) || errno == EPERM))
		return 0;
	snprintf(why, TARGET_WHY, "%s %u: no such %s", option, id, process ? "process" : "thread");
	return -ESRCH;
}

static int resolve_cgroup(const struct names *names, const char *path, uint64_t *id,
			  char why[TARGET_WHY])
{
	int err;

	if (!path)
		return 0;
	err = names__cgroup(names, path, id);
	if (err)
		snprintf(why, TARGET_WHY,
			 "--cgroup %s: %s; give a directory of the cgroup v2 hierarchy", path,
			 err == -ENOENT ? "no such cgroup" : strerror(-err));
	return err;
}

/* A bio-based disk has no requests; only the disks below it can be measured. */
static int check_requests(const char *name, uint32_t id, char why[RUN_TEXT])
{
	char below[RUN_TEXT / 4];

	if (disks__has_requests("", id))
		return 0;
	if (*disks__below("", id, below, sizeof(below)))
		snprintf(why, RUN_TEXT,
			 "--disk %.64s: it has no requests of its own; use a disk below it: %s",
			 name, below);
	else
		snprintf(why, RUN_TEXT,
			 "--disk %.64s: it has no requests of its own, nor has a disk below it; "
			 "iolat cannot measure it",
			 name);
	return -EOPNOTSUPP;
}

static int find_disk_of(const char *file, char disk[RUN_TEXT], char why[TARGET_WHY])
{
	if (access(file, F_OK)) {
		snprintf(why, TARGET_WHY, "--disk %s: %s", file, strerror(errno));
		return -ENODEV;
	}
	disks__of_file(file, disk, RUN_TEXT);
	if (*disk && !strchr(disk, ','))
		return 0;
	if (*disk)
		snprintf(why, TARGET_WHY, "--disk %s: it is on several disks; choose one: %s", file,
			 disk);
	else
		snprintf(why, TARGET_WHY,
			 "--disk %s: which disk it is on is not known; name the disk, see lsblk",
			 file);
	return -ENODEV;
}

static int resolve_disk(const struct names *names, const char *name, uint32_t *id,
			char why[TARGET_WHY])
{
	char disk[RUN_TEXT];
	int err;

	if (!name)
		return 0;
	if (strchr(name, '/') && strncmp(name, "/dev/", 5)) {
		if (find_disk_of(name, disk, why))
			return -ENODEV;
		name = disk;
	}
	err = names__disk(names, name, id);
	if (err >= 0 && check_requests(name, *id, why))
		return -EOPNOTSUPP;
	if (err < 0)
		snprintf(why, TARGET_WHY, "--disk %s: no such disk; see lsblk", name);
	else if (err > 0)
		snprintf(why, TARGET_WHY, "--disk %s: is a partition; measuring its whole disk",
			 name);
	return err;
}

/* A CPU that is offline exists. */
static int resolve_cpus(const char *list, struct lat_config *config, char why[TARGET_WHY])
{
	unsigned int cpu = 0;
	char path[RUN_NAME];
	int err;

	if (!list)
		return 0;
	err = cpu_list__parse(list, (uint64_t *)config->cpu_mask);
	config->cpus = 1;
	for (; !err && (cpu = cpu_list__next((uint64_t *)config->cpu_mask, cpu)) < LAT_CPUS;
	     cpu++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
		if (access(path, F_OK))
			err = -ENODEV;
		if (err)
			snprintf(why, TARGET_WHY, "--cpu %.64s: there is no CPU %u; see lscpu",
				 list, cpu);
	}
	return err;
}

int target__resolve(const struct target *target, struct lat_config *config, char why[TARGET_WHY])
{
	struct names *names;
	uint64_t cgroup = 0;
	int err;

	err = names__new(&names, "");
	if (err) {
		snprintf(why, TARGET_WHY, "%s", strerror(-err));
		return err;
	}
	config->tgid = target->pid;
	config->tid = target->tid;
	if (target->comm)
		strncpy(config->comm, target->comm, sizeof(config->comm) - 1);
	err = resolve_task("-p", target->pid, why);
	if (!err)
		err = resolve_task("-t", target->tid, why);
	if (!err)
		err = resolve_cgroup(names, target->cgroup, &cgroup, why);
	config->cgroup = cgroup;
	if (!err)
		err = resolve_cpus(target->cpus, config, why);
	if (!err)
		err = resolve_disk(names, target->disk, &config->disk, why);
	names__free(names);
	return err;
}

int target__name_cgroup(const struct names *names, const struct lat_config *config, char **path)
{
	const char *found = config->cgroup ? names__cgroup_path(names, config->cgroup) : NULL;

	*path = found ? strdup(found) : NULL;
	return found && !*path ? -ENOMEM : 0;
}

/* The device that is measured: for a partition its disk, for a link its target. */
static void describe_disk(FILE *out, uint32_t id)
{
	const struct lat_key key = { .by = LAT_BY_DISK, .id = id };
	struct names *names;
	char name[RUN_NAME];

	if (names__new(&names, ""))
		return;
	fprintf(out, ", disk %s", names__key(names, &key, NULL, name));
	names__free(names);
}

/* Does --disk or --cpu apply to this probe? Yes, if it can split by disk or CPU. */
static bool applies(const struct probe_ops *ops, enum lat_by by)
{
	return ops->splits & 1U << by;
}

static void name_those_with(enum lat_by by, FILE *out)
{
	const char *before = " (";

	for (size_t i = 0; probe_list[i]; i++) {
		if (!applies(probe_list[i], by))
			continue;
		fprintf(out, "%s%s", before, probe_list[i]->name);
		before = ", ";
	}
	fputc(')', out);
}

char *target__describe(const struct target *target, const struct lat_config *config,
		       const struct probe_ops *ops)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (target->pid)
		fprintf(out, ", process %u", target->pid);
	if (target->tid)
		fprintf(out, ", thread %u", target->tid);
	if (target->comm)
		fprintf(out, ", comm %s", target->comm);
	if (target->cpus && (!ops || applies(ops, LAT_BY_CPU)))
		fprintf(out, ", CPU %s", target->cpus);
	if (target->cpus && !ops)
		name_those_with(LAT_BY_CPU, out);
	if (target->cgroup)
		fprintf(out, ", cgroup %s", target->cgroup);
	if (target->disk && (!ops || applies(ops, LAT_BY_DISK)))
		describe_disk(out, config->disk);
	if (target->disk && !ops)
		name_those_with(LAT_BY_DISK, out);
	fclose(out);
	if (text && size) {
		memmove(text, text + 2, size - 1);
		return text;
	}
	free(text);
	return NULL;
}
