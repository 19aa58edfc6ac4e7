// SPDX-License-Identifier: BSD-2-Clause
#include "export.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <core/sanitize.h>
#include <core/sleep_stacks.h>
#include <core/vec.h>

#include <profile.pb-c.h>

#include "messages.h"
#include "stack_names.h"
#include "window.h"

#define NO_STACK 1 /* ID of the location of sleeps whose stack was not taken */

/* Each address is a location with a function of its own; their IDs follow NO_STACK. */
struct pprof {
	struct messages messages;
	const struct run *run;
	int64_t strings; /* written so far */
	uint64_t *addresses; /* sorted; owned */
	size_t nr_addresses;
	struct stack_names names;
};

static int64_t put_string(struct pprof *pprof, const char *text)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	char clean[FRAME_TEXT], *list[] = { clean };

	sanitize__text(clean, sizeof(clean), text);
	profile.n_string_table = 1;
	profile.string_table = list;
	messages__put(&pprof->messages, &profile.base);
	return pprof->strings++;
}

static void put_head(struct pprof *pprof)
{
	static const char *const comment = "sleeps over the threshold of the recording";
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__Mapping mapping = PPROF__MAPPING__INIT, *mappings[] = { &mapping };
	Pprof__ValueType time = PPROF__VALUE_TYPE__INIT, count = PPROF__VALUE_TYPE__INIT;
	Pprof__ValueType *types[] = { &time, &count };
	int64_t comments[1];

	put_string(pprof, ""); /* as the format has it */
	time.type = put_string(pprof, "off-cpu");
	time.unit = put_string(pprof, "nanoseconds");
	count.type = put_string(pprof, "sleeps");
	count.unit = put_string(pprof, "count");
	mapping.id = 1;
	mapping.filename = put_string(pprof, "[kernel.kallsyms]");
	mapping.has_functions = true; /* nothing is to be looked up */
	comments[0] = put_string(pprof, comment);
	profile.n_sample_type = 2;
	profile.sample_type = types;
	profile.n_mapping = 1;
	profile.mapping = mappings;
	profile.n_comment = 1;
	profile.comment = comments;
	profile.default_sample_type = time.type;
	profile.time_nanos = (int64_t)window__unix_ns(pprof->run);
	profile.duration_nanos = (int64_t)pprof->run->duration_ns;
	messages__put(&pprof->messages, &profile.base);
}

/* ---- locations ---- */

static void put_location(struct pprof *pprof, uint64_t id, uint64_t address, const char *name)
{
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__Location location = PPROF__LOCATION__INIT, *locations[] = { &location };
	Pprof__Function function = PPROF__FUNCTION__INIT, *functions[] = { &function };
	Pprof__Line line = PPROF__LINE__INIT, *lines[] = { &line };

	function.id = line.function_id = location.id = id;
	function.name = function.system_name = put_string(pprof, name);
	location.mapping_id = 1;
	location.address = address;
	location.n_line = 1;
	location.line = lines;
	profile.n_location = profile.n_function = 1;
	profile.location = locations;
	profile.function = functions;
	messages__put(&pprof->messages, &profile.base);
}

static int by_address(const void *left, const void *right)
{
	uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return a < b ? -1 : a > b;
}

static int add_addresses(struct pprof *pprof)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < pprof->names.nr; i++)
		err = vec__append(&pprof->addresses, &pprof->nr_addresses,
				  &pprof->names.frames[i].address, sizeof(*pprof->addresses));
	return err;
}

static void put_locations(struct pprof *pprof)
{
	size_t kept = 0;
	char name[FRAME_TEXT];

	put_location(pprof, NO_STACK, 0, "(no stack)");
	if (pprof->nr_addresses)
		qsort(pprof->addresses, pprof->nr_addresses, sizeof(*pprof->addresses), by_address);
	for (size_t i = 0; i < pprof->nr_addresses; i++) {
		if (kept && pprof->addresses[kept - 1] == pprof->addresses[i])
			continue;
		pprof->addresses[kept++] = pprof->addresses[i];
		stack_name__of(&pprof->run->frames, pprof->addresses[i], name);
		put_location(pprof, NO_STACK + kept, pprof->addresses[i], name);
	}
	pprof->nr_addresses = kept;
}

static uint64_t location_of(const struct pprof *pprof, uint64_t address)
{
	const uint64_t *found = bsearch(&address, pprof->addresses, pprof->nr_addresses,
					sizeof(address), by_address);

	return found ? NO_STACK + 1 + (uint64_t)(found - pprof->addresses) : NO_STACK;
}

/* ---- samples ---- */

static void put_sample(struct pprof *pprof, const struct sleep_stack *stack)
{
	const struct {
		const char *key, *text;
		int64_t number;
	} labels[] = { { "comm", stack->comm, 0 },
		       { "state", stack->state, 0 },
		       { "call", stack->call, 0 },
		       { "pid", NULL, stack->pid } };
	Pprof__Profile profile = PPROF__PROFILE__INIT;
	Pprof__Sample sample = PPROF__SAMPLE__INIT, *samples[] = { &sample };
	Pprof__Label made[4], *list[4];
	uint64_t locations[STACK_NAMES] = { NO_STACK };
	int64_t values[] = { (int64_t)stack->ns, (int64_t)stack->times };

	for (size_t i = 0; i < 4; i++) {
		if (!(labels[i].text ? labels[i].text[0] : labels[i].number))
			continue;
		made[sample.n_label] = (Pprof__Label)PPROF__LABEL__INIT;
		made[sample.n_label].key = put_string(pprof, labels[i].key);
		if (labels[i].text)
			made[sample.n_label].str = put_string(pprof, labels[i].text);
		made[sample.n_label].num = labels[i].number;
		list[sample.n_label] = &made[sample.n_label];
		sample.n_label++;
	}
	stack_names__of(&pprof->names, &pprof->run->frames, stack->stack);
	for (unsigned int i = 0; i < pprof->names.nr; i++)
		locations[i] = location_of(pprof, pprof->names.frames[i].address);
	sample.n_location_id = pprof->names.nr ? pprof->names.nr : 1;
	sample.location_id = locations;
	sample.n_value = 2;
	sample.value = values;
	sample.label = list;
	profile.n_sample = 1;
	profile.sample = samples;
	messages__put(&pprof->messages, &profile.base);
}

/* Twice over all stacks: their addresses first, then the samples. */
static int each_stack(struct pprof *pprof, bool puts)
{
	int err = 0;

	for (unsigned int i = 0; i < pprof->run->nr_probes; i++) {
		const struct table *table = pprof->run->probes[i].more[RUN_STACKS];
		size_t nr = sleep_stacks__is(table) ? sleep_stacks__nr(table) : 0;

		for (size_t j = 0; !err && j < nr; j++) {
			const struct sleep_stack stack = sleep_stacks__nth(table, j);

			stack_names__of(&pprof->names, &pprof->run->frames, stack.stack);
			if (puts)
				put_sample(pprof, &stack);
			else
				err = add_addresses(pprof);
		}
	}
	return err;
}

int export__pprof(FILE *out, const struct run *run)
{
	struct pprof *pprof = calloc(1, sizeof(*pprof));
	int err, failed;

	if (!pprof)
		return -ENOMEM;
	pprof->run = run;
	messages__begin(&pprof->messages, out, true);
	put_head(pprof);
	err = each_stack(pprof, false);
	if (!err) {
		put_locations(pprof);
		each_stack(pprof, true);
	}
	failed = messages__end(&pprof->messages);
	free(pprof->addresses);
	free(pprof);
	return err ? err : failed;
}
