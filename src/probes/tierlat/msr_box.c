// SPDX-License-Identifier: BSD-2-Clause
/* One box: saved, programmed, read, restored. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <host/first_line.h>

#include "msr.h"

#define LOCKDOWN "/sys/kernel/security/lockdown"
#define ALLOW_WRITES "/sys/module/msr/parameters/allow_writes"

/* Upper bounds of what a counter can gain: no clock is faster, no queue longer. */
#define MOST_HZ 10e9
#define MOST_OPEN 512
#define MOST_INSERTS 4 /* per clock */

/* Bounds of an uncore's clock, and of its change from one read to the next. */
#define SLOWEST_HZ 0.2e9
#define FASTEST_HZ 5e9
#define MOST_CHANGE 4

/* 64 open requests at 3.6 GHz reach 2^48 in this time. */
#define NS_PER_MIN 60000000000ULL
#define MOST_GAP_NS (20 * NS_PER_MIN)

static int keep_registers(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	int err = 0;

	for (unsigned int i = 0; !err && i < MSR_SLOTS; i++) {
		struct msr_register *reg = &box->registers[i];

		if (!reg->address)
			continue;
		err = msr__get(tier, socket, reg->address, &reg->found);
		if (err)
			tier__fail(tier, err, NULL, "cannot read MSR 0x%x on CPU %u: %s",
				   reg->address, socket->cpus[socket->at], msr__text(err));
	}
	return err;
}

int msr_box__keep(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	int err;

	err = msr__get(tier, socket, box->address, &box->control);
	if (err)
		return tier__fail(tier, err, NULL, "cannot read CHA %u on CPU %u: %s", box->id,
				  socket->cpus[socket->at], msr__text(err));
	return keep_registers(tier, socket, box);
}

int msr_box__running(const struct tier *tier, const struct msr_box *box)
{
	for (int i = 0; i < TIER_COUNTERS; i++) {
		if (tier_layout__counts(tier->model->layout, box->control, box->registers[i].found))
			return i;
	}
	return -1;
}

static int explain_write(struct tier *tier, const struct msr_socket *socket, uint32_t address,
			 int err)
{
	char line[128];

	if (err != -EPERM && err != -EACCES)
		return tier__fail(tier, err, NULL, "cannot write MSR 0x%x on CPU %u: %s", address,
				  socket->cpus[socket->at], msr__text(err));
	if (!first_line__read(tier->root, LOCKDOWN, line, sizeof(line)) && !strstr(line, "[none]"))
		return tier__fail(tier, -EOPNOTSUPP, "use --method perf",
				  "the kernel is locked down and does not allow writes of MSRs");
	if (!first_line__read(tier->root, ALLOW_WRITES, line, sizeof(line)) && !strcmp(line, "off"))
		return tier__fail(tier, -EOPNOTSUPP, "boot with msr.allow_writes=on",
				  "the msr module does not allow writes");
	return tier__fail(tier, -EACCES, "run it as root, or with CAP_SYS_RAWIO",
			  "the kernel does not let this user write MSRs");
}

static int set(struct tier *tier, const struct msr_socket *socket, uint32_t address, uint64_t value)
{
	int err;

	err = msr__put(tier, socket, address, value);
	return err ? explain_write(tier, socket, address, err) : 0;
}

/* A hypervisor that ignores the write would return zeros forever. */
static int set_and_check(struct tier *tier, const struct msr_socket *socket,
			 struct msr_register *reg)
{
	uint64_t value = 0;
	int err;

	err = set(tier, socket, reg->address, reg->ours);
	if (!err)
		err = msr__get(tier, socket, reg->address, &value);
	if (err || value == reg->ours)
		return err;
	return tier__fail(tier, -EOPNOTSUPP, NULL,
			  "MSR 0x%x was written 0x%llx and reads 0x%llx: this is not %s, or its "
			  "hypervisor ignores it",
			  reg->address, (unsigned long long)reg->ours, (unsigned long long)value,
			  tier->model->title);
}

/* Only counter 0 can count occupancy. A counter with nothing to count stays off. */
void msr_box__plan(const struct tier *tier, struct msr_box *box, const struct tier_share *share)
{
	const struct tier_layout *layout = tier->model->layout;
	struct tier_configs configs = tier__configs(tier, share, TIER_OCCUPANCY);
	struct msr_register *reg = box->registers;

	box->tier = share->tier;
	box->before.tier = TIER_NO_TIER;
	reg[MSR_FILTER0].ours = 0;
	if (layout->filter1)
		reg[MSR_FILTER1].ours = configs.config1 >> 32;
	box->nr_counters = 0;
	for (unsigned int i = 0; i < TIER_COUNTERS; i++) {
		reg[i].ours = 0;
		if (share->events[i] == TIER_NO_TIER)
			continue;
		configs = tier__configs(tier, share, share->events[i]);
		reg[i].ours = tier_layout__control(layout, configs.config);
		box->nr_counters = i + 1;
	}
	for (unsigned int i = 0; i < MSR_COUNTER; i++)
		reg[i].next = reg[i].ours;
}

