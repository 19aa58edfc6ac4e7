// SPDX-License-Identifier: BSD-2-Clause
#include "emulation.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include <host/process_stat.h>

#include "../../../kmod/rmid/book.h"

#define SERVE_MOST 2 /* as in kmod/rmid/owners.c: more than can start to wait at a time */

struct emulation {
	struct rmid_book book;
	uint64_t *gone; /* by place: start of the process that the last check did not find */
	bool has_gone; /* it did not find some */
	uint32_t most;
	emulation_told *told;
	emulation_weight *weight; /* NULL: who has waited longest is served first */
	bool chosen; /* with `weight`: the first choice was made */
	uint64_t yielded;
	void *context;
};

uint32_t emulation__rmids(void)
{
#ifdef __x86_64__
	unsigned int eax, highest, ecx, edx;

	/* Leaf 0xF: the highest RMID; bit 1 of EDX: the L3 cache is monitored. */
	if (__get_cpuid_count(0xf, 0, &eax, &highest, &ecx, &edx) && edx & 2 && highest &&
	    highest < LATSCOPE_RMID_DEFAULT)
		return highest;
#endif
	return LATSCOPE_RMID_DEFAULT;
}

/* The fourth field of /proc/loadavg has the number of tasks. */
static uint32_t room(void)
{
	FILE *stream = fopen("/proc/loadavg", "re");
	uint32_t tasks = 0;

	if (stream) {
		if (fscanf(stream, "%*s %*s %*s %*u/%" SCNu32, &tasks) != 1)
			tasks = 0;
		fclose(stream);
	}
	if (tasks > EMULATION_MOST / 2)
		return EMULATION_MOST;
	return 2 * tasks < EMULATION_PROCESSES ? EMULATION_PROCESSES : 2 * tasks;
}

int emulation__new(struct emulation **out, uint32_t rmids, emulation_told *told, void *context)
{
	uint32_t limit = room(), places = procs__lines(limit) * PROCS_WAYS;
	struct emulation *emulation = calloc(1, sizeof(*emulation));
	struct rmid_info *infos = calloc(rmids + 1, sizeof(*infos));
	struct rmid_process *processes = calloc(places, sizeof(*processes));
	uint64_t *gone = calloc(places, sizeof(*gone));
	__u64 *keys = calloc(places, sizeof(*keys));

	if (!emulation || !infos || !processes || !gone || !keys) {
		free(emulation);
		free(gone);
		free(infos);
		free(processes);
		free(keys);
		return -ENOMEM;
	}
	rmid_alloc__init(&emulation->book.alloc, infos, rmids, LATSCOPE_RMID_LIMBO_NS);
	procs__init(&emulation->book.procs, keys, processes, limit);
	book__init(&emulation->book);
	emulation->gone = gone;
	emulation->told = told;
	emulation->context = context;
	*out = emulation;
	return 0;
}

void emulation__free(struct emulation *emulation)
{
	if (!emulation)
		return;
	free(emulation->book.alloc.infos);
	free(emulation->book.procs.places);
	free(emulation->book.procs.keys);
	free(emulation->gone);
	free(emulation);
}

static int tell(struct emulation *emulation, const struct lat_rmid_task *cause,
		enum lat_rmid_fate fate, const struct latscope_rmid_owner *owner)
{
	struct lat_rmid_owner record = {
		.head = { .time_ns = owner->time_ns,
			  .cpu = cause->head.cpu,
			  .record = RMID_OWNER,
			  .flags = (__u8)fate },
		.owner = *owner,
	};

	return emulation->told(emulation->context, &record, cause->runner);
}

static int64_t weight_of(const struct emulation *emulation, uint32_t place)
{
	const struct rmid_process *process = &emulation->book.procs.places[place];

	return emulation->weight(emulation->context, process->tgid, process->start_ns,
				 process->comm);
}

static int serve(struct emulation *emulation, const struct lat_rmid_task *cause, uint32_t most)
{
	struct latscope_rmid_owner record;
	int err = 0;

	while (!err && most-- && book__serve(&emulation->book, cause->head.time_ns, &record))
		err = tell(emulation, cause, RMID_ALLOCATED, &record);
	if (emulation->most < emulation->book.assigned)
		emulation->most = emulation->book.assigned;
	return err;
}

