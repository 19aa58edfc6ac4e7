// SPDX-License-Identifier: BSD-2-Clause
/* ringlat: the cost of crossing from user to kernel mode and back. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include <cli/cmd.h>
#include <cli/doctor.h>
#include <cli/log.h>
#include <cli/options.h>
#include <cli/output.h>
#include <cli/probe_command.h>
#include <core/clock.h>
#include <core/units.h>
#include <host/host.h>
#include <print/streams.h>
#include <print/text.h>
#include <session/privilege.h>
#include <session/session.h>
#include <store/append_file.h>
#include <store/json.h>
#include <store/recording.h>

#include "command_handler.h"
#include "ringlat.h"
#include "view.h"

struct ringlat {
	struct options options;
	struct ringlat_config config;
	bool histogram;
	bool with_memlat;
	const char *raw; /* file for the stamps; NULL: none */
	struct run *run;
	struct session *session;
	struct recording recording;
	struct restore *lent; /* gives the recording back to root */
};

static int set_method(struct options *options, void *at, const char *text)
{
	const struct ring_method **method = at;

	*method = ring__find(text);
	return *method ? 0 : options__fail(options, "--method '%.64s': unknown method", text);
}

#define OWN struct ringlat
static const char *const others[] = { "xperf", NULL };

static const struct option_row ringlat_rows[] = {
	{ "method", 0, "NAME", "Use only this method: module, kvm or user",
	  OPT_CALL_ON(set_method, config.method) },
	{ "crossings", 'n', "N", "Crossings of each kind (1000000)",
	  OPT_COUNT(config.crossings, 1, 1000000000000) },
	{ "histogram", 0, NULL, "Show the histogram of each direction", OPT_FLAG(histogram) },
	{ "with-memlat", 0, NULL, "Also measure the page-fault handler, and show both together",
	  OPT_FLAG(with_memlat) },
	{ "like", 0, "NAME", "Measure as xperf does: fresh pages, means, nothing subtracted",
	  OPT_CHOICE(config.like_xperf, 1, others, "use xperf") },
	{ "raw", 0, "FILE", "Write the stamps of each crossing to FILE", OPT_TEXT(raw) },
	{ 0 },
};

static const char ringlat_doc[] =
	"Measures the cost of crossing from user to kernel mode and back, by the best method that "
	"works here: module, the crossing into the running kernel and back, by a kernel "
	"module; kvm, the crossing alone, in a private guest that runs nothing else; "
	"user, without privilege, round trips only, which include the kernel's work.\v"
	"Examples:\n"
	"  sudo latscope ringlat                     by the best method here\n"
	"  latscope ringlat --method user --histogram\n"
	"  latscope ringlat --json | jq .ring        for a script\n"
	"  sudo latscope ringlat --with-memlat       the crossing's share of a fault\n"
	"  sudo latscope ringlat --like xperf --raw stamps.csv\n"
	"  sudo latscope ringlat -o runs/            keep a recording\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 not supported here.";

static int check(struct options *options, void *own)
{
	const struct ringlat *ringlat = own;

	if (ringlat->with_memlat && !probe__find("memlat"))
		return options__fail(options, "--with-memlat: this latscope has no memlat");
	if (ringlat->with_memlat && ringlat->config.like_xperf)
		return options__fail(options,
				     "--with-memlat needs warm crossings: leave out --like");
	return 0;
}

static const struct usage ringlat_usage = {
	.groups = OPTIONS_OUTPUT | OPTIONS_FORMAT,
	.rows = ringlat_rows,
	.doc = ringlat_doc,
	.check = check,
};

/* Prints an error and returns the exit code. */
static int failed(const char *why, const char *todo, int code)
{
	log__error("ringlat", why, todo);
	return code;
}

static int out_of_memory(void)
{
	return failed("out of memory", NULL, EXIT_ERROR);
}

/* Checks the machine first, so that one message is enough for all methods. */
static int check_machine(void)
{
	const char *why = host__not_x86();

	if (!why)
		return EXIT_DONE;
	log__error("ringlat cannot run on this machine", why, HOST_X86_TODO);
	return EXIT_CANNOT;
}

static void progress(void *arg, uint64_t elapsed_ns, uint64_t duration_ns)
{
	const struct ringlat_config *config = arg;
	const struct ring_result *result = config->result;
	const struct ring_count *count;

	(void)elapsed_ns;
	(void)duration_ns;
	if (!result->nr_events)
		return;
	count = &result->events[result->nr_events - 1];
	log__progress("%s: %llu of %llu", count->event->name, (unsigned long long)count->attempted,
		      (unsigned long long)config->crossings);
}

static void refused(const struct ring_method *method, const char *why)
{
	char what[RUN_TEXT];

	snprintf(what, sizeof(what), "ringlat: method %s does not work here", method->name);
	log__warn(what, why, NULL);
}

