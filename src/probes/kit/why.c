// SPDX-License-Identifier: BSD-2-Clause
#include "why.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <core/clock.h>
#include <core/hist.h>
#include <core/sanitize.h>
#include <core/units.h>
#include <core/why.h>
#include <core/why_traits.h>
#include <host/names.h>
#include <symbols/symbols.h>

#include "bpf_probe.h"
#include "why_candidates.h"
#include "why_pairs.h"
#include "why_requests.h"

#define FIRST_NS 100000000ULL /* of the window, until the first threshold by a quantile */
#define LEAST_SLOW 10 /* samples that a quantile must leave to be a threshold */
#define KEPT 5 /* slow events of an interval */

struct why_reader {
	struct why_request request;
	const struct why_words *words; /* of the probe */
	struct symbols *symbols; /* NULL: stacks get no names */
	struct why_control *control;
	const struct why_cell *cells; /* mapped, one per CPU */
	struct why_pairs pairs;
	const struct why_traits *traits; /* WHY_TRAITS, mapped: runqlat; else NULL */
	size_t cells_size, pairs_size, traits_size;
	struct ring_buffer *events;
	bool has_threshold;
	struct why_candidates candidates; /* until then */
	uint64_t slow, slow_ns; /* of these, what was added up */
	struct lat_hist hist; /* of the metric that is explained, when the threshold was set last */
	uint64_t set_ns; /* when that was, CLOCK_MONOTONIC */
	struct why_event kept[KEPT]; /* slowest of the interval */
	unsigned int nr_kept;
	char trouble[RUN_TEXT]; /* not empty: not said yet */
	bool raised; /* it was said that the threshold was raised */
};

/* All probes that explain samples may have these. */
static const struct why_map common_maps[] = {
	{ "why_cells", 0 },
	{ "why_pairs", WHY_PLACES },
	{ "why_events", 0 }, /* see room_for_events() */
	{ NULL, 0 },
};

/* In bytes. */
static uint32_t room_for_events(const struct bpf_probe *probe)
{
	uint32_t room = probe->why_request.events ? probe->why_request.events : WHY_EVENTS_DEFAULT;
	uint32_t bytes = (uint32_t)sysconf(_SC_PAGESIZE);

	while (bytes < room * (sizeof(struct why_event) + 8)) /* each has a header */
		bytes *= 2;
	return bytes;
}

static uint32_t entries_of(const struct bpf_probe *probe, const struct why_map *map)
{
	if (!strcmp(map->name, "why_events"))
		return room_for_events(probe);
	return map->entries ? map->entries : (uint32_t)probe->cpus;
}

static int size_maps(struct bpf_probe *probe, const struct why_map *maps)
{
	struct bpf_map *map;
	int err = 0;

	for (; !err && maps && maps->name; maps++) {
		map = bpf_object__find_map_by_name(probe->obj, maps->name);
		if (map && probe->config.why)
			err = bpf_map__set_max_entries(map, entries_of(probe, maps));
		else if (map)
			err = bpf_map__set_autocreate(map, false);
	}
	return err;
}

int why__size(struct bpf_probe *probe)
{
	int err = size_maps(probe, common_maps);

	return err ? err : size_maps(probe, probe->ops->why_maps);
}

/* Keeps the slowest of the interval. */
static void keep_slowest(struct why_reader *reader, const struct why_event *event)
{
	unsigned int least = 0;

	if (reader->nr_kept < KEPT) {
		reader->kept[reader->nr_kept++] = *event;
		return;
	}
	for (unsigned int i = 1; i < KEPT; i++)
		if (reader->kept[i].ns < reader->kept[least].ns)
			least = i;
	if (event->ns > reader->kept[least].ns)
		reader->kept[least] = *event;
}

static void note_request(struct bpf_probe *probe, const struct why_event *event);

static int take_event(void *context, void *data, size_t size)
{
	struct bpf_probe *probe = context;
	struct why_reader *reader = probe->why;
	const struct why_event *event = data;

	if (size < sizeof(*event))
		return 0;
	if (reader->words->requests && !event->unwaited)
		note_request(probe, event);
	if (reader->symbols && event->user_size > 0)
		symbols__note(reader->symbols, event->stack_tgid, clock__now_ns());
	if (!event->unwaited)
		keep_slowest(reader, event);
	return event->is_candidate ? why_candidates__add(&reader->candidates, event) : 0;
}

