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
#include <fleet/load.h>

#include "cmd.h"
#include "load_help.h"
#include "log.h"
#include "options.h"

#define DURATION_NS 10000000000ULL

#define FLEET_NS 300000000000ULL
#define FLEET_TASKS 2
#define FLEET_TIMEOUT_S 30
#define MINUTE_NS 60000000000ULL

#define MOST_BLOCK (64ULL << 20)
#define LEAST_PARTS 4 /* blocks of a process's part of the file */

struct load {
	struct options options;
	struct load_config config;
	const struct load_ops *ops;
	bool for_dio; /* an option that only dio has was given */
	bool for_fleet; /* the same */
	const char *url, *login_file;
	struct clickhouse_address address;
	struct fleet_load_config fleet;
	uint64_t ago_ns;
	bool has_duration;
};

static error_t parse_fleet(struct load *load, int key, char *arg)
{
	struct options *options = &load->options;
	struct fleet_load_config *fleet = &load->fleet;

	switch (key) {
	case LOAD_KEY_CLICKHOUSE:
		load->url = arg;
		break;
	case LOAD_KEY_LOGIN:
		load->login_file = arg;
		break;
	case LOAD_KEY_HOSTS:
		load->for_fleet = true;
		return options__count(options, "--hosts", arg, 1, 1000000, &fleet->hosts);
	case LOAD_KEY_SERIES:
		load->for_fleet = true;
		return options__count(options, "--series", arg, 1, 10000, &fleet->series);
	case LOAD_KEY_SLOTS:
		load->for_fleet = true;
		return options__count(options, "--slots", arg, 1, 300, &fleet->slots);
	case LOAD_KEY_TOGETHER:
		load->for_fleet = true;
		return options__count(options, "--together", arg, 1, 10000, &fleet->together);
	case LOAD_KEY_AGO:
		load->for_fleet = true;
		return options__duration(options, "--ago", arg, &load->ago_ns);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	load->for_fleet = true;
	return 0;
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
	case LOAD_KEY_PAUSE:
		return options__duration(&load->options, "--pause", arg, &config->pause_ns);
	case LOAD_KEY_SEED:
		return options__count(&load->options, "--seed", arg, 0, UINT32_MAX, &config->seed);
	case LOAD_KEY_TASKS:
		err = options__count(&load->options, "--tasks", arg, 1, LOAD_MAX_TASKS, &tasks);
		config->tasks = (unsigned int)tasks;
		return err;
	case LOAD_KEY_DIR:
		config->dir = arg;
		return 0;
	case LOAD_KEY_SIZE:
		return options__size(&load->options, "--size", arg, 1 << 16, &config->bytes);
	case LOAD_KEY_BLOCK:
		return options__size(&load->options, "--block", arg, LOAD_BLOCK, &config->block);
	case LOAD_KEY_WRITES:
		load->for_dio = true;
		return options__percent(&load->options, "--writes", arg, 0, 100, &config->writes);
	case LOAD_KEY_SEQUENTIAL:
		load->for_dio = config->sequential = true;
		return 0;
	}
	return parse_fleet(load, key, arg);
}

static int find_kind(struct load *load)
{
	const char *name = load->options.nr_args ? load->options.args[0] : NULL;
	char names[RUN_TEXT] = "";
	size_t used = 0;

	load->ops = name ? load__find(name) : NULL;
	if (load->for_fleet && load->ops != &load_fleet)
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
					      "are not for fleet");
	if (!load->url)
		return options__fail(options, "fleet needs --clickhouse URL");
	if (clickhouse__address(&load->address, load->url, NULL, why) == -EINVAL)
		return options__fail(options,
				     "--clickhouse '%.64s': %s; use a URL such as "
				     "http://127.0.0.1:8123",
				     load->url, why);
	if (!load->has_duration)
		load->config.duration_ns = FLEET_NS;
	if (config->duration_ns < MINUTE_NS)
		return options__fail(options, "--duration: fleet needs a minute or more");
	return 0;
}

/* 0: continue; 1: the help was printed; -EINVAL: the error was printed. */
static int parse(struct load *load, int argc, char **argv)
{
	struct argp own = { .parser = parse_option };
	int got;

	load_help__set(&own, argc, argv);
	got = options__parse(&load->options, &own, load, argc, argv, stdout);
	if (!got)
		got = find_kind(load);
	if (!got)
		got = load->ops == &load_fleet ? check_fleet(load) : check_sizes(load);
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
		.config = { .duration_ns = DURATION_NS, .dir = LOAD_DIR, .writes = LOAD_WRITES },
		.fleet = { .hosts = FLEET_LOAD_HOSTS,
			   .series = FLEET_LOAD_SERIES,
			   .slots = FLEET_LOAD_SLOTS,
			   .together = FLEET_LOAD_TOGETHER },
	};
	int err, code;

	err = parse(&load, argc, argv);
	if (err)
		return err < 0 ? EXIT_USAGE : EXIT_DONE;
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
