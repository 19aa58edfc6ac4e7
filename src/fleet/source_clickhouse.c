// SPDX-License-Identifier: BSD-2-Clause
#include "source.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include <core/hist.h>
#include <core/sanitize.h>

#include "sql.h"

#define MOST_SLOTS (2 * HIST_SLOTS) /* elements of an array that can be true */

/* One row of an answer. */
typedef int take_row(struct fleet_data *data, unsigned int side, struct json_object *row);

static int ask(struct fleet_data *data, struct post *server, struct bytes *sql,
	       struct post_answer *answer)
{
	int err;

	bytes__add(sql, "", 1);
	err = sql->failed ? -ENOMEM : clickhouse_server__ask(server, sql->at, answer);
	bytes__free(sql);
	if (err && err != -ENOMEM)
		snprintf(data->why, RUN_TEXT, "%.*s", RUN_TEXT - 1, answer->why);
	return err;
}

/* ---- fields: numbers may be strings, as some servers quote those of 64 bits ---- */

static const char *text_of(struct json_object *row, const char *name, char out[FLEET_VALUE])
{
	struct json_object *field = json_object_object_get(row, name);

	if (!json_object_is_type(field, json_type_string))
		return NULL;
	return sanitize__text(out, FLEET_VALUE, json_object_get_string(field));
}

static bool is_number(struct json_object *field)
{
	const char *text;

	if (json_object_is_type(field, json_type_int))
		return json_object_get_int64(field) >= 0;
	if (!json_object_is_type(field, json_type_string))
		return false;
	text = json_object_get_string(field);
	return text[0] && !text[strspn(text, "0123456789")];
}

static bool number_of(struct json_object *row, const char *name, uint64_t *value)
{
	struct json_object *field = json_object_object_get(row, name);

	if (!is_number(field))
		return false;
	*value = json_object_get_uint64(field);
	return true;
}

static int take_slots(struct json_object *row, struct sparse *hist)
{
	struct json_object *slots = json_object_object_get(row, "slots");
	struct json_object *counts = json_object_object_get(row, "counts");
	size_t nr;
	int err = 0;

	if (!json_object_is_type(slots, json_type_array) ||
	    !json_object_is_type(counts, json_type_array))
		return -EBADMSG;
	nr = json_object_array_length(slots);
	if (nr != json_object_array_length(counts) || nr > MOST_SLOTS)
		return -EBADMSG;
	for (size_t i = 0; !err && i < nr; i++) {
		struct json_object *slot = json_object_array_get_idx(slots, i);
		struct json_object *count = json_object_array_get_idx(counts, i);

		if (!is_number(slot) || !is_number(count) ||
		    json_object_get_uint64(slot) >= HIST_SLOTS)
			return -EBADMSG;
		err = sparse__add_slot(hist, (uint32_t)json_object_get_uint64(slot),
				       json_object_get_uint64(count));
	}
	return err;
}

/* ---- the rows of each statement ---- */

/* Of which host and group a row is. */
struct place {
	char host[FLEET_VALUE], values[FLEET_BY][FLEET_VALUE];
	const char *pointers[FLEET_BY];
};

static int take_place(const struct fleet_data *data, struct json_object *row, struct place *place)
{
	char name[24];

	if (!text_of(row, "host", place->host))
		return -EBADMSG;
	for (size_t i = 0; i < data->question->nr_by; i++) {
		snprintf(name, sizeof(name), "b%zu", i);
		place->pointers[i] = text_of(row, name, place->values[i]);
		if (!place->pointers[i])
			return -EBADMSG;
	}
	return 0;
}

static int take_time(struct fleet_data *data, unsigned int side, struct json_object *row)
{
	struct place place;
	uint64_t ns, life_ns;
	int err = take_place(data, row, &place);

	(void)side;
	if (!err && (!number_of(row, "ns", &ns) || !number_of(row, "life", &life_ns)))
		err = -EBADMSG;
	return err ?: fleet_data__add_time(data, place.host, place.pointers, ns, life_ns);
}

static int take_cell(struct fleet_data *data, unsigned int side, struct json_object *row)
{
	char metric[FLEET_VALUE];
	struct sparse hist = { 0 };
	struct place place;
	int err = take_place(data, row, &place);

	if (!err && !text_of(row, "metric", metric))
		err = -EBADMSG;
	if (!err)
		err = take_slots(row, &hist);
	if (!err && (!number_of(row, "sum", &hist.sum_ns) || !number_of(row, "max", &hist.max_ns) ||
		     !number_of(row, "tail", &hist.tail)))
		err = -EBADMSG;
	if (!err)
		err = fleet_data__add(data, place.host, metric, place.pointers, side, &hist);
	sparse__clear(&hist);
	return err;
}

static int take_methods(struct fleet_data *data, struct json_object *row)
{
	struct json_object *methods = json_object_object_get(row, "methods");
	char safe[RUN_NAME];
	int err = 0;

	if (!json_object_is_type(methods, json_type_array))
		return -EBADMSG;
	for (size_t i = 0; !err && i < json_object_array_length(methods); i++) {
		const char *method = json_object_get_string(json_object_array_get_idx(methods, i));

		err = fleet_data__method(data,
					 sanitize__text(safe, sizeof(safe), method ? method : ""));
	}
	return err;
}

