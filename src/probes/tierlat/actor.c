// SPDX-License-Identifier: BSD-2-Clause
#include "actor.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <host/first_line.h>
#include <host/numa_nodes.h>

#define LEAST_LIMIT_NS 5000000ULL
#define LEAST_BYTES 4096
#define LEAST_WEIGHT 0.0025 /* weights give no share more exactly */

/* clang-format off */
const struct table_column action_columns[ACTION_COLUMNS] = {
	[ACTION_NAME] = { "action", "", "move, would move (--dry-run), set weights, would set "
			  "weights, stay, wait, full, stop", TABLE_TEXT, true },
	[ACTION_TO] = { "to", "", "tier that the pages move to", TABLE_TEXT, true },
	[ACTION_WHY] = { "why", "", "reason of the action", TABLE_TEXT, true },
	[ACTION_METHOD] = { "method", "", "how pages are moved", TABLE_TEXT, false },
	[ACTION_LATENCY_DEFAULT] = { "latency_default_ns", "ns", "of the default tier in this "
				     "interval", TABLE_REAL, false },
	[ACTION_LATENCY_ALTERNATE] = { "latency_alternate_ns", "ns", "of the alternate tier",
				       TABLE_REAL, false },
	[ACTION_P] = { "p", "", "share of the requests that go to the default tier", TABLE_REAL,
		       false },
	[ACTION_BEFORE] = { "placement_before", "", "share of the bytes on the default tier",
			    TABLE_REAL, false },
	[ACTION_TARGET] = { "placement_target", "", "where the action wants it", TABLE_REAL,
			    false },
	[ACTION_ASKED] = { "asked_bytes", "B", "bytes to move", TABLE_INTEGER, false },
	[ACTION_MOVED] = { "moved_bytes", "B", "bytes found on the other tier after the move",
			   TABLE_INTEGER, false },
	[ACTION_AFTER] = { "placement_after", "", "the share, read again after the action",
			   TABLE_REAL, false },
	[ACTION_VERIFIED] = { "verified", "", "1: the placement changed by at least half of what "
			      "was asked, or the weights read back as set; 0: it did not",
			      TABLE_INTEGER, false },
	[ACTION_WEIGHTS_BEFORE] = { "weights_before", "", "share of new pages that the weights "
				    "give to the default tier", TABLE_REAL, false },
	[ACTION_WEIGHTS_AFTER] = { "weights_after", "", "the share, read again after the action",
				   TABLE_REAL, false },
};
/* clang-format on */

struct actor {
	struct act_config config;
	const struct act_method *method;
	struct steer steer;
	struct act *act; /* NULL: it stopped */
	const struct tier_model *model;
	struct actor_pair pair;
	int socket;
	unsigned int samples; /* per read */
	struct numa_nodes nodes;
	struct act_nodes masks;
	/* of the nodes without load, by the HMAT: the slowest of each tier; 0: unknown */
	uint64_t near_ns, far_ns;
	uint64_t large; /* bytes of a large page; 0: none was seen */
	uint64_t last_ns;
	char trouble[TIER_TEXT]; /* empty: none */
	bool told_full, told_idle;
	bool weighed; /* the weights are this actor's */
};

static int choose_socket(struct actor *actor, const struct tier *tier, char why[TIER_TEXT])
{
	actor->socket = actor->config.socket;
	for (unsigned int i = 0; i < tier__sockets(tier); i++) {
		if (actor->socket < 0 && tier__sockets(tier) == 1)
			actor->socket = tier__socket(tier, i);
		if (actor->socket == tier__socket(tier, i))
			return 0;
	}
	snprintf(why, TIER_TEXT, "--act needs --socket N: one of the %u sockets measured",
		 tier__sockets(tier));
	return -EINVAL;
}

