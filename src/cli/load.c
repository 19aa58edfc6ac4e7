// SPDX-License-Identifier: BSD-2-Clause
/* load: built-in workloads. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <loadgen/load.h>

#include "cmd.h"
#include "log.h"
#include "options.h"

#define DURATION_NS 10000000000ULL
#define DIR "/var/tmp"

#define MOST_BLOCK (64ULL << 20)
#define LEAST_PARTS 4 /* blocks of a process's part of the file */

enum key {
	KEY_DIR = 0x200,
	KEY_TASKS,
	KEY_PAUSE,
	KEY_SEED,
	KEY_SIZE,
	KEY_BLOCK,
	KEY_WRITES,
	KEY_SEQUENTIAL
};

struct load {
	struct options options;
	struct load_config config;
	const struct load_ops *ops;
	bool for_dio; /* an option that only dio has was given */
};

static const struct argp_option load_options[] = {
	{ "duration", 'd', "TIME", 0, "Run for TIME (10s)", 0 },
	{ "tasks", KEY_TASKS, "N", 0, "Number of processes of each kind", 0 },
	{ "pause", KEY_PAUSE, "TIME", 0, "Pause of each process between two rounds", 0 },
	{ "dir", KEY_DIR, "DIR", 0, "Directory of dio's temporary file (" DIR ")", 0 },
	{ "size", KEY_SIZE, "SIZE", 0, "touch: memory in a round (16M each); dio: the file (64M)",
	  0 },
	{ "block", KEY_BLOCK, "SIZE", 0, "dio: a request (4K)", 0 },
	{ "writes", KEY_WRITES, "PERCENT", 0, "dio: share of writes among the requests (25)", 0 },
	{ "sequential", KEY_SEQUENTIAL, 0, 0, "dio: one block after the other, not at random", 0 },
	{ "seed", KEY_SEED, "N", 0, "Seed of the random numbers (0)", 0 },
	{ 0 },
};

static const char load_intro[] =
	"Runs a load of a KIND until the time is up or Ctrl-C. Needs no privilege and leaves "
	"nothing behind.\vKinds:\n";

static const char load_examples[] =
	"\nExamples:\n"
	"  latscope load mixed -d 10s                all kinds at once\n"
	"  latscope load touch --size 1G             a large region, touched again and again\n"
	"  latscope load dio --dir /mnt --tasks 8    queue depth 8, the disk of /mnt\n"
	"  latscope load dio --sequential --writes 100% --block 1M\n"
	"  sudo latscope runqlat -- latscope load hog -d 5s\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage.";

static const char *load_doc(void)
{
	static char doc[2048];
	size_t used = strlen(strcpy(doc, load_intro));

	for (size_t i = 0; load_kinds[i] && used < sizeof(doc); i++)
		used += (size_t)snprintf(doc + used, sizeof(doc) - used, "  %-9s %s\n",
					 load_kinds[i]->name, load_kinds[i]->help);
	if (used < sizeof(doc))
		snprintf(doc + used, sizeof(doc) - used, "%s", load_examples);
	return doc;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct load *load = state->input;
	struct load_config *config = &load->config;
	uint64_t tasks = 0;
	error_t err;

	switch (key) {
	case 'd':
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
	return ARGP_ERR_UNKNOWN;
}

static int find_kind(struct load *load)
{
	const char *name = load->options.nr_args ? load->options.args[0] : NULL;
	char names[RUN_TEXT] = "";
	size_t used = 0;

	load->ops = name ? load__find(name) : NULL;
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

/* 0: continue; 1: the help was printed; -EINVAL: the error was printed. */
static int parse(struct load *load, int argc, char **argv)
{
	struct argp own = { load_options, parse_option, "KIND", load_doc(), NULL, NULL, NULL };
	int got;

	got = options__parse(&load->options, &own, load, argc, argv, stdout);
	if (!got)
		got = find_kind(load);
	if (!got)
		got = check_sizes(load);
	if (got < 0)
		log__usage(argv[0], load->options.error);
	if (load->options.quiet)
		log__set_level(LOG_QUIET);
	return got;
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
	else if (why)
		log__warn(what, why, "using the page cache; choose another directory with --dir");
	return err;
}

int cmd_load(int argc, char **argv)
{
	struct load load = {
		.options = { .command = argv[0], .max_args = 1 },
		.config = { .duration_ns = DURATION_NS, .dir = DIR, .writes = LOAD_WRITES },
	};
	int err;

	err = parse(&load, argc, argv);
	if (err)
		return err < 0 ? EXIT_USAGE : EXIT_DONE;
	if (load.ops->uses_dir && check_dir(&load))
		return EXIT_ERROR;
	err = load.ops->run(&load.config);
	if (!err)
		return EXIT_DONE;
	log__error(argv[0], err == -ECANCELED ? "a worker process was killed" : strerror(-err),
		   NULL);
	return EXIT_ERROR;
}
