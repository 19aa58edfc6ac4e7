// SPDX-License-Identifier: BSD-2-Clause
/*
 * With LD_PRELOAD: bpf() fails for the programs that FAIL_LOAD and FAIL_ATTACH name, with the given
 * errno ("stamps_switch=7 mark=24"); a name has at most 15 characters. With SLOW_LOAD=PATH, loads
 * of our programs by other threads than the main one wait while PATH exists. With SPOIL=NAME, each
 * program whose name begins with NAME begins with an instruction that no kernel's verifier takes:
 * 32-bit arithmetic on the context. With NO_LOOKUP=NAME, nothing can be looked up
 * in the map NAME by a system call.
 *
 * With HOLD=PREFIX, there is a file PREFIX.PID of two bytes. The process waits while the first byte
 * is "1" after the attach, before its window opens, and while it is "2" after the window has
 * closed, before what is in flight is counted. It copies that byte to the second one when it waits.
 * HOLD_FIRST is the first byte at the start, "0" if not set.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FDS 4096

static volatile char *hold;
static char name_of[FDS][BPF_OBJ_NAME_LEN]; /* of the programs */

/* The errno that the variable `list` gives for the program; 0: none. */
static int planned(const char *list, const char *name)
{
	const char *at = getenv(list);
	char entry[BPF_OBJ_NAME_LEN + 1];

	snprintf(entry, sizeof(entry), "%.*s=", BPF_OBJ_NAME_LEN - 1, name);
	at = at && name[0] ? strstr(at, entry) : NULL;
	return at ? atoi(at + strlen(entry)) : 0;
}

static int failure(long command, const union bpf_attr *attr)
{
	if (command == BPF_PROG_LOAD)
		return planned("FAIL_LOAD", attr->prog_name);
	if (command == BPF_LINK_CREATE && attr->link_create.prog_fd < FDS)
		return planned("FAIL_ATTACH", name_of[attr->link_create.prog_fd]);
	if (command == BPF_RAW_TRACEPOINT_OPEN && attr->raw_tracepoint.prog_fd < FDS)
		return planned("FAIL_ATTACH", name_of[attr->raw_tracepoint.prog_fd]);
	return 0;
}

/* Not one that only shows what the kernel can do. */
static bool is_ours(const char *name)
{
	return name[0] && strncmp(name, "libbpf", 6) && strcmp(name, "latscope");
}

static void wait_for_go(void)
{
	const char *path = getenv("SLOW_LOAD");

	while (path && gettid() != getpid() && !access(path, F_OK))
		usleep(1000);
}

/* The process may not open a file any more when it needs this one. */
__attribute__((constructor)) static void map_hold(void)
{
	const char *prefix = getenv("HOLD"), *first = getenv("HOLD_FIRST");
	char path[PATH_MAX], bytes[2] = "00";
	int fd;

	if (!prefix)
		return;
	if (first)
		bytes[0] = first[0];
	snprintf(path, sizeof(path), "%s.%d", prefix, getpid());
	fd = open(path, O_CREAT | O_RDWR, 0600);
	if (fd < 0 || write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		abort();
	hold = mmap(NULL, sizeof(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (hold == MAP_FAILED)
		abort();
	close(fd);
}

/*
 * After the attach, the programs are first asked what they have missed, just before the window
 * opens. Events in flight are counted by an iterator, or by reading a whole map.
 */
static void wait_if_held(long command)
{
	static bool attached;
	char where = '0';

	if (!hold)
		return;
	attached |= command == BPF_LINK_CREATE || command == BPF_RAW_TRACEPOINT_OPEN;
	if (command == BPF_OBJ_GET_INFO_BY_FD && attached)
		where = '1';
	else if (command == BPF_ITER_CREATE || command == BPF_MAP_LOOKUP_BATCH)
		where = '2';
	while (where != '0' && hold[0] == where) {
		hold[1] = where;
		usleep(1000);
	}
}

static void spoil(const union bpf_attr *attr)
{
	static const struct bpf_insn bad = {
		.code = BPF_ALU | BPF_ADD | BPF_K,
		.dst_reg = BPF_REG_1,
		.imm = 8,
	};
	const char *name = getenv("SPOIL");

	if (name && !strncmp(attr->prog_name, name, strlen(name)))
		*(struct bpf_insn *)(uintptr_t)attr->insns = bad;
}

typedef long any_call(long number, ...);

static bool is_forbidden(any_call *real, long command, const union bpf_attr *attr)
{
	const char *name = getenv("NO_LOOKUP");
	struct bpf_map_info info = { 0 };
	union bpf_attr ask = { .info = { .info_len = sizeof(info), .info = (uintptr_t)&info } };

	if (!name || (command != BPF_MAP_LOOKUP_ELEM && command != BPF_MAP_LOOKUP_BATCH &&
		      command != BPF_MAP_LOOKUP_AND_DELETE_BATCH))
		return false;
	ask.info.bpf_fd = command == BPF_MAP_LOOKUP_ELEM ? attr->map_fd : attr->batch.map_fd;
	return !real(SYS_bpf, BPF_OBJ_GET_INFO_BY_FD, &ask, sizeof(ask)) &&
	       !strcmp(info.name, name);
}

/* libbpf has no other way to bpf(). */
long syscall(long number, ...)
{
	any_call *real = (any_call *)dlsym(RTLD_NEXT, "syscall");
	const union bpf_attr *attr;
	long args[6], got;
	va_list list;

	va_start(list, number);
	for (int i = 0; i < 6; i++)
		args[i] = va_arg(list, long);
	va_end(list);
	attr = (const union bpf_attr *)args[1];
	if (number != SYS_bpf)
		return real(number, args[0], args[1], args[2], args[3], args[4], args[5]);
	errno = is_forbidden(real, args[0], attr) ? EPERM : failure(args[0], attr);
	if (errno)
		return -1;
	if (args[0] == BPF_PROG_LOAD) {
		spoil(attr);
		if (is_ours(attr->prog_name))
			wait_for_go();
	}
	wait_if_held(args[0]);
	got = real(number, args[0], args[1], args[2]);
	if (args[0] == BPF_PROG_LOAD && got >= 0 && got < FDS)
		memcpy(name_of[got], attr->prog_name, BPF_OBJ_NAME_LEN);
	return got;
}
