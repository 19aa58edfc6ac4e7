// SPDX-License-Identifier: BSD-2-Clause
/* What slow samples are made of, in words. */
#include <core/pressure.h>
#include <core/why.h>

#include "types.h"

static const struct why_part parts[] = {
	[WHY_IOLAT_UNKNOWN] = {
		.name = "unknown",
		.what = "what the disk did is not known",
	},
	[WHY_IOLAT_QUEUED] = {
		.name = "queued",
		.what = "in the queue, for no known reason",
		.without = "requests waited in the queue",
	},
	[WHY_IOLAT_DEVICE] = {
		.name = "device",
		.what = "the disk itself, as without other requests",
		.without = "the disk itself took the time",
	},
	[WHY_IOLAT_OWN] = {
		.name = "own",
		.what = "others of its process were served",
		.without = "other requests of the same process kept the disk busy",
		.disk_action = "served %s",
		.of_task = true,
	},
	[WHY_IOLAT_OTHER] = {
		.name = "other",
		.what = "another process was served",
		.with = "%s kept the disk busy",
		.without = "other processes kept the disk busy",
		.within = "its other processes kept the disk busy",
		.disk_action = "served %s",
		.of_task = true,
	},
	[WHY_IOLAT_LATSCOPE] = {
		.name = "latscope",
		.what = "latscope itself was served",
	},
	[WHY_IOLAT_FLUSH] = {
		.name = "flush",
		.what = "the disk flushed its cache",
		.with = "%s had the disk flush its cache",
		.without = "the disk flushed its cache",
		.disk_action = "flushed its cache for %s",
	},
	[WHY_IOLAT_DISCARD] = {
		.name = "discard",
		.what = "the disk discarded blocks",
		.with = "%s had the disk discard blocks",
		.without = "the disk discarded blocks",
		.disk_action = "discarded blocks for %s",
	},
	[WHY_IOLAT_REQUEUED] = {
		.name = "requeued",
		.what = "given back by the driver, until issued again",
		.without = "the driver gave requests back",
	},
	[WHY_IOLAT_JOURNAL] = {
		.name = "journal",
		.what = "a journal was written",
		.with = "%s wrote the journal of a file system",
		.without = "the journal of a file system was written",
		.disk_action = "served %s",
		.of_task = true,
	},
	[WHY_IOLAT_WRITEBACK] = {
		.name = "writeback",
		.what = "asynchronous writes: no task waits",
		.unwaited = true,
	},
};

const struct why_words iolat_words = {
	.probe = "iolat",
	.wait = "block request",
	.waits = "block requests",
	.parts = parts,
	.nr_parts = sizeof(parts) / sizeof(parts[0]),
	.metric = 2,
	.requests = true,
	.resource = "I/O",
	.rest = "for requests of others, such as writeback, or before a request exists: io.max, "
		"locks",
	.stall = PRESSURE_IO_SOME,
};
