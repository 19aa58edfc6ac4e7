// SPDX-License-Identifier: BSD-2-Clause
/*
 * submitters [-w] PATH PROCESSES ROUNDS ALIKE: so many processes that live at the same time, called
 * "sub" and their number from 0. In each round, each of them in turn reads a block of PATH, a block
 * device, past the page cache. If ALIKE is not 0, their IDs are the same modulo ALIKE.
 *
 * With 0 rounds each of them, one after the other, writes a block of its own of PATH to the page
 * cache, has it written to the device, and exits without waiting for that.
 *
 * Prints pid0= and so on, the IDs, if there are at most 16. Exit codes as in reference.h.
 */
#include "reference.h"

#define BLOCK 4096
#define MOST_PRINTED 16
#define MOST_ID 32767 /* on all machines */
#define STACK (32 << 10)
#define USAGE "submitters [-w] PATH PROCESSES ROUNDS ALIKE"

static int device;
static unsigned long processes, rounds;
static pid_t alike, last;
static char (*blocks)[BLOCK];
static atomic_uint
	*turns; /* one word each: turns taken or begun, so it is odd while it is its turn */

static void wait_for(atomic_uint *word, unsigned int value)
{
	unsigned int now;

	while ((now = atomic_load(word)) != value)
		syscall(SYS_futex, word, 0 /* FUTEX_WAIT */, now, NULL, NULL, 0);
}

static void set(atomic_uint *word, unsigned int value)
{
	atomic_store(word, value);
	syscall(SYS_futex, word, 1 /* FUTEX_WAKE */, 1, NULL, NULL, 0);
}

static void take_turns(unsigned long number)
{
	off_t at = (off_t)(number % 1024 * BLOCK);

	for (unsigned int i = 0; i < rounds; i++) {
		wait_for(&turns[number], 2 * i + 1);
		reference_must(pread(device, blocks[number], BLOCK, at) == BLOCK,
			       "cannot read: %m");
		set(&turns[number], 2 * i + 2);
	}
}

static void leave_a_write(unsigned long number)
{
	off_t at = (off_t)(number * BLOCK);

	memset(blocks[number], (int)number + 1, BLOCK);
	reference_must(pwrite(device, blocks[number], BLOCK, at) == BLOCK, "cannot write: %m");
	reference_must(!sync_file_range(device, at, BLOCK, SYNC_FILE_RANGE_WRITE),
		       "cannot start to write: %m");
}

static int take_part(void *arg)
{
	unsigned long number = (uintptr_t)arg;
	char name[16];

	snprintf(name, sizeof(name), "sub%lu", number);
	prctl(PR_SET_NAME, name);
	if (rounds)
		take_turns(number);
	else
		leave_a_write(number);
	syscall(SYS_exit_group, 0);
	return 0;
}

/* The process gets a copy of the memory. */
static pid_t make_alike(unsigned long number)
{
	pid_t got;

	do {
		last = last ? last + alike : alike + 2000 % alike;
		reference_need(last <= MOST_ID, "there are no free process IDs");
		got = reference_fork_as(last);
	} while (got < 0);
	if (!got)
		take_part((void *)(uintptr_t)number);
	return got;
}

/* It shares the memory, so that there can be many. */
static pid_t make(unsigned long number)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;

	reference_must(stack != MAP_FAILED, "no stack: %m");
	pid = clone(take_part, stack + STACK, CLONE_VM | CLONE_FILES | SIGCHLD,
		    (void *)(uintptr_t)number);
	reference_must(pid > 0, "no process: %m");
	return pid;
}

static void wait_for_end(void)
{
	int status;

	reference_must(wait(&status) > 0 && !status, "a process failed: %m");
}

static void run_turns(void)
{
	for (unsigned int i = 0; i < rounds; i++) {
		for (unsigned long number = 0; number < processes; number++) {
			set(&turns[number], 2 * i + 1);
			wait_for(&turns[number], 2 * i + 2);
		}
	}
	for (unsigned long number = 0; number < processes; number++)
		wait_for_end();
}

static void make_all(void)
{
	for (unsigned long number = 0; number < processes; number++) {
		pid_t pid = alike ? make_alike(number) : make(number);

		if (processes <= MOST_PRINTED)
			printf("pid%lu=%d\n", number, pid);
		if (!rounds)
			wait_for_end();
	}
}

int main(int argc, char **argv)
{
	char **arguments = reference_arguments(argc, argv, 4, USAGE);

	processes = reference_number(arguments[1], "PROCESSES", 1, 30000);
	rounds = reference_number(arguments[2], "ROUNDS", 0, 1 << 30);
	alike = (pid_t)reference_number(arguments[3], "ALIKE", 0, MOST_ID);
	device = open(arguments[0], O_RDWR | O_CLOEXEC | (rounds ? O_DIRECT : 0));
	reference_must(device >= 0, "%s: %m", arguments[0]);
	blocks = reference_share(processes * BLOCK);
	turns = reference_share(processes * sizeof(*turns));
	if (rounds)
		make_all();
	reference_open();
	if (rounds)
		run_turns();
	else
		make_all();
	reference_must(rounds || !fsync(device), "cannot write: %m");
	reference_close();
	close(device);
	return 0;
}
