// SPDX-License-Identifier: BSD-2-Clause
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <bpf/bpf.h>

#include <core/clock.h>
#include <core/units.h>
#include <host/disk_requests.h>
#include <host/disks.h>
#include <host/pid_namespace.h>
#include <host/process_stat.h>
#include <probes/kit/bpf_steps.h>
#include <probes/kit/kernel.h>
#include <probes/kit/tracing.h>

#include "types.h"
#include "iolat.skel.h"
#include "why_disks.h"

/*
 * The kernel's stamps count as correct if they change the mean latency by less than this share, a
 * third of the histogram's resolution. They are checked again after CHECK_EVERY ticks.
 */
#define SKEW_SHARE 0.01
#define CHECK_EVERY 16
#define OVER_NS 100000 /* a fast disk serves others in less than 1 ms, and often */
#define TAIL_NS 1024000 /* the edge of a bucket; disks need longer than the other probes */

#define TASK_SPLITS (1U << LAT_BY_PROCESS | 1U << LAT_BY_THREAD | 1U << LAT_BY_CGROUP)

#define TOTAL 2 /* number of the metric */
#define WAIT 3
#define WANTS_WAIT(config) ((config)->metrics & 1U << WAIT)
#define HOLDS "__blk_throtl_bio" /* the kernel's function where io.max holds bios back */

enum { STAMPS, TP_BTF };

static const struct probe_method methods[] = {
	[STAMPS] = {
		.name = "stamps",
		.mechanism = "block layer's own stamps in the request, read at block_rq_complete",
		.needs =
			"BPF tracepoints with BTF",
		.programs = { "stamps_complete", "stamps_requeue" },
		.end_program = "stamps_complete",
		.loaded = { "hashed_issue" },
		.lacks = TASK_SPLITS,
		.lacks_tasks = true,
	},
	[TP_BTF] = {
		.name = "tp_btf",
		.mechanism =
			"own stamp at block_rq_issue; the kernel's at the allocation",
		.needs = "BPF tracepoints with BTF",
		.programs = { "hashed_complete", "hashed_requeue", "hashed_issue" },
		.explains = true,
		.end_program = "hashed_complete",
		.end_copy = "hashed_complete_again",
		.copies = { "hashed_complete_again", "hashed_issue_again" },
	},
};

struct iolat {
	struct iolat_bpf *skel;
	/*
	 * Method stamps only: the program that takes latscope's own stamp at issue. It is attached
	 * at the start, and detached when it has shown that every request had a correct stamp of
	 * the kernel's. Otherwise it stays attached. It also stays if the kernel takes stamps from
	 * the clock that is cached in the task's plug (Linux 6.9): otherwise the part that is
	 * missing in `queued` would change each time.
	 */
	struct bpf_link *check;
	bool check_stays;
	unsigned int ticks; /* since it was detached */
	struct iolat_sums {
		uint64_t missed, unstamped, checked, skew_ns, sum_ns;
	} before; /* at the last tick */
	struct disk_list at_attach; /* just before it */
	uint64_t attach_ns;
	bool stacked; /* there are disks on others, whose bios are followed */
	struct why_disks disks; /* models of them; with config.why */
	size_t kinds_size, loads_size; /* of what is mapped for these */
	struct disk_older older; /* at the end: requests from before the attach */
	bool sees_held; /* of the metric wait: what io.max holds back, too */
};

static bool wants_identity(const struct lat_config *config)
{
	return config->by & TASK_SPLITS || probe__filters_tasks(config);
}

/*
 * Since 7.0 a program at a tracepoint may be preempted. Until its task continues, the kernel does
 * not run it for others on that CPU. Only TP_BTF has its programs twice for that case.
 */
static bool iolat_second_best(const struct probe_method *method)
{
	return method != &methods[TP_BTF] && kernel__preempts_tracepoints();
}

/*
 * Since 6.9 (da4c8c3d0975) the kernel stamps a request by the time that the task's plug has cached.
 * At block_io_start our own clock shows how far that time is behind.
 */
static bool caches_time(void)
{
	return kernel__has_member("blk_plug", "cur_ktime") &&
	       kernel__has_tracepoint("block_io_start");
}

static const char *iolat_differs(void)
{
	return caches_time() ? "own clock at block_io_start where a plug caches the kernel's"
			     : NULL;
}

/*
 * RQF_FLUSH_SEQ. Since 6.11 (5f89154e8e9e) the flags are an enum, with other values, which got a
 * name only in 6.14 (e7112524e5e8): CO-RE cannot find it in between. Before that it was bit 4.
 */
