// SPDX-License-Identifier: BSD-2-Clause
#include "packets.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <core/sanitize.h>

#include <perfetto.pb-c.h>

#include "stack_names.h"
#include "window.h"

/* Numbers of the format. */
enum { CLOCK_ID_REALTIME = 1, CLOCK_ID_MONOTONIC = 3, CLOCK_ID_BOOTTIME = 6 };
enum { SEQUENCE_BEGINS = 1, SEQUENCE_GOES_ON = 2 };
enum { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };
enum { ORDER_BY_RANK = 3 };
#define SEQUENCE 1

static void put(struct packets *packets, Perfetto__TracePacket *packet, uint32_t flags)
{
	Perfetto__Trace whole = PERFETTO__TRACE__INIT;
	Perfetto__TracePacket *list[] = { packet };

	packet->has_trusted_packet_sequence_id = packet->has_sequence_flags = true;
	packet->trusted_packet_sequence_id = SEQUENCE;
	packet->sequence_flags = flags;
	whole.n_packet = 1;
	whole.packet = list;
	messages__put(&packets->messages, &whole.base);
}

/* Times are those of CLOCK_MONOTONIC from here on. */
static void put_defaults(struct packets *packets)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TracePacketDefaults defaults = PERFETTO__TRACE_PACKET_DEFAULTS__INIT;

	defaults.has_timestamp_clock_id = true;
	defaults.timestamp_clock_id = CLOCK_ID_MONOTONIC;
	packet.trace_packet_defaults = &defaults;
	put(packets, &packet, SEQUENCE_BEGINS);
}

static void put_clocks(struct packets *packets, const struct run *run)
{
	const struct {
		uint32_t id;
		uint64_t ns; /* when the window opened; 0: unknown */
	} known[] = {
		{ CLOCK_ID_MONOTONIC, run->start_mono_ns },
		{ CLOCK_ID_REALTIME, window__unix_ns(run) },
		{ CLOCK_ID_BOOTTIME,
		  run->real_offset_ns ? run->start_mono_ns + run->boot_offset_ns : 0 },
	};
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__ClockSnapshot snapshot = PERFETTO__CLOCK_SNAPSHOT__INIT;
	Perfetto__ClockSnapshot__Clock clocks[3], *list[3];

	for (size_t i = 0; i < 3; i++) {
		Perfetto__ClockSnapshot__Clock *clock = &clocks[snapshot.n_clocks];

		if (!known[i].ns)
			continue;
		*clock = (Perfetto__ClockSnapshot__Clock)PERFETTO__CLOCK_SNAPSHOT__CLOCK__INIT;
		clock->has_clock_id = clock->has_timestamp = true;
		clock->clock_id = known[i].id;
		clock->timestamp = known[i].ns;
		list[snapshot.n_clocks++] = clock;
	}
	snapshot.clocks = list;
	snapshot.has_primary_trace_clock = true;
	snapshot.primary_trace_clock = CLOCK_ID_MONOTONIC;
	packet.clock_snapshot = &snapshot;
	put(packets, &packet, SEQUENCE_GOES_ON);
}

void packets__begin(struct packets *packets, FILE *out, const struct run *run)
{
	*packets = (struct packets){ .start_ns = run->start_mono_ns };
	messages__begin(&packets->messages, out, false);
	put_defaults(packets);
	put_clocks(packets, run);
}

int packets__end(struct packets *packets)
{
	return messages__end(&packets->messages);
}

/* ---- tracks ---- */

/* NULL: the same. */
static char *clean(char out[PACKET_TEXT], const char *text)
{
	return text ? sanitize__text(out, PACKET_TEXT, text) : NULL;
}

uint64_t packets__track(struct packets *packets, const struct packet_track *track)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	Perfetto__TrackDescriptor to = PERFETTO__TRACK_DESCRIPTOR__INIT;
	Perfetto__ProcessDescriptor process = PERFETTO__PROCESS_DESCRIPTOR__INIT;
	Perfetto__ThreadDescriptor thread = PERFETTO__THREAD_DESCRIPTOR__INIT;
	Perfetto__CounterDescriptor counter = PERFETTO__COUNTER_DESCRIPTOR__INIT;
	char name[PACKET_TEXT], what[PACKET_TEXT], unit[PACKET_TEXT], scale[PACKET_TEXT];

	to.has_uuid = true;
	to.uuid = ++packets->uuids;
	to.has_parent_uuid = track->parent != 0;
	to.parent_uuid = track->parent;
	to.description = clean(what, track->what);
	to.has_sibling_order_rank = track->rank != 0;
	to.sibling_order_rank = track->rank;
	to.has_child_ordering = track->ranks;
	to.child_ordering = ORDER_BY_RANK;
	process.has_pid = thread.has_pid = thread.has_tid = true;
	process.pid = thread.pid = (int32_t)track->pid;
	thread.tid = track->tid;
	if (track->tid) {
		thread.thread_name = clean(name, track->name);
		to.thread = &thread;
	} else if (track->pid) {
		process.process_name = clean(name, track->name);
		to.process = &process;
	} else {
		to.name = clean(name, track->name);
	}
	counter.unit_name = clean(unit, track->unit);
	counter.y_axis_share_key = clean(scale, track->scale);
	if (track->counts)
		to.counter = &counter;
	packet.track_descriptor = &to;
	put(packets, &packet, SEQUENCE_GOES_ON);
	return to.uuid;
}

/* ---- arguments ---- */

#define STACKS 2

