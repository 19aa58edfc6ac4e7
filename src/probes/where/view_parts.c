// SPDX-License-Identifier: BSD-2-Clause
#include "view_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>
#include <print/text.h>
#include <print/wrap.h>

#include "columns.h"
#include "view_locks.h"
#include "view_states.h"

#define CALLS_SHOWN 2 /* of a part */
#define LOCKS_SHOWN 2
#define REASONS_SHOWN 2
#define NAMES_SHOWN 3
#define NAME_COLUMNS 22 /* of a part */
#define DETAIL_COLUMN 42
#define TICK_NS 4e6
#define NEARLY_ALL 0.95
#define FAULTS_SHOWN 0.01 /* of the time on a CPU */

/* ---- system calls ---- */

struct call {
	const char *name, *state;
	double ns, times;
	const char *most; /* the process with most of it */
	double most_ns;
};

static int longest_first(const void *left, const void *right)
{
	double a = ((const struct call *)left)->ns, b = ((const struct call *)right)->ns;

	return a < b ? 1 : a > b ? -1 : 0;
}

static void add_call(struct call *call, const struct table *sleeps, size_t key)
{
	double ns = accounts__sum(sleeps, key, SLEEPS_NS);

	call->name = accounts__text(sleeps, key, SLEEPS_CALL);
	call->state = accounts__text(sleeps, key, SLEEPS_STATE);
	call->ns += ns;
	call->times += accounts__sum(sleeps, key, SLEEPS_TIMES);
	if (ns > call->most_ns) {
		call->most_ns = ns;
		call->most = accounts__text(sleeps, key, PARTS_COMM);
	}
}

/* The system calls of a state, or of all, with those of all processes; *calls is to be freed. */
static ssize_t list_calls(struct call **calls, const struct table *sleeps, unsigned int state)
{
	size_t nr = 0, keys = table__keys(sleeps);

	*calls = calloc(keys + 1, sizeof(**calls));
	if (!*calls)
		return -ENOMEM;
	for (size_t key = 0; key < keys; key++) {
		const char *name = accounts__text(sleeps, key, SLEEPS_CALL);
		const char *of = accounts__text(sleeps, key, SLEEPS_STATE);
		size_t at = 0;

		if (state < WHERE_STATES && strcmp(of, where_states[state]) != 0)
			continue;
		while (at < nr && (strcmp((*calls)[at].name, name) != 0 ||
				   strcmp((*calls)[at].state, of) != 0))
			at++;
		add_call(&(*calls)[at], sleeps, key);
		nr += at == nr;
	}
	if (nr)
		qsort(*calls, nr, sizeof(**calls), longest_first);
	return (ssize_t)nr;
}

/* ---- a part ---- */

static void add_comma(struct wrap *wrap)
{
	if (wrap->len)
		wrap__add(wrap, ", ");
}

/*
 * User and system time are sampled by the kernel's ticks: the interval is that of a share of so
 * many ticks, 95 %. Two more of each keep it above 0 if all were in one mode (Agresti, Coull).
 */
static void say_modes(struct wrap *wrap, const struct reasons *reasons)
{
	const struct where_account *all = &reasons->accounts->all;
	double ticked = all->user_ns + all->system_ns, faults_ns = reasons__faults_ns(reasons);
	char text[UNITS_TEXT], error[UNITS_TEXT];

	if (ticked > 0) {
		double user = all->user_ns / ticked;
		double ticks = ticked / TICK_NS + 4;
		double middle = (all->user_ns / TICK_NS + 2) / ticks;
		double half = 1.96 * sqrt(middle * (1 - middle) / ticks);

		wrap__add(wrap, "user %s", units__ns(text, user * all->ns[WHERE_CPU]));
		wrap__add(wrap, ", system %s +- %s",
			  units__ns(text, (1 - user) * all->ns[WHERE_CPU]),
			  units__ns(error, half * all->ns[WHERE_CPU]));
	}
	/* More than that, and most of it is waits in them, which are other parts. */
	if (faults_ns > FAULTS_SHOWN * all->ns[WHERE_CPU] && faults_ns <= all->ns[WHERE_CPU]) {
		add_comma(wrap);
		wrap__add(wrap, "page faults %s", units__ns(text, faults_ns));
	}
}

