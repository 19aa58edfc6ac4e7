// SPDX-License-Identifier: BSD-2-Clause
/*
 * capture sched|block: says "ready" and captures. At a line on its standard input it attaches its
 * programs a second time and says "ready" again. When its input ends, it prints a line for each
 * thread or disk: "ID COUNT SUM_NS MAX_NS LEAST_NS MOST_NS UNLIKE", "lost N" for what found no
 * room, and "missed N" for what the kernel did not run it for.
 *
 * At one tracepoint, programs run in the order in which they were attached. So the clock of a
 * program that was attached in between lies between our two clocks, and its sum between LEAST_NS
 * and MOST_NS, whatever stops the CPU between two programs. UNLIKE is by how many events the two
 * captures differ, as one has missed some; then LEAST_NS and MOST_NS are SUM_NS.
 */
#include <bpf/bpf.h>

#include "../reference/reference.h"
#include "capture.skel.h"

struct sum {
	uint64_t count, starts_ns, ends_ns, max_ns;
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

/* The sum that is the least can be below 0, if each event is short. */
static uint64_t time_between(uint64_t starts_ns, uint64_t ends_ns)
{
	uint64_t ns = ends_ns - starts_ns;

	return (int64_t)ns < 0 ? 0 : ns;
}

static void print_sum(uint64_t key, const struct sum *early, const struct sum *late)
{
	uint64_t least_ns = time_between(late->starts_ns, early->ends_ns);
	uint64_t most_ns = time_between(early->starts_ns, late->ends_ns);
	uint64_t ns = time_between(early->starts_ns, early->ends_ns);
	uint64_t unlike = late->count > early->count ? late->count - early->count
						     : early->count - late->count;

	if (!unlike && least_ns > most_ns) /* as many, but not the same */
		unlike = 1;
	if (unlike)
		least_ns = most_ns = ns;
	printf("%lu %lu %lu %lu %lu %lu %lu\n", key, early->count, ns, early->max_ns, least_ns,
	       most_ns, unlike);
}

static void print_sums(int map, int late_map)
{
	struct sum sum, late;
	uint64_t key, *last = NULL;

	for (; !bpf_map_get_next_key(map, last, &key); last = &key) {
		if (bpf_map_lookup_elem(map, &key, &sum))
			continue;
		if (bpf_map_lookup_elem(late_map, &key, &late))
			late = (struct sum){ 0 };
		print_sum(key, &sum, &late);
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

static struct capture_bpf *begin(const char *what)
{
	struct capture_bpf *skel = capture_bpf__open();

	reference_must(skel && !attach(skel, what), "cannot load or attach the programs: %m");
	printf("ready\n");
	fflush(stdout);
	return skel;
}

int main(int argc, char **argv)
{
	struct capture_bpf *early, *late;
	char ignored[64];

	reference_usage(argc == 2, "capture sched|block");
	early = begin(argv[1]);
	if (read(STDIN_FILENO, ignored, sizeof(ignored)) <= 0)
		return 2;
	late = begin(argv[1]);
	while (read(STDIN_FILENO, ignored, sizeof(ignored)) > 0)
		;
	capture_bpf__detach(late);
	capture_bpf__detach(early);
	print_sums(bpf_map__fd(early->maps.sums), bpf_map__fd(late->maps.sums));
	printf("lost %lu\nmissed %lu\n", (uint64_t)(early->bss->lost + late->bss->lost),
	       missed(early) + missed(late));
	return 0;
}
