// SPDX-License-Identifier: BSD-2-Clause
/*
 * requests [-w] DISK: what iolat measures, by a program that is independent of it.
 *
 * Reference: for each request of DISK (MAJOR:MINOR, no partition) an own clock is read when a bio
 * gets its request (block_getrq), at the first block_rq_issue and at the last block_rq_complete. At
 * the end it prints how often requests of each kind (see requests.h) have completed, that is, for
 * how many of these a BPF program was run: reads=, writes=, flushes=, ends=, syncs=, others=.
 *
 * Then requests= and, for device, queued and total, the deciles of the own times and of those by
 * the kernel's two stamps: queued_p50_ns= and kernel_queued_p50_ns=, p00 to p90 and p99, and
 * queued_sum_ns=. Requests without a bio of their own (flushes) and those that were in flight at
 * the start are left out: unknown=. Its programs take 0.1 to 0.3 us each, which is in the times.
 *
 * With -w it counts from ready=1 to the go, then prints.
 */
#include <poll.h>

#include <requests.skel.h>

#include "requests.h"
#include "reference.h"

#define MAX_REQUESTS (1 << 22)

enum metric { DEVICE, QUEUED, TOTAL, METRICS };

static const char *const names[] = { "device", "queued", "total" };

/* By whose stamps. */
enum whose { OWN, KERNEL, BOTH };

static struct {
	uint64_t *times[METRICS][BOTH];
	uint64_t count, unknown;
} seen;

static void add(enum whose whose, uint64_t start, uint64_t issue, uint64_t done)
{
	seen.times[DEVICE][whose][seen.count] = issue && issue < done ? done - issue : 0;
	seen.times[QUEUED][whose][seen.count] = start && start < issue ? issue - start : 0;
	seen.times[TOTAL][whose][seen.count] = start && start < done ? done - start : 0;
}

static int learn(void *context, void *data, size_t size)
{
	const struct request_times *times = data;

	if (!times->start_ns || seen.count == MAX_REQUESTS) {
		seen.unknown++;
		return 0;
	}
	add(OWN, times->start_ns, times->issue_ns, times->done_ns);
	/* The kernel's own issue stamp has the same error as its start: `queued` takes the own. */
	add(KERNEL, times->kernel_start_ns, times->issue_ns, times->done_ns);
	seen.times[DEVICE][KERNEL][seen.count] =
		times->kernel_issue_ns ? times->done_ns - times->kernel_issue_ns : 0;
	seen.count++;
	return 0;
}

static void print_metric(const char *whose, const char *name, uint64_t *times)
{
	static const int percents[] = { 0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99 };
	uint64_t sum = 0;

	qsort(times, seen.count, sizeof(*times), reference_by_number);
	for (uint64_t i = 0; i < seen.count; i++)
		sum += times[i];
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		printf("%s%s_p%02d_ns=%lu ", whose, name, percents[i],
		       times[seen.count * percents[i] / 100]);
	printf("%s%s_sum_ns=%lu\n", whose, name, sum);
}

static void report(const struct requests_bpf *skel)
{
	static const char *const kinds[REQUEST_KINDS] = {
		[REQUEST_READ] = "reads", [REQUEST_WRITE] = "writes", [REQUEST_FLUSH] = "flushes",
		[REQUEST_END] = "ends",	  [REQUEST_SYNC] = "syncs",   [REQUEST_OTHER] = "others",
	};

	for (int kind = 0; kind < REQUEST_KINDS; kind++)
		printf("%s=%llu\n", kinds[kind], skel->bss->completed[kind]);
	printf("requests=%lu unknown=%lu lost=%llu\n", seen.count, seen.unknown, skel->bss->lost);
	for (int metric = 0; seen.count && metric < METRICS; metric++) {
		print_metric("", names[metric], seen.times[metric][OWN]);
		print_metric("kernel_", names[metric], seen.times[metric][KERNEL]);
	}
}

static struct requests_bpf *load(const char *disk)
{
	struct requests_bpf *skel;
	unsigned int major, minor;
	int err;

	if (sscanf(disk, "%u:%u", &major, &minor) != 2)
		reference_die(REFERENCE_USAGE, "'%s' is not MAJOR:MINOR", disk);
	libbpf_set_print(NULL);
	skel = requests_bpf__open();
	reference_must(skel, "cannot open the programs: %m");
	skel->rodata->disk = major << 20 | minor;
	err = requests_bpf__load(skel);
	if (!err)
		err = requests_bpf__attach(skel);
	reference_need(!err, "cannot load or attach the programs: %s", strerror(-err));
	return skel;
}

static void make_room(void)
{
	for (int i = 0; i < METRICS * BOTH; i++) {
		uint64_t **times = &seen.times[i / BOTH][i % BOTH];

		*times = malloc(MAX_REQUESTS * sizeof(**times));
		reference_must(*times, "out of memory");
	}
}

/* Until a line comes, or the end of stdin. */
static void collect(struct ring_buffer *ring)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	do
		ring_buffer__consume(ring);
	while (poll(&in, 1, 50) == 0);
	ring_buffer__consume(ring);
	reference_read_line();
}

int main(int argc, char **argv)
{
	char **args = reference_arguments(argc, argv, 1, "requests [-w] MAJOR:MINOR");
	struct requests_bpf *skel;
	struct ring_buffer *ring;

	make_room();
	skel = load(args[0]);
	ring = ring_buffer__new(bpf_map__fd(skel->maps.done), learn, NULL, NULL);
	reference_must(ring, "cannot read the ring: %m");
	printf("ready=1\n");
	fflush(stdout);
	collect(ring);
	requests_bpf__detach(skel);
	report(skel);
	printf("done=1\n");
	fflush(stdout);
	reference_read_line();
	ring_buffer__free(ring);
	requests_bpf__destroy(skel);
	return 0;
}