static uint32_t flush_seq(void)
{
	int bit = kernel__enum_value("__RQF_FLUSH_SEQ");

	return 1U << (bit < 0 ? 4 : bit);
}

/*
 * RQF_IO_STAT. Since 6.13 only a request with this flag gets a start_time_ns; others still have
 * that of an earlier use. Before the flags were an enum, start_time_ns was set to 0 instead, and
 * the flag does not matter.
 */
static uint32_t io_stat(void)
{
	int bit = kernel__enum_value("__RQF_IO_STAT");

	return bit < 0 ? 0 : 1U << bit;
}

/*
 * The errors that are counted by kind. Once the tracepoint had a negative errno, now it has the
 * block layer's own numbers, which have no name in BTF. Others than these have changed.
 */
static void find_errors(volatile __u32 kinds[IOLAT_ERROR_KINDS])
{
	static const __u32 statuses[] = { 2, 10, 7 };
	static const int errnos[] = { -ETIMEDOUT, -EIO, -ENODATA };
	bool status = kernel__tracepoint_takes("block_rq_complete", 1, "blk_status_t");

	for (int i = 0; i < IOLAT_ERROR_KINDS; i++)
		kinds[i] = status ? statuses[i] : (__u32)errnos[i];
}

static int iolat_open(struct bpf_probe *probe, struct bpf_object_skeleton **skeleton)
{
	struct iolat *iolat = calloc(1, sizeof(*iolat));
	int err;

	if (!iolat)
		return -ENOMEM;
	iolat->skel = iolat_bpf__open_opts(&probe->types.options);
	if (!iolat->skel) {
		err = -errno;
		free(iolat);
		return err;
	}
	probe->config.identity = wants_identity(&probe->config);
	probe->config.flush_seq = flush_seq();
	probe->config.io_stat = io_stat();
	probe->config.cached = caches_time();
	iolat->skel->rodata->sees_start = kernel__has_tracepoint("block_io_start");
	iolat->skel->rodata->batches = kernel__has_member("io_comp_batch", "req_list");
	find_errors(iolat->skel->rodata->error_kinds);
	iolat->check_stays = kernel__has_member("blk_plug", "cur_ktime");
	iolat->skel->rodata->plain = (!probe->config.why || iolat->skel->rodata->sees_start) &&
				     !probe->config.cpus && !probe__filters_tasks(&probe->config) &&
				     !probe->config.again;
	PROBE_CONFIGURE(iolat->skel, probe);
	probe->skel = iolat;
	*skeleton = iolat->skel->skeleton;
	return 0;
}

#define START_PROGRAMS 20

/* Programs of the metric wait. */
static unsigned int wait_programs(const struct bpf_probe *probe, const char *names[START_PROGRAMS],
				  unsigned int nr)
{
	const struct iolat *iolat = probe->skel;

	if (!WANTS_WAIT(&probe->config))
		return nr;
	names[nr++] = "bio_queued";
	names[nr++] = "bio_got";
	names[nr++] = "bio_split";
	names[nr++] = "bio_remapped";
	names[nr++] = "bio_merged";
	names[nr++] = "bio_merged_front";
	if (iolat->sees_held)
		names[nr++] = "bio_held";
	if (!probe->config.again)
		return nr;
	names[nr++] = "bio_queued_again";
	names[nr++] = "bio_got_again";
	if (iolat->sees_held)
		names[nr++] = "bio_held_again";
	return nr;
}

/* Does a program need to know who submitted a request, also if a driver such as dm sent it on? */
static bool follows_bios(const struct bpf_probe *probe)
{
	const struct iolat *iolat = probe->skel;

	return (probe->config.identity || probe->config.why) && iolat->stacked;
}

/* Programs that follow bios through drivers above the disk. */
static unsigned int sent_programs(const struct bpf_probe *probe, const char *names[START_PROGRAMS],
				  unsigned int nr)
{
	if (!follows_bios(probe))
		return nr;
	names[nr++] = "sent_first";
	names[nr++] = "sent_on";
	names[nr++] = "sent_split";
	return nr;
}

/* Programs that see the submitter. */
static unsigned int submit_programs(const struct bpf_probe *probe,
				    const char *names[START_PROGRAMS])
{
	bool start = kernel__has_tracepoint("block_io_start");
	unsigned int nr = 0;

	names[nr++] = "merged";
	if (probe->config.again)
		names[nr++] = "merged_again";
	names[nr++] = start ? "submit_start" : "submit_insert";
	if (probe->config.again && start)
		names[nr++] = "submit_start_again";
	return nr;
}

