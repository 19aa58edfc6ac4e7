// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture sched|block: says "ready", captures until its standard input ends, and then prints a line
 * for each thread or disk: "ID COUNT SUM_NS MAX_NS", "lost N" for what found no room, and
 * "missed N" for what the kernel did not run it for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "capture.skel.h"

struct sum {
	uint64_t count, sum_ns, max_ns;
};

static int attach(struct capture_bpf *skel, const char *what)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, skel->obj)
	{
		bool wanted = !strncmp(bpf_program__name(program), what, strlen(what));

		bpf_program__set_autoload(program, wanted);
	}
	return capture_bpf__load(skel) || capture_bpf__attach(skel);
}

static void print_sums(int map)
{
	uint64_t key, *last = NULL;
	struct sum sum;

	while (!bpf_map_get_next_key(map, last, &key)) {
		if (!bpf_map_lookup_elem(map, &key, &sum))
			printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", key, sum.count,
			       sum.sum_ns, sum.max_ns);
		last = &key;
	}
}

static uint64_t missed(const struct capture_bpf *skel)
{
	struct bpf_program *program;
	uint64_t all = 0;

	bpf_object__for_each_program(program, skel->obj)
	{
		struct bpf_prog_info info = { 0 };
		uint32_t size = sizeof(info);

		if (bpf_program__fd(program) >= 0 &&
		    !bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
			all += info.recursion_misses;
	}
	return all;
}

int main(int argc, char **argv)
{
	struct capture_bpf *skel = capture_bpf__open();
	char ignored[64];

	if (argc != 2 || !skel || attach(skel, argv[1])) {
		fprintf(stderr, "usage: capture sched|block, as root\n");
		return 1;
	}
	printf("ready\n");
	fflush(stdout);
	while (read(STDIN_FILENO, ignored, sizeof(ignored)) > 0)
		;
	capture_bpf__detach(skel);
	print_sums(bpf_map__fd(skel->maps.sums));
	printf("lost %" PRIu64 "\nmissed %" PRIu64 "\n", (uint64_t)skel->bss->lost, missed(skel));
	return 0;
}
