// SPDX-License-Identifier: BSD-2-Clause
/* System calls that the seccomp filter permits or refuses, each in a child process. */
#include "unit.h"

#include <netinet/in.h>
#include <pthread.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "session/seccomp.c"

#define WORKLOAD 4194303 /* beyond the most that a PID can be */
#define PARENT -1000 /* in place of a PID */
#define CODE (PROT_READ | PROT_EXEC)
#define ANONYMOUS (MAP_PRIVATE | MAP_ANONYMOUS)

/* A system call with its arguments; for what takes several, a function. */
struct call {
	const char *name;
	const struct seccomp_needs *needs;
	int wanted; /* its errno under the filter; 0: it succeeds */
	long call[7];
	long (*make)(void);
};

static const struct call *to_make;

static int make_call(void)
{
	long with[7], got;

	for (unsigned int i = 0; i < COUNT_OF(with); i++)
		with[i] = to_make->call[i] == PARENT ? getppid() : to_make->call[i];
	if (seccomp__install(to_make->needs))
		return 255;
	got = to_make->make
		      ? to_make->make()
		      : syscall(with[0], with[1], with[2], with[3], with[4], with[5], with[6]);
	return got < 0 ? errno : 0;
}

static int outcome(const struct call *call)
{
	to_make = call;
	return unit_in_child(make_call);
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

static char page[4096] __attribute__((aligned(4096)));
static const union bpf_attr load = { .prog_type = BPF_PROG_TYPE_SOCKET_FILTER };
static const union bpf_attr lookup = { .map_fd = (__u32)-1 };
static struct rlimit limit;

static const struct call calls[] = {
	{ "no program is run", &plain, ENOSYS, .call = { SYS_execve, (long)"/bin/true" } },
	{ "no process is made", &plain, ENOSYS, .call = { SYS_clone, SIGCHLD } },
	{ "no socket is opened", &plain, ENOSYS, .call = { SYS_socket, AF_UNIX, SOCK_STREAM } },
	{ "no process is traced", &plain, ENOSYS, .call = { SYS_ptrace, PTRACE_ATTACH, PARENT } },
	{ "no code is mapped", &plain, ENOSYS, .call = { SYS_mmap, 0, 4096, CODE, ANONYMOUS, -1 } },
	{ "no memory becomes code", &plain, ENOSYS,
	  .call = { SYS_mprotect, (long)page, 4096, CODE } },
	{ "no terminal gets input", &plain, ENOSYS, .call = { SYS_ioctl, 0, TIOCSTI, (long)"x" } },
	{ "no unknown call is made", &plain, ENOSYS, .call = { 100000 } },
	{ "another process is not signalled", &plain, ENOSYS, .call = { SYS_kill, PARENT } },
	{ "the workload is signalled", &plain, ESRCH, .call = { SYS_kill, WORKLOAD } },
	{ "its priority is lowered", &plain, 0, .call = { SYS_setpriority, PRIO_PROCESS, 0, 5 } },
	{ "another priority is not lowered", &plain, ENOSYS,
	  .call = { SYS_setpriority, PRIO_PROCESS, PARENT, 5 } },
	{ "limits are read", &plain, 0,
	  .call = { SYS_prlimit64, 0, RLIMIT_CORE, 0, (long)&limit } },
	{ "limits are not set", &plain, ENOSYS,
	  .call = { SYS_prlimit64, 0, RLIMIT_CORE, (long)&limit } },
	{ "no BPF program is loaded", &plain, ENOSYS,
	  .call = { SYS_bpf, BPF_PROG_LOAD, (long)&load, sizeof(load) } },
	{ "files are read", &plain, 0, .make = read_file },
	{ "a sender makes threads", &sends, 0, .make = start_thread },
	{ "a sender connects", &sends, ECONNREFUSED, .make = connect_to_nobody },
	{ "others do not connect", &plain, ENOSYS, .make = connect_to_nobody },
	{ "others make no threads", &plain, FAILS, .make = start_thread },
	{ "a sender does not listen", &sends, ENOSYS, .make = listen_somewhere },
	{ "a sender makes no process", &sends, ENOSYS, .call = { SYS_clone, SIGCHLD } },
	{ "a sender runs no program", &sends, ENOSYS, .call = { SYS_execve, (long)"/bin/true" } },
	{ "a sender opens no socket of AF_UNIX", &sends, ENOSYS,
	  .call = { SYS_socket, AF_UNIX, SOCK_STREAM } },
	{ "one that forks makes processes", &forks, 0, .make = fork_and_wait },
	{ "others wait for no process", &plain, ENOSYS, .make = fork_and_wait },
	{ "one that forks runs no program", &forks, ENOSYS,
	  .call = { SYS_execve, (long)"/bin/true" } },
	{ "one that forks makes no threads", &forks, FAILS, .make = start_thread },
	{ "one that does all makes processes", &all, 0, .make = fork_and_wait },
	{ "one that does all makes threads", &all, 0, .make = start_thread },
};

TEST(test_calls_are_permitted_or_refused)
{
	for (size_t i = 0; i < COUNT_OF(calls); i++) {
		int got = outcome(&calls[i]);

		if (calls[i].wanted == FAILS ? !got : got != calls[i].wanted)
			fail_msg("%s: %s", calls[i].name, strerror(got));
	}
}

TEST(test_maps_are_read)
{
	static const struct call call = { .needs = &plain,
					  .call = { SYS_bpf, BPF_MAP_LOOKUP_ELEM, (long)&lookup,
						    sizeof(lookup) } };
	int err = outcome(&call);

	assert_true(err == EBADF || err == EPERM); /* before 5.19 without CAP_BPF */
}

static int ends[2]; /* of a pipe: a byte lets the thread go, which was there before the filter */

static void *open_socket_later(void *unused)
{
	char byte;

	if (read(ends[0], &byte, 1) != 1)
		return NULL;
	errno = 0;
	socket(AF_UNIX, SOCK_STREAM, 0);
	return (void *)(intptr_t)errno;
}

static int open_socket_in_a_thread(void)
{
	void *err = NULL;
	pthread_t thread;

	if (pthread_create(&thread, NULL, open_socket_later, NULL) ||
	    seccomp__install(&(struct seccomp_needs){ 0 }) || write(ends[1], "", 1) != 1)
		return 255;
	pthread_join(thread, &err);
	return (int)(intptr_t)err;
}

TEST(test_all_threads_have_the_filter)
{
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(unit_in_child(open_socket_in_a_thread), ENOSYS);
}
