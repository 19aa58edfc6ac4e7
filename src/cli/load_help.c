// SPDX-License-Identifier: BSD-2-Clause
#include "load_help.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <loadgen/load.h>

#define DOC 128 /* bytes of the text of an option */
#define ROWS 20
#define NAMES 12 /* options of a kind */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char all_intro[] =
	"Runs a load of a KIND until the time is up or Ctrl-C. Leaves nothing behind, and "
	"needs no privilege except for pressure. 'latscope load KIND --help' shows the options "
	"of one KIND.\vKinds:\n";

static const char all_examples[] =
	"\nExamples:\n"
	"  latscope load mixed -d 10s                all kinds at once\n"
	"  latscope load touch --size 1G             a large region, again and again\n"
	"  latscope load dio --dir /mnt --tasks 8    queue depth 8, the disk of /mnt\n"
	"  latscope load dio --sequential --writes 100% --block 1M\n"
	"  sudo latscope runqlat -- latscope load hog -d 5s\n"
	"  sudo latscope record --report -- latscope load pressure\n";

static const char exit_status[] =
	"\nExit status: 0 done, 1 error, 2 wrong usage, 77 not supported here.";

/* `options`: besides --duration. */
static const struct kind_help {
	const char *kind, *text, *examples;
	const char *options[NAMES];
} kind_helps[] = {
	{ "touch",
	  "As many processes as CPUs, at most 8.",
	  "  latscope load touch --size 1G\n"
	  "  sudo latscope memlat -- latscope load touch -d 5s\n",
	  { "tasks", "pause", "size" } },
	{ "hog",
	  "Runs until the time is up or Ctrl-C.",
	  "  sudo latscope runqlat -- latscope load hog -d 5s\n",
	  { "tasks", "pause" } },
	{ "pingpong",
	  "More tasks make more pairs.",
	  "  sudo latscope runqlat -- latscope load pingpong -d 5s\n",
	  { "tasks", "pause" } },
	{ "dio",
	  "The file has no name, so nothing is left behind.",
	  "  latscope load dio --dir /mnt --tasks 8    queue depth 8, the disk of /mnt\n"
	  "  latscope load dio --sequential --writes 100% --block 1M\n"
	  "  sudo latscope iolat -- latscope load dio -d 5s\n",
	  { "tasks", "pause", "dir", "size", "block", "writes", "sequential", "seed" } },
	{ "pressure",
	  "Needs root, and a memory controller for new cgroups.",
	  "  sudo latscope record --report -- latscope load pressure\n",
	  { "tasks", "dir", "size", "seed" } },
	{ "mixed",
	  "These are touch, hog, pingpong and dio.",
	  "  sudo latscope record -- latscope load mixed -d 10s\n",
	  { "tasks", "pause", "dir", "seed" } },
	{ "fleet",
	  "The server needs the tables of 'latscope fleet init'.",
	  "  latscope load fleet --clickhouse http://127.0.0.1:8123 --hosts 100\n",
	  { "tasks", "seed", "clickhouse", "clickhouse-login", "hosts", "series", "slots",
	    "together", "ago" } },
};

static const struct kind_help *find(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		for (size_t kind = 0; kind < COUNT_OF(kind_helps); kind++)
			if (!strcmp(argv[i], kind_helps[kind].kind))
				return &kind_helps[kind];
	return NULL;
}

static const char *doc_of_all(void)
{
	static char doc[2560];
	size_t used = strlen(strcpy(doc, all_intro));

	for (size_t i = 0; load_kinds[i] && used < sizeof(doc); i++)
		used += (size_t)snprintf(doc + used, sizeof(doc) - used, "  %-9s %s\n",
					 load_kinds[i]->name, load_kinds[i]->help);
	if (used < sizeof(doc))
		snprintf(doc + used, sizeof(doc) - used, "%s%s", all_examples, exit_status);
	return doc;
}

static const char *doc_of(const struct kind_help *help)
{
	static char doc[1024];
	const char *what = load__find(help->kind)->help;

	snprintf(doc, sizeof(doc), "%c%s. %s\vExamples:\n%s%s", toupper((unsigned char)what[0]),
		 what + 1, help->text, help->examples, exit_status);
	return doc;
}

static bool has(const struct kind_help *help, const char *option)
{
	bool found = !strcmp(option, "duration");

	for (size_t i = 0; i < NAMES && help->options[i]; i++)
		found = found || !strcmp(help->options[i], option);
	return found;
}

/* The part of the text that is about the kind. */
static void shorten(char doc[DOC], const char *all, const char *kind)
{
	char mark[DOC];
	const char *at;

	snprintf(mark, sizeof(mark), "%s: ", kind);
	at = strstr(all, mark);
	at = at ? at + strlen(mark) : all;
	snprintf(doc, DOC, "%.*s", (int)strcspn(at, ";"), at);
	doc[0] = (char)toupper((unsigned char)doc[0]);
}

static const struct option_row *rows_of(const struct kind_help *help, const struct option_row *all)
{
	static struct option_row rows[ROWS];
	static char docs[ROWS][DOC];

	for (size_t i = 0; i < ROWS - 1 && all[i].name; i++) {
		rows[i] = all[i];
		shorten(docs[i], all[i].help, help->kind);
		rows[i].help = has(help, all[i].name) ? docs[i] : NULL;
	}
	return rows;
}

void load_help__set(struct usage *usage, int argc, char **argv)
{
	const struct kind_help *help = find(argc, argv);

	if (help)
		usage->rows = rows_of(help, usage->rows);
	usage->args = help ? help->kind : "KIND";
	usage->doc = help ? doc_of(help) : doc_of_all();
}