static uint64_t unloaded_ns(const struct actor *actor, uint64_t mask)
{
	uint64_t most = 0;

	for (unsigned int i = 0; i < actor->nodes.nr; i++) {
		uint64_t one = actor->nodes.nodes[i].read_latency_ns;

		if (!(mask >> i & 1))
			continue;
		if (!one)
			return 0;
		most = one > most ? one : most;
	}
	return most;
}

static int find_nodes(struct actor *actor, char why[TIER_TEXT])
{
	const unsigned int tiers[2] = { actor->pair.near, actor->pair.far };
	uint64_t masks[2];
	int err;

	err = numa_nodes__read(&actor->nodes, actor->config.root);
	if (err) {
		snprintf(why, TIER_TEXT, "cannot read the NUMA nodes: %s", strerror(-err));
		return err == -ENOENT ? -EOPNOTSUPP : err;
	}
	for (unsigned int i = 0; i < 2; i++) {
		const char *name = actor->model->tiers[tiers[i]].name;
		int class = numa_class__of_tier(name);

		masks[i] = class < 0 ? 0
				     : numa_nodes__mask(&actor->nodes, (enum numa_class) class,
							actor->socket);
		if (masks[i])
			continue;
		snprintf(why, TIER_TEXT, "no NUMA node is %s memory of socket %d; see --tier", name,
			 actor->socket);
		return -EOPNOTSUPP;
	}
	actor->masks = (struct act_nodes){ masks[0], masks[1] };
	actor->near_ns = unloaded_ns(actor, masks[0]);
	actor->far_ns = unloaded_ns(actor, masks[1]);
	return 0;
}

static int open_actor(struct actor *actor, const struct tier *tier, char why[TIER_TEXT])
{
	int err;

	if (actor->pair.near == actor->pair.far || actor->model->kind != TIER_TOR) {
		snprintf(why, TIER_TEXT, "--act needs two tiers whose requests are counted");
		return -EOPNOTSUPP;
	}
	err = choose_socket(actor, tier, why);
	/* One node is a better reason than no node for a tier. */
	if (!err)
		err = act__look(actor->method, actor->config.root, why);
	if (!err)
		err = find_nodes(actor, why);
	return err ? err : act__open(&actor->act, &actor->config, &actor->masks, why);
}

/* Of memory that is accessed, to the node of the CPU that accesses it. */
static void look_for_balancing(struct actor *actor)
{
	char line[16];

	if (!actor->config.dry_run &&
	    !first_line__read(actor->config.root, "/proc/sys/kernel/numa_balancing", line,
			      sizeof(line)) &&
	    strcmp(line, "0"))
		snprintf(actor->trouble, sizeof(actor->trouble),
			 "NUMA balancing of the kernel moves pages, too; switch it off by sysctl "
			 "kernel.numa_balancing=0");
}

int actor__new(struct actor **opened, const struct act_config *config,
	       const struct steer_config *steer, const struct tier *tier,
	       const struct actor_pair *pair, char why[TIER_TEXT])
{
	struct actor *actor = calloc(1, sizeof(*actor));
	int err;

	if (!actor)
		return -ENOMEM;
	actor->config = *config;
	actor->method = act_method__find(config->method);
	actor->model = tier__model(tier);
	actor->pair = *pair;
	actor->samples = tier__samples(tier);
	steer__begin(&actor->steer, steer);
	err = open_actor(actor, tier, why);
	if (err) {
		free(actor);
	} else {
		look_for_balancing(actor);
		*opened = actor;
	}
	return err;
}

static const struct tier_latency *find(const struct actor *actor, const struct tier_sample *samples,
				       unsigned int tier)
{
	for (unsigned int i = 0; i < actor->samples; i++)
		if (samples[i].socket == actor->socket && samples[i].tier == tier)
			return &samples[i].latency;
	return NULL;
}

