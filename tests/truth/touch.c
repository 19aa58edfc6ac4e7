// SPDX-License-Identifier: BSD-2-Clause
/*
 * touch [-w] [-r] [-s user|kernel] PAGES: first touches of fresh anonymous base pages.
 *
 * Each is one minor fault of the main thread: of user code, or (-s kernel) of a system call's copy
 * to or from the page, a byte each; by write, or (-r) by read, which maps the zero page. PAGES is
 * thus the truth and is checked against the kernel's own: minflt_loop around the touching alone,
 * minflt_window for the whole process between the waits of -w. Both equal PAGES, so within the
 * window a recorder of this process has to see PAGES faults and no other. The first of them may be
 * retried (a mapping's first fault prepares its anon_vma, for which the lock of the mapping alone
 * may not do): still one fault, though two calls of handle_mm_fault().
 */
#include <fcntl.h>

#include "truth.h"

struct touch {
	size_t pages;
	bool read;
	bool kernel;
	int zero; /* /dev/zero, which a kernel's write to a page comes from */
	int pipe[2]; /* what a kernel's read of a page goes to */
};

static void touch_user(const struct touch *touch, volatile char *map)
{
	for (size_t i = 0; i < touch->pages; i++) {
		if (touch->read)
			(void)map[i * TRUTH_PAGE];
		else
			map[i * TRUTH_PAGE] = 1;
	}
}

static bool copy_from_page(const struct touch *touch, const char *page)
{
	char byte;

	return write(touch->pipe[1], page, 1) == 1 && read(touch->pipe[0], &byte, 1) == 1;
}

static bool copy_to_page(const struct touch *touch, char *page)
{
	return read(touch->zero, page, 1) == 1;
}

static void touch_kernel(const struct touch *touch, char *map)
{
	for (size_t i = 0; i < touch->pages; i++) {
		char *page = map + i * TRUTH_PAGE;

		if (!(touch->read ? copy_from_page(touch, page) : copy_to_page(touch, page)))
			truth_die(TRUTH_FAILED, "cannot have the kernel touch a page: %s",
				  strerror(errno));
	}
}

static void run(const struct touch *touch)
{
	struct truth_faults before, faults;
	char *map = truth_map(touch->pages);
	uint64_t start = truth_now(), elapsed;

	before = truth_faults(RUSAGE_THREAD);
	if (touch->kernel)
		touch_kernel(touch, map);
	else
		touch_user(touch, map);
	faults = truth_since(RUSAGE_THREAD, before);
	elapsed = truth_now() - start;
	printf("pages=%zu\nelapsed_ns=%llu\n", touch->pages, (unsigned long long)elapsed);
	truth_print_faults("loop", faults);
	if (faults.minor + faults.major != (long)touch->pages)
		truth_die(TRUTH_FAILED, "%zu pages touched, but %ld faults", touch->pages,
			  faults.minor + faults.major);
}

static void open_files(struct touch *touch)
{
	touch->zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (touch->zero < 0 || pipe2(touch->pipe, O_CLOEXEC))
		truth_die(TRUTH_FAILED, "cannot open /dev/zero and a pipe: %s", strerror(errno));
}

static bool is_kernel(const char *side)
{
	if (strcmp(side, "user") && strcmp(side, "kernel"))
		truth_die(TRUTH_USAGE, "-s takes user or kernel, not '%s'", side);
	return !strcmp(side, "kernel");
}

int main(int argc, char **argv)
{
	struct truth_window window = {};
	struct touch touch = {};
	int option;

	while ((option = getopt(argc, argv, "wrs:")) != -1) {
		if (option == 'w')
			window.wait = true;
		else if (option == 'r')
			touch.read = true;
		else if (option == 's')
			touch.kernel = is_kernel(optarg);
		else
			return TRUTH_USAGE;
	}
	if (argc - optind != 1)
		truth_die(TRUTH_USAGE, "usage: touch [-w] [-r] [-s user|kernel] PAGES");
	touch.pages = truth_number(argv[optind], "PAGES", 1, 1 << 20);
	truth_begin();
	open_files(&touch);
	truth_open(&window);
	run(&touch);
	truth_close(&window);
	return 0;
}
