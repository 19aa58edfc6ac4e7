// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include <core/hist.h>
#include <selftest/check.h>
#include <selftest/io.h>

#include "check_loads.h"
#include "check_why.h"

#define READS 2000
#define WHOLE_BYTES (128UL << 10) /* so long that WAKEUP is a small part of it */
#define PATIENCE_NS (3 * NSEC_PER_SEC) /* a slow disk does fewer reads */
#define TOTAL 2 /* number of the metric */
#define SHARE 0.9 /* of the kernel's sum: the probe sees the completion a little earlier */
#define WAKEUP 8 /* waking up the reader takes so many runs of the probe's program; 6 were seen */
#define PARTS 100 /* 1 %: for requests that were issued before their own stamp */
#define BLOCKED_SHARE 0.5 /* a wakeup may take as long as the I/O did */

static void ask_reads(const struct validate *validate, void *asked)
{
	struct reference_dio *dio = asked;

	*dio = disk__ask(validate);
	dio->depth = 1;
	dio->count = READS;
	dio->duration_ns = PATIENCE_NS;
}

static int open_reads(struct validate *validate, struct window *window)
{
	struct reference_dio asked;

	ask_reads(validate, &asked);
	asked.whole_bytes = WHOLE_BYTES;
	return window__open(window, &disk_work, &asked);
}

/*
 * Reads diskstats twice outside the window and twice inside: the inner readings give a lower bound
 * of what the probe must see, the outer ones an upper bound, even if other processes use the disk.
 */
struct bracket {
	struct reference_disk before, after;
};

static uint64_t lower_bound(const struct reference_dio *inner, enum reference_disk_field field)
{
	return inner->has_disk ? inner->after.field[field] - inner->before.field[field] : 0;
}

static uint64_t upper_bound(const struct bracket *bracket, enum reference_disk_field field)
{
	return bracket->after.field[field] - bracket->before.field[field];
}

/* The kernel's account of a request goes on until the probe has run and the reader is awake. */
static double late_ns(const struct window *window, const struct lat_hist *requests)
{
	const struct run_cost *cost = &window->probe->cost;

	if (!cost->timed_events)
		return 0;
	return (double)cost->run_ns / cost->timed_events * WAKEUP * hist__count(requests);
}

/* A request is in flight while its thread sleeps in the call, and not longer than the call. */
static void check_calls(const struct validate *validate, const struct reference_dio *dio,
			const struct lat_hist *total)
{
	check__count(validate, "  none longer than its system call", dio->io.count, dio->io.count,
		     check__between(total, 0, dio->io.max_ns));
	check__time(validate, "  sum of total, by time blocked",
		    dio->has_blocked ? BLOCKED_SHARE * dio->blocked_ns : 0, dio->io.sum_ns,
		    total->sum_ns);
}

static void check_parts(const struct validate *validate, const struct lat_hist metrics[])
{
	uint64_t parts = 0, total = metrics[TOTAL].sum_ns;

	for (unsigned int i = 0; i < TOTAL; i++)
		parts += metrics[i].sum_ns;
	check__time(validate, "  sum of device + queued, by total", total - total / PARTS,
		    total + total / PARTS, parts);
}

/*
 * Some hosts run no BPF program while certain tasks are current, so completions are missed at
 * random. If the probe itself loses events, it loses them in every try.
 */
static bool misses(const struct validate *validate, struct window *window, uint64_t made,
		   uint64_t seen)
{
	if (seen >= made || validate->last_try)
		return false;
	snprintf(window->why, RUN_TEXT, "%" PRIu64 " of %" PRIu64 " requests were missed",
		 made - seen, made);
	return true;
}

/* The least that the sum must be. The kernel's account is in truncated ms, so it may lack one. */
static uint64_t least_sum(const struct window *window, const struct lat_hist *total)
{
	uint64_t ms = lower_bound(window->child.reference, REFERENCE_READ_MS);
	double least = (ms ? ms - 1 : 0) * NSEC_PER_MSEC * SHARE - late_ns(window, total);

	return least > 0 ? (uint64_t)least : 0;
}

/*
 * A task that loses the CPU between the clocks of the probe and of the kernel adds ms to the
 * kernel's account alone. If the probe loses time, it loses it in every try.
 */
static bool disturbed(const struct validate *validate, struct window *window,
		      const struct lat_hist *total)
{
	if (total->sum_ns >= least_sum(window, total) || validate->last_try)
		return false;
	snprintf(window->why, RUN_TEXT, "diskstats has more time than the probe");
	return true;
}

/* Measures all I/O of the disk, while a child that is prepared uses it. */
static int measure_disk(struct validate *validate, struct window *window, struct bracket *bracket)
{
	struct lat_config config;
	dev_t disk;
	int err = disk__find(window, &disk);

	if (!err)
		err = disk__filter(window, &config);
	if (err)
		return err;
	reference_disk__read(disk, &bracket->before);
	err = window__measure(window, validate, config);
	reference_disk__read(disk, &bracket->after);
	return err;
}

/* Of one operation; empty if there was none. */
static void all_of(const struct window *window, enum lat_op op, struct lat_hist metrics[])
{
	for (unsigned int i = 0; i <= TOTAL; i++)
		window__key(window, i, LAT_BY_OP, op, &metrics[i]);
}