int why__open(struct bpf_probe *probe, struct why_control *control,
	      const struct why_request *request)
{
	struct why_reader *reader;

	if (!probe->config.why)
		return 0;
	reader = calloc(1, sizeof(*reader));
	if (!reader)
		return -ENOMEM;
	probe->why = reader;
	reader->request = *request;
	reader->control = control;
	reader->words = why__words(probe->common.ops->name);
	if (reader->words->traits)
		reader->traits =
			bpf_probe__map(probe, "why_traits", PROT_READ, &reader->traits_size);
	reader->cells = bpf_probe__map(probe, "why_cells", PROT_READ, &reader->cells_size);
	reader->pairs.pairs =
		bpf_probe__map(probe, "why_pairs", PROT_READ | PROT_WRITE, &reader->pairs_size);
	reader->events = ring_buffer__new(
		bpf_map__fd(bpf_object__find_map_by_name(probe->obj, "why_events")), take_event,
		probe, NULL);
	if (!reader->cells || !reader->pairs.pairs || !reader->events)
		return -errno;
	reader->has_threshold = request->over_ns;
	control->over_ns = control->event_ns = request->over_ns ? request->over_ns : UINT64_MAX;
	control->least_ns = request->over_ns ? request->over_ns : WHY_LEAST_NS;
	return request->counts_latscope ? 0 : bpf_probe__iterate(probe, "find_latscope");
}

void why__close(struct bpf_probe *probe)
{
	struct why_reader *reader = probe->why;

	if (!reader)
		return;
	bpf_probe__unmap(reader->cells, reader->cells_size);
	bpf_probe__unmap(reader->pairs.pairs, reader->pairs_size);
	bpf_probe__unmap(reader->traits, reader->traits_size);
	ring_buffer__free(reader->events);
	why_candidates__clear(&reader->candidates);
	free(reader);
	probe->why = NULL;
}

int why__describe(struct bpf_probe *probe)
{
	struct run_probe *entry = probe->common.entry;

	int err;

	if (!probe->config.why || entry->why)
		return 0;
	err = why__new(&entry->why, entry->name);
	if (!err)
		entry->why->over_low_ns = entry->why->over_high_ns = probe->why_request.over_ns;
	return err;
}

/* `text`: see struct bpf_probe_ops. */
static void learn(struct bpf_probe *probe, char *text, size_t size)
{
	if (probe->ops->learn)
		probe->ops->learn(probe, text, size);
}

/* ---- the threshold ---- */

/* The least value of which no more than `most` samples are at or above: an edge of a slot. */
static uint64_t edge_of_most(const struct lat_hist *hist, uint64_t most)
{
	uint64_t above = 0;
	int slot = HIST_OVERFLOW_SLOT;

	for (; slot >= 0; slot--) {
		above += hist->slots[slot];
		if (above > most)
			break;
	}
	return slot < HIST_OVERFLOW_SLOT ? hist_slot_low_ns((uint32_t)slot + 1) : UINT64_MAX;
}

static uint64_t count_from(const struct lat_hist *hist, uint64_t ns)
{
	uint64_t count = 0;

	for (uint32_t slot = hist_slot(ns); slot < HIST_SLOTS; slot++)
		count += hist->slots[slot];
	return count;
}

/* Where too many samples would be slow, the threshold is raised. */
static uint64_t limit_rate(struct why_reader *reader, const struct lat_hist *hist, uint64_t over_ns,
			   uint64_t span_ns)
{
	uint64_t per_second = reader->request.over_ns ? WHY_MOST_SLOW : WHY_MOST_CHOSEN;
	uint64_t least = edge_of_most(hist, per_second * span_ns / 1000000000);
	char asked[UNITS_TEXT], rate[UNITS_TEXT], used[UNITS_TEXT];

	if (least <= over_ns)
		return over_ns;
	if (!reader->raised && reader->request.over_ns) {
		snprintf(reader->trouble, RUN_TEXT,
			 "over %s: %s samples; only those over %s are explained",
			 units__duration(asked, over_ns),
			 units__rate(rate,
				     (double)count_from(hist, over_ns) * 1e9 / (double)span_ns),
			 units__ns(used, (double)least));
		reader->raised = true;
	}
	return least;
}

