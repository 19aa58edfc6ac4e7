// SPDX-License-Identifier: BSD-2-Clause
#include "seccomp.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/bpf.h>

#include <seccomp.h>

#define IOCTL_TYPE 0xff00 /* _IOC_TYPE() in its position */
#define PERF_IOCTLS ('$' << 8)

/*
 * Files: of the recording, of /proc and /sys; maps, events and registers that are open. libseccomp
 * leaves out calls that an architecture does not have.
 */
static const int files[] = {
	SCMP_SYS(access),     SCMP_SYS(chmod),	   SCMP_SYS(close),	 SCMP_SYS(close_range),
	SCMP_SYS(dup),	      SCMP_SYS(dup2),	   SCMP_SYS(dup3),	 SCMP_SYS(faccessat),
	SCMP_SYS(faccessat2), SCMP_SYS(fadvise64), SCMP_SYS(fallocate),	 SCMP_SYS(fchmod),
	SCMP_SYS(fchmodat),   SCMP_SYS(fchown),	   SCMP_SYS(fcntl),	 SCMP_SYS(fdatasync),
	SCMP_SYS(flock),      SCMP_SYS(fstat),	   SCMP_SYS(fstatfs),	 SCMP_SYS(fsync),
	SCMP_SYS(ftruncate),  SCMP_SYS(getcwd),	   SCMP_SYS(getdents64), SCMP_SYS(linkat),
	SCMP_SYS(lseek),      SCMP_SYS(lstat),	   SCMP_SYS(mkdir),	 SCMP_SYS(mkdirat),
	SCMP_SYS(newfstatat), SCMP_SYS(open),	   SCMP_SYS(openat),	 SCMP_SYS(pread64),
	SCMP_SYS(pwrite64),   SCMP_SYS(read),	   SCMP_SYS(readlink),	 SCMP_SYS(readlinkat),
	SCMP_SYS(readv),      SCMP_SYS(rename),	   SCMP_SYS(renameat),	 SCMP_SYS(renameat2),
	SCMP_SYS(rmdir),      SCMP_SYS(stat),	   SCMP_SYS(statfs),	 SCMP_SYS(statx),
	SCMP_SYS(umask),      SCMP_SYS(unlink),	   SCMP_SYS(unlinkat),	 SCMP_SYS(write),
	SCMP_SYS(writev),
};

/* Memory. mmap() and mprotect() follow below. */
static const int memory[] = {
	SCMP_SYS(brk), SCMP_SYS(madvise), SCMP_SYS(mremap), SCMP_SYS(msync), SCMP_SYS(munmap),
};

/* Waiting, clocks, signals. */
static const int waiting[] = {
	SCMP_SYS(clock_getres),
	SCMP_SYS(clock_gettime),
	SCMP_SYS(clock_nanosleep),
	SCMP_SYS(epoll_ctl),
	SCMP_SYS(epoll_pwait),
	SCMP_SYS(epoll_wait),
	SCMP_SYS(futex),
	SCMP_SYS(gettimeofday),
	SCMP_SYS(membarrier),
	SCMP_SYS(nanosleep),
	SCMP_SYS(poll),
	SCMP_SYS(ppoll),
	SCMP_SYS(pselect6),
	SCMP_SYS(restart_syscall),
	SCMP_SYS(rseq),
	SCMP_SYS(rt_sigaction),
	SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn),
	SCMP_SYS(rt_sigtimedwait),
	SCMP_SYS(sched_yield),
	SCMP_SYS(select),
	SCMP_SYS(sigaltstack),
	SCMP_SYS(time),
};