struct packet_args {
	unsigned int nr, stacks;
	Perfetto__DebugAnnotation *list[PACKET_ARGS];
	Perfetto__DebugAnnotation args[PACKET_ARGS];
	char texts[PACKET_ARGS][PACKET_TEXT];
	struct arg_stack {
		struct stack_names names;
		Perfetto__DebugAnnotation frames[STACK_NAMES];
		Perfetto__DebugAnnotation *list[STACK_NAMES];
	} of_stacks[STACKS];
};

struct packet_args *packet_args__new(void)
{
	return calloc(1, sizeof(struct packet_args));
}

void packet_args__free(struct packet_args *args)
{
	free(args);
}

void packet_args__clear(struct packet_args *args)
{
	args->nr = args->stacks = 0;
}

/* NULL: there are too many. */
static Perfetto__DebugAnnotation *add(struct packet_args *args, const char *name)
{
	Perfetto__DebugAnnotation *arg = &args->args[args->nr];

	if (args->nr == PACKET_ARGS)
		return NULL;
	args->list[args->nr++] = arg;
	*arg = (Perfetto__DebugAnnotation)PERFETTO__DEBUG_ANNOTATION__INIT;
	arg->name = (char *)name;
	return arg;
}

void packet_args__text(struct packet_args *args, const char *name, const char *format, ...)
{
	Perfetto__DebugAnnotation *arg;
	char text[PACKET_TEXT];
	va_list values;

	va_start(values, format);
	vsnprintf(text, sizeof(text), format, values);
	va_end(values);
	arg = *text ? add(args, name) : NULL;
	if (arg)
		arg->string_value = clean(args->texts[args->nr - 1], text);
}

void packet_args__number(struct packet_args *args, const char *name, int64_t value)
{
	Perfetto__DebugAnnotation *arg = add(args, name);

	if (arg) {
		arg->has_int_value = true;
		arg->int_value = value;
	}
}

/* Names of functions; of user space also their file. */
static void name_frames(struct arg_stack *to, const struct frames *frames, int64_t pid,
			const char *stack)
{
	struct frames_walk walk;
	char text[FRAME_TEXT];
	const char *name;

	if (!pid) {
		stack_names__of(&to->names, frames, stack);
		return;
	}
	walk = frames__walk(frames, (uint64_t)pid, stack, STACK_NAMES - 1);
	for (to->names.nr = 0; (name = frames__walk_next(&walk, text)); to->names.nr++)
		sanitize__text(to->names.frames[to->names.nr].name, FRAME_TEXT, name);
}

void packet_args__stack(struct packet_args *args, const char *name, const struct frames *frames,
			int64_t pid, const char *stack)
{
	struct arg_stack *to = &args->of_stacks[args->stacks];
	Perfetto__DebugAnnotation *arg;

	if (args->stacks == STACKS)
		return;
	name_frames(to, frames, pid, stack ? stack : "");
	arg = to->names.nr ? add(args, name) : NULL;
	if (!arg)
		return;
	for (unsigned int i = 0; i < to->names.nr; i++) {
		to->frames[i] = (Perfetto__DebugAnnotation)PERFETTO__DEBUG_ANNOTATION__INIT;
		to->frames[i].string_value = to->names.frames[i].name;
		to->list[i] = &to->frames[i];
	}
	arg->n_array_values = to->names.nr;
	arg->array_values = to->list;
	args->stacks++;
}

/* ---- events ---- */

uint64_t packets__new_flow(struct packets *packets)
{
	return ++packets->flows;
}

static void put_event(struct packets *packets, int64_t at_ns, Perfetto__TrackEvent *event,
		      uint64_t track, uint32_t type)
{
	Perfetto__TracePacket packet = PERFETTO__TRACE_PACKET__INIT;
	int64_t ns;

	if (__builtin_add_overflow((int64_t)packets->start_ns, at_ns, &ns))
		ns = INT64_MAX;
	event->has_type = event->has_track_uuid = true;
	event->type = type;
	event->track_uuid = track;
	packet.has_timestamp = true;
	packet.timestamp = ns > 0 ? (uint64_t)ns : 0;
	packet.track_event = event;
	put(packets, &packet, SEQUENCE_GOES_ON);
}

static void put_slice(struct packets *packets, int64_t at_ns, const struct packet_slice *slice,
		      uint32_t type)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;
	uint64_t from = slice->flow_from, to = slice->flow_to;
	char name[PACKET_TEXT], category[PACKET_TEXT];
	char *categories[] = { clean(category, slice->category) };

	event.name = clean(name, slice->name);
	event.n_categories = 1;
	event.categories = categories;
	event.n_flow_ids = from != 0;
	event.flow_ids = &from;
	event.n_terminating_flow_ids = to != 0;
	event.terminating_flow_ids = &to;
	if (slice->args) {
		event.n_debug_annotations = slice->args->nr;
		event.debug_annotations = (Perfetto__DebugAnnotation **)slice->args->list;
	}
	put_event(packets, at_ns, &event, slice->track, type);
}

void packets__slice_begin(struct packets *packets, int64_t at_ns, const struct packet_slice *slice)
{
	put_slice(packets, at_ns, slice, SLICE_BEGIN);
}

void packets__slice_end(struct packets *packets, int64_t at_ns, uint64_t track)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

	put_event(packets, at_ns, &event, track, SLICE_END);
}

void packets__instant(struct packets *packets, int64_t at_ns, const struct packet_slice *slice)
{
	put_slice(packets, at_ns, slice, INSTANT);
}

void packets__count(struct packets *packets, int64_t at_ns, uint64_t track, double value)
{
	Perfetto__TrackEvent event = PERFETTO__TRACK_EVENT__INIT;

	event.has_double_counter_value = true;
	event.double_counter_value = value;
	put_event(packets, at_ns, &event, track, COUNTER);
}
