// SPDX-License-Identifier: BSD-2-Clause
/* load: built-in workloads. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <core/units.h>
#include <loadgen/load.h>
#include <serve/fleet_load.h>

#include "cmd.h"
#include "load_tiers.h"
#include "log.h"
#include "options.h"

#define DURATION_NS 10000000000ULL
#define DIR "/var/tmp"

#define FLEET "fleet"
#define FLEET_NS 300000000000ULL
#define FLEET_TASKS 2
#define FLEET_TIMEOUT_S 30
#define MINUTE_NS 60000000000ULL

#define MOST_BLOCK (64ULL << 20)
#define LEAST_PARTS 4 /* blocks of a process's part of the file */

#define TIERS_ONLY "--tiers, --requests, --share and a command are for tiers"

enum key {
	KEY_DIR = 0x200,
	KEY_TASKS,
	KEY_PAUSE,
	KEY_SEED,
	KEY_SIZE,
	KEY_BLOCK,
	KEY_WRITES,
	KEY_SEQUENTIAL,
	KEY_CLICKHOUSE,
	KEY_LOGIN,
	KEY_HOSTS,
	KEY_SERIES,
	KEY_SLOTS,
	KEY_TOGETHER,
	KEY_AGO,
	KEY_TIERS,
	KEY_REQUESTS,
	KEY_SHARE
};

struct load {
	struct options options;
	struct load_config config;
	const struct load_ops *ops;
	bool for_dio; /* an option that only dio has was given */
	bool is_fleet, for_fleet; /* the same */
	const char *url, *login_file;
	struct clickhouse_address address;
	struct fleet_load_config fleet;
	uint64_t ago_ns;
	bool has_duration;
	struct tiers_config tiers;
	bool for_tiers; /* the same of tiers */
	char **command; /* of tiers; NULL: none */
};

static const struct argp_option load_options[] = {
	{ "duration", 'd', "TIME", 0, "Run for TIME (10s)", 0 },
	{ "tasks", KEY_TASKS, "N", 0, "Number of processes of each kind", 0 },
	{ "pause", KEY_PAUSE, "TIME", 0, "Pause of each process between two rounds", 0 },
	{ "dir", KEY_DIR, "DIR", 0, "Directory of dio, pressure or tiers (" DIR ")", 0 },
	{ "size", KEY_SIZE, "SIZE", 0,
	  "touch: memory in a round (16M each); dio: file (64M); pressure: memory limit (32M)", 0 },
	{ "block", KEY_BLOCK, "SIZE", 0, "dio: size of a request (4K)", 0 },
	{ "writes", KEY_WRITES, "PERCENT", 0, "dio: share of writes among the requests (25)", 0 },
	{ "sequential", KEY_SEQUENTIAL, 0, 0, "dio: one block after the other, not at random", 0 },
	{ "tiers", KEY_TIERS, "N", 0, "tiers: number of tiers, 2 or 3 (2)", 0 },
	{ "requests", KEY_REQUESTS, "N", 0, "tiers: requests that are in flight (80)", 0 },
	{ "share", KEY_SHARE, "PERCENT", 0, "tiers: share of the first tier at the start (20)", 0 },
	{ "seed", KEY_SEED, "N", 0, "Seed of the random numbers (0)", 0 },
	{ "clickhouse", KEY_CLICKHOUSE, "URL", 0, "fleet: server with the tables", 0 },
	{ "clickhouse-login", KEY_LOGIN, "FILE", 0, "fleet: file with USER:PASSWORD", 0 },
	{ "hosts", KEY_HOSTS, "N", 0, "fleet: number of hosts (10000)", 0 },
	{ "series", KEY_SERIES, "N", 0, "fleet: rows of a host for each minute (60)", 0 },
	{ "slots", KEY_SLOTS, "N", 0, "fleet: slots of a row that are not empty (40)", 0 },
	{ "together", KEY_TOGETHER, "N", 0, "fleet: hosts in a request (100)", 0 },
	{ "ago", KEY_AGO, "TIME", 0, "fleet: first row so long ago (the rows end now)", 0 },
	{ 0 },
};

static const char load_intro[] =
	"Runs a load of a KIND until the time is up or Ctrl-C. Leaves nothing behind, and "
	"needs no privilege except for pressure. tiers prints how to measure it, or runs a "
	"COMMAND that does.\vKinds:\n";