static int set_action(const struct actor *actor, struct table *table, const char *action,
		      const char *why, double shift)
{
	const struct tier_class *tiers = actor->model->tiers;
	const char *to = shift > 0   ? tiers[actor->pair.near].name
			 : shift < 0 ? tiers[actor->pair.far].name
				     : "none";
	int err = table__set_text(table, ACTION_NAME, action);

	if (!err)
		err = table__set_text(table, ACTION_TO, to);
	return err ? err : table__set_text(table, ACTION_WHY, why);
}

/* All its boxes counted, and hardly a request came. */
static bool is_idle(const struct tier_latency *latency)
{
	return latency->rate_known && !latency->latency_known && latency->boxes &&
	       !latency->boxes_lost;
}

/*
 * A tier that nobody uses has no loaded latency, but the one that the HMAT says. Colloid has a
 * constant floor instead. Not known if this is unknown, too.
 */
static bool take(const struct tier_latency *latency, bool idle, uint64_t unloaded_ns,
		 double *outstanding, double *rate)
{
	*rate = latency->rate;
	*outstanding = latency->outstanding;
	if (idle) {
		*rate = fmax(latency->rate, 1);
		*outstanding = *rate * (double)unloaded_ns / 1e9;
	}
	return idle ? unloaded_ns > 0 : latency->latency_known && latency->rate_known;
}

static struct steer_load load_of(const struct actor *actor, const struct tier_sample *samples)
{
	const struct tier_latency *near = find(actor, samples, actor->pair.near);
	const struct tier_latency *far = find(actor, samples, actor->pair.far);
	struct steer_load load = { 0 };
	struct colloid_load *of = &load.load;

	if (!near || !far)
		return load;
	load.stolen = near->boxes_lost || far->boxes_lost;
	load.idle_l = is_idle(near);
	load.idle_r = is_idle(far);
	load.known = !(load.idle_l && load.idle_r);
	load.known &= take(near, load.idle_l, actor->near_ns, &of->occ_l, &of->ins_l);
	load.known &= take(far, load.idle_r, actor->far_ns, &of->occ_r, &of->ins_r);
	if (!load.known)
		load.load = (struct colloid_load){ 0 };
	return load;
}

/* One tier has a latency, and the other one neither traffic nor an HMAT. */
static bool lacks_hmat(const struct steer_load *load)
{
	return !load->known && !load->stolen && load->idle_l != load->idle_r;
}

static int wait_for_traffic(struct actor *actor, struct table *table, const struct steer_load *load)
{
	unsigned int tier = load->idle_l ? actor->pair.near : actor->pair.far;

	if (!actor->told_idle)
		snprintf(actor->trouble, sizeof(actor->trouble),
			 "nothing reads from %s, and no HMAT says how fast it is: no page moves "
			 "until something does; put some pages there by numactl",
			 actor->model->tiers[tier].name);
	actor->told_idle = true;
	return set_action(actor, table, "wait", "idle tier without an HMAT", 0);
}

/* What was measured, in the newest row. */
static int set_measured(const struct actor *actor, struct table *table,
			const struct steer_load *load)
{
	const struct colloid_load *measured = &load->load;
	double share = load->placement;

	if (load->known && !load->idle_l)
		table__set_real(table, ACTION_LATENCY_DEFAULT,
				measured->occ_l / measured->ins_l * 1e9);
	if (load->known && !load->idle_r)
		table__set_real(table, ACTION_LATENCY_ALTERNATE,
				measured->occ_r / measured->ins_r * 1e9);
	if (load->known)
		table__set_real(table, ACTION_P,
				measured->ins_l / (measured->ins_l + measured->ins_r));
	table__set_real(table, ACTION_BEFORE, share);
	return table__set_text(table, ACTION_METHOD, actor->config.method);
}

/* Puts everything back; the measurement goes on. */
static int stop(struct actor *actor, struct table *table, const char *why)
{
	char left[TIER_TEXT] = "";
	int err;

	snprintf(actor->trouble, sizeof(actor->trouble), "--act ends: %.200s", why);
	err = act__close(actor->act, left);
	actor->act = NULL;
	if (err)
		snprintf(actor->trouble, sizeof(actor->trouble), "--act ends: %.100s; %s", why,
			 left);
	return set_action(actor, table, "stop", why, 0);
}

