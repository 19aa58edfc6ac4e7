/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the screen shows. A frame is one interval, or several that are added up. All of it is known
 * of the current frame; of earlier ones the histograms that make the heat map.
 */
#ifndef LATSCOPE_TUI_MODEL_H
#define LATSCOPE_TUI_MODEL_H

#include <core/run.h>

#define MODEL_COLUMNS 512 /* frames in the heat map: wider than a terminal */
#define MODEL_EVENTS 32 /* slowest events of the frame, of each probe */

/* A frame of the heat map. */
struct model_column {
	bool known;
	uint64_t frame;
	struct sparse hists[RUN_PROBES]; /* of metrics[0] */
};

/* Who waited for whom. */
struct model_pair {
	int64_t victim_id;
	char victim[WHY_NAME], culprit[WHY_NAME]; /* culprit empty: the part has none */
	unsigned int part;
	uint64_t ns, events;
};

struct model_why {
	struct model_pair *pairs; /* owned */
	size_t nr_pairs;
	uint64_t over_ns; /* threshold; 0: not known */
	struct why_slow events[MODEL_EVENTS]; /* the slowest first */
	unsigned int nr_events;
};

/* Whose stalls the kernel counts (PSI). */
enum model_resource { MODEL_CPU, MODEL_MEMORY, MODEL_IO, MODEL_RESOURCES };

struct model {
	const struct run *run; /* probes, names, methods, cost */
	bool has_frame; /* there is a current one */
	uint64_t frame; /* its number, from 0 */
	uint64_t start_ns, end_ns; /* since the window opened */
	struct run_data data[RUN_PROBES];
	struct model_why why[RUN_PROBES];
	struct model_column columns[MODEL_COLUMNS]; /* by number of the frame */
	/* Of the probe that divides the time of threads, see bars.h: its folded rows; owned. */
	struct run_probe *rows; /* NULL: there is none */
	uint64_t stalled_ns[MODEL_RESOURCES];
	bool stalls_known[MODEL_RESOURCES];
};

/* Begins an empty frame and makes it the current one. */
void model__begin(struct model *model, uint64_t frame);

/* Adds an interval to the current frame, without its column. 0 or -errno. */
int model__add(struct model *model, const struct run_interval *interval);

/* Adds an interval only to the column of a frame. 0 or -errno. */
int model__add_column(struct model *model, uint64_t frame, const struct run_interval *interval);

/* NULL: nothing is known of this frame. */
const struct model_column *model__column(const struct model *model, uint64_t frame);

/* Forgets the keys: others may follow. The columns stay. */
void model__forget_keys(struct model *model);

/* Forgets the columns. */
void model__forget_columns(struct model *model);

/* Frees what the model owns. */
void model__clear(struct model *model);

#endif
