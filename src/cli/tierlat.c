// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <core/clock.h>
#include <core/units.h>
#include <print/streams.h>
#include <print/tierlat.h>
#include <probes/tierlat/meter.h>
#include <probes/tierlat/sysfs.h>
#include <session/privilege.h>
#include <store/json.h>
#include <store/recording.h>

#include "cmd.h"
#include "log.h"
#include "options.h"
#include "output.h"

#define INTERVAL_NS 1000000000ULL
#define LEAST_INTERVAL_NS 10000000ULL
#define MOST_INTERVAL_NS (600 * INTERVAL_NS) /* 48 bits of a full queue last 39 minutes */

enum key {
	KEY_MODEL = 0x200,
	KEY_METHOD,
	KEY_MSR_ROOT,
	KEY_ROOT,
	KEY_CPU,
	KEY_BOXES,
	KEY_TIER,
	KEY_WEIGHT,
	KEY_MIN_INSERTS,
	KEY_DELTA,
	KEY_EPSILON,
	KEY_TAKE,
	KEY_RESET,
	KEY_MAX_SHIFT,
	KEY_RAW,
};

struct tierlat {
	struct options options;
	struct tier_config config;
	struct tier_rows_config decision;
	unsigned int cpus[TIER_SOCKETS];
	struct tier_meter *meter;
	struct run *run;
	struct run_probe *probe;
	struct recording recording;
	int room; /* of recording__room() */
	sigset_t signals;
	bool reset; /* nothing is measured */
	bool live; /* -i was given: every interval is printed */
	int code;
};

static const struct argp_option tierlat_options[] = {
	{ "tier", KEY_TIER, "LIST", 0, "These tiers, or all (those that the machine has)", 0 },
	{ "weight", KEY_WEIGHT, "W", 0, "Weight of an interval in the moving mean (0.0625)", 0 },
	{ "min-inserts", KEY_MIN_INSERTS, "N", 0, "Fewer requests give no latency (100)", 0 },
	{ "delta", KEY_DELTA, "D", 0, "Colloid: differences up to this share are none (0.05)", 0 },
	{ "epsilon", KEY_EPSILON, "E", 0, "Colloid: a narrower search begins anew (0.01)", 0 },
	{ "max-shift", KEY_MAX_SHIFT, "S", 0, "Colloid: move no more in an interval (0.02)", 0 },
	{ "raw", KEY_RAW, 0, 0, "Add the counts of every CHA to the rows of --csv, --json and -o",
	  0 },
	{ "method", KEY_METHOD, "NAME", 0, "perf or msr; by default what there is", 0 },
	{ "take", KEY_TAKE, 0, 0, "msr: also counters that somebody else uses", 0 },
	{ "reset", KEY_RESET, 0, 0, "msr: set the counters to the state after power-on, and exit",
	  0 },
	{ "boxes", KEY_BOXES, "N", 0, "msr: there are N CHAs on a socket", 0 },
	{ "cpu", KEY_CPU, "LIST", 0, "msr: read on these CPUs, one a socket", 0 },
	{ "msr-root", KEY_MSR_ROOT, "DIR", 0, "msr: registers in DIR/N/msr, not /dev/cpu", 0 },
	{ "model", KEY_MODEL, "NAME", 0, "Take the events and registers of this CPU", 0 },
	{ "sysfs-root", KEY_ROOT, "DIR", OPTION_HIDDEN, 0, 0 },
	{ 0 },
};

static const char tierlat_doc[] =
	"Measures the mean latency of memory reads that miss the caches, by socket and tier "
	"(local DDR, remote DDR, persistent memory, CXL), under the load there is: from the "
	"uncore counters of the caching and home agents (CHA). Prints what Colloid would move "
	"between two of these.\v"
	"Examples:\n"
	"  sudo latscope tierlat -i 1s               a line a tier every second\n"
	"  sudo latscope tierlat -d 10s --csv        for a script\n"
	"  sudo latscope tierlat -d 1m -i 100ms -o runs/\n"
	"  latscope tierlat --model icx --msr-root DIR --boxes 28\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 this machine cannot.";

static int parse_model(struct tierlat *tierlat, const char *arg)
{
	char names[RUN_TEXT] = "";

	tierlat->config.model = tier_model__find(arg);
	if (tierlat->config.model)
		return 0;
	for (size_t i = 0; tier_models[i]; i++)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s%s",
			 i ? ", " : "", tier_models[i]->name);
	return options__fail(&tierlat->options, "--model '%.32s': one of %s is wanted", arg, names);
}