/* "fdatasync 40 s, read 1.2 s"; "poll" if that is all. A futex is only waited for in futex. */
static void say_calls(struct wrap *wrap, const struct run_probe *probe, unsigned int state)
{
	const struct table *sleeps = probe->more[RUN_SLEEPS];
	struct call *calls = NULL;
	ssize_t nr = sleeps && state != WHERE_FUTEX ? list_calls(&calls, sleeps, state) : 0;
	char text[UNITS_TEXT];
	double sum_ns = 0;

	for (ssize_t i = 0; i < nr; i++)
		sum_ns += calls[i].ns;
	for (ssize_t i = 0, shown = 0; i < nr && shown < CALLS_SHOWN; i++) {
		if (!calls[i].name[0])
			continue;
		add_comma(wrap);
		wrap__add(wrap, "%s", calls[i].name);
		if (calls[i].ns > NEARLY_ALL * sum_ns)
			break;
		wrap__add(wrap, " %s", units__ns(text, calls[i].ns));
		shown++;
	}
	free(calls);
}

/* "inode lock in ext4_buffered_write_iter 6.3 s", of long sleeps. False: none is known. */
static bool say_locks(struct wrap *wrap, const struct reasons *reasons)
{
	struct lock_waits locks[LOCKS_MOST];
	size_t nr = locks__list(reasons->probe->more[RUN_STACKS], &reasons->run->frames, locks);
	char text[UNITS_TEXT];

	for (size_t i = 0; i < nr && i < LOCKS_SHOWN; i++) {
		add_comma(wrap);
		wrap__add(wrap, "%s %s", locks[i].name, units__ns(text, locks[i].ns));
	}
	return nr;
}

static void say_reasons(struct wrap *wrap, const struct reasons *reasons, unsigned int state)
{
	struct reason found[REASONS_MOST];
	unsigned int nr = reasons__find(reasons, &reasons->accounts->all, state, found);
	const char *disk = state == WHERE_DISK ? reasons__disk(reasons) : NULL;

	if (disk)
		wrap__add(wrap, "%s%s", wrap->len ? "; " : "", disk);
	for (unsigned int i = 0; i < nr && i < REASONS_SHOWN; i++)
		wrap__add(wrap, "%s%.0f %% %s",
			  i	      ? ", "
			  : wrap->len ? "; "
				      : "",
			  100 * fmin(found[i].share, 1), found[i].text);
}

static void print_part(FILE *out, const struct reasons *reasons, unsigned int state)
{
	const struct where_account *all = &reasons->accounts->all;
	struct wrap wrap = { 0 };
	char time[UNITS_TEXT];

	if (state == WHERE_CPU)
		say_modes(&wrap, reasons);
	else if (state != WHERE_LOCK || !say_locks(&wrap, reasons))
		say_calls(&wrap, reasons->probe, state);
	if (state != WHERE_CPU)
		say_reasons(&wrap, reasons, state);
	fprintf(out, "  %-*s %7s %5.1f %%", NAME_COLUMNS, where_labels[state],
		units__ns(time, all->ns[state]),
		100 * accounts__share(all->ns[state], all->life_ns));
	if (!wrap.len) {
		fputc('\n', out);
		return;
	}
	fputs("  ", out);
	wrap__print_after(&wrap, out, DETAIL_COLUMN);
}

void parts__print(FILE *out, const struct reasons *reasons)
{
	const struct where_account *all = &reasons->accounts->all;
	double small = 0;
	char time[UNITS_TEXT];

	for (unsigned int state = 0; state < WHERE_STATES; state++) {
		if (state == WHERE_CPU ||
		    accounts__share(all->ns[state], all->life_ns) >= PARTS_SHOWN)
			print_part(out, reasons, state);
		else
			small += all->ns[state];
	}
	if (small > 0)
		fprintf(out, "  %-*s %7s %5.1f %%\n", NAME_COLUMNS, "other parts",
			units__ns(time, small), 100 * accounts__share(small, all->life_ns));
}

