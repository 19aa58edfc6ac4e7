// SPDX-License-Identifier: BSD-2-Clause
#include "bpf_steps.h"

#include <stdio.h>
#include <string.h>

#include <core/clock.h>

#include "read.h"
#include "renew.h"

/* Fills in what is known only after the window. */
static void conclude(struct bpf_probe *probe)
{
	struct run_probe *entry = probe->common.entry;

	cost__missed(&probe->cost, probe, entry);
	if (probe->ops->count_unseen)
		probe->ops->count_unseen(probe, entry);
	read__names(probe, &entry->total, probe->common.names);
	verify__conclude(&probe->verify, probe, entry);
}

int bpf_probe__describe(struct probe *common)
{
	const struct bpf_probe *probe = bpf_probe(common);
	const struct probe_method *method = probe->method;
	struct run_probe *entry = common->entry;
	char more[RUN_TEXT] = "";

	snprintf(entry->name, sizeof(entry->name), "%s", common->ops->name);
	snprintf(entry->method, sizeof(entry->method), "%s", method->name);
	if (probe->ops->conclude)
		probe->ops->conclude(probe, &entry->total, more);
	snprintf(entry->mechanism, sizeof(entry->mechanism), "%s%s%s%.150s%s%s%s",
		 method->mechanism,
		 probe->config.again && method->end_copy
			 ? "; attached twice, because this kernel preempts programs"
			 : "",
		 more[0] ? "; " : "", more,
		 probe->skipped ? "; the kernel's verifier refused " : "",
		 probe->skipped ? probe->skipped : "",
		 probe->skipped ? ", see 'latscope doctor'" : "");
	entry->nr_metrics = probe->nr_metrics;
	memcpy(entry->metrics, common->ops->metrics, sizeof(entry->metrics));
	if (method->metric) {
		snprintf(entry->metrics[0].name, RUN_NAME, "%s", method->metric);
		snprintf(entry->metrics[0].what, RUN_TEXT, "%s", method->what);
	}
	if (probe->metric)
		entry->metrics[0] = *probe->metric;
	entry->by = probe->config.by;
	if (probe->closed)
		conclude(bpf_probe(common));
	return why__describe(bpf_probe(common));
}

/* ---- the steps through a window ---- */

int bpf_probe__prepare(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);

	(void)at_ns;
	cost__begin(&probe->cost, probe);
	return 0;
}

static int read_account(struct probe *common, enum verify_moment moment)
{
	struct bpf_probe *probe = bpf_probe(common);

	verify__read(&probe->verify, probe, moment);
	return 0;
}

int bpf_probe__before_open(struct probe *common, uint64_t at_ns)
{
	(void)at_ns;
	return read_account(common, VERIFY_BEFORE_OPEN);
}

static void arm(const struct bpf_probe *probe, bool armed)
{
	struct lat_control *control = probe->control;
	__u64 *at_ns = armed ? &control->opened_ns : &control->closed_ns;

	__atomic_store_n(at_ns, clock__now_ns(), __ATOMIC_SEQ_CST);
	__atomic_store_n(&control->armed, armed, __ATOMIC_SEQ_CST);
}

int bpf_probe__arm(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);

	(void)at_ns;
	probe->skipped_at_open = 0;
	probe->skipped_at_open = bpf_probe__skipped_ends(probe);
	arm(probe, true);
	return 0;
}

int bpf_probe__after_open(struct probe *common, uint64_t at_ns)
{
	(void)at_ns;
	return read_account(common, VERIFY_AFTER_OPEN);
}

int bpf_probe__start(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);

	probe->start_ns = at_ns;
	if (probe->ops->count_missed)
		probe->ops->count_missed(probe, false);
	return 0;
}

int bpf_probe__poll(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);

	cost__poll(&probe->cost, probe, at_ns - probe->start_ns, &common->entry->cost);
	why__poll(probe, at_ns);
	return 0;
}

int bpf_probe__before_close(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);

	(void)at_ns;
	if (probe->ops->count_missed)
		probe->ops->count_missed(probe, true);
	return read_account(common, VERIFY_BEFORE_CLOSE);
}

int bpf_probe__disarm(struct probe *common, uint64_t at_ns)
{
	(void)at_ns;
	arm(bpf_probe(common), false);
	return 0;
}

int bpf_probe__in_flight(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);
	struct run_probe *entry = common->entry;
	struct lat_key key = { .by = LAT_BY_PROCESS };
	int err;

	(void)at_ns;
	entry->in_flight_age_known = true;
	probe->oldest = (struct lat_oldest){ 0 };
	err = probe->ops->in_flight(probe, &entry->in_flight, &entry->in_flight_age_known);
	key.id = probe->oldest.tgid;
	if (key.id)
		names__key(common->names, &key, probe->oldest.process, entry->in_flight_of);
	return err;
}

int bpf_probe__after_close(struct probe *common, uint64_t at_ns)
{
	(void)at_ns;
	return read_account(common, VERIFY_AFTER_CLOSE);
}

int bpf_probe__stop(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);

	probe->closed = true;
	cost__end(&probe->cost, probe, at_ns - probe->start_ns, &common->entry->cost);
	return 0;
}

/* Compares the totals, which were just read, with the kernel's account of the window so far. */
static void check_so_far(struct bpf_probe *probe)
{
	struct verify verify = probe->verify;

	verify__read(&verify, probe, VERIFY_AFTER_CLOSE);
	cost__missed(&probe->cost, probe, probe->common.entry);
	verify__conclude(&verify, probe, probe->common.entry);
}

static int renew(struct bpf_probe *probe, uint64_t at_ns)
{
	struct probe *common = &probe->common;
	int err = 0;

	if (probe->renewing)
		err = renew__end(probe, common->entry, common->delta);
	probe->renewing = false;
	if (!err && common->renews && !common->skip_keys && !probe->closed &&
	    renew__is_due(probe, at_ns))
		probe->renewing = !renew__begin(probe, at_ns);
	return err;
}

int bpf_probe__interval(struct probe *common, uint64_t at_ns)
{
	struct bpf_probe *probe = bpf_probe(common);
	struct run_data *total = &common->entry->total;
	int err;

	err = renew(probe, at_ns);
	if (err)
		return err;
	if (common->check)
		verify__read(&probe->verify, probe, VERIFY_BEFORE_CLOSE);
	err = read__interval(probe, total, common->delta, common->names);
	if (common->check)
		check_so_far(probe);
	if (!err)
		err = why__interval(probe, at_ns);
	return !err && probe->ops->tick ? probe->ops->tick(probe, total) : err;
}

const char *bpf_probe__trouble(struct probe *common)
{
	return why__trouble(bpf_probe(common));
}