static void use_threshold(struct bpf_probe *probe, uint64_t over_ns, uint64_t event_ns)
{
	struct run_why *why = probe->common.entry->why;
	struct why_reader *reader = probe->why;

	__atomic_store_n(&reader->control->event_ns, event_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&reader->control->over_ns, over_ns, __ATOMIC_RELAXED);
	__atomic_store_n(&reader->control->least_ns, over_ns, __ATOMIC_RELAXED);
	reader->has_threshold = true;
	if (!why->over_low_ns || over_ns < why->over_low_ns)
		why->over_low_ns = over_ns;
	if (over_ns > why->over_high_ns)
		why->over_high_ns = over_ns;
}

/* false: there are too few samples, so the threshold stays as it is. */
static bool set_threshold(struct bpf_probe *probe, const struct lat_hist *hist, uint64_t span_ns)
{
	struct why_reader *reader = probe->why;
	double quantile = reader->request.quantile ? reader->request.quantile : WHY_QUANTILE;
	uint64_t over = reader->request.over_ns, event, count = hist__count(hist);

	if (!over) {
		if ((double)count * (1 - quantile) < LEAST_SLOW)
			return false;
		over = hist_slot_low_ns(hist_slot(hist__quantile_of(hist, count, quantile)));
		over = over < WHY_LEAST_NS ? WHY_LEAST_NS : over;
	}
	over = limit_rate(reader, hist, over, span_ns);
	event = edge_of_most(hist, WHY_WANTED_EVENTS * span_ns / 1000000000);
	use_threshold(probe, over, event > over ? event : over);
	return true;
}

/* By what came since the last time that it was set, if that is long enough. */
static void adapt(struct bpf_probe *probe, uint64_t at_ns)
{
	struct why_reader *reader = probe->why;
	uint64_t since = reader->set_ns ? reader->set_ns : probe->start_ns;
	struct lat_cell now = { 0 };
	struct lat_hist gained;

	if (at_ns < since + FIRST_NS)
		return;
	bpf_probe__add_cells(probe, reader->words->metric, &now);
	hist__delta(&gained, &now.hist, &reader->hist);
	if (!set_threshold(probe, &gained, at_ns - since))
		return;
	reader->hist = now.hist;
	reader->set_ns = at_ns;
}

void why__poll(struct bpf_probe *probe, uint64_t at_ns)
{
	if (!probe->why)
		return;
	probe->why->symbols = probe->common.symbols;
	ring_buffer__consume(probe->why->events);
	learn(probe, NULL, 0);
	if (!probe->why->set_ns)
		adapt(probe, at_ns);
}

const char *why__trouble(struct bpf_probe *probe)
{
	static char said[RUN_TEXT];

	if (!probe->why || !probe->why->trouble[0])
		return NULL;
	snprintf(said, sizeof(said), "%s", probe->why->trouble);
	probe->why->trouble[0] = '\0';
	return said;
}

/* ---- rows ---- */

static void read_cells(const struct bpf_probe *probe, struct run_why *why)
{
	why->slow = probe->why->slow;
	why->slow_ns = probe->why->slow_ns;
	why->sent = why->dropped = why->of_latscope = why->of_latscope_ns = 0;
	for (int cpu = 0; cpu < probe->cpus; cpu++) {
		const struct why_cell *cell = &probe->why->cells[cpu];

		why->slow += __atomic_load_n(&cell->slow, __ATOMIC_RELAXED);
		why->slow_ns += __atomic_load_n(&cell->slow_ns, __ATOMIC_RELAXED);
		why->sent += __atomic_load_n(&cell->sent, __ATOMIC_RELAXED);
		why->dropped += __atomic_load_n(&cell->dropped, __ATOMIC_RELAXED);
		why->of_latscope += __atomic_load_n(&cell->of_latscope, __ATOMIC_RELAXED);
		why->of_latscope_ns += __atomic_load_n(&cell->of_latscope_ns, __ATOMIC_RELAXED);
	}
}

#define OF_OTHERS (WHY_OF_CGROUP | WHY_OF_CPU)

/* What the ID is of. */
static uint32_t kind_of(const struct bpf_probe *probe, uint64_t id)
{
	if (id & WHY_OF_CGROUP)
		return LAT_BY_CGROUP;
	if (id & WHY_OF_CPU)
		return LAT_BY_CPU;
	return probe->config.why - 1 == LAT_BY_CPU ? LAT_BY_PROCESS : probe->config.why - 1;
}

