// SPDX-License-Identifier: BSD-2-Clause
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../kmod/rmid/book.h"
#include "twin.h"

/* A process, as the oracle knows it. */
struct person {
	bool alive; /* has threads that will run */
	bool tracked;
	uint32_t reference; /* how many threads it has */
	uint32_t threads; /* how many were counted */
	uint32_t rmid;
	uint32_t why;
	uint64_t ticket; /* order of birth, thus of waiting */
	uint64_t start_ns;
	uint64_t since_ns;
	char comm[LATSCOPE_RMID_COMM_LEN];
};

struct id {
	bool used;
	uint64_t ticket; /* order of being freed */
	uint64_t freed_ns;
	bool ever; /* was freed at all */
};

struct twin {
	struct rmid_book book;
	struct person *people;
	struct id *ids; /* by RMID */
	uint32_t rmids;
	uint32_t room;
	uint32_t slots;
	uint32_t tracked;
	uint64_t now_ns;
	uint64_t back_ns;
	uint64_t latest_ns; /* that was told to the book */
	uint64_t ticket;
	uint64_t seq;
	struct twin_seen seen;
	struct latscope_rmid_owner record, expected; /* of the last step, by the book and by us */
	char why[256];
};

/* As a struct signal_struct would lie. */
static uint64_t key_of(uint32_t which)
{
	return 0xffff888003a40000ULL + which * 1088ULL;
}

/* Two processes have the same PID, one after the other or one while the other still exits. */
static uint32_t tgid_of(uint32_t which)
{
	return which / 2 + 1;
}

struct twin *twin__new(uint32_t rmids, uint32_t room)
{
	uint32_t places = procs__lines(room) * PROCS_WAYS;
	struct twin *twin = calloc(1, sizeof(*twin));

	twin->rmids = rmids;
	twin->room = room;
	twin->slots = 2 * room;
	twin->now_ns = 1;
	twin->people = calloc(twin->slots, sizeof(*twin->people));
	twin->ids = calloc(rmids + 1, sizeof(*twin->ids));
	for (uint32_t rmid = 1; rmid <= rmids; rmid++)
		twin->ids[rmid].ticket = twin->ticket++;
	rmid_alloc__init(&twin->book.alloc, calloc(rmids + 1, sizeof(struct rmid_info)), rmids,
			 TWIN_LIMBO_NS);
	procs__init(&twin->book.procs, calloc(places, sizeof(__u64)),
		    calloc(places, sizeof(struct rmid_process)), room);
	book__init(&twin->book);
	return twin;
}

void twin__free(struct twin *twin)
{
	free(twin->book.alloc.infos);
	free(twin->book.procs.keys);
	free(twin->book.procs.places);
	free(twin->people);
	free(twin->ids);
	free(twin);
}

const struct twin_seen *twin__seen(const struct twin *twin)
{
	return &twin->seen;
}

#define DIFFER(twin, ...) (snprintf((twin)->why, sizeof((twin)->why), __VA_ARGS__), (twin)->why)

/* The time that is told to the book, and what the book must take it for. */
static uint64_t tell_time(struct twin *twin)
{
	uint64_t now_ns = twin->now_ns > twin->back_ns ? twin->now_ns - twin->back_ns : 0;

	twin->seen.calls++;
	twin->back_ns = 0;
	if (twin->latest_ns < now_ns)
		twin->latest_ns = now_ns;
	return now_ns;
}

/* The record that the oracle expects about a person, at latest_ns. */
static struct latscope_rmid_owner expect(struct twin *twin, uint32_t which, uint32_t why)
{
	const struct person *person = &twin->people[which];
	struct latscope_rmid_owner record = {
		.seq = twin->seq++,
		.time_ns = twin->latest_ns,
		.start_ns = person->start_ns,
		.since_ns = person->since_ns,
		.rmid = person->rmid,
		.tgid = tgid_of(which),
		.why = why,
		.threads = why == LATSCOPE_RMID_EXIT ? 0 : person->threads,
	};

