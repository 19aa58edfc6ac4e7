// SPDX-License-Identifier: BSD-2-Clause
/*
 * hold MB [huge|weighted|hot|pinned]: touches so much memory, prints its address, and keeps it
 * until its input ends. The pages are of 4 KiB, or huge ones where the kernel has some. With
 * `weighted`, they are on the nodes 0 and 1 by weighted interleave; for each byte of input the next
 * quarter is freed and touched again, and a byte printed. With `hot`, all pages are read again and
 * again. With `pinned`, a byte of input makes a page that is not on node 0 one that cannot move,
 * and a byte is printed.
 */
#include <poll.h>

#include "reference.h"

#define WEIGHTED_INTERLEAVE 6
#define PAGE 4096
#define PAUSE 2 /* ms */
#define FLUSHED 64

static void renew(char *memory, size_t size)
{
	madvise(memory, size, MADV_DONTNEED);
	memset(memory, 1, size);
	putchar('.');
	fflush(stdout);
}

/* A pipe refers to the first such page from now on. */
static void pin(char *memory, size_t size)
{
	int ends[2], node = 0;

	for (char *at = memory; at < memory + size; at += PAGE) {
		struct iovec page = { at, PAGE };
		void *address = at;

		if (syscall(SYS_move_pages, 0, 1UL, &address, NULL, &node, 0) || node <= 0)
			continue;
		if (pipe(ends) || vmsplice(ends[1], &page, 1, 0) != PAGE)
			return;
		putchar('.');
		fflush(stdout);
		return;
	}
}

/* The kernel flushes the whole TLB after the protection of so many pages has changed. */
static void flush_tlb(void)
{
	static char pages[FLUSHED * PAGE] __attribute__((aligned(PAGE)));

	memset(pages, 1, sizeof(pages));
	mprotect(pages, sizeof(pages), PROT_READ);
	mprotect(pages, sizeof(pages), PROT_READ | PROT_WRITE);
}

/*
 * Until there is input, or its end. The accessed bit of a page is set when it enters the TLB: an
 * emulated one can be so large that none leaves it again.
 */
static void keep_hot(const volatile char *memory, size_t size)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	while (!poll(&input, 1, PAUSE)) {
		flush_tlb();
		for (size_t at = 0; at < size; at += PAGE)
			(void)memory[at];
	}
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
	if (!strcmp(how, "hot"))
		keep_hot(memory, size);
	for (size_t part = 0; read(STDIN_FILENO, &byte, 1) > 0; part = (part + 1) % 4)
		if (weighted)
			renew(memory + part * (size / 4), size / 4);
		else if (!strcmp(how, "pinned"))
			pin(memory, size);
	return 0;
}
