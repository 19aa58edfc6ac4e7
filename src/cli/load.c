// SPDX-License-Identifier: BSD-2-Clause
/* load: built-in workloads. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <core/units.h>
#include <loadgen/load.h>
#include <fleet/load.h>

#include "cmd.h"
#include "log.h"
#include "options.h"

#define DEFAULT_DIR "/var/tmp"
#define DURATION_NS 10000000000ULL

#define FLEET_NS 300000000000ULL
#define FLEET_TASKS 2
#define FLEET_TIMEOUT_S 30
#define MINUTE_NS 60000000000ULL

#define MOST_BLOCK (64ULL << 20)
#define LEAST_PARTS 4 /* blocks of a process's part of the file */

#define DOC 128 /* bytes of the text of an option */
#define OPTIONS 12 /* of a kind */
#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct load {
	struct options options;
	struct load_config config;
	const struct load_ops *ops;
	const char *url, *login_file;
	struct clickhouse_address address;
	struct fleet_load_config fleet;
	uint64_t ago_ns;
};

enum { OF_DIO = 1, OF_FLEET }; /* classes of options */

#define OWN struct load

/* "kind: text; kind: text": the text of a kind alone is shown in its own help. */
static const struct option_row load_rows[] = {
	{ "duration", 'd', "TIME", "Run for TIME (10s); fleet: rows of TIME (5m)",
	  OPT_DURATION(config.duration_ns) },
	{ "tasks", 0, "N", "Number of processes; mixed: of each kind",
	  OPT_COUNT(config.tasks, 1, LOAD_MAX_TASKS) },
	{ "pause", 0, "TIME", "Pause of each process between two rounds",
	  OPT_DURATION(config.pause_ns) },
	{ "dir", 0, "DIR", "Directory of the file (" DEFAULT_DIR ")", OPT_TEXT(config.dir) },
	{ "size", 0, "SIZE",
	  "touch: memory in a round (16M each); dio: file (64M); pressure: memory limit (32M)",
	  OPT_SIZE(config.bytes, 1 << 16) },
	{ "block", 0, "SIZE", "dio: size of a request (4K)", OPT_SIZE(config.block, LOAD_BLOCK),
	  .class = OF_DIO },
	{ "writes", 0, "PERCENT", "dio: share of writes among the requests (25)",
	  OPT_PERCENT(config.writes, 0, 100), .class = OF_DIO },
	{ "sequential", 0, NULL, "dio: one block after the other, not at random",
	  OPT_FLAG(config.sequential), .class = OF_DIO },
	{ "seed", 0, "N", "Seed of the random numbers (0)", OPT_COUNT(config.seed, 0, UINT32_MAX) },
	{ "clickhouse", 0, "URL", "fleet: server with the tables", OPT_TEXT(url),
	  .class = OF_FLEET },
	{ "clickhouse-login", 0, "FILE", "fleet: file with USER:PASSWORD", OPT_TEXT(login_file),
	  .class = OF_FLEET },
	{ "hosts", 0, "N", "fleet: number of hosts (10000)", OPT_COUNT(fleet.hosts, 1, 1000000),
	  .class = OF_FLEET },
	{ "series", 0, "N", "fleet: rows of a host for each minute (60)",
	  OPT_COUNT(fleet.series, 1, 10000), .class = OF_FLEET },
	{ "slots", 0, "N", "fleet: slots of a row that are not empty (40)",
	  OPT_COUNT(fleet.slots, 1, 300), .class = OF_FLEET },
	{ "together", 0, "N", "fleet: hosts in a request (100)",
	  OPT_COUNT(fleet.together, 1, 10000), .class = OF_FLEET },
	{ "ago", 0, "TIME", "fleet: first row so long ago (the rows end now)", OPT_DURATION(ago_ns),
	  .class = OF_FLEET },
	{ 0 },
};

static int find_kind(struct load *load)
{
	const char *name = load->options.nr_args ? load->options.args[0] : NULL;
	char names[RUN_TEXT] = "";
	size_t used = 0;

	load->ops = name ? load__find(name) : NULL;
	if (load->options.given[OF_FLEET] && load->ops != &load_fleet)
		return options__fail(&load->options, "--clickhouse, --clickhouse-login, --hosts, "
						     "--series, --slots, --together and --ago are "
						     "for fleet");
	if (load->ops)
		return 0;
	for (size_t i = 0; load_kinds[i] && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 load_kinds[i]->name);
	if (name)
		return options__fail(&load->options, "unknown load '%.32s'; choose from %s", name,
				     names);
	return options__fail(&load->options, "missing load; choose from %s", names);
}