/* Leaves the box frozen. Hardware clears the reset bits itself; emulations need them cleared. */
static int program_controls(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	const struct tier_layout *layout = tier->model->layout;
	int err;

	err = set(tier, socket, box->address, layout->freeze);
	if (!err)
		err = set(tier, socket, box->address, layout->freeze | layout->reset);
	if (!err)
		err = set(tier, socket, box->address, layout->freeze);
	err = err ? err : set_and_check(tier, socket, &box->registers[MSR_FILTER0]);
	if (!err && layout->filter1)
		err = set_and_check(tier, socket, &box->registers[MSR_FILTER1]);
	for (unsigned int i = 0; !err && i < TIER_COUNTERS; i++)
		err = set_and_check(tier, socket, &box->registers[MSR_CONTROL + i]);
	return err;
}

/* Counters start at a large value, so a reset by another program shows as a jump, however early. */
static int program_box(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	uint32_t first = box->address + tier->model->layout->counter;
	int err;

	box->touched = true;
	err = program_controls(tier, socket, box);
	for (unsigned int i = 0; !err && i < box->nr_counters; i++)
		err = set(tier, socket, first + i, tier->sys->first_count());
	box->programmed = !err;
	return err;
}

/* The power-on value of a register. */
static uint64_t initial(const struct tier *tier, unsigned int slot)
{
	return slot == MSR_FILTER1 ? tier->model->layout->filter1_initial : 0;
}

int msr_box__forget(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	(void)socket;
	box->control = 0;
	for (unsigned int i = 0; i < MSR_SLOTS; i++)
		box->registers[i].found = initial(tier, i);
	return 0;
}

int msr_box__reset(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	int err;

	for (unsigned int i = 0; i < MSR_SLOTS; i++)
		box->registers[i].ours = box->registers[i].next = initial(tier, i);
	err = program_controls(tier, socket, box);
	return err ? err : set(tier, socket, box->address, 0);
}

static int read_counters(struct tier *tier, const struct msr_socket *socket,
			 const struct msr_box *box, uint64_t *values)
{
	uint32_t first = box->address + tier->model->layout->counter;
	int err = 0;

	for (unsigned int i = 0; !err && i < box->nr_counters; i++)
		err = msr__get(tier, socket, first + i, &values[i]);
	return err;
}

/* A write takes time: it is assumed to take effect halfway. */
static int write_control(struct tier *tier, const struct msr_socket *socket,
			 const struct msr_box *box, uint64_t value, uint64_t *when, uint64_t *took)
{
	uint64_t before = tier->sys->now_ns();
	int err;

	err = msr__put(tier, socket, box->address, value);
	*took = tier->sys->now_ns() - before;
	*when = before + *took / 2;
	return err;
}

int msr_box__start(struct tier *tier, const struct msr_socket *socket, struct msr_box *box,
		   const struct tier_share *share)
{
	struct msr_moment *now = &box->last;
	int err;

	msr_box__plan(tier, box, share);
	err = program_box(tier, socket, box);
	if (!err)
		err = read_counters(tier, socket, box, now->values);
	if (!err)
		err = write_control(tier, socket, box, 0, &now->resumed_ns, &now->resuming_ns);
	now->frozen_ns = now->resumed_ns;
	return err;
}

/* A program that froze the box also stopped its clock, but not time. */
static int check_frozen(struct tier *tier, const struct msr_socket *socket,
			const struct msr_box *box, struct msr_moment *moment)
{
	uint64_t value = 0;
	int err;

	err = msr__get(tier, socket, box->address, &value);
	moment->was_frozen = value & tier->model->layout->freeze;
	return err;
}

/*
 * This process may be killed at any time, also between a write and the note that the restoring
 * process reads.
 */
static bool is_ours(const struct msr_register *reg, uint64_t value)
{
	return value == reg->ours || value == reg->next;
}

/* 1: another program wrote a control; 0: all are as latscope set them; -errno. */
static int is_stolen(struct tier *tier, const struct msr_socket *socket, const struct msr_box *box)
{
	int err, first = 0;
	uint64_t value;

	for (unsigned int i = 0; i < MSR_COUNTER; i++) {
		const struct msr_register *reg = &box->registers[i];

		if (!reg->address)
			continue;
		err = msr__get(tier, socket, reg->address, &value);
		if (!err && !is_ours(reg, value))
			return 1;
		first = first ? first : err;
	}
	return first;
}

