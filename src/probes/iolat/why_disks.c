// SPDX-License-Identifier: BSD-2-Clause
#include "why_disks.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include <core/units.h>

#define FAST 0.05 /* where no request was alone: the share that was as fast as one is */
#define LOW 0.1 /* quantiles of requests alone that are printed */
#define HIGH 0.9
#define FLAT 0.25 /* of the slope of a line by bytes alone: a flatter one is by requests */
#define MUCH_BETTER 0.5 /* the errors of the better model, to those of a simpler one */
#define SATURATED 1.5 /* a disk that has so many times the requests that it serves at a time */
#define LIMITED 0.5 /* a disk that serves fewer at a time is kept from it by a limit */
#define SHOWN 3 /* kinds of a disk */
#define SHOWN_SHARE 0.05 /* of its requests; and of a disk, of the time of all requests */
#define NAME 64

/* ---- histograms of a kind ---- */

/* The edges of a slot, in ns. */
static double edge(unsigned int slot)
{
	return (double)hist_slot_low_ns(2 * slot);
}

static double count_of(const __u32 slots[WHY_KIND_SLOTS])
{
	double count = 0;

	for (unsigned int i = 0; i < WHY_KIND_SLOTS; i++)
		count += slots[i];
	return count;
}

/* Where so many of the samples are below; within a slot they are spread evenly. */
static double value_at(const __u32 slots[WHY_KIND_SLOTS], double below)
{
	unsigned int last = 0;

	for (unsigned int i = 0; i < WHY_KIND_SLOTS; i++) {
		if (!slots[i])
			continue;
		if (below <= slots[i])
			return edge(i) + (edge(i + 1) - edge(i)) * fmax(below, 0) / slots[i];
		below -= slots[i];
		last = i;
	}
	return edge(last + 1);
}

static double quantile(const __u32 slots[WHY_KIND_SLOTS], double share)
{
	return value_at(slots, share * count_of(slots));
}

/* ---- how long a request takes alone ---- */

static bool has_alone(const struct why_kind *kind)
{
	return kind->alones >= WHY_DISKS_ALONE;
}

/* A typical one, in ns. */
static double typical(const struct why_kind *kind)
{
	return has_alone(kind) ? quantile(kind->alone_slots, 0.5)
			       : quantile(kind->device_slots, FAST);
}

static double middle(unsigned int slot)
{
	return (edge(slot) + edge(slot + 1)) / 2;
}

/* The slot where so many of the samples are below. */
static unsigned int slot_at(const __u32 slots[WHY_KIND_SLOTS], double below)
{
	unsigned int last = 0;

	for (unsigned int i = 0; i < WHY_KIND_SLOTS; i++) {
		if (slots[i] && below <= slots[i])
			return i;
		below -= slots[i];
		last = slots[i] ? i : last;
	}
	return last;
}

/* The mean of those alone, to that by the middles of their slots. */
static double scale(const struct why_kind *kind)
{
	double sum = 0;

	for (unsigned int i = 0; i < WHY_KIND_SLOTS; i++)
		sum += kind->alone_slots[i] * middle(i);
	return sum > 0 ? (double)kind->alones_ns / sum : 1;
}

/*
 * A request that took longer than a share of all takes as long as that share of those alone: the
 * slowest one, as long as the slowest one alone. So a disk that is slow at times when a request is
 * alone is as slow with others, and nobody is blamed for it.
 */
static void set_alone(struct why_kind *kind)
{
	double all = count_of(kind->total_slots), alone = count_of(kind->alone_slots), below = 0;
	double by = scale(kind);

	for (unsigned int i = 0; i < WHY_KIND_SLOTS && all > 0; i++) {
		double share = (below + kind->total_slots[i] / 2.0) / all;

		double ns = by * middle(slot_at(kind->alone_slots, share * alone));

		__atomic_store_n(&kind->alone[i], (__u32)(ns / WHY_ALONE_NS), __ATOMIC_RELAXED);
		below += kind->total_slots[i];
	}
}

static void set_bound(struct why_kind *kind)
{
	double ns = quantile(kind->device_slots, FAST);

	for (unsigned int i = 0; i < WHY_KIND_SLOTS; i++)
		__atomic_store_n(&kind->alone[i], (__u32)(ns / WHY_ALONE_NS), __ATOMIC_RELAXED);
}

/* ---- what a request costs the others ---- */

/* The time of a batch in us: `us` for each of its requests, and `kib_us` for each KiB. */
struct costs {
	double us, kib_us;
};

/* Sums of squares of what is left of the times of the batches, by each model. */
struct errors {
	double requests, bytes, both;
};

