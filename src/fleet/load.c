// SPDX-License-Identifier: BSD-2-Clause
#include "load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <core/clock.h>
#include <core/sparse.h>
#include <net/clickhouse_rows.h>
#include <net/gzip.h>

#define TIMEOUT_S 300
#define METRICS 4
#define KERNELS 4
#define MOST_COUNT 400

static const struct {
	const char *probe, *metric;
	unsigned int slot; /* the first one of a typical row */
} metrics[METRICS] = { { "runqlat", "run_queue", 64 },
		       { "memlat", "page_fault", 20 },
		       { "iolat", "device", 240 },
		       { "iolat", "total", 250 } };

static const char *const kernels[KERNELS] = { "6.1.0-31-amd64", "6.1.0-37-amd64", "6.12.12-amd64",
					      "6.12.38-amd64" };

/* splitmix64: from numbers to numbers that look random. */
static uint64_t mix(uint64_t value)
{
	value += 0x9e3779b97f4a7c15;
	value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
	value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
	return value ^ (value >> 31);
}

/* One mode, with a tail; gaps as in a row of few events. */
static int fill(struct sparse *hist, const struct fleet_load_config *config, unsigned int metric,
		uint64_t random)
{
	uint32_t first = metrics[metric].slot + (uint32_t)(random % 8);
	int err = 0;

	sparse__zero(hist);
	hist->sum_ns = hist->max_ns = 0;
	for (uint32_t i = 0; i < config->slots && !err; i++) {
		uint32_t slot = first + i + (i > config->slots / 2 ? 2 * i : 0);
		uint64_t count, ns;

		random = mix(random);
		count = 1 + random % (1 + MOST_COUNT / (1 + (uint64_t)i * i / 16));
		ns = hist_slot_low_ns(slot);
		err = sparse__add_slot(hist, slot, count);
		hist->sum_ns += count * ns;
		hist->max_ns = ns;
	}
	hist->tail = sparse__count_from(hist, hist_slot(8000));
	return err;
}

static int add_row(struct bytes *to, const struct fleet_load_config *config,
		   const struct clickhouse_batch *batch, uint64_t host, uint64_t series,
		   struct sparse *hist, struct fleet_load_result *result)
{
	unsigned int metric = (unsigned int)(series % METRICS);
	char service[48];
	__u64 counts[LAT_COUNTS] = { 0 };
	struct clickhouse_row row = { .probe = metrics[metric].probe,
				      .metric = metrics[metric].metric,
				      .method = "tp_btf",
				      .tail_ns = 8000,
				      .hist = hist };
	uint64_t random = mix(mix(mix(config->seed ^ host << 32) ^ series) ^ batch->number);
	int err = fill(hist, config, metric, random);

	if (err)
		return err;
	snprintf(service, sizeof(service), "service-%02llu.service",
		 (unsigned long long)(series / METRICS));
	counts[LAT_SEEN] = sparse__count(hist);
	if (series < METRICS)
		row.counts = counts;
	else
		row.service = service;
	row.lost_ns_known = true;
	clickhouse_rows__add(to, batch, &row);
	result->rows++;
	result->events += counts[LAT_SEEN];
	return 0;
}

static int add_host(struct bytes *to, const struct fleet_load_config *config, uint64_t minute,
		    uint64_t host, struct sparse *hist, struct fleet_load_result *result)
{
	const struct run_label label = { .key = "role" };
	struct run_label labels[1] = { label };
	char name[32], run[32];
	const struct clickhouse_batch batch = {
		.start_s = config->start_s + 60 * minute,
		.interval_ns = 60000000000ULL,
		.number = (uint32_t)minute,
		.host = name,
		.run = run,
		.kernel = kernels[host % KERNELS],
		.nr_labels = 1,
		.labels = labels,
	};
	int err = 0;

	snprintf(labels[0].value, sizeof(labels[0].value), "%s", host % 3 ? "web" : "db");
	snprintf(name, sizeof(name), "load%05llu", (unsigned long long)host);
	snprintf(run, sizeof(run), "load-%llu", (unsigned long long)config->seed);
	for (uint64_t series = 0; series < config->series && !err; series++)
		err = add_row(to, config, &batch, host, series, hist, result);
	return err;
}