static void compare_disk(const struct validate *validate, const struct window *window,
			 const struct bracket *bracket, const struct lat_hist reads[])
{
	const struct reference_dio *inner = window->child.reference;
	uint64_t high_ms = upper_bound(bracket, REFERENCE_READ_MS);

	check__count(validate, "direct reads: requests, by diskstats",
		     lower_bound(inner, REFERENCE_READS), upper_bound(bracket, REFERENCE_READS),
		     hist__count(&reads[0]));
	check__time(validate, "  sum of total, by diskstats", least_sum(window, &reads[TOTAL]),
		    (high_ms + 1) * NSEC_PER_MSEC, reads[TOTAL].sum_ns);
	if (upper_bound(bracket, REFERENCE_READS) == inner->io.count)
		check_calls(validate, inner, &reads[TOTAL]);
	else
		check__skip(validate, "  by its system calls", "other processes read the disk");
	check_parts(validate, reads);
	check__sound(validate, window->probe);
}

static int check_disk(struct validate *validate, struct window *window)
{
	struct lat_hist reads[TOTAL + 1];
	struct bracket bracket;
	int err;

	err = open_reads(validate, window);
	if (!err)
		err = measure_disk(validate, window, &bracket);
	if (err)
		return err;
	all_of(window, LAT_OP_READ, reads);
	if (misses(validate, window, lower_bound(window->child.reference, REFERENCE_READS),
		   hist__count(&reads[0])) ||
	    disturbed(validate, window, &reads[TOTAL]))
		return -EAGAIN;
	compare_disk(validate, window, &bracket, reads);
	return 0;
}

/*
 * `name`: of the check of the count. Times can be compared only if all I/O of that kind was fio's.
 */
static void compare_fio(const struct validate *validate, const char *name,
			const struct reference_span *by_fio, uint64_t by_all,
			const struct lat_hist metrics[])
{
	const struct lat_hist *total = &metrics[TOTAL];

	check__count(validate, name, by_fio->count, by_all, hist__count(&metrics[0]));
	if (by_all != by_fio->count) {
		check__skip(validate, "  by fio's clock", "other processes use the disk");
		return;
	}
	check__count(validate, "  none longer than fio saw", by_fio->count, by_fio->count,
		     check__between(total, 0, by_fio->max_ns));
	check__time(validate, "  sum of total, by fio's clock", 0, by_fio->sum_ns, total->sum_ns);
}

static int check_fio(struct validate *validate, struct window *window)
{
	struct lat_hist reads[TOTAL + 1], writes[TOTAL + 1];
	const struct fio *fio;
	struct bracket bracket;
	struct fio asked = { 0 };
	int err;

	ask_reads(validate, &asked.dio);
	err = window__open(window, &fio_work, &asked);
	if (!err)
		err = measure_disk(validate, window, &bracket);
	if (err)
		return err;
	fio = window->child.reference;
	all_of(window, LAT_OP_READ, reads);
	all_of(window, LAT_OP_WRITE, writes);
	if (misses(validate, window, fio->reads.count, hist__count(&reads[0])) ||
	    misses(validate, window, fio->writes.count, hist__count(&writes[0])))
		return -EAGAIN;
	compare_fio(validate, "fio's reads", &fio->reads, upper_bound(&bracket, REFERENCE_READS),
		    reads);
	if (fio->dio.own)
		compare_fio(validate, "fio's writes", &fio->writes,
			    upper_bound(&bracket, REFERENCE_WRITES), writes);
	check__sound(validate, window->probe);
	return 0;
}

static int check_process(struct validate *validate, struct window *window)
{
	struct lat_hist metrics[TOTAL + 1];
	const struct reference_dio *dio;
	uint64_t seen;
	dev_t disk;
	int err;

	err = open_reads(validate, window);
	if (!err)
		err = disk__find(window, &disk);
	if (!err)
		err = window__measure(window, validate,
				      (struct lat_config){ .tgid = window->child.pid });
	if (err)
		return err;
	dio = window->child.reference;
	seen = run__recorded(window__cell(window, 0));
	if (misses(validate, window, dio->io.count, seen))
		return -EAGAIN;
	for (unsigned int i = 0; i <= TOTAL; i++)
		metrics[i] = window__cell(window, i)->hist;
	check__count(validate, "one process's direct reads", dio->io.count, dio->io.count, seen);
	check_calls(validate, dio, &metrics[TOTAL]);
	check_parts(validate, metrics);
	check__sound(validate, window->probe);
	return 0;
}

static uint64_t reads_ns(const void *reference)
{
	const struct reference_dio *dio = reference;

	return dio->io.count ? dio->io.sum_ns / dio->io.count : 0;
}

static const struct overhead iolat_overhead = {
	.name = "overhead: direct reads",
	.work = &disk_work,
	.ask = ask_reads,
	.elapsed_ns = reads_ns,
};

const struct probe_checks iolat_checks = {
	.probe = "iolat",
	.references = { { "direct reads", check_disk },
			{ "I/O by fio", check_fio },
			{ "one process's reads", check_process } },
	.experiment = &iolat_experiment,
	.overhead = &iolat_overhead,
	.situations = iolat_situations,
};