/* By the number of requests, by their bytes, and, by least squares, by both. */
static struct errors fit_all(const struct why_load *load, struct costs *bytes, struct costs *both)
{
	double n = (double)load->batches, kib = (double)load->batch_kib / n;
	double us = (double)load->us / n, raw = (double)load->kib_kib,
	       raw_xy = (double)load->kib_us;
	double xx = raw - n * kib * kib, xy = raw_xy - n * kib * us;
	double yy = (double)load->us_us - n * us * us;
	struct errors errors = { yy, INFINITY, INFINITY };

	if (kib > 0) {
		*bytes = (struct costs){ .kib_us = us / kib };
		errors.bytes = (double)load->us_us - us / kib * (2 * raw_xy - us / kib * raw);
	}
	if (xx > 0 && xy > 0 && us * xx > kib * xy) {
		*both = (struct costs){ .us = (us - kib * xy / xx) / WHY_BATCH, .kib_us = xy / xx };
		errors.both = yy - xy * xy / xx;
	}
	return errors;
}

/*
 * Mostly something limits either the bytes or the requests of a second, so both count only if that
 * explains the times much better. What a limit lets pass at once makes a line through the times too
 * flat, and nothing makes it too steep: so where it rises at all, it is the bytes.
 */
static bool fit(const struct why_load *load, struct costs *costs)
{
	struct costs bytes = { 0 }, both = { 0 };
	struct errors errors;

	*costs = (struct costs){ 0 };
	if (load->batches < WHY_DISKS_BATCHES)
		return false;
	errors = fit_all(load, &bytes, &both);
	if (errors.both < MUCH_BETTER * fmin(errors.requests, errors.bytes))
		*costs = both;
	else if (errors.bytes < errors.requests || both.kib_us > FLAT * bytes.kib_us)
		*costs = bytes;
	else
		costs->us = (double)load->us / (double)load->batches / WHY_BATCH;
	return true;
}

static const struct why_load *load_of(const struct why_disks *disks, const struct why_kind *kind)
{
	const struct why_load *load = &disks->loads[WHY_KIND_QUEUE(kind->key) % WHY_DISKS];

	return load->queue == (__u64)WHY_KIND_QUEUE(kind->key) + 1 ? load : NULL;
}

static bool is_transfer(const struct why_kind *kind)
{
	return WHY_KIND_OP(kind->key) == LAT_OP_READ || WHY_KIND_OP(kind->key) == LAT_OP_WRITE;
}

static void set_cost(const struct why_disks *disks, struct why_kind *kind)
{
	const struct why_load *load = load_of(disks, kind);
	bool fits, is_sure;
	struct costs costs;

	fits = load && is_transfer(kind) && fit(load, &costs);
	is_sure = fits || !is_transfer(kind) || (load && load->started >= WHY_DISKS_REQUESTS);
	if (!fits)
		costs = (struct costs){ .us = typical(kind) / 1000 };
	__atomic_store_n(&kind->cost_is_sure, is_sure, __ATOMIC_RELAXED);
	__atomic_store_n(&kind->cost_kib_ns, (__u64)(1000 * costs.kib_us), __ATOMIC_RELAXED);
	__atomic_store_n(&kind->cost_ns, (__u64)(1000 * costs.us) + 1, __ATOMIC_RELAXED);
}

void why_disks__learn(const struct why_disks *disks)
{
	for (unsigned int i = 0; i < WHY_KINDS; i++) {
		struct why_kind *kind = &disks->kinds[i];

		if (!kind->key || !kind->requests)
			continue;
		set_cost(disks, kind);
		if (has_alone(kind))
			set_alone(kind);
		else
			set_bound(kind);
		__atomic_store_n(&kind->known, has_alone(kind) ? WHY_KNOWS_ALONE : WHY_KNOWS_BOUND,
				 __ATOMIC_RELEASE);
	}
}

/* ---- sentences ---- */

struct text {
	char *at;
	size_t left;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
	va_list args;
	int len;

	va_start(args, format);
	len = vsnprintf(text->at, text->left, format, args);
	va_end(args);
	if (len < 0)
		return;
	if ((size_t)len >= text->left)
		len = (int)text->left - 1;
	text->at += len;
	text->left -= (size_t)len;
}

/* What is known of one disk: its kinds of requests, the most frequent first. */
struct disk {
	const struct why_kind *kinds[WHY_KINDS];
	unsigned int nr;
	double requests; /* of all kinds */
	double transfers, transfers_ns; /* reads and writes, and how long they take alone */
	double alone; /* of these, of kinds that had requests alone */
	double ns; /* how long all requests took */
};

static double time_of(const struct why_kind *kind)
{
	double ns = 0;

	for (unsigned int i = 0; i < WHY_KIND_SLOTS; i++)
		ns += kind->total_slots[i] * middle(i);
	return ns;
}

