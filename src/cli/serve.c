// SPDX-License-Identifier: BSD-2-Clause
/* serve: measures until it is stopped, and shows the result to Prometheus. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <net/listen.h>
#include <probes/kit/why.h>
#include <serve/clickhouse.h>
#include <serve/keeper.h>
#include <serve/otlp.h>
#include <serve/recorder.h>
#include <serve/serve.h>
#include <session/session.h>
#include <store/rundb.h>

#include "cmd.h"
#include "log.h"
#include "options.h"
#include "output.h"

#define ADDRESS "127.0.0.1:9469"
#define CGROUPS 100
#define RING (256ULL << 20)
#define LAST_NS 600000000000ULL
#define MAX_CGROUPS 10000
#define TOKEN 256
#define LEAST_TOKEN 16

struct service {
	struct options options;
	const char *listen_text, *token_file;
	struct listen_address address;
	unsigned int cgroups, max_keys;
	uint64_t ring;
	const char *ring_dir;
	struct keeper_config keeper;
	struct otlp_config otlp; /* url: NULL: none */
	struct clickhouse_config clickhouse; /* the same */
	struct clickhouse_address server;
	char spool[PATH_MAX];
	char token[TOKEN];
	struct lat_config config;
	struct why_request why;
	bool skips_why;
	struct run *run;
	struct session *session;
	struct recording recording;
	struct recorder *recorder;
	struct restore *lent; /* gives the flight recorder's files back to root */
	struct otlp *sender; /* until `serve` has it */
	struct clickhouse *store; /* the same */
	struct serve *serve;
};

static const char serve_doc[] =
	"Measures page-fault, run-queue and block-I/O latency by cgroup until it is stopped, and "
	"exports them to Prometheus at /metrics: as classic histograms, or as native ones if "
	"Prometheus asks for them.\v"
	"Examples:\n"
	"  sudo latscope serve                       on " ADDRESS "\n"
	"  curl http://" ADDRESS "/metrics\n"
	"  sudo latscope serve --listen 0.0.0.0:9469 --token-file /etc/latscope/token\n"
	"  sudo latscope serve --clickhouse http://db:8123 --label role=web\n\n"
	"Exit status: 0 done, 1 error, 2 wrong usage, 77 not supported here.";

/* Is there such a metric? Whether its probe can run on this machine is known later. */
static bool is_measured(const struct trigger *trigger)
{
	const struct probe_ops *ops = probe__find(trigger->probe);

	for (unsigned int i = 0; ops && i < ops->nr_metrics; i++)
		if (!trigger->metric[0] || !strcmp(trigger->metric, ops->metrics[i].name))
			return true;
	return false;
}

static int add_trigger(struct options *options, void *at, const char *text)
{
	struct keeper_config *keeper = at;

	if (keeper->nr_triggers == KEEPER_TRIGGERS)
		return options__fail(options, "more than %d options --trigger", KEEPER_TRIGGERS);
	switch (trigger__parse(&keeper->triggers[keeper->nr_triggers], text)) {
	case 0:
		if (!is_measured(&keeper->triggers[keeper->nr_triggers]))
			return options__fail(options, "--trigger '%.64s': no probe measures that",
					     text);
		keeper->nr_triggers++;
		return 0;
	case -ENOENT:
		return options__fail(
			options, "--trigger '%.64s': use p50 to p99.9999, max, mean or rate", text);
	default:
		return options__fail(options, "--trigger '%.64s': use PROBE.WHAT>LIMIT [for TIME]",
				     text);
	}
}

static int set_otlp(struct options *options, void *at, const char *text)
{
	char why[POST_TEXT];

	*(const char **)at = text;
	switch (post__check(text, why)) {
	case 0:
	case -ENOPKG: /* not a wrong usage: open_sender() says it */
		return 0;
	}
	return options__fail(options, "--otlp '%.64s': %s; use a URL such as http://127.0.0.1:4318",
			     text, why);
}

static int set_row_interval(struct options *options, void *at, const char *text)
{
	uint64_t *every = at;
	int err = options__duration(options, every, text);

	if (!err && (*every < CLICKHOUSE_LEAST_NS || *every > CLICKHOUSE_MOST_NS))
		err = options__fail(options, "--clickhouse-interval '%.32s': use 1s to 1h", text);
	return err;
}