static void note(struct tier *tier, const struct msr_socket *socket, const struct msr_box *box,
		 const char *what, const char *number)
{
	tier__note(tier, what, number, "CHA %u (CPU %u)", box->id, socket->cpus[socket->at]);
}

static void lose(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	box->lost = true;
	note(tier, socket, box, "reprogrammed by another program (perf? pcm?); no longer used", "");
}

/* A program that sets only a counter leaves its control unchanged, but the gain is then absurd. */
static bool is_sound(const struct tier_delta *delta, const struct tier_share *share)
{
	double most_ns = (double)(delta->counted_ns + delta->uncertain_ns);
	double clocks = MOST_HZ * most_ns / 1e9 + 1e6;
	uint64_t counted;

	if (tier_delta__counted(delta, share, TIER_CLOCKTICKS, &counted)) {
		if ((double)counted > clocks)
			return false;
		clocks = (double)counted;
	}
	for (unsigned int i = 1; i < TIER_COUNTERS; i++) {
		if (share->events[i] >= 0 && (double)delta->counts[i] > MOST_INSERTS * clocks)
			return false;
	}
	return (double)delta->counts[0] <= MOST_OPEN * clocks;
}

/* The counts do not show how often they wrapped. */
static void note_late(struct tier *tier, const struct msr_socket *socket, const struct msr_box *box,
		      const struct tier_delta *delta)
{
	char what[TIER_TEXT];

	snprintf(what, sizeof(what),
		 "not read for %llu min, in which it may wrap more than once; interval dropped",
		 (unsigned long long)(delta->elapsed_ns / NS_PER_MIN));
	note(tier, socket, box, what, "");
}

/*
 * A box counts an impossible clock if another program stops, starts or resets it. This process may
 * be preempted in a read, so a clock is rejected only if it is out of bounds for every time the
 * read may have taken.
 */
static bool is_clock_sound(struct tier *tier, const struct msr_socket *socket, struct msr_box *box,
			   const struct tier_delta *delta, uint64_t clocks)
{
	double most_ns = (double)(delta->counted_ns + delta->uncertain_ns);
	double least_ns = fmax((double)delta->counted_ns - (double)delta->uncertain_ns, 1);
	double low = (double)clocks * 1e9 / most_ns, high = (double)clocks * 1e9 / least_ns;
	double before = box->clock_hz;
	double hz = (double)clocks * 1e9 / fmax((double)delta->counted_ns, 1);
	const char *what = NULL;
	char number[32];

	box->clock_hz = high < 1.1 * low ? hz : 0;
	snprintf(number, sizeof(number), " (%.3g GHz)", hz / 1e9);
	if (low > FASTEST_HZ || high < SLOWEST_HZ)
		what = "counts a clock outside 0.2 to 5 GHz; interval dropped";
	else if (before > 0 && (low > MOST_CHANGE * before || high < before / MOST_CHANGE))
		what = "counts a clock that jumped; interval dropped";
	if (what)
		note(tier, socket, box, what, number);
	return !what;
}

/* Judges the gain since the last read; notes why it is invalid. */
static bool may_be_counted(struct tier *tier, const struct msr_socket *socket, struct msr_box *box,
			   const struct tier_share *share, const struct tier_delta *delta)
{
	uint64_t clocks = 1;
	bool clocked = tier_delta__counted(delta, share, TIER_CLOCKTICKS, &clocks);

	if (delta->elapsed_ns > MOST_GAP_NS) {
		note_late(tier, socket, box, delta);
		return false;
	}
	if (box->last.was_frozen || !clocks) {
		note(tier, socket, box, "frozen by another program (perf? pcm?); interval dropped",
		     "");
		return false;
	}
	if (!is_sound(delta, share)) {
		box->reset = true;
		note(tier, socket, box,
		     "reset by another program (perf? pcm? another latscope?); no longer used", "");
		return false;
	}
	return !clocked || is_clock_sound(tier, socket, box, delta, clocks);
}

static void subtract(struct tier_delta *delta, const struct msr_moment *last,
		     const struct msr_moment *now)
{
	for (unsigned int i = 0; i < TIER_COUNTERS; i++)
		delta->counts[i] = tier_delta__wrapped(last->values[i], now->values[i]);
	delta->elapsed_ns = now->frozen_ns - last->frozen_ns;
	delta->counted_ns = now->frozen_ns - last->resumed_ns;
	delta->uncertain_ns = (last->resuming_ns + now->freezing_ns) / 2;
}

/*
 * With one filter per box, a box sees one tier at a time. Other boxes cannot stand in for it if
 * addresses are spread unevenly. So all boxes take turns.
 */
static bool takes_turns(const struct tier *tier)
{
	return tier->model->layout->filter1 && tier->nr_tiers > 1;
}

