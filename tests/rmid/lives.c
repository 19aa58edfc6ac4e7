// SPDX-License-Identifier: BSD-2-Clause
/*
 * Lives and deaths that stress-ng does not have: each is gone through again and again, and the
 * module is asked meanwhile, unless -q is given. Needs the module with RMIDs enough, and root. Exit
 * status: 0; 1 and what is wrong.
 */
#include <uapi/latscope/rmid.h>

#include "../reference/ring.h"

/* Times 1 ms and an answer: for what follows at once, but for a CPU that stands still meanwhile. */
#define PATIENCE 20000

static char *self; /* the path of this program */
static bool quiet; /* asks nothing */

/* What the module answered. */
static void told(bool good, const char *what)
{
	reference_must(quiet || good, "%s (%m)", what);
}

struct entry {
	unsigned int rmid; /* 0 also if there is none such */
	unsigned int threads;
	bool there;
};

static struct entry ask(pid_t pid)
{
	FILE *stream = quiet ? NULL : fopen(LATSCOPE_RMID_PROC, "r");
	struct entry entry = { 0 };
	char line[256];
	unsigned int tgid;

	if (quiet)
		return entry;
	reference_must(stream, "no " LATSCOPE_RMID_PROC);
	while (!entry.there && fgets(line, sizeof(line), stream))
		entry.there =
			sscanf(line, "%u %u %*u %u", &entry.rmid, &tgid, &entry.threads) == 3 &&
			tgid == (unsigned int)pid;
	fclose(stream);
	return entry.there ? entry : (struct entry){ 0 };
}

/* Returns the entry of this process once it has so many threads, or the last entry. */
static struct entry await_threads(unsigned int threads)
{
	struct entry entry = ask(getpid());

	for (int i = 0; !quiet && i < PATIENCE && entry.threads != threads; i++) {
		usleep(1000);
		entry = ask(getpid());
	}
	return entry;
}

static void reap(pid_t pid)
{
	int status;

	reference_must(waitpid(pid, &status, 0) == pid, "waitpid: %m");
	reference_must(status == 0, "a child was not content");
}

/* Runs it as the child, which is expected to be content. */
static void in_child(void (*run)(void))
{
	pid_t pid = reference_fork();

	if (!pid) {
		run();
		_exit(0);
	}
	reap(pid);
}

static unsigned int before;

/* The last thread of all: its leader has been a zombie for a while. */
static void *outlive(void *unused)
{
	struct entry entry;

	entry = await_threads(1);
	told(entry.threads == 1, "the leader has gone, and is counted still");
	told(entry.rmid == before, "the RMID went with the leader");
	return unused;
}

static void leader_goes_first(void)
{
	before = ask(getpid()).rmid;
	told(before, "no RMID");
	pthread_detach(reference_thread(outlive, NULL));
	syscall(SYS_exit, 0); /* of this thread alone */
}

static void *exec_here(void *unused)
{
	char rmid[16];

	snprintf(rmid, sizeof(rmid), "%u", before);
	execl(self, self, quiet ? "quiet" : "after-exec", rmid, NULL);
	reference_die(REFERENCE_FAILED, "exec: %m");
}

static void thread_calls_exec(void)
{
	before = ask(getpid()).rmid;
	told(before, "no RMID");
	reference_thread(exec_here, NULL);
	pause();
}

static int after_exec(const char *rmid)
{
	struct entry entry = await_threads(1); /* the old leader may not quite have gone */

	told(entry.rmid == strtoul(rmid, NULL, 10), "exec changed the RMID");
	told(entry.threads == 1, "exec left threads behind");
	return 0;
}

/* A zombie holds nothing. */
static void zombie(void)
{
	siginfo_t info;
	pid_t pid = reference_fork();

	if (!pid)
		_exit(0);
	reference_must(!waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), "waitid: %m");
	/* It was told dead, but may have to be switched away from. */
	for (int i = 0; i < PATIENCE && ask(pid).there; i++)
		usleep(1000);
	told(!ask(pid).there, "a zombie is in the list");
	reap(pid);
}

/* The same PID again at once. Another process may have taken it: then nothing is tested. */
static void pid_is_used_again(void)
{
	pid_t first = reference_fork(), second;

	if (!first)
		_exit(0);
	reap(first);
	second = reference_fork_as(first);
	if (!second)
		_exit(0);
	if (second > 0)
		reap(second);
}

/* As the user nobody, with a limit of 0 processes. */
static void fork_fails(void)
{
	const struct rlimit none = { 0, 0 };
	pid_t pid;

	reference_must(!setrlimit(RLIMIT_NPROC, &none) && !setuid(65534), "setrlimit, setuid: %m");
	for (int i = 0; i < 20; i++) {
		pid = fork();
		if (!pid)
			_exit(0);
		reference_must(pid < 0 && errno == EAGAIN, "fork did not fail");
	}
}

static void *sleep_on(void *unused)
{
	pause();
	return unused;
}

/* Many threads are told to end at once. */
static void all_at_once(void)
{
	for (int i = 0; i < 8; i++)
		reference_thread(sleep_on, NULL);
	told(ask(getpid()).threads == 9, "9 threads were counted otherwise");
}

static void worker_of_io_uring(void)
{
	struct ring ring = { 0 };
	char byte;
	int ends[2];

	reference_pipe(ends);
	ring_open(&ring);
	ring_read(&ring, ends[0], &byte, 1, (__u64)-1); /* which waits for the pipe */
	told(await_threads(2).threads == 2, "io_uring's thread was not counted");
	reference_must(write(ends[1], "", 1) == 1, "write: %m");
}

static const struct {
	const char *name;
	void (*run)(void);
} lives[] = {
	{ "the leader goes first", leader_goes_first },
	{ "a thread calls exec", thread_calls_exec },
	{ "a zombie", zombie },
	{ "a PID is used again", pid_is_used_again },
	{ "fork fails", fork_fails },
	{ "many threads end at once", all_at_once },
	{ "a thread of io_uring", worker_of_io_uring },
};

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "after-exec"))
		return after_exec(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "quiet"))
		return 0;
	quiet = argc == 3 && !strcmp(argv[1], "-q");
	reference_usage(argc == 2 + quiet, "lives [-q] ROUNDS");
	self = argv[0];
	for (long round = strtol(argv[argc - 1], NULL, 10); round > 0; round--)
		for (size_t i = 0; i < sizeof(lives) / sizeof(lives[0]); i++) {
			printf("%s\n", lives[i].name);
			fflush(stdout);
			in_child(lives[i].run);
		}
	return 0;
}
