// SPDX-License-Identifier: BSD-2-Clause
/*
 * reload [CASE...]: the module is unloaded and loaded again, and used, while all CPUs fault and
 * call all the time, or while one has another entry. LATSCOPE_RINGLAT is its file.
 */
#include "client.h"

#include <elf.h>
#include <sys/syscall.h>

#define ENDBR64 0xfa1e0ff3

static pid_t start_load(int cpu)
{
	pid_t pid = fork();
	char *pages;

	if (pid)
		return pid;
	pin(cpu);
	for (;;) {
		pages = map_pages(16, PROT_READ | PROT_WRITE);
		memset(pages, 1, 16 * PAGE);
		munmap(pages, 16 * PAGE);
	}
}

static void own_and_cross(void)
{
	struct crossing crossing;
	pid_t pid = fork();
	int status, i;

	if (!pid) {
		device_own(BOTH);
		for (i = 0; i < 100; i++) {
			cross_syscall(&crossing);
			EXPECT(crossing.u2k_k);
		}
		_exit(failures ? 1 : 0);
	}
	EXPECT(waitpid(pid, &status, 0) == pid && !status);
}

static void load_again(void)
{
	const char *path = getenv("LATSCOPE_RINGLAT");
	int module;

	AWAIT(!syscall(SYS_delete_module, "ringlat", O_NONBLOCK));
	module = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	EXPECT(module >= 0 && !syscall(SYS_finit_module, module, "", 0));
	close(module);
	AWAIT(!access(RINGLAT_DEVICE, F_OK));
}

CASE(loaded_again)
{
	pid_t loads[] = { start_load(0), start_load(1) };
	long i, times = rounds(25, 250);

	for (i = 0; i < times; i++) {
		load_again();
		own_and_cross();
	}
	printf("# %ld times\n", i);
	for (i = 0; i < 2; i++)
		reap(loads[i]);
}

/* Four bytes of the kernel's memory. */
static uint32_t kernel_word(uint64_t address)
{
	int fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC), i;
	Elf64_Ehdr head;
	Elf64_Phdr part;
	uint32_t word = 0;

	must(fd >= 0 && pread(fd, &head, sizeof(head), 0) == sizeof(head), "read /proc/kcore");
	for (i = 0; i < head.e_phnum; i++) {
		must(pread(fd, &part, sizeof(part), (off_t)head.e_phoff + i * head.e_phentsize) ==
			     sizeof(part),
		     "find the kernel");
		if (address - part.p_vaddr < part.p_filesz)
			must(pread(fd, &word, sizeof(word),
				   (off_t)(part.p_offset + address - part.p_vaddr)) == sizeof(word),
			     "read the kernel");
	}
	close(fd);
	return word;
}

static void set_entry(int cpu, uint64_t lstar)
{
	int fd = open_msr(cpu, O_WRONLY);

	must(fd >= 0 && pwrite(fd, &lstar, sizeof(lstar), 0xc0000082) == sizeof(lstar),
	     "write LSTAR");
	close(fd);
}

/*
 * A CPU may have another SYSCALL entry for a while, as on Intel when it comes from a guest. The
 * module can be loaded all the same, leaves that CPU alone, and is of use there afterwards. An
 * entry that is another and as good is the kernel's without its first instruction, ENDBR64.
 */
CASE(with_another_entry)
{
	const uint64_t kernels = entry_of(MEASURED_CPU);
	struct crossing crossing;
	struct ringlat_info info;
	int fd;

	if (sysconf(_SC_NPROCESSORS_ONLN) < 2 || kernel_word(kernels) != ENDBR64)
		_exit(CANNOT);
	set_entry(MEASURED_CPU, kernels + sizeof(uint32_t));
	load_again();
	fd = device_open();
	EXPECT(!ioctl(fd, RINGLAT_INFO, &info) && info.events);
	pin(MEASURED_CPU);
	EXPECT(device_start(fd, BOTH) && errno == EBUSY);
	EXPECT(entry_of(MEASURED_CPU) == kernels + sizeof(uint32_t));
	set_entry(MEASURED_CPU, kernels);
	must(!device_start(fd, BOTH), "start");
	cross_syscall(&crossing);
	EXPECT(crossing.u2k_k);
	close(fd);
}

int main(int argc, char **argv)
{
	return run_cases(argc, argv);
}
