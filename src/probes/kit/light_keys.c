// SPDX-License-Identifier: BSD-2-Clause
#include "light_keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <bpf/bpf.h>

#include <core/hist.h>

#include "rows.h"

#define ENTRIES_PER_ROW 16
#define LEAST_ENTRIES 16384U
#define MOST_ENTRIES 65536U
#define BATCH 1024U /* entries per batch, more than a bucket of the map has */

/* What a key without a row has had so far. */
struct weight {
	struct lat_key key;
	uint64_t ns;
	uint32_t index; /* index of its key in the run's data, if it has a row now */
	bool used, has_row;
};

/* A key's samples since the last reading. */
struct period {
	struct lat_key key;
	struct lat_light light;
	struct weight *weight;
};

struct light {
	struct weight *weights; /* hash table, a power of two long */
	size_t slots, used;
	uint32_t next_row;
	uint32_t longest; /* rows given for the longest sample */
	uint64_t forgotten_ns; /* upper bound of what any weight can lack */
	uint64_t samples; /* in the rows (other), at the last reading */
};

uint32_t light__entries(const struct bpf_probe *probe)
{
	uint64_t entries = (uint64_t)probe->config.rows * ENTRIES_PER_ROW;

	if (entries < LEAST_ENTRIES)
		return LEAST_ENTRIES;
	return entries < MOST_ENTRIES ? entries : MOST_ENTRIES;
}

/* Maximum keys of one reading: some arrive while it empties the map. */
static size_t most_periods(const struct bpf_probe *probe)
{
	return light__entries(probe) + BATCH;
}

int light__new(struct bpf_probe *probe)
{
	struct light *light = calloc(1, sizeof(*light));

	probe->moved = calloc(LAT_ROWS_TOTAL(probe->config.rows), sizeof(*probe->moved));
	probe->light = light;
	if (!light || !probe->moved)
		return -ENOMEM;
	light->next_row = probe->config.first_rows;
	for (light->slots = 1; light->slots < 4 * (size_t)light__entries(probe);)
		light->slots *= 2;
	light->weights = calloc(light->slots, sizeof(*light->weights));
	return light->weights ? 0 : -ENOMEM;
}

void light__free(struct bpf_probe *probe)
{
	for (size_t i = 0; probe->moved && i < LAT_ROWS_TOTAL(probe->config.rows); i++)
		free(probe->moved[i]);
	free(probe->moved);
	if (probe->light)
		free(probe->light->weights);
	free(probe->light);
}

void light__stop(const struct bpf_probe *probe)
{
	probe->light->next_row = probe->config.rows;
}

/* Raises `most` to the heaviest weight of each metric. */
static void find_heaviest(const struct light *light, uint64_t most[LAT_METRICS])
{
	for (size_t i = 0; i < light->slots; i++) {
		const struct weight *weight = &light->weights[i];

		if (weight->used && weight->ns > most[weight->key.metric])
			most[weight->key.metric] = weight->ns;
	}
}

void light__restart(struct bpf_probe *probe, size_t others)
{
	uint64_t most[LAT_METRICS] = { 0 }, heaviest = 0;
	struct light *light = probe->light;

	for (size_t i = others; i < LAT_ROWS_TOTAL(probe->config.rows); i++) {
		free(probe->moved[i]);
		probe->moved[i] = NULL;
	}
	/* The rows (other) stay, so any key may have had there what the heaviest one had. */
	find_heaviest(light, most);
	for (unsigned int i = 0; i < LAT_METRICS; i++)
		heaviest = most[i] > heaviest ? most[i] : heaviest;
	light->forgotten_ns += heaviest;
	memset(light->weights, 0, light->slots * sizeof(*light->weights));
	light->used = 0;
	light->next_row = probe->config.first_rows;
	light->longest = 0;
}

/* ---- weights ---- */

/* The place of a key, used or free: the table is never full. */
static struct weight *place_of(const struct light *light, const struct lat_key *key)
{
	uint64_t hash = (key->id * 31 + key->by * LAT_METRICS + key->metric) * 0x9e3779b97f4a7c15;
	size_t at = (hash >> 32) & (light->slots - 1);

	while (light->weights[at].used && memcmp(&light->weights[at].key, key, sizeof(*key)))
		at = (at + 1) & (light->slots - 1);
	return &light->weights[at];
}

static struct weight *weight_of(struct light *light, const struct lat_key *key)
{
	struct weight *weight = place_of(light, key);

	if (!weight->used) {
		*weight = (struct weight){ .key = *key, .used = true };
		light->used++;
	}
	return weight;
}

static int heavier(const void *left, const void *right)
{
	const struct weight *a = left, *b = right;

	if (a->has_row != b->has_row)
		return a->has_row ? -1 : 1;
	return a->ns < b->ns ? 1 : a->ns > b->ns ? -1 : 0;
}