void parts__print_line(FILE *out, const struct where_account *all)
{
	struct wrap wrap = { 0 };

	for (unsigned int state = 0; state < WHERE_STATES; state++)
		if (accounts__share(all->ns[state], all->life_ns) >= PARTS_SHOWN)
			wrap__add(&wrap, "%s%s %.1f %%",
				  wrap.len ? ", " : "all threads: ", where_states[state],
				  100 * accounts__share(all->ns[state], all->life_ns));
	wrap__print(&wrap, out, 0, 2);
}

/* ---- --by call, --by state ---- */

int parts__print_calls(FILE *out, const struct run_probe *probe, double life_ns, unsigned int top)
{
	const struct table *sleeps = probe->more[RUN_SLEEPS];
	struct call *calls = NULL;
	ssize_t nr = sleeps ? list_calls(&calls, sleeps, WHERE_STATES) : 0;
	char time[UNITS_TEXT], mean[UNITS_TEXT], count[UNITS_TEXT];

	if (nr < 0)
		return (int)nr;
	fprintf(out, "\n%-18s %-8s %9s %7s %10s %9s  %s\n", "call", "for", "time", "of life",
		"times", "mean", "most");
	for (ssize_t i = 0; i < nr && (!top || i < (ssize_t)top); i++)
		fprintf(out, "%-18.18s %-8s %9s %6.1f%% %10s %9s  %.12s\n",
			calls[i].name[0] ? calls[i].name : "(in the kernel)", calls[i].state,
			units__ns(time, calls[i].ns), 100 * accounts__share(calls[i].ns, life_ns),
			units__short_count(count, (uint64_t)calls[i].times),
			units__ns(mean, accounts__share(calls[i].ns, calls[i].times)),
			calls[i].most && *calls[i].most ? calls[i].most : "-");
	if (top && nr > (ssize_t)top)
		fprintf(out, "%zd more with less\n", nr - (ssize_t)top);
	free(calls);
	return 0;
}

struct most {
	const struct where_account *row;
	double ns;
};

static int most_first(const void *left, const void *right)
{
	double a = ((const struct most *)left)->ns, b = ((const struct most *)right)->ns;

	return a < b ? 1 : a > b ? -1 : 0;
}

static void print_state(FILE *out, const struct accounts *accounts, unsigned int state,
			struct most *room)
{
	const struct where_account *all = &accounts->all;
	struct wrap wrap = { 0 };
	char time[UNITS_TEXT];

	for (size_t i = 0; i < accounts->nr; i++)
		room[i] = (struct most){ &accounts->rows[i], accounts->rows[i].ns[state] };
	qsort(room, accounts->nr, sizeof(*room), most_first);
	fprintf(out, "%-*s %7s %5.1f %%", NAME_COLUMNS, where_labels[state],
		units__ns(time, all->ns[state]),
		100 * accounts__share(all->ns[state], all->life_ns));
	for (size_t i = 0; i < accounts->nr && i < NAMES_SHOWN && room[i].ns > 0; i++)
		wrap__add(&wrap, "%s%s %s", i ? ", " : "", room[i].row->name,
			  units__ns(time, room[i].ns));
	if (!wrap.len) {
		fputc('\n', out);
		return;
	}
	fputs("  ", out);
	wrap__print_after(&wrap, out, DETAIL_COLUMN - 2);
}

int parts__print_states(FILE *out, const struct accounts *accounts)
{
	struct most *room = calloc(accounts->nr + 1, sizeof(*room));

	if (!room)
		return -ENOMEM;
	fprintf(out, "\n%-*s %7s %7s  %s\n", NAME_COLUMNS, "state", "time", "of life",
		"those with most of it");
	for (unsigned int state = 0; state < WHERE_STATES; state++)
		print_state(out, accounts, state, room);
	free(room);
	return 0;
}
