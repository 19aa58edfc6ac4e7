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

enum key {
	KEY_LISTEN = 0x200,
	KEY_TOKEN,
	KEY_CGROUPS,
	KEY_MAX_KEYS,
	KEY_RING,
	KEY_RING_DIR,
	KEY_NO_RING,
	KEY_NO_WHY,
	KEY_LAST,
	KEY_TRIGGER,
	KEY_OTLP,
	KEY_OTLP_TEMPORALITY,
	KEY_OTLP_INTERVAL,
	KEY_CLICKHOUSE,
	KEY_CLICKHOUSE_LOGIN,
	KEY_CLICKHOUSE_INTERVAL,
	KEY_CLICKHOUSE_SPOOL,
	KEY_CLICKHOUSE_SIZE,
	KEY_LABEL_ROWS
};

struct service {
	struct options options;
	const char *listen_text, *token_file;
	struct listen_address address;
	uint64_t cgroups, max_keys, ring;
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

static const struct argp_option serve_options[] = {
	{ "listen", KEY_LISTEN, "ADDRESS", 0, "Listen here (" ADDRESS ")", 0 },
	{ "token-file", KEY_TOKEN, "FILE", 0, "Require the token in FILE of every client", 0 },
	{ "cgroups", KEY_CGROUPS, "N", 0, "Export at most N cgroups per metric (100)", 0 },
	{ "max-keys", KEY_MAX_KEYS, "N", 0, "Maximum cgroups per probe; the rest: (other) (1024)",
	  0 },
	{ "otlp", KEY_OTLP, "URL", 0, "Also send the metrics to this OpenTelemetry collector", 0 },
	{ "otlp-temporality", KEY_OTLP_TEMPORALITY, "KIND", 0, "cumulative or delta (cumulative)",
	  0 },
	{ "otlp-interval", KEY_OTLP_INTERVAL, "TIME", 0, "From one sending to the next (60s)", 0 },
	{ .doc = "Many machines:", .group = 1 },
	{ "clickhouse", KEY_CLICKHOUSE, "URL", 0,
	  "Also store rows for 'latscope fleet', such as http://127.0.0.1:8123", 0 },
	{ "clickhouse-login", KEY_CLICKHOUSE_LOGIN, "FILE", 0, "File with USER:PASSWORD", 0 },
	{ "clickhouse-interval", KEY_CLICKHOUSE_INTERVAL, "TIME", 0, "Length of a row (60s)", 0 },
	{ "clickhouse-spool", KEY_CLICKHOUSE_SPOOL, "FILE", 0,
	  "Where rows wait for the server (" CLICKHOUSE_SPOOL_NAME " in the ring's directory)", 0 },
	{ "clickhouse-spool-size", KEY_CLICKHOUSE_SIZE, "SIZE", 0, "Its size on disk (64M)", 0 },
	{ "label", KEY_LABEL_ROWS, "KEY=VALUE", 0, "Add a label to the rows; repeatable", 0 },
	{ .doc = "Flight recorder:", .group = 2 },
	{ "ring", KEY_RING, "SIZE", 0, "Size on disk (256M)", 0 },
	{ "ring-dir", KEY_RING_DIR, "DIR", 0, "Directory (" RECORDER_DIR ")", 0 },
	{ "no-ring", KEY_NO_RING, 0, 0, "No flight recorder", 0 },
	{ "no-why", KEY_NO_WHY, 0, 0, "Do not record what made the slowest 1 % wait", 0 },
	{ "last", KEY_LAST, "TIME", 0, "Length of the snapshots made here (10m)", 0 },
	{ "trigger", KEY_TRIGGER, "CONDITION", 0,
	  "Make a snapshot when it is met: 'runqlat.p99>5ms for 10s'; repeatable", 0 },
	{ 0 },
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

static int parse_trigger(struct service *service, const char *arg)
{
	struct options *options = &service->options;
	struct keeper_config *keeper = &service->keeper;

	if (keeper->nr_triggers == KEEPER_TRIGGERS)
		return options__fail(options, "more than %d options --trigger", KEEPER_TRIGGERS);
	switch (trigger__parse(&keeper->triggers[keeper->nr_triggers], arg)) {
	case 0:
		keeper->nr_triggers++;
		return 0;
	case -ENOENT:
		return options__fail(
			options, "--trigger '%.64s': use p50 to p99.9999, max, mean or rate", arg);
	default:
		return options__fail(options, "--trigger '%.64s': use PROBE.WHAT>LIMIT [for TIME]",
				     arg);
	}
}

static int parse_otlp(struct service *service, const char *arg)
{
	char why[POST_TEXT];

	service->otlp.url = arg;
	switch (post__check(arg, why)) {
	case 0:
	case -ENOPKG: /* not a wrong usage: open_sender() says it */
		return 0;
	}
	return options__fail(&service->options,
			     "--otlp '%.64s': %s; use a URL such as http://127.0.0.1:4318", arg,
			     why);
}

static int parse_temporality(struct service *service, const char *arg)
{
	service->otlp.delta = !strcmp(arg, "delta");
	if (service->otlp.delta || !strcmp(arg, "cumulative"))
		return 0;
	return options__fail(&service->options,
			     "--otlp-temporality '%.64s': use cumulative or delta", arg);
}

static int parse_row_interval(struct service *service, const char *arg)
{
	uint64_t *every = &service->clickhouse.every_ns;
	int err = options__duration(&service->options, "--clickhouse-interval", arg, every);

	if (!err && (*every < CLICKHOUSE_LEAST_NS || *every > CLICKHOUSE_MOST_NS))
		err = options__fail(&service->options,
				    "--clickhouse-interval '%.32s': use 1s to 1h", arg);
	return err;
}

static error_t parse_own(int key, char *arg, struct argp_state *state)
{
	struct service *service = state->input;
	struct options *options = &service->options;

	switch (key) {
	case KEY_LISTEN:
		service->listen_text = arg;
		return 0;
	case KEY_TOKEN:
		service->token_file = arg;
		return 0;
	case KEY_CGROUPS:
		return options__count(options, "--cgroups", arg, 1, MAX_CGROUPS, &service->cgroups);
	case KEY_MAX_KEYS:
		return options__count(options, "--max-keys", arg, 1, 65536, &service->max_keys);
	case KEY_RING:
		return options__size(options, "--ring", arg, RECORDER_LEAST, &service->ring);
	case KEY_RING_DIR:
		service->ring_dir = arg;
		return 0;
	case KEY_LAST:
		return options__duration(options, "--last", arg, &service->keeper.last_ns);
	case KEY_TRIGGER:
		return parse_trigger(service, arg);
	case KEY_OTLP:
		return parse_otlp(service, arg);
	case KEY_OTLP_TEMPORALITY:
		return parse_temporality(service, arg);
	case KEY_OTLP_INTERVAL:
		return options__duration(options, "--otlp-interval", arg, &service->otlp.every_ns);
	case KEY_CLICKHOUSE:
		service->clickhouse.url = arg;
		return 0;
	case KEY_CLICKHOUSE_LOGIN:
		service->clickhouse.login_file = arg;
		return 0;
	case KEY_CLICKHOUSE_INTERVAL:
		return parse_row_interval(service, arg);
	case KEY_CLICKHOUSE_SPOOL:
		service->clickhouse.spool = arg;
		return 0;
	case KEY_CLICKHOUSE_SIZE:
		return options__size(options, "--clickhouse-spool-size", arg, SPOOL_LEAST,
				     &service->clickhouse.spool_most);
	case KEY_LABEL_ROWS:
		return options__label(options, arg);
	case KEY_NO_RING:
		service->ring = 0;
		return 0;
	case KEY_NO_WHY:
		service->skips_why = true;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

/* A login that cannot be read is no wrong usage: open_store() reports it. */
static int check_clickhouse(struct service *service)
{
	char why[POST_TEXT];

	if (clickhouse__address(&service->server, service->clickhouse.url, NULL, why) != -EINVAL)
		return 0;
	return options__fail(&service->options,
			     "--clickhouse '%.64s': %s; use a URL such as http://127.0.0.1:8123",
			     service->clickhouse.url, why);
}

static int parse(struct service *service, int argc, char **argv)
{
	const struct argp own = { .options = serve_options, .parser = parse_own, .doc = serve_doc };
	struct options *options = &service->options;
	int got;

	options->command = "serve";
	options->own_title = "Exporter:";
	options->groups = OPTIONS_WINDOW;
	service->listen_text = ADDRESS;
	service->cgroups = CGROUPS;
	service->max_keys = OPTIONS_MAX_KEYS;
	service->ring = RING;
	service->keeper.last_ns = LAST_NS;
	service->otlp.every_ns = OTLP_EVERY_NS;
	service->clickhouse.every_ns = CLICKHOUSE_EVERY_NS;
	service->clickhouse.spool_most = CLICKHOUSE_SPOOL;
	service->ring_dir = getenv("STATE_DIRECTORY") ? getenv("STATE_DIRECTORY") : RECORDER_DIR;
	got = options__parse(options, &own, service, argc, argv, stdout);
	log__set_level(options->quiet ? LOG_QUIET : LOG_NORMAL);
	if (!got && listen__parse(&service->address, service->listen_text))
		got = options__fail(options, "--listen '%.64s': use ADDRESS:PORT, such as " ADDRESS,
				    service->listen_text);
	if (!got && service->clickhouse.url)
		got = check_clickhouse(service);
	if (!got && service->keeper.nr_triggers && !service->ring)
		got = options__fail(options, "--trigger needs the flight recorder");
	if (got < 0)
		log__usage("serve", options->error);
	return got;
}

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
	service->config.rows = (uint32_t)service->max_keys + 1;
	if (service->ring && !service->skips_why)
		service->config.why = service->run->why_by = 1 + LAT_BY_CGROUP;
	service->why.is_optional = true;
	service->why.skips_stacks = true; /* names need a process with more privileges */
	session__skip_stacks(service->session);
	for (size_t i = 0; probe_list[i]; i++) {
		if (!probe_list[i]->by_default)
			continue;
		configs[nr] = service->config;
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
		.max_series = (unsigned int)service->cgroups,
		.max_keys = (unsigned int)service->max_keys,
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
	config->max_series = (unsigned int)service->cgroups;
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
	struct service service = { 0 };
	int got, code;

	got = parse(&service, argc, argv);
	if (got)
		return got < 0 ? EXIT_USAGE : EXIT_DONE;
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
