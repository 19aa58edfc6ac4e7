// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>

#include "atomic_file.h"
#include "json.h"
#include "writer.h"

struct summary_of {
	const struct run *run;
	const struct run_probe *probe;
};

static int print_summary(FILE *stream, const void *of)
{
	const struct summary_of *summary = of;

	return json__print(json__summary(summary->run, summary->probe), stream, true);
}

static int summary__close(struct writer *writer, const struct run *run)
{
	char name[RUN_NAME + sizeof(".summary.json")];
	int err = 0;

	for (unsigned int i = 0; !err && i < run->nr_probes; i++) {
		const struct summary_of summary = { run, &run->probes[i] };

		snprintf(name, sizeof(name), "%s.summary.json", summary.probe->name);
		if (!summary.probe->refused[0])
			err = outfile__write(writer->dir, name, print_summary, &summary);
	}
	return err;
}

const struct writer_ops writer_summary = {
	.name = "summary",
	.open = writer__need_dir,
	.close = summary__close,
};
