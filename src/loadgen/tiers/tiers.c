// SPDX-License-Identifier: BSD-2-Clause
#include "tiers.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json.h>

#include <core/clock.h>
#include <core/sanitize.h>

#include "../primitives.h"
#include "emulator.h"
#include "files.h"

#define POLL_NS (10 * NSEC_PER_MSEC)
#define END_NS (5 * NSEC_PER_SEC) /* for a signal to end the command */
#define PATIENCE_NS (20 * NSEC_PER_SEC) /* until it is mounted */

/*
 * The first two streams are the tiers of the loop: requests that tierlat says to move go from one
 * to the other.
 */
static const char *const two_tiers[] = {
	"machine gen=icx sockets=1 cpus=2 boxes=6",
	"stream name=local-ddr idle=80 service=20 capacity=4e8 skew=1 spread=2",
	"stream name=remote-ddr idle=150 service=20 capacity=2e8 remote=1 skew=2 spread=2",
	NULL,
};

static const char *const three_tiers[] = {
	"machine gen=emr sockets=1 cpus=2 boxes=12",
	"stream name=local-ddr idle=80 service=20 capacity=4e8 skew=1 spread=2",
	"stream name=local-cxl idle=200 service=40 capacity=2e8 memory=cxl skew=2 spread=2",
	"stream name=remote-ddr rate=5e7 latency=150 remote=1 skew=3 spread=2",
	NULL,
};

static int set_up(struct emulator *emulator, const struct tiers_config *config)
{
	const char *const *line = config->tiers == 2 ? two_tiers : three_tiers;
	char loop[EMULATOR_LINE];
	int err = 0;

	for (; !err && *line; line++)
		err = emulator__command(emulator, *line);
	snprintf(loop, sizeof(loop), "loop requests=%llu p=%.9g",
		 (unsigned long long)config->requests, config->share);
	if (!err)
		err = emulator__command(emulator, loop);
	emulator__mark(emulator);
	return err;
}

static void describe(struct tiers *tiers)
{
	static const char *const two[] = { "--model", "icx", "--boxes", "6", NULL };
	static const char *const three[] = { "--model", "emr",	  "--boxes",
					     "12",	"--tier", "local-ddr,remote-ddr,local-cxl",
					     NULL };
	const char *const *more = tiers->count == 2 ? two : three;
	unsigned int nr = 0;

	tiers->args[nr++] = "--msr-root";
	tiers->args[nr++] = tiers->registers;
	while (*more)
		tiers->args[nr++] = *more++;
	tiers->args[nr++] = "--decisions";
	tiers->args[nr++] = tiers->move;
	tiers->args[nr] = NULL;
}

/*
 * A signal of the terminal is for the parent: tierlat still has to restore its registers. With
 * SIGTERM, or if the parent is killed, libfuse unmounts and returns.
 */
static _Noreturn void serve(struct tiers *tiers, const struct tiers_config *config, pid_t parent)
{
	struct emulator *emulator = calloc(1, sizeof(*emulator));
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), code = 1;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_NAME, "latscope-tiers");
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_DFL);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(tiers->messages, STDERR_FILENO);
	if (emulator && getppid() == parent && !set_up(emulator, config))
		code = files__serve(emulator, "latscope", tiers->dir);
	rmdir(tiers->dir);
	_exit(code);
}

static bool is_mounted(const struct tiers *tiers)
{
	struct stat stat_of;

	return !stat(tiers->move, &stat_of);
}

/* It ended: the last line that it wrote says why. */
static int explain(const struct tiers *tiers, char why[TIERS_TEXT])
{
	char text[TIERS_TEXT] = "", *line;
	ssize_t got = pread(tiers->messages, text, sizeof(text) - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	line = text + (strncmp(text, "fuse: ", 6) ? 0 : 6);
	if (*line)
		sanitize__text(why, TIERS_TEXT, line);
	else
		snprintf(why, TIERS_TEXT, "its process ended");
	return -EIO;
}

static int wait_for_mount(struct tiers *tiers, char why[TIERS_TEXT])
{
	uint64_t end = clock__now_ns() + PATIENCE_NS;

	while (!is_mounted(tiers)) {
		if (waitpid(tiers->server, NULL, WNOHANG) == tiers->server) {
			tiers->server = 0;
			return explain(tiers, why);
		}
		if (clock__now_ns() >= end) {
			snprintf(why, TIERS_TEXT, "it takes more than 20 s");
			return -ETIMEDOUT;
		}
		load__sleep(POLL_NS);
	}
	return 0;
}

static int fork_server(struct tiers *tiers, const struct tiers_config *config)
{
	pid_t parent = getpid();

	tiers->server = fork();
	if (tiers->server < 0) {
		tiers->server = 0;
		return -errno;
	}
	if (!tiers->server)
		serve(tiers, config, parent);
	return 0;
}

/* A new directory that only this user may enter, so that nobody can replace what is in it. */
static int make_dir(struct tiers *tiers, const char *parent)
{
	if ((size_t)snprintf(tiers->dir, sizeof(tiers->dir), "%s/latscope-tiers-XXXXXX", parent) >=
	    sizeof(tiers->dir) - sizeof("/move"))
		return -ENAMETOOLONG;
	if (!mkdtemp(tiers->dir))
		return -errno;
	snprintf(tiers->registers, sizeof(tiers->registers), "%.*s/cpu", PATH_MAX - 8, tiers->dir);
	snprintf(tiers->move, sizeof(tiers->move), "%.*s/move", PATH_MAX - 8, tiers->dir);
	return 0;
}

int tiers__start(struct tiers *tiers, const struct tiers_config *config, char why[TIERS_TEXT])
{
	int err = files__load();

	*tiers = (struct tiers){ .count = config->tiers, .messages = -1 };
	if (err) {
		snprintf(why, TIERS_TEXT, "%s",
			 err == -ENOPKG ? "libfuse is missing"
					: "this latscope was built without libfuse");
		return err;
	}
	tiers->messages = memfd_create("latscope-tiers", MFD_CLOEXEC);
	err = tiers->messages < 0 ? -errno : make_dir(tiers, config->dir);
	if (!err)
		err = fork_server(tiers, config);
	if (err) {
		snprintf(why, TIERS_TEXT, "%s", strerror(-err));
		return err;
	}
	describe(tiers);
	err = wait_for_mount(tiers, why);
	if (err)
		tiers__stop(tiers);
	return err;
}

/* The command line and the options behind it; to be freed. */
static char **join(const struct tiers *tiers, char *const *command)
{
	unsigned int nr = 0, more = 0;
	char **argv;

	while (command[nr])
		nr++;
	argv = calloc(nr + TIERS_ARGS + 1, sizeof(*argv));
	if (!argv)
		return NULL;
	memcpy(argv, command, nr * sizeof(*argv));
	for (; tiers->args[more]; more++)
		argv[nr + more] = (char *)tiers->args[more];
	return argv;
}

static pid_t start_command(const struct tiers *tiers, char *const *command, const sigset_t *mask)
{
	char **argv = join(tiers, command);
	pid_t pid;

	if (!argv)
		return -ENOMEM;
	pid = fork();
	if (pid < 0)
		pid = -errno;
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		sigprocmask(SIG_SETMASK, mask, NULL);
		execvp(argv[0], argv);
		fprintf(stderr, "latscope: cannot run %.200s: %s\n", argv[0], strerror(errno));
		_exit(errno == ENOENT ? 127 : 126);
	}
	free(argv);
	return pid;
}

