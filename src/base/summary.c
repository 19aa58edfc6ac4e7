// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "json.h"
#include "outfile.h"
#include "writer.h"

static int write_summary(const char *dir, const struct run *run, const struct run_module *module)
{
	struct outfile file = { 0 };
	char name[256];
	int err;

	snprintf(name, sizeof(name), "%s.summary.json", module->name);
	err = outfile__open(&file, dir, name);
	if (err)
		return err;
	err = json__print(json__summary(run, module), file.stream, true);
	if (err) {
		outfile__abort(&file);
		return err;
	}
	return outfile__commit(&file);
}

static int summary__close(struct writer *writer, const struct run *run)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_modules; i++) {
		if (!run->modules[i].refused[0])
			err = write_summary(writer->dir, run, &run->modules[i]);
	}
	return err;
}

const struct writer_ops writer_summary = {
	.name = "summary",
	.open = writer__need_dir,
	.interval = writer__skip_interval,
	.close = summary__close,
};
