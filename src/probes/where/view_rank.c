// SPDX-License-Identifier: BSD-2-Clause
/* Bars as the first answer shows them: in its order, with its names, waits and causes. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "view_answer.h"
#include "view_bars.h"
#include "view_parts.h"
#include "view_states.h"

struct waits_of_part {
	double ns[BAR_PARTS];
};

static void set_rank(struct bar *bar, const struct answer *answer, size_t at)
{
	const struct where_account *account = answer->blame.rows[at].row;
	struct wrap because = { 0 };

	rows__because(&because, &answer->reasons, account, RUN_NAME);
	snprintf(bar->cause, sizeof(bar->cause), "%.*s", RUN_TEXT - 1, because.text);
	snprintf(bar->group, sizeof(bar->group), "%s", account->name);
	bar->is_culprit = answer->blame.rows[at].is_culprit;
	bar->rank = at + 1;
}

/* The account of a bar can be of several. */
static void set_ranks(const struct bars *bars, const struct answer *answer, enum lat_by by)
{
	const struct table *parts = answer->probe->table;
	char name[BAR_NAME];
	struct bar *bar;
	uint64_t id;

	for (size_t at = 0; at < answer->accounts.nr; at++) {
		size_t row = (size_t)(answer->blame.rows[at].row - answer->accounts.rows);

		for (size_t key = 0; key < table__keys(parts); key++) {
			if (answer->accounts.row_of[key] != row)
				continue;
			view_bars__name(parts, key, by, &id, name);
			bar = bars__find(bars, id, name);
			if (bar && !bar->rank)
				set_rank(bar, answer, at);
		}
	}
}

/* The account leaves out what no chain shows to be a wait: each bar of it, by the same share. */
static void set_waits(const struct bars *bars, const struct answer *answer,
		      struct waits_of_part *sums)
{
	for (size_t i = 0; i < bars->nr; i++)
		for (unsigned int part = 0; bars->bars[i].rank && part < BAR_PARTS; part++)
			sums[bars->bars[i].rank - 1].ns[part] +=
				(double)bars->bars[i].waits_ns[part];
	for (size_t row = 0; row < answer->accounts.nr; row++) {
		struct waits_of_part waited = { 0 };

		for (unsigned int state = 0; state < WHERE_STATES; state++)
			waited.ns[view_bars__part_of[state]] +=
				answer->blame.rows[row].row->waited_ns[state];
		for (unsigned int part = 0; part < BAR_PARTS; part++)
			sums[row].ns[part] = accounts__share(waited.ns[part], sums[row].ns[part]);
	}
	for (size_t i = 0; i < bars->nr; i++) {
		struct bar *bar = &bars->bars[i];

		for (unsigned int part = 0; bar->rank && part < BAR_PARTS; part++)
			if (sums[bar->rank - 1].ns[part] < 1)
				bar->waits_ns[part] = (uint64_t)((double)bar->waits_ns[part] *
								 sums[bar->rank - 1].ns[part]);
	}
}

/* Are the accounts of what the bars are of? Those of processes are not of cgroups. */
static bool are_alike(const struct answer *answer, enum lat_by by)
{
	return answer->accounts.nr && !answer->accounts.rows[0].comm == (by == LAT_BY_CGROUP);
}

int view_bars__rank(struct bars *bars, const struct run *run, const struct run_probe *probe,
		    enum lat_by by)
{
	struct waits_of_part *sums = NULL;
	struct answer answer;
	int err = answer__read(&answer, run, probe, true);

	if (!err)
		sums = calloc(answer.accounts.nr + 1, sizeof(*sums));
	if (!err && !sums)
		err = -ENOMEM;
	if (!err && are_alike(&answer, by)) {
		set_ranks(bars, &answer, by);
		set_waits(bars, &answer, sums);
	}
	free(sums);
	answer__clear(&answer);
	return err;
}
