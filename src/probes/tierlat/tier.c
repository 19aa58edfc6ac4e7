// SPDX-License-Identifier: BSD-2-Clause
#include "tier.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <host/host.h>

#include "internal.h"
#include "sysfs.h"

int tier_config__parse(struct tier_config *config, char *place)
{
	const char *model = strsep(&place, ":"), *boxes = strsep(&place, ":");

	config->model = tier_model__find(model);
	config->boxes = boxes ? (unsigned int)strtoul(boxes, NULL, 10) : 0;
	config->msr_root = place;
	return config->model && config->boxes && place ? 0 : -EINVAL;
}

int tier__fail(struct tier *tier, int err, const char *todo, const char *format, ...)
{
	char text[TIER_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	memcpy(tier->why, text, sizeof(text));
	tier->todo = todo;
	return err;
}

void tier__note(struct tier *tier, const char *what, const char *number, const char *format, ...)
{
	struct tier_trouble *trouble = &tier->trouble;
	va_list args;

	if (trouble->subject[0]) {
		*(strcmp(trouble->what, what) ? &trouble->others : &trouble->more) += 1;
		return;
	}
	va_start(args, format);
	vsnprintf(trouble->subject, sizeof(trouble->subject), format, args);
	va_end(args);
	snprintf(trouble->what, sizeof(trouble->what), "%s", what);
	snprintf(trouble->number, sizeof(trouble->number), "%s", number);
}

const char *tier__say(struct tier *tier)
{
	const struct tier_trouble *trouble = &tier->trouble;
	char more[32] = "", others[48] = "";

	if (trouble->more)
		snprintf(more, sizeof(more), " and %u more", trouble->more);
	if (trouble->others)
		snprintf(others, sizeof(others), "; something else with %u", trouble->others);
	snprintf(tier->said, sizeof(tier->said), "%s%s: %s%s%s", trouble->subject, more,
		 trouble->what, trouble->number, others);
	return tier->said;
}

struct tier_socket *tier__socket_of(struct tier *tier, int package)
{
	struct tier_socket *socket;

	for (unsigned int i = 0; i < tier->nr_sockets; i++) {
		if (tier->sockets[i].package == package)
			return &tier->sockets[i];
	}
	if (tier->nr_sockets == TIER_SOCKETS)
		return NULL;
	socket = &tier->sockets[tier->nr_sockets++];
	socket->package = package;
	return socket;
}

const struct tier_class *tier__class(const struct tier *tier, unsigned int position)
{
	return &tier->model->tiers[tier->tiers[position]];
}

struct tier_configs tier__configs(const struct tier *tier, const struct tier_share *share,
				  int event)
{
	const struct tier_class *class =
		tier__class(tier, (unsigned int)(event < 0 ? share->tier : event));

	switch (event) {
	case TIER_NO_TIER:
		return (struct tier_configs){ 0 };
	case TIER_CLOCKTICKS:
		return (struct tier_configs){ .config = tier->model->clock };
	case TIER_OCCUPANCY:
		return (struct tier_configs){ class->occupancy, class->config1 };
	default:
		return (struct tier_configs){ class->inserts, class->config1 };
	}
}

/* Counters read from files may come from an x86 CPU on another machine. */
static bool is_elsewhere(const struct tier *tier)
{
	return tier->root[0] || tier->config.msr_root;
}

static int find_model(struct tier *tier)
{
	struct tier_cpu cpu;
	int err;

	if (host__not_x86() && !is_elsewhere(tier))
		return tier__fail(tier, -EOPNOTSUPP, HOST_X86_TODO, "%s", host__not_x86());
	tier->model = tier->config.model;
	if (tier->model)
		return 0;
	err = tier_cpu__read(&cpu, tier->root);
	if (err)
		return tier__fail(tier, -EOPNOTSUPP, "name the model by --model",
				  "cannot tell what CPU this is from /proc/cpuinfo");
	tier->model = tier_model__of(&cpu);
	if (tier->model)
		return 0;
	tier__name_unknown(tier->said, &cpu);
	return tier__fail(tier, -EOPNOTSUPP, NULL, "%s", tier->said);
}

static int add_tier(struct tier *tier, unsigned int index)
{
	for (unsigned int i = 0; i < tier->nr_tiers; i++) {
		if (tier->tiers[i] == index)
			return tier__fail(tier, -EINVAL, NULL, "tier %s is named twice",
					  tier->model->tiers[index].name);
	}
	tier->tiers[tier->nr_tiers++] = index;
	return 0;
}

static int add_named(struct tier *tier, const char *name, size_t len)
{
	char known[TIER_TEXT] = "";

	for (unsigned int i = 0; i < tier->model->nr_tiers; i++) {
		const char *one = tier->model->tiers[i].name;

		if (strlen(one) == len && !memcmp(one, name, len))
			return add_tier(tier, i);
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s",
			 i ? ", " : "", one);
	}
	return tier__fail(tier, -EINVAL, NULL, "%s has no tier '%.*s'; choose from %s",
			  tier->model->title, (int)(len < 32 ? len : 32), name, known);
}