/* Programs at the start of a request, without those of the metric wait. */
static unsigned int request_programs(const struct bpf_probe *probe,
				     const char *names[START_PROGRAMS])
{
	bool start = kernel__has_tracepoint("block_io_start");
	unsigned int nr = 0;

	if (probe->config.identity)
		return submit_programs(probe, names);
	if (probe->config.why)
		names[nr++] = "merged";
	if (probe->config.why && probe->config.again)
		names[nr++] = "merged_again";
	if (probe->config.why && !start)
		names[nr++] = "hashed_insert";
	if (!start || !(probe->config.cached || probe->config.why))
		return nr;
	names[nr++] = "hashed_start";
	if (probe->config.again)
		names[nr++] = "hashed_start_again";
	return nr;
}

/* Programs at the start of a request, in addition to those of the method. */
static unsigned int start_programs(const struct bpf_probe *probe, const char *names[START_PROGRAMS])
{
	unsigned int nr = sent_programs(probe, names, request_programs(probe, names));

	return wait_programs(probe, names, nr);
}

static int prepare_wait(const struct bpf_probe *probe)
{
	struct iolat *iolat = probe->skel;
	int traced = kernel__enum_value("BIO_TRACE_COMPLETION");

	if (!WANTS_WAIT(&probe->config))
		return 0;
	iolat->skel->rodata->bio_traced = traced < 0 ? 0 : 1U << traced;
	iolat->sees_held = kernel__has_fentry(HOLDS);
	return bpf_map__set_max_entries(iolat->skel->maps.bio_lines, IOLAT_BIO_LINES);
}

static int iolat_prepare(struct bpf_probe *probe, struct bpf_object *obj)
{
	const char *names[START_PROGRAMS];
	int err = prepare_wait(probe);
	struct iolat *iolat = probe->skel;
	unsigned int nr;

	iolat->stacked = disks__any_stacked("");
	nr = start_programs(probe, names);
	if (!err && follows_bios(probe))
		err = bpf_map__set_max_entries(iolat->skel->maps.sent_bios, IOLAT_SENT_BIOS);
	for (unsigned int i = 0; !err && i < nr; i++)
		err = probe__load_too(obj, names[i]);
	return err;
}

static int start_check(struct bpf_probe *probe)
{
	struct iolat *iolat = probe->skel;

	/* Removes entries left by the last check. No program uses the table between two checks. */
	memset(iolat->skel->bss->table, 0, sizeof(iolat->skel->bss->table));
	iolat->skel->bss->checking = 1;
	iolat->check = tracing__attach(iolat->skel->progs.hashed_issue);
	if (!iolat->check) {
		iolat->skel->bss->checking = 0;
		return -errno;
	}
	iolat->ticks = 0;
	return 0;
}

static int map_disks(const struct bpf_probe *probe)
{
	struct iolat *iolat = probe->skel;
	struct why_disks *disks = &iolat->disks;

	if (!probe->config.why)
		return 0;
	disks->loads = bpf_probe__map(probe, "why_loads", PROT_READ, &iolat->loads_size);
	disks->kinds =
		bpf_probe__map(probe, "why_kinds", PROT_READ | PROT_WRITE, &iolat->kinds_size);
	return disks->loads && disks->kinds ? 0 : -errno;
}

static const char *name_disk(void *context, __u64 disk, char *out)
{
	const struct lat_key key = { .id = disk, .by = LAT_BY_DISK };

	return names__key(context, &key, NULL, out);
}

static void iolat_learn(struct bpf_probe *probe, char *text, size_t size)
{
	const struct iolat *iolat = probe->skel;

	why_disks__learn(&iolat->disks);
	if (text)
		why_disks__describe(&iolat->disks, name_disk, probe->common.names, text, size);
}

static int iolat_start(struct bpf_probe *probe, struct lat_control **control)
{
	struct iolat *iolat = probe->skel;
	const char *names[START_PROGRAMS];
	unsigned int nr = start_programs(probe, names);
	int err = 0;

	*control = &iolat->skel->bss->control;
	probe->why_control = &iolat->skel->bss->why_control;
	err = map_disks(probe);
	if (!err)
		err = disk_list__read(&iolat->at_attach, "", probe->config.disk);
	iolat->attach_ns = clock__now_ns();
	if (!err && probe->method == &methods[STAMPS])
		err = start_check(probe);
	for (unsigned int i = 0; !err && i < nr; i++)
		err = bpf_probe__attach(probe, names[i]);
	return err;
}

