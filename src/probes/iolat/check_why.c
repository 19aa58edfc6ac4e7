// SPDX-License-Identifier: BSD-2-Clause
/* Situations in which a task waits for a disk. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <host/disks.h>
#include <selftest/null_disk.h>
#include <selftest/reference/neighbours.h>
#include <selftest/witness.h>

#include "check_why.h"

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

/* What the requests of the journal took, give or take a commit that goes on at either end. */
static uint64_t by_requests(const struct reference_neighbours *made, int more)
{
	int64_t requests = (int64_t)(made->together_writes - made->together_commits) + more;

	return requests > 0 ? (uint64_t)requests * REQUEST_NS : 0;
}

static int measure(struct witness *witness, const char *path, struct reference_neighbours asked)
{
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
	err = witness__measure(witness, "iolat",
			       (struct lat_config){ .disk = disks__id(st.st_rdev) });
	witness->slack_ns = made_by(witness)->together.sum_ns / ROOM;
	witness__doubt_events(witness);
	return err;
}

static int judge_serial(struct witness *witness, const char *path)
{
	int err = measure(witness, path,
			  (struct reference_neighbours){ .depth = DEPTH, .reads = 12 });
	uint64_t lost;

	if (err)
		return err;
	lost = lost_ns(made_by(witness));
	witness__claim(witness, "a serial disk: the neighbour", lost, lost,
		       witness__blamed(witness, made_by(witness)->neighbour, "neighbour"));
	return 0;
}

static int judge_parallel(struct witness *witness, const char *path)
{
	const struct reference_neighbours *made;
	int err = measure(witness, path,
			  (struct reference_neighbours){ .depth = DEPTH, .reads = 60 });

	if (err)
		return err;
	made = made_by(witness);
	witness__at_most(witness, "a parallel disk: not the neighbour", lost_ns(made),
			 witness__blamed(witness, made->neighbour, "neighbour"));
	witness->victim = made->neighbour;
	witness->victim_name = "neighbour";
	witness->slack_ns = 0;
	witness__at_most(witness, "  nor the victim, by it", witness__part(witness, NULL) / ROOM,
			 witness__blamed(witness, made->victim, "victim"));
	return 0;
}

/* Without a volatile cache, the disk gets no flushes: writes of both are all there is. */
static int judge_journal(struct witness *witness, const char *path)
{
	const struct reference_neighbours *made;
	uint64_t journal, database, by_journal;
	int err =
		measure(witness, path,
			(struct reference_neighbours){ .database = true, .depth = 1, .reads = 40 });

	if (err)
		return err;
	made = made_by(witness);
	journal = witness__part_of(witness, "journal", "jbd2/");
	by_journal = witness__part_of(witness, NULL, "jbd2/");
	database = witness__blamed(witness, made->neighbour, "database");
	if (made->together_reads > made->reads + 1)
		witness__doubt(witness, "others read the disk");
	witness__claim(witness, "a database and its journal", lost_ns(made), lost_ns(made),
		       database + by_journal);
	witness__claim(witness, "  the journal, by its requests", by_requests(made, -1),
		       by_requests(made, 1), journal);
	witness__none(witness, "  no other part is the journal's", by_journal - journal);
	witness__none(witness, "  and all of that part is",
		      witness__part(witness, "journal") - journal);
	witness__at_most(witness, "  no other task", 0,
			 witness__blamed_tasks(witness) - database - by_journal);
	return 0;
}

/* A disk for it, with a file system if it is for a journal. */
static int judge(struct witness *witness, unsigned int at_a_time, bool formats,
		 int (*on)(struct witness *witness, const char *path))
{
	char *why = witness->window->why;
	struct null_disk *disk;
	int err = null_disk__new(&disk, REQUEST_NS, at_a_time);

	if (err)
		return reference__fail(why, -EOPNOTSUPP, "no disk can be made for it: %s",
				       err == -ENODEV ? "there is no kernel module null_blk"
						      : strerror(-err));
	err = formats ? null_disk__format(disk) : 0;
	if (err)
		err = reference__fail(why, -EOPNOTSUPP, "no ext4 can be made for it: %s",
				      err == -ENOENT ? "there is no mkfs.ext4"
						     : "mkfs.ext4 failed");
	else
		err = on(witness, null_disk__path(disk));
	child__end(&witness->window->child);
	if (null_disk__free(disk) && !err)
		err = reference__fail(why, -EBUSY, "cannot remove the disk");
	return err;
}

static int on_serial(struct witness *witness)
{
	return judge(witness, 1, false, judge_serial);
}

static int on_parallel(struct witness *witness)
{
	return judge(witness, MANY, false, judge_parallel);
}

static int on_journal(struct witness *witness)
{
	return judge(witness, 1, true, judge_journal);
}

const struct situation iolat_situations[] = {
	{ "serial", "a disk that serves one request at a time", on_serial },
	{ "parallel", "a disk that serves many at a time", on_parallel },
	{ "journal", "a database and its journal", on_journal },
	{ NULL, NULL, NULL },
};
