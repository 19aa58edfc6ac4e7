// SPDX-License-Identifier: BSD-2-Clause
/*
 * disturbance PID: what keeps this machine from measuring well. Makes no latency.
 *
 * For each line on stdin it prints a line of counters, which only grow:
 *
 *   elapsed_us  CLOCK_MONOTONIC, times the number of CPUs
 *   steal_us    the hypervisor ran something else (/proc/stat)
 *   others_us   processes had a CPU that do not descend from PID; not kernel threads, which work
 *               for the descendants as well
 *   kernel      switches that the kernel counts (/proc/stat)
 *   least most  switches for which the kernel ran a BPF program, just before and just after
 *
 * Some hosts run no BPF program for some switches. Of two lines, at least
 * kernel2 - kernel1 - (most2 - least1) switches were hidden in between. Without BPF, others_us,
 * least and most are 0.
 */

#include <disturbance.skel.h>

#include "reference.h"

static struct disturbance_bpf *bpf;

static uint64_t count_switches(void)
{
	return bpf ? __atomic_load_n(&bpf->bss->switches, __ATOMIC_RELAXED) : 0;
}

/* A process that has had its CPU for long is counted without a switch. */
static uint64_t others_ns(void)
{
	uint64_t sum = 0;

	for (size_t i = 0; bpf && i < sizeof(bpf->bss->since_ns) / sizeof(uint64_t); i++) {
		uint64_t since = __atomic_load_n(&bpf->bss->since_ns[i], __ATOMIC_RELAXED);
		uint64_t now = clock__now_ns();

		sum += __atomic_load_n(&bpf->bss->others_ns[i], __ATOMIC_RELAXED);
		if (since && since < now)
			sum += now - since;
	}
	return sum;
}

struct counters {
	uint64_t steal, kernel, least, most;
};

static struct counters read_counters(void)
{
	struct counters counters = { .least = count_switches() };
	char line[8192];
	FILE *stat = fopen("/proc/stat", "r");

	reference_must(stat, "cannot read /proc/stat: %m");
	reference_must(fgets(line, sizeof(line), stat) &&
			       sscanf(line, "cpu %*u %*u %*u %*u %*u %*u %*u %lu",
				      &counters.steal) == 1,
		       "cannot parse /proc/stat");
	while (fgets(line, sizeof(line), stat))
		sscanf(line, "ctxt %lu", &counters.kernel);
	fclose(stat);
	counters.most = count_switches();
	return counters;
}

/*
 * The kernel's count and the program's are of one moment if no CPU switches while both are read. If
 * that does not come about, the closest reading: what is said to be hidden is still the least.
 */
static void print_counters(void)
{
	struct counters best = read_counters();

	for (int i = 0; i < 100 && best.most > best.least; i++) {
		struct counters again = read_counters();

		if (again.most - again.least < best.most - best.least)
			best = again;
	}
	printf("%lu %lu %lu %lu %lu %lu\n",
	       clock__now_ns() / 1000 * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
	       best.steal * (1000000 / (uint64_t)sysconf(_SC_CLK_TCK)), others_ns() / 1000,
	       best.kernel, best.least, best.most);
	fflush(stdout);
}

static void attach(int root)
{
	bpf = disturbance_bpf__open();
	if (!bpf)
		return;
	bpf->rodata->root = root;
	if (disturbance_bpf__load(bpf) || disturbance_bpf__attach(bpf)) {
		disturbance_bpf__destroy(bpf);
		bpf = NULL;
	}
}

int main(int argc, char **argv)
{
	char line[16];

	reference_usage(argc == 2, "disturbance PID");
	libbpf_set_print(NULL);
	attach((int)strtol(argv[1], NULL, 10));
	while (fgets(line, sizeof(line), stdin))
		print_counters();
	disturbance_bpf__destroy(bpf);
	return 0;
}
