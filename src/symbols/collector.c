// SPDX-License-Identifier: BSD-2-Clause
#include "collector.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <core/clock.h>

#include "demangle.h"
#include "kallsyms.h"
#include "lookup.h"
#include "mappings.h"

#define NOBODY 65534
#define FILE_SECONDS 5 /* that a file may take */
#define FILE_BYTES (192U << 20) /* of memory that it may take; larger tables are not read */

#define DESCRIPTORS 1024 /* it needs fewer: see FILES in mappings.c */

enum { NO_FILE = -1, KERNEL = -2 };

struct collector {
	struct shared *shared;
	const struct symbols_config *config;
	struct mappings mappings;
	struct kallsyms kallsyms; /* file NULL: none */
	int socket;
};

static void limit(int resource, rlim_t most)
{
	struct rlimit value;

	if (getrlimit(resource, &value))
		return;
	if (value.rlim_max > most)
		value.rlim_max = most;
	value.rlim_cur = value.rlim_max;
	setrlimit(resource, &value);
}

/* From here on this process can read what is open and what anyone may read. */
static void give_up_all(const struct symbols_config *config)
{
	sigset_t none;

	if (!geteuid() && (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) ||
			   setresuid(NOBODY, NOBODY, NOBODY)))
		_exit(1);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* now: a change of user resets it */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0);
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_FSIZE, 0);
	limit(RLIMIT_CPU, FILE_SECONDS);
	if (!config->no_memory_limit)
		limit(RLIMIT_DATA, FILE_BYTES);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	alarm(FILE_SECONDS);
	if (config->confine)
		config->confine();
}

/* In a process of its own. Returns its exit status: enum lack + 1, or 0. */
static int resolve_file(const struct collector *collector, const struct mapped_file *file,
			struct lookup *lookups, size_t nr)
{
	int err;

	give_up_all(collector->config);
	if (file->perf_map)
		err = lookup__perf_map(lookups, nr, file->fd);
	else
		err = lookup__elf(lookups, nr, file->fd, collector->config->debug_dir);
	return !err ? 0 : 1 + (err == -EOPNOTSUPP ? LACK_LIBDW : LACK_READ);
}