/* Forgets the lighter half if the next reading might not find room. */
static int forget_light(struct light *light)
{
	size_t keep = light->slots / 4, at = 0;
	struct weight *all;

	if (light->used <= light->slots / 2)
		return 0;
	all = malloc(light->used * sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (size_t i = 0; i < light->slots; i++)
		if (light->weights[i].used)
			all[at++] = light->weights[i];
	qsort(all, at, sizeof(*all), heavier);
	light->forgotten_ns += all[keep].ns;
	memset(light->weights, 0, light->slots * sizeof(*light->weights));
	for (size_t i = 0; i < keep; i++)
		*place_of(light, &all[i].key) = all[i];
	light->used = keep;
	free(all);
	return 0;
}

/* ---- moving samples from the row (other) to that of a key ---- */

static struct lat_hist *moved_of(struct bpf_probe *probe, size_t key)
{
	if (!probe->moved[key])
		probe->moved[key] = calloc(1, sizeof(*probe->moved[key]));
	return probe->moved[key];
}

static void move_slot(struct lat_hist *to, struct lat_hist *from, uint32_t slot, uint64_t count)
{
	to->slots[slot] += count;
	from->slots[slot] -= count; /* below 0: its row has as many */
}

/*
 * Moves the samples of `light`: the largest one in its slot, the others in slots of their power of
 * two in which the row (other) got samples since the last reading (`fresh`).
 */
static void move_slots(struct lat_hist *to, struct lat_hist *from, const struct lat_light *light,
		       struct lat_hist *fresh)
{
	uint32_t top = hist_slot(light->max_ns), left[HIST_LOG2_BUCKETS];

	memcpy(left, light->counts, sizeof(left));
	if (fresh->slots[top] && left[hist_slot_bucket(top)]) {
		move_slot(to, from, top, 1);
		fresh->slots[top]--;
		left[hist_slot_bucket(top)]--;
	}
	for (uint32_t slot = top + 1; slot-- > 0;) {
		uint32_t *want = &left[hist_slot_bucket(slot)];
		uint64_t count = fresh->slots[slot] < *want ? fresh->slots[slot] : *want;

		move_slot(to, from, slot, count);
		*want -= count;
	}
}

/*
 * Does the row (other) have these samples? A sample may have reached the row before the last
 * reading, and its entry only after it.
 */
static bool can_give(const struct lat_hist *fresh, const struct lat_light *light)
{
	uint64_t buckets[HIST_LOG2_BUCKETS];

	hist__log2(fresh, buckets);
	for (int i = 0; i < HIST_LOG2_BUCKETS; i++)
		if (buckets[i] < light->counts[i])
			return false;
	return fresh->sum_ns >= light->sum_ns && fresh->tail >= light->tail;
}

/* If they cannot be moved, they stay in that row and in the key's weight. */
static int move(struct bpf_probe *probe, const struct run_data *total, const struct period *period)
{
	const struct lat_key other = { RUN_OTHER_ID, period->key.by, period->key.metric };
	size_t at = run__find_key((struct run_data *)total, &other) - total->keys;
	struct lat_hist *to = moved_of(probe, period->weight->index), *from = moved_of(probe, at);
	struct lat_hist fresh, before;
	struct rows_view view;
	int err;

	if (!to || !from)
		return -ENOMEM;
	err = rows__map(probe, probe->rows[at], 1, PROT_READ, &view);
	if (err)
		return err;
	rows__copy(probe, at, view.rows, &fresh);
	rows__unmap(&view);
	sparse__expand(&total->keys[at].hist, &before);
	for (uint32_t slot = 0; slot < HIST_SLOTS; slot++)
		fresh.slots[slot] -= before.slots[slot];
	fresh.sum_ns -= before.sum_ns;
	fresh.tail -= before.tail;
	if (!can_give(&fresh, &period->light)) {
		period->weight->ns += period->light.sum_ns;
		return 0;
	}
	move_slots(to, from, &period->light, &fresh);
	to->sum_ns += period->light.sum_ns;
	from->sum_ns -= period->light.sum_ns;
	to->tail += period->light.tail;
	from->tail -= period->light.tail;
	if (period->light.max_ns > to->max_ns)
		to->max_ns = period->light.max_ns;
	return 0;
}

/* ---- who gets a row ---- */

static uint32_t rows_left(const struct bpf_probe *probe)
{
	return probe->config.rows - probe->light->next_row;
}

/*
 * While the window is open, a quarter of the reserved rows is kept for keys that are heavy at its
 * end, and at most a quarter goes to keys that are not heavy but have the longest sample so far.
 */
static bool deserves_row(const struct bpf_probe *probe, const struct run_data *total,
			 const struct period *period)
{
	uint32_t held = probe->config.rows - probe->config.first_rows;
	const struct lat_hist *all = &total->metrics[period->key.metric].hist;

	if (!probe->control->armed)
		return rows_left(probe) > 0;
	if (rows_left(probe) <= held / 4)
		return false;
	if (period->weight->ns >= all->sum_ns / (held / 2 + 1))
		return true;
	if (period->light.max_ns < all->max_ns || probe->light->longest >= held / 4)
		return false;
	probe->light->longest++;
	return true;
}

/*
 * Adds the key. It may exist already, if it got the last row while another CPU found none: then it
 * keeps that row, and its earlier samples stay in (other). 1: added; 0; or -errno.
 */
static int make_key(struct bpf_probe *probe, const struct period *period)
{
	int fd = bpf_object__find_map_fd_by_name(probe->obj, "keys");
	uint32_t row = probe->light->next_row;
	struct lat_owner *owner = &probe->owners[row];

	owner->key = period->key;
	memcpy(owner->comm, period->light.comm, sizeof(owner->comm)); /* before it can be renamed */
	if (bpf_map_update_elem(fd, &period->key, &row, BPF_NOEXIST))
		return errno == EEXIST ? 0 : -errno;
	owner->ready = true;
	probe->light->next_row++;
	return 1;
}

static int give_row(struct bpf_probe *probe, struct run_data *total, struct run_data *delta,
		    struct names *names, const struct period *period)
{
	uint32_t row = probe->light->next_row;
	char name[RUN_NAME];
	int made;

	made = make_key(probe, period);
	if (made <= 0)
		return made;
	names__key(names, &period->key, period->light.comm, name);
	period->weight->index = probe->nr_keys;
	period->weight->has_row = true;
	period->weight->ns -= period->light.sum_ns;
	return rows__add_key(probe, total, delta, &period->key, name, row);
}

static int by_weight(const void *left, const void *right)
{
	const struct period *a = left, *b = right;

	return heavier(a->weight, b->weight);
}

static int share_out(struct bpf_probe *probe, struct run_data *total, struct run_data *delta,
		     struct names *names, struct period *periods, size_t nr)
{
	int err = 0;

	for (size_t i = 0; !err && i < nr; i++) {
		const struct period *period = &periods[i];

		if (!period->weight->has_row) {
			if (!deserves_row(probe, total, period))
				continue;
			err = give_row(probe, total, delta, names, period);
		}
		if (!err && period->weight->has_row)
			err = move(probe, total, period);
	}
	return err;
}

/* ---- reading ---- */

/* Empties the map. Keys with a row may have entries too, from samples that were being added. */
static int take_entries(struct bpf_probe *probe, struct period *periods, size_t *nr)
{
	int fd = bpf_object__find_map_fd_by_name(probe->obj, "light"), err = 0;
	uint32_t at, count;
	struct lat_light values[BATCH];
	struct lat_key keys[BATCH];

	for (void *from = NULL; !err && *nr + BATCH <= most_periods(probe); from = &at) {
		count = BATCH;
		err = bpf_map_lookup_and_delete_batch(fd, from, &at, keys, values, &count, NULL);
		for (uint32_t i = 0; (!err || err == -ENOENT) && i < count; i++) {
			struct period *period = &periods[(*nr)++];

			*period = (struct period){ keys[i], values[i],
						   weight_of(probe->light, &keys[i]) };
			if (!period->weight->has_row)
				period->weight->ns += values[i].sum_ns;
		}
	}
	return err == -ENOENT ? 0 : err;
}

/* The bound only grows, like the values it sums. */
static void bound_others(const struct bpf_probe *probe, struct run_data *total,
			 struct run_data *delta)
{
	uint64_t most[LAT_METRICS] = { 0 }, unknown;
	const struct light *light = probe->light;

	find_heaviest(light, most);
	unknown = light->forgotten_ns +
		  __atomic_load_n(&probe->control->unnamed_ns, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < probe->nr_metrics; i++) {
		__u64 *said = &total->metrics[i].counts[LAT_OTHER_MOST_NS];

		if (!total->metrics[i].counts[LAT_OTHER_KEY] || most[i] + unknown <= *said)
			continue;
		delta->metrics[i].counts[LAT_OTHER_MOST_NS] = most[i] + unknown - *said;
		*said = most[i] + unknown;
	}
}

int light__read(struct bpf_probe *probe, struct run_data *total, struct run_data *delta,
		struct names *names)
{
	struct period *periods;
	uint64_t samples = 0;
	size_t nr = 0;
	int err;

	for (unsigned int i = 0; i < probe->nr_metrics; i++)
		samples += total->metrics[i].counts[LAT_OTHER_KEY];
	if (samples == probe->light->samples)
		return 0;
	probe->light->samples = samples;
	err = forget_light(probe->light);
	if (err)
		return err;
	periods = malloc(most_periods(probe) * sizeof(*periods));
	if (!periods)
		return -ENOMEM;
	err = take_entries(probe, periods, &nr);
	if (!err) {
		qsort(periods, nr, sizeof(*periods), by_weight);
		err = share_out(probe, total, delta, names, periods, nr);
	}
	free(periods);
	bound_others(probe, total, delta);
	return err;
}