/* Those for which there is an RMID now. */
static int serve_all(struct emulation *emulation, const struct lat_rmid_task *cause)
{
	int err = 0;

	while (!err && !emulation->weight && book__may_serve(&emulation->book, cause->head.time_ns))
		err = serve(emulation, cause, 1);
	return err;
}

/* It has no RMID yet; the record says since when. */
static int tell_waits(struct emulation *emulation, const struct lat_rmid_task *cause,
		      const struct rmid_process *process)
{
	struct latscope_rmid_owner owner = {
		.time_ns = process->since_ns,
		.start_ns = process->start_ns,
		.since_ns = process->since_ns,
		.tgid = process->tgid,
		.why = process->why,
		.threads = process->threads,
	};

	memcpy(owner.comm, process->comm, sizeof(owner.comm));
	return tell(emulation, cause, RMID_AWAITED, &owner);
}

/* With weights, nobody but the newest is served at a birth. */
static int serve_newest(struct emulation *emulation, const struct lat_rmid_task *cause)
{
	uint32_t place = book__place(&emulation->book, cause->key);

	if (!emulation->weight)
		return serve(emulation, cause, SERVE_MOST);
	if (!emulation->chosen || place == PROCS_NONE || weight_of(emulation, place) < 0)
		return 0;
	book__prefer(&emulation->book, place);
	return serve(emulation, cause, 1);
}

static int give_birth(struct emulation *emulation, const struct lat_rmid_task *task, uint32_t why)
{
	struct rmid_birth birth = {
		.key = task->key,
		.start_ns = task->born_ns,
		.tgid = task->tgid,
		.threads = task->threads,
		.why = why,
	};
	struct rmid_book *book = &emulation->book;
	uint32_t place;
	int err;

	memcpy(birth.comm, task->comm, sizeof(birth.comm));
	if (!book__birth(book, &birth, task->head.time_ns))
		return 0;
	err = serve_newest(emulation, task);
	place = book__place(book, task->key);
	if (!err && place != PROCS_NONE && !book__rmid(book, place))
		err = tell_waits(emulation, task, &book->procs.places[place]);
	return err;
}

static int bury(struct emulation *emulation, const struct lat_rmid_task *task)
{
	struct latscope_rmid_owner record;

	if (!book__bury(&emulation->book, task->key, task->head.time_ns, &record))
		return 0;
	return tell(emulation, task, RMID_FREED, &record);
}

static int begin(struct emulation *emulation, const struct lat_rmid_task *task)
{
	struct rmid_book *book = &emulation->book;
	int err = 0;

	if (task->pid != task->tgid) {
		book__thread(book, task->key);
		return 0;
	}
	if (book__place(book, task->key) != PROCS_NONE) { /* the record of its end was lost */
		book->counts.miscounted++;
		err = bury(emulation, task);
	}
	return err ? err : give_birth(emulation, task, LATSCOPE_RMID_BIRTH);
}

/*
 * The threads of a process that existed before are counted while they begin and end. So for those,
 * the kernel's word that all have ended counts, too.
 */
static int end(struct emulation *emulation, const struct lat_rmid_task *task)
{
	struct rmid_book *book = &emulation->book;
	uint32_t place = book__place(book, task->key);
	struct latscope_rmid_owner record;
	bool found;
	int err = 0;

	if (place == PROCS_NONE)
		return 0;
	found = book->procs.places[place].why == LATSCOPE_RMID_FOUND;
	if (book__thread_gone(book, task->key, task->threads, task->head.time_ns, &record))
		err = tell(emulation, task, RMID_FREED, &record);
	else if (found && task->head.flags == RMID_ENDS_ALL)
		err = bury(emulation, task);
	return err ? err : serve_all(emulation, task);
}

static int exec(struct emulation *emulation, const struct lat_rmid_task *task)
{
	struct latscope_rmid_owner record;

	if (!book__exec(&emulation->book, task->key, task->comm, task->head.time_ns, &record))
		return 0;
	return tell(emulation, task, RMID_LISTED, &record);
}

int emulation__take(struct emulation *emulation, const struct lat_rmid_task *task)
{
	switch (task->head.flags) {
	case RMID_BEGINS:
		return begin(emulation, task);
	case RMID_EXISTS:
		if (book__place(&emulation->book, task->key) != PROCS_NONE)
			return 0;
		return give_birth(emulation, task, LATSCOPE_RMID_FOUND);
	case RMID_ENDS:
	case RMID_ENDS_ALL:
		return end(emulation, task);
	case RMID_EXECS:
		return exec(emulation, task);
	}
	return 0;
}