/* For itself, its children, and the socket to the restore process. */
static const int self[] = {
	SCMP_SYS(capget),     SCMP_SYS(capset),	   SCMP_SYS(exit),
	SCMP_SYS(exit_group), SCMP_SYS(getegid),   SCMP_SYS(geteuid),
	SCMP_SYS(getgid),     SCMP_SYS(getpid),	   SCMP_SYS(getppid),
	SCMP_SYS(getrandom),  SCMP_SYS(getrlimit), SCMP_SYS(getrusage),
	SCMP_SYS(gettid),     SCMP_SYS(getuid),	   SCMP_SYS(sched_getaffinity),
	SCMP_SYS(sendto),     SCMP_SYS(sysinfo),   SCMP_SYS(times),
	SCMP_SYS(uname),      SCMP_SYS(wait4),	   SCMP_SYS(waitid),
};

/* Connections: accepting them, reading requests, writing answers. */
static const int serving[] = {
	SCMP_SYS(accept),     SCMP_SYS(accept4),  SCMP_SYS(getpeername), SCMP_SYS(getsockname),
	SCMP_SYS(getsockopt), SCMP_SYS(recvfrom), SCMP_SYS(sendfile),	 SCMP_SYS(sendmsg),
	SCMP_SYS(setsockopt), SCMP_SYS(shutdown),
};

/* Connections to others, in a thread, and questions for their addresses. */
static const int sending[] = {
	SCMP_SYS(connect),  SCMP_SYS(eventfd2), SCMP_SYS(pipe2),	   SCMP_SYS(recvmsg),
	SCMP_SYS(recvmmsg), SCMP_SYS(sendmmsg), SCMP_SYS(set_robust_list), SCMP_SYS(socketpair),
};
static const int domains[] = { AF_INET, AF_INET6 };

/* Using maps, programs and iterators that exist. None can be loaded. */
static const int bpf_commands[] = {
	BPF_MAP_LOOKUP_ELEM,
	BPF_MAP_UPDATE_ELEM,
	BPF_MAP_DELETE_ELEM,
	BPF_MAP_GET_NEXT_KEY,
	BPF_MAP_LOOKUP_AND_DELETE_ELEM,
	BPF_MAP_LOOKUP_BATCH,
	BPF_MAP_UPDATE_BATCH,
	BPF_MAP_DELETE_BATCH,
	BPF_MAP_LOOKUP_AND_DELETE_BATCH,
	BPF_PROG_TEST_RUN,
	BPF_RAW_TRACEPOINT_OPEN,
	BPF_OBJ_GET_INFO_BY_FD,
	BPF_LINK_CREATE,
	BPF_ITER_CREATE,
};

/* Terminal ioctls: is it one, and how wide? Not TIOCSTI, which puts input into it. */
static const int ioctls[] = { TCGETS, TIOCGWINSZ };

/* For a full-screen display. */
static const int terminal_ioctls[] = { TCSETS, TCSETSW, TCSETSF, TCFLSH };

/* libcap-ng reads these before it drops more. */
static const int prctls[] = { PR_CAPBSET_READ, PR_CAP_AMBIENT };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int allow_when(scmp_filter_ctx filter, int call, struct scmp_arg_cmp argument)
{
	return seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 1, argument);
}

/* Allows the call if this argument has one of these values. */
static int allow_each(scmp_filter_ctx filter, int call, unsigned int argument, const int *values,
		      size_t nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++)
		err = allow_when(filter, call,
				 SCMP_CMP(argument, SCMP_CMP_EQ, (scmp_datum_t)values[i]));
	return err;
}

/* No new code; read limits, but do not set them; its own priority; ioctls of perf events. */
static int allow_masked(scmp_filter_ctx filter)
{
	const struct {
		int call;
		struct scmp_arg_cmp argument;
	} rules[] = {
		{ SCMP_SYS(mmap), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0) },
		{ SCMP_SYS(mprotect), SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0) },
		{ SCMP_SYS(prlimit64), SCMP_A2(SCMP_CMP_EQ, 0) },
		{ SCMP_SYS(setpriority), SCMP_A1(SCMP_CMP_EQ, 0) },
		{ SCMP_SYS(ioctl), SCMP_A1(SCMP_CMP_MASKED_EQ, IOCTL_TYPE, PERF_IOCTLS) },
	};
	int err = 0;

	for (size_t i = 0; !err && i < COUNT(rules); i++)
		err = allow_when(filter, rules[i].call, rules[i].argument);
	return err;
}

