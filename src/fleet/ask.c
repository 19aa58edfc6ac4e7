// SPDX-License-Identifier: BSD-2-Clause
#include "ask.h"

#include <store/json_print.h>

#include "answer.h"
#include "source.h"

static int print_sql(const struct fleet_asked *asked, struct fleet_data *data)
{
	struct bytes sql = { 0 };
	int err = source_clickhouse__sql(data, asked->server, &sql);

	if (!err)
		fwrite(sql.at, 1, sql.len, asked->out);
	bytes__free(&sql);
	return err;
}

static int print(const struct fleet_asked *asked, const struct fleet_answer *answer)
{
	switch (asked->format) {
	case FLEET_CSV:
		fleet_answer__csv(asked->out, answer);
		return 0;
	case FLEET_JSON:
		return json__print(fleet_answer__json(answer), asked->out, true);
	default:
		fleet_answer__text(asked->out, answer);
		return 0;
	}
}

int fleet__ask(struct fleet_asked *asked, struct fleet_data *data)
{
	struct fleet_answer answer;
	int err;

	if (asked->format == FLEET_SQL)
		return print_sql(asked, data);
	err = asked->server ? source_clickhouse__read(data, asked->server)
			    : source_directory__read(data, asked->dir, data->question->to_s);
	if (err)
		return err;
	err = fleet_answer__make(&answer, data);
	asked->is_worse = !err && answer.verdicts[JUDGE_WORSE];
	if (!err)
		err = print(asked, &answer);
	fleet_answer__clear(&answer);
	return err;
}