	memcpy(record.comm, person->comm, sizeof(record.comm));
	return record;
}

/* Both have told something, or both nothing, and the same. */
static const char *compare(struct twin *twin, const char *what, bool got, bool wanted)
{
	const struct latscope_rmid_owner *record = &twin->record, *expected = &twin->expected;

	if (got != wanted)
		return DIFFER(twin, "%s: %s, expected %s", what, got ? "a record" : "nothing",
			      wanted ? "one" : "nothing");
	if (wanted && memcmp(record, expected, sizeof(*record)) != 0)
		return DIFFER(twin, "%s: rmid %u tgid %u at %llu, expected rmid %u tgid %u at %llu",
			      what, record->rmid, record->tgid, (unsigned long long)record->time_ns,
			      expected->rmid, expected->tgid,
			      (unsigned long long)expected->time_ns);
	return NULL;
}

static const char *birth(struct twin *twin, uint32_t which, uint64_t argument)
{
	struct person *person = &twin->people[which];
	struct rmid_birth birth = { .key = key_of(which), .tgid = tgid_of(which) };
	uint64_t now_ns;
	bool room = twin->tracked < twin->room;

	if (person->alive)
		return NULL;
	now_ns = tell_time(twin);
	*person = (struct person){ .alive = true, .tracked = room };
	person->reference = 1 + argument % 3;
	person->threads = person->reference;
	person->why = LATSCOPE_RMID_BIRTH;
	if (argument / 3 % 8 == 7 && person->reference > 1) { /* one was about to end, or so */
		person->threads--;
		person->why = LATSCOPE_RMID_FOUND;
	}
	person->ticket = twin->ticket++;
	person->start_ns = twin->now_ns * 3;
	person->since_ns = twin->latest_ns;
	snprintf(person->comm, sizeof(person->comm), "born-%u", which % 100000);
	memcpy(birth.comm, person->comm, sizeof(birth.comm));
	birth.start_ns = person->start_ns;
	birth.threads = person->threads;
	birth.why = person->why;
	twin->tracked += room;
	twin->seen.untracked += !room;
	if (book__birth(&twin->book, &birth, now_ns) != room)
		return DIFFER(twin, "birth with %u of %u", twin->tracked, twin->room);
	return NULL;
}

/* Returns the slot that has waited longest; `slots` if none waits. */
static uint32_t next_to_serve(const struct twin *twin)
{
	uint32_t best = twin->slots;

	for (uint32_t i = 0; i < twin->slots; i++) {
		const struct person *person = &twin->people[i];

		if (person->tracked && !person->rmid &&
		    (best == twin->slots || person->ticket < twin->people[best].ticket))
			best = i;
	}
	return best;
}

/* Which has been free for longest, if that is long enough; 0 if none. */
static uint32_t next_to_give(const struct twin *twin)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i <= twin->rmids; i++)
		if (!twin->ids[i].used && (!best || twin->ids[i].ticket < twin->ids[best].ticket))
			best = i;
	if (best && twin->ids[best].ever &&
	    twin->latest_ns - twin->ids[best].freed_ns < TWIN_LIMBO_NS)
		return 0;
	return best;
}

static const char *serve(struct twin *twin)
{
	uint64_t now_ns = tell_time(twin);
	uint32_t which = next_to_serve(twin), rmid = next_to_give(twin), why;
	bool wanted = which < twin->slots && rmid, got, may;

	twin->seen.refused += which < twin->slots && !rmid;
	may = book__may_serve(&twin->book, twin->latest_ns);
	if (may != wanted)
		return DIFFER(twin, "may_serve says %d", may);
	if (wanted) {
		struct person *person = &twin->people[which];
		struct id *id = &twin->ids[rmid];

		why = person->since_ns == twin->latest_ns ? person->why : LATSCOPE_RMID_LATE;
		person->rmid = rmid;
		twin->expected = expect(twin, which, why);
		person->since_ns = twin->latest_ns;
		twin->seen.served++;
		twin->seen.late += why == LATSCOPE_RMID_LATE;
		twin->seen.reused_at_limbo +=
			id->ever && twin->latest_ns - id->freed_ns == TWIN_LIMBO_NS;
		id->used = true;
	}
	got = book__serve(&twin->book, now_ns, &twin->record);
	return compare(twin, "serve", got, wanted);
}