static int check_sizes(struct load *load)
{
	struct options *options = &load->options;
	const struct load_config *config = &load->config;
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t tasks = config->tasks ? config->tasks : LOAD_DIO_TASKS;
	uint64_t block = config->block ? config->block : LOAD_BLOCK;
	uint64_t bytes = config->bytes ? config->bytes : LOAD_FILE_BYTES;

	if (config->bytes && !load->ops->uses_bytes)
		return options__fail(options, "--size does not apply to %s", load->ops->name);
	if (options->given[OF_DIO] && strcmp(load->ops->name, "dio"))
		return options__fail(options, "--block, --writes and --sequential are for dio");
	if (!load->ops->uses_dir && config->bytes > memory / 2)
		return options__fail(options, "--size is more than half of this machine's memory");
	if (load->ops->needs_cgroup && config->bytes && config->bytes < LOAD_PRESSURE_LEAST)
		return options__fail(options, "--size: pressure needs 8M or more");
	if (load->ops->needs_cgroup && config->bytes > memory / 4)
		return options__fail(options, "--size is more than a quarter of this machine's "
					      "memory");
	if (block % LOAD_BLOCK || block > MOST_BLOCK)
		return options__fail(options, "--block: use a multiple of 4K up to 64M");
	if (!strcmp(load->ops->name, "dio") && bytes / tasks / block < LEAST_PARTS)
		return options__fail(
			options,
			"the file is too small: each of %llu processes needs %d blocks "
			"in it; use a larger --size",
			(unsigned long long)tasks, LEAST_PARTS);
	return 0;
}

static int check_fleet(struct load *load)
{
	struct options *options = &load->options;
	const struct load_config *config = &load->config;
	char why[POST_TEXT];

	if (config->bytes || options->given[OF_DIO] || config->pause_ns)
		return options__fail(options, "--size, --block, --writes, --sequential and --pause "
					      "are not for fleet");
	if (!load->url)
		return options__fail(options, "fleet needs --clickhouse URL");
	if (clickhouse__address(&load->address, load->url, NULL, why) == -EINVAL)
		return options__fail(options, "--clickhouse '%.64s': %s", load->url, why);
	if (!config->duration_ns)
		load->config.duration_ns = FLEET_NS;
	if (config->duration_ns < MINUTE_NS)
		return options__fail(options, "--duration: fleet needs a minute or more");
	return 0;
}

static const char all_intro[] =
	"Runs a load of a KIND until the time is up or Ctrl-C. Leaves nothing behind on this "
	"machine, and needs no privilege except for pressure. 'latscope load KIND --help' shows "
	"the options of one KIND.\vKinds:\n";

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
	const char *options[OPTIONS];
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

/* The first argument that is the name of a kind. */
static const struct kind_help *find_help(int argc, char **argv)
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

	for (size_t i = 0; i < OPTIONS && help->options[i]; i++)
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

/* All options are parsed with any kind; those of other kinds are not shown in its help. */
static const struct option_row *rows_of(const struct kind_help *help)
{
	static struct option_row rows[COUNT_OF(load_rows)];
	static char docs[COUNT_OF(load_rows)][DOC];

	for (size_t i = 0; load_rows[i].name; i++) {
		rows[i] = load_rows[i];
		shorten(docs[i], load_rows[i].help, help->kind);
		rows[i].help = has(help, load_rows[i].name) ? docs[i] : NULL;
	}
	return rows;
}

static int check(struct options *options, void *own)
{
	struct load *load = own;
	int err = find_kind(load);

	(void)options;
	if (err)
		return err;
	if (load->ops == &load_fleet)
		return check_fleet(load);
	if (!load->config.duration_ns)
		load->config.duration_ns = DURATION_NS;
	return check_sizes(load);
}

/* Explains before anything is written. Returns the exit code. */
static int check_cgroup(void)
{
	int err = load__check_cgroup();

	if (!err)
		return EXIT_DONE;
	if (err == -ENODEV) {
		log__error("load: cannot limit memory", "no memory controller for a new cgroup",
			   "enable it in cgroup.subtree_control of the root cgroup");
		return EXIT_CANNOT;
	}
	log__error("load: cannot make a cgroup", strerror(-err),
		   err == -EACCES || err == -EPERM ? "run it as root" : NULL);
	return EXIT_ERROR;
}

static int check_dir(const struct load *load)
{
	const char *why = NULL;
	char what[RUN_TEXT];
	int err;

	err = load__check_dir(load->config.dir, &why);
	snprintf(what, sizeof(what), "load: cannot %s in %.200s",
		 err ? "create a temporary file" : "use direct I/O", load->config.dir);
	if (err)
		log__error(what, strerror(-err), "choose another directory with --dir");
	else if (why && !load->ops->needs_cgroup) /* that needs the page cache */
		log__warn(what, why, "using the page cache; choose another directory with --dir");
	return err;
}

