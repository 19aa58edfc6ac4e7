// SPDX-License-Identifier: BSD-2-Clause
/*
 * culprits SHAPE CPU MS [CGROUP]: the victim and its culprits of src/selftest/reference/culprits.h.
 *
 * Prints victim_pid=, hog1_pid= ..., and for each process what it used of the CPU by its own clock,
 * hog1_ran_ns=, with crowd and churn also the sum of the others, crowd_ran_ns= or brief_ran_ns=,
 * and with crowd what they ran since they started, hog1_all_ns=, crowd_all_ns=; for the victim
 * victim_waited_ns=. With moved also moved_least_ns=, moved_most_ns=; with deadline and limited
 * gaps_ns=.
 */
#include <selftest/reference/culprits.h>

#include "reference.h"

int main(int argc, char **argv)
{
	struct reference_culprits *all = reference_share(sizeof(*all));
	uint64_t crowd_ns = 0, crowd_all_ns = 0;
	int err;

	reference_usage(argc == 4 || argc == 5, "culprits SHAPE CPU MS [CGROUP]");
	all->shape = argv[1];
	all->cpu = (int)reference_number(argv[2], "CPU", 0, CPU_SETSIZE - 1);
	all->duration_ns = reference_number(argv[3], "MS", 1, 100000) * NSEC_PER_MSEC;
	all->cgroup = argv[4];
	err = reference_culprits__prepare(all);
	if (!err)
		err = reference_culprits__run(all);
	reference_check(err, all->why);
	printf("victim_pid=%d\nvictim_ran_ns=%lu\nvictim_waited_ns=%lu\ngaps_ns=%lu\n",
	       all->pids[0], all->ran_ns[0], all->waited_ns, all->gaps_ns);
	printf("moved_least_ns=%lu\nmoved_most_ns=%lu\n", all->moved_least_ns, all->moved_most_ns);
	printf("brief_ran_ns=%lu\nbriefs=%lu\n", all->briefs_ran_ns, all->briefs);
	for (unsigned int i = 2; i < all->processes; i++) {
		crowd_ns += all->ran_ns[i];
		crowd_all_ns += all->all_ns[i];
	}
	printf("crowd_ran_ns=%lu\ncrowd_all_ns=%lu\n", crowd_ns, crowd_all_ns);
	printf("hog1_all_ns=%lu\n", all->all_ns[1]);
	for (unsigned int i = 1; i < all->processes && i < 3; i++)
		printf("hog%u_pid=%d\nhog%u_ran_ns=%lu\n", i, all->pids[i], i, all->ran_ns[i]);
	return 0;
}
