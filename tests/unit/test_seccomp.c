// SPDX-License-Identifier: BSD-2-Clause
/* System calls that the seccomp filter permits or refuses, each in a child process. */
#include "unit.h"

#include <netinet/in.h>
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "session/seccomp.c"

#define WORKLOAD 4194303 /* beyond the most that a PID can be */

/* The errno of a system call under the filter; 0: it succeeded. */
static int outcome(const struct seccomp_needs *needs, long (*call)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		if (seccomp__install(needs))
			_exit(255);
		_exit(call() < 0 ? errno : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static long run_program(void)
{
	return execl("/bin/true", "true", NULL);
}

static long fork_process(void)
{
	return syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static long open_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static long trace_parent(void)
{
	return ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
}

static long signal_parent(void)
{
	return kill(getppid(), 0);
}

static long signal_workload(void)
{
	return kill(WORKLOAD, 0);
}

static long lower_own_priority(void)
{
	return setpriority(PRIO_PROCESS, 0, 5);
}

static long lower_priority_of_parent(void)
{
	return setpriority(PRIO_PROCESS, (id_t)getppid(), 5);
}

static long read_limit(void)
{
	struct rlimit limit;

	return syscall(SYS_prlimit64, 0, RLIMIT_CORE, NULL, &limit);
}

static long set_limit(void)
{
	const struct rlimit none = {};

	return syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, NULL);
}

static long load_program(void)
{
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER };

	return syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
}

static long read_map(void)
{
	union bpf_attr attr = { .map_fd = (__u32)-1 };

	return syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &attr, sizeof(attr));
}

static long map_code(void)
{
	void *at = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? -1 : 0;
}

static long make_code(void)
{
	void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? 0 : mprotect(at, 4096, PROT_READ | PROT_EXEC);
}

static long put_into_terminal(void)
{
	return ioctl(0, TIOCSTI, "x");
}

static long unknown_call(void)
{
	return syscall(100000);
}

static long read_file(void)
{
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	char byte;

	return fd < 0 ? -1 : read(fd, &byte, 1);
}

static void *do_nothing(void *arg)
{
	return arg;
}

static long start_thread(void)
{
	pthread_t thread;
	void *err = NULL;

	errno = pthread_create(&thread, NULL, do_nothing, NULL);
	return errno || pthread_join(thread, &err) ? -1 : 0;
}

static long connect_to_nobody(void)
{
	const struct sockaddr_in at = { .sin_family = AF_INET,
					.sin_port = htons(1),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	return fd < 0 ? -1 : connect(fd, (const struct sockaddr *)&at, sizeof(at));
}

static long listen_somewhere(void)
{
	const struct sockaddr_in any = { .sin_family = AF_INET };

	return bind(socket(AF_INET, SOCK_STREAM, 0), (const struct sockaddr *)&any, sizeof(any));
}

static long fork_and_wait(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid < 0 || waitpid(pid, &status, 0) != pid || status ? -1 : 0;
}

static const struct seccomp_needs plain = { .workload = WORKLOAD };
static const struct seccomp_needs sends = { .sends = true };
static const struct seccomp_needs forks = { .forks = true };
static const struct seccomp_needs all = { .forks = true, .sends = true, .serves = true };

enum { FAILS = -1 }; /* with any error */

static const struct {
	const char *name;
	const struct seccomp_needs *needs;
	long (*call)(void);
	int wanted;
} calls[] = {
	{ "no program is run", &plain, run_program, ENOSYS },
	{ "no process is made", &plain, fork_process, ENOSYS },
	{ "no socket is opened", &plain, open_socket, ENOSYS },
	{ "no process is traced", &plain, trace_parent, ENOSYS },
	{ "no code is mapped", &plain, map_code, ENOSYS },
	{ "no memory becomes code", &plain, make_code, ENOSYS },
	{ "nothing is put into a terminal", &plain, put_into_terminal, ENOSYS },
	{ "no unknown call is made", &plain, unknown_call, ENOSYS },
	{ "another process is not signalled", &plain, signal_parent, ENOSYS },
	{ "the workload is signalled", &plain, signal_workload, ESRCH },
	{ "its own priority is lowered", &plain, lower_own_priority, 0 },
	{ "another priority is not lowered", &plain, lower_priority_of_parent, ENOSYS },
	{ "limits are read", &plain, read_limit, 0 },
	{ "limits are not set", &plain, set_limit, ENOSYS },
	{ "no BPF program is loaded", &plain, load_program, ENOSYS },
	{ "files are read", &plain, read_file, 0 },
	{ "a sender makes threads", &sends, start_thread, 0 },
	{ "a sender connects", &sends, connect_to_nobody, ECONNREFUSED },
	{ "others do not connect", &plain, connect_to_nobody, ENOSYS },
	{ "others make no threads", &plain, start_thread, FAILS },
	{ "a sender does not listen", &sends, listen_somewhere, ENOSYS },
	{ "a sender makes no process", &sends, fork_process, ENOSYS },
	{ "a sender runs no program", &sends, run_program, ENOSYS },
	{ "a sender opens no socket of AF_UNIX", &sends, open_socket, ENOSYS },
	{ "one that forks makes processes", &forks, fork_and_wait, 0 },
	{ "others wait for no process", &plain, fork_and_wait, ENOSYS },
	{ "one that forks runs no program", &forks, run_program, ENOSYS },
	{ "one that forks makes no threads", &forks, start_thread, FAILS },
	{ "one that does all makes processes", &all, fork_and_wait, 0 },
	{ "one that does all makes threads", &all, start_thread, 0 },
};

TEST(test_calls_are_permitted_or_refused)
{
	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		int got = outcome(calls[i].needs, calls[i].call);

		if (calls[i].wanted == FAILS ? !got : got != calls[i].wanted)
			fail_msg("%s: %s", calls[i].name, strerror(got));
	}
}

TEST(test_maps_are_read)
{
	int err = outcome(&plain, read_map);

	assert_true(err == EBADF || err == EPERM); /* before 5.19 without CAP_BPF */
}

static int ends[2]; /* of a pipe: a byte lets the thread go, which was there before the filter */

static void *open_socket_later(void *unused)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		return NULL;
	errno = 0;
	open_socket();
	return (void *)(intptr_t)errno;
}

TEST(test_all_threads_have_the_filter)
{
	void *err = NULL;
	pthread_t thread;
	int status;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (pthread_create(&thread, NULL, open_socket_later, NULL) ||
		    seccomp__install(&(struct seccomp_needs){ 0 }) || write(ends[1], "", 1) != 1)
			_exit(255);
		pthread_join(thread, &err);
		_exit((int)(intptr_t)err);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), ENOSYS);
}

UNIT_MAIN()