static int parse_method(struct tierlat *tierlat, const char *arg)
{
	if (!strcmp(arg, "perf"))
		tierlat->config.method = TIER_PERF;
	else if (!strcmp(arg, "msr"))
		tierlat->config.method = TIER_MSR;
	else
		return options__fail(&tierlat->options, "--method '%.32s': perf or msr is wanted",
				     arg);
	return 0;
}

static int parse_cpus(struct tierlat *tierlat, const char *arg)
{
	int nr = sysfs_cpus__parse(arg, tierlat->cpus, TIER_SOCKETS);

	if (nr < 0)
		return options__fail(&tierlat->options,
				     "--cpu '%.64s': one CPU a socket is wanted, as 0,32", arg);
	tierlat->config.cpus = tierlat->cpus;
	tierlat->config.nr_cpus = (unsigned int)nr;
	return 0;
}

static int parse_share(struct tierlat *tierlat, const char *name, const char *arg, double *value)
{
	char *end;

	*value = strtod(arg, &end);
	if (end != arg && !*end && *value > 0 && *value <= 1)
		return 0;
	return options__fail(&tierlat->options, "%s '%.32s': above 0 and up to 1 is wanted", name,
			     arg);
}

static int parse_numbers(struct tierlat *tierlat, int key, const char *arg)
{
	struct options *options = &tierlat->options;
	uint64_t boxes = 0;
	int err;

	switch (key) {
	case KEY_BOXES:
		err = options__count(options, "--boxes", arg, 1, TIER_BOXES, &boxes);
		tierlat->config.boxes = (unsigned int)boxes;
		return err;
	case KEY_MIN_INSERTS:
		return options__count(options, "--min-inserts", arg, 1, 1ULL << 40,
				      &tierlat->config.min_inserts);
	case KEY_WEIGHT:
		return parse_share(tierlat, "--weight", arg, &tierlat->decision.weight);
	case KEY_DELTA:
		return parse_share(tierlat, "--delta", arg, &tierlat->decision.colloid.delta);
	case KEY_MAX_SHIFT:
		return parse_share(tierlat, "--max-shift", arg, &tierlat->decision.max_shift);
	case KEY_EPSILON:
		return parse_share(tierlat, "--epsilon", arg, &tierlat->decision.colloid.epsilon);
	}
	return ARGP_ERR_UNKNOWN;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct tierlat *tierlat = state->input;

	switch (key) {
	case KEY_MODEL:
		return parse_model(tierlat, arg);
	case KEY_METHOD:
		return parse_method(tierlat, arg);
	case KEY_MSR_ROOT:
		tierlat->config.msr_root = arg;
		return 0;
	case KEY_ROOT:
		tierlat->config.root = arg;
		return 0;
	case KEY_CPU:
		return parse_cpus(tierlat, arg);
	case KEY_TIER:
		tierlat->config.tiers = arg;
		return 0;
	case KEY_TAKE:
		tierlat->config.take = true;
		return 0;
	case KEY_RESET:
		tierlat->reset = true;
		return 0;
	case KEY_RAW:
		tierlat->decision.raw = true;
		return 0;
	}
	return parse_numbers(tierlat, key, arg);
}

/* What only one method knows is wrong with the other, not without effect. */
static int check(struct tierlat *tierlat)
{
	const struct tier_config *config = &tierlat->config;
	struct options *options = &tierlat->options;
	char text[UNITS_TEXT];

	if (config->method == TIER_PERF &&
	    (config->msr_root || config->cpus || config->boxes || config->take || tierlat->reset))
		return options__fail(options, "--msr-root, --cpu, --boxes, --take and --reset are "
					      "for --method msr");
	if (tierlat->reset && (options->interval_ns || options->duration_ns || options->output))
		return options__fail(options, "--reset measures nothing: leave out -d, -i and -o");
	if (tierlat->decision.raw && !options->csv && !options->output &&
	    !(options->json && tierlat->live))
		return options__fail(options, "--raw adds rows: use it with --csv, -o, or --json "
					      "and -i");
	/* Registers of another CPU would be programmed as if they were this one's. */
	if (config->msr_root && !config->model)
		return options__fail(options, "--msr-root wants --model, as nothing in DIR says "
					      "what CPU it is of");
	if (!options->interval_ns)
		options->interval_ns = INTERVAL_NS;
	if (options->interval_ns < LEAST_INTERVAL_NS)
		return options__fail(options, "--interval %s is too short: 10 ms is the least",
				     units__duration(text, options->interval_ns));
	if (options->interval_ns > MOST_INTERVAL_NS)
		return options__fail(options,
				     "--interval %s is too long: 10 min is the most, as "
				     "counters wrap",
				     units__duration(text, options->interval_ns));
	return 0;
}