static int open_probe(struct ringlat *ringlat)
{
	const struct lat_config config = { .tail_ns = ringlat_probe.tail_ns };
	const struct ring_method *method = ringlat->config.method;
	const struct probe_request request = { .config = &config, .own = &ringlat->config };
	char text[2 * RUN_TEXT];
	const char *why = ringlat->run->probes[0].refused;
	int err;

	ringlat->config.refused = method ? NULL : refused;
	err = session__add(ringlat->session, &ringlat_probe, &request);
	if (!err)
		return EXIT_DONE;
	if (method)
		snprintf(text, sizeof(text), "method %s does not work here: %s", method->name, why);
	else
		snprintf(text, sizeof(text), "no method works here; the last: %s", why);
	return failed(text, "'latscope doctor' explains",
		      err == -EPERM || err == -EACCES ? EXIT_ERROR : EXIT_CANNOT);
}

/* What the user can do: try again, or use the method with the fewest requirements. */
static const char *todo_undisturbed(const struct ring_method *method)
{
	return !strcmp(method->name, "user") ? "try a quieter machine, or more crossings (-n)"
					     : "try --method user, or a quieter machine";
}

static int measure(struct ringlat *ringlat)
{
	struct session_config config = {
		.interval_ns = ringlat->run->interval_ns,
		.keeps_privileges =
			ringlat->with_memlat, /* memlat's programs are still to be loaded */
		.recording = &ringlat->recording,
		.written_later = true,
		.progress = progress,
		.progress_arg = &ringlat->config,
	};
	struct session_result result;
	int err;

	err = session__run(ringlat->session, &config, &result);
	log__progress_end();
	if (!err)
		return EXIT_DONE;
	if (result.fault == SESSION_PRIVILEGE)
		return cmd__privileges_kept(result.why);
	return failed(result.why,
		      err == -ENODATA ? todo_undisturbed(ringlat->config.result->method) : NULL,
		      err == -ENODATA ? EXIT_CANNOT : EXIT_ERROR);
}

/* If memlat is refused, ringlat continues without it. */
static int add_handler(struct ringlat *ringlat)
{
	struct run_probe *probe = &ringlat->run->probes[ringlat->run->nr_probes];
	char why[RUN_TEXT];
	int err;

	if (!ringlat->with_memlat || ringlat->config.result->interrupted)
		return EXIT_DONE;
	err = ringlat__measure_handler(probe, why);
	if (err)
		return failed(why, NULL, EXIT_ERROR);
	ringlat->run->nr_probes++;
	if (probe->refused[0])
		log__refused(probe->name, NULL, probe->refused);
	return EXIT_DONE;
}

static int describe(struct ringlat *ringlat)
{
	struct run *run = ringlat->run;

	run->interval_ns = UNITS_MAX_NS; /* there are no intervals */
	return recording__describe(run, &ringlat->options.recording) ? out_of_memory() : EXIT_DONE;
}

/* The whole window is one interval: nothing is sampled over time here. */
static int record(struct ringlat *ringlat)
{
	struct recording *recording = &ringlat->recording;
	struct run *run = ringlat->run;
	struct run_data *data = calloc(run->nr_probes, sizeof(*data));
	struct run_interval interval = { .end_ns = run->duration_ns, .delta = data };
	const struct writer *writer = NULL;
	int err, told, closed;

	if (!data)
		return out_of_memory();
	for (unsigned int i = 0; i < run->nr_probes; i++)
		data[i] = run->probes[i].total;
	err = recording__open(recording, run, &writer);
	told = recording__interval(recording, run, &interval, err ? NULL : &writer);
	err = err ? err : told;
	run->complete = !err;
	closed = recording__close(recording, run, err ? NULL : &writer);
	err = err ? err : closed;
	free(data);
	if (err)
		return output__failed(writer, err);
	output__show(recording);
	return EXIT_DONE;
}

static int print_json(const struct ringlat *ringlat)
{
	struct json_object *object = json__run(ringlat->run);

	if (object)
		json_object_object_add(object, "ring",
				       ringlat__json(ringlat->config.result, ringlat->histogram));
	return json__print(object, stdout, true);
}

/* `report` prints memlat in full; here, only what it adds to the crossings. */
static void print_text(const struct ringlat *ringlat)
{
	ringlat__print_text(stdout, ringlat->config.result, ringlat->histogram);
	fault_cost__print(stdout, ringlat->run);
}

/* main() checks whether stdout could be written. */
static int print(const struct ringlat *ringlat)
{
	if (ringlat->options.json)
		return print_json(ringlat) ? out_of_memory() : EXIT_DONE;
	if (ringlat->options.csv)
		ringlat__print_csv(stdout, ringlat->config.result, ringlat->histogram);
	else
		print_text(ringlat);
	streams__flush();
	return EXIT_DONE;
}

/* Interrupted before anything was measured: prints so, and records nothing. */
static int finish_empty(struct ringlat *ringlat)
{
	ringlat->run->nr_probes = 0;
	log__note("interrupted before anything was measured");
	recording__discard(&ringlat->recording);
	return print(ringlat);
}

