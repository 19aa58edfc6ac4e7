// SPDX-License-Identifier: BSD-2-Clause
/*
 * gup [-w] [-r | -d FILE | -u] PAGES: faults that no exception took, of handle_mm_fault() called
 * with regs == NULL.
 *
 * mlock(2) of PAGES fresh anonymous base pages faults each in by get_user_pages(): to the kernel's
 * accounting a minor fault like any other (minflt_window = PAGES), but none of the software perf
 * events page-faults, minor-faults and major-faults counts it. With -r the pages are those of a
 * child, written to by process_vm_writev(2): FAULT_FLAG_REMOTE; the kernel charges the caller
 * (minflt_window = PAGES), not the child (child_minflt_window = 0). With -d they are read into by
 * direct I/O from FILE, which must be as long; with -u they are registered as a buffer of io_uring.
 */
#include <linux/io_uring.h>
#include <sys/uio.h>

#include "reference.h"

/* A child that never runs its own code again and so has no fault of its own after its start. */
static pid_t start_child(void)
{
	pid_t child = reference_fork();

	if (!child) {
		raise(SIGSTOP);
		_exit(0);
	}
	reference_must(waitpid(child, NULL, WUNTRACED) == child, "cannot wait for the child: %m");
	return child;
}

/* From /proc, as the kernel has no getrusage() of a living child; needs no memory. */
static struct reference_faults child_faults(pid_t child)
{
	struct reference_faults faults = {};
	char path[64], text[1024];
	const char *after_name;
	ssize_t length = -1;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/stat", child);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		length = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[length < 0 ? 0 : length] = '\0';
	after_name = strrchr(text, ')');
	if (!after_name || sscanf(after_name, ") %*c %*d %*d %*d %*d %*d %*u %ld %*d %ld",
				  &faults.minor, &faults.major) != 2)
		reference_die(REFERENCE_FAILED, "cannot read %s", path);
	return faults;
}

static void fault_local(char *map, size_t pages)
{
	if (mlock(map, pages * load__page()))
		reference_die(errno == EPERM || errno == ENOMEM ? REFERENCE_CANNOT
								: REFERENCE_FAILED,
			      "cannot lock %zu pages: %m", pages);
}

static void fault_remote(pid_t child, char *map, size_t pages)
{
	char byte = 1;
	struct iovec local = { &byte, 1 };

	for (size_t i = 0; i < pages; i++) {
		struct iovec remote = { map + i * load__page(), 1 };

		if (process_vm_writev(child, &local, 1, &remote, 1, 0) != 1)
			reference_die(errno == EPERM || errno == ENOSYS ? REFERENCE_CANNOT
									: REFERENCE_FAILED,
				      "cannot write to the child: %m");
	}
}

static void fault_direct(const char *path, char *map, size_t pages)
{
	size_t size = pages * load__page();
	int fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);

	reference_need(fd >= 0, "cannot open %s for direct I/O: %m", path);
	reference_must(read(fd, map, size) == (ssize_t)size, "cannot read all of %s: %m", path);
	close(fd);
}

static void fault_registered(char *map, size_t pages)
{
	struct io_uring_params params = {};
	struct iovec buffer = { map, pages * load__page() };
	int fd = (int)syscall(SYS_io_uring_setup, 1, &params);

	reference_need(fd >= 0, "no io_uring: %m");
	reference_must(!syscall(SYS_io_uring_register, fd, IORING_REGISTER_BUFFERS, &buffer, 1),
		       "cannot register a buffer: %m");
	close(fd);
}

static void check(size_t pages, struct reference_faults faults)
{
	reference_must(faults.minor + faults.major == (long)pages,
		       "%zu pages faulted in, but %ld faults", pages, faults.minor + faults.major);
}

static void run_local(const char *file, bool registers, size_t pages)
{
	char *map = reference_map(pages);
	struct reference_faults faults = reference__faults(RUSAGE_THREAD);

	if (file)
		fault_direct(file, map, pages);
	else if (registers)
		fault_registered(map, pages);
	else
		fault_local(map, pages);
	faults = reference__faults_since(RUSAGE_THREAD, faults);
	reference_print_faults("loop", faults);
	check(pages, faults);
}

static void run_remote(pid_t child, char *map, size_t pages)
{
	struct reference_faults faults = reference__faults(RUSAGE_THREAD);
	struct reference_faults before = child_faults(child), after;

	fault_remote(child, map, pages);
	faults = reference__faults_since(RUSAGE_THREAD, faults);
	after = child_faults(child);
	reference_print_faults("loop", faults);
	printf("child=%d child_minflt_window=%ld child_majflt_window=%ld\n", child,
	       after.minor - before.minor, after.major - before.major);
	check(pages, faults);
}

int main(int argc, char **argv)
{
	bool is_remote = false, registers = false;
	const char *file = NULL;
	char *map = NULL;
	pid_t child = 0;
	size_t pages;
	int option;

	while ((option = reference_option(argc, argv, "rd:u"))) {
		is_remote |= option == 'r';
		registers |= option == 'u';
		file = option == 'd' ? optarg : file;
	}
	argv = reference_arguments(argc, argv, 1, "gup [-w] [-r | -d FILE | -u] PAGES");
	pages = reference_number(argv[0], "PAGES", 1, 1 << 20);
	if (is_remote) {
		map = reference_map(pages);
		child = start_child();
		/* The child's stays; ours would be faulted in by reference_open(). */
		munmap(map, pages * load__page());
	}
	reference_open();
	printf("pages=%zu\n", pages);
	if (is_remote)
		run_remote(child, map, pages);
	else
		run_local(file, registers, pages);
	reference_close();
	if (is_remote)
		reference_end(child);
	return 0;
}