static const char load_examples[] =
	"\nExamples:\n"
	"  latscope load mixed -d 10s                all kinds at once\n"
	"  latscope load touch --size 1G             a large region, again and again\n"
	"  latscope load dio --dir /mnt --tasks 8    queue depth 8, the disk of /mnt\n"
	"  latscope load dio --sequential --writes 100% --block 1M\n"
	"  sudo latscope runqlat -- latscope load hog -d 5s\n"
	"  sudo latscope record --report -- latscope load pressure\n"
	"  latscope load tiers -- latscope tierlat --weight 0.25 -i 100ms\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 not supported here.";

static const char *load_doc(void)
{
	static char doc[2048];
	size_t used = strlen(strcpy(doc, load_intro));

	for (size_t i = 0; load_kinds[i] && used < sizeof(doc); i++)
		used += (size_t)snprintf(doc + used, sizeof(doc) - used, "  %-9s %s\n",
					 load_kinds[i]->name, load_kinds[i]->help);
	if (used < sizeof(doc))
		snprintf(doc + used, sizeof(doc) - used, "  %-9s %s\n%s", FLEET,
			 "rows of many hosts, as serve --clickhouse sends them", load_examples);
	return doc;
}

static error_t parse_fleet(struct load *load, int key, char *arg)
{
	struct options *options = &load->options;
	struct fleet_load_config *fleet = &load->fleet;

	switch (key) {
	case KEY_CLICKHOUSE:
		load->url = arg;
		break;
	case KEY_LOGIN:
		load->login_file = arg;
		break;
	case KEY_HOSTS:
		load->for_fleet = true;
		return options__count(options, "--hosts", arg, 1, 1000000, &fleet->hosts);
	case KEY_SERIES:
		load->for_fleet = true;
		return options__count(options, "--series", arg, 1, 10000, &fleet->series);
	case KEY_SLOTS:
		load->for_fleet = true;
		return options__count(options, "--slots", arg, 1, 300, &fleet->slots);
	case KEY_TOGETHER:
		load->for_fleet = true;
		return options__count(options, "--together", arg, 1, 10000, &fleet->together);
	case KEY_AGO:
		load->for_fleet = true;
		return options__duration(options, "--ago", arg, &load->ago_ns);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	load->for_fleet = true;
	return 0;
}

static error_t parse_tiers(struct load *load, int key, char *arg)
{
	struct options *options = &load->options;
	struct tiers_config *tiers = &load->tiers;
	uint64_t nr = 0;
	error_t err;

	switch (key) {
	case KEY_TIERS:
		err = options__count(options, "--tiers", arg, TIERS_LEAST, TIERS_MOST, &nr);
		tiers->tiers = (unsigned int)nr;
		break;
	case KEY_REQUESTS:
		err = options__count(options, "--requests", arg, 1, 1000000, &tiers->requests);
		break;
	case KEY_SHARE:
		err = options__percent(options, "--share", arg, 0.1, 99.9, &tiers->share);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	load->for_tiers = true;
	return err;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct load *load = state->input;
	struct load_config *config = &load->config;
	uint64_t tasks = 0;
	error_t err;

	switch (key) {
	case 'd':
		load->has_duration = true;
		return options__duration(&load->options, "--duration", arg, &config->duration_ns);
	case KEY_PAUSE:
		return options__duration(&load->options, "--pause", arg, &config->pause_ns);
	case KEY_SEED:
		return options__count(&load->options, "--seed", arg, 0, UINT32_MAX, &config->seed);
	case KEY_TASKS:
		err = options__count(&load->options, "--tasks", arg, 1, LOAD_MAX_TASKS, &tasks);
		config->tasks = (unsigned int)tasks;
		return err;
	case KEY_DIR:
		config->dir = arg;
		return 0;
	case KEY_SIZE:
		return options__size(&load->options, "--size", arg, 1 << 16, &config->bytes);
	case KEY_BLOCK:
		return options__size(&load->options, "--block", arg, LOAD_BLOCK, &config->block);
	case KEY_WRITES:
		load->for_dio = true;
		return options__percent(&load->options, "--writes", arg, 0, 100, &config->writes);
	case KEY_SEQUENTIAL:
		load->for_dio = config->sequential = true;
		return 0;
	}
	err = parse_tiers(load, key, arg);
	return err == ARGP_ERR_UNKNOWN ? parse_fleet(load, key, arg) : err;
}

static int find_kind(struct load *load)
{
	const char *name = load->options.nr_args ? load->options.args[0] : NULL;
	char names[RUN_TEXT] = "";
	size_t used = 0;

	load->ops = name ? load__find(name) : NULL;
	load->is_fleet = name && !strcmp(name, FLEET);
	if (load->for_fleet && !load->is_fleet)
		return options__fail(&load->options, "--clickhouse, --clickhouse-login, --hosts, "
						     "--series, --slots, --together and --ago are "
						     "for fleet");
	if (load->ops || load->is_fleet)
		return 0;
	for (size_t i = 0; load_kinds[i] && used < sizeof(names); i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", i ? ", " : "",
					 load_kinds[i]->name);
	if (name)
		return options__fail(&load->options, "unknown load '%.32s'; choose from %s, " FLEET,
				     name, names);
	return options__fail(&load->options, "missing load; choose from %s, " FLEET, names);
}

static int check_sizes(struct load *load)
{
	struct options *options = &load->options;
	const struct load_config *config = &load->config;
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t tasks = config->tasks ? config->tasks : LOAD_DIO_TASKS;
	uint64_t block = config->block ? config->block : LOAD_BLOCK;
	uint64_t bytes = config->bytes ? config->bytes : LOAD_FILE_BYTES;

	if ((load->for_tiers || load->command) && load->ops->run)
		return options__fail(options, TIERS_ONLY);
	if (config->bytes && !load->ops->uses_bytes)
		return options__fail(options, "--size does not apply to %s", load->ops->name);
	if ((load->for_dio || config->block) && strcmp(load->ops->name, "dio"))
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

	if (config->bytes || config->block || load->for_dio || config->pause_ns)
		return options__fail(options, "--size, --block, --writes, --sequential and --pause "
					      "are not for " FLEET);
	if (load->for_tiers || load->command)
		return options__fail(options, TIERS_ONLY);
	if (!load->url)
		return options__fail(options, FLEET " needs --clickhouse URL");
	if (clickhouse__address(&load->address, load->url, NULL, why) == -EINVAL)
		return options__fail(options,
				     "--clickhouse '%.64s': %s; use a URL such as "
				     "http://127.0.0.1:8123",
				     load->url, why);
	if (!load->has_duration)
		load->config.duration_ns = FLEET_NS;
	if (config->duration_ns < MINUTE_NS)
		return options__fail(options, "--duration: " FLEET " needs a minute or more");
	return 0;
}

/* Cuts the command off the arguments. Returns how many are left. */
static int cut_command(struct load *load, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		load->command = &argv[i + 1];
		return i;
	}
	return argc;
}

/* 0: continue; 1: the help was printed; -EINVAL: the error was printed. */
static int parse(struct load *load, int argc, char **argv)
{
	struct argp own = { load_options, parse_option, "KIND [-- COMMAND ARG...]",
			    load_doc(),	  NULL,		NULL,
			    NULL };
	int got;

	argc = cut_command(load, argc, argv);
	got = options__parse(&load->options, &own, load, argc, argv, stdout);
	if (!got)
		got = find_kind(load);
	if (!got)
		got = load->is_fleet ? check_fleet(load) : check_sizes(load);
	if (!got && load->command && !load->command[0])
		got = options__fail(&load->options, "missing command after '--'");
	if (got < 0)
		log__usage(argv[0], load->options.error);
	if (load->options.quiet)
		log__set_level(LOG_QUIET);
	return got;
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
static double ask_row_bytes(struct clickhouse_server *server)
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
	struct clickhouse_server *server;
	char why[POST_TEXT] = "";
	uint64_t now_s = 0;
	int err = clickhouse__address(&load->address, load->url, load->login_file, why);

	if (err)
		return fail_fleet("cannot use --clickhouse", err, why);
	err = clickhouse_server__new(&server, &load->address, FLEET_TIMEOUT_S, 4096);
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
	clickhouse_server__free(server);
	return err ? fail_fleet("cannot store rows", err, why) : EXIT_DONE;
}

int cmd_load(int argc, char **argv)
{
	struct load load = {
		.options = { .command = argv[0], .max_args = 1 },
		.config = { .duration_ns = DURATION_NS, .dir = DIR, .writes = LOAD_WRITES },
		.fleet = { .hosts = FLEET_LOAD_HOSTS,
			   .series = FLEET_LOAD_SERIES,
			   .slots = FLEET_LOAD_SLOTS,
			   .together = FLEET_LOAD_TOGETHER },
		.tiers = { NULL, TIERS_LEAST, TIERS_REQUESTS, TIERS_SHARE },
	};
	int err, code;

	err = parse(&load, argc, argv);
	if (err)
		return err < 0 ? EXIT_USAGE : EXIT_DONE;
	if (load.is_fleet)
		return run_fleet(&load);
	load.tiers.dir = load.config.dir;
	if (!load.ops->run)
		return load_tiers__run(&load.tiers, load.command, load.config.duration_ns,
				       load.options.quiet);
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
