// SPDX-License-Identifier: BSD-2-Clause
#include "calls.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <seccomp.h>

#if defined(__x86_64__)
#define ARCH_32 SCMP_ARCH_X86
#else
#define ARCH_32 SCMP_ARCH_ARM
#endif

static const struct {
	uint8_t state; /* enum where_state or where_call_kind */
	const char *names[24];
} kinds[] = {
	{ WHERE_FUTEX, { "futex", "futex_time64", "futex_wait", "futex_waitv", "futex_requeue" } },
	{ WHERE_STREAM,
	  { "read", "write", "readv", "writev", "pread64", "pwrite64", "preadv", "pwritev",
	    "preadv2", "pwritev2", "sendfile", "sendfile64", "splice", "tee", "vmsplice" } },
	{ WHERE_SOCKET,
	  { "recvfrom", "recvmsg", "recvmmsg", "recvmmsg_time64", "recv", "sendto", "sendmsg",
	    "sendmmsg", "send", "connect", "socketcall", "msgrcv", "msgsnd", "mq_timedreceive",
	    "mq_timedsend", "mq_timedreceive_time64", "mq_timedsend_time64" } },
	{ WHERE_WORK,
	  { "poll", "ppoll", "ppoll_time64", "select", "_newselect", "pselect6", "pselect6_time64",
	    "epoll_wait", "epoll_pwait", "epoll_pwait2", "accept", "accept4", "pause",
	    "rt_sigsuspend", "sigsuspend", "rt_sigtimedwait", "rt_sigtimedwait_time64" } },
	{ WHERE_TIMER, { "nanosleep", "clock_nanosleep", "clock_nanosleep_time64" } },
	{ WHERE_CHILD, { "wait4", "waitid", "waitpid", "vfork", "clone", "clone3" } },
};

static void fill(uint8_t states[WHERE_CALLS], uint32_t arch)
{
	for (int i = 0; i < WHERE_CALLS; i++)
		states[i] = WHERE_OTHER;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		for (const char *const *name = kinds[i].names; *name; name++) {
			int number = seccomp_syscall_resolve_name_arch(arch, *name);

			/* Negative: this architecture has none, or libseccomp does not know it. */
			if (number >= 0 && number < WHERE_CALLS)
				states[number] = kinds[i].state;
		}
	}
}

void calls__fill(uint8_t states[WHERE_CALLS], uint8_t states_32[WHERE_CALLS])
{
	fill(states, SCMP_ARCH_NATIVE);
	fill(states_32, ARCH_32);
#if defined(__x86_64__)
	/* The numbers are the kernel's interface; libseccomp 2.5 does not know these (6.7). */
	states[455] = states_32[455] = WHERE_FUTEX; /* futex_wait */
	states[456] = states_32[456] = WHERE_FUTEX; /* futex_requeue */
#endif
}

const char *calls__name(uint32_t call, char out[CALLS_NAME])
{
	bool is_32 = call & WHERE_CALL_32;
	int number = (int)(call & (WHERE_CALLS - 1));
	char *name;

	if (call & WHERE_NO_CALL || call & WHERE_IN_FAULT) {
		snprintf(out, CALLS_NAME, "%s", call & WHERE_IN_FAULT ? "page fault" : "");
		return out;
	}
	name = seccomp_syscall_resolve_num_arch(is_32 ? ARCH_32 : SCMP_ARCH_NATIVE, number);
	if (name)
		snprintf(out, CALLS_NAME, "%.32s%s", name, is_32 ? " (32-bit)" : "");
	else
		snprintf(out, CALLS_NAME, "call %d%s", number, is_32 ? " (32-bit)" : "");
	free(name);
	return out;
}
