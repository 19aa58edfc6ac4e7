// SPDX-License-Identifier: BSD-2-Clause
#include "steer.h"

#include <math.h>

#define CERTAIN 2 /* standard errors */
#define FIRST_NOISE 0.06 /* of a ratio, until it is known */
#define LEAST_NOISE 0.005
#define LEARN (1.0 / 32) /* weight of a quantum in the variance */
#define FADE (1.0 / 64) /* a mean of about so many quanta, if nothing moves */
#define LEAST_SLOPE 3
#define MOST_SLOPE 100
#define STEEPER 2 /* after a move that went too far */
#define FLATTER 1.3 /* after a move that did not go far enough */
#define UNSURE 1.0 /* of the slope, relative */
#define SURPRISE 2 /* standard deviations, after a move: the slope was wrong */
#define ODD 4 /* standard deviations */
#define RECENT 0.25 /* weight of a quantum in the drift */
#define DRIFTS 4 /* standard errors of the drift: the ratio is another one by now */
#define FOLLOWED 0.25 /* of a shift, by the placement */
#define WHOLE 0.75 /* of a large page: less does not move */
#define ROUNDING 1e-9
#define SEEN 0.25 /* of the largest shift: a smaller change says nothing of the slope */

static double square(double value)
{
	return value * value;
}

void steer__begin(struct steer *steer, const struct steer_config *config)
{
	*steer = (struct steer){
		.config = *config, .noise2 = square(FIRST_NOISE), .slope = LEAST_SLOPE, .seen = NAN
	};
}

static double noise2(const struct steer *steer)
{
	return fmax(steer->noise2, square(LEAST_NOISE));
}

static void restart(struct steer *steer, double ratio)
{
	steer->ratio = ratio;
	steer->error2 = noise2(steer);
	steer->drift = 0;
	steer->begun = true;
	steer->odd = 0;
	steer->last_shift = 0;
}

static double within(double low, double value, double high)
{
	return fmax(low, fmin(high, value));
}

/* After a move the ratio shows how steep the latencies are. */
static bool learn_slope(struct steer *steer, double distance, double spread2)
{
	double moved = steer->fresh;

	steer->fresh = 0;
	if (moved == 0 || square(distance) <= SURPRISE * SURPRISE * spread2)
		return false;
	steer->slope = within(LEAST_SLOPE, steer->slope - distance / moved, MOST_SLOPE);
	steer->ratio += distance;
	steer->error2 = noise2(steer);
	return true;
}

/* A single quantum that does not fit is left out; the second one shows that the load changed. */
static void add(struct steer *steer, double ratio)
{
	double distance = ratio - steer->ratio, spread2 = steer->error2 + noise2(steer), gain;

	if (steer->begun && learn_slope(steer, distance, spread2))
		return;
	if (!steer->begun ||
	    (square(distance) > ODD * ODD * spread2 && distance * steer->odd > 0)) {
		restart(steer, ratio);
		return;
	}
	if (square(distance) > ODD * ODD * spread2) {
		steer->odd = distance;
		return;
	}
	steer->odd = 0;
	steer->drift += RECENT * (distance - steer->drift);
	if (square(steer->drift) > square(DRIFTS) * noise2(steer) * RECENT / (2 - RECENT)) {
		/* The last few quanta alone. */
		steer->ratio += steer->drift;
		steer->error2 = noise2(steer) * RECENT / (2 - RECENT);
		steer->drift = 0;
		return;
	}
	gain = steer->error2 / spread2;
	steer->noise2 += LEARN * (square(distance) * (1 - gain) - steer->noise2);
	steer->ratio += gain * distance;
	steer->error2 = (1 - gain) * steer->error2 + square(FADE) * noise2(steer);
}

/* What may move of `wanted`: whole pages, if they are large. 0: not so much yet. */
static double allowed(const struct steer *steer, double wanted)
{
	double unit = steer->unit, pages;

	if (!unit)
		return colloid__limited(wanted, steer->config.max_shift);
	pages = fmin(floor(fabs(wanted) / unit + 1 - WHOLE),
		     floor(steer->credit / unit + ROUNDING));
	return copysign(unit * fmax(pages, 0), wanted);
}

static const char *reason(const struct steer_load *load, bool l_faster)
{
	if (load->idle_l || load->idle_r)
		return l_faster ? "default tier faster, by the HMAT"
				: "default tier slower, by the HMAT";
	return l_faster ? "default tier faster" : "default tier slower";
}

