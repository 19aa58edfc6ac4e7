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
 * It is also the reference for retried faults, see faults.h: each fault takes two calls of
 * handle_mm_fault() at least, and the latency is in the first. Only the sum of minor and major
 * faults is a reference.
 */

#include "reference.h"

int main(int argc, char **argv)
{
	struct reference_uffd uffd = {};
	int err;

	while (reference_option(argc, argv, "t:"))
		uffd.threads = reference_number(optarg, "THREADS", 1, 4096);
	argv = reference_arguments(argc, argv, 2, "uffd [-w] [-t THREADS] PAGES DELAY_MS");
	uffd.pages = reference_number(argv[0], "PAGES", 1, 1 << 20);
	uffd.delay_ns = reference_time(argv[1], "DELAY_MS", NSEC_PER_MSEC);
	reference_check(reference_uffd__prepare(&uffd), uffd.why);
	reference_open();
	err = reference_uffd__run(&uffd);
	reference_print_span("touch", &uffd.touches);
	printf("tid=%d\nhandler_tid=%d\npages=%zu\ndelay_ns=%lu\n", getpid(), uffd.handler_tid,
	       uffd.pages, uffd.delay_ns);
	reference_print_faults("loop", uffd.faults);
	reference_print_faults("handler", uffd.handler);
	reference_check(err, uffd.why);
	reference_close();
	return 0;
}
