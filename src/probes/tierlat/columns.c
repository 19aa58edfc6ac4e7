// SPDX-License-Identifier: BSD-2-Clause
#include "columns.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* clang-format off */
const struct table_column tier_columns[TIER_RAW_COLUMNS] = {
	[TIER_SOCKET] = { "socket", "", "physical package", TABLE_INTEGER, true },
	[TIER_NAME] = { "tier", "", "kind of memory, seen from the socket", TABLE_TEXT, true },
	[TIER_BOXES_USED] = { "boxes", "", "CHAs (AMD: L3s) that measured the latency",
			      TABLE_INTEGER, false },
	[TIER_BOXES_LOST] = { "boxes_lost", "", "CHAs (AMD: L3s) of the socket without a count: "
			      "reprogrammed, frozen, not readable", TABLE_INTEGER, false },
	[TIER_REQUESTS] = { "requests", "", "demand reads counted by these", TABLE_INTEGER, false },
	[TIER_RATE] = { "requests_per_s", "1/s", "demand reads of the whole socket", TABLE_REAL,
			false },
	[TIER_BANDWIDTH] = { "bandwidth_b_per_s", "B/s", "these times 64 bytes", TABLE_REAL,
			     false },
	[TIER_OUTSTANDING] = { "outstanding", "", "mean number of requests in flight",
			       TABLE_REAL, false },
	/* Over several rows the mean is that of all requests, by Little's law. */
	[TIER_LATENCY] = { "latency_ns", "ns", "mean time from CHA to memory and back",
			   TABLE_REAL, false, "outstanding", "requests_per_s", 1000000000 },
	[TIER_LATENCY_EWMA] = { "latency_ewma_ns", "ns",
				"exponentially weighted mean of it, by requests", TABLE_REAL,
				false },
	[TIER_LATENCY_CLOCKS] = { "latency_clocks", "", "latency in clocks (AMD: of a core)",
				  TABLE_REAL, false },
	[TIER_CLOCK] = { "clock_mhz", "MHz", "clock of the uncore, measured", TABLE_REAL, false },
	[TIER_P] = { "p", "", "Colloid: share of the requests that go to the default tier",
		     TABLE_REAL, false },
	[TIER_P_LO] = { "p_lo", "", "Colloid: lower bound of the search", TABLE_REAL, false },
	[TIER_P_HI] = { "p_hi", "", "Colloid: upper bound of the search", TABLE_REAL, false },
	[TIER_P_TARGET] = { "p_target", "", "Colloid: the target of p", TABLE_REAL,
			    false },
	[TIER_SHIFT] = { "shift", "", "Colloid: share of the requests to move to the default tier, "
			 "relative to p, at most --max-shift; below 0: away from it", TABLE_REAL,
			 false },
	[TIER_SHIFT_CLOSED] = { "shift_closed", "", "the same by Colloid's closed form",
				TABLE_REAL, false },
	[TIER_MOVE_TO] = { "move_to", "", "tier that shift moves to; none: stay", TABLE_TEXT,
			   false },
	[TIER_OUTSTANDING_EWMA] = { "outstanding_ewma", "", "exponentially weighted mean of "
				    "outstanding", TABLE_REAL, false },
	[TIER_RATE_EWMA] = { "requests_per_s_ewma", "1/s", "the same of requests_per_s", TABLE_REAL,
			     false },
	[TIER_RAW_BOX] = { "box", "", "CHA (AMD: a CPU of the L3); none: the whole socket",
			 TABLE_INTEGER, false },
	[TIER_RAW_OCCUPANCY] = { "occupancy", "", "TOR_OCCUPANCY (AMD: sampled latency) as counted",
				 TABLE_INTEGER, false },
	[TIER_RAW_INSERTS] = { "inserts", "", "TOR_INSERTS (AMD: samples), as counted",
			       TABLE_INTEGER, false },
	[TIER_RAW_CLOCKS] = { "clocks", "", "CLOCKTICKS of the box, as counted", TABLE_INTEGER,
			      false },
	[TIER_RAW_NS] = { "counted_ns", "ns", "how long the box counted", TABLE_REAL, false },
	[TIER_RAW_CLOCK_NS] = { "clock_ns", "ns", "length of a clock: own, or of the nearest box "
				"with one", TABLE_REAL, false },
};

/* Known only where the CHA counts it: each measures the latency of one tier. */
const struct table_column cha_columns[CHA_COLUMNS] = {
	[CHA_SOCKET] = { "socket", "", "physical package", TABLE_INTEGER, true },
	[CHA_TIER] = { "tier", "", "kind of memory, seen from the socket", TABLE_TEXT, true },
	[CHA_BOX] = { "cha", "", "CHA (AMD: a CPU of the L3)", TABLE_INTEGER, true },
	[CHA_RATE] = { "requests_per_s", "1/s", "demand reads of this CHA", TABLE_REAL, false },
	[CHA_OUTSTANDING] = { "outstanding", "", "mean number of requests in flight in it",
			      TABLE_REAL, false },
	[CHA_LATENCY] = { "latency_ns", "ns", "mean time from it to memory and back", TABLE_REAL,
			  false, "outstanding", "requests_per_s", 1000000000 },
	[CHA_CLOCK] = { "clock_mhz", "MHz", "its clock, or that of the nearest one that counts it",
			TABLE_REAL, false },
};
/* clang-format on */

