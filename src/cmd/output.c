// SPDX-License-Identifier: BSD-2-Clause
#include "output.h"

#include <stdio.h>
#include <string.h>

#include <base/log.h>
#include <base/rundb.h>

#include "cmd.h"

int output__create(struct recording *recording, const char *parent, const struct options *options)
{
	char what[PATH_MAX + RUN_TEXT];
	int err;

	err = parent ? recording__create(recording, parent, options) : 0;
	if (!err)
		return EXIT_DONE;
	snprintf(what, sizeof(what), "cannot make a directory in %s", parent);
	log__error(what, strerror(-err), "choose another by -o");
	return EXIT_ERROR;
}

int output__failed(const struct writer *writer, int err)
{
	const char *dir = writer ? writer->dir : NULL;
	char what[PATH_MAX + RUN_TEXT];

	snprintf(what, sizeof(what), "cannot write to %s", dir ? dir : "standard output");
	log__error(what, strerror(-err),
		   !dir || rundb__is_in(dir) > 0 ? "what came before is kept"
						 : "no run.db could be made: this is no recording");
	return EXIT_ERROR;
}

void output__show(const struct recording *recording)
{
	if (recording->dir[0] && rundb__is_in(recording->dir) > 0)
		log__note("recording in %s", recording->dir);
}
