// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <core/units.h>
#include <print/probe_view.h>
#include <print/text.h>
#include <print/wrap.h>

#include "columns.h"
#include "view_answer.h"
#include "view_bars.h"
#include "view_live.h"
#include "view_parts.h"
#include "view_splits.h"
#include "view_states.h"
#include "waits.h"

#define WAITS_SHOWN 3
#define ROWS_SHOWN 7 /* of the machine, so that all fits the first screen */
#define ROWS_BELOW 4 /* below the parts */

/* The columns that the views read of the further tables. A file may lack a table. */
static const unsigned int columns_read[RUN_MORE] = {
	[RUN_SLEEPS] = SLEEPS_COLUMNS,
	[RUN_WAITS] = WAITS_EXPLAINED_NS + 1,
	[RUN_CAUSES] = CAUSES_EXPLAINED_NS + 1,
	[RUN_GAPS] = GAPS_COLUMNS,
};

static bool knows(const struct run_probe *probe)
{
	for (unsigned int i = 0; i < RUN_MORE; i++)
		if (probe->more[i] && table__columns(probe->more[i]) < columns_read[i])
			return false;
	return probe->table && table__columns(probe->table) == PARTS_COLUMNS &&
	       !strcmp(table__column(probe->table, PARTS_STATES)->name, "cpu_ns");
}

static unsigned int at_most(unsigned int top, unsigned int most)
{
	return top && top < most ? top : most;
}

static void print_title(FILE *out, const struct run *run, const struct run_probe *probe,
			const struct accounts *accounts)
{
	const struct where_account *all = &accounts->all;
	uint64_t threads = all->threads + all->ended;
	char text[UNITS_TEXT];
	struct wrap wrap = { 0 };

	if (accounts->nr == 1)
		wrap__add(&wrap, "%s: ", accounts->rows[0].name);
	else
		wrap__add(&wrap, "%s: ", probe->filter ? probe->filter : "the machine");
	wrap__add(&wrap, "%s thread%s", units__count(text, threads), threads == 1 ? "" : "s");
	if (all->processes > 1)
		wrap__add(&wrap, " of %s processes", units__count(text, all->processes));
	wrap__add(&wrap, " lived %s", units__ns(text, all->life_ns));
	wrap__add(&wrap, " in %s", units__ns(text, (double)run->duration_ns));
	if (accounts->nr == 1)
		wrap__add(&wrap, "; the parts below are all of it");
	wrap__print(&wrap, out, 0, 2);
}

/* The account, its largest parts first. */
static int print_account(FILE *out, const struct answer *answer, const struct text_style *style)
{
	const struct accounts *accounts = &answer->accounts;
	const struct reasons *reasons = &answer->reasons;
	bool filtered = answer->probe->filter;

	if (style->more_by & WHERE_BY_STATE)
		return parts__print_states(out, accounts);
	if (style->more_by & WHERE_BY_CALL)
		return parts__print_calls(out, reasons->probe, accounts->all.life_ns, style->top);
	if (filtered || accounts->nr == 1 || style->by)
		parts__print(out, reasons);
	if (style->by)
		rows__print_shares(out, accounts, style->top);
	else if (accounts->nr > 1)
		rows__print(out, reasons, &answer->blame,
			    at_most(style->top, filtered ? ROWS_BELOW : ROWS_SHOWN));
	if (!filtered && accounts->nr > 1 && !style->by)
		parts__print_line(out, &accounts->all);
	return waits__print(out, answer->probe->more[RUN_WAITS], at_most(style->top, WAITS_SHOWN));
}

static void print_method(FILE *out, const struct run *run)
{
	for (unsigned int i = 0; i < run->nr_probes; i++) {
		const struct run_probe *probe = &run->probes[i];

		if (probe->refused[0])
			wrap__line(out, 0, 2, "%s: not measured: %s", probe->name, probe->refused);
		else
			wrap__line(out, 0, 2, "method of %s: %s: %s", probe->name, probe->method,
				   probe->mechanism);
	}
}

/* The end of the method's line, which is not printed. */
static void print_lacks(FILE *out, const struct run_probe *probe)
{
	const char *lacks = strstr(probe->mechanism, where_lacks);

	if (lacks)
		wrap__line(out, 0, 2, "%s", lacks);
}

static int print(FILE *out, const struct run *run, const struct run_probe *probe,
		 const struct text_style *style)
{
	struct answer answer;
	int err = answer__read(&answer, run, probe, !style->by);
	const struct where_account *all = &answer.accounts.all;

	if (!err && !all->life_ns) {
		fputs("no thread that the filter selects lived in the window\n", out);
	} else if (!err) {
		print_title(out, run, probe, &answer.accounts);
		err = print_account(out, &answer, style);
	}
	if (!err && all->life_ns)
		checks__print(out, run, probe, all);
	if (!err && style->all_metrics)
		print_method(out, run);
	else if (!err)
		print_lacks(out, probe);
	answer__clear(&answer);
	return err;
}

const struct probe_view where_view = {
	.knows = knows,
	.print = print,
	.print_answer = answer__print,
	.prints_recordings = true,
	.bars = view_bars__make,
	.rank = view_bars__rank,
	.sentences = answer__sentences,
	.select = view_bars__select,
	.wait = view_bars__wait,
	.link = view_bars__link,
	.print_interval = live__print,
	.live = &writer_live_where,
	.table = splits__table,
	.print_csv = splits__print_csv,
};
