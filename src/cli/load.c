// SPDX-License-Identifier: BSD-2-Clause
/* load: built-in workloads. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
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

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

struct load {
	struct options options;
	struct load_config config;
	const struct load_ops *ops;
	uint32_t given; /* options: a bit for each enum key */
	uint64_t tasks;
	const char *url, *login_file;
	struct clickhouse_address address;
	struct fleet_load_config fleet;
	uint64_t ago_ns;
};

enum key {
	KEY_DURATION,
	KEY_TASKS,
	KEY_PAUSE,
	KEY_DIR,
	KEY_SIZE,
	KEY_BLOCK,
	KEY_WRITES,
	KEY_SEQUENTIAL,
	KEY_SEED,
	KEY_CLICKHOUSE,
	KEY_LOGIN,
	KEY_HOSTS,
	KEY_SERIES,
	KEY_SLOTS,
	KEY_TOGETHER,
	KEY_AGO,
	KEYS
};

#define BIT(key) (1U << KEY_##key)
#define BITS_OF_DIO (BIT(BLOCK) | BIT(WRITES) | BIT(SEQUENTIAL))
#define BITS_OF_FLEET                                                                           \
	(BIT(CLICKHOUSE) | BIT(LOGIN) | BIT(HOSTS) | BIT(SERIES) | BIT(SLOTS) | BIT(TOGETHER) | \
	 BIT(AGO))

#define FIRST_KEY 0x200 /* of argp, for options without a letter */
#define DOC 128 /* bytes of the text of an option */
#define AT(field) offsetof(struct load, field)

/* "kind: text; kind: text": the text of a kind alone is shown in its own help. */
static const struct load_option {
	const char *name, *arg;
	enum { TIME, COUNT, SIZE, PERCENT, TEXT, FLAG } unit;
	size_t at;
	uint64_t least, most; /* of COUNT and PERCENT; SIZE has no most */
	const char *doc;
} all_options[KEYS] = {
	[KEY_DURATION] = { "--duration", "TIME", TIME, AT(config.duration_ns), 0, 0,
			   "Run for TIME (10s); fleet: rows of TIME (5m)" },
	[KEY_TASKS] = { "--tasks", "N", COUNT, AT(tasks), 1, LOAD_MAX_TASKS,
			"Number of processes (of mixed: of each kind)" },
	[KEY_PAUSE] = { "--pause", "TIME", TIME, AT(config.pause_ns), 0, 0,
			"Pause of each process between two rounds" },
	[KEY_DIR] = { "--dir", "DIR", TEXT, AT(config.dir), 0, 0,
		      "Directory of the file (" DEFAULT_DIR ")" },
	[KEY_SIZE] = { "--size", "SIZE", SIZE, AT(config.bytes), 1 << 16, 0,
		       "touch: memory in a round (16M each); dio: file (64M); pressure: memory "
		       "limit (32M)" },
	[KEY_BLOCK] = { "--block", "SIZE", SIZE, AT(config.block), LOAD_BLOCK, 0,
			"dio: size of a request (4K)" },
	[KEY_WRITES] = { "--writes", "PERCENT", PERCENT, AT(config.writes), 0, 100,
			 "dio: share of writes among the requests (25)" },
	[KEY_SEQUENTIAL] = { "--sequential", NULL, FLAG, AT(config.sequential), 0, 0,
			     "dio: one block after the other, not at random" },
	[KEY_SEED] = { "--seed", "N", COUNT, AT(config.seed), 0, UINT32_MAX,
		       "Seed of the random numbers (0)" },
	[KEY_CLICKHOUSE] = { "--clickhouse", "URL", TEXT, AT(url), 0, 0,
			     "fleet: server with the tables" },
	[KEY_LOGIN] = { "--clickhouse-login", "FILE", TEXT, AT(login_file), 0, 0,
			"fleet: file with USER:PASSWORD" },
	[KEY_HOSTS] = { "--hosts", "N", COUNT, AT(fleet.hosts), 1, 1000000,
			"fleet: number of hosts (10000)" },
	[KEY_SERIES] = { "--series", "N", COUNT, AT(fleet.series), 1, 10000,
			 "fleet: rows of a host for each minute (60)" },
	[KEY_SLOTS] = { "--slots", "N", COUNT, AT(fleet.slots), 1, 300,
			"fleet: slots of a row that are not empty (40)" },
	[KEY_TOGETHER] = { "--together", "N", COUNT, AT(fleet.together), 1, 10000,
			   "fleet: hosts in a request (100)" },
	[KEY_AGO] = { "--ago", "TIME", TIME, AT(ago_ns), 0, 0,
		      "fleet: first row so long ago (the rows end now)" },
};

