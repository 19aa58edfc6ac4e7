/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The heat map of a probe: a column for each frame, the newest on the right; latency upwards on a
 * logarithmic axis; the colour by the square root of the number of events.
 */
#ifndef LATSCOPE_TUI_HEAT_H
#define LATSCOPE_TUI_HEAT_H

#include "model.h"
#include "terminal.h"

#define HEAT_AXIS 8 /* columns of the axis' labels */

/* For curses: makes the colours. */
void heat__begin(enum terminal_heat mode);

/* Where it is drawn, the axis included. */
struct heat_place {
	int y, x, lines, columns;
};

/* The frame in the last column is `last`; the current frame is marked if it is not that one. */
void heat__draw(const struct model *model, unsigned int probe, uint64_t last,
		const struct heat_place *place);

#endif