static void add_kind(struct disk *disk, const struct why_kind *kind)
{
	unsigned int at = disk->nr++;
	double requests = (double)kind->requests;

	for (; at && disk->kinds[at - 1]->requests < kind->requests; at--)
		disk->kinds[at] = disk->kinds[at - 1];
	disk->kinds[at] = kind;
	disk->requests += requests;
	disk->ns += time_of(kind);
	if (!is_transfer(kind))
		return;
	disk->transfers += requests;
	disk->transfers_ns += requests * typical(kind);
	if (has_alone(kind))
		disk->alone += requests;
}

static void gather(struct disk *disk, const struct why_disks *disks, const struct why_load *load)
{
	*disk = (struct disk){ 0 };
	for (unsigned int i = 0; i < WHY_KINDS; i++) {
		const struct why_kind *kind = &disks->kinds[i];

		if (kind->key && kind->requests && load_of(disks, kind) == load)
			add_kind(disk, kind);
	}
}

/* How many the disk serves at a time, or what limits it. */
static void say_parallel(struct text *text, const struct disk *disk, const struct why_load *load,
			 const char *name)
{
	struct costs costs;
	double us, at_a_time, open;
	char limit[UNITS_TEXT];

	add(text, "%s", name);
	if (!fit(load, &costs)) {
		add(text, ": how many it serves at a time, cannot tell");
		return;
	}
	us = (double)load->us / (double)load->batches / WHY_BATCH;
	at_a_time = disk->transfers_ns / disk->transfers / 1000 / us;
	open = (double)load->batch_open / (double)load->batches + 1;
	if (at_a_time < LIMITED && costs.kib_us > 0 && costs.us < us / 2)
		add(text, " is limited to %s/s",
		    units__size(limit, (__u64)(1024 * 1e6 / costs.kib_us)));
	else if (at_a_time < LIMITED)
		add(text, " is limited to %.0f requests/s", 1e6 / us);
	else if (disk->alone < disk->transfers / 2)
		add(text, " serves at most %.0f at a time", fmax(at_a_time, 1));
	else
		add(text, " serves %s%.0f at a time",
		    open < SATURATED * at_a_time && at_a_time > SATURATED ? "at least " : "",
		    fmax(at_a_time, 1));
}

static const char *kind_name(const struct why_kind *kind, char out[NAME])
{
	static const char *const names[] = { "read", "write", "discard", "flush", "other" };
	unsigned int op = WHY_KIND_OP(kind->key);
	char size[UNITS_TEXT];

	if (op >= sizeof(names) / sizeof(names[0]))
		snprintf(out, NAME, "flush with its data");
	else if (is_transfer(kind))
		snprintf(out, NAME, "%s of %s", names[op],
			 units__size(size, 1024 * kind->kib / kind->requests));
	else
		snprintf(out, NAME, "%s", names[op]);
	return out;
}

static void say_kind(struct text *text, const struct why_kind *kind)
{
	char name[NAME], ns[UNITS_TEXT], low[UNITS_TEXT], high[UNITS_TEXT], count[UNITS_TEXT];

	kind_name(kind, name);
	if (kind->requests < WHY_DISKS_ALONE)
		add(text, "; how long a %s takes alone, cannot tell", name);
	else if (!has_alone(kind))
		add(text, "; a %s takes at most %s (none alone, the fastest of %s)", name,
		    units__ns(ns, typical(kind)), units__count(count, kind->requests));
	else
		add(text, "; a %s alone takes %s (%s alone, %s to %s)", name,
		    units__ns(ns, typical(kind)), units__count(count, kind->alones),
		    units__ns(low, quantile(kind->alone_slots, LOW)),
		    units__ns(high, quantile(kind->alone_slots, HIGH)));
}

void why_disks__describe(const struct why_disks *disks,
			 const char *(*name)(void *context, __u64 disk, char *out), void *context,
			 char *text, size_t size)
{
	struct text to = { text, size };
	struct disk disk;
	char room[NAME];
	bool first = true;
	double ns = 0;

	*text = '\0';
	for (unsigned int i = 0; i < WHY_KINDS; i++)
		ns += time_of(&disks->kinds[i]);
	for (unsigned int i = 0; i < WHY_DISKS; i++) {
		const struct why_load *load = &disks->loads[i];

		if (!load->queue)
			continue;
		gather(&disk, disks, load);
		if (!disk.nr || disk.ns < SHOWN_SHARE * ns)
			continue;
		add(&to, "%s", first ? "" : ". ");
		first = false;
		say_parallel(&to, &disk, load, name(context, load->disk, room));
		for (unsigned int k = 0; k < disk.nr && k < SHOWN; k++)
			if ((double)disk.kinds[k]->requests >= SHOWN_SHARE * disk.requests)
				say_kind(&to, disk.kinds[k]);
	}
}
