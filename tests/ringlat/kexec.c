// SPDX-License-Identifier: BSD-2-Clause
/*
 * kexec KERNEL INITRD CMDLINE MARK: starts another kernel while an owner crosses on the measured
 * CPU, and this process is one on CPU 0, where the kernel does that. Makes the file MARK before, to
 * tell that both were. Returns if anything fails only.
 */
#include "client.h"

#include <linux/reboot.h>
#include <sys/syscall.h>

static int open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	must(fd >= 0, path);
	return fd;
}

static void load(const char *kernel, const char *initrd, const char *cmdline)
{
	must(!syscall(SYS_kexec_file_load, open_file(kernel), open_file(initrd),
		      strlen(cmdline) + 1, cmdline, 0UL),
	     "load the kernel");
}

static void own(void)
{
	struct crossing crossing;

	must(!device_start(device_open(), BOTH), "start");
	cross_syscall(&crossing);
	must(crossing.u2k_k, "meet the stub");
}

static void mark(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	must(fd >= 0 && write(fd, "armed\n", 6) == 6 && !fsync(fd), path);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	pin(0);
	load(argv[1], argv[2], argv[3]);
	start_owner(cross_forever);
	must(AWAITED(is_hooked(MEASURED_CPU)), "see the other owner");
	mark(argv[4]);
	own();
	syscall(SYS_reboot, LINUX_REBOOT_MAGIC1, LINUX_REBOOT_MAGIC2, LINUX_REBOOT_CMD_KEXEC, NULL);
	must(false, "start the kernel");
}
