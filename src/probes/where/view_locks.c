// SPDX-License-Identifier: BSD-2-Clause
#include "view_locks.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/sanitize.h>
#include <core/sleep_stacks.h>

#include "view_states.h"

/* Most kernels leave these out of the stacks of sleeping tasks. */
static const char *const generic[] = {
	"schedule*", "__schedule*", "preempt_*", "mutex_*",  "__mutex_*", "ww_mutex_*",
	"down",	     "down_*",	    "__down*",	 "rwsem_*",  "percpu_*",  "__percpu_*",
	"rt_*",	     "__rt_*",	    "rtlock_*",	 "rwbase_*", "up_*",	  "*_slowlock*",
};

/* By who takes them: the lock of an address space, and that of an inode (i_rwsem). */
static const struct {
	const char *function, *lock;
} known[] = {
	{ "mmap_*lock*", "mmap_lock" },	       { "lock_mm_and_find_vma", "mmap_lock" },
	{ "do_user_addr_fault", "mmap_lock" }, { "do_page_fault", "mmap_lock" },
	{ "vm_mmap_pgoff", "mmap_lock" },      { "__vm_munmap", "mmap_lock" },
	{ "*_sys_brk", "mmap_lock" },	       { "*_sys_mremap", "mmap_lock" },
	{ "do_mprotect_pkey", "mmap_lock" },   { "do_madvise*", "mmap_lock" },
	{ "madvise_lock", "mmap_lock" },       { "do_mlock", "mmap_lock" },
	{ "dup_mmap", "mmap_lock" },	       { "exit_mmap", "mmap_lock" },
	{ "*_write_iter", "inode lock" },      { "*_read_iter", "inode lock" },
	{ "open_last_lookups", "inode lock" }, { "do_unlinkat", "inode lock" },
	{ "do_rmdir", "inode lock" },	       { "filename_create", "inode lock" },
	{ "lock_rename*", "inode lock" },      { "do_truncate", "inode lock" },
	{ "iterate_dir", "inode lock" },       { "lookup_slow", "inode lock" },
	{ "chmod_common", "inode lock" },      { "chown_common", "inode lock" },
};

static bool is_generic(const char *function)
{
	for (size_t i = 0; i < sizeof(generic) / sizeof(generic[0]); i++)
		if (!fnmatch(generic[i], function, 0))
			return true;
	return false;
}

static const char *lock_of(const char *function)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!fnmatch(known[i].function, function, 0))
			return known[i].lock;
	return "lock";
}

/* Copies the name of a function, without an offset and what the compiler appends: ".isra.0". */
static void name_function(const char *name, char out[LOCKS_NAME])
{
	char function[LOCKS_NAME];

	snprintf(function, sizeof(function), "%.*s", (int)strcspn(name, "+."), name);
	sanitize__text(out, LOCKS_NAME, function);
}

const char *locks__name(const struct frames *frames, const char *stack, char out[LOCKS_NAME])
{
	char function[LOCKS_NAME];
	uint64_t address;

	frames__skip_tracing(frames, &stack);
	while (frames__next(&stack, &address)) {
		const struct frame *frame = frames__find(frames, 0, address);
		const char *lock;

		if (!frame || !*frame->name)
			return NULL;
		name_function(frame->name, function);
		if (is_generic(function))
			continue;
		lock = lock_of(function);
		if (!strcmp(lock, "mmap_lock"))
			snprintf(out, LOCKS_NAME, "%s", lock);
		else
			snprintf(out, LOCKS_NAME, "%s in %.60s", lock, function);
		return out;
	}
	return NULL;
}

static int longest_first(const void *left, const void *right)
{
	double a = ((const struct lock_waits *)left)->ns;
	double b = ((const struct lock_waits *)right)->ns;

	return a < b ? 1 : a > b ? -1 : 0;
}

size_t locks__list(const struct table *stacks, const struct frames *frames,
		   struct lock_waits locks[LOCKS_MOST])
{
	size_t nr = 0, stacks_nr = sleep_stacks__is(stacks) ? sleep_stacks__nr(stacks) : 0;

	for (size_t i = 0; i < stacks_nr; i++) {
		const struct sleep_stack sleep = sleep_stacks__nth(stacks, i);
		char name[LOCKS_NAME];
		size_t at = 0;

		if (strcmp(sleep.state, where_states[WHERE_LOCK]) != 0 ||
		    !locks__name(frames, sleep.stack, name))
			continue;
		while (at < nr && strcmp(locks[at].name, name) != 0)
			at++;
		if (at == LOCKS_MOST)
			continue;
		if (at == nr) {
			strcpy(locks[nr].name, name);
			locks[nr++].ns = 0;
		}
		locks[at].ns += (double)sleep.ns;
	}
	qsort(locks, nr, sizeof(*locks), longest_first);
	return nr;
}