/* The oracle's end of a process; fills the record if there is one. */
static bool bury(struct twin *twin, uint32_t which)
{
	struct person *person = &twin->people[which];
	bool had = person->tracked && person->rmid;

	if (had) {
		twin->expected = expect(twin, which, LATSCOPE_RMID_EXIT);
		twin->ids[person->rmid] = (struct id){ .ticket = twin->ticket++,
						       .freed_ns = twin->latest_ns,
						       .ever = true };
		twin->seen.freed++;
	}
	twin->seen.died_waiting += person->tracked && !had;
	twin->tracked -= person->tracked;
	person->alive = false;
	person->tracked = false;
	person->rmid = 0;
	return had;
}

static const char *gone(struct twin *twin, uint32_t which, uint64_t argument)
{
	struct person *person = &twin->people[which];
	bool got, wanted = false;
	uint32_t live;
	uint64_t now_ns;

	if (!person->alive)
		return NULL;
	now_ns = tell_time(twin);
	person->reference--;
	live = person->reference - argument % (person->reference + 1);
	/* That the count is one low is found only while somebody lives. */
	if (person->threads == 1 && person->reference && !live)
		live = 1;
	got = book__thread_gone(&twin->book, key_of(which), live, now_ns, &twin->record);
	if (!person->tracked) {
		person->alive = person->reference > 0;
	} else if (person->threads > 1) {
		person->threads--;
	} else if (live) {
		person->threads = live;
		person->reference = live; /* the others are not looked at any more */
		twin->seen.miscounted++;
	} else {
		wanted = bury(twin, which);
	}
	return compare(twin, "gone", got, wanted);
}

static const char *exec(struct twin *twin, uint32_t which)
{
	struct person *person = &twin->people[which];
	bool got, wanted = person->tracked && person->rmid;
	uint64_t now_ns;

	if (!person->alive)
		return NULL;
	now_ns = tell_time(twin);
	snprintf(person->comm, sizeof(person->comm), "exec-%u", (unsigned)twin->ticket % 100000);
	if (wanted)
		twin->expected = expect(twin, which, LATSCOPE_RMID_EXEC);
	got = book__exec(&twin->book, key_of(which), person->comm, now_ns, &twin->record);
	return compare(twin, "exec", got, wanted);
}

static const char *tell(struct twin *twin, uint32_t which)
{
	struct person *person = &twin->people[which];
	uint32_t place = book__place(&twin->book, key_of(which));
	bool got, wanted = person->tracked && person->rmid;
	uint64_t now_ns;

	if ((place != PROCS_NONE) != person->tracked)
		return DIFFER(twin, "%u is %sin the table", which, person->tracked ? "not " : "");
	if (place == PROCS_NONE)
		return NULL;
	now_ns = tell_time(twin);
	if (book__rmid(&twin->book, place) != person->rmid)
		return DIFFER(twin, "%u has %u, expected %u", which, book__rmid(&twin->book, place),
			      person->rmid);
	if (wanted)
		twin->expected = expect(twin, which, LATSCOPE_RMID_DUMP);
	got = book__tell(&twin->book, place, now_ns, &twin->record);
	return compare(twin, "tell", got, wanted);
}

static const char *bury_both(struct twin *twin, uint32_t which)
{
	uint64_t now_ns = tell_time(twin);
	bool got = book__bury(&twin->book, key_of(which), now_ns, &twin->record);

	return compare(twin, "bury", got, bury(twin, which));
}

