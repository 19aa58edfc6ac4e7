// SPDX-License-Identifier: BSD-2-Clause
/*
 * throng PROCESSES ROUNDS FILE: so many processes that live at the same time. Each of them, in
 * every round, touches pages that it has not touched before, waits for a CPU with the others, and
 * writes a block to the file and waits until it is on the disk.
 */

#include "reference.h"

#define PAGES 32
#define BLOCK 4096

static _Noreturn void take_part(long rounds, const char *path)
{
	static const char block[BLOCK];
	int fd = open(path, O_WRONLY | O_DSYNC);

	for (long i = 0; fd >= 0 && i < rounds; i++) {
		size_t size = PAGES * load__page();
		char *pages = reference_map(PAGES);

		load__touch(pages, PAGES, false);
		munmap(pages, size);
		if (pwrite(fd, block, sizeof(block), 0) != sizeof(block))
			_exit(REFERENCE_FAILED);
	}
	_exit(fd < 0 ? REFERENCE_FAILED : 0);
}

int main(int argc, char **argv)
{
	long processes = argc == 4 ? atol(argv[1]) : 0, rounds = argc == 4 ? atol(argv[2]) : 0;
	int status;

	if (processes <= 0 || rounds <= 0)
		return REFERENCE_USAGE;
	for (long i = 0; i < processes; i++)
		if (!reference_fork())
			take_part(rounds, argv[3]);
	for (long i = 0; i < processes; i++)
		reference_must(wait(&status) >= 0 && !status, "a process failed");
	return 0;
}
