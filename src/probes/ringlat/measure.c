// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/clock.h>
#include <host/host.h>

#include "ring.h"
#include "tsc.h"

/* until the CPU runs at its full clock; also used for the TSC's rate */
#define SPIN_NS 100000000ULL
#define WARM_UP_WINDOWS 3
/* one window in so many is empty, so that both kinds see the same conditions */
#define WINDOWS_PER_EMPTY 8
#define HOPELESS_WINDOWS 64 /* if so many windows were all dropped, give up */

static uint64_t spin(void)
{
	struct tsc_pair from = tsc__pair();
	uint64_t until = from.ns + SPIN_NS;
	struct tsc_pair to;

	do
		to = tsc__pair();
	while (to.ns < until);
	return tsc__khz(from, to);
}

static void add_round_trip(struct ring_hist hists[RING_WAYS], const struct ring_sample *sample)
{
	ring_hist__add(&hists[0], sample->user_in - sample->user_out);
}

static void add_crossing(struct ring_hist hists[RING_WAYS], const struct ring_sample *sample)
{
	ring_hist__add(&hists[RING_USER_TO_KERNEL], sample->kernel_in - sample->user_out);
	ring_hist__add(&hists[RING_KERNEL_TO_USER], sample->user_in - sample->kernel_out);
}

static enum ring_verdict judge(const struct ring_sample *sample, bool round_trip)
{
	if (round_trip)
		return sample->user_out <= sample->user_in ? RING_KEPT : RING_BACKWARDS;
	if (!sample->kernel_in)
		return RING_NOT_HOOKED;
	return sample->user_out <= sample->kernel_in && sample->kernel_in <= sample->kernel_out &&
			       sample->kernel_out <= sample->user_in
		       ? RING_KEPT
		       : RING_BACKWARDS;
}

static void add_samples(struct ring_count *count, const struct ring_sample *samples,
			unsigned int nr)
{
	bool round_trip = count->event->round_trip;

	for (unsigned int i = 0; i < nr; i++) {
		enum ring_verdict verdict = judge(&samples[i], round_trip);

		if (verdict != RING_KEPT) {
			count->misses[verdict]++;
			continue;
		}
		count->kept++;
		if (round_trip)
			add_round_trip(count->ways, &samples[i]);
		else
			add_crossing(count->ways, &samples[i]);
	}
}

static void put_stamp(FILE *out, uint64_t stamp)
{
	if (stamp)
		fprintf(out, ",%llu", (unsigned long long)stamp);
	else
		fputc(',', out);
}

/* Between two windows: within one, nothing is written. */
static void write_raw(struct ring *ring, const struct ring_event *event, enum ring_verdict window,
		      unsigned int nr)
{
	for (unsigned int i = 0; ring->raw && i < nr; i++) {
		const struct ring_sample *sample = &ring->samples[i];
		enum ring_verdict verdict = window ? window : judge(sample, event->round_trip);
		bool round_trip = event->round_trip;

		fprintf(ring->raw, "%s,%llu,%u,%s", event->name,
			(unsigned long long)ring->nr_windows, i, ring_verdict__name(verdict));
		put_stamp(ring->raw, sample->user_out);
		put_stamp(ring->raw, round_trip ? 0 : sample->kernel_in);
		put_stamp(ring->raw, round_trip ? 0 : sample->kernel_out);
		put_stamp(ring->raw, sample->user_in);
		fputc('\n', ring->raw);
	}
	ring->nr_windows++;
}

static int measure_empty(struct ring *ring, unsigned int event, struct ring_count *count,
			 char why[RUN_TEXT])
{
	unsigned int nr = ring->method->window;
	int verdict;

	verdict = ring->method->window_of(ring, event, true, ring->samples, nr, why);
	if (verdict < 0)
		return verdict;
	if (verdict != RING_KEPT) {
		count->empty_misses[verdict]++;
		return 0;
	}
	for (unsigned int i = 0; i < nr; i++) {
		if (count->event->round_trip)
			add_round_trip(count->empty, &ring->samples[i]);
		else
			add_crossing(count->empty, &ring->samples[i]);
	}
	return 0;
}

/* Kept crossings need at least one empty window: a short run may have dropped all. */
static int measure_baseline(struct ring *ring, unsigned int event, struct ring_count *count,
			    char why[RUN_TEXT])
{
	int err = 0;

	for (unsigned int i = 0; !err && !count->empty[0].count && i < HOPELESS_WINDOWS; i++)
		err = measure_empty(ring, event, count, why);
	return err;
}

static int measure_window(struct ring *ring, unsigned int event, struct ring_count *count,
			  uint64_t left, char why[RUN_TEXT])
{
	unsigned int nr = ring->method->window < left ? ring->method->window : (unsigned int)left;
	uint64_t start = clock__now_ns();
	int verdict;

	verdict = ring->method->window_of(ring, event, false, ring->samples, nr, why);
	if (verdict < 0)
		return verdict;
	count->attempted += nr;
	if (verdict == RING_KEPT) {
		count->vm_exits += ring->vm_exits;
		count->clock_ns += clock__now_ns() - start;
		add_samples(count, ring->samples, nr);
	} else {
		count->misses[verdict] += nr;
	}
	write_raw(ring, count->event, verdict, nr);
	return 0;
}