static int full(struct actor *actor, struct table *table, double shift)
{
	unsigned int tier = shift > 0 ? actor->pair.near : actor->pair.far;

	if (!actor->told_full)
		snprintf(actor->trouble, sizeof(actor->trouble),
			 "no page was moved: the nodes of %s are full",
			 actor->model->tiers[tier].name);
	actor->told_full = true;
	return set_action(actor, table, "full", "no room on the nodes", shift);
}

/*
 * Tells the decision what became of it. What there was no time for did not fail. What DAMON did not
 * move has been judged by act_damon.c.
 */
static void tell(struct actor *actor, double shift, double done, int64_t bytes,
		 const struct act_done *moved)
{
	if (moved->late)
		shift *= fmin(1, (double)moved->tried / (double)llabs((long long)bytes));
	if (actor->method->judge)
		shift = done / shift > 0 ? done : 0;
	if (shift != 0 && !isnan(done))
		steer__moved(&actor->steer, shift, done);
}

static int move(struct actor *actor, struct table *table, const struct steer_answer *answer,
		const struct act_place *before, uint64_t limit_ns)
{
	double all = (double)(before->near_bytes + before->far_bytes), shift = answer->shift, done;
	int64_t bytes = (int64_t)(shift * all);
	char why[TIER_TEXT];
	struct act_place after;
	struct act_done moved;
	int err;

	if (llabs((long long)bytes) < LEAST_BYTES)
		return set_action(actor, table, "stay", "less than a page to move", 0);
	table__set_integer(table, ACTION_ASKED, llabs((long long)bytes));
	table__set_real(table, ACTION_TARGET, act_place__share(before) + shift);
	if (actor->config.dry_run)
		return set_action(actor, table, "would move", answer->why, shift);
	err = act__move(actor->act, bytes, limit_ns, &moved, why);
	if (!err)
		err = act__place(actor->act, &after, why);
	if (err)
		return stop(actor, table, why);
	table__set_integer(table, ACTION_MOVED, (int64_t)moved.moved);
	table__set_real(table, ACTION_AFTER, act_place__share(&after));
	if (moved.full && !moved.moved)
		return full(actor, table, shift);
	actor->large = moved.large ? moved.large : actor->large;
	if (moved.early || (moved.large && !moved.moved))
		steer__deferred(&actor->steer);
	if (moved.large && !moved.moved)
		return set_action(actor, table, "wait", "less than a large page to move", 0);
	if (moved.early)
		return set_action(actor, table, "wait", "DAMON has watched for less than 2 s", 0);
	done = act_place__share(&after) - act_place__share(before);
	table__set_integer(table, ACTION_VERIFIED, done / shift >= 0.5);
	tell(actor, shift, done, bytes, &moved);
	return set_action(actor, table, "move", answer->why, shift);
}

static int weigh(struct actor *actor, struct table *table, const struct steer_answer *answer,
		 const struct act_place *before)
{
	double placement = act_place__share(before), shift = answer->shift, aim;
	double now = actor->weighed ? before->weighted : placement;
	bool dry = actor->config.dry_run;
	struct act_place after;
	char why[TIER_TEXT];

	aim = act_weights__aim(placement, now, shift);
	if (fabs(aim - before->weighted) < LEAST_WEIGHT)
		return set_action(actor, table, "wait", "old pages stay where they are", 0);
	table__set_real(table, ACTION_TARGET, aim);
	if (dry)
		return set_action(actor, table, "would set weights", answer->why, shift);
	if (act__weigh(actor->act, aim, &after, why))
		return stop(actor, table, why);
	actor->weighed = true;
	table__set_real(table, ACTION_WEIGHTS_AFTER, after.weighted);
	table__set_integer(table, ACTION_VERIFIED, 1);
	return set_action(actor, table, "set weights", answer->why, shift);
}