/* Bytes on disk for a row that is stored; 0: the server does not say. */
static double ask_row_bytes(struct post *server)
{
	struct post_answer answer;
	double bytes;

	if (clickhouse_server__ask(
		    server,
		    "SELECT sum(bytes) / sum(rows) FROM system.parts WHERE active AND "
		    "database = currentDatabase() AND table = 'rows'",
		    &answer))
		return 0;
	bytes = strtod(answer.body.at, NULL);
	bytes__free(&answer.body);
	return isfinite(bytes) ? bytes : 0;
}

static void print_fleet(const struct fleet_load_result *result, double row_bytes)
{
	char rows[UNITS_TEXT], events[UNITS_TEXT], rate[UNITS_TEXT];
	double s = (double)result->ns / 1e9;

	printf("%s rows with %s events in %.1f s: %s\n", units__count(rows, result->rows),
	       units__count(events, result->events), s,
	       units__rate(rate, (double)result->rows / s));
	printf("%.0f bytes a row sent, compressed, in %llu requests\n",
	       result->rows ? (double)result->bytes / (double)result->rows : 0,
	       (unsigned long long)result->requests);
	if (row_bytes > 0)
		printf("%.0f bytes a row on disk\n", row_bytes);
}

static int fail_fleet(const char *what, int err, const char *why)
{
	log__error(what, why[0] ? why : strerror(-err),
		   err == -ENOENT ? "run 'latscope fleet init'" : NULL);
	return err == -ENOPKG ? EXIT_CANNOT : EXIT_ERROR;
}

static int run_fleet(struct load *load)
{
	struct fleet_load_config *fleet = &load->fleet;
	struct fleet_load_result result;
	struct post *server;
	char why[POST_TEXT] = "";
	uint64_t now_s = 0;
	int err = clickhouse__address(&load->address, load->url, load->login_file, why);

	if (err)
		return fail_fleet("cannot use --clickhouse", err, why);
	err = clickhouse_server__new(&server, &load->address, FLEET_TIMEOUT_S, 4096, NULL, NULL);
	if (err)
		return fail_fleet("load", err, why);
	err = clickhouse_server__check(server, &now_s, why);
	fleet->address = &load->address;
	fleet->tasks = load->config.tasks ? load->config.tasks : FLEET_TASKS;
	fleet->seed = load->config.seed;
	fleet->minutes = load->config.duration_ns / MINUTE_NS;
	fleet->start_s =
		now_s - (load->ago_ns ? load->ago_ns : load->config.duration_ns) / 1000000000;
	fleet->start_s -= fleet->start_s % 60;
	if (!err) {
		err = fleet_load__run(fleet, &result);
		memcpy(why, result.why, sizeof(why));
	}
	if (!err)
		print_fleet(&result, ask_row_bytes(server));
	post__free(server);
	return err ? fail_fleet("cannot store rows", err, why) : EXIT_DONE;
}

int cmd_load(int argc, char **argv)
{
	struct load load = {
		.config = { .dir = DEFAULT_DIR, .writes = LOAD_WRITES },
		.fleet = { .hosts = FLEET_LOAD_HOSTS,
			   .series = FLEET_LOAD_SERIES,
			   .slots = FLEET_LOAD_SLOTS,
			   .together = FLEET_LOAD_TOGETHER },
	};
	const struct kind_help *help = find_help(argc, argv);
	const struct usage usage = { .rows = help ? rows_of(help) : load_rows,
				     .args = help ? help->kind : "KIND",
				     .doc = help ? doc_of(help) : doc_of_all(),
				     .max_args = 1,
				     .check = check };
	int err, code;

	code = options__begin(&load.options, &usage, &load, argc, argv);
	if (code != OPTIONS_RUN)
		return code;
	if (load.ops == &load_fleet)
		return run_fleet(&load);
	if (load.ops->uses_dir && check_dir(&load))
		return EXIT_ERROR;
	code = load.ops->needs_cgroup ? check_cgroup() : EXIT_DONE;
	if (code)
		return code;
	err = load.ops->run(&load.config);
	if (!err)
		return EXIT_DONE;
	if (err == -EMEDIUMTYPE) {
		log__error("load: cannot make pressure", "the file system of --dir is in memory",
			   "choose a directory on a disk with --dir");
		return EXIT_ERROR;
	}
	log__error(argv[0], err == -ECANCELED ? "a worker process was killed" : strerror(-err),
		   NULL);
	return EXIT_ERROR;
}
