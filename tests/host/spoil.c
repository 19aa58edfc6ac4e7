// SPDX-License-Identifier: BSD-2-Clause
/*
 * LD_PRELOAD=spoil.so SPOIL=NAME CMD [ARG...]: each BPF program of CMD whose name begins with NAME
 * begins with an instruction that no kernel's verifier takes: 32-bit arithmetic on the context.
 *
 * LD_PRELOAD=spoil.so NO_LOOKUP=NAME CMD [ARG...]: CMD cannot look up in its BPF map NAME.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void spoil(union bpf_attr *attr)
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
	any_call *real;
	va_list args;
	long arg[6];

	*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		arg[i] = va_arg(args, long);
	va_end(args);
	if (number == SYS_bpf && arg[0] == BPF_PROG_LOAD)
		spoil((union bpf_attr *)(uintptr_t)arg[1]);
	if (number == SYS_bpf && is_forbidden(real, arg[0], (void *)(uintptr_t)arg[1])) {
		errno = EPERM;
		return -1;
	}
	return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}
