/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of `latscope load`, and its help: of all kinds, or of one. */
#ifndef LATSCOPE_CLI_LOAD_HELP_H
#define LATSCOPE_CLI_LOAD_HELP_H

#include <argp.h>

#define LOAD_DIR "/var/tmp"

/* Options without a letter. */
enum load_key {
	LOAD_KEY_DIR = 0x200,
	LOAD_KEY_TASKS,
	LOAD_KEY_PAUSE,
	LOAD_KEY_SEED,
	LOAD_KEY_SIZE,
	LOAD_KEY_BLOCK,
	LOAD_KEY_WRITES,
	LOAD_KEY_SEQUENTIAL,
	LOAD_KEY_CLICKHOUSE,
	LOAD_KEY_LOGIN,
	LOAD_KEY_HOSTS,
	LOAD_KEY_SERIES,
	LOAD_KEY_SLOTS,
	LOAD_KEY_TOGETHER,
	LOAD_KEY_AGO
};

/*
 * Sets the options and the texts, by the first argument that is the name of a kind. All options are
 * parsed with any kind; those of other kinds are not shown.
 */
void load_help__set(struct argp *argp, int argc, char **argv);

#endif