/* Called before the filter, which is checked, is rewritten. 1: another program uses the box. */
static int take_turn(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	struct msr_register *filter = &box->registers[MSR_FILTER1];
	unsigned int next = ((unsigned int)box->tier + 1) % tier->nr_tiers;
	uint64_t value = tier__class(tier, next)->config1 >> 32;
	int err;

	err = is_stolen(tier, socket, box);
	if (err)
		return err;
	filter->next = value;
	err = msr__put(tier, socket, filter->address, value);
	if (err)
		return err;
	filter->ours = value;
	box->tier = (int)next;
	return 0;
}

/* What the box saw of another tier in the previous interval is used for this one. */
static void remember_turn(struct msr_box *box, struct tier_share *share, struct tier_delta *delta)
{
	double ns = (double)delta->counted_ns;

	share->events[3] = box->before.tier;
	delta->counts[3] = (uint64_t)(box->before.per_ns * ns + 0.5);
	box->before = (struct msr_turn){ share->tier, (double)delta->counts[1] / ns };
}

void msr_box__reject(struct tier *tier, const struct msr_socket *socket, struct msr_box *box,
		     const char *what, const char *number)
{
	box->before.tier = TIER_NO_TIER;
	box->clock_hz = 0;
	note(tier, socket, box, what, number);
}

/*
 * A frozen box gives all counters at one moment. The box is released whatever happens in between.
 */
static int sample(struct tier *tier, const struct msr_socket *socket, struct msr_box *box,
		  struct msr_moment *moment)
{
	int err, unfreeze;

	err = check_frozen(tier, socket, box, moment);
	if (err)
		return err;
	err = write_control(tier, socket, box, tier->model->layout->freeze, &moment->frozen_ns,
			    &moment->freezing_ns);
	if (err)
		return err;
	err = read_counters(tier, socket, box, moment->values);
	if (!err && takes_turns(tier))
		err = take_turn(tier, socket, box);
	unfreeze = write_control(tier, socket, box, 0, &moment->resumed_ns, &moment->resuming_ns);
	if (err || unfreeze)
		return err ? err : unfreeze;
	return takes_turns(tier) ? 0 : is_stolen(tier, socket, box);
}

int msr_box__read(struct tier *tier, const struct msr_socket *socket, struct msr_box *box,
		  struct tier_share *share, struct tier_delta *delta)
{
	struct msr_moment now = { 0 };
	int got;

	delta->valid = false;
	if (box->lost || box->reset)
		return 0;
	if (takes_turns(tier))
		share->tier = share->events[1] = box->tier;
	got = sample(tier, socket, box, &now);
	if (got > 0)
		lose(tier, socket, box);
	if (got)
		return got < 0 ? got : 0;
	subtract(delta, &box->last, &now);
	box->last = now;
	delta->valid = may_be_counted(tier, socket, box, share, delta);
	if (delta->valid && takes_turns(tier))
		remember_turn(box, share, delta);
	return 0;
}

/* 0 also if nothing is to be restored: another program has written the register since. */
static int restore_own(struct tier *tier, const struct msr_socket *socket,
		       const struct msr_register *reg)
{
	uint64_t value;
	int err;

	err = msr__get(tier, socket, reg->address, &value);
	if (err || !is_ours(reg, value))
		return err;
	return msr__put(tier, socket, reg->address, reg->found);
}

/* An error does not stop the restore of the rest; the first error is returned. */
static int restore_registers(struct tier *tier, const struct msr_socket *socket,
			     const struct msr_box *box, bool all)
{
	int first = 0, err;

	for (unsigned int i = 0; i < (all ? MSR_SLOTS : MSR_COUNTER); i++) {
		const struct msr_register *reg = &box->registers[i];

		if (!reg->address)
			continue;
		err = all ? msr__put(tier, socket, reg->address, reg->found)
			  : restore_own(tier, socket, reg);
		first = first ? first : err;
	}
	return first;
}

/*
 * Frozen, so that nothing counts before all registers are restored. A register that cannot be read
 * is treated as ours: otherwise it would stay as latscope set it.
 */
int msr_box__restore(struct tier *tier, const struct msr_socket *socket, struct msr_box *box)
{
	const struct tier_layout *layout = tier->model->layout;
	int err, last;

	if (box->programmed && (box->lost || is_stolen(tier, socket, box) > 0))
		return restore_registers(tier, socket, box, false);
	err = msr__put(tier, socket, box->address, layout->freeze);
	if (err)
		return err;
	/* a restored register is not taken for a stolen one if the restoring process continues */
	box->programmed = false;
	err = restore_registers(tier, socket, box, true);
	last = msr__put(tier, socket, box->address, box->control & ~layout->reset);
	return err ? err : last;
}
