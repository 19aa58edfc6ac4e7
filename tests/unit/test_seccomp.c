// SPDX-License-Identifier: BSD-2-Clause
/* System calls that the seccomp filter permits or refuses, each in a child process. */
#include "test.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "session/seccomp.c"

#define WORKLOAD 4194303 /* beyond the most that a PID can be */

/* The errno of a system call under the filter; 0: it succeeded. */
static int outcome_with(const struct seccomp_needs *needs, long (*call)(void))
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

static int outcome(long (*call)(void))
{
	const struct seccomp_needs needs = { .workload = WORKLOAD };

	return outcome_with(&needs, call);
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

TEST(test_new_code_processes_and_sockets_are_refused)
{
	assert_int_equal(outcome(run_program), ENOSYS);
	assert_int_equal(outcome(fork_process), ENOSYS);
	assert_int_equal(outcome(open_socket), ENOSYS);
	assert_int_equal(outcome(trace_parent), ENOSYS);
	assert_int_equal(outcome(map_code), ENOSYS);
	assert_int_equal(outcome(make_code), ENOSYS);
	assert_int_equal(outcome(put_into_terminal), ENOSYS);
	assert_int_equal(outcome(unknown_call), ENOSYS);
}

TEST(test_only_the_workload_can_be_signalled)
{
	assert_int_equal(outcome(signal_parent), ENOSYS);
	assert_int_equal(outcome(signal_workload), ESRCH);
}

TEST(test_only_its_own_priority_can_be_lowered)
{
	assert_int_equal(outcome(lower_own_priority), 0);
	assert_int_equal(outcome(lower_priority_of_parent), ENOSYS);
}

TEST(test_limits_are_read_but_not_set)
{
	assert_int_equal(outcome(read_limit), 0);
	assert_int_equal(outcome(set_limit), ENOSYS);
}

TEST(test_maps_are_read_but_no_program_is_loaded)
{
	int err = outcome(read_map);

	assert_int_equal(outcome(load_program), ENOSYS);
	assert_true(err == EBADF || err == EPERM); /* before 5.19 without CAP_BPF */
}

TEST(test_files_are_read)
{
	assert_int_equal(outcome(read_file), 0);
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

TEST(test_a_sender_makes_threads_and_connections_only)
{
	const struct seccomp_needs needs = { .sends = true };

	assert_int_equal(outcome_with(&needs, start_thread), 0);
	assert_int_equal(outcome_with(&needs, connect_to_nobody), ECONNREFUSED);
	assert_int_equal(outcome(connect_to_nobody), ENOSYS);
	assert_int_not_equal(outcome(start_thread), 0);
	assert_int_equal(outcome_with(&needs, listen_somewhere), ENOSYS);
	assert_int_equal(outcome_with(&needs, fork_process), ENOSYS);
	assert_int_equal(outcome_with(&needs, run_program), ENOSYS);
	assert_int_equal(outcome_with(&needs, open_socket), ENOSYS); /* of AF_UNIX */
}

static long fork_and_wait(void)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	return pid < 0 || waitpid(pid, &status, 0) != pid || status ? -1 : 0;
}

TEST(test_processes_are_made_but_run_no_program)
{
	const struct seccomp_needs needs = { .forks = true };
	const struct seccomp_needs both = { .forks = true, .sends = true, .serves = true };

	assert_int_equal(outcome_with(&needs, fork_and_wait), 0);
	assert_int_equal(outcome(fork_and_wait), ENOSYS);
	assert_int_equal(outcome_with(&needs, run_program), ENOSYS);
	assert_int_not_equal(outcome_with(&needs, start_thread), 0);
	assert_int_equal(outcome_with(&both, fork_and_wait), 0);
	assert_int_equal(outcome_with(&both, start_thread), 0);
}

static int ends[2]; /* of a pipe: a byte lets the thread go, which was there before the filter */

static void *open_socket_later(void *unused)
{
	char byte;

	(void)unused;
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
