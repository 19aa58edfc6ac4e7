// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <core/hist.h>
#include <selftest/check.h>
#include <selftest/reference/sched.h>

#include "check_loads.h"
#include "check_why.h"

#define WAITS 20
#define ROUND_TRIPS 20000
#define WAIT_NS (5 * NSEC_PER_MSEC)
#define CLOCKS 0.998 /* ratio of the run queue's clock to ours, at least */
/* Latscope's clock is read a little later; much later if the host stops the machine in between. */
#define OWN_SHARE 0.1
#define OWN_NS 2000 /* a wait */

CHILD_WORK(static, hog, reference_hog);

/*
 * With method stamps, the probe's reading of the scheduler's account is exact. The waits themselves
 * only come close to it: the clock of the account stands still from a wakeup to the switch that it
 * causes.
 */
static void check_account(const struct validate *validate, const struct lat_cell *cell,
			  const struct reference_sched *account)
{
	uint64_t fallbacks = cell->counts[LAT_FALLBACK], off;

	check__count(validate, "  number of waits, by schedstat", account->pcount,
		     account->pcount + fallbacks, run__recorded(cell));
	if (!strcmp(validate->used_method, "stamps"))
		check__time(validate, "  the kernel's sum, by schedstat", account->run_delay_ns,
			    account->run_delay_ns, cell->counts[LAT_KERNEL_NS]);
	off = OWN_SHARE * account->run_delay_ns + OWN_NS * account->pcount;
	check__time(validate, "  sum of waits, by schedstat", account->run_delay_ns - off,
		    account->run_delay_ns + off, cell->hist.sum_ns);
}

static int check_hog(struct validate *validate, struct window *window)
{
	struct reference_hog asked = {
		.cpu = load__cpu_from_end(0),
		.run_ns = WAIT_NS,
		.count = WAITS,
		.waiter_priority = REFERENCE_HOG_PRIORITY - 1,
	};
	const struct reference_hog *hog;
	const struct lat_cell *cell;
	struct reference_sched account;
	uint64_t long_waits;
	int err;

	err = window__open(window, &hog_work, &asked);
	hog = window->child.reference;
	if (!err)
		err = window__measure(window, validate,
				      (struct lat_config){ .tid = hog->tids[REFERENCE_WAITER] });
	if (err)
		return err;
	account =
		reference_sched__since(hog->before[REFERENCE_WAITER], hog->after[REFERENCE_WAITER]);
	cell = window__cell(window, 0);
	long_waits = check__between(&cell->hist, CLOCKS * WAIT_NS, hog->gaps.max_ns);
	check__count(validate, "5 ms waits behind a real-time task", WAITS - hog->joined,
		     hog->gaps.count, long_waits);
	check__count(validate, "  none longer than the task saw", 0, 0,
		     check__between(&cell->hist, CLOCKS * WAIT_NS, HIST_LIMIT_NS) - long_waits);
	check_account(validate, cell, &account);
	check__sound(validate, window->probe);
	return 0;
}

CHILD_WORK(static, pingpong, reference_pingpong);

static void ask_pingpong(const struct validate *validate, void *asked)
{
	struct reference_pingpong pingpong = { .cpu = load__cpu_from_end(0), .count = ROUND_TRIPS };

	(void)validate;
	*(struct reference_pingpong *)asked = pingpong;
}

static uint64_t pingpong_ns(const void *reference)
{
	return ((const struct reference_pingpong *)reference)->elapsed_ns;
}

static const struct overhead runqlat_overhead = {
	.name = "overhead: pingpong",
	.work = &pingpong_work,
	.ask = ask_pingpong,
	.elapsed_ns = pingpong_ns,
};

const struct probe_checks runqlat_checks = {
	.probe = "runqlat",
	.references = { { "waits behind a real-time task", check_hog } },
	.experiment = &runqlat_experiment,
	.overhead = &runqlat_overhead,
	.situations = runqlat_situations,
};