static int send_text(struct post *post, struct bytes *text, struct fleet_load_result *result)
{
	struct post_answer answer;
	size_t len = 0;
	void *packed = gzip__pack(text->at, text->len, true, &len);
	int err = packed ? post__send(post, packed, len, &answer) : -ENOMEM;

	free(packed);
	if (err == -ENOMEM)
		return err;
	bytes__free(&answer.body);
	if (!err && answer.status / 100 == 2) {
		result->requests++;
		result->bytes += len;
		return 0;
	}
	memcpy(result->why, answer.why, sizeof(result->why));
	return err ? err : -EREMOTEIO;
}

/* The hosts first to last - 1, minute by minute. */
static int work(const struct fleet_load_config *config, uint64_t first, uint64_t last,
		struct post *post, struct fleet_load_result *result)
{
	struct sparse hist = { 0 };
	struct bytes text = { 0 };
	int err = 0;

	for (uint64_t minute = 0; minute < config->minutes && !err; minute++) {
		for (uint64_t host = first; host < last && !err; host++) {
			err = add_host(&text, config, minute, host, &hist, result);
			if (!err && text.failed)
				err = -ENOMEM;
			if (err || ((host - first + 1) % config->together && host + 1 < last))
				continue;
			err = send_text(post, &text, result);
			text.len = 0;
		}
	}
	sparse__clear(&hist);
	bytes__free(&text);
	return err;
}

static int run_task(const struct fleet_load_config *config, unsigned int task,
		    struct fleet_load_result *result)
{
	uint64_t first = config->hosts * task / config->tasks;
	uint64_t last = config->hosts * (task + 1) / config->tasks;
	const char *headers[4] = { 0 };
	char url[CLICKHOUSE_URL];
	const struct post_config post_config = { .url = url,
						 .content_type = "text/tab-separated-values",
						 .headers = headers,
						 .is_gzip = true,
						 .timeout_s = TIMEOUT_S,
						 .most = 4096 };
	struct post *post;
	int err;

	for (size_t i = 0; config->address->headers[i]; i++)
		headers[i] = config->address->headers[i];
	clickhouse__url(config->address, CLICKHOUSE_INSERT, url);
	err = post__new(&post, &post_config);
	if (err)
		return err;
	err = work(config, first, last, post, result);
	post__free(post);
	return err;
}

static void add_result(struct fleet_load_result *to, const struct fleet_load_result *from)
{
	to->rows += from->rows;
	to->events += from->events;
	to->requests += from->requests;
	to->bytes += from->bytes;
	if (!to->why[0])
		memcpy(to->why, from->why, sizeof(to->why));
}

static pid_t start(const struct fleet_load_config *config, unsigned int task,
		   struct fleet_load_result *result)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	_exit(-run_task(config, task, result) & 0x7f);
}

/* Waits for all. The first error. */
static int finish(const pid_t *pids, unsigned int nr)
{
	int err = 0, status;

	for (unsigned int i = 0; i < nr; i++) {
		if (waitpid(pids[i], &status, 0) != pids[i] || !WIFEXITED(status))
			err = err ? err : -ECANCELED;
		else if (!err)
			err = -WEXITSTATUS(status);
	}
	return err;
}

int fleet_load__run(const struct fleet_load_config *config, struct fleet_load_result *result)
{
	size_t size = config->tasks * sizeof(*result);
	struct fleet_load_result *results =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t *pids = calloc(config->tasks, sizeof(*pids));
	uint64_t start_ns = clock__now_ns();
	unsigned int nr = 0;
	int err = 0;

	memset(result, 0, sizeof(*result));
	if (results == MAP_FAILED || !pids) {
		err = -ENOMEM;
		goto out;
	}
	for (; nr < config->tasks && !err; nr++) {
		pids[nr] = start(config, nr, &results[nr]);
		if (pids[nr] < 0)
			err = -errno;
	}
	nr -= err != 0;
	err = err ? err : finish(pids, nr);
	for (unsigned int i = 0; i < nr; i++)
		add_result(result, &results[i]);
	result->ns = clock__now_ns() - start_ns;
out:
	if (results != MAP_FAILED)
		munmap(results, size);
	free(pids);
	return err;
}
