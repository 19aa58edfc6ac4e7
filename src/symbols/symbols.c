// SPDX-License-Identifier: BSD-2-Clause
#include "symbols.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <core/run.h>
#include <core/sanitize.h>
#include <core/vec.h>

#include "collector.h"
#include "kallsyms.h"

#define LIMIT_MS 20000
#define GRACE_MS 2000 /* for the answer of the collector after its limit */
#define SECOND_NS 1000000000ULL
#define MOST_WAIT_NS (64 * SECOND_NS)
#define MOST_FRAMES (8 * SLOTS)
#define PLACES (2 * SLOTS) /* a power of two */

struct process {
	uint32_t tgid;
	uint32_t note; /* number of the last request; 0: none */
	uint64_t next_ns, wait_ns; /* when its mappings are read again */
};

struct stack {
	uint32_t tgid;
	size_t first, nr; /* in `frames` */
};

struct symbols {
	pid_t collector;
	int socket;
	uint32_t limit_ms;
	struct shared *shared;
	uint32_t *places; /* hash by process, note and address: slot + 1 */
	struct process *processes;
	size_t nr_processes;
	struct stack *stacks;
	size_t nr_stacks;
	uint32_t *frames; /* slots */
	size_t nr_frames;
	bool full; /* of slots */
};

static struct symbols_config complete(const struct symbols_config *config)
{
	struct symbols_config full = *config;

	if (!full.kallsyms)
		full.kallsyms = KALLSYMS_PATH;
	if (!full.debug_dir)
		full.debug_dir = "/usr/lib/debug";
	if (!full.limit_ms)
		full.limit_ms = LIMIT_MS;
	return full;
}

