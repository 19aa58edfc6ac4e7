// SPDX-License-Identifier: BSD-2-Clause
#include "view_answer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <core/units.h>
#include <print/text.h>
#include <print/wrap.h>

#include <print/host_words.h>
#include "view_parts.h"
#include "view_states.h"

#define ROWS 6
#define SENTENCES 3
#define LEAST_WINDOW_NS 10000000
#define LEAST_OWN 0.005 /* of all waiting: less is not said */

/* Is it of the whole machine, and not of what a filter selects, or of one process? */
static bool is_machine(const struct answer *answer)
{
	return !answer->probe->filter && answer->accounts.nr > 1;
}

static void print_title(FILE *out, const struct answer *answer)
{
	const struct accounts *accounts = &answer->accounts;
	const char *filter = answer->probe->filter;
	uint64_t threads = accounts->all.threads + accounts->all.ended;
	char text[UNITS_TEXT], host[RUN_TEXT];
	struct wrap wrap = { 0 };

	if (!is_machine(answer)) {
		wrap__add(&wrap, "%s, ", accounts->nr == 1 ? accounts->rows[0].name : filter);
		wrap__add(&wrap, "%s thread%s, ", units__count(text, threads),
			  threads == 1 ? "" : "s");
	}
	wrap__add(&wrap, "%s of ", units__duration(text, answer->run->duration_ns));
	wrap__add(&wrap, "%s", host_words__describe(answer->run, host));
	wrap__print(&wrap, out, 0, 2);
	fputc('\n', out);
}

/* Waits of latscope itself, which no probe explains. */
static double own_waits_ns(const struct answer *answer)
{
	const struct run *run = answer->run;
	double ns = 0;

	for (unsigned int i = 0; !answer->probe->filter && i < run->nr_probes; i++)
		if (run->probes[i].why && !run->probes[i].refused[0])
			ns += (double)run->probes[i].why->of_latscope_ns;
	return fmin(ns, answer->blame.open_ns);
}

static void print_unexplained(FILE *out, const struct answer *answer)
{
	const struct where_account *all = &answer->accounts.all;
	const struct blame *blame = &answer->blame;
	double latscope_ns = own_waits_ns(answer), open_ns = blame->open_ns - latscope_ns;
	char text[UNITS_TEXT];
	struct wrap wrap = { 0 };

	wrap__add(&wrap, "Not explained: %s of the waiting",
		  accounts__percent(text, accounts__share(open_ns, blame->waited_ns)));
	wrap__add(&wrap, " (%s)", units__ns(text, open_ns));
	if (latscope_ns > LEAST_OWN * blame->waited_ns)
		wrap__add(&wrap, ", without %s of latscope itself", units__ns(text, latscope_ns));
	if (all->ns[WHERE_UNKNOWN] > 0)
		wrap__add(&wrap, "; %s of all time was not seen",
			  units__ratio(text,
				       accounts__share(all->ns[WHERE_UNKNOWN], all->life_ns)));
	wrap__add(&wrap, ".");
	wrap__print(&wrap, out, 0, 2);
}

/* The probes that could not run, and those whose numbers have a warning. */
static void print_doubts(FILE *out, const struct run *run)
{
	struct wrap wrap = { 0 };

	for (unsigned int i = 0; i < run->nr_probes; i++)
		if (run->probes[i].refused[0])
			wrap__line(out, 0, 2, "Not measured: %s: %s.", run->probes[i].name,
				   run->probes[i].refused);
	for (unsigned int i = 0; i < run->nr_probes; i++)
		if (!run->probes[i].refused[0] && text__is_doubtful(&run->probes[i]))
			wrap__add(&wrap, "%s%s", wrap.len ? ", " : "Incomplete or doubtful: ",
				  run->probes[i].name);
	if (!wrap.len)
		return;
	wrap__add(&wrap, " (-v says what is missing).");
	wrap__print(&wrap, out, 0, 2);
}

/* The options that select what the run is about, as words of a command. */
static const struct {
	const char *filter, *option;
} options[] = {
	{ "process ", "-p " },
	{ "comm ", "--comm " },
	{ "cgroup ", "--cgroup " },
};

static bool is_word(const char *text)
{
	return !strpbrk(text, " ,'\"\\$`*?[](){}<>|&;#~!");
}

static void print_next(FILE *out, const struct answer *answer)
{
	const struct sufferer *most = answer->blame.rows;
	const char *filter = answer->probe->filter;

	for (size_t i = 0; filter && i < sizeof(options) / sizeof(options[0]); i++) {
		size_t len = strlen(options[i].filter);

		if (strncmp(filter, options[i].filter, len) != 0 || !is_word(filter + len))
			continue;
		fprintf(out, "Next: latscope why %s%s    each slow wait, and its causes\n",
			options[i].option, filter + len);
		return;
	}
	if (is_machine(answer) && most->row->processes <= 1 && most->row->pid > 0)
		fprintf(out, "Next: latscope -p %" PRId64 "    its whole time, and its causes\n",
			most->row->pid);
	else if (is_machine(answer) && most->row->comm && is_word(most->row->comm))
		fprintf(out, "Next: latscope --comm %s    its whole time, and its causes\n",
			most->row->comm);
	else
		fprintf(out, "Next: latscope why%s    each slow wait, and its causes\n",
			answer->run->workload ? " -- COMMAND" : "");
}

