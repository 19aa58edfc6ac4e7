// SPDX-License-Identifier: BSD-2-Clause
/*
 * disturbance PID: what keeps this machine from measuring well. Makes no latency.
 *
 * For each line on stdin it prints a line of counters, which only grow:
 *
 *   elapsed_us  CLOCK_MONOTONIC, times the number of CPUs
 *   steal_us    the hypervisor ran something else (/proc/stat)
 *   others_us   tasks had a CPU that do not descend from PID: all CPU time of /proc/stat, less that
 *               of PID and its descendants, and of their children that they have waited for
 *   kernel      switches that the kernel counts (/proc/stat)
 *   least most  switches for which the kernel ran a BPF program, just before and just after
 *
 * Some hosts run no BPF program for some switches. Of two lines, at least
 * kernel2 - kernel1 - (most2 - least1) switches were hidden in between. Without BPF, both are 0.
 */
#include <ctype.h>
#include <dirent.h>
#include <time.h>

#include <bpf/libbpf.h>

#include <switches.skel.h>

#include "reference.h"

#define MAX_TASKS 65536

struct task {
	long pid, parent;
	uint64_t ticks; /* of itself and of children that it has waited for */
	bool ours;
};

static struct task tasks[MAX_TASKS];
static size_t nr_tasks;
static struct switches_bpf *bpf;

static uint64_t us_of_ticks(uint64_t ticks)
{
	return ticks * (1000000 / (uint64_t)sysconf(_SC_CLK_TCK));
}

static void read_task(const char *pid)
{
	uint64_t user, sys, children_user, children_sys;
	char path[300], line[1024], *rest;
	long parent;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return;
	rest = fgets(line, sizeof(line), file) ? strrchr(line, ')') : NULL;
	fclose(file);
	if (!rest || nr_tasks == MAX_TASKS ||
	    sscanf(rest, ") %*c %ld %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %lu %lu", &parent,
		   &user, &sys, &children_user, &children_sys) != 5)
		return;
	tasks[nr_tasks++] = (struct task){ strtol(pid, NULL, 10), parent,
					   user + sys + children_user + children_sys, false };
}

static void read_tasks(void)
{
	DIR *proc = opendir("/proc");

	if (!proc)
		reference_die(REFERENCE_FAILED, "cannot read /proc: %m");
	nr_tasks = 0;
	for (struct dirent *entry; (entry = readdir(proc));) {
		if (isdigit(entry->d_name[0]))
			read_task(entry->d_name);
	}
	closedir(proc);
}

/* Ticks of ROOT and its descendants. */
static uint64_t ticks_of(long root)
{
	uint64_t sum = 0;
	bool found = true;

	while (found) {
		found = false;
		for (size_t i = 0; i < nr_tasks; i++) {
			bool ours = tasks[i].pid == root;

			for (size_t j = 0; !ours && j < nr_tasks; j++)
				ours = tasks[j].ours && tasks[j].pid == tasks[i].parent;
			if (ours && !tasks[i].ours) {
				tasks[i].ours = found = true;
				sum += tasks[i].ticks;
			}
		}
	}
	return sum;
}

static uint64_t count_switches(void)
{
	return bpf ? __atomic_load_n(&bpf->bss->switches, __ATOMIC_RELAXED) : 0;
}

static void print_counters(long root)
{
	uint64_t user, nice, sys, irq, softirq, steal, kernel = 0, least, most, all;
	char line[8192];
	struct timespec now;
	FILE *stat = fopen("/proc/stat", "r");

	if (!stat)
		reference_die(REFERENCE_FAILED, "cannot read /proc/stat: %m");
	least = count_switches();
	if (!fgets(line, sizeof(line), stat) ||
	    sscanf(line, "cpu %lu %lu %lu %*u %*u %lu %lu %lu", &user, &nice, &sys, &irq, &softirq,
		   &steal) != 6)
		reference_die(REFERENCE_FAILED, "cannot parse /proc/stat");
	while (fgets(line, sizeof(line), stat))
		sscanf(line, "ctxt %lu", &kernel);
	fclose(stat);
	most = count_switches();
	read_tasks();
	all = user + nice + sys + irq + softirq;
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%lu %lu %lu %lu %lu %lu\n",
	       ((uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000) *
		       (uint64_t)sysconf(_SC_NPROCESSORS_ONLN),
	       us_of_ticks(steal), us_of_ticks(all - ticks_of(root)), kernel, least, most);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	char line[16];
	long root;

	if (argc != 2)
		reference_die(REFERENCE_USAGE, "usage: disturbance PID");
	root = strtol(argv[1], NULL, 10);
	libbpf_set_print(NULL);
	bpf = switches_bpf__open_and_load();
	if (bpf && switches_bpf__attach(bpf)) {
		switches_bpf__destroy(bpf);
		bpf = NULL;
	}
	while (fgets(line, sizeof(line), stdin))
		print_counters(root);
	switches_bpf__destroy(bpf);
	return 0;
}