static int parse(struct tierlat *tierlat, int argc, char **argv)
{
	struct argp own = { .options = tierlat_options,
			    .parser = parse_option,
			    .doc = tierlat_doc };
	struct options *options = &tierlat->options;
	int got;

	got = options__parse(options, &own, tierlat, argc, argv, stdout);
	tierlat->live = options->interval_ns;
	if (!got)
		got = check(tierlat);
	if (got < 0)
		log__usage(argv[0], options->error);
	log__set_level(options->quiet ? LOG_QUIET : LOG_NORMAL);
	return got;
}

static int failed(const char *why, const char *todo, int code)
{
	log__error("tierlat", why, todo);
	return code;
}

static int out_of_memory(void)
{
	return failed("out of memory", NULL, EXIT_ERROR);
}

/* Held until the window is over: then everything is put back, and written. */
static void hold_signals(struct tierlat *tierlat)
{
	static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE };
	struct sigaction before;

	sigemptyset(&tierlat->signals);
	for (size_t i = 0; i < sizeof(ending) / sizeof(ending[0]); i++) {
		/* What nohup has set to be ignored stays so. */
		if (ending[i] != SIGHUP || sigaction(SIGHUP, NULL, &before) ||
		    before.sa_handler != SIG_IGN)
			sigaddset(&tierlat->signals, ending[i]);
	}
	sigprocmask(SIG_BLOCK, &tierlat->signals, NULL);
}

/* 4 events a box, of which a machine with four sockets has hundreds. */
static void raise_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int code_of(int err)
{
	return err == -EOPNOTSUPP ? EXIT_CANNOT : EXIT_ERROR;
}

static int open_meter(struct tierlat *tierlat)
{
	char why[TIER_TEXT];
	const char *todo;
	int err;

	raise_files();
	err = tier_meter__open(&tierlat->meter, &tierlat->config, &tierlat->decision, why, &todo);
	if (err == -EINVAL) {
		log__usage("tierlat", why);
		return EXIT_USAGE;
	}
	if (err)
		return failed(why, todo, code_of(err));
	if (tierlat->config.model) {
		snprintf(why, sizeof(why), "by the events of %s, which --model forced",
			 tierlat->config.model->title);
		log__warn("tierlat", why, NULL);
	}
	return EXIT_DONE;
}

/* Counters are open, and whoever restores registers should we die has started. */
static int give_up_privileges(struct tierlat *tierlat)
{
	const struct privilege_needs needs = { .recording = &tierlat->recording };

	return cmd__drop_privileges(&needs);
}

static int open_output(struct tierlat *tierlat)
{
	const struct options *options = &tierlat->options;
	const struct writer *writer = NULL;
	int code, err;

	code = output__create(&tierlat->recording, options->output, options);
	if (!code)
		code = give_up_privileges(tierlat);
	if (code)
		return code;
	if (options->json && tierlat->live)
		recording__add(&tierlat->recording, &writer_live_json);
	err = recording__open(&tierlat->recording, tierlat->run, &writer);
	if (err)
		tierlat->code = output__failed(writer, err);
	if (options->csv)
		table__csv_head(stdout, tierlat->probe->table);
	else if (tierlat->live && !options->json)
		tierlat_print__head(stdout);
	return EXIT_DONE;
}

static void print_rows(const struct tierlat *tierlat)
{
	const struct table *table = tierlat->probe->table;

	if (tierlat->options.csv)
		table__csv_rows(stdout, table);
	else if (tierlat->live && !tierlat->options.json)
		tierlat_print__rows(stdout, table);
	streams__flush();
}

static void warn_of_trouble(struct tierlat *tierlat)
{
	const char *trouble = tier_meter__trouble(tierlat->meter);

	if (trouble)
		log__warn("tierlat", trouble, NULL);
}

/* One interval, which ends now. An exit code: the window goes on as long as it is 0. */
static int take_sample(struct tierlat *tierlat, uint64_t start_ns)
{
	struct run *run = tierlat->run;
	const struct writer *writer = NULL;
	struct run_interval interval = { .start_ns = start_ns };
	char why[TIER_TEXT];
	int err;

	interval.end_ns = clock__now_ns() - run->start_mono_ns;
	err = tier_meter__sample(tierlat->meter, tierlat->probe->table, interval.end_ns, why);
	if (err)
		return failed(why, "what came before is kept", code_of(err));
	warn_of_trouble(tierlat);
	print_rows(tierlat);
	run->duration_ns = interval.end_ns;
	err = recording__interval(&tierlat->recording, run, &interval, &writer);
	if (err)
		tierlat->code = output__failed(writer, err);
	tierlat->room = recording__room(&tierlat->recording, run);
	return EXIT_DONE;
}