/* ---- the two screens ---- */

static void print_machine(FILE *out, const struct answer *answer, unsigned int rows,
			  unsigned int sentences)
{
	print_title(out, answer);
	rows__print(out, &answer->reasons, &answer->blame, rows);
	fputc('\n', out);
	resources__print(out, answer);
	fputc('\n', out);
	sentences__print(out, answer, sentences);
}

static int print_service(FILE *out, const struct answer *answer, unsigned int rows,
			 unsigned int sentences)
{
	int err;

	print_title(out, answer);
	parts__print(out, &answer->reasons);
	if (answer->accounts.nr > 1)
		rows__print(out, &answer->reasons, &answer->blame, rows);
	err = waits__print(out, answer->probe->more[RUN_WAITS], 1);
	if (rows > SENTENCES)
		resources__print(out, answer);
	sentences__print(out, answer, sentences);
	return err;
}

static size_t lines_of(const char *text)
{
	size_t lines = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		lines++;
	}
	return lines;
}

/* *text is to be freed. 0 or -ENOMEM. */
static int compose(char **text, const struct answer *answer, bool to_stdout, unsigned int rows,
		   unsigned int sentences)
{
	size_t size;
	FILE *out = open_memstream(text, &size);
	int err = 0;

	if (!out)
		return -ENOMEM;
	wrap__stand_in(to_stdout ? out : NULL);
	if (is_machine(answer))
		print_machine(out, answer, rows, sentences);
	else
		err = print_service(out, answer, rows, sentences);
	print_unexplained(out, answer);
	print_doubts(out, answer->run);
	print_next(out, answer);
	wrap__stand_in(NULL);
	return fclose(out) ? -ENOMEM : err;
}

/* With fewer rows, of a service without the resources, then with fewer sentences, until it fits. */
static int print_fitting(FILE *out, const struct answer *answer)
{
	unsigned int rows = ROWS, sentences = SENTENCES;
	char *text = NULL;
	int err;

	for (;;) {
		err = compose(&text, answer, out == stdout, rows, sentences);
		if (err || lines_of(text) <= ANSWER_LINES || (rows == 1 && !sentences))
			break;
		if (rows > SENTENCES || !sentences)
			rows--;
		else
			sentences--;
		free(text);
		text = NULL;
	}
	if (!err)
		fputs(text, out);
	free(text);
	return err;
}

/* As after Ctrl-C while the programs are loaded. */
static void print_too_short(FILE *out, const struct run *run)
{
	char time[UNITS_TEXT];

	wrap__line(
		out, 0, 2,
		"The window of %s is too short to say who waited: let it measure for a second or "
		"more.",
		units__duration(time, run->duration_ns));
}

/* ---- all ---- */

int answer__read(struct answer *answer, const struct run *run, const struct run_probe *probe,
		 bool by_name)
{
	int err;

	*answer = (struct answer){ .run = run, .probe = probe };
	err = accounts__read(&answer->accounts, probe, by_name);
	if (!err)
		err = reasons__of(&answer->reasons, run, probe, &answer->accounts);
	return err ? err : blame__of(&answer->blame, &answer->reasons);
}

void answer__clear(struct answer *answer)
{
	blame__clear(&answer->blame);
	reasons__clear(&answer->reasons);
	accounts__free(&answer->accounts);
}

int answer__print(FILE *out, const struct run *run, const struct run_probe *probe)
{
	struct answer answer;
	int err = answer__read(&answer, run, probe, true);

	if (!err && !answer.accounts.all.life_ns)
		wrap__line(out, 0, 2, "no thread that the filter selects lived in the window: %s",
			   probe->filter ? probe->filter : "none was seen");
	else if (!err && run->duration_ns < LEAST_WINDOW_NS && !run->workload)
		print_too_short(out, run);
	else if (!err)
		err = print_fitting(out, &answer);
	answer__clear(&answer);
	return err;
}

int answer__sentences(char **text, const struct run *run, const struct run_probe *probe)
{
	struct answer answer;
	size_t size;
	FILE *out = open_memstream(text, &size);
	int err;

	if (!out)
		return -ENOMEM;
	err = answer__read(&answer, run, probe, true);
	wrap__unbroken(out);
	if (!err && answer.accounts.all.life_ns)
		sentences__print(out, &answer, SENTENCES);
	wrap__unbroken(NULL);
	answer__clear(&answer);
	return fclose(out) ? -ENOMEM : err;
}