/* A tier that the machine lacks would use boxes for nothing. */
static bool is_there(const struct tier *tier, const struct tier_class *class)
{
	if (class->needs == TIER_ALWAYS)
		return true;
	return !tier->config.msr_root && tier__has_memory(class, tier->root);
}

static int choose_tiers(struct tier *tier)
{
	const char *names = tier->config.tiers;
	bool all = names && !strcmp(names, "all");
	int err = 0;

	for (unsigned int i = 0; (!names || all) && i < tier->model->nr_tiers; i++) {
		if (all || is_there(tier, &tier->model->tiers[i]))
			add_tier(tier, i);
	}
	while (names && !all && !err) {
		size_t len = strcspn(names, ",");

		err = add_named(tier, names, len);
		if (!names[len])
			break;
		names += len + 1;
	}
	return err;
}

static void forget_method(struct tier *tier)
{
	if (tier->state)
		tier->ops->close(tier);
	tier->state = NULL;
	memset(tier->sockets, 0, sizeof(tier->sockets));
	tier->nr_sockets = 0;
}

static int try_method(struct tier *tier, const struct tier_method_ops *ops)
{
	int err;

	tier->ops = ops;
	err = ops->find(tier);
	if (err == -ENOMEM)
		tier__fail(tier, err, NULL, "out of memory");
	return err;
}

/* Options that perf does not support select msr. */
static bool wants_msr(const struct tier_config *config)
{
	return config->msr_root || config->cpus || config->boxes || config->take;
}

/* perf first, because the kernel arbitrates it. If it fails, its reason is reported. */
static int find_method(struct tier *tier)
{
	char why[TIER_TEXT];
	const char *todo;
	int err;

	if (tier->config.method == TIER_MSR ||
	    (tier->config.method == TIER_AUTO && wants_msr(&tier->config)))
		return try_method(tier, &tier_msr);
	err = try_method(tier, &tier_perf);
	if (err != -EOPNOTSUPP || tier->config.method == TIER_PERF || tier->amd)
		return err;
	memcpy(why, tier->why, sizeof(why));
	todo = tier->todo;
	forget_method(tier);
	switch (try_method(tier, &tier_msr)) {
	case 0:
		return 0;
	case -EBUSY:
		return -EBUSY;
	default:
		return tier__fail(tier, err, todo, "%s", why);
	}
}

static int share_out(struct tier *tier)
{
	unsigned int least = tier_share__least(tier->nr_tiers);

	for (unsigned int i = 0; i < tier->nr_sockets; i++) {
		struct tier_socket *socket = &tier->sockets[i];
		size_t nr = socket->nr_boxes * (tier->amd ? tier->nr_tiers : 1);

		if (!tier->amd && socket->nr_boxes < least)
			return tier__fail(tier, -EINVAL, "choose fewer tiers by --tier",
					  "%u tiers need %u CHAs, but socket %d has %u",
					  tier->nr_tiers, least, socket->package, socket->nr_boxes);
		tier_share__out(socket->shares, socket->nr_boxes, tier->nr_tiers,
				tier->model->tiers[0].config1);
		socket->deltas = calloc(nr, sizeof(*socket->deltas));
		if (!socket->deltas)
			return tier__fail(tier, -ENOMEM, NULL, "out of memory");
	}
	return 0;
}

