// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <host/disks.h>

#include "io.h"

#define BLOCK 4096
#define FILE_BYTES (16UL << 20)

CHILD_WORK(, disk, reference_dio);

struct reference_dio disk__ask(const struct validate *validate)
{
	return (struct reference_dio){
		.path = validate->disk ? validate->disk : validate->dir,
		.own = !validate->disk,
		.bytes = BLOCK,
		.size = FILE_BYTES,
		.seed = validate->seed,
	};
}

static bool has(dev_t device, const char *file)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/%s", major(device), minor(device), file);
	return !access(path, F_OK);
}

/* The whole disk of a device. -EOPNOTSUPP: it has no requests of its own. */
static int find_whole(dev_t device, dev_t *whole)
{
	unsigned int number[2];
	char path[128];
	FILE *file;
	int got;

	*whole = device;
	if (has(device, "partition")) {
		snprintf(path, sizeof(path), "/sys/dev/block/%u:%u/../dev", major(device),
			 minor(device));
		file = fopen(path, "re");
		if (!file)
			return -EOPNOTSUPP;
		got = fscanf(file, "%u:%u", &number[0], &number[1]);
		fclose(file);
		if (got != 2)
			return -EOPNOTSUPP;
		*whole = makedev(number[0], number[1]);
	}
	return has(*whole, "mq") ? 0 : -EOPNOTSUPP;
}

int disk__find(struct window *window, dev_t *disk)
{
	const struct reference_dio *dio = window->child.reference;
	int err = find_whole(dio->disk, disk);

	if (err)
		snprintf(window->why, RUN_TEXT,
			 "%.128s is not on a disk that takes requests itself", dio->path);
	return err;
}

int disk__filter(struct window *window, struct lat_config *config)
{
	dev_t disk;
	int err = disk__find(window, &disk);

	if (err)
		return err;
	*config = (struct lat_config){ .disk = disks__id(disk), .by = 1U << LAT_BY_OP };
	return 0;
}
