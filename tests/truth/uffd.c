// SPDX-License-Identifier: BSD-2-Clause
/*
 * uffd [-w] [-t THREADS] PAGES DELAY_MS: page faults of a known latency.
 *
 * The main thread, or THREADS at once, writes once to each of PAGES fresh pages registered with
 * userfaultfd(2); another lets DELAY_MS (fractions allowed) pass for each before it fills the page
 * in. So the process has exactly PAGES faults in the window of -w, without -t all of the main
 * thread (tid), none shorter than delay_ns and, but for the entry to the kernel and the exit, each
 * as long as its writer saw it: touch_min_ns, touch_mean_ns, touch_max_ns, touch_sum_ns.
 *
 * It is also the truth for retried faults: handle_mm_fault() sleeps for the delay, returns
 * VM_FAULT_RETRY and is called again to find the page there, so each fault takes two calls at
 * least, and the latency is in the first. Kernels call the fault minor or major according to the
 * lock that the first call held (whether the second one carries FAULT_FLAG_TRIED): only the sum is
 * a truth.
 */
#include <truth/uffd.h>

#include "truth.h"

static void print_touches(const struct truth_span *touches)
{
	uint64_t mean = touches->count ? touches->sum_ns / touches->count : 0;

	printf("touch_min_ns=%llu touch_mean_ns=%llu touch_max_ns=%llu touch_sum_ns=%llu\n",
	       (unsigned long long)touches->min_ns, (unsigned long long)mean,
	       (unsigned long long)touches->max_ns, (unsigned long long)touches->sum_ns);
}

int main(int argc, char **argv)
{
	struct truth_window window = {};
	struct truth_uffd uffd = {};
	int err, option;

	while ((option = getopt(argc, argv, "wt:")) != -1) {
		if (option == 'w')
			window.wait = true;
		else if (option == 't')
			uffd.threads = truth_number(optarg, "THREADS", 1, 4096);
		else
			return TRUTH_USAGE;
	}
	if (argc - optind != 2)
		truth_die(TRUTH_USAGE, "usage: uffd [-w] [-t THREADS] PAGES DELAY_MS");
	argv += optind;
	uffd.pages = truth_number(argv[0], "PAGES", 1, 1 << 20);
	uffd.delay_ns = truth_time(argv[1], "DELAY_MS", NSEC_PER_MSEC);
	truth_begin();
	truth_check(truth_uffd__prepare(&uffd), uffd.why);
	truth_open(&window);
	err = truth_uffd__run(&uffd);
	print_touches(&uffd.touches);
	printf("tid=%d\npages=%zu\ndelay_ns=%llu\n", getpid(), uffd.pages,
	       (unsigned long long)uffd.delay_ns);
	truth_print_faults("loop", uffd.faults);
	truth_print_faults("handler", uffd.handler);
	truth_check(err, uffd.why);
	truth_close(&window);
	return 0;
}