static struct steer_answer choose(struct steer *steer, const struct steer_load *load)
{
	static const struct steer_answer
		stay = { STEER_STAY, 0, "equally slow" },
		wait = { STEER_WAIT, 0, "not certain yet" },
		less = { STEER_STAY, 0, "less than a large page to move" },
		more = { STEER_WAIT, 0, "a large page is more than the shift allows yet" },
		none = { STEER_STAY, 0, "nothing left to move" };
	double error = sqrt(steer->error2), delta = log1p(steer->config.delta);
	double placement = load->placement, slope = steer->slope, shift;
	bool l_faster = steer->ratio > 0, turns = steer->last_shift * steer->ratio < 0;

	if (fabs(steer->ratio) + CERTAIN * error <= delta)
		return stay;
	if (fabs(steer->ratio) <= CERTAIN * error)
		return wait;
	if (l_faster ? placement >= 1 : placement <= 0)
		return none;
	if (steer->last_shift != 0)
		slope = within(LEAST_SLOPE, turns ? slope * STEEPER : slope / FLATTER, MOST_SLOPE);
	shift = within(-placement, steer->ratio / slope, 1 - placement);
	if (fabs(shift) < WHOLE * steer->unit)
		return less;
	shift = allowed(steer, shift);
	if (shift == 0)
		return more;
	steer->slope = slope;
	return (struct steer_answer){ STEER_MOVE, within(-placement, shift, 1 - placement),
				      reason(load, l_faster) };
}

/* Another latency than before says nothing of what the last move did. */
static void notice_idle(struct steer *steer, const struct steer_load *load)
{
	if (load->idle_l == steer->idle_l && load->idle_r == steer->idle_r)
		return;
	steer->idle_l = load->idle_l;
	steer->idle_r = load->idle_r;
	steer->begun = false;
	steer->fresh = steer->moved_l = 0;
}

static struct steer_answer stop(struct steer *steer, const char *why)
{
	steer->stopped = true;
	return (struct steer_answer){ STEER_STOP, 0, why };
}

/* After each of the last moves both tiers were slower than before it. */
static bool both_rise(struct steer *steer, double l, double r)
{
	double least = 1 + steer->config.delta;

	if (steer->moved_l > 0) {
		bool rose = l > steer->moved_l * least && r > steer->moved_r * least;

		steer->rises = rose ? steer->rises + 1 : 0;
		steer->moved_l = 0;
	}
	return steer->rises >= STEER_RISES;
}

static bool is_measured(const struct colloid_load *load)
{
	return load->ins_l > 0 && load->ins_r > 0 && load->occ_l > 0 && load->occ_r > 0;
}

struct steer_answer steer__decide(struct steer *steer, const struct steer_load *load)
{
	struct steer_answer answer = { STEER_UNKNOWN, 0, "no latency" };
	double l, r;

	if (steer->stopped)
		return stop(steer, "stopped before");
	steer->stolen = load->stolen ? steer->stolen + 1 : 0;
	if (steer->stolen >= STEER_PATIENCE)
		return stop(steer, "another program uses the counters");
	if (steer->not_followed >= STEER_PATIENCE)
		return stop(steer, "the placement does not follow");
	if (!load->known || !is_measured(&load->load) || load->stolen)
		return answer;
	l = load->load.occ_l / load->load.ins_l;
	r = load->load.occ_r / load->load.ins_r;
	notice_idle(steer, load);
	if (both_rise(steer, l, r))
		return stop(steer, "both tiers became slower");
	add(steer, log(r / l));
	steer->credit = fmin(steer->credit + steer->config.max_shift,
			     fmax(steer->config.max_shift, steer->unit));
	answer = choose(steer, load);
	if (answer.verdict == STEER_MOVE) {
		steer->moved_l = l;
		steer->moved_r = r;
	}
	return answer;
}

void steer__moved(struct steer *steer, double asked, double done)
{
	steer->not_followed = done / asked < FOLLOWED ? steer->not_followed + 1 : 0;
	steer->last_shift = asked;
	steer->credit -= fabs(done);
	steer->ratio -= steer->slope * done;
	steer->error2 += square(UNSURE * steer->slope * done);
	steer->drift = steer->odd = 0;
	steer->fresh = done;
}

void steer__deferred(struct steer *steer)
{
	steer->moved_l = 0;
}

void steer__set_unit(struct steer *steer, double unit)
{
	steer->unit = unit;
}

void steer__follow(struct steer *steer, double placement)
{
	double change = placement - steer->seen;

	steer->last_shift = steer->moved_l = 0;
	if (fabs(change) < steer->config.max_shift * SEEN)
		return;
	if (!isnan(change))
		steer__moved(steer, change, change);
	steer->seen = placement;
}