static void free_tier(struct tier *tier)
{
	for (unsigned int i = 0; i < tier->nr_sockets; i++)
		free(tier->sockets[i].deltas);
	free(tier);
}

static struct tier *new_tier(const struct tier_config *config, char why[TIER_TEXT],
			     const char **todo)
{
	struct tier *tier = calloc(1, sizeof(*tier));

	*todo = NULL;
	if (!tier) {
		snprintf(why, TIER_TEXT, "out of memory");
		return NULL;
	}
	tier->config = *config;
	tier->root = config->root ? config->root : "";
	tier->sys = config->sys ? config->sys : &tier_sys_linux;
	return tier;
}

/* Finds what the machine has; writes nothing. */
static int find(struct tier *tier)
{
	int err;

	err = find_model(tier);
	if (!err)
		err = choose_tiers(tier);
	if (err)
		return err;
	tier->amd = tier->model->kind == TIER_AMD_L3;
	return find_method(tier);
}

static void give_up(struct tier *tier, char why[TIER_TEXT], const char **todo)
{
	memcpy(why, tier->why, TIER_TEXT);
	*todo = tier->todo;
	if (tier->state)
		tier->ops->close(tier);
	free_tier(tier);
}

int tier__open(struct tier **opened, const struct tier_config *config, char why[TIER_TEXT],
	       const char **todo)
{
	struct tier *tier = new_tier(config, why, todo);
	int err;

	if (!tier)
		return -ENOMEM;
	err = find(tier);
	if (!err)
		err = share_out(tier);
	if (!err)
		err = tier->ops->start(tier);
	if (err)
		give_up(tier, why, todo);
	else
		*opened = tier;
	return err;
}

int tier__reset(const struct tier_config *config, char done[TIER_TEXT], char why[TIER_TEXT],
		const char **todo)
{
	struct tier *tier = new_tier(config, why, todo);
	int err;

	if (!tier)
		return -ENOMEM;
	tier->config.method = TIER_MSR;
	err = find(tier);
	if (!err)
		err = msr__reset(tier, done);
	give_up(tier, why, todo);
	return err;
}

int tier__close(struct tier *tier, char why[TIER_TEXT])
{
	int err;

	err = tier->ops->close(tier);
	memcpy(why, tier->why, TIER_TEXT);
	free_tier(tier);
	return err;
}

static void reject_odd_clock(struct tier *tier, unsigned int i, unsigned int box)
{
	static const char other[] = "counts another clock than the other CHAs of its socket, as if "
				    "another program (perf? pcm?) had stopped it; interval dropped";
	static const char alone[] = "counts another clock than before, and no other CHA of its "
				    "socket counts one to compare; interval dropped";
	struct tier_socket *socket = &tier->sockets[i];
	const struct tier_clocks *clocks = &socket->clocks;
	char number[48];

	socket->deltas[box].valid = false;
	snprintf(number, sizeof(number), " (%.3g GHz, %s %.3g GHz)", clocks->hz[box] / 1e9,
		 clocks->alone ? "before" : "others",
		 (clocks->alone ? clocks->good[box] : clocks->usual_hz) / 1e9);
	tier->ops->reject(tier, i, box, clocks->alone ? alone : other, number);
}

/* What stopped a box in the interval, and started it again, shows only in its clock. */
static void check_clocks(struct tier *tier, unsigned int i)
{
	struct tier_socket *socket = &tier->sockets[i];
	unsigned int dies = tier->model->dies ? tier->model->dies : 1;

	tier_clocks__compare(&socket->clocks, socket->shares, socket->deltas, socket->nr_boxes,
			     dies);
	for (unsigned int b = 0; b < socket->nr_boxes; b++) {
		if (socket->clocks.odd[b])
			reject_odd_clock(tier, i, b);
	}
}