struct tier_rows {
	struct tier_rows_config config;
	const struct tier *tier;
	const struct tier_model *model;
	unsigned int sockets, tiers;
	struct tier_ewma *ewmas; /* one per sample */
	struct colloid_search *searches; /* one per socket */
};

int tier_rows__new(struct tier_rows **rows, const struct tier *tier,
		   const struct tier_rows_config *config)
{
	struct tier_rows *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	made->config = *config;
	made->tier = tier;
	made->model = tier__model(tier);
	made->sockets = tier__sockets(tier);
	made->tiers = tier__samples(tier) / made->sockets;
	made->ewmas = calloc(tier__samples(tier), sizeof(*made->ewmas));
	made->searches = calloc(made->sockets, sizeof(*made->searches));
	if (!made->ewmas || !made->searches) {
		tier_rows__free(made);
		return -ENOMEM;
	}
	for (unsigned int i = 0; i < made->sockets; i++)
		colloid_search__begin(&made->searches[i]);
	*rows = made;
	return 0;
}

void tier_rows__free(struct tier_rows *rows)
{
	if (!rows)
		return;
	free(rows->ewmas);
	free(rows->searches);
	free(rows);
}

static int set_sample(struct table *table, const struct tier_rows *rows,
		      const struct tier_sample *sample, const struct tier_ewma *ewma)
{
	const struct tier_latency *result = &sample->latency;

	table__set_integer(table, TIER_SOCKET, sample->socket);
	table__set_integer(table, TIER_BOXES_USED, result->boxes);
	table__set_integer(table, TIER_BOXES_LOST, result->boxes_lost);
	if (result->boxes)
		table__set_integer(table, TIER_REQUESTS, (int64_t)result->inserts);
	if (result->rate_known) {
		table__set_real(table, TIER_RATE, result->rate);
		table__set_real(table, TIER_BANDWIDTH, result->rate * TIER_LINE);
	}
	if (result->clock_hz > 0)
		table__set_real(table, TIER_CLOCK, result->clock_hz / 1e6);
	if (result->latency_known) {
		table__set_real(table, TIER_OUTSTANDING, result->outstanding);
		table__set_real(table, TIER_LATENCY, result->latency_ns);
		table__set_real(table, TIER_LATENCY_CLOCKS, result->latency_clocks);
	}
	table__set_real(table, TIER_LATENCY_EWMA, tier_ewma__latency_ns(ewma));
	if (rows->config.raw && ewma->begun) {
		table__set_real(table, TIER_OUTSTANDING_EWMA, ewma->outstanding);
		table__set_real(table, TIER_RATE_EWMA, ewma->rate);
	}
	return table__set_text(table, TIER_NAME, rows->model->tiers[sample->tier].name);
}

/*
 * The mean of a tier. NULL: the tier is not measured, or had too few requests in this interval for
 * a decision.
 */
static const struct tier_ewma *find(const struct tier_rows *rows, unsigned int socket,
				    const struct tier_sample *samples, unsigned int tier)
{
	for (unsigned int i = 0; i < rows->tiers; i++) {
		const struct tier_ewma *ewma = &rows->ewmas[socket * rows->tiers + i];

		if (samples[i].tier == tier)
			return ewma->begun && samples[i].latency.latency_known ? ewma : NULL;
	}
	return NULL;
}

static int set_move(struct table *table, const struct tier_rows *rows,
		    const struct colloid_search *search, const struct colloid_move *move,
		    const struct colloid_move *closed)
{
	const struct tier_class *tiers = rows->model->tiers;
	const char *to = "none";

	if (!move->known)
		return 0;
	table__set_real(table, TIER_P, move->p);
	table__set_real(table, TIER_P_LO, search->p_lo);
	table__set_real(table, TIER_P_HI, search->p_hi);
	table__set_real(table, TIER_P_TARGET, move->p + move->shift);
	table__set_real(table, TIER_SHIFT, colloid__limited(move->shift, rows->config.max_shift));
	table__set_real(table, TIER_SHIFT_CLOSED,
			colloid__limited(closed->shift, rows->config.max_shift));
	if (move->shift > 0)
		to = tiers[rows->config.near].name;
	else if (move->shift < 0)
		to = tiers[rows->config.far].name;
	return table__set_text(table, TIER_MOVE_TO, to);
}