static int status_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Has the process ended? */
static bool has_ended(pid_t *pid, int *status)
{
	if (!*pid || waitpid(*pid, status, WNOHANG) != *pid)
		return false;
	*pid = 0;
	return true;
}

/* Until the time is up, a signal arrives or a process ends. -ECANCELED: that of the emulator. */
static int watch(struct tiers *tiers, pid_t *command, int *status, const sigset_t *signals,
		 uint64_t duration_ns)
{
	uint64_t end = clock__now_ns() + duration_ns, now;

	while ((now = clock__now_ns()) < end) {
		struct timespec left = clock__timespec(end - now);
		int got = sigtimedwait(signals, NULL, &left);

		if (has_ended(&tiers->server, status))
			return -ECANCELED;
		if (has_ended(command, status) || got == SIGINT || got == SIGTERM)
			break;
	}
	return 0;
}

/* tierlat ends with SIGINT, as at a terminal, and restores its registers; others may ignore it. */
static void end_command(pid_t pid, int *status, const sigset_t *signals)
{
	static const int means[] = { SIGINT, SIGTERM, SIGKILL };

	for (unsigned int i = 0; pid && i < sizeof(means) / sizeof(means[0]); i++) {
		uint64_t end = clock__now_ns() + END_NS, now;

		kill(pid, means[i]);
		while (!has_ended(&pid, status) && (now = clock__now_ns()) < end) {
			struct timespec left = clock__timespec(end - now);

			sigtimedwait(signals, NULL, &left);
		}
	}
}

int tiers__run(struct tiers *tiers, char *const *command, uint64_t duration_ns)
{
	int err, status = 0;
	sigset_t signals, old;
	pid_t pid = 0;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, &old);
	if (command)
		pid = start_command(tiers, command, &old);
	err = pid < 0 ? pid : watch(tiers, &pid, &status, &signals, duration_ns);
	if (pid > 0)
		end_command(pid, &status, &signals);
	sigprocmask(SIG_SETMASK, &old, NULL);
	return err ? err : command ? status_of(status) : 0;
}

static double number(struct json_object *object, const char *name)
{
	return json_object_get_double(json_object_object_get(object, name));
}

int tiers__read(const struct tiers *tiers, struct tiers_reference *reference)
{
	char path[PATH_MAX];
	struct json_object *state, *streams;

	snprintf(path, sizeof(path), "%.*s/state", PATH_MAX - 8, tiers->dir);
	state = json_object_from_file(path);
	if (!state)
		return -EIO;
	*reference = (struct tiers_reference){ .p = number(state, "p") };
	reference->moves = (uint64_t)number(state, "moves");
	streams = json_object_object_get(state, "streams");
	for (unsigned int i = 0; i < tiers->count; i++) {
		struct json_object *stream = json_object_array_get_idx(streams, i);

		snprintf(reference->tier[i].name, sizeof(reference->tier[i].name), "%s",
			 json_object_get_string(json_object_object_get(stream, "name")));
		reference->tier[i].rate = number(stream, "rate");
		reference->tier[i].latency_ns = number(stream, "latency");
	}
	json_object_put(state);
	return 0;
}

/* After the server was killed, the mount is still there, and answers nothing. */
static void unmount(const struct tiers *tiers)
{
	pid_t pid;

	if (!umount2(tiers->dir, MNT_DETACH | UMOUNT_NOFOLLOW) || errno != EPERM)
		return;
	pid = fork();
	if (!pid) {
		execlp("fusermount3", "fusermount3", "-quz", tiers->dir, NULL);
		_exit(127);
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

int tiers__stop(struct tiers *tiers)
{
	if (tiers->server) {
		kill(tiers->server, SIGTERM);
		waitpid(tiers->server, NULL, 0);
		tiers->server = 0;
	}
	close(tiers->messages);
	if (!rmdir(tiers->dir) || errno == ENOENT)
		return 0;
	unmount(tiers);
	return rmdir(tiers->dir) && errno != ENOENT ? -errno : 0;
}