static const char *thread(struct twin *twin, uint32_t which)
{
	struct person *person = &twin->people[which];

	if (!person->alive || person->reference > 1000)
		return NULL;
	person->reference++;
	person->threads += person->tracked;
	if (book__thread(&twin->book, key_of(which)) != person->tracked)
		return DIFFER(twin, "a thread of %u was %s", which,
			      person->tracked ? "overlooked" : "counted");
	return NULL;
}

const char *twin__step(struct twin *twin, enum twin_op op, uint32_t which, uint64_t argument)
{
	which %= twin->slots;
	switch (op) {
	case TWIN_BIRTH:
		return birth(twin, which, argument);
	case TWIN_SERVE:
		return serve(twin);
	case TWIN_THREAD:
		return thread(twin, which);
	case TWIN_GONE:
		return gone(twin, which, argument);
	case TWIN_EXEC:
		return exec(twin, which);
	case TWIN_TELL:
		return tell(twin, which);
	case TWIN_BURY:
		return bury_both(twin, which);
	case TWIN_WAIT:
		twin->now_ns += argument % (2 * TWIN_LIMBO_NS);
		return NULL;
	case TWIN_BACK:
		twin->back_ns = argument % TWIN_LIMBO_NS;
		return NULL;
	case TWIN_OPS:
		break;
	}
	return "no such step";
}

const char *twin__check(struct twin *twin)
{
	const struct rmid_book *book = &twin->book;
	uint32_t used = 0, queued = 0, assigned = 0, waiting = 0;
	const char *why;

	for (uint32_t rmid = 1; rmid <= twin->rmids; rmid++) {
		uint32_t owner = rmid_alloc__owner(&book->alloc, rmid);

		used += twin->ids[rmid].used;
		if ((owner != RMID_NOBODY) != twin->ids[rmid].used)
			return DIFFER(twin, "rmid %u is %sowned", rmid,
				      twin->ids[rmid].used ? "not " : "");
		if (owner != RMID_NOBODY && book->procs.places[owner].rmid != rmid)
			return DIFFER(twin, "rmid %u's owner has %u", rmid,
				      book->procs.places[owner].rmid);
	}
	for (uint32_t rmid = book->alloc.head; rmid; rmid = book->alloc.infos[rmid].next)
		queued++;
	if (used + queued != twin->rmids)
		return DIFFER(twin, "%u used and %u queued of %u", used, queued, twin->rmids);
	for (uint32_t i = 0; i < twin->slots; i++) {
		why = tell(twin, i);
		if (why)
			return why;
		assigned += twin->people[i].tracked && twin->people[i].rmid;
		waiting += twin->people[i].tracked && !twin->people[i].rmid;
	}
	if (assigned != used || book->assigned != assigned || book->waiting != waiting ||
	    book->procs.count != assigned + waiting)
		return DIFFER(twin,
			      "%u used, %u assigned, %u waiting; the book has %u and %u of %u",
			      used, assigned, waiting, book->assigned, book->waiting,
			      book->procs.count);
	if (book->counts.refused != twin->seen.refused || book->counts.late != twin->seen.late ||
	    book->counts.untracked != twin->seen.untracked ||
	    book->counts.miscounted != twin->seen.miscounted ||
	    book->counts.allocs != twin->seen.served || book->counts.frees != twin->seen.freed)
		return DIFFER(twin, "counted otherwise");
	return NULL;
}

const char *twin__end(struct twin *twin)
{
	const char *why = NULL;

	for (uint32_t i = 0; i < twin->slots && !why; i++)
		why = bury_both(twin, i);
	if (why)
		return why;
	if (twin->book.assigned || twin->book.waiting || twin->book.procs.count)
		return DIFFER(twin, "something is left");
	return twin__check(twin);
}
