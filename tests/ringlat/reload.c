// SPDX-License-Identifier: BSD-2-Clause
/*
 * reload: the module is unloaded and loaded again, and used, while all CPUs fault and call all the
 * time. LATSCOPE_RINGLAT is its file.
 */
#include "client.h"

#include <sys/syscall.h>

#define BOTH (RINGLAT_PF | RINGLAT_SYSCALL)

static pid_t start_load(int cpu)
{
	pid_t pid = fork();
	char *pages;

	if (pid)
		return pid;
	pin(cpu);
	for (;;) {
		pages = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			     -1, 0);
		must(pages != MAP_FAILED, "map pages");
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

static void loaded_again(void)
{
	const char *path = getenv("LATSCOPE_RINGLAT");
	pid_t loads[] = { start_load(0), start_load(1) };
	long i, times = rounds(25, 250);
	int module;

	for (i = 0; i < times; i++) {
		AWAIT(!syscall(SYS_delete_module, "ringlat", O_NONBLOCK));
		module = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
		EXPECT(module >= 0 && !syscall(SYS_finit_module, module, "", 0));
		close(module);
		AWAIT(!access(RINGLAT_DEVICE, F_OK));
		own_and_cross();
	}
	printf("# %ld times\n", i);
	for (i = 0; i < 2; i++) {
		kill(loads[i], SIGKILL);
		EXPECT(waitpid(loads[i], NULL, 0) == loads[i]);
	}
}

static const struct test_case cases[] = {
	{ "loaded-again", loaded_again },
};

int main(int argc, char **argv)
{
	return run_cases(CASES(cases), argc, argv);
}
