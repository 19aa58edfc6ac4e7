/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Answers a question from the recordings below a directory. The host of a recording is its label
 * `host`, or the name of the machine in it, or else the directory between: DIR/HOST/RECORDING.
 */
#ifndef LATSCOPE_FLEET_SOURCE_DIRECTORY_H
#define LATSCOPE_FLEET_SOURCE_DIRECTORY_H

#include "data.h"

/*
 * Fills in data that fleet_data__begin() made. A recording that cannot be read is left out, and a
 * note says so. `now_s`: what begins later lies in the future. 0; -ENOENT: there is no recording;
 * -ENODATA: none with this probe in this time; errors of fleet_data__add() and of opendir().
 */
int source_directory__read(struct fleet_data *data, const char *dir, uint64_t now_s);

#endif
