/* SPDX-License-Identifier: BSD-2-Clause */
/* Answers a question: reads the data from a source, makes the answer, prints it. */
#ifndef LATSCOPE_FLEET_ASK_H
#define LATSCOPE_FLEET_ASK_H

#include <stdio.h>

#include <net/clickhouse_server.h>

#include "data.h"

enum fleet_format { FLEET_TEXT, FLEET_JSON, FLEET_CSV, FLEET_SQL };

struct fleet_asked {
	FILE *out;
	enum fleet_format format; /* FLEET_SQL: the statements instead of the answer */
	struct post *server; /* NULL: the recordings below dir */
	const char *dir;
	bool is_worse; /* of a comparison: there is a verdict that something is worse */
};

/*
 * Asks the question of data, which fleet_data__begin() made; it has notes and the reason after an
 * error. 0 or an error of source_clickhouse__read() or source_directory__read().
 */
int fleet__ask(struct fleet_asked *asked, struct fleet_data *data);

#endif
