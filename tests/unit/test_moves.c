// SPDX-License-Identifier: BSD-2-Clause
/* How the emulated tiers read decisions: what changes their shares, and what must not. */
#include "unit.h"

#include "../emu/msrfs/moves.h"

static struct emulator emulator;
static struct moves moves;

static void tell(const char *line)
{
	assert_int_equal(emulator__command(&emulator, line), 0);
}

/* Two tiers that queue, of which the first gets half of the requests. */
static void begin(void)
{
	memset(&emulator, 0, sizeof(emulator));
	memset(&moves, 0, sizeof(moves));
	tell("machine gen=icx sockets=1 cpus=2 boxes=2");
	tell("time virtual=1");
	tell("stream name=near idle=80 service=20 capacity=4e8");
	tell("stream name=far idle=150 service=20 capacity=2e8 remote=1");
	tell("loop requests=80 p=.5");
}

static void take(const char *text)
{
	moves__take(&moves, &emulator, text, strlen(text));
}

static void is_at(double p, unsigned int count)
{
	assert_float_equal(emulator.machine.loop.p, p, 1e-12);
	assert_int_equal(emulator.moves, count);
}

static void take_to(const char *text, double p, unsigned int count)
{
	take(text);
	is_at(p, count);
}

TEST(a_shift_moves_from_where_the_pages_are)
{
	take_to("time_ns,socket,p,p_target,shift,move_to\n1,0,0.1,0.9,0.02,near\n", 0.52, 1);
	take_to("2,0,0.1,0.9,-0.03,far\n", 0.49, 2);
}

TEST(the_columns_are_those_of_the_heading)
{
	take_to("shift_closed,shift,socket\n0.3,0.1,0\n", 0.6, 1);
	take_to("socket,x,shift\n0,0.3,0.1\n", 0.7, 2);
}

TEST(rates_and_latencies_follow_the_shares)
{
	const struct stream *stream = emulator.machine.stream;
	double in_flight;

	take("shift\n0.2\n");
	in_flight =
		(stream[0].rate * stream[0].latency + stream[1].rate * stream[1].latency) * 1e-9;
	assert_float_equal(in_flight, 80, 1e-6);
	assert_float_equal(stream[0].rate / (stream[0].rate + stream[1].rate), 0.7, 1e-9);
}

TEST(each_tier_keeps_some_requests)
{
	take_to("shift\n5\n", 0.999, 1);
	take_to("-1e300\n", 0.001, 2);
}

TEST(lines_may_be_cut_anywhere)
{
	const char text[] = "socket,shift\n0,0.1\n0,-0.2\n";

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		moves__take(&moves, &emulator, &text[i], 1);
	is_at(0.4, 2);
	take("0,0.5"); /* it has no end yet */
	is_at(0.4, 2);
}

TEST(other_lines_move_nothing)
{
	static const char *const lines[] = {
		"0.3\n",	  "0,0.3\n",	 "socket,shift\n",  "0,\n",    "1,0.3\n",
		"0,nan\n",	  "0,inf\n",	 "0,0.3x\n",	    "0\n",     "\n",
		",,,,\n",	  "0,0.3 \n",	 "socket,shifts\n", "x,0.3\n", "0x,0.3\n",
		"\x1b[2J,\xff\n", "%s%n%s,%n\n", "socket,shift,",   "\n",
	};

	for (size_t i = 0; i < COUNT_OF(lines); i++)
		take(lines[i]);
	is_at(0.5, 0);
}

TEST(a_line_that_is_too_long_is_ignored_to_its_end)
{
	take("socket,shift\n0,0.1,");
	for (unsigned int i = 0; i < 2 * MOVES_LINE; i++)
		take("9");
	take_to("\n", 0.5, 0);
	take_to("0,0.1\n", 0.6, 1);
}

TEST(random_bytes_leave_a_share)
{
	static const char bytes[] = "0123456789.,-+enaif\n\n\nshift,socket\0\xff\x80";

	for (unsigned int i = 0; i < 200000; i++) {
		moves__take(&moves, &emulator, &bytes[unit_random() % (sizeof(bytes) - 1)], 1);
		if (i % 5000 == 0)
			take("\nsocket,shift\n");
	}
	assert_true(emulator.machine.loop.p >= 0.001 && emulator.machine.loop.p <= 0.999);
	assert_true(isfinite(emulator.machine.stream[0].latency));
}

UNIT_FIXTURES(.each = { begin })
