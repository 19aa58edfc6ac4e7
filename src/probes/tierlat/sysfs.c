// SPDX-License-Identifier: BSD-2-Clause
#include "sysfs.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/number_list.h>
#include <host/first_line.h>

#define LINE 4096
#define PMUS "/sys/bus/event_source/devices"
#define PCI "/sys/bus/pci/devices"

/* What the kernel says is unexpected, whatever is wrong with it. */
static int take_number(const char **at, unsigned long most, unsigned long *value)
{
	return number_list__number(at, most, value) ? -EUCLEAN : 0;
}

struct cpu_list {
	unsigned int *cpus;
	unsigned int nr, most;
};

static int add_cpus(void *to, unsigned long low, unsigned long high)
{
	struct cpu_list *list = to;

	for (unsigned long cpu = low; cpu <= high; cpu++) {
		if (list->nr == list->most)
			return -EUCLEAN;
		list->cpus[list->nr++] = (unsigned int)cpu;
	}
	return 0;
}

int sysfs_cpus__parse(const char *text, unsigned int *cpus, unsigned int most)
{
	struct cpu_list list = { .cpus = cpus, .most = most };

	return number_list__each(text, TIER_CPUS - 1, add_cpus, &list) ? -EUCLEAN : (int)list.nr;
}

int sysfs_format__parse(const char *text, unsigned int *which, uint64_t *bits)
{
	static const char *const fields[] = { "config:", "config1:", "config2:" };

	*bits = 0;
	for (unsigned int i = 0; i < 3; i++) {
		if (strncmp(text, fields[i], strlen(fields[i])))
			continue;
		*which = i;
		return number_list__each(text + strlen(fields[i]), 63, number_list__set_bits, bits)
			       ? -EUCLEAN
			       : 0;
	}
	return -EUCLEAN;
}

int sysfs__package(const char *root, unsigned int cpu)
{
	char path[128], line[64];
	unsigned long package;
	const char *at = line;
	int err;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/topology/physical_package_id",
		 cpu);
	err = first_line__read(root, path, line, sizeof(line));
	if (err)
		return err;
	err = take_number(&at, INT_MAX, &package);
	return err ? err : (int)package;
}

int sysfs__online(const char *root, unsigned int *cpus, unsigned int most)
{
	char line[LINE];
	int err;

	err = first_line__read(root, "/sys/devices/system/cpu/online", line, sizeof(line));
	return err ? err : sysfs_cpus__parse(line, cpus, most);
}

static int read_pmu(const char *root, const char *name, struct sysfs_pmu *pmu)
{
	char path[PATH_MAX], line[LINE];
	unsigned long type;
	const char *at = line;
	int err, nr;

	snprintf(pmu->name, sizeof(pmu->name), "%s", name);
	snprintf(path, sizeof(path), PMUS "/%s/type", name);
	err = first_line__read(root, path, line, sizeof(line));
	if (!err)
		err = take_number(&at, UINT32_MAX, &type);
	if (err || *at)
		return err ? err : -EUCLEAN;
	pmu->type = (uint32_t)type;
	snprintf(path, sizeof(path), PMUS "/%s/cpumask", name);
	err = first_line__read(root, path, line, sizeof(line));
	if (err)
		return err;
	nr = sysfs_cpus__parse(line, pmu->cpus, SYSFS_CPUS);
	pmu->nr_cpus = nr < 0 ? 0 : (unsigned int)nr;
	return nr < 0 ? nr : 0;
}

/* "uncore_cha_12" gives 12; anything but a number after the prefix is rejected. */
static bool is_one(const char *name, const char *prefix, bool number, unsigned int *box)
{
	const char *at = name + strlen(prefix);
	unsigned long value;

	*box = 0;
	if (strncmp(name, prefix, strlen(prefix)))
		return false;
	if (!number)
		return !*at;
	if (take_number(&at, UINT16_MAX, &value) || *at)
		return false;
	*box = (unsigned int)value;
	return true;
}

static int by_box(const void *left, const void *right)
{
	const struct sysfs_pmu *a = left, *b = right;

	return a->box < b->box ? -1 : a->box > b->box;
}

