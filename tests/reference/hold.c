// SPDX-License-Identifier: BSD-2-Clause
/*
 * hold MB [huge|weighted]: touches so much memory, prints its address, and keeps it until its input
 * ends. The pages are of 4 KiB, or huge ones where the kernel has some. With `weighted`, they are
 * on the nodes 0 and 1 by weighted interleave; for each byte of input the next quarter is freed and
 * touched again, and a byte printed.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WEIGHTED_INTERLEAVE 6

static void renew(char *memory, size_t size)
{
	madvise(memory, size, MADV_DONTNEED);
	memset(memory, 1, size);
	putchar('.');
	fflush(stdout);
}

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoull(argv[1], NULL, 10) << 20 : 0, align = 2 << 20;
	const char *how = argc > 2 ? argv[2] : "";
	bool weighted = !strcmp(how, "weighted");
	unsigned long nodes = 3;
	char *memory, byte;

	if (!size)
		return 2;
	if (weighted && syscall(SYS_set_mempolicy, WEIGHTED_INTERLEAVE, &nodes, 64UL))
		return 1;
	memory = mmap(NULL, size + align, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		      0);
	if (memory == MAP_FAILED)
		return 1;
	memory += (align - (size_t)memory % align) % align;
	madvise(memory, size, !strcmp(how, "huge") ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(memory, 1, size);
	printf("address=%p\n", (void *)memory);
	fflush(stdout);
	for (size_t part = 0; read(STDIN_FILENO, &byte, 1) > 0; part = (part + 1) % 4)
		if (weighted)
			renew(memory + part * (size / 4), size / 4);
	return 0;
}