/* Until a moment since the window opened. True: a signal came. */
static bool rest(const struct tierlat *tierlat, uint64_t until_ns)
{
	uint64_t now = clock__now_ns() - tierlat->run->start_mono_ns;
	struct timespec left = clock__timespec(until_ns > now ? until_ns - now : 0);
	int got;

	do {
		got = sigtimedwait(&tierlat->signals, NULL, &left);
	} while (got < 0 && errno == EINTR);
	return got > 0;
}

/* Intervals stay on their beat; those that were slept through are left out. */
static int measure(struct tierlat *tierlat)
{
	const struct options *options = &tierlat->options;
	uint64_t start = 0, due = 0, end = options->duration_ns;
	bool over = false;
	int code = EXIT_DONE;

	while (!code && !over) {
		while (due <= start)
			due += options->interval_ns;
		if (end && due > end)
			due = end;
		over = rest(tierlat, due) || (end && due == end);
		code = take_sample(tierlat, start);
		start = tierlat->run->duration_ns;
		if (tierlat->room || (end && start >= end))
			over = true;
	}
	return code;
}

static void print_result(const struct tierlat *tierlat)
{
	const struct options *options = &tierlat->options;

	if (options->json)
		json__print(json__run(tierlat->run), stdout, !tierlat->live);
	else if (!options->csv)
		tierlat_print__summary(stdout, tierlat->run, tierlat->probe);
	streams__flush();
}

/* Restores the registers; `code` if that succeeds. */
static int close_meter(struct tierlat *tierlat, int code)
{
	char why[TIER_TEXT];

	if (!tier_meter__close(tierlat->meter, why))
		return code;
	return failed(why, "reboot, or let perf use them once", EXIT_ERROR);
}

/* The registers first: whatever fails behind them, they are as they were. */
static int finish(struct tierlat *tierlat, int code)
{
	const struct writer *writer = NULL;
	int err;

	tierlat->run->complete = !code && !tierlat->code;
	code = close_meter(tierlat, code);
	err = recording__close(&tierlat->recording, tierlat->run, &writer);
	if (err)
		code = output__failed(writer, err);
	if (tierlat->room && !code)
		code = output__no_room(&tierlat->recording, tierlat->room);
	print_result(tierlat);
	output__show(&tierlat->recording);
	return code ? code : tierlat->code;
}

/* What there is to say of it before it has begun. */
static int describe_run(struct tierlat *tierlat)
{
	struct run *run = tierlat->run;

	tierlat->probe = &run->probes[run->nr_probes++];
	run->interval_ns = tierlat->options.interval_ns;
	if (tier_meter__describe(tierlat->meter, tierlat->probe) ||
	    recording__describe(run, &tierlat->options.recording))
		return out_of_memory();
	recording__start(run);
	return EXIT_DONE;
}

static int run_tierlat(struct tierlat *tierlat)
{
	char why[TIER_TEXT];
	int code;

	hold_signals(tierlat);
	code = open_meter(tierlat);
	if (code)
		return code;
	code = describe_run(tierlat);
	if (!code && tier_meter__begin(tierlat->meter, why))
		code = failed(why, NULL, EXIT_ERROR);
	if (!code) {
		warn_of_trouble(tierlat);
		code = open_output(tierlat);
	}
	if (code)
		return close_meter(tierlat, code);
	return finish(tierlat, measure(tierlat));
}

/* What a killed latscope left, or anybody else. */
static int reset_boxes(const struct tierlat *tierlat)
{
	char done[TIER_TEXT], why[TIER_TEXT];
	const char *todo;
	int err;

	err = tier__reset(&tierlat->config, done, why, &todo);
	if (err == -EINVAL) {
		log__usage("tierlat", why);
		return EXIT_USAGE;
	}
	if (err)
		return failed(why, todo, code_of(err));
	printf("%s\n", done);
	streams__flush();
	return EXIT_DONE;
}

int cmd_tierlat(int argc, char **argv)
{
	struct tierlat tierlat = {
		.options = { .command = argv[0],
			     .groups = OPTIONS_WINDOW | OPTIONS_OUTPUT | OPTIONS_FORMAT },
		.config = { .root = "", .restore = true, .min_inserts = TIER_MIN_INSERTS },
		.decision = { .weight = TIER_WEIGHT,
			      .colloid = { COLLOID_DELTA, COLLOID_EPSILON },
			      .max_shift = COLLOID_MAX_SHIFT },
	};
	int got, code;

	got = parse(&tierlat, argc, argv);
	if (got)
		return got < 0 ? EXIT_USAGE : EXIT_DONE;
	if (tierlat.reset)
		return reset_boxes(&tierlat);
	tierlat.run = calloc(1, sizeof(*tierlat.run));
	if (!tierlat.run)
		return out_of_memory();
	code = run_tierlat(&tierlat);
	recording__free(&tierlat.recording);
	run__free(tierlat.run);
	return code;
}
