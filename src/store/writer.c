// SPDX-License-Identifier: BSD-2-Clause
#include "writer.h"

#include <errno.h>

int writer__need_dir(struct writer *writer, const struct run *run)
{
	(void)run;
	return writer->dir ? 0 : -EINVAL;
}

int writer__skip_interval(struct writer *writer, const struct run *run,
			  const struct run_interval *interval)
{
	(void)writer;
	(void)run;
	(void)interval;
	return 0;
}
