/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Names for the addresses in stacks. Three processes share the work: this one asks; a collector,
 * started before this one drops its privileges, notes what a process has mapped and keeps the files
 * open, because the process may exit before the end; and at the end a resolver without any
 * privileges reads these files. Files of other users can be made to crash or to delay it, and then
 * only cost names.
 */
#ifndef LATSCOPE_SYMBOLS_SYMBOLS_H
#define LATSCOPE_SYMBOLS_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SYMBOL_BUILD_ID 32 /* bytes; longer ones are cut */
#define SYMBOL_FUNCTION 256
#define SYMBOL_FILE 64
#define SYMBOL_TEXT (SYMBOL_FUNCTION + SYMBOL_FILE + 2 * SYMBOL_BUILD_ID + 48)

enum symbol_kind {
	SYMBOL_UNKNOWN, /* in no executable mapping that was seen */
	SYMBOL_KERNEL,
	SYMBOL_ELF, /* in a file */
	SYMBOL_VDSO,
	SYMBOL_JIT, /* in executable memory without a file */
};

/* Texts are sanitized. */
struct symbol {
	uint64_t address;
	uint64_t offset; /* bytes from the start of the function, if that is known */
	uint64_t file_offset; /* bytes from the start of the file, SYMBOL_ELF and SYMBOL_VDSO */
	enum symbol_kind kind;
	bool after_call; /* a return address: names are those of the call before it */
	bool no_frame_pointer; /* stacks taken by frame pointers do not go beyond this function */
	char function[SYMBOL_FUNCTION]; /* empty: unknown */
	char file[SYMBOL_FILE]; /* base name, "[kernel]", "[ext4]", "[vdso]", "[jit]"; or empty */
	char build_id[2 * SYMBOL_BUILD_ID + 1]; /* hexadecimal; empty: none, or not read */
};

struct symbols;

struct symbols_config {
	/*
	 * Called in the collector: gives up what it does not need. It needs to read /proc/PID/maps
	 * (CAP_SYS_PTRACE), /proc/PID/map_files (CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN) and files
	 * (CAP_DAC_READ_SEARCH), and to become another user (CAP_SETUID, CAP_SETGID). `socket` must
	 * stay open. NULL: nothing.
	 */
	void (*settle)(int socket);
	/*
	 * Called in the resolver, which is no longer root and has resource limits: restricts it
	 * further, for example by a filter of system calls. NULL: nothing.
	 */
	void (*confine)(void);
	const char *kallsyms; /* NULL: /proc/kallsyms */
	const char *debug_dir; /* NULL: /usr/lib/debug */
	uint32_t limit_ms; /* that symbols__resolve() may take; 0: 20 s */
	bool no_memory_limit; /* for sanitizers, which reserve terabytes */
};

/*
 * Starts the collector: to be called before privileges are dropped, and before threads are
 * started. The config need not stay. 0 or -errno.
 */
int symbols__begin(struct symbols **symbols, const struct symbols_config *config);

/*
 * To be called for each slow event with a user stack, while its process lives: has its mappings
 * noted. Reading them delays mmap() and page faults of that process a little, so they are read
 * again only after 1 s, 2 s, 4 s up to 64 s. `now_ns` is of CLOCK_MONOTONIC. Never waits.
 */
void symbols__note(struct symbols *symbols, uint32_t tgid, uint64_t now_ns);

/*
 * Keeps a stack until symbols__resolve(), innermost address first; tgid 0: a kernel stack. Returns
 * its number, 0 or more, -ENOMEM, or -ENOSPC: it has as many as it keeps.
 */
int symbols__add(struct symbols *symbols, uint32_t tgid, const uint64_t *addresses, size_t nr);

/*
 * Finds the names of all stacks and ends the collector, once. May take limit_ms. 0 or -errno; even
 * then each address has a symbol. `why` (RUN_TEXT bytes) says in one line which names are missing
 * and why; empty: no general reason.
 */
int symbols__resolve(struct symbols *symbols, char *why);

/* How a stack ends. */
enum symbols_end {
	SYMBOLS_COMPLETE,
	SYMBOLS_TRUNCATED, /* in a function without frame pointer, or outside of all code */
	SYMBOLS_DEEPER, /* it has as many frames as its buffer */
};

/* Of the stack with this number, after symbols__resolve(). Index is less than the depth. */
size_t symbols__depth(const struct symbols *symbols, int stack);
const struct symbol *symbols__frame(const struct symbols *symbols, int stack, size_t index);

/* `most` is the depth of the buffer that the stack was taken into, 0: unlimited. */
enum symbols_end symbols__end_of(const struct symbols *symbols, int stack, size_t most);

/* How many stacks there are, and whose is this one; 0: the kernel's. */
size_t symbols__stacks(const struct symbols *symbols);
uint32_t symbols__tgid(const struct symbols *symbols, int stack);

/* Calls `take` for each address of all stacks, once. Stops and returns its result if not 0. */
int symbols__each(const struct symbols *symbols,
		  int (*take)(void *arg, uint32_t tgid, const struct symbol *symbol), void *arg);

/* "read+0x1d"; empty: unknown. Returns out. */
const char *symbol__name(const struct symbol *symbol, char out[SYMBOL_TEXT]);

/*
 * "libc.so.6+0x2a1c3 (build ID)", which suffices to find the name elsewhere; "[kernel]", "[jit]";
 * empty: unknown. Returns out.
 */
const char *symbol__place(const struct symbol *symbol, char out[SYMBOL_TEXT]);

/* Ends the collector, if it still runs. NULL is fine. */
void symbols__free(struct symbols *symbols);

#endif