static int take_host(struct fleet_data *data, unsigned int side, struct json_object *row)
{
	uint64_t begin, end, covered, events, missing, unknown;
	char name[FLEET_VALUE];
	struct fleet_host *host;

	(void)side;
	if (!text_of(row, "host", name) || !number_of(row, "begin", &begin) ||
	    !number_of(row, "end", &end) || !number_of(row, "span", &covered) ||
	    !number_of(row, "events", &events) || !number_of(row, "missing", &missing) ||
	    !number_of(row, "unknown", &unknown))
		return -EBADMSG;
	host = fleet_data__host(data, name);
	if (!host)
		return -ENOMEM;
	if (begin < end) { /* it is in rows, not only in the roll-up */
		host->first_s = (int64_t)begin;
		host->last_s = (int64_t)end;
	}
	host->covered_ns += covered;
	host->recorded += events;
	host->lost += missing;
	host->lost_known &= !unknown;
	return take_methods(data, row);
}

static int take_refused(struct fleet_data *data, unsigned int side, struct json_object *row)
{
	char name[FLEET_VALUE], problem[FLEET_VALUE];
	uint64_t rows, end;
	struct fleet_host *host;

	(void)side;
	if (!text_of(row, "host", name) || !text_of(row, "problem", problem) ||
	    !number_of(row, "rows", &rows) || !number_of(row, "end", &end))
		return -EBADMSG;
	host = fleet_data__host(data, name);
	if (!host)
		return -ENOMEM;
	if (problem[0]) {
		host->refused += rows;
		snprintf(host->refused_why, sizeof(host->refused_why), "%.*s", RUN_NAME - 1,
			 problem);
		return 0;
	}
	host->ahead += rows;
	if (host->ahead_s < (int64_t)(end - data->question->to_s))
		host->ahead_s = (int64_t)(end - data->question->to_s);
	return 0;
}

/* ---- */

static int take_lines(struct fleet_data *data, unsigned int side, char *text, take_row *take)
{
	char *line, *rest = NULL;
	int err = 0;

	for (line = strtok_r(text, "\n", &rest); !err && line; line = strtok_r(NULL, "\n", &rest)) {
		struct json_object *row = json_tokener_parse(line);

		err = json_object_is_type(row, json_type_object) ? take(data, side, row) : -EBADMSG;
		json_object_put(row);
	}
	if (err == -EBADMSG && !data->why[0])
		snprintf(data->why, RUN_TEXT,
			 "its answer is cut off, or no answer to the question");
	return err;
}

static int ask_rows(struct fleet_data *data, struct post *server, struct bytes *sql,
		    unsigned int side, take_row *take)
{
	struct post_answer answer;
	int err = ask(data, server, sql, &answer);

	if (err)
		return err;
	err = take_lines(data, side, answer.body.at, take);
	bytes__free(&answer.body);
	return err;
}

/* A list for SQL, of lines such as 2026-11-20. */
static int list_days(char *text, struct fleet_days *days, struct bytes *list)
{
	char *line, *rest = NULL;

	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strlen(line) != 10 || line[strspn(line, "0123456789-")])
			return -EBADMSG;
		bytes__text(list, days->nr++ ? "," : "");
		fleet_sql__text(list, line);
	}
	bytes__add(list, "", 1);
	days->list = list->at;
	return list->failed ? -ENOMEM : 0;
}

static int ask_days(struct fleet_data *data, struct post *server, struct fleet_days *days,
		    struct bytes *list)
{
	struct post_answer answer;
	struct bytes sql = { 0 };
	int err;

	fleet_sql__days(&sql, data->question);
	err = ask(data, server, &sql, &answer);
	if (err)
		return err;
	err = list_days(answer.body.at, days, list);
	bytes__free(&answer.body);
	return err;
}

int source_clickhouse__read(struct fleet_data *data, struct post *server)
{
	unsigned int sides = fleet_question__sides(data->question);
	struct bytes list = { 0 }, sql = { 0 };
	struct fleet_days days = { 0 };
	int err;

	err = ask_days(data, server, &days, &list);
	for (unsigned int i = 0; !err && i < sides; i++) {
		fleet_sql__cells(&sql, data->question, i, &days);
		err = ask_rows(data, server, &sql, i,
			       data->question->kind == FLEET_SHARE ? take_time : take_cell);
	}
	if (!err) {
		fleet_sql__hosts(&sql, data->question, &days);
		err = ask_rows(data, server, &sql, 0, take_host);
	}
	if (!err) {
		fleet_sql__refused(&sql, data->question);
		err = ask_rows(data, server, &sql, 0, take_refused);
	}
	bytes__free(&list);
	return !err && !data->nr ? -ENODATA : err;
}

int source_clickhouse__sql(struct fleet_data *data, struct post *server, struct bytes *sql)
{
	struct fleet_days days = { 0 };
	struct bytes list = { 0 };
	int err = server ? ask_days(data, server, &days, &list) : 0;

	for (unsigned int i = 0; !err && i < fleet_question__sides(data->question); i++) {
		fleet_sql__cells(sql, data->question, i, &days);
		bytes__text(sql, ";\n\n");
	}
	if (!err) {
		fleet_sql__hosts(sql, data->question, &days);
		bytes__text(sql, ";\n\n");
		fleet_sql__refused(sql, data->question);
		bytes__text(sql, ";\n");
	}
	bytes__free(&list);
	return sql->failed ? -ENOMEM : err;
}