/* The ID in its kind. */
static uint64_t plain_id(const struct bpf_probe *probe, uint64_t id)
{
	uint32_t kind = kind_of(probe, id);
	bool is_task = kind == LAT_BY_PROCESS || kind == LAT_BY_THREAD;

	return id & ~(is_task ? OF_OTHERS | WHY_TRAITS_MASK : OF_OTHERS);
}

/* NULL: nothing sets it apart, or it is not known. */
static const char *traits_of(const struct bpf_probe *probe, uint64_t id, char out[WHY_TRAITS_TEXT])
{
	const struct why_traits *traits = probe->why->traits;
	uint64_t number = (id & ~plain_id(probe, id) & WHY_TRAITS_MASK) >> WHY_TRAITS_SHIFT;

	if (!traits || !number ||
	    __atomic_load_n(&traits[number].state, __ATOMIC_ACQUIRE) != WHY_READY)
		return NULL;
	return why_traits__text(&traits[number], out);
}

/* A task without an ID is one of those that share its name. NULL: nobody is known. */
static const char *name_victim(struct bpf_probe *probe, const struct why_who *who,
			       char out[RUN_NAME])
{
	const struct lat_key key = { .id = plain_id(probe, who->id),
				     .by = kind_of(probe, who->id) };
	char raw[LAT_COMM_LEN + 1] = "";

	if (who->id & WHY_OF_SOURCE)
		return names__source(probe->common.names, (uint32_t)who->id, out);
	if (who->id)
		return names__key(probe->common.names, &key, who->comm, out);
	memcpy(raw, who->comm, LAT_COMM_LEN);
	return raw[0] ? sanitize__text(out, RUN_NAME, raw) : NULL;
}

/* "/shop (20 % of a CPU)": the BPF program says how much it may have. */
static const char *name_quota(struct bpf_probe *probe, const struct why_who *who,
			      char out[RUN_NAME])
{
	char share[RUN_NAME / 2];
	int len = snprintf(share, sizeof(share), " (%.6s %% of a CPU)", who->comm);

	names__cgroup_text(probe->common.names, who->id & ~OF_OTHERS, out, RUN_NAME - (size_t)len);
	return strcat(out, share);
}

/* The number comes from a BPF program. */
static const struct why_part *part_of(const struct bpf_probe *probe, unsigned int part)
{
	return why_words__part(probe->why->words, part);
}

static const char *name_culprit(struct bpf_probe *probe, const struct why_who *who,
				unsigned int part, char out[RUN_NAME])
{
	const struct lat_key disk = { .id = who->id, .by = LAT_BY_DISK };

	if (part_of(probe, part)->of_quota) /* without an ID, it is not known */
		return who->id && who->comm[0] ? name_quota(probe, who, out) : NULL;
	if (who->id && part_of(probe, part)->of_disk)
		return names__key(probe->common.names, &disk, NULL, out);
	return name_victim(probe, who, out);
}

/* What the tasks of a culprit's name have together. */
static uint64_t of_name(const struct why_event *event, const struct why_culprit *of,
			unsigned int *tasks)
{
	uint64_t ns = 0;

	*tasks = 0;
	for (unsigned int i = 0; i < WHY_CULPRITS; i++) {
		const struct why_culprit *one = &event->culprits[i];

		if (!one->ns || one->part != of->part ||
		    memcmp(one->who.comm, of->who.comm, sizeof(of->who.comm)) != 0)
			continue;
		ns += one->ns;
		++*tasks;
	}
	return ns;
}

/* Who had most of it, if that is more than any part without a culprit. */
static void note_culprit(struct bpf_probe *probe, const struct why_event *event,
			 struct why_served *request)
{
	uint64_t alone_ns = 0; /* the largest part without a culprit */
	const struct why_culprit *most = NULL;
	unsigned int tasks, most_tasks = 0;
	char *id;

	for (unsigned int i = 0; i < WHY_CULPRITS; i++) {
		uint64_t ns = of_name(event, &event->culprits[i], &tasks);

		if (ns <= request->ns)
			continue;
		most = &event->culprits[i];
		most_tasks = tasks;
		request->ns = ns;
	}
	for (unsigned int i = WHY_UNKNOWN + 1; i < probe->why->words->nr_parts; i++)
		if (!part_of(probe, i)->disk_action && event->part_ns[i] > alone_ns)
			alone_ns = event->part_ns[i];
	if (!most || request->ns <= alone_ns ||
	    !name_culprit(probe, &most->who, most->part, request->culprit))
		return;
	request->part = part_of(probe, most->part);
	id = strrchr(request->culprit, '(');
	if (most_tasks > 1 && most->who.comm[0] && id)
		snprintf(id, sizeof("(4294967295 tasks)"), "(%u tasks)", most_tasks);
}

