// SPDX-License-Identifier: BSD-2-Clause
#include "dio.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

static bool parse_disk(const char *line, dev_t device, struct reference_disk *disk)
{
	unsigned int number[2];
	int used = 0;

	if (sscanf(line, "%u %u %*s%n", &number[0], &number[1], &used) != 2 || !used ||
	    number[0] != major(device) || number[1] != minor(device))
		return false;
	for (int i = 0; i < REFERENCE_DISK_FIELDS; i++) {
		char *end;

		line += used;
		disk->field[i] = strtoull(line, &end, 10);
		used = end - line;
	}
	return true;
}

bool reference_disk__read(dev_t device, struct reference_disk *disk)
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

static uint64_t completed(const struct reference_disk *disk)
{
	return disk->field[REFERENCE_READS] + disk->field[REFERENCE_WRITES] +
	       disk->field[REFERENCE_FLUSHES] + disk->field[REFERENCE_DISCARDS];
}

bool reference_disk__settled(dev_t device, struct reference_disk *disk)
{
	uint64_t before;
	int tries = 0;

	if (!reference_disk__read(device, disk))
		return false;
	do {
		before = completed(disk);
		load__sleep(20 * NSEC_PER_MSEC);
		reference_disk__read(device, disk);
	} while ((completed(disk) != before || disk->field[REFERENCE_IN_FLIGHT]) && ++tries < 100);
	return true;
}