/* What this process does, not a record. */
static struct lat_rmid_task here(uint64_t now_ns)
{
	int cpu = sched_getcpu();

	return (struct lat_rmid_task){
		.head = { .time_ns = now_ns, .cpu = cpu < 0 ? 0 : (__u16)cpu },
		.runner = (__u32)getpid(),
	};
}

int emulation__serve(struct emulation *emulation, uint64_t now_ns)
{
	struct lat_rmid_task cause = here(now_ns);

	return serve_all(emulation, &cause);
}

/* A process at a place of the book. */
struct candidate {
	uint32_t place;
	int64_t weight;
};

/* The heaviest first. */
static int by_weight(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	return (a->weight < b->weight) - (a->weight > b->weight);
}

/* Those that have an RMID, or those that wait and may get one. */
static uint32_t list(const struct emulation *emulation, bool have, struct candidate *all)
{
	const struct rmid_procs *procs = &emulation->book.procs;
	uint32_t nr = 0;

	for (uint32_t place = 0; place < procs__size(procs); place++) {
		if (!procs->keys[place] || (book__rmid(&emulation->book, place) != 0) != have)
			continue;
		all[nr] = (struct candidate){ place, weight_of(emulation, place) };
		nr += have || all[nr].weight >= 0;
	}
	if (nr)
		qsort(all, nr, sizeof(*all), by_weight);
	return nr;
}

static int yield(struct emulation *emulation, const struct lat_rmid_task *cause, uint32_t place)
{
	struct latscope_rmid_owner record;
	int err;

	if (!book__yield(&emulation->book, place, cause->head.time_ns, &record))
		return 0;
	emulation->yielded++;
	err = tell(emulation, cause, RMID_YIELDED, &record);
	return err ? err : tell_waits(emulation, cause, &emulation->book.procs.places[place]);
}

/* The heaviest that waits replaces the lightest that has one, and so on. */
static int replace(struct emulation *emulation, const struct lat_rmid_task *cause, int64_t least,
		   const struct candidate *waiting, uint32_t nr_waiting,
		   const struct candidate *having, uint32_t nr_having)
{
	int err = 0;

	for (uint32_t i = 0; !err && i < nr_waiting && i < nr_having; i++) {
		const struct candidate *last = &having[nr_having - 1 - i];

		if (waiting[i].weight < 2 * last->weight + least)
			break;
		err = yield(emulation, cause, last->place);
	}
	return err;
}

void emulation__weigh(struct emulation *emulation, emulation_weight *weight)
{
	emulation->weight = weight;
}

int emulation__choose(struct emulation *emulation, int64_t least, uint64_t now_ns)
{
	struct rmid_book *book = &emulation->book;
	struct candidate *waiting = calloc(2 * book->procs.count + 1, sizeof(*waiting));
	struct candidate *having = waiting ? waiting + book->procs.count : NULL;
	struct lat_rmid_task cause = here(now_ns);
	uint32_t nr_waiting, nr_having, served = 0;
	int err = 0;

	if (!waiting)
		return -ENOMEM;
	emulation->chosen = true;
	nr_having = list(emulation, true, having);
	nr_waiting = list(emulation, false, waiting);
	while (!err && served < nr_waiting && book__may_serve(book, now_ns)) {
		book__prefer(book, waiting[served++].place);
		err = serve(emulation, &cause, 1);
	}
	if (!err)
		err = replace(emulation, &cause, least, waiting + served, nr_waiting - served,
			      having, nr_having);
	free(waiting);
	return err;
}

static bool lives(const char *root, const struct rmid_process *process)
{
	uint64_t tick_ns = 1000000000ULL / (uint64_t)sysconf(_SC_CLK_TCK);
	struct process_stat stat;
	int err = process_stat__read(root, (int)process->tgid, &stat);

	if (err)
		return err != -ENOENT;
	return stat.start_ticks == process->start_ns / tick_ns && process_stat__lives(&stat);
}

/* Was it gone at the last check, too? Its record, if there is one, has been taken since then. */
static bool is_gone(struct emulation *emulation, uint32_t place, const char *root)
{
	const struct rmid_process *process = &emulation->book.procs.places[place];
	uint64_t *gone = &emulation->gone[place], before = *gone;

	*gone = lives(root, process) ? 0 : process->start_ns;
	if (!*gone || before == process->start_ns)
		return *gone;
	emulation->has_gone = true;
	return false;
}