static int add_pmu(const char *root, const char *name, unsigned int box, struct sysfs_pmu **pmus,
		   unsigned int nr)
{
	struct sysfs_pmu *grown;

	if (nr == TIER_BOXES)
		return -EUCLEAN;
	grown = reallocarray(*pmus, nr + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	*pmus = grown;
	memset(&grown[nr], 0, sizeof(*grown));
	grown[nr].box = box;
	return read_pmu(root, name, &grown[nr]);
}

int sysfs__pmus(const char *root, const char *prefix, bool number, struct sysfs_pmu **pmus)
{
	unsigned int nr = 0, box;
	char path[PATH_MAX];
	struct dirent *entry;
	int err = 0;
	DIR *dir;

	*pmus = NULL;
	if (snprintf(path, sizeof(path), "%s" PMUS, root) >= PATH_MAX)
		return -ENAMETOOLONG;
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? 0 : -errno;
	while (!err && (entry = readdir(dir))) {
		if (!is_one(entry->d_name, prefix, number, &box))
			continue;
		err = add_pmu(root, entry->d_name, box, pmus, nr);
		nr += !err;
	}
	closedir(dir);
	if (err) {
		free(*pmus);
		*pmus = NULL;
		return err;
	}
	if (nr)
		qsort(*pmus, nr, sizeof(**pmus), by_box);
	return (int)nr;
}

int sysfs__formats(const char *root, const char *pmu, uint64_t bits[2])
{
	char dir_path[PATH_MAX], path[PATH_MAX], line[LINE];
	unsigned int which = 0;
	struct dirent *entry;
	uint64_t these;
	int err = 0;
	DIR *dir;

	bits[0] = bits[1] = 0;
	if (snprintf(dir_path, sizeof(dir_path), "%s" PMUS "/%s/format", root, pmu) >= PATH_MAX)
		return -ENAMETOOLONG;
	dir = opendir(dir_path);
	if (!dir)
		return -errno;
	while (!err && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", dir_path, entry->d_name) >= PATH_MAX)
			err = -ENAMETOOLONG;
		if (!err)
			err = first_line__read("", path, line, sizeof(line));
		if (!err)
			err = sysfs_format__parse(line, &which, &these);
		if (!err && which < 2)
			bits[which] |= these;
	}
	closedir(dir);
	return err;
}

uint64_t sysfs__llc_bytes(const char *root, unsigned int cpu)
{
	char path[128], line[64];
	unsigned long size;
	const char *at = line;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cache/index3/size", cpu);
	if (first_line__read(root, path, line, sizeof(line)) || take_number(&at, UINT32_MAX, &size))
		return 0;
	if (!strcmp(at, "K"))
		return (uint64_t)size << 10;
	return !strcmp(at, "M") ? (uint64_t)size << 20 : 0;
}

static bool is_device(const char *root, const char *name, uint16_t device)
{
	char path[PATH_MAX], line[64], wanted[16];

	snprintf(path, sizeof(path), PCI "/%s/vendor", name);
	if (first_line__read(root, path, line, sizeof(line)) || strcmp(line, "0x8086"))
		return false;
	snprintf(path, sizeof(path), PCI "/%s/device", name);
	snprintf(wanted, sizeof(wanted), "0x%04x", device);
	return !first_line__read(root, path, line, sizeof(line)) && !strcmp(line, wanted);
}

/* Without privileges the file ends after 64 bytes. */
static unsigned int count_capid(const char *root, const char *name)
{
	uint32_t capid[2]; /* CAPID6 at 0x9c, CAPID7 at 0xa0 */
	char path[PATH_MAX];
	unsigned int boxes = 0;
	FILE *stream;

	if (snprintf(path, sizeof(path), "%s" PCI "/%s/config", root, name) >= PATH_MAX)
		return 0;
	stream = fopen(path, "re");
	if (!stream)
		return 0;
	if (!fseek(stream, 0x9c, SEEK_SET) && fread(capid, sizeof(capid), 1, stream) == 1)
		boxes = (unsigned int)(__builtin_popcount(capid[0]) + __builtin_popcount(capid[1]));
	fclose(stream);
	return boxes;
}

unsigned int sysfs__capid_boxes(const char *root, uint16_t device)
{
	unsigned int boxes = 0;
	char path[PATH_MAX];
	struct dirent *entry;
	DIR *dir;

	if (snprintf(path, sizeof(path), "%s" PCI, root) >= PATH_MAX)
		return 0;
	dir = opendir(path);
	if (!dir)
		return 0;
	while (!boxes && (entry = readdir(dir))) {
		if (is_device(root, entry->d_name, device))
			boxes = count_capid(root, entry->d_name);
	}
	closedir(dir);
	return boxes;
}

bool sysfs__has(const char *root, const char *dir, const char *prefix)
{
	char path[PATH_MAX];
	struct dirent *entry;
	bool found = false;
	DIR *at;

	if (snprintf(path, sizeof(path), "%s%s", root, dir) >= PATH_MAX)
		return false;
	at = opendir(path);
	if (!at)
		return false;
	while (!found && (entry = readdir(at)))
		found = !strncmp(entry->d_name, prefix, strlen(prefix));
	closedir(at);
	return found;
}