/* The stamps of requests in flight remain in the table. */
static void stop_check(struct iolat *iolat)
{
	bpf_link__destroy(iolat->check);
	iolat->check = NULL;
	iolat->skel->bss->checking = 0;
}

static struct iolat_sums sums_of(const struct run_data *data)
{
	const __u64 *counts = data->metrics[0].counts;

	return (struct iolat_sums){
		.missed = counts[LAT_MISSED_START],
		.unstamped = counts[LAT_FALLBACK],
		.checked = counts[LAT_CHECKED],
		.skew_ns = counts[LAT_SKEW_NS],
		.sum_ns = data->metrics[0].hist.sum_ns,
	};
}

/* Did all requests since `before` have a correct stamp of the kernel's? */
static bool stamps_hold(const struct iolat_sums *now, const struct iolat_sums *before)
{
	uint64_t skew_ns = now->skew_ns - before->skew_ns;

	return now->missed == before->missed && now->unstamped == before->unstamped &&
	       skew_ns <= SKEW_SHARE * (now->sum_ns - before->sum_ns);
}

static int iolat_tick(struct bpf_probe *probe, const struct run_data *data)
{
	struct iolat *iolat = probe->skel;
	struct iolat_sums now = sums_of(data), before = iolat->before;

	iolat->before = now;
	if (probe->method != &methods[STAMPS] || iolat->check_stays)
		return 0;
	if (!stamps_hold(&now, &before)) {
		iolat->check_stays = true;
		return iolat->check ? 0 : start_check(probe);
	}
	if (iolat->check) {
		if (now.checked != before.checked)
			stop_check(iolat);
		return 0;
	}
	if (now.sum_ns != before.sum_ns)
		iolat->ticks++;
	return iolat->ticks < CHECK_EVERY ? 0 : start_check(probe);
}

/* Requests that the programs have seen, and that have not ended. */
struct seen_flights {
	struct lat_in_flight waits; /* those of the wanted tasks */
	uint64_t issued; /* of all tasks */
	uint64_t given_back; /* of these: not seen until the driver returned them */
	bool all; /* `waits` has those that are not issued, too: programs see each of them begin */
	uint64_t oldest_ns; /* when the oldest of `waits` began */
	uint32_t oldest_of; /* its process; 0: unknown */
};

static void count_wanted(struct seen_flights *seen, const struct iolat_submitter *submitter,
			 uint64_t start_ns)
{
	if (submitter->unwanted)
		return;
	probe__count_in_flight(&seen->waits, 1, start_ns);
	if (seen->oldest_ns && seen->oldest_ns <= start_ns)
		return;
	seen->oldest_ns = start_ns;
	seen->oldest_of = submitter->cgroup ? submitter->pid_tgid >> 32 : 0;
}

static void count_stamp(const struct iolat_stamp *stamp, struct seen_flights *seen)
{
	bool issued = stamp->issue_ns > IOLAT_DONE;
	uint64_t start_ns = issued ? stamp->issue_ns : stamp->queue_ns;

	if (!stamp->request || (!issued && stamp->issue_ns))
		return;
	seen->issued += issued;
	if (start_ns && (issued || seen->all))
		count_wanted(seen, &stamp->submitter, start_ns);
}

static int count_request(void *context, const void *id, const void *value)
{
	const struct iolat_start *start = value;
	struct seen_flights *seen = context;

	(void)id;
	if (start->issue_ns == IOLAT_DONE)
		return 0;
	seen->issued += start->issue_ns || start->requeues;
	seen->given_back += !start->issue_ns && start->requeues;
	count_wanted(seen, &start->submitter, start->issue_ns ? start->issue_ns : start->queue_ns);
	return 0;
}

static int count_seen(const struct bpf_probe *probe, struct seen_flights *seen)
{
	const struct iolat *iolat = probe->skel;

	*seen = (struct seen_flights){ .all = probe->config.identity };
	for (int line = 0; line < IOLAT_LINES; line++)
		for (int way = 0; way < IOLAT_WAYS; way++)
			count_stamp(&iolat->skel->bss->table[line][way], seen);
	return probe__each_entry(iolat->skel->maps.start_ts, count_request, seen);
}

/* Looks at a busy disk so often, for the moments at which nothing begins or ends. */
#define LOOKS 16