static void note_request(struct bpf_probe *probe, const struct why_event *event)
{
	const struct lat_key disk = { .id = event->disk, .by = LAT_BY_DISK };
	struct why_served request = { .tid = event->tid,
				      .begin_ns = event->end_ns - event->ns,
				      .end_ns = event->end_ns };

	names__key(probe->common.names, &disk, NULL, request.disk);
	note_culprit(probe, event, &request);
	why_requests__add(&request);
}

static void set_id(const struct bpf_probe *probe, unsigned int column, uint64_t id)
{
	table__set_integer(probe->common.entry->why->parts, column, (int64_t)plain_id(probe, id));
}

static int set_traits(const struct bpf_probe *probe, const struct why_pair *pair)
{
	struct table *table = probe->common.entry->why->parts;
	char traits[WHY_TRAITS_TEXT];
	int err;

	if (!probe->why->words->traits)
		return 0;
	err = table__set_text(table, WHY_VICTIM_TRAITS, traits_of(probe, pair->victim.id, traits));
	if (err)
		return err;
	return table__set_text(table, WHY_CULPRIT_TRAITS,
			       traits_of(probe, pair->culprit.id, traits));
}

static void set_amount(struct bpf_probe *probe, const struct why_amount *amount)
{
	struct table *table = probe->common.entry->why->parts;

	table__set_integer(table, WHY_NS, (int64_t)amount->ns);
	table__set_integer(table, WHY_EVENTS, (int64_t)amount->count);
	table__set_integer(table, WHY_OVER_NS, (int64_t)probe->why->control->over_ns);
	if (!probe->why->words->requests)
		return;
	table__set_integer(table, WHY_READ_BYTES, (int64_t)amount->read_bytes);
	table__set_integer(table, WHY_WRITTEN_BYTES, (int64_t)amount->written_bytes);
}

/*
 * Of a pair without a place, only the part is known. Tasks that had the CPU too long ago have no
 * name.
 */
static int add_pair(void *context, const struct why_pair *pair, bool placed,
		    const struct why_amount *gained)
{
	struct bpf_probe *probe = context;
	struct table *table = probe->common.entry->why->parts;
	char room[2][RUN_NAME];
	const char *victim = placed ? name_victim(probe, &pair->victim, room[0]) : "(other)";
	const char *culprit =
		placed ? name_culprit(probe, &pair->culprit, pair->part, room[1]) : "(other)";
	int err;

	if (!culprit && part_of(probe, pair->part)->of_task)
		culprit = "(other)";
	err = table__add_row(table, probe->why_row_ns);
	if (!err)
		err = table__set_text(table, WHY_VICTIM, victim ? victim : "(unknown)");
	if (!err)
		err = table__set_text(table, WHY_PART, part_of(probe, pair->part)->name);
	if (!err)
		err = table__set_text(table, WHY_CULPRIT, culprit);
	if (!err && placed)
		err = set_traits(probe, pair);
	if (err)
		return err;
	if (placed && pair->victim.id)
		set_id(probe, WHY_VICTIM_ID, pair->victim.id);
	if (placed && pair->culprit.id && !(pair->culprit.id & WHY_OF_SOURCE))
		set_id(probe, WHY_CULPRIT_ID, pair->culprit.id);
	set_amount(probe, gained);
	return 0;
}

static int set_stack(struct table *table, unsigned int column, const __u64 *frames, __s32 size)
{
	char text[WHY_STACK] = "";
	size_t len = 0;

	for (int i = 0; i < size / 8 && len + 18 < sizeof(text); i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%llx", i ? " " : "",
					frames[i]);
	return table__set_text(table, column, size > 0 ? text : NULL);
}

static int set_name(struct table *table, unsigned int column, const char *comm)
{
	char raw[LAT_COMM_LEN + 1] = "", name[RUN_NAME];

	memcpy(raw, comm, LAT_COMM_LEN);
	return table__set_text(table, column, sanitize__text(name, sizeof(name), raw));
}

