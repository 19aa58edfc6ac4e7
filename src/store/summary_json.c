// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "atomic_file.h"
#include "json.h"
#include "writer.h"

static int write_summary(const char *dir, const struct run *run, const struct run_probe *probe)
{
	struct outfile file = { 0 };
	char name[256];
	int err;

	snprintf(name, sizeof(name), "%s.summary.json", probe->name);
	err = outfile__open(&file, dir, name);
	if (err)
		return err;
	err = json__print(json__summary(run, probe), file.stream, true);
	if (err) {
		outfile__abort(&file);
		return err;
	}
	return outfile__commit(&file);
}

static int summary__close(struct writer *writer, const struct run *run)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_probes; i++) {
		if (!run->probes[i].refused[0])
			err = write_summary(writer->dir, run, &run->probes[i]);
	}
	return err;
}

const struct writer_ops writer_summary = {
	.name = "summary",
	.open = writer__need_dir,
	.interval = writer__skip_interval,
	.close = summary__close,
};