#define OWN struct service
static const char *const temporalities[] = { "cumulative", "delta", NULL };

static const struct option_row serve_rows[] = {
	{ "listen", 0, "ADDRESS", "Listen here (" ADDRESS ")", OPT_TEXT(listen_text) },
	{ "token-file", 0, "FILE", "Require the token in FILE of every client",
	  OPT_TEXT(token_file) },
	{ "cgroups", 0, "N", "Export at most N cgroups per metric (100)",
	  OPT_COUNT(cgroups, 1, MAX_CGROUPS) },
	{ "max-keys", 0, "N", "Maximum cgroups per probe; the rest: (other) (1024)",
	  OPT_COUNT(max_keys, 1, 65536) },
	{ "otlp", 0, "URL", "Also send the metrics to this OpenTelemetry collector",
	  OPT_CALL_ON(set_otlp, otlp.url) },
	{ "otlp-temporality", 0, "KIND", "cumulative or delta (cumulative)",
	  OPT_CHOICE(otlp.delta, 0, temporalities, "use cumulative or delta") },
	{ "otlp-interval", 0, "TIME", "From one sending to the next (60s)",
	  OPT_DURATION(otlp.every_ns) },
	{ .help = "Many machines:" },
	{ "clickhouse", 0, "URL",
	  "Also store rows for 'latscope fleet', such as http://127.0.0.1:8123",
	  OPT_TEXT(clickhouse.url) },
	{ "clickhouse-login", 0, "FILE", "File with USER:PASSWORD",
	  OPT_TEXT(clickhouse.login_file) },
	{ "clickhouse-interval", 0, "TIME", "Length of a row (60s)",
	  OPT_CALL_ON(set_row_interval, clickhouse.every_ns) },
	{ "clickhouse-spool", 0, "FILE",
	  "Where rows wait for the server (" CLICKHOUSE_SPOOL_NAME " in the ring's directory)",
	  OPT_TEXT(clickhouse.spool) },
	{ "clickhouse-spool-size", 0, "SIZE", "Its size on disk (64M)",
	  OPT_SIZE(clickhouse.spool_most, SPOOL_LEAST) },
	{ "label", 0, "KEY=VALUE", "Add a label to the rows; repeatable",
	  OPT_CALL(options__label) },
	{ .help = "Flight recorder:" },
	{ "ring", 0, "SIZE", "Size on disk (256M)", OPT_SIZE(ring, RECORDER_LEAST) },
	{ "ring-dir", 0, "DIR", "Directory (" RECORDER_DIR ")", OPT_TEXT(ring_dir) },
	{ "no-ring", 0, NULL, "No flight recorder", OPT_VALUE(ring, 0) },
	{ "no-why", 0, NULL, "Do not record what made the slowest 1 % wait", OPT_FLAG(skips_why) },
	{ "last", 0, "TIME", "Length of the snapshots made here (10m)",
	  OPT_DURATION(keeper.last_ns) },
	{ "trigger", 0, "CONDITION",
	  "Make a snapshot when it is met: 'runqlat.p99>5ms for 10s'; repeatable",
	  OPT_CALL_ON(add_trigger, keeper) },
	{ 0 },
};

/* A login that cannot be read is no wrong usage: open_store() reports it. */
static int check_clickhouse(struct service *service)
{
	char why[POST_TEXT];

	if (clickhouse__address(&service->server, service->clickhouse.url, NULL, why) != -EINVAL)
		return 0;
	return options__fail(&service->options, "--clickhouse '%.64s': %s", service->clickhouse.url,
			     why);
}

static int check(struct options *options, void *own)
{
	struct service *service = own;

	if (listen__parse(&service->address, service->listen_text))
		return options__fail(options,
				     "--listen '%.64s': use ADDRESS:PORT, such as " ADDRESS,
				     service->listen_text);
	if (service->clickhouse.url && check_clickhouse(service))
		return -EINVAL;
	if (service->keeper.nr_triggers && !service->ring)
		return options__fail(options, "--trigger needs the flight recorder");
	return 0;
}

