// SPDX-License-Identifier: BSD-2-Clause
#include "stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <core/sanitize.h>
#include <symbols/symbols.h>

#include "calls.h"
#include "view_states.h"

#define PLACES (2 * STACKS_MOST) /* of the hash */

/* What sleeps are added up by. It is compared as bytes: no padding, unused ones are 0. */
struct stack_key {
	uint64_t stack[WHERE_FRAMES];
	char comm[LAT_COMM_LEN];
	uint32_t tgid, what, size; /* size: bytes of `stack` */
	uint32_t pad;
};
_Static_assert(sizeof(struct stack_key) == 8 * WHERE_FRAMES + LAT_COMM_LEN + 16,
	       "stack_key has no padding");

struct one {
	struct stack_key key;
	uint64_t ns, times;
	bool named; /* its addresses were given to `symbols` */
};

struct stacks {
	struct one ones[STACKS_MOST];
	size_t nr;
	uint16_t places[PLACES]; /* 1 + index; 0: free */
	struct one others[WHERE_STATES]; /* those without room */
};
_Static_assert(STACKS_MOST < UINT16_MAX, "an index fits a place");

int stacks__new(struct stacks **stacks)
{
	*stacks = calloc(1, sizeof(**stacks));
	return *stacks ? 0 : -ENOMEM;
}

void stacks__free(struct stacks *stacks)
{
	free(stacks);
}

/* FNV-1a, by words. */
static size_t hash(const struct stack_key *key)
{
	const unsigned char *bytes = (const unsigned char *)key;
	uint64_t hash = 0xcbf29ce484222325, word;

	for (size_t i = 0; i < sizeof(*key); i += sizeof(word)) {
		memcpy(&word, bytes + i, sizeof(word));
		hash = (hash ^ word) * 0x100000001b3;
		hash ^= hash >> 32;
	}
	return hash % PLACES;
}

static struct one *find(struct stacks *stacks, const struct stack_key *key)
{
	size_t place = hash(key);
	struct one *one;

	for (; stacks->places[place]; place = (place + 1) % PLACES) {
		one = &stacks->ones[stacks->places[place] - 1];
		if (!memcmp(&one->key, key, sizeof(*key)))
			return one;
	}
	if (stacks->nr == STACKS_MOST)
		return &stacks->others[WHERE_STATE(key->what)];
	one = &stacks->ones[stacks->nr++];
	one->key = *key;
	stacks->places[place] = (uint16_t)stacks->nr;
	return one;
}

void stacks__add(struct stacks *stacks, const struct where_part *part)
{
	struct stack_key key = { .tgid = part->tgid, .what = part->what };
	uint32_t state = WHERE_STATE(part->what);
	struct one *one;

	if (!part->wanted || state == WHERE_CPU || state == WHERE_READY || state >= WHERE_UNKNOWN)
		return;
	memcpy(key.comm, part->comm, strnlen(part->comm, sizeof(key.comm)));
	if (part->stack_size > 0 && (size_t)part->stack_size <= sizeof(part->stack)) {
		key.size = (uint32_t)part->stack_size;
		memcpy(key.stack, part->stack, key.size);
	}
	one = find(stacks, &key);
	one->ns += part->end_ns - part->begin_ns;
	one->times++;
}

/* ---- rows ---- */

static const char *as_text(const uint64_t *stack, size_t nr, char out[STACKS_TEXT])
{
	size_t len = 0;

	for (size_t i = 0; i < nr; i++)
		len += (size_t)snprintf(out + len, STACKS_TEXT - len, "%s%llx", i ? " " : "",
					(unsigned long long)stack[i]);
	return nr ? out : NULL;
}

const char *stacks__text(const struct where_part *part, char out[STACKS_TEXT])
{
	return as_text((const uint64_t *)part->stack,
		       part->stack_size > 0 ? (size_t)part->stack_size / 8 : 0, out);
}

static int name(struct one *one, struct symbols *symbols)
{
	if (!symbols || one->named || !one->key.size)
		return 0;
	one->named = true;
	return symbols__add(symbols, 0, one->key.stack, one->key.size / 8) == -ENOMEM ? -ENOMEM : 0;
}

/* `of_task`: the sleeps are of one process, and their stack is known. */
static int put(struct one *one, bool of_task, unsigned int state, struct table *table,
	       uint64_t time_ns, uint64_t over_ns)
{
	char comm[LAT_COMM_LEN + 1] = SLEEP_STACKS_OTHER, call[CALLS_NAME], text[STACKS_TEXT];
	char raw[LAT_COMM_LEN + 1] = "";
	int err;

	if (!one->times)
		return 0;
	err = table__add_row(table, time_ns);
	if (err)
		return err;
	if (of_task) {
		memcpy(raw, one->key.comm, LAT_COMM_LEN);
		sanitize__text(comm, sizeof(comm), raw);
		table__set_integer(table, SLEEP_STACKS_PID, one->key.tgid);
		err = table__set_text(table, SLEEP_STACKS_CALL,
				      calls__name(WHERE_CALL(one->key.what), call));
		if (!err)
			err = table__set_text(table, SLEEP_STACKS_STACK,
					      as_text(one->key.stack, one->key.size / 8, text));
	}
	if (!err)
		err = table__set_text(table, SLEEP_STACKS_COMM, comm);
	if (!err)
		err = table__set_text(table, SLEEP_STACKS_STATE, where_states[state]);
	table__set_integer(table, SLEEP_STACKS_NS, (int64_t)one->ns);
	table__set_integer(table, SLEEP_STACKS_TIMES, (int64_t)one->times);
	table__set_integer(table, SLEEP_STACKS_OVER_NS, (int64_t)over_ns);
	one->ns = one->times = 0;
	return err;
}

/* Those that recur keep their entries, so that each is named once. */
static void make_room(struct stacks *stacks)
{
	if (stacks->nr <= STACKS_MOST / 2)
		return;
	memset(stacks->ones, 0, sizeof(stacks->ones));
	memset(stacks->places, 0, sizeof(stacks->places));
	stacks->nr = 0;
}

int stacks__put(struct stacks *stacks, struct table *table, uint64_t time_ns, uint64_t over_ns,
		struct symbols *symbols)
{
	int err = 0;

	for (size_t i = 0; !err && i < stacks->nr; i++) {
		struct one *one = &stacks->ones[i];

		err = one->times ? name(one, symbols) : 0;
		if (!err)
			err = put(one, true, WHERE_STATE(one->key.what), table, time_ns, over_ns);
	}
	for (unsigned int state = 0; !err && state < WHERE_STATES; state++)
		err = put(&stacks->others[state], false, state, table, time_ns, over_ns);
	make_room(stacks);
	return err;
}