static int set_culprits(struct bpf_probe *probe, struct why_event *event)
{
	struct table *table = probe->common.entry->why->events;
	char name[RUN_NAME];
	int err = 0;

	for (unsigned int i = 0; !err && i < WHY_CULPRITS; i++) {
		unsigned int column = WHY_SLOW_CULPRITS + 3 * i, largest = i;
		struct why_culprit culprit;

		for (unsigned int j = i + 1; j < WHY_CULPRITS; j++)
			if (event->culprits[j].ns > event->culprits[largest].ns)
				largest = j;
		culprit = event->culprits[largest];
		event->culprits[largest] = event->culprits[i];
		if (!culprit.ns)
			break;
		err = table__set_text(table, column,
				      name_culprit(probe, &culprit.who, culprit.part, name));
		if (!err)
			err = table__set_text(table, column + 1,
					      part_of(probe, culprit.part)->name);
		table__set_integer(table, column + 2, (int64_t)culprit.ns);
	}
	return err;
}

/* For names. Without a place, the addresses stay. */
static int name_stacks(struct symbols *symbols, const struct why_event *event)
{
	int kernel = 0, user = 0;

	if (!symbols)
		return 0;
	if (event->kernel_size > 0)
		kernel = symbols__add(symbols, 0, (const uint64_t *)event->kernel_stack,
				      (size_t)event->kernel_size / sizeof(event->kernel_stack[0]));
	if (event->user_size > 0)
		user = symbols__add(symbols, event->stack_tgid, (const uint64_t *)event->user_stack,
				    (size_t)event->user_size / sizeof(event->user_stack[0]));
	return kernel == -ENOMEM || user == -ENOMEM ? -ENOMEM : 0;
}

static int set_texts(struct bpf_probe *probe, const struct why_event *event)
{
	const struct lat_key cgroup = { .id = event->cgroup, .by = LAT_BY_CGROUP };
	struct table *table = probe->common.entry->why->events;
	char name[RUN_NAME];
	int err;

	names__key(probe->common.names, &cgroup, NULL, name);
	err = table__set_text(table, WHY_SLOW_CGROUP, name);
	if (!err)
		err = set_name(table, WHY_SLOW_PROCESS, event->process);
	if (!err)
		err = set_name(table, WHY_SLOW_COMM, event->comm);
	if (!err && event->waker_source)
		err = table__set_text(table, WHY_SLOW_WAKER,
				      names__source(probe->common.names, event->waker_source,
						    name));
	else if (!err && event->waker_tid)
		err = set_name(table, WHY_SLOW_WAKER, event->waker);
	if (err || probe->why_request.skips_stacks)
		return err;
	if (!err)
		err = set_stack(table, WHY_SLOW_KERNEL_STACK, event->kernel_stack,
				event->kernel_size);
	if (!err)
		err = set_stack(table, WHY_SLOW_USER_STACK, event->user_stack, event->user_size);
	return err;
}

/* Which request it was. */
static int set_request(struct bpf_probe *probe, const struct why_event *event)
{
	const struct lat_key keys[] = {
		[WHY_REQUEST_DISK] = { .id = event->disk, .by = LAT_BY_DISK },
		[WHY_REQUEST_OP] = { .id = event->op, .by = LAT_BY_OP },
	};
	struct table *table = probe->common.entry->why->events;
	unsigned int column = WHY_SLOW_PARTS + probe->why->words->nr_parts;
	char name[RUN_NAME];
	int err = 0;

	for (unsigned int i = 0; !err && i < 2; i++)
		err = table__set_text(table, column + i,
				      names__key(probe->common.names, &keys[i], NULL, name));
	table__set_integer(table, column + WHY_REQUEST_SECTOR, (int64_t)event->sector);
	table__set_integer(table, column + WHY_REQUEST_BYTES, event->bytes);
	return err;
}

/* The chain of frame pointers ends with 0, which is no return address. */
static void cut_zero(struct why_event *event)
{
	size_t frames = event->user_size > 0 ? (size_t)event->user_size / 8 : 0;

	if (frames && frames <= WHY_FRAMES && !event->user_stack[frames - 1])
		event->user_size -= 8;
}