static const struct usage serve_usage = {
	.groups = OPTIONS_WINDOW,
	.rows = serve_rows,
	.title = "Exporter:",
	.doc = serve_doc,
	.check = check,
};

/* Prints an error and returns the exit code. */
static int failed(const char *what, const char *why, const char *todo)
{
	log__error(what, why, todo);
	return EXIT_ERROR;
}

/* Without blanks at its ends. Only its owner may read the file. */
static int read_token(struct service *service)
{
	char what[PATH_MAX + RUN_TEXT], *end = service->token;
	int fd = open(service->token_file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	ssize_t len;

	snprintf(what, sizeof(what), "cannot use the token in %s", service->token_file);
	if (fd < 0)
		return failed(what, strerror(errno), NULL);
	len = fstat(fd, &st) ? -1 : read(fd, service->token, sizeof(service->token) - 1);
	close(fd);
	if (len < 0)
		return failed(what, strerror(errno), NULL);
	if (!S_ISREG(st.st_mode) || st.st_mode & S_IROTH)
		return failed(what, "everybody may read it", "use chmod 600");
	while (isgraph((unsigned char)*end))
		end++;
	if (end[strspn(end, " \t\r\n")])
		return failed(what, "it is more than one word of 255 letters", NULL);
	*end = '\0';
	if (end - service->token < LEAST_TOKEN)
		return failed(what, "it has less than 16 letters", "use openssl rand -hex 16");
	return EXIT_DONE;
}

static int open_socket(struct service *service, int *socket)
{
	char what[RUN_TEXT];

	*socket = listen__open(&service->address);
	if (*socket == -EBADF)
		return failed("cannot listen", "systemd passed something that is no socket",
			      "see latscope-exporter.socket");
	snprintf(what, sizeof(what), "cannot listen on %s", service->address.text);
	if (*socket < 0)
		return failed(what, strerror(-*socket),
			      *socket == -EADDRINUSE	  ? "choose another with --listen"
			      : *socket == -EADDRNOTAVAIL ? "choose an address of this machine"
							  : NULL);
	if (service->address.is_local || service->token[0])
		return EXIT_DONE;
	close(*socket);
	return failed(what, "other machines could read what runs here",
		      "require a token with --token-file, or listen on 127.0.0.1 behind a proxy "
		      "with TLS");
}

static int open_probes(struct service *service)
{
	struct lat_config configs[RUN_PROBES];
	struct opening openings[RUN_PROBES];
	unsigned int nr = 0;
	bool any = false;

	service->config.by = 1U << LAT_BY_CGROUP;
	service->config.rows = service->max_keys + 1;
	if (service->ring && !service->skips_why)
		service->config.why = service->run->why_by = 1 + LAT_BY_CGROUP;
	service->why.is_optional = true;
	service->why.skips_stacks = true; /* names need a process with more privileges */
	session__skip_stacks(service->session);
	for (size_t i = 0; probe_list[i]; i++) {
		if (!probe_list[i]->by_default && !probe_list[i]->accounts)
			continue;
		configs[nr] = service->config;
		if (probe_list[i]->accounts) /* its sums are enough here */
			configs[nr].why = 0;
		configs[nr].tail_ns = probe_list[i]->tail_ns;
		openings[nr] = (struct opening){ .ops = probe_list[i],
						 .request = { .config = &configs[nr],
							      .why = &service->why } };
		nr++;
	}
	session__add_all(service->session, openings, nr);
	for (unsigned int i = 0; i < nr; i++) {
		const struct run_probe *entry = &service->run->probes[i];

		if (openings[i].err)
			log__refused(entry->name, NULL, probe__reason(entry->refused, NULL));
		else
			any = true;
	}
	return any ? EXIT_DONE : EXIT_CANNOT;
}

static void warn(const char *probe, const char *why)
{
	log__warn(probe, why, NULL);
}

static void write_failed(const struct writer *writer, int err)
{
	log__error(writer->ops->name, strerror(-err), NULL);
}

static int explain(const struct session_result *result, int err)
{
	if (result->left_by)
		log__error(result->left_by, result->left, NULL);
	if (!err)
		return EXIT_DONE;
	if (result->fault == SESSION_PRIVILEGE)
		return cmd__privileges_kept(result->why[0] ? result->why : strerror(-err));
	if (result->fault == SESSION_READ && result->probe)
		log__error(result->probe, result->why[0] ? result->why : strerror(-err), NULL);
	else if (result->fault != SESSION_WRITE)
		log__error("serve", strerror(-err), NULL);
	return EXIT_ERROR;
}

static void kept(const char *dir, const char *reason, int err)
{
	char what[RUN_TEXT];

	if (!err) {
		log__note("snapshot for %s in %s", reason, dir);
		return;
	}
	snprintf(what, sizeof(what), "cannot make a snapshot for %.200s", reason);
	log__error(what, rundb__explain(err), NULL);
}

static int open_keeper(struct service *service, struct keeper **keeper)
{
	struct keeper_config *config = &service->keeper;

	for (unsigned int i = 0; i < config->nr_triggers; i++)
		if (!trigger__applies(&config->triggers[i], service->run))
			log__warn(config->triggers[i].text, "no probe here measures that", NULL);
	config->run = service->run;
	config->ring = &service->recording;
	config->done = kept;
	return keeper__new(keeper, config);
}

static void otlp_changed(const char *url, const char *why)
{
	char what[POST_TEXT + 32];

	if (!why) {
		log__note("%s takes metrics again", url);
		return;
	}
	snprintf(what, sizeof(what), "cannot send metrics to %s", url);
	log__error(what, why, NULL);
}

static int measure(struct service *service, int socket)
{
	struct serve_config config = {
		.run = service->run,
		.names = session__names(service->session),
		.socket = socket,
		.token = service->token[0] ? service->token : NULL,
		.max_series = service->cgroups,
		.max_keys = service->max_keys,
		.recorder = service->recorder,
	};
	struct session_config window = {
		.duration_ns = service->options.duration_ns,
		.interval_ns = service->run->interval_ns,
		.write_failed = write_failed,
		.warn = warn,
	};
	struct session_result result;
	int err;

	config.otlp = service->sender;
	config.clickhouse = service->store;
	err = config.recorder ? open_keeper(service, &config.keeper) : 0;
	if (!err)
		err = serve__new(&service->serve, &config);
	if (err) {
		close(socket);
		return failed("serve", strerror(-err), NULL);
	}
	service->sender = NULL; /* now of `serve` */
	service->store = NULL;
	serve__attach(service->serve, &window, &service->recording);
	log__note("listening on http://%s/", service->address.text);
	err = session__run(service->session, &window, &result);
	return explain(&result, err);
}

static int open_recorder(struct service *service)
{
	char what[PATH_MAX + RUN_TEXT];
	int err;

	if (!service->ring)
		return EXIT_DONE;
	err = recorder__new(&service->recorder, service->run, &service->recording,
			    service->ring_dir, service->ring);
	if (!err)
		return output__lend(&service->lent, &service->recording);
	snprintf(what, sizeof(what), "cannot keep a flight recorder in %s", service->ring_dir);
	return failed(what, rundir__explain(err), "choose another directory with --ring-dir");
}

static int open_sender(struct service *service)
{
	char why[POST_TEXT];
	int err;

	if (!service->otlp.url)
		return EXIT_DONE;
	if (post__check(service->otlp.url, why))
		return failed("cannot send metrics", why, NULL);
	service->otlp.changed = otlp_changed;
	err = otlp__new(&service->sender, &service->otlp);
	if (err == -EINVAL)
		return failed("cannot use " OTLP_HEADERS, "it is not a list of name=value",
			      "separate the pairs by commas");
	return err ? failed("serve", strerror(-err), NULL) : EXIT_DONE;
}

static void store_changed(const char *url, const char *why)
{
	char what[POST_TEXT + 32];

	if (!why) {
		log__note("%s takes rows again", url);
		return;
	}
	snprintf(what, sizeof(what), "cannot store rows in %s", url);
	log__error(what, why, "they wait in the spool");
}

static void store_dropped(const char *url, uint64_t rows, const char *why)
{
	char what[POST_TEXT + 64];

	snprintf(what, sizeof(what), "%llu rows are dropped: %s does not take them",
		 (unsigned long long)rows, url);
	log__error(what, why, NULL);
}

static int open_store(struct service *service)
{
	struct clickhouse_config *config = &service->clickhouse;
	char what[PATH_MAX + RUN_TEXT], why[POST_TEXT];
	int err;

	if (!config->url)
		return EXIT_DONE;
	snprintf(what, sizeof(what), "cannot use the login in %s",
		 config->login_file ? config->login_file : CLICKHOUSE_USER);
	err = clickhouse__address(&service->server, config->url, config->login_file, why);
	if (err == -ENOPKG) {
		log__error("serve", why, NULL);
		return EXIT_CANNOT;
	}
	if (err)
		return failed(what, why, "use a file with USER:PASSWORD and chmod 600");
	if (!config->spool) {
		snprintf(service->spool, sizeof(service->spool), "%s/%s", service->ring_dir,
			 CLICKHOUSE_SPOOL_NAME);
		config->spool = service->spool;
	}
	config->max_series = service->cgroups;
	config->changed = store_changed;
	config->dropped = store_dropped;
	config->nr_labels = service->options.recording.nr_labels;
	memcpy(config->labels, service->options.recording.labels, sizeof(config->labels));
	err = clickhouse__new(&service->store, config, &service->server);
	snprintf(what, sizeof(what), "cannot use the spool %s", config->spool);
	if (err)
		return failed(what,
			      err == -EBUSY	? "another latscope uses it"
			      : err == -EREMCHG ? "it is of another user"
			      : err == -EEXIST	? "it has something else in it"
						: rundir__explain(err),
			      "choose another file with --clickhouse-spool");
	if (clickhouse__counts(service->store).spool.was_set_aside)
		log__warn(what, "it is damaged, or of an earlier version",
			  "it is kept with .old after its name, and a new one is begun");
	return EXIT_DONE;
}

/* The socket first: an error there needs no probe. */
static int run_service(struct service *service)
{
	const struct recording_settings none = { 0 };
	int socket = -1, code;

	code = service->token_file ? read_token(service) : EXIT_DONE;
	if (!code)
		code = open_socket(service, &socket);
	if (code)
		return code;
	code = cmd__check_kernel("serve", service->options.verbose);
	if (!code && session__new(&service->session, service->run))
		code = failed("serve", "out of memory", NULL);
	if (!code && recording__describe(service->run, &none))
		code = failed("serve", "out of memory", NULL);
	if (!code)
		code = open_sender(service);
	if (!code)
		code = open_store(service);
	if (!code)
		code = open_probes(service);
	if (!code)
		code = open_recorder(service);
	if (code)
		close(socket);
	else
		code = measure(service, socket);
	return code;
}

int cmd_serve(int argc, char **argv)
{
	struct service service = {
		.listen_text = ADDRESS,
		.cgroups = CGROUPS,
		.max_keys = OPTIONS_MAX_KEYS,
		.ring = RING,
		.ring_dir = getenv("STATE_DIRECTORY") ?: RECORDER_DIR,
		.keeper = { .last_ns = LAST_NS },
		.otlp = { .every_ns = OTLP_EVERY_NS },
		.clickhouse = { .every_ns = CLICKHOUSE_EVERY_NS, .spool_most = CLICKHOUSE_SPOOL },
	};
	int code = options__begin(&service.options, &serve_usage, &service, argc, argv);

	if (code != OPTIONS_RUN)
		return code;
	service.run = calloc(1, sizeof(*service.run));
	if (!service.run)
		return failed("serve", "out of memory", NULL);
	service.run->interval_ns =
		service.options.interval_ns ? service.options.interval_ns : SERVE_INTERVAL_NS;
	code = run_service(&service);
	session__free(service.session);
	serve__free(service.serve);
	otlp__free(service.sender);
	clickhouse__free(service.store);
	run__free(service.run);
	return output__end(service.lent, &service.recording, code);
}
