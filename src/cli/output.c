// SPDX-License-Identifier: BSD-2-Clause
#include "output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <core/units.h>
#include <session/lend.h>
#include <session/privilege.h>
#include <store/rundb.h>

#include "cmd.h"
#include "log.h"

int output__create(struct recording *recording, const char *parent, const struct options *options)
{
	char what[PATH_MAX + RUN_TEXT], why[RUN_TEXT], size[UNITS_TEXT];
	static const struct run nothing;
	int err;

	err = parent ? recording__create(recording, parent, &options->recording) : 0;
	if (err) {
		snprintf(what, sizeof(what), "cannot create a directory in %s", parent);
		log__error(what, rundir__explain(err),
			   err == -ENOSYS ? "mount it" : "choose another with -o");
		return EXIT_ERROR;
	}
	if (recording__room(recording, &nothing) != -ENOSPC)
		return EXIT_DONE;
	snprintf(what, sizeof(what), "cannot record in %s", parent);
	snprintf(why, sizeof(why), "less than %s is free there",
		 units__size(size, recording->min_free));
	log__error(what, why, "choose another directory with -o, or change --min-free");
	recording__discard(recording);
	return EXIT_ERROR;
}

int output__lend(struct restore **restore, struct recording *recording)
{
	char what[PATH_MAX + RUN_TEXT], why[RUN_TEXT];
	int err;

	/* Before privilege__try_writing(), which also changes the owner of the directory. */
	err = lend__begin(restore, recording);
	if (err) {
		log__error("cannot start the process that restores the recording's owner",
			   strerror(-err), NULL);
	} else if (privilege__try_writing(recording, why)) {
		snprintf(what, sizeof(what), "cannot write to %s", recording->dir);
		log__error(what, why, "choose another directory with -o");
	} else {
		return EXIT_DONE;
	}
	recording__discard(recording);
	return EXIT_ERROR;
}

static const char *why_not_back(int err)
{
	switch (err) {
	case -ECHILD:
		return "its helper process was killed";
	case -EMLINK:
		return "a file in it has another hard link";
	default:
		return strerror(-err);
	}
}

int output__end(struct restore *restore, struct recording *recording, int code)
{
	char what[PATH_MAX + RUN_TEXT];
	int err = lend__end(restore);

	if (err && recording->dir[0]) {
		snprintf(what, sizeof(what), "cannot return %s to root", recording->dir);
		log__error(what, why_not_back(err), "use chown -R root:root");
		code = code ? code : EXIT_ERROR;
	}
	recording__free(recording);
	return code;
}

int output__no_room(const struct recording *recording, int why)
{
	char text[RUN_TEXT], size[UNITS_TEXT];

	if (why == -EFBIG) {
		snprintf(text, sizeof(text), "it reached --max-size %s",
			 units__size(size, recording->max_size));
		log__warn("the recording ended early", text, "what was measured is complete");
		return EXIT_DONE;
	}
	snprintf(text, sizeof(text), "less than %s is free on its disk",
		 units__size(size, recording->min_free));
	log__error("the recording ended early", text,
		   "what was measured is complete; --min-free sets this limit");
	return EXIT_ERROR;
}

int output__failed(const struct writer *writer, int err)
{
	const char *dir = writer ? writer->dir : NULL;
	const char *shown = writer && writer->shown ? writer->shown : dir;
	char what[PATH_MAX + RUN_TEXT];

	if (dir && err == -ESTALE) {
		snprintf(what, sizeof(what), "the recording in %s is not complete", shown);
		log__error(what, "run.db was moved, removed or replaced in the meantime", NULL);
		return EXIT_ERROR;
	}
	snprintf(what, sizeof(what), "cannot write to %s", shown ? shown : "standard output");
	log__error(what, strerror(-err),
		   !dir || rundb__is_in(dir) > 0 ? "earlier intervals are kept"
						 : "without run.db this is not a recording");
	return EXIT_ERROR;
}

void output__show(const struct recording *recording)
{
	if (!recording->dir[0] || rundb__is_in(recording->rundir.at) <= 0)
		return;
	if (rundir__was_moved(&recording->rundir))
		log__warn("the recording was moved in the meantime",
			  "its directory has another path now", NULL);
	else
		log__note("recording in %s", recording->dir);
}
