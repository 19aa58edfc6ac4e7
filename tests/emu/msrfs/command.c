// SPDX-License-Identifier: BSD-2-Clause
/*
 * Commands of the emulator, in its file `ctl`: a verb and KEY=VALUE words.
 *
 *   machine gen=icx sockets=2 cpus=4 boxes=40   a new one, without streams; CPUs in all
 *   time virtual=1 step=1000    time that goes on by 1 us with each access; 0: the real one
 *   time file=/tmp/clock        which is then virtual, and stands in that file as 8 bytes of ns
 *   advance ns=1e7              virtual time
 *   clock hz=2.4e9 socket=1     without socket: of all
 *   stream name=near rate=1e8 latency=90 opcode=drd memory=ddr remote=0 hit=0 skew=1 spread=4
 *          idle=80 service=10 capacity=4e8      for the loop; the first two streams are its tiers
 *                               a new one, or changes what is given of one
 *   loop requests=200 p=.7      closes the loop over the first two streams; changes what is given
 *   litter seed=1               what registers are found to hold
 *   top short=1e6               resets leave counters so much short of their wrap; 0: at 0
 *   poke socket=0 reg=0xe01 value=0x400135      another program writes a register
 *   fault access=read err=5 socket=0 reg=0xe08 times=1  err=0: a short transfer
 *   offline cpu=3 on=1          on=0: online again
 *   after accesses=1000 VERB... that verb, just before the so-manieth register access
 *   heal                        no more faults and plans, all CPUs online
 *   mark                        what was done so far is forgotten
 */
#include "emulator.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARRAY_SIZE(x) (sizeof(x) / sizeof((x)[0]))

#define WORDS 16

struct words {
	struct emulator *emulator;
	const char *rest; /* of the line, from the second word on */
	unsigned int count;
	struct {
		char *key, *value;
		bool used;
	} word[WORDS];
};

