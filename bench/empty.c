// SPDX-License-Identifier: BSD-2-Clause
/* empty HOOK...: keeps the empty program of each hook attached until it is killed. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "empty.skel.h"

/* Hooks that are software events on each CPU. */
static const struct {
	const char *program;
	__u64 config;
} events[] = {
	{ "empty_event_start", PERF_COUNT_SW_PAGE_FAULTS },
	{ "empty_event_start_clock", PERF_COUNT_SW_PAGE_FAULTS },
	{ "empty_event_end", PERF_COUNT_SW_PAGE_FAULTS_MIN },
	{ "empty_event_end_clock", PERF_COUNT_SW_PAGE_FAULTS_MIN },
};

static bool wanted(const char *program, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(program + strlen("empty_"), argv[i]))
			return true;
	return false;
}

/* The link lives as long as this process. A CPU that is not online has no events. */
static int attach_event(const struct bpf_program *program, __u64 config)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = 1,
	};
	int cpus = libbpf_num_possible_cpus(), attached = 0;

	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		attached += fd >= 0 && bpf_program__attach_perf_event(program, fd);
	}
	return attached ? 0 : -1;
}

static int attach_events(const struct bpf_object *obj)
{
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(events) / sizeof(events[0]); i++) {
		const struct bpf_program *program =
			bpf_object__find_program_by_name(obj, events[i].program);

		if (bpf_program__fd(program) >= 0)
			err = attach_event(program, events[i].config);
	}
	return err;
}

int main(int argc, char **argv)
{
	struct empty_bpf *skel = empty_bpf__open();
	struct bpf_program *program;

	if (!skel)
		return 1;
	bpf_object__for_each_program(program, skel->obj)
		bpf_program__set_autoload(program, wanted(bpf_program__name(program), argc, argv));
	if (empty_bpf__load(skel) || empty_bpf__attach(skel) || attach_events(skel->obj)) {
		fprintf(stderr, "empty: cannot attach\n");
		return 1;
	}
	for (;;)
		pause();
}
