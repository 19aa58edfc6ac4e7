// SPDX-License-Identifier: BSD-2-Clause
#include "load_help.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <loadgen/load.h>

#define DOC 128 /* bytes of the text of an option */
#define KEYS 12 /* options of a kind */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* "kind: text; kind: text": the text of a kind alone is shown in its own help. */
static const struct argp_option all_options[] = {
	{ "duration", 'd', "TIME", 0, "Run for TIME (10s); fleet: rows of TIME (5m)", 0 },
	{ "tasks", LOAD_KEY_TASKS, "N", 0, "Number of processes (of mixed: of each kind)", 0 },
	{ "pause", LOAD_KEY_PAUSE, "TIME", 0, "Pause of each process between two rounds", 0 },
	{ "dir", LOAD_KEY_DIR, "DIR", 0, "Directory of the file (" LOAD_DIR ")", 0 },
	{ "size", LOAD_KEY_SIZE, "SIZE", 0,
	  "touch: memory in a round (16M each); dio: file (64M); pressure: memory limit (32M)", 0 },
	{ "block", LOAD_KEY_BLOCK, "SIZE", 0, "dio: size of a request (4K)", 0 },
	{ "writes", LOAD_KEY_WRITES, "PERCENT", 0, "dio: share of writes among the requests (25)",
	  0 },
	{ "sequential", LOAD_KEY_SEQUENTIAL, 0, 0, "dio: one block after the other, not at random",
	  0 },
	{ "seed", LOAD_KEY_SEED, "N", 0, "Seed of the random numbers (0)", 0 },
	{ "clickhouse", LOAD_KEY_CLICKHOUSE, "URL", 0, "fleet: server with the tables", 0 },
	{ "clickhouse-login", LOAD_KEY_LOGIN, "FILE", 0, "fleet: file with USER:PASSWORD", 0 },
	{ "hosts", LOAD_KEY_HOSTS, "N", 0, "fleet: number of hosts (10000)", 0 },
	{ "series", LOAD_KEY_SERIES, "N", 0, "fleet: rows of a host for each minute (60)", 0 },
	{ "slots", LOAD_KEY_SLOTS, "N", 0, "fleet: slots of a row that are not empty (40)", 0 },
	{ "together", LOAD_KEY_TOGETHER, "N", 0, "fleet: hosts in a request (100)", 0 },
	{ "ago", LOAD_KEY_AGO, "TIME", 0, "fleet: first row so long ago (the rows end now)", 0 },
	{ 0 },
};

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

/* Keys of options besides 'd'. */
static const struct kind_help {
	const char *kind, *arguments, *text, *examples;
	int keys[KEYS];
} kind_helps[] = {
	{ "touch",
	  "touch",
	  "As many processes as CPUs, at most 8.",
	  "  latscope load touch --size 1G\n"
	  "  sudo latscope memlat -- latscope load touch -d 5s\n",
	  { LOAD_KEY_TASKS, LOAD_KEY_PAUSE, LOAD_KEY_SIZE } },
	{ "hog",
	  "hog",
	  "Runs until the time is up or Ctrl-C.",
	  "  sudo latscope runqlat -- latscope load hog -d 5s\n",
	  { LOAD_KEY_TASKS, LOAD_KEY_PAUSE } },
	{ "pingpong",
	  "pingpong",
	  "More tasks make more pairs.",
	  "  sudo latscope runqlat -- latscope load pingpong -d 5s\n",
	  { LOAD_KEY_TASKS, LOAD_KEY_PAUSE } },
	{ "dio",
	  "dio",
	  "The file has no name, so nothing is left behind.",
	  "  latscope load dio --dir /mnt --tasks 8    queue depth 8, the disk of /mnt\n"
	  "  latscope load dio --sequential --writes 100% --block 1M\n"
	  "  sudo latscope iolat -- latscope load dio -d 5s\n",
	  { LOAD_KEY_TASKS, LOAD_KEY_PAUSE, LOAD_KEY_DIR, LOAD_KEY_SIZE, LOAD_KEY_BLOCK,
	    LOAD_KEY_WRITES, LOAD_KEY_SEQUENTIAL, LOAD_KEY_SEED } },
	{ "pressure",
	  "pressure",
	  "Needs root, and a memory controller for new cgroups.",
	  "  sudo latscope record --report -- latscope load pressure\n",
	  { LOAD_KEY_TASKS, LOAD_KEY_DIR, LOAD_KEY_SIZE, LOAD_KEY_SEED } },
	{ "mixed",
	  "mixed",
	  "These are touch, hog, pingpong and dio.",
	  "  sudo latscope record -- latscope load mixed -d 10s\n",
	  { LOAD_KEY_TASKS, LOAD_KEY_PAUSE, LOAD_KEY_DIR, LOAD_KEY_SEED } },
	{ "fleet",
	  "fleet",
	  "The server needs the tables of 'latscope fleet init'.",
	  "  latscope load fleet --clickhouse http://127.0.0.1:8123 --hosts 100\n",
	  { LOAD_KEY_TASKS, LOAD_KEY_SEED, LOAD_KEY_CLICKHOUSE, LOAD_KEY_LOGIN, LOAD_KEY_HOSTS,
	    LOAD_KEY_SERIES, LOAD_KEY_SLOTS, LOAD_KEY_TOGETHER, LOAD_KEY_AGO } },
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

static bool has(const struct kind_help *help, int key)
{
	bool found = key == 'd';

	for (size_t i = 0; i < KEYS && help->keys[i]; i++)
		found = found || help->keys[i] == key;
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

static const struct argp_option *options_of(const struct kind_help *help)
{
	static struct argp_option options[COUNT_OF(all_options)];
	static char docs[COUNT_OF(all_options)][DOC];

	memcpy(options, all_options, sizeof(options));
	for (size_t i = 0; options[i].name; i++) {
		if (!has(help, options[i].key))
			options[i].flags |= OPTION_HIDDEN;
		shorten(docs[i], options[i].doc, help->kind);
		options[i].doc = docs[i];
	}
	return options;
}

void load_help__set(struct argp *argp, int argc, char **argv)
{
	const struct kind_help *help = find(argc, argv);

	argp->options = help ? options_of(help) : all_options;
	argp->args_doc = help ? help->arguments : "KIND";
	argp->doc = help ? doc_of(help) : doc_of_all();
}