/* What is written if there is no page whose placement counts. */
static const char *no_memory(const struct actor *actor)
{
	return actor->method->weigh ? "no memory with weighted interleave"
				    : "no memory on these nodes";
}

int actor__quantum(struct actor *actor, struct table *table, uint64_t time_ns,
		   const struct tier_sample *samples)
{
	static const char *const names[] = {
		[STEER_UNKNOWN] = "wait", [STEER_STAY] = "stay", [STEER_WAIT] = "wait"
	};
	uint64_t length = time_ns - actor->last_ns;
	struct steer_load load = load_of(actor, samples);
	struct steer_answer answer;
	struct act_place place;
	char why[TIER_TEXT];
	int err;

	actor->last_ns = time_ns;
	if (!actor->act)
		return 0;
	err = table__add_row(table, time_ns);
	if (err)
		return err;
	if (act__place(actor->act, &place, why))
		return stop(actor, table, why);
	load.placement = act_place__share(&place);
	if (!isnan(place.weighted))
		table__set_real(table, ACTION_WEIGHTS_BEFORE, place.weighted);
	err = set_measured(actor, table, &load);
	if (err)
		return err;
	if (isnan(load.placement))
		return set_action(actor, table, "wait", no_memory(actor), 0);
	if (actor->method->weigh)
		steer__follow(&actor->steer, load.placement);
	steer__set_unit(&actor->steer,
			(double)actor->large / (double)(place.near_bytes + place.far_bytes));
	answer = steer__decide(&actor->steer, &load);
	if (lacks_hmat(&load) && answer.verdict == STEER_UNKNOWN)
		return wait_for_traffic(actor, table, &load);
	if (answer.verdict == STEER_STOP)
		return stop(actor, table, answer.why);
	if (answer.verdict != STEER_MOVE)
		return set_action(actor, table, names[answer.verdict], answer.why, 0);
	if (actor->method->weigh)
		return weigh(actor, table, &answer, &place);
	length /= 2;
	return move(actor, table, &answer, &place,
		    length > LEAST_LIMIT_NS ? length : LEAST_LIMIT_NS);
}

const char *actor__trouble(struct actor *actor)
{
	static char text[TIER_TEXT];

	if (!actor->trouble[0])
		return NULL;
	snprintf(text, sizeof(text), "%s", actor->trouble);
	actor->trouble[0] = '\0';
	return text;
}

static void list_nodes(const struct actor *actor, uint64_t mask, char text[TIER_TEXT])
{
	size_t used = strlen(text);

	for (unsigned int i = 0; i < actor->nodes.nr && used < TIER_TEXT - 48; i++) {
		const struct numa_node *node = &actor->nodes.nodes[i];

		if (!(mask >> i & 1))
			continue;
		used += (size_t)snprintf(text + used, TIER_TEXT - used, " node %u", i);
		if (node->memory_tier >= 0)
			used += (size_t)snprintf(text + used, TIER_TEXT - used, " (memory_tier%d)",
						 node->memory_tier);
		if (node->read_latency_ns)
			used += (size_t)snprintf(text + used, TIER_TEXT - used, " (HMAT %llu ns)",
						 (unsigned long long)node->read_latency_ns);
	}
}

void actor__describe(const struct actor *actor, char text[TIER_TEXT])
{
	snprintf(text, TIER_TEXT, "; %spages %s by %s between", actor->method->weigh ? "new " : "",
		 actor->config.dry_run ? "would move" : "move", actor->config.method);
	list_nodes(actor, actor->masks.near, text);
	snprintf(text + strlen(text), TIER_TEXT - strlen(text), " and");
	list_nodes(actor, actor->masks.far, text);
}

int actor__close(struct actor *actor, char why[TIER_TEXT])
{
	int err;

	if (!actor)
		return 0;
	err = act__close(actor->act, why);
	free(actor);
	return err;
}