/* Touches everything first: a first touch is not part of a crossing. */
static int warm_up(struct ring *ring, unsigned int event, char why[RUN_TEXT])
{
	int verdict = 0;

	for (unsigned int i = 0; verdict >= 0 && i < 2 * WARM_UP_WINDOWS; i++)
		verdict = ring->method->window_of(ring, event, i % 2, ring->samples,
						  ring->method->window, why);
	return verdict < 0 ? verdict : 0;
}

static int explain_loss(const struct ring_count *count, char why[RUN_TEXT])
{
	const uint64_t *misses = count->kept ? count->empty_misses : count->misses;
	int used = snprintf(why, RUN_TEXT,
			    "no %s%s was undisturbed:", count->kept ? "empty window for " : "",
			    count->event->name);

	for (unsigned int i = 0; i < RING_VERDICTS; i++) {
		if (misses[i])
			used += snprintf(why + used, RUN_TEXT - used, " %llu %s",
					 (unsigned long long)misses[i], ring_verdict__name(i));
	}
	return -ENODATA;
}

static struct ring_count *count_of(const struct ring *ring)
{
	return &ring->result->events[ring->event];
}

static int begin_event(struct ring *ring, char why[RUN_TEXT])
{
	struct ring_count *count = count_of(ring);

	ring->result->nr_events++;
	count->event = &ring->method->events[ring->event];
	count->nr_ways = count->event->round_trip ? 1 : RING_WAYS;
	return warm_up(ring, ring->event, why);
}

static int end_event(struct ring *ring, char why[RUN_TEXT])
{
	struct ring_count *count = count_of(ring);
	int err = count->kept ? measure_baseline(ring, ring->event, count, why) : 0;

	ring->event++;
	ring->windows = 0;
	if (err || (count->kept && count->empty[0].count))
		return err;
	if (!ring->result->interrupted)
		return explain_loss(count, why);
	/* Too short for a result: the machine is not the reason. */
	ring->result->nr_events--;
	return 0;
}

/* Does the event have its crossings, or is there no chance of them? */
static bool has_enough(const struct ring *ring)
{
	const struct ring_count *count = count_of(ring);

	return count->attempted >= ring->crossings ||
	       (ring->windows >= HOPELESS_WINDOWS && !count->kept);
}

static int measure_next(struct ring *ring, char why[RUN_TEXT])
{
	struct ring_count *count = count_of(ring);
	int err = ring->windows ? 0 : begin_event(ring, why);

	if (!err && (ring->windows % WINDOWS_PER_EMPTY == 0 || !count->empty[0].count))
		err = measure_empty(ring, ring->event, count, why);
	if (!err)
		err = measure_window(ring, ring->event, count, ring->crossings - count->attempted,
				     why);
	ring->windows++;
	return !err && has_enough(ring) ? end_event(ring, why) : err;
}

int ring__next(struct ring *ring, char why[RUN_TEXT])
{
	int err = measure_next(ring, why);

	ring->failed = err;
	return err ? err : ring->event < ring->method->nr_events;
}

static int find_where(struct ring *ring, struct ring_result *result, char why[RUN_TEXT])
{
	struct ring_facts facts;
	char *host = host__describe("");

	if (!host)
		return ring__fail(why, -ENOMEM, "out of memory");
	ring_facts__read(&facts);
	facts.guest = ring->method->guest;
	facts.exit_cycles = ring->control.cycles;
	facts.empty_cycles = (uint64_t)ring_hist__quantile(&result->events[0].empty[0], 500);
	ring_where__judge(&result->where, &facts, host, "");
	free(host);
	return 0;
}

void ring__begin(struct ring *ring, uint64_t crossings, struct ring_result *result)
{
	uint64_t khz;

	ring->start_ns = clock__now_ns();
	khz = spin();
	memset(result, 0, sizeof(*result));
	result->method = ring->method;
	result->cpu = ring->cpu;
	result->control = ring->control;
	result->tsc_khz = ring->tsc_khz ? ring->tsc_khz : khz;
	ring->result = result;
	ring->crossings = crossings;
	ring->event = ring->windows = 0;
	ring->nr_windows = 0;
	ring->raw = NULL;
	ring->failed = false;
}

void ring__keep_raw(struct ring *ring, FILE *raw)
{
	ring->raw = raw;
	fputs("event,window,crossing,verdict,u2k_u,u2k_k,k2u_k,k2u_u\n", raw);
}

int ring__end(struct ring *ring, char why[RUN_TEXT])
{
	struct ring_result *result = ring->result;
	int err = 0;

	if (ring->failed)
		return 0;
	result->interrupted = ring->event < ring->method->nr_events;
	if (ring->windows)
		err = end_event(ring, why);
	if (!err)
		err = find_where(ring, result, why);
	result->duration_ns = clock__now_ns() - ring->start_ns;
	return err;
}