/*
 * Requests that the kernel has in flight, and that no program has seen begin: these are older. More
 * than they can be, if the disks are never quiet for as long as it takes to look.
 */
static int count_unseen(const struct bpf_probe *probe, uint64_t *unseen)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct seen_flights seen;
	struct disk_list before, after;
	uint64_t known, more;
	int err = 0;

	*unseen = UINT64_MAX;
	for (int i = 0; !err && *unseen && i < LOOKS; i++) {
		err = disk_list__read(&before, "", probe->config.disk);
		if (err)
			return err;
		err = count_seen(probe, &seen);
		if (!err)
			err = disk_list__read(&after, "", probe->config.disk);
		if (!err && disk_list__same(&before, &after)) {
			known = disk_list__in_driver(&after);
			more = known > seen.issued ? known - seen.issued : 0;
			*unseen = more < *unseen ? more : *unseen;
		}
		if (!err)
			disk_list__free(&after);
		disk_list__free(&before);
		nanosleep(&pause, NULL);
	}
	return err;
}

/* How many requests from before the attach are in flight, at least: sets `older.least`. */
static int find_older(struct bpf_probe *probe, const struct disk_list *now,
		      const struct seen_flights *seen)
{
	struct iolat *iolat = probe->skel;
	struct disk_older *older = &iolat->older;
	uint64_t unseen = UINT64_MAX;
	int err = 0;

	*older = disk_list__older(&iolat->at_attach, now);
	if (probe->method == &methods[STAMPS])
		return 0;
	if (older->most > older->least)
		err = count_unseen(probe, &unseen);
	if (unseen != UINT64_MAX && unseen > older->least)
		older->least = unseen < older->most ? unseen : older->most;
	else
		older->least -= older->least < seen->given_back ? older->least : seen->given_back;
	return err;
}

static void add_older(struct bpf_probe *probe, struct lat_in_flight *waits)
{
	const struct iolat *iolat = probe->skel;
	uint64_t count = iolat->older.least;

	if (!count)
		return;
	waits->before = count;
	if (probe->method != &methods[STAMPS])
		probe__count_in_flight(waits, count, iolat->attach_ns);
	snprintf(probe->common.entry->in_flight_of, RUN_NAME, "%s", iolat->older.name);
}

static void note_oldest(struct lat_oldest *oldest, uint32_t tgid)
{
	struct process_stat stat;

	oldest->tgid = tgid;
	if (tgid && !pid_namespace__differs() && !process_stat__read("", (int)tgid, &stat))
		memcpy(oldest->process, stat.comm, sizeof(oldest->process));
}

static int iolat_in_flight(struct bpf_probe *probe, struct lat_in_flight *waits, bool *age_known)
{
	struct seen_flights seen = { 0 };
	struct disk_list now;
	int err;

	*age_known = probe->method != &methods[STAMPS];
	err = disk_list__read(&now, "", probe->config.disk);
	if (err)
		return err;
	if (*age_known)
		err = count_seen(probe, &seen);
	else
		seen.waits.count = disk_list__in_driver(&now);
	if (!err)
		err = find_older(probe, &now, &seen);
	disk_list__free(&now);
	*waits = seen.waits;
	if (!err && !probe__filters_tasks(&probe->config)) /* else whose they are is unknown */
		add_older(probe, waits);
	if (!err && !waits->before)
		note_oldest(&probe->oldest, seen.oldest_of);
	return err;
}

/* Adds a sentence about requests for which our own stamps were used. */
static void tell_own(char text[RUN_TEXT], const char *which, const __u64 *counts)
{
	char count[UNITS_TEXT], off[UNITS_TEXT];
	size_t used = strlen(text);

	if (!counts[LAT_CHECKED])
		return;
	snprintf(text + used, RUN_TEXT - used,
		 "%sown %s stamps: %s, the kernel's off by %s on average", used ? "; " : "", which,
		 units__count(count, counts[LAT_CHECKED]),
		 units__ns(off, (double)counts[LAT_SKEW_NS] / counts[LAT_CHECKED]));
}

/* Requests that may be of the wanted tasks: no program has seen who submitted them. */
static void tell_older(char text[RUN_TEXT], const struct disk_older *older)
{
	char count[UNITS_TEXT];
	size_t used = strlen(text);

	snprintf(text + used, RUN_TEXT - used,
		 "%s%s request%s%s%s %s older than this window: of an unknown task",
		 used ? "; " : "", units__count(count, older->least), older->least > 1 ? "s" : "",
		 older->name[0] ? " on " : "", older->name, older->least > 1 ? "are" : "is");
}