static error_t parse_option(int argp_key, char *arg, struct argp_state *state)
{
	struct load *load = state->input;
	struct options *options = &load->options;
	unsigned int key = argp_key == 'd' ? KEY_DURATION : (unsigned int)argp_key - FIRST_KEY;
	const struct load_option *option;
	void *at;

	if (key >= KEYS)
		return ARGP_ERR_UNKNOWN;
	option = &all_options[key];
	at = (char *)load + option->at;
	load->given |= 1U << key;
	switch (option->unit) {
	case TIME:
		return options__duration(options, option->name, arg, at);
	case COUNT:
		return options__count(options, option->name, arg, option->least, option->most, at);
	case SIZE:
		return options__size(options, option->name, arg, option->least, at);
	case PERCENT:
		return options__percent(options, option->name, arg, (double)option->least,
					(double)option->most, at);
	case TEXT:
		*(const char **)at = arg;
		return 0;
	case FLAG:
		*(bool *)at = true;
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
	if (load->given & BITS_OF_FLEET && load->ops != &load_fleet)
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
	if (load->given & BITS_OF_DIO && strcmp(load->ops->name, "dio"))
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

	if (load->given & (BITS_OF_DIO | BIT(SIZE) | BIT(PAUSE)))
		return options__fail(options, "--size, --block, --writes, --sequential and --pause "
					      "are not for fleet");
	if (!load->url)
		return options__fail(options, "fleet needs --clickhouse URL");
	if (clickhouse__address(&load->address, load->url, NULL, why) == -EINVAL)
		return options__fail(options,
				     "--clickhouse '%.64s': %s; use a URL such as "
				     "http://127.0.0.1:8123",
				     load->url, why);
	if (!(load->given & BIT(DURATION)))
		load->config.duration_ns = FLEET_NS;
	if (config->duration_ns < MINUTE_NS)
		return options__fail(options, "--duration: fleet needs a minute or more");
	return 0;
}

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

static const struct kind_help {
	const char *kind, *text, *examples;
	uint32_t keys; /* its options, besides --duration */
} kind_helps[] = {
	{ "touch", "As many processes as CPUs, at most 8.",
	  "  latscope load touch --size 1G\n"
	  "  sudo latscope memlat -- latscope load touch -d 5s\n",
	  BIT(TASKS) | BIT(PAUSE) | BIT(SIZE) },
	{ "hog", "Runs until the time is up or Ctrl-C.",
	  "  sudo latscope runqlat -- latscope load hog -d 5s\n", BIT(TASKS) | BIT(PAUSE) },
	{ "pingpong", "More tasks make more pairs.",
	  "  sudo latscope runqlat -- latscope load pingpong -d 5s\n", BIT(TASKS) | BIT(PAUSE) },
	{ "dio", "The file has no name, so nothing is left behind.",
	  "  latscope load dio --dir /mnt --tasks 8    queue depth 8, the disk of /mnt\n"
	  "  latscope load dio --sequential --writes 100% --block 1M\n"
	  "  sudo latscope iolat -- latscope load dio -d 5s\n",
	  BITS_OF_DIO | BIT(TASKS) | BIT(PAUSE) | BIT(DIR) | BIT(SIZE) | BIT(SEED) },
	{ "pressure", "Needs root, and a memory controller for new cgroups.",
	  "  sudo latscope record --report -- latscope load pressure\n",
	  BIT(TASKS) | BIT(DIR) | BIT(SIZE) | BIT(SEED) },
	{ "mixed", "These are touch, hog, pingpong and dio.",
	  "  sudo latscope record -- latscope load mixed -d 10s\n",
	  BIT(TASKS) | BIT(PAUSE) | BIT(DIR) | BIT(SEED) },
	{ "fleet", "The server needs the tables of 'latscope fleet init'.",
	  "  latscope load fleet --clickhouse http://127.0.0.1:8123 --hosts 100\n",
	  BITS_OF_FLEET | BIT(TASKS) | BIT(SEED) },
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

/* The part of the text that is about the kind. */
static const char *shorten(char doc[DOC], const char *all, const char *kind)
{
	char mark[DOC];
	const char *at;

	snprintf(mark, sizeof(mark), "%s: ", kind);
	at = strstr(all, mark);
	at = at ? at + strlen(mark) : all;
	snprintf(doc, DOC, "%.*s", (int)strcspn(at, ";"), at);
	doc[0] = (char)toupper((unsigned char)doc[0]);
	return doc;
}

/* All options are parsed with any kind; those of other kinds are not shown in its help. */
static const struct argp_option *options_of(const struct kind_help *help)
{
	static struct argp_option options[KEYS + 1];
	static char docs[KEYS][DOC];

	for (int i = 0; i < KEYS; i++) {
		options[i] = (struct argp_option){ .name = all_options[i].name + strlen("--"),
						   .key = i == KEY_DURATION ? 'd' : FIRST_KEY + i,
						   .arg = all_options[i].arg,
						   .doc = all_options[i].doc };
		if (!help)
			continue;
		if (!((help->keys | BIT(DURATION)) & 1U << i))
			options[i].flags = OPTION_HIDDEN;
		options[i].doc = shorten(docs[i], all_options[i].doc, help->kind);
	}
	return options;
}

/* 0: continue; 1: the help was printed; -EINVAL: the error was printed. */
static int parse(struct load *load, int argc, char **argv)
{
	const struct kind_help *help = find_help(argc, argv);
	struct argp own = { .options = options_of(help),
			    .parser = parse_option,
			    .args_doc = help ? help->kind : "KIND",
			    .doc = help ? doc_of(help) : doc_of_all() };
	int got = options__parse(&load->options, &own, load, argc, argv, stdout);

	load->config.tasks = (unsigned int)load->tasks;
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
		.options = { .command = argv[0], .max_args = 1 },
		.config = { .duration_ns = DURATION_NS, .dir = DEFAULT_DIR, .writes = LOAD_WRITES },
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