/* `until_ns`: when the interval ended. */
static int add_event(struct bpf_probe *probe, struct why_event *event, uint64_t until_ns)
{
	struct table *table = probe->common.entry->why->events;
	uint64_t end_ns = event->end_ns < until_ns ? event->end_ns : until_ns;
	uint64_t at = end_ns > probe->start_ns ? end_ns - probe->start_ns : 0;
	int err;

	cut_zero(event);
	if (at < probe->why_row_ns) /* it was sent as the last interval ended */
		at = probe->why_row_ns;
	err = table__add_row(table, at);
	if (err)
		return err;
	table__set_integer(table, WHY_SLOW_NS, (int64_t)event->ns);
	table__set_integer(table, WHY_SLOW_PID, event->tgid);
	table__set_integer(table, WHY_SLOW_TID, event->tid);
	table__set_integer(table, WHY_SLOW_CPU, event->cpu);
	if (event->waker_tid)
		table__set_integer(table, WHY_SLOW_WAKER_TID, event->waker_tid);
	if (event->stack_tid) {
		table__set_integer(table, WHY_SLOW_STACK_PID, event->stack_tgid);
		table__set_integer(table, WHY_SLOW_STACK_TID, event->stack_tid);
	}
	for (unsigned int i = 0; i < probe->why->words->nr_parts; i++)
		table__set_integer(table, WHY_SLOW_PARTS + i, (int64_t)event->part_ns[i]);
	err = set_texts(probe, event);
	if (!err)
		err = name_stacks(probe->common.symbols, event);
	if (!err && probe->why->words->requests)
		err = set_request(probe, event);
	return err ? err : set_culprits(probe, event);
}

static int by_end(const void *left, const void *right)
{
	const struct why_event *a = left, *b = right;

	return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

/* What was sent since the interval ended is kept for the next one, if there is one. */
static int read_events(struct bpf_probe *probe, uint64_t until_ns)
{
	struct why_reader *reader = probe->why;
	unsigned int nr = 0;
	int err = 0;

	ring_buffer__consume(reader->events);
	qsort(reader->kept, reader->nr_kept, sizeof(reader->kept[0]), by_end);
	while (!err && nr < reader->nr_kept &&
	       (probe->closed || reader->kept[nr].end_ns <= until_ns))
		err = add_event(probe, &reader->kept[nr++], until_ns);
	reader->nr_kept -= nr;
	memmove(reader->kept, reader->kept + nr, reader->nr_kept * sizeof(reader->kept[0]));
	why__keep_slowest(probe->common.entry->why);
	return err;
}

static int add_candidate_pair(void *context, const struct why_pair *pair)
{
	return add_pair(context, pair, true, &pair->amount);
}

/* Adds up the candidates that are slow, and forgets all. */
static int add_candidates(struct bpf_probe *probe)
{
	struct run_why *why = probe->common.entry->why;
	struct why_reader *reader = probe->why;
	struct why_candidates *candidates = &reader->candidates;
	int err = 0;

	why_candidates__sort(candidates);
	for (size_t i = 0; !err && i < candidates->nr; i++) {
		const struct why_event *event = &candidates->events[i];

		if (event->ns < reader->control->over_ns)
			break;
		reader->slow++;
		reader->slow_ns += event->ns;
		why->slow++;
		why->slow_ns += event->ns;
		err = why_candidates__pairs(event, add_candidate_pair, probe);
	}
	why_candidates__clear(candidates);
	return err;
}

/* The window has closed, and there were too few samples for a threshold: explains the slowest. */
static void choose_slowest(struct bpf_probe *probe)
{
	struct why_reader *reader = probe->why;
	size_t nr = reader->candidates.nr;

	if (!nr)
		return;
	why_candidates__sort(&reader->candidates);
	nr = nr < LEAST_SLOW ? nr : LEAST_SLOW;
	use_threshold(probe, reader->candidates.events[nr - 1].ns, UINT64_MAX);
	probe->common.entry->why->few = true;
}

int why__interval(struct bpf_probe *probe, uint64_t at_ns)
{
	struct why_reader *reader = probe->why;
	int err;

	if (!reader || probe->common.skip_keys)
		return 0;
	read_cells(probe, probe->common.entry->why);
	learn(probe, probe->common.entry->why->disks, sizeof(probe->common.entry->why->disks));
	err = read_events(probe, at_ns); /* in order of time after the last interval */
	if (probe->closed && !reader->has_threshold)
		choose_slowest(probe);
	probe->why_row_ns = at_ns - probe->start_ns;
	if (!err && reader->has_threshold)
		err = add_candidates(probe);
	if (!err)
		err = why_pairs__read(&reader->pairs, add_pair, probe);
	adapt(probe, at_ns);
	return err;
}
