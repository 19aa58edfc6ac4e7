// SPDX-License-Identifier: BSD-2-Clause
/* empty HOOK...: keeps the empty program of each hook attached until it is killed. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "empty.skel.h"

static bool wanted(const char *program, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(program + strlen("empty_"), argv[i]))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct empty_bpf *skel = empty_bpf__open();
	struct bpf_program *program;

	if (!skel)
		return 1;
	bpf_object__for_each_program(program, skel->obj)
		bpf_program__set_autoload(program, wanted(bpf_program__name(program), argc, argv));
	if (empty_bpf__load(skel) || empty_bpf__attach(skel)) {
		fprintf(stderr, "empty: cannot attach\n");
		return 1;
	}
	for (;;)
		pause();
}
