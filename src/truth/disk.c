// SPDX-License-Identifier: BSD-2-Clause
#include "disk.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

static bool parse_disk(const char *line, dev_t device, struct truth_disk *disk)
{
	unsigned int number[2];
	int used = 0;

	if (sscanf(line, "%u %u %*s%n", &number[0], &number[1], &used) != 2 || !used ||
	    number[0] != major(device) || number[1] != minor(device))
		return false;
	for (int i = 0; i < TRUTH_DISK_FIELDS; i++) {
		char *end;

		line += used;
		disk->field[i] = strtoull(line, &end, 10);
		used = end - line;
	}
	return true;
}

bool truth_disk__read(dev_t device, struct truth_disk *disk)
{
	FILE *file = fopen("/proc/diskstats", "re");
	bool found = false;
	char line[512];

	if (!file)
		return false;
	while (!found && fgets(line, sizeof(line), file))
		found = parse_disk(line, device, disk);
	fclose(file);
	return found;
}

static uint64_t completed(const struct truth_disk *disk)
{
	return disk->field[TRUTH_READS] + disk->field[TRUTH_WRITES] + disk->field[TRUTH_FLUSHES] +
	       disk->field[TRUTH_DISCARDS];
}

bool truth_disk__settled(dev_t device, struct truth_disk *disk)
{
	uint64_t before;
	int tries = 0;

	if (!truth_disk__read(device, disk))
		return false;
	do {
		before = completed(disk);
		truth__sleep(20 * NSEC_PER_MSEC);
		truth_disk__read(device, disk);
	} while ((completed(disk) != before || disk->field[TRUTH_IN_FLIGHT]) && ++tries < 100);
	return true;
}