/* Sets the decision in the newest row, which is the default tier's. */
static int decide(struct tier_rows *rows, struct table *table, unsigned int socket,
		  const struct tier_sample *samples)
{
	const struct tier_ewma *near = find(rows, socket, samples, rows->config.near);
	const struct tier_ewma *far = find(rows, socket, samples, rows->config.far);
	struct colloid_search *search = &rows->searches[socket];
	struct colloid_move move, closed;
	struct colloid_load load;

	if (!near || !far)
		return 0;
	load = (struct colloid_load){ near->outstanding, near->rate, far->outstanding, far->rate };
	move = colloid_search__step(search, &rows->config.colloid, &load);
	closed = colloid__closed(&load);
	return set_move(table, rows, search, &move, &closed);
}

static int add_socket(struct tier_rows *rows, struct table *table, uint64_t time_ns,
		      unsigned int socket, const struct tier_sample *samples)
{
	struct tier_ewma *ewmas = &rows->ewmas[socket * rows->tiers];
	int err = 0;

	/* The decision needs the means of both tiers. */
	for (unsigned int i = 0; i < rows->tiers; i++)
		tier_ewma__add(&ewmas[i], rows->config.weight, &samples[i].latency);
	for (unsigned int i = 0; !err && i < rows->tiers; i++) {
		err = table__add_row(table, time_ns);
		if (!err)
			err = set_sample(table, rows, &samples[i], &ewmas[i]);
		if (!err && samples[i].tier == rows->config.near)
			err = decide(rows, table, socket, samples);
	}
	return err;
}

/* Sets the values of a new row. */
typedef int set_row(const struct tier_rows *rows, struct table *table, int socket,
		    const struct tier_raw *raw);

/* Adds a row for each socket, box and tier of which the box counted something. */
static int add_boxes(const struct tier_rows *rows, struct table *table, uint64_t time_ns,
		     set_row *set)
{
	struct tier_raw raw;
	int err = 0;

	for (unsigned int i = 0; i < rows->sockets; i++) {
		unsigned int all = tier__boxes(rows->tier, i) * rows->tiers;

		for (unsigned int n = 0; !err && n < all; n++) {
			if (!tier__raw(rows->tier, i, n / rows->tiers, n % rows->tiers, &raw))
				continue;
			err = table__add_row(table, time_ns);
			if (!err)
				err = set(rows, table, tier__socket(rows->tier, i), &raw);
		}
	}
	return err;
}

static int set_raw(const struct tier_rows *rows, struct table *table, int socket,
		   const struct tier_raw *raw)
{
	table__set_integer(table, TIER_SOCKET, socket);
	table__set_integer(table, TIER_RAW_BOX, raw->id);
	if (raw->own)
		table__set_integer(table, TIER_RAW_OCCUPANCY, (int64_t)raw->occupancy);
	if (raw->inserts_known)
		table__set_integer(table, TIER_RAW_INSERTS, (int64_t)raw->inserts);
	if (raw->clocks_known)
		table__set_integer(table, TIER_RAW_CLOCKS, (int64_t)raw->clocks);
	table__set_real(table, TIER_RAW_NS, raw->ns);
	table__set_real(table, TIER_RAW_CLOCK_NS, raw->clock_ns);
	return table__set_text(table, TIER_NAME, rows->model->tiers[raw->tier].name);
}

bool tier_rows__is_raw(const struct table *table, size_t row)
{
	return table__columns(table) > TIER_RAW_BOX && table__value(table, row, TIER_RAW_BOX).known;
}

int tier_rows__add(struct tier_rows *rows, struct table *table, uint64_t time_ns,
		   const struct tier_sample *samples)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < rows->sockets; i++)
		err = add_socket(rows, table, time_ns, i, &samples[i * rows->tiers]);
	return err || !rows->config.raw ? err : add_boxes(rows, table, time_ns, set_raw);
}

static int set_cha(const struct tier_rows *rows, struct table *table, int socket,
		   const struct tier_raw *raw)
{
	double open = (double)raw->occupancy * raw->clock_ns;

	table__set_integer(table, CHA_SOCKET, socket);
	table__set_integer(table, CHA_BOX, raw->id);
	table__set_real(table, CHA_CLOCK, 1e3 / raw->clock_ns);
	if (raw->inserts_known)
		table__set_real(table, CHA_RATE, (double)raw->inserts * 1e9 / raw->ns);
	if (raw->own && isfinite(open)) {
		table__set_real(table, CHA_OUTSTANDING, open / raw->ns);
		if (raw->inserts_known && raw->inserts)
			table__set_real(table, CHA_LATENCY, open / (double)raw->inserts);
	}
	return table__set_text(table, CHA_TIER, rows->model->tiers[raw->tier].name);
}

int tier_rows__add_chas(const struct tier_rows *rows, struct table *table, uint64_t time_ns)
{
	return add_boxes(rows, table, time_ns, set_cha);
}