/* Does what the session would have done: then the directory is written, or removed. */
static int give_up_privileges(struct ringlat *ringlat)
{
	const struct privilege_needs needs = {
		.recording = &ringlat->recording,
		.removes_dir = true,
		.times_calls = true,
	};

	return cmd__drop_privileges(&needs);
}

/* The crossings are measured: print and keep them, whatever else fails. */
static int finish(struct ringlat *ringlat)
{
	struct run *run = ringlat->run;
	int dropped = EXIT_DONE, added, printed, kept;

	if (!ringlat->config.result->nr_events)
		return finish_empty(ringlat);
	added = add_handler(ringlat);
	if (ringlat->with_memlat)
		dropped = give_up_privileges(ringlat);
	if (!dropped && privilege__keep_dir())
		dropped = cmd__privileges_kept(NULL);
	run->duration_ns = clock__now_ns() - run->start_mono_ns;
	printed = print(ringlat);
	kept = dropped ? dropped : record(ringlat);
	return added ? added : printed ? printed : kept;
}

static int raw_failed(const struct ringlat *ringlat, const char *why, const char *todo)
{
	char what[PATH_MAX + RUN_TEXT];

	snprintf(what, sizeof(what), "cannot write stamps to %s", ringlat->raw);
	log__error(what, why, todo);
	return EXIT_ERROR;
}

static int open_raw(struct ringlat *ringlat)
{
	int err = ringlat->raw ? append_file__open(&ringlat->config.raw, ringlat->raw, true) : 0;

	return err ? raw_failed(ringlat, append_file__explain(err), "choose another file")
		   : EXIT_DONE;
}

/* What was not written shows here at the latest. */
static int close_raw(struct ringlat *ringlat, int code)
{
	bool failed_before = ringlat->config.raw && ferror(ringlat->config.raw);

	errno = 0;
	if (!ringlat->config.raw || (!fclose(ringlat->config.raw) && !failed_before))
		return code;
	return raw_failed(ringlat, errno ? strerror(errno) : "not all was written", NULL);
}

/* Checks the machine first: if it fails, no directory is made. */
static int run_ringlat(struct ringlat *ringlat)
{
	const struct options *options = &ringlat->options;
	int code = check_machine();

	if (!code && ringlat->with_memlat) /* before anything is measured */
		code = cmd__check_kernel("ringlat --with-memlat", options->verbose);
	if (!code && session__new(&ringlat->session, ringlat->run))
		code = out_of_memory();
	if (!code)
		code = open_raw(ringlat);
	if (!code)
		code = open_probe(ringlat);
	if (!code)
		code = output__create(&ringlat->recording, options->output, options);
	if (!code)
		code = output__lend(&ringlat->lent, &ringlat->recording);
	if (!code)
		code = describe(ringlat);
	if (!code)
		code = measure(ringlat);
	session__free(ringlat->session);
	if (!code)
		return close_raw(ringlat, finish(ringlat));
	recording__discard(&ringlat->recording);
	return close_raw(ringlat, code);
}

static int run_command(int argc, char **argv)
{
	struct ringlat ringlat = { .config = { .crossings = RING_DEFAULT_CROSSINGS } };
	int code = options__begin(&ringlat.options, &ringlat_usage, &ringlat, argc, argv);

	if (code != OPTIONS_RUN)
		return code;
	ringlat.run = calloc(1, sizeof(*ringlat.run));
	ringlat.config.result = calloc(1, sizeof(*ringlat.config.result));
	if (ringlat.run && ringlat.config.result)
		code = run_ringlat(&ringlat);
	else
		code = out_of_memory();
	code = output__end(ringlat.lent, &ringlat.recording, code);
	run__free(ringlat.run);
	free(ringlat.config.result);
	return code;
}

static void print_refused(const struct ring_method *method, const char *why)
{
	doctor__finding(" ", method->name, "no", why);
}

static void examine(void)
{
	char why[RUN_TEXT];
	struct ring *ring;
	bool works = false;

	printf("\nringlat: crossings between user and kernel mode\n");
	if (doctor__not_x86("all"))
		return;
	for (size_t i = 0; ring_methods[i]; i++) {
		if (ring__open(&ring, ring_methods[i], false, print_refused, why))
			continue;
		ring__close(ring);
		doctor__finding(works ? " " : "*", ring_methods[i]->name, "yes",
				ring_methods[i]->mechanism);
		works = true;
	}
}

static const char *method(unsigned int nth, const char **about)
{
	if (ring_methods[nth])
		*about = ring_methods[nth]->mechanism;
	return ring_methods[nth] ? ring_methods[nth]->name : NULL;
}

const struct probe_command ringlat_command = {
	.ops = &ringlat_probe,
	.run = run_command,
	.examine = examine,
	.method = method,
};