/* The process holds `writer`, and nobody else: it has exited when nothing holds it. */
static int wait_for(pid_t pid, int reader, uint64_t end_ns)
{
	struct pollfd fd = { .fd = reader, .events = POLLIN };
	uint64_t now = clock__now_ns();
	int status;

	if (now >= end_ns || poll(&fd, 1, (int)((end_ns - now) / 1000000) + 1) <= 0) {
		kill(pid, SIGKILL); /* may fail; it ends with us at the latest */
		return 1 + LACK_READ;
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 1 + LACK_READ;
	return WEXITSTATUS(status);
}

static void name_file(struct collector *collector, struct lookup *lookups, size_t nr,
		      uint64_t end_ns)
{
	const struct mapped_file *file = &collector->mappings.files[lookups[0].file];
	int ends[2], lack;
	pid_t pid;

	if (file->fd < 0 || (!file->perf_map && mappings__is_changed(file))) {
		collector->shared->lacks[file->fd < 0 ? LACK_OPEN : LACK_CHANGED]++;
		return;
	}
	if (pipe2(ends, O_CLOEXEC))
		return;
	pid = fork();
	if (!pid) {
		close(collector->socket);
		_exit(resolve_file(collector, file, lookups, nr));
	}
	close(ends[1]);
	lack = pid < 0 ? 1 + LACK_READ : wait_for(pid, ends[0], end_ns);
	close(ends[0]);
	if (lack > 0 && lack <= LACKS)
		collector->shared->lacks[lack - 1]++;
}

/* Where it is mapped, and in what. */
static void place(struct collector *collector, struct lookup *lookup, struct slot *slot)
{
	static const char *const unnamed[] = {
		[SYMBOL_ELF] = "", [SYMBOL_VDSO] = "[vdso]", [SYMBOL_JIT] = "[jit]"
	};
	struct symbol *symbol = &slot->symbol;
	const struct mapped_file *file;
	const struct mapping *mapping;

	lookup->symbol = symbol;
	lookup->at = symbol->address - symbol->after_call;
	lookup->file = slot->tgid ? NO_FILE : KERNEL;
	if (!slot->tgid) {
		symbol->kind = SYMBOL_KERNEL;
		return;
	}
	mapping = mappings__find(&collector->mappings, slot->tgid, slot->note, lookup->at);
	if (!mapping)
		return;
	symbol->kind = mapping->kind;
	lookup->file = mapping->file;
	file = mapping->file < 0 ? NULL : &collector->mappings.files[mapping->file];
	snprintf(symbol->file, sizeof(symbol->file), "%s",
		 file ? file->name : unnamed[mapping->kind]);
	if (mapping->kind == SYMBOL_JIT)
		return;
	symbol->file_offset = symbol->address - mapping->start + mapping->offset;
	lookup->at = symbol->file_offset - symbol->after_call;
}

static void name_kernel(struct collector *collector, struct lookup *lookups, size_t nr)
{
	if (nr && (!collector->kallsyms.file || lookup__kernel(lookups, nr, &collector->kallsyms)))
		collector->shared->lacks[LACK_KERNEL]++;
}

static int name_all(struct collector *collector)
{
	uint64_t end_ns = clock__now_ns() + collector->config->limit_ms * 1000000ULL;
	struct shared *shared = collector->shared;
	size_t nr = shared->nr - 1, end; /* without the first slot, which has no address */
	struct lookup *lookups;

	if (nr >= SLOTS)
		return -EINVAL;
	lookups = calloc(nr + 1, sizeof(*lookups));
	if (!lookups)
		return -ENOMEM;
	for (size_t i = 0; i < nr; i++)
		place(collector, &lookups[i], &shared->slots[i + 1]);
	lookup__sort(lookups, nr);
	demangle__load();
	shared->lacks[LACK_PROCESS] = (uint32_t)collector->mappings.missed;
	for (size_t i = 0; i < nr; i = end) {
		for (end = i + 1; end < nr && lookups[end].file == lookups[i].file;)
			end++;
		if (lookups[i].file == KERNEL)
			name_kernel(collector, &lookups[i], end - i);
		else if (lookups[i].file != NO_FILE)
			name_file(collector, &lookups[i], end - i, end_ns);
	}
	free(lookups);
	return 0;
}

/* Closes what it has from its parent except the socket, and sends output nowhere. */
static int keep_only(int socket)
{
	int kept = fcntl(socket, F_DUPFD_CLOEXEC, 3);

	if (kept < 0)
		_exit(1);
	for (int fd = 0; fd < kept; fd++)
		close(fd);
	closefrom(kept + 1);
	for (int fd = 0; fd < 3; fd++)
		if (open("/dev/null", O_RDWR) != fd)
			_exit(1);
	return kept;
}

static void allow_files(void)
{
	struct rlimit value;

	if (getrlimit(RLIMIT_NOFILE, &value) || value.rlim_cur >= DESCRIPTORS)
		return;
	value.rlim_cur = value.rlim_max < DESCRIPTORS ? value.rlim_max : DESCRIPTORS;
	setrlimit(RLIMIT_NOFILE, &value);
}

/* In a session of its own: a Ctrl-C is for the process that asks. */
static void settle(struct collector *collector)
{
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "latscope-names");
	collector->socket = keep_only(collector->socket);
	allow_files();
	kallsyms__open(&collector->kallsyms, collector->config->kallsyms);
	if (mappings__new(&collector->mappings))
		_exit(1);
	if (collector->config->settle)
		collector->config->settle(collector->socket);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

_Noreturn void collector__run(struct shared *shared, const struct symbols_config *config,
			      int socket)
{
	struct collector collector = { .shared = shared, .config = config, .socket = socket };
	struct request request;
	int err;

	settle(&collector);
	while (recv(collector.socket, &request, sizeof(request), 0) == sizeof(request)) {
		if (request.tgid) {
			mappings__note(&collector.mappings, request.tgid, request.note);
			continue;
		}
		err = name_all(&collector);
		send(collector.socket, &err, sizeof(err), MSG_NOSIGNAL);
		break;
	}
	_exit(0);
}
