// SPDX-License-Identifier: BSD-2-Clause
/* Situations in which a task waits for a disk. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <core/disks.h>
#include <selftest/reference/neighbours.h>

#include "null_disk.h"
#include "witness.h"

#define REQUEST_NS (10 * NSEC_PER_MSEC)
#define DEPTH 16 /* of the neighbour */
#define MANY 128 /* at a time: more than there are */
#define ROOM 20 /* of the time of the victim: 5 % */

CHILD_WORK(static, neighbours, reference_neighbours);

static const struct reference_neighbours *made_by(const struct witness *witness)
{
	return witness->window->child.reference;
}

/* What the neighbour cost the victim: its reads would have taken as long as alone. */
static uint64_t lost_ns(const struct reference_neighbours *made)
{
	uint64_t alone = made->alone.sum_ns, together = made->together.sum_ns;

	return together > alone ? together - alone : 0;
}

static int measure(struct witness *witness, const char *path, unsigned int reads)
{
	struct reference_neighbours asked = { .depth = DEPTH, .reads = reads };
	struct stat st;
	int err;

	snprintf(asked.path, sizeof(asked.path), "%s", path);
	if (stat(path, &st))
		return reference__fail(witness->window->why, -errno, "%s: %s", path,
				       strerror(errno));
	err = window__open(witness->window, &neighbours_work, &asked);
	if (err)
		return err;
	witness->request.over_ns = NSEC_PER_MSEC;
	witness->victim = made_by(witness)->victim;
	return witness__measure(witness, "iolat",
				(struct lat_config){ .disk = disks__id(st.st_rdev) });
}

static void claim_neighbour(struct witness *witness, bool serial)
{
	const struct reference_neighbours *made = made_by(witness);
	uint64_t blamed = witness__blamed(witness, made->neighbour, "neighbour");

	witness->slack_ns = made->together.sum_ns / ROOM;
	witness__doubt_events(witness);
	if (serial)
		witness__claim(witness, "a serial disk: the neighbour", lost_ns(made),
			       lost_ns(made), blamed);
	else
		witness__at_most(witness, "a parallel disk: not the neighbour", lost_ns(made),
				 blamed);
	if (serial)
		return;
	witness->victim = made->neighbour;
	witness->victim_name = "neighbour";
	witness->slack_ns = 0;
	witness__at_most(witness, "  nor the victim, by it", witness__part(witness, NULL) / ROOM,
			 witness__blamed(witness, made->victim, "victim"));
}

static int judge(struct witness *witness, bool serial)
{
	struct null_disk *disk;
	int err = null_disk__new(&disk, REQUEST_NS, serial ? 1 : MANY);

	if (err)
		return reference__fail(
			witness->window->why, -EOPNOTSUPP, "no disk can be made for it: %s",
			err == -ENODEV ? "there is no kernel module null_blk" : strerror(-err));
	err = measure(witness, null_disk__path(disk), serial ? 12 : 60);
	if (!err)
		claim_neighbour(witness, serial);
	child__end(&witness->window->child);
	if (null_disk__free(disk) && !err)
		err = reference__fail(witness->window->why, -EBUSY, "cannot remove the disk");
	return err;
}

int why_disk__serial(struct witness *witness)
{
	return judge(witness, true);
}

int why_disk__parallel(struct witness *witness)
{
	return judge(witness, false);
}
