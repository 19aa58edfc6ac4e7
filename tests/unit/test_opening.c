// SPDX-License-Identifier: BSD-2-Clause
/* Do probes open at the same time, but use what they share in turns? */
#include "unit.h"

#include <pthread.h>
#include <stdatomic.h>

static bool no_threads;

/* As if the process may have no more threads. */
#define pthread_create(...) (no_threads ? EAGAIN : pthread_create(__VA_ARGS__))

#include <probes/kit/bpf_probe.h>
#include <probes/kit/opening.c>

#undef pthread_create

#define PROBES 3
#define PATIENCE_S 60

static atomic_uint in_turn, overlaps, loading, most_loading, opened;
static pthread_t caller;
static bool blocked[PROBES];
static pthread_t thread_of[PROBES];
static unsigned int order[PROBES];
static unsigned int together; /* loads that wait for each other */
static struct opening openings[PROBES];

static unsigned int number(const struct probe_ops *ops)
{
	return (unsigned int)(ops->name[0] - '0');
}

static bool all_blocked(void)
{
	sigset_t set;

	pthread_sigmask(SIG_SETMASK, NULL, &set);
	return sigismember(&set, SIGINT) == 1 && sigismember(&set, SIGCHLD) == 1 &&
	       sigismember(&set, SIGALRM) == 1;
}

static void load(void)
{
	unsigned int now = atomic_fetch_add(&loading, 1) + 1;
	unsigned int most = atomic_load(&most_loading);

	while (now > most && !atomic_compare_exchange_weak(&most_loading, &most, now))
		;
	/* An alarm ends the test if they never come. */
	while (atomic_load(&most_loading) < together)
		usleep(100);
	atomic_fetch_sub(&loading, 1);
}

static void enter(void)
{
	atomic_fetch_add(&overlaps, atomic_fetch_add(&in_turn, 1));
}

static void leave(void)
{
	usleep(1000); /* others would come in */
	atomic_fetch_add(&overlaps, atomic_fetch_sub(&in_turn, 1) - 1);
}

static int open_fake(struct probe **probe, const struct probe_ops *ops,
		     const struct probe_request *request, char why[RUN_TEXT])
{
	unsigned int i = number(ops);

	enter();
	order[atomic_fetch_add(&opened, 1)] = i;
	thread_of[i] = pthread_self();
	blocked[i] = all_blocked();
	leave();
	if (ops->bpf) {
		opening__end_turn();
		load();
		opening__begin_turn();
	}
	enter();
	leave();
	if (request->method) {
		snprintf(why, RUN_TEXT, "%s failed", ops->name);
		return -EOPNOTSUPP;
	}
	*probe = (struct probe *)&thread_of[i];
	return 0;
}

static const struct bpf_probe_ops bpf, hosting = { .hosts_account = true };

static const struct probe_ops with_turns[PROBES] = {
	{ .name = "0", .bpf = &bpf, .open = open_fake },
	{ .name = "1", .bpf = &bpf, .open = open_fake },
	{ .name = "2", .bpf = &bpf, .open = open_fake },
};

static const struct probe_ops without = { .name = "2", .open = open_fake };
static const char *const states[] = { "state", NULL };
static const struct probe_ops accounting = {
	.name = "2", .bpf = &bpf, .open = open_fake, .accounts = states
};
static const struct probe_ops host = { .name = "1", .bpf = &hosting, .open = open_fake };

static void begin(void)
{
	in_turn = overlaps = loading = most_loading = opened = 0;
	no_threads = false;
	together = 1;
	caller = pthread_self();
	for (unsigned int i = 0; i < PROBES; i++)
		openings[i] = (struct opening){ .ops = &with_turns[i] };
	alarm(PATIENCE_S);
}

TEST(loads_are_at_the_same_time_and_the_rest_is_not)
{
	together = PROBES;
	opening__all(openings, PROBES);
	assert_int_equal(most_loading, PROBES);
	assert_int_equal(opened, PROBES);
	assert_int_equal(overlaps, 0);
	for (unsigned int i = 0; i < PROBES; i++) {
		assert_int_equal(openings[i].err, 0);
		assert_ptr_equal(openings[i].probe, &thread_of[i]);
	}
}

TEST(one_that_does_not_end_its_turn_has_no_thread)
{
	openings[2].ops = &without;
	opening__all(openings, PROBES);
	assert_false(pthread_equal(thread_of[0], caller));
	assert_false(pthread_equal(thread_of[1], caller));
	assert_true(pthread_equal(thread_of[2], caller));
}

TEST(host_follows_its_account_while_others_load)
{
	openings[1].ops = &host;
	openings[2].ops = &accounting;
	together = 2;
	opening__all(openings, PROBES);
	assert_int_equal(order[0], 2);
	assert_true(pthread_equal(thread_of[1], caller));
	assert_true(pthread_equal(thread_of[2], caller));
	assert_false(pthread_equal(thread_of[0], caller));
	assert_int_equal(overlaps, 0);
}

TEST(only_the_calling_thread_gets_signals)
{
	openings[1].ops = &host;
	opening__all(openings, PROBES);
	assert_true(blocked[0]);
	assert_false(blocked[1]);
	assert_true(blocked[2]);
	assert_false(all_blocked());
}

TEST(each_error_is_that_of_its_probe)
{
	openings[0].request.method = openings[2].request.method = "refuse";
	together = PROBES;
	opening__all(openings, PROBES);
	for (unsigned int i = 0; i < PROBES; i++) {
		assert_int_equal(openings[i].err, i == 1 ? 0 : -EOPNOTSUPP);
		assert_string_equal(openings[i].why, i == 1 ? "" : unit_text("%u failed", i));
		assert_int_equal(openings[i].probe != NULL, i == 1);
	}
}

TEST(without_threads_one_follows_the_other)
{
	no_threads = true;
	opening__all(openings, PROBES);
	assert_int_equal(opened, PROBES);
	assert_int_equal(most_loading, 1);
	for (unsigned int i = 0; i < PROBES; i++) {
		assert_true(pthread_equal(thread_of[i], caller));
		assert_int_equal(openings[i].err, 0);
	}
}

TEST(none_and_one)
{
	opening__all(NULL, 0);
	assert_int_equal(opened, 0);
	opening__all(openings, 1);
	assert_int_equal(opened, 1);
	assert_true(pthread_equal(thread_of[0], caller));
}

UNIT_FIXTURES(.each = { begin })