int tier__read(struct tier *tier, struct tier_sample *samples, char why[TIER_TEXT])
{
	uint64_t least = tier->config.min_inserts;
	int err;

	memset(&tier->trouble, 0, sizeof(tier->trouble));
	tier->told = false;
	err = tier->ops->read(tier);
	tier->failures = err ? tier->failures + 1 : 0;
	/* After a transient error all deltas are invalid, and the interval is unknown. */
	if (err == -EBUSY || tier->failures == TIER_PATIENCE) {
		memcpy(why, tier->why, TIER_TEXT);
		return err;
	}
	for (unsigned int i = 0; i < tier->nr_sockets; i++) {
		const struct tier_socket *socket = &tier->sockets[i];

		if (!tier->amd)
			check_clocks(tier, i);
		for (unsigned int t = 0; t < tier->nr_tiers; t++, samples++) {
			samples->socket = socket->package;
			samples->tier = tier->tiers[t];
			if (tier->amd)
				tier_latency__of_samples(&samples->latency, tier->model,
							 &socket->deltas[t * socket->nr_boxes],
							 socket->nr_boxes, least);
			else
				tier_latency__of(&samples->latency, t, socket->shares,
						 socket->deltas, socket->nr_boxes, least);
		}
	}
	return 0;
}

static bool sampled_raw(const struct tier_delta *delta, struct tier_raw *raw)
{
	*raw = (struct tier_raw){ .own = true,
				  .inserts_known = true,
				  .occupancy = delta->counts[0],
				  .inserts = delta->counts[1],
				  .ns = (double)delta->counted_ns,
				  .clock_ns = NAN };
	return delta->valid && delta->counted_ns;
}

bool tier__raw(const struct tier *tier, unsigned int i, unsigned int box, unsigned int position,
	       struct tier_raw *raw)
{
	const struct tier_socket *socket = &tier->sockets[i];
	bool known;

	if (tier->amd)
		known = sampled_raw(&socket->deltas[position * socket->nr_boxes + box], raw);
	else
		known = tier_raw__of(raw, position, socket->shares, socket->deltas,
				     socket->nr_boxes, box);
	raw->id = socket->box_ids[box];
	raw->tier = tier->tiers[position];
	return known;
}

const char *tier__trouble(struct tier *tier)
{
	bool told = tier->told;

	tier->told = true;
	return tier->trouble.subject[0] && !told ? tier__say(tier) : NULL;
}

const char *tier__trouble_kind(const struct tier *tier)
{
	return tier->trouble.number[0] ? tier->trouble.what : tier->said;
}

const struct tier_model *tier__model(const struct tier *tier)
{
	return tier->model;
}

const char *tier__method(const struct tier *tier)
{
	return tier->ops->name;
}

const char *tier__mechanism(struct tier *tier)
{
	tier->ops->describe(tier, tier->said);
	return tier->said;
}

unsigned int tier__sockets(const struct tier *tier)
{
	return tier->nr_sockets;
}

int tier__socket(const struct tier *tier, unsigned int i)
{
	return tier->sockets[i].package;
}

unsigned int tier__boxes(const struct tier *tier, unsigned int i)
{
	return tier->sockets[i].nr_boxes;
}

uint32_t tier__measured(const struct tier *tier)
{
	uint32_t mask = 0;

	for (unsigned int i = 0; i < tier->nr_tiers; i++)
		mask |= 1U << tier->tiers[i];
	return mask;
}

bool tier__scales(const struct tier *tier)
{
	if (tier->amd)
		return false;
	if (tier->model->tiers[0].config1) /* one filter per box, which msr switches in turn */
		return tier->nr_tiers > 1 && tier->ops == &tier_perf;
	return tier->nr_tiers > 3;
}

unsigned int tier__samples(const struct tier *tier)
{
	return tier->nr_sockets * tier->nr_tiers;
}

uint64_t tier__calls(const struct tier *tier)
{
	return tier->calls;
}
