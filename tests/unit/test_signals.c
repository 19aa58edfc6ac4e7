// SPDX-License-Identifier: BSD-2-Clause
/* Does a workload inherit signals that libc's threads take? */
#include "unit.h"

#include <pthread.h>

#include "session/signals.c"

#define CANCEL 32
#define SETXID 33

static void ignore(int signal, bool yes)
{
	const struct action action = { .handler = yes ? SIG_IGN : SIG_DFL };

	assert_int_equal(syscall(SYS_rt_sigaction, signal, &action, NULL, sizeof(action.mask)), 0);
}

static bool is_ignored(int signal)
{
	struct action action = { 0 };

	assert_int_equal(syscall(SYS_rt_sigaction, signal, NULL, &action, sizeof(action.mask)), 0);
	return action.handler == SIG_IGN;
}

static void *nothing(void *unused)
{
	return unused;
}

TEST(what_a_thread_takes_is_ignored_again)
{
	bool ignored[SIGNALS_OF_THREADS];
	pthread_t thread;

	ignore(CANCEL, false);
	ignore(SETXID, true);
	signals__note_ignored(ignored);
	assert_false(ignored[0]);
	assert_true(ignored[1]);
	assert_int_equal(pthread_create(&thread, NULL, nothing, NULL), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	ignore(SETXID, false); /* also if this libc does not take it */
	signals__ignore_again(ignored);
	assert_false(is_ignored(CANCEL));
	assert_true(is_ignored(SETXID));
}