int emulation__check(struct emulation *emulation, const char *root, uint64_t now_ns)
{
	struct rmid_book *book = &emulation->book;
	struct lat_rmid_task task = here(now_ns);
	int err = 0;

	emulation->has_gone = false;
	for (uint32_t place = 0; !err && place < procs__size(&book->procs); place++) {
		task.key = book->procs.keys[place];
		if (!task.key || !is_gone(emulation, place, root))
			continue;
		book->counts.miscounted++;
		err = bury(emulation, &task);
	}
	return err ? err : serve_all(emulation, &task);
}

void emulation__look(struct emulation *emulation, const char *root)
{
	const struct rmid_procs *procs = &emulation->book.procs;

	for (uint32_t place = 0; place < procs__size(procs); place++)
		if (procs->keys[place] && !lives(root, &procs->places[place]))
			emulation->gone[place] = procs->places[place].start_ns;
}

void emulation__ended_later(struct emulation *emulation, const struct lat_rmid_task *task)
{
	uint32_t place = book__place(&emulation->book, task->key);

	if (place != PROCS_NONE && task->head.flags == RMID_ENDS_ALL)
		emulation->gone[place] = 0;
}

bool emulation__has_gone(const struct emulation *emulation)
{
	return emulation->has_gone;
}

struct emulation_state emulation__state(const struct emulation *emulation)
{
	const struct rmid_book *book = &emulation->book;

	return (struct emulation_state){
		.rmids = book->alloc.count,
		.assigned = book->assigned,
		.waiting = book->waiting,
		.most = emulation->most,
		.refused = book->counts.refused,
		.untracked = book->counts.untracked,
		.miscounted = book->counts.miscounted,
		.yielded = emulation->yielded,
	};
}

/* Later versions of the file may have more; what has no meaning here is 0, as without RDT. */
static void print_head(const struct rmid_book *book, uint64_t missed, FILE *out)
{
	const struct {
		const char *name;
		uint64_t value;
	} counts[] = {
		{ "assigned", book->assigned },
		{ "waiting", book->waiting },
		{ "allocs", book->counts.allocs },
		{ "frees", book->counts.frees },
		{ "refused", book->counts.refused },
		{ "late", book->counts.late },
		{ "untracked", book->counts.untracked },
		{ "miscounted", book->counts.miscounted },
		{ "ticks", 0 },
		{ "ticks_late", 0 },
		{ "reads", 0 },
		{ "reads_due", 0 },
		{ "pqr_writes", 0 },
		{ "adoptions", 1 },
		{ "missed", missed },
	};

	fprintf(out, "version %d\nrmids %u\nlimbo_ns %" PRIu64 "\n", LATSCOPE_RMID_VERSION,
		book->alloc.count, (uint64_t)book->alloc.limbo_ns);
	fputs("rdt off\nl3_scale 0\nmbm off\n", out);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		fprintf(out, "%s %" PRIu64 "\n", counts[i].name, counts[i].value);
	fputs("unsampled \n\n", out);
}

/* In the escapes of the file of the kernel module: kmod/rmid/list.c, seq_escape_mem(). */
static void print_comm(const char *comm, FILE *out)
{
	for (size_t i = 0; i < LATSCOPE_RMID_COMM_LEN && comm[i]; i++) {
		unsigned char byte = (unsigned char)comm[i];

		if (byte < ' ' || byte > '~' || byte == '\\')
			fprintf(out, "\\%03o", byte);
		else
			fputc(byte, out);
	}
}

void emulation__dump(const struct emulation *emulation, uint64_t missed, FILE *out)
{
	const struct rmid_procs *procs = &emulation->book.procs;

	print_head(&emulation->book, missed, out);
	for (uint32_t place = 0; place < procs__size(procs); place++) {
		const struct rmid_process *process = &procs->places[place];

		if (!procs->keys[place])
			continue;
		fprintf(out, "%u %u %" PRIu64 " %u %" PRIu64 " ", process->rmid, process->tgid,
			(uint64_t)process->start_ns, process->threads, (uint64_t)process->since_ns);
		print_comm(process->comm, out);
		fputc('\n', out);
	}
}