static int start_collector(struct symbols *symbols, const struct symbols_config *config)
{
	int ends[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	symbols->collector = fork();
	if (!symbols->collector)
		collector__run(symbols->shared, config, ends[0]);
	err = symbols->collector < 0 ? -errno : 0;
	close(ends[0]);
	symbols->socket = ends[1];
	return err;
}

int symbols__begin(struct symbols **out, const struct symbols_config *config)
{
	const struct symbols_config full = complete(config);
	struct symbols *symbols = calloc(1, sizeof(*symbols));
	int err = -ENOMEM;

	if (!symbols)
		return -ENOMEM;
	symbols->socket = -1;
	symbols->limit_ms = full.limit_ms;
	symbols->places = calloc(PLACES, sizeof(*symbols->places));
	symbols->shared = mmap(NULL, sizeof(*symbols->shared), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (symbols->shared == MAP_FAILED)
		symbols->shared = NULL;
	if (symbols->places && symbols->shared) {
		symbols->shared->nr = 1; /* the first stands for all that find no room */
		err = start_collector(symbols, &full);
	}
	if (err) {
		symbols__free(symbols);
		return err;
	}
	*out = symbols;
	return 0;
}

static void end_collector(struct symbols *symbols, bool wait)
{
	if (symbols->socket >= 0)
		close(symbols->socket);
	if (symbols->collector > 0)
		waitpid(symbols->collector, NULL, wait ? 0 : WNOHANG);
	symbols->socket = -1;
	symbols->collector = 0;
}

void symbols__free(struct symbols *symbols)
{
	if (!symbols)
		return;
	end_collector(symbols, false);
	if (symbols->shared)
		munmap(symbols->shared, sizeof(*symbols->shared));
	free(symbols->places);
	free(symbols->processes);
	free(symbols->stacks);
	free(symbols->frames);
	free(symbols);
}

static struct process *find_process(struct symbols *symbols, uint32_t tgid)
{
	struct process *grown;

	for (size_t i = 0; i < symbols->nr_processes; i++)
		if (symbols->processes[i].tgid == tgid)
			return &symbols->processes[i];
	grown = vec__grow(symbols->processes, symbols->nr_processes, sizeof(*grown));
	if (!grown)
		return NULL;
	symbols->processes = grown;
	grown[symbols->nr_processes] = (struct process){ .tgid = tgid };
	return &grown[symbols->nr_processes++];
}

static bool request(const struct symbols *symbols, uint32_t tgid, uint32_t note)
{
	const struct request message = { tgid, note };

	return send(symbols->socket, &message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL) ==
	       sizeof(message);
}

void symbols__note(struct symbols *symbols, uint32_t tgid, uint64_t now_ns)
{
	struct process *process = tgid ? find_process(symbols, tgid) : NULL;

	if (!process || (process->note && now_ns < process->next_ns) ||
	    !request(symbols, tgid, process->note + 1))
		return;
	process->note++;
	process->wait_ns = process->wait_ns ? process->wait_ns * 2 : SECOND_NS;
	if (process->wait_ns > MOST_WAIT_NS)
		process->wait_ns = MOST_WAIT_NS;
	process->next_ns = now_ns + process->wait_ns;
}

/* The slot of an address; the first if there is no room. */
static uint32_t find_slot(struct symbols *symbols, const struct slot *wanted)
{
	struct shared *shared = symbols->shared;
	uint64_t hash = (wanted->symbol.address * 0x9e3779b97f4a7c15ULL) ^
			(wanted->tgid * 0xbf58476d1ce4e5b9ULL) ^ wanted->note;
	uint32_t place = (hash >> 24) & (PLACES - 1), i;

	for (; (i = symbols->places[place]); place = (place + 1) & (PLACES - 1)) {
		const struct slot *slot = &shared->slots[i - 1];

		if (slot->symbol.address == wanted->symbol.address && slot->tgid == wanted->tgid &&
		    slot->note == wanted->note &&
		    slot->symbol.after_call == wanted->symbol.after_call)
			return i - 1;
	}
	if (shared->nr == SLOTS) {
		symbols->full = true;
		return 0;
	}
	shared->slots[shared->nr] = *wanted;
	symbols->places[place] = ++shared->nr;
	return shared->nr - 1;
}

static int add_frame(struct symbols *symbols, const struct slot *wanted)
{
	uint32_t *grown = vec__grow(symbols->frames, symbols->nr_frames, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	symbols->frames = grown;
	grown[symbols->nr_frames++] = find_slot(symbols, wanted);
	return 0;
}

int symbols__add(struct symbols *symbols, uint32_t tgid, const uint64_t *addresses, size_t nr)
{
	struct process *process = tgid ? find_process(symbols, tgid) : NULL;
	struct stack stack = { tgid, symbols->nr_frames, nr }, *grown;
	struct slot wanted = { .tgid = tgid, .note = process ? process->note : 0 };

	if (symbols->nr_frames + nr > MOST_FRAMES) {
		symbols->full = true;
		return -ENOSPC;
	}
	for (size_t i = 0; i < nr; i++) {
		wanted.symbol.address = addresses[i];
		wanted.symbol.after_call = i > 0;
		if (add_frame(symbols, &wanted))
			return -ENOMEM;
	}
	grown = vec__grow(symbols->stacks, symbols->nr_stacks, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	symbols->stacks = grown;
	grown[symbols->nr_stacks] = stack;
	return (int)symbols->nr_stacks++;
}

/* What others wrote there: no text without an end, no kind that there is not. */
static void check(struct symbol *symbol)
{
	symbol->function[sizeof(symbol->function) - 1] = '\0';
	symbol->file[sizeof(symbol->file) - 1] = '\0';
	symbol->build_id[sizeof(symbol->build_id) - 1] = '\0';
	sanitize__in_place(symbol->function);
	sanitize__in_place(symbol->file);
	sanitize__in_place(symbol->build_id);
	if (symbol->kind > SYMBOL_JIT)
		symbol->kind = SYMBOL_UNKNOWN;
}

static void add_reason(char *why, uint32_t count, const char *format)
{
	size_t used = strlen(why);

	if (!count || used + 3 >= RUN_TEXT)
		return;
	if (used)
		used += (size_t)snprintf(why + used, RUN_TEXT - used, "; ");
	snprintf(why + used, RUN_TEXT - used, format, count);
}

static void explain(const struct symbols *symbols, char *why)
{
	static const char *const reasons[LACKS] = {
		[LACK_KERNEL] = "the kernel hides its addresses",
		[LACK_LIBDW] = "built without the package libdw-dev: no function names of programs",
		[LACK_PROCESS] = "a process had exited (%u times)",
		[LACK_OPEN] = "%u files could not be opened",
		[LACK_CHANGED] = "%u files were changed meanwhile",
		[LACK_READ] = "%u files are broken, not ELF, or took too long",
	};

	for (int i = 0; i < LACKS; i++)
		add_reason(why, symbols->shared->lacks[i], reasons[i]);
	add_reason(why, symbols->full ? SLOTS : 0, "only %u addresses are named");
}

/* Waits until the socket can be read, or written. EINTR: the time begins again. */
static bool wait_for(const struct symbols *symbols, short event)
{
	struct pollfd fd = { .fd = symbols->socket, .events = event };
	int got;

	do {
		got = poll(&fd, 1, (int)(symbols->limit_ms + GRACE_MS));
	} while (got < 0 && errno == EINTR);
	return got > 0;
}

/* The collector may still have processes to note, or hang in a file system. */
static int ask(const struct symbols *symbols)
{
	int err;

	if (!wait_for(symbols, POLLOUT))
		return -ETIMEDOUT;
	if (!request(symbols, 0, 0))
		return -errno;
	if (!wait_for(symbols, POLLIN))
		return -ETIMEDOUT;
	return read(symbols->socket, &err, sizeof(err)) == sizeof(err) ? err : -ECHILD;
}

int symbols__resolve(struct symbols *symbols, char *why)
{
	const uint32_t nr = symbols->shared->nr;
	int err = ask(symbols);

	*why = '\0';
	end_collector(symbols, err != -ETIMEDOUT);
	for (uint32_t i = 0; i < nr; i++)
		check(&symbols->shared->slots[i].symbol);
	explain(symbols, why);
	if (err)
		snprintf(why, RUN_TEXT, "the process that finds names failed: %s", strerror(-err));
	return err;
}

size_t symbols__depth(const struct symbols *symbols, int stack)
{
	return symbols->stacks[stack].nr;
}

const struct symbol *symbols__frame(const struct symbols *symbols, int stack, size_t index)
{
	uint32_t slot = symbols->frames[symbols->stacks[stack].first + index];

	return &symbols->shared->slots[slot].symbol;
}

/* Functions that nothing calls. */
static bool is_outermost(const char *function)
{
	static const char *const outermost[] = {
		"_start",
		"__libc_start_main",
		"__libc_start_main_impl",
		"__libc_start_call_main",
		"start_thread",
		"clone",
		"clone3",
		"__clone",
		"__clone3",
		"_dl_start_user",
		"runtime.goexit",
		"runtime.goexit.abi0",
		"runtime.mstart",
		"runtime.mstart.abi0",
	};

	for (size_t i = 0; i < sizeof(outermost) / sizeof(outermost[0]); i++)
		if (!strcmp(function, outermost[i]))
			return true;
	return false;
}

/* The C library starts programs and threads; the names of these functions are often stripped. */
static bool is_c_library(const char *file)
{
	return !strncmp(file, "libc.", 5) || !strncmp(file, "libc-", 5) ||
	       !strncmp(file, "libpthread", 10) || !strncmp(file, "ld-", 3);
}

enum symbols_end symbols__end_of(const struct symbols *symbols, int stack, size_t most)
{
	size_t nr = symbols__depth(symbols, stack);
	const struct symbol *last, *before;

	if (!nr || !symbols->stacks[stack].tgid)
		return nr && nr == most ? SYMBOLS_DEEPER : SYMBOLS_COMPLETE;
	last = symbols__frame(symbols, stack, nr - 1);
	before = nr > 1 ? symbols__frame(symbols, stack, nr - 2) : NULL;
	if (nr == most)
		return SYMBOLS_DEEPER;
	if (is_outermost(last->function))
		return SYMBOLS_COMPLETE;
	if (before && !*last->function && is_c_library(last->file) && !before->no_frame_pointer &&
	    !is_c_library(before->file))
		return SYMBOLS_COMPLETE;
	return last->no_frame_pointer || last->kind == SYMBOL_UNKNOWN ? SYMBOLS_TRUNCATED
								      : SYMBOLS_COMPLETE;
}

size_t symbols__stacks(const struct symbols *symbols)
{
	return symbols->nr_stacks;
}

uint32_t symbols__tgid(const struct symbols *symbols, int stack)
{
	return symbols->stacks[stack].tgid;
}

int symbols__each(const struct symbols *symbols,
		  int (*take)(void *arg, uint32_t tgid, const struct symbol *symbol), void *arg)
{
	const struct shared *shared = symbols->shared;
	int err = 0;

	for (uint32_t i = 1; !err && i < shared->nr && i < SLOTS; i++)
		err = take(arg, shared->slots[i].tgid, &shared->slots[i].symbol);
	return err;
}

const char *symbol__name(const struct symbol *symbol, char out[SYMBOL_TEXT])
{
	*out = '\0';
	if (*symbol->function)
		snprintf(out, SYMBOL_TEXT, "%s+0x%" PRIx64, symbol->function, symbol->offset);
	return out;
}

const char *symbol__place(const struct symbol *symbol, char out[SYMBOL_TEXT])
{
	bool in_file = symbol->kind == SYMBOL_ELF || symbol->kind == SYMBOL_VDSO;
	int len = snprintf(out, SYMBOL_TEXT, "%s", symbol->file);

	if (in_file)
		len += snprintf(out + len, SYMBOL_TEXT - (size_t)len, "+0x%" PRIx64,
				symbol->file_offset);
	if (*symbol->build_id)
		snprintf(out + len, SYMBOL_TEXT - (size_t)len, " (%s)", symbol->build_id);
	return out;
}
