// SPDX-License-Identifier: BSD-2-Clause
/*
 * touch [-w] [-r] [-s user|kernel] PAGES: first touches of fresh anonymous base pages.
 *
 * Each is one minor fault of the main thread: of user code, or (-s kernel) of a system call's copy
 * to or from the page, a byte each; by write, or (-r) by read, which maps the zero page. PAGES is
 * thus the reference and is checked against the kernel's own: minflt_loop around the touching
 * alone, minflt_window for the whole process between the waits of -w. Both equal PAGES, so within
 * the window a recorder of this process has to see PAGES faults and no other. The first of them may
 * be retried, see faults.h.
 */

#include "reference.h"

static bool is_kernel(const char *side)
{
	if (strcmp(side, "user") && strcmp(side, "kernel"))
		reference_die(REFERENCE_USAGE, "-s takes user or kernel, not '%s'", side);
	return !strcmp(side, "kernel");
}

int main(int argc, char **argv)
{
	struct reference_touch touch = {};
	int option, err;

	while ((option = reference_option(argc, argv, "rs:")))
		if (option == 'r')
			touch.read = true;
		else
			touch.kernel = is_kernel(optarg);
	argv = reference_arguments(argc, argv, 1, "touch [-w] [-r] [-s user|kernel] PAGES");
	touch.pages = reference_number(argv[0], "PAGES", 1, 1 << 20);
	reference_check(reference_touch__prepare(&touch), touch.why);
	reference_open();
	err = reference_touch__run(&touch);
	printf("pages=%zu\nelapsed_ns=%lu\n", touch.pages, touch.elapsed_ns);
	reference_print_faults("loop", touch.faults);
	reference_check(err, touch.why);
	reference_close();
	return 0;
}