static int fail(struct emulator *emulator, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(struct emulator *emulator, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(emulator->error, sizeof(emulator->error), format, args);
	va_end(args);
	return -EINVAL;
}

static const char *text(struct words *words, const char *key)
{
	for (unsigned int i = 0; i < words->count; i++)
		if (!strcmp(words->word[i].key, key)) {
			words->word[i].used = true;
			return words->word[i].value;
		}
	return NULL;
}

/* Leaves *value unchanged if the word is missing, or is not a number, which fails the command. */
static bool number(struct words *words, const char *key, double *value)
{
	const char *given = text(words, key);
	char *end;
	double parsed;

	if (!given)
		return false;
	parsed = strtod(given, &end);
	if (end == given || *end)
		return fail(words->emulator, "%s=%s is no number", key, given), false;
	*value = parsed;
	return true;
}

static double number_or(struct words *words, const char *key, double otherwise)
{
	number(words, key, &otherwise);
	return otherwise;
}

/* Registers and what is in them need all 64 bits. */
static uint64_t bits(struct words *words, const char *key)
{
	const char *given = text(words, key);

	return given ? strtoull(given, NULL, 0) : 0;
}

static int do_machine(struct words *words)
{
	struct emulator *emulator = words->emulator;
	struct machine *machine = &emulator->machine;
	const char *gen = text(words, "gen");
	unsigned int sockets = number_or(words, "sockets", 1);
	unsigned int cpus = number_or(words, "cpus", 2 * sockets);
	unsigned int boxes = number_or(words, "boxes", 4);
	const struct map *map = map__named(gen ? gen : "icx");

	if (!map)
		return fail(emulator, "no generation %s", gen);
	if (!sockets || sockets > MACHINE_SOCKETS || !cpus || cpus % sockets ||
	    cpus > ARRAY_SIZE(emulator->offline) || !boxes || boxes > map->most)
		return fail(emulator, "no machine has %u sockets, %u CPUs and %u boxes", sockets,
			    cpus, boxes);
	emulator__now(emulator);
	*machine = (struct machine){
		.map = map, .sockets = sockets, .cpus = cpus, .boxes = boxes, .now = machine->now
	};
	for (unsigned int i = 0; i < sockets; i++)
		machine->socket[i].hz = 2e9;
	return 0;
}

static int do_time(struct words *words)
{
	struct emulator *emulator = words->emulator;
	const char *file = text(words, "file");

	emulator->virtual = number_or(words, "virtual", file ? 1 : emulator->virtual);
	emulator->step = number_or(words, "step", emulator->step);
	if (file && emulator__show_time(emulator, file))
		return fail(emulator, "cannot map %s", file);
	return 0;
}

static int do_advance(struct words *words)
{
	words->emulator->machine.now += (uint64_t)number_or(words, "ns", 0);
	return 0;
}

static int do_clock(struct words *words)
{
	struct machine *machine = &words->emulator->machine;
	int socket = number_or(words, "socket", -1);

	for (int i = 0; i < (int)machine->sockets; i++)
		if (socket < 0 || i == socket)
			number(words, "hz", &machine->socket[i].hz);
	return 0;
}

static struct stream *stream_named(struct machine *machine, const char *name)
{
	struct stream *stream;

	for (unsigned int i = 0; i < machine->streams; i++)
		if (!strcmp(machine->stream[i].name, name))
			return &machine->stream[i];
	if (machine->streams == MACHINE_STREAMS || strlen(name) >= sizeof(stream->name))
		return NULL;
	stream = &machine->stream[machine->streams++];
	strcpy(stream->name, name);
	machine__skew(machine, stream, 0, 1);
	return stream;
}

static int set_request(struct words *words, struct tor_request *request)
{
	const char *opcode = text(words, "opcode"), *memory = text(words, "memory");
	int found;

	if (opcode) {
		found = tor__opcode(opcode);
		if (found < 0)
			return fail(words->emulator, "no opcode %s", opcode);
		request->opcode = found;
	}
	if (memory) {
		found = tor__memory(memory);
		if (found < 0)
			return fail(words->emulator, "no memory %s", memory);
		request->memory = found;
	}
	request->remote = number_or(words, "remote", request->remote);
	request->hit = number_or(words, "hit", request->hit);
	return 0;
}

static int do_stream(struct words *words)
{
	struct machine *machine = &words->emulator->machine;
	const char *name = text(words, "name");
	struct stream *stream = name ? stream_named(machine, name) : NULL;
	double spread;

	if (!stream)
		return fail(words->emulator, "no room for that stream, or it has no name");
	number(words, "rate", &stream->rate);
	number(words, "latency", &stream->latency);
	number(words, "idle", &stream->idle);
	number(words, "service", &stream->service);
	number(words, "capacity", &stream->capacity);
	if (number(words, "spread", &spread))
		machine__skew(machine, stream, bits(words, "skew"), spread);
	return set_request(words, &stream->request);
}

static int do_loop(struct words *words)
{
	struct machine *machine = &words->emulator->machine;

	if (machine->streams < 2)
		return fail(words->emulator, "a loop goes over two streams");
	number(words, "requests", &machine->loop.requests);
	number(words, "p", &machine->loop.p);
	return 0;
}

static int do_litter(struct words *words)
{
	machine__litter(&words->emulator->machine, bits(words, "seed"));
	return 0;
}

static int do_top(struct words *words)
{
	words->emulator->machine.short_of_top = number_or(words, "short", 0);
	return 0;
}

static int do_poke(struct words *words)
{
	struct machine *machine = &words->emulator->machine;
	unsigned int socket = number_or(words, "socket", 0);
	uint64_t reg = bits(words, "reg"), value = bits(words, "value");

	if (socket >= machine->sockets || machine__write(machine, socket, reg, value))
		return fail(words->emulator, "register %#llx of socket %u does not take %#llx",
			    (unsigned long long)reg, socket, (unsigned long long)value);
	return 0;
}

static int do_fault(struct words *words)
{
	static const char *const names[] = { "open", "read", "write" };
	struct emulator *emulator = words->emulator;
	const char *access = text(words, "access");
	struct fault fault = { 0 };

	if (emulator->faults == EMULATOR_FAULTS)
		return fail(emulator, "no room for another fault");
	while (!access || strcmp(names[fault.access], access))
		if (++fault.access == ARRAY_SIZE(names))
			return fail(emulator, "access=open, read or write");
	fault.err = -number_or(words, "err", 0);
	fault.socket = number_or(words, "socket", -1);
	fault.reg = text(words, "reg") ? (int64_t)bits(words, "reg") : -1;
	fault.left = number_or(words, "times", 1e18);
	emulator->fault[emulator->faults++] = fault;
	return 0;
}

static int do_offline(struct words *words)
{
	unsigned int cpu = number_or(words, "cpu", 0);

	if (cpu >= words->emulator->machine.cpus)
		return fail(words->emulator, "no CPU %u", cpu);
	words->emulator->offline[cpu] = number_or(words, "on", 1);
	return 0;
}

/* The command is what follows the first word of the rest. */
static int do_after(struct words *words)
{
	struct emulator *emulator = words->emulator;
	const char *command = strchr(words->rest, ' ');
	struct plan *plan = &emulator->plan[emulator->plans];

	if (!command || emulator->plans == EMULATOR_PLANS)
		return fail(emulator, "nothing to do after that, or too much");
	plan->accesses = emulator->accesses + (uint64_t)number_or(words, "accesses", 0);
	snprintf(plan->command, sizeof(plan->command), "%s", command + 1);
	emulator->plans++;
	for (unsigned int i = 0; i < words->count; i++)
		words->word[i].used = true;
	return 0;
}

static int do_heal(struct words *words)
{
	words->emulator->faults = words->emulator->plans = 0;
	memset(words->emulator->offline, 0, sizeof(words->emulator->offline));
	return 0;
}

static int do_mark(struct words *words)
{
	emulator__mark(words->emulator);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(struct words *words);
} verbs[] = {
	{ "machine", do_machine }, { "time", do_time },	      { "advance", do_advance },
	{ "clock", do_clock },	   { "stream", do_stream },   { "loop", do_loop },
	{ "litter", do_litter },   { "top", do_top },	      { "poke", do_poke },
	{ "fault", do_fault },	   { "offline", do_offline }, { "after", do_after },
	{ "heal", do_heal },	   { "mark", do_mark },
};

static void split(struct words *words, char *line)
{
	char *word;

	while (words->count < WORDS && (word = strtok_r(NULL, " ", &line))) {
		char *value = strchr(word, '=');

		if (value)
			*value++ = '\0';
		words->word[words->count].key = word;
		words->word[words->count++].value = value ? value : word + strlen(word);
	}
}

static int run_verb(struct words *words, const char *verb)
{
	struct machine *machine = &words->emulator->machine;

	for (unsigned int i = 0; i < ARRAY_SIZE(verbs); i++) {
		int err;

		if (strcmp(verbs[i].name, verb))
			continue;
		err = verbs[i].run(words);
		if (!err && machine->loop.requests)
			machine__balance(machine);
		return err;
	}
	return fail(words->emulator, "no verb %s", verb);
}

int emulator__command(struct emulator *emulator, const char *line)
{
	struct words words = { .emulator = emulator };
	char copy[EMULATOR_LINE], *rest, *verb;
	int err;

	if (strlen(line) >= sizeof(copy))
		return fail(emulator, "a command of more than %d characters", EMULATOR_LINE - 1);
	strcpy(copy, line);
	verb = strtok_r(copy, " ", &rest);
	if (!verb)
		return fail(emulator, "an empty command");
	words.rest = line + (rest - copy);
	split(&words, rest);
	emulator->error[0] = '\0';
	emulator__now(emulator);
	machine__settle(&emulator->machine);
	err = run_verb(&words, verb);
	emulator__shown(emulator);
	for (unsigned int i = 0; !err && i < words.count; i++)
		if (!words.word[i].used)
			return fail(emulator, "%s knows no %s", verb, words.word[i].key);
	return err ? err : emulator->error[0] ? -EINVAL : 0;
}
