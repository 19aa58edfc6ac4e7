// SPDX-License-Identifier: BSD-2-Clause
/*
 * hold MB [huge]: touches so much memory, prints its address, and keeps it until its input ends.
 * The pages are of 4 KiB, or huge ones where the kernel has some.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoull(argv[1], NULL, 10) << 20 : 0, align = 2 << 20;
	char *memory, byte;

	if (!size)
		return 2;
	memory = mmap(NULL, size + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		return 1;
	memory += (align - (size_t)memory % align) % align;
	madvise(memory, size, argc > 2 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(memory, 1, size);
	printf("address=%p\n", (void *)memory);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	return 0;
}