/* abort() sends a signal to its own process. */
static int allow_signals(scmp_filter_ctx filter, pid_t workload)
{
	int err;

	err = allow_when(filter, SCMP_SYS(tgkill), SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)getpid()));
	if (!err && workload)
		err = allow_when(filter, SCMP_SYS(kill),
				 SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)workload));
	return err;
}

static int allow_all(scmp_filter_ctx filter, const int *calls, size_t nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, calls[i], 0);
	return err;
}

/*
 * Threads, not processes. clone3() has its flags in memory, where no filter sees them; the libc
 * then uses clone().
 */
static int allow_sending(scmp_filter_ctx filter)
{
	int err;

	err = allow_all(filter, sending, COUNT(sending));
	if (!err)
		err = allow_each(filter, SCMP_SYS(socket), 0, domains, COUNT(domains));
	if (!err)
		err = allow_when(filter, SCMP_SYS(clone),
				 SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	return err;
}

/* As fork() of the libc does. They cannot run another program. */
static int allow_forks(scmp_filter_ctx filter)
{
	const scmp_datum_t ids = CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
	int err;

	err = allow_when(filter, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_EQ, ids | SIGCHLD));
	if (!err)
		err = allow_when(filter, SCMP_SYS(clone), SCMP_A0(SCMP_CMP_EQ, SIGCHLD));
	return err ? err : seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(set_robust_list), 0);
}

static int add_rules(scmp_filter_ctx filter, const struct seccomp_needs *needs)
{
	static const struct {
		const int *calls;
		size_t nr;
	} always[] = { { files, COUNT(files) },
		       { memory, COUNT(memory) },
		       { waiting, COUNT(waiting) },
		       { self, COUNT(self) } };
	int err = 0;

	for (size_t i = 0; !err && i < COUNT(always); i++)
		err = allow_all(filter, always[i].calls, always[i].nr);
	if (!err && (needs->serves || needs->sends))
		err = allow_all(filter, serving, COUNT(serving));
	if (!err && needs->sends)
		err = allow_sending(filter);
	if (!err && needs->forks)
		err = allow_forks(filter);
	if (!err)
		err = allow_each(filter, SCMP_SYS(bpf), 0, bpf_commands, COUNT(bpf_commands));
	if (!err)
		err = allow_each(filter, SCMP_SYS(prctl), 0, prctls, COUNT(prctls));
	if (!err)
		err = allow_each(filter, SCMP_SYS(ioctl), 1, ioctls, COUNT(ioctls));
	if (!err && needs->terminal)
		err = allow_each(filter, SCMP_SYS(ioctl), 1, terminal_ioctls,
				 COUNT(terminal_ioctls));
	if (!err)
		err = allow_masked(filter);
	return err ? err : allow_signals(filter, needs->workload);
}

int seccomp__install(const struct seccomp_needs *needs)
{
	/* For all threads, logged, and as a binary tree. */
	static const enum scmp_filter_attr attributes[] = { SCMP_FLTATR_CTL_TSYNC,
							    SCMP_FLTATR_CTL_LOG,
							    SCMP_FLTATR_CTL_OPTIMIZE };
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(ENOSYS));
	int err = 0;

	if (!filter)
		return -ENOMEM;
	for (size_t i = 0; !err && i < COUNT(attributes); i++)
		err = seccomp_attr_set(filter, attributes[i],
				       attributes[i] == SCMP_FLTATR_CTL_OPTIMIZE ? 2 : 1);
	err = err ? err : add_rules(filter, needs);
	err = err ? err : seccomp_load(filter);
	seccomp_release(filter);
	return err;
}