static void iolat_conclude(const struct bpf_probe *probe, const struct run_data *data,
			   char text[RUN_TEXT])
{
	const struct iolat *iolat = probe->skel;

	if (WANTS_WAIT(&probe->config) && !iolat->sees_held)
		snprintf(text, RUN_TEXT, "wait without io.max, as this kernel has no fentry");
	if (probe->method == &methods[STAMPS])
		tell_own(text, "issue", data->metrics[0].counts);
	tell_own(text, "start", data->metrics[1].counts);
	if (iolat->older.least && probe__filters_tasks(&probe->config))
		tell_older(text, &iolat->older);
}

/*
 * The kernel counts a request when it has completed as a whole, as `total` does. It counts
 * passthrough requests only if queue/iostats_passthrough is set.
 */
static void iolat_expect(const struct bpf_probe *probe, const struct run_probe *entry,
			 enum account_kind kind, struct run_check *check)
{
	const struct lat_cell *cell = &entry->total.metrics[TOTAL];
	const __u64 *counts = cell->counts;
	uint64_t ended = counts[LAT_SEEN] - counts[LAT_CONTINUED];

	(void)kind;
	check->events.known = true;
	check->events.ours_low = ended - counts[LAT_EXCLUDED];
	check->events.ours_high = ended + run__unseen(entry, 0);
	if (probe__filters_tasks(&probe->config) || counts[LAT_UNTIMED]) {
		snprintf(check->why, RUN_TEXT, "time not, as it is not known of all requests");
		return;
	}
	check->time.known = true;
	check->time.ours_low = cell->hist.sum_ns + counts[LAT_FILTERED_NS];
	check->time.ours_low -= counts[LAT_EARLY_NS] < check->time.ours_low ? counts[LAT_EARLY_NS]
									    : check->time.ours_low;
	/*
	 * The kernel's time starts with the cached clock of a plug, and ends after all programs at
	 * the tracepoint, including other tools': it can be longer than ours.
	 */
	check->time.ours_high = UINT64_MAX;
}

static void iolat_close(struct bpf_probe *probe)
{
	struct iolat *iolat = probe->skel;

	bpf_probe__unmap(iolat->disks.loads, iolat->loads_size);
	bpf_probe__unmap(iolat->disks.kinds, iolat->kinds_size);
	bpf_link__destroy(iolat->check);
	iolat_bpf__destroy(iolat->skel);
	disk_list__free(&iolat->at_attach);
	free(iolat);
}

static const struct why_map why_maps[] = {
	{ "why_work", 0 },
	{ "why_flights", IOLAT_LINES },
	{ "why_disks", WHY_DISKS },
	{ "why_loads", WHY_DISKS },
	{ "why_kinds", WHY_KINDS },
	{ "why_names", WHY_IOLAT_NAMES },
	{ NULL, 0 },
};

static const struct bpf_probe_ops ops = {
	.why_maps = why_maps,
	.learn = iolat_learn,
	.open = iolat_open,
	.prepare = iolat_prepare,
	.start = iolat_start,
	.tick = iolat_tick,
	.in_flight = iolat_in_flight,
	.conclude = iolat_conclude,
	.account = ACCOUNT_REQUESTS,
	.expect = iolat_expect,
	.close = iolat_close,
};

const struct probe_ops iolat_probe = {
	BPF_PROBE_LIFECYCLE,
	.by_default = true,
	.explains = true,
	.over_ns = OVER_NS,
	.name = "iolat",
	.help = "block I/O: time that requests are queued and in the device",
	.examples = "  latscope iolat -d 5s                      how long block requests take\n"
		    "  latscope iolat --by disk,op -i 1s         by disk, reads and writes apart\n"
		    "  latscope iolat --metric wait --disk sda   and how long they wait for room\n",
	.tail_ns = TAIL_NS,
	.nr_metrics = 4,
	.metrics = { { "device", "block request, first issue to the driver to completion" },
		     { "queued", "block request, allocated to first issue" },
		     { "total", "block request, allocated to completion" },
		     { "wait", "bio, submitted to its request allocated" } },
	.optional = 1U << WAIT,
	.splits = TASK_SPLITS | 1U << LAT_BY_DISK | 1U << LAT_BY_OP | 1U << LAT_BY_CPU,
	.methods = methods,
	.nr_methods = sizeof(methods) / sizeof(methods[0]),
	.second_best = iolat_second_best,
	.differs = iolat_differs,
	.bpf = &ops,
};
