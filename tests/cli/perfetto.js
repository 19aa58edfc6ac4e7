// SPDX-License-Identifier: BSD-2-Clause
// perfetto.js TRACE RUN.DB INTERVALS.JSON: does the trace have what the recording has? The schema is that of Perfetto's trace.proto;
// INTERVALS.JSON is what report --intervals --json prints. Prints what is wrong, and what there is.
'use strict';
const fs = require('fs');
const { execFileSync } = require('child_process');
const { decode } = require('./protobuf.js');

const annotation = { 4: ['int', 'int'], 6: ['text', 'string'], 10: ['name', 'string'] };
annotation[12] = ['array', [annotation]];
const schema = {
	1: ['packets', [{
		6: ['clocks', { 1: ['clocks', [{ 1: ['id', 'uint'], 2: ['ns', 'uint'] }]], 2: ['primary', 'uint'] }],
		8: ['ns', 'uint'],
		10: ['sequence', 'uint'],
		11: ['event', {
			4: ['args', [annotation]], 9: ['type', 'uint'], 11: ['track', 'uint'], 22: ['categories', ['string']],
			23: ['name', 'string'], 44: ['value', 'double'], 47: ['from', ['fixed64']], 48: ['to', ['fixed64']],
		}],
		13: ['flags', 'uint'],
		59: ['defaults', { 58: ['clock', 'uint'] }],
		60: ['track', {
			1: ['uuid', 'uint'], 2: ['name', 'string'],
			3: ['process', { 1: ['pid', 'int'], 6: ['name', 'string'] }],
			4: ['thread', { 1: ['pid', 'int'], 2: ['tid', 'int'], 5: ['name', 'string'] }],
			5: ['parent', 'uint'], 8: ['counter', { 6: ['unit', 'string'], 7: ['scale', 'string'] }],
			11: ['ordering', 'uint'], 12: ['rank', 'int'], 14: ['what', 'string'],
		}],
	}]],
};
const BEGIN = 1n, END = 2n, INSTANT = 3n, COUNTER = 4n;
const [file, db, intervals_file] = process.argv.slice(2);
let bad = 0;

function wrong(what) {
	console.log(what);
	bad++;
}

function query(sql) {
	return JSON.parse(execFileSync('sqlite3', ['-readonly', '-json', db, sql], { encoding: 'utf8', maxBuffer: 1 << 28 }) || '[]');
}

const same = (got, wanted, what) => String(got) === String(wanted) || wrong(`${what}: ${got}, not ${wanted}`);
const near = (got, wanted, what) => Math.abs(got - wanted) <= 1e-6 * Math.abs(wanted) + 1e-9 || wrong(`${what}: ${got}, not ${wanted}`);

// ---- the trace ----

const packets = decode(fs.readFileSync(file), schema).packets;
const tracks = new Map(), counters = new Map(), slices = [], flows = new Map(), open = new Map();
let times = [], clocks;

packets.forEach((packet, i) => {
	same(packet.sequence, 1, 'sequence');
	same(packet.flags, i ? 2 : 1, `flags of packet ${i}`);
	if (packet.clocks)
		clocks = packet.clocks;
	if (packet.track)
		tracks.set(packet.track.uuid, packet.track);
	if (packet.event) {
		times.push({ ns: packet.ns, i, ...packet.event });
		if (!tracks.has(packet.event.track))
			wrong(`an event on the unknown track ${packet.event.track}`);
	}
});
same(packets[0].defaults?.clock, 3, 'clock of the times');
for (const track of tracks.values())
	if (track.parent && !tracks.has(track.parent))
		wrong(`${track.name}: no parent`);

// The thread or process that a track is below.
function task_of(uuid) {
	for (let track = tracks.get(uuid); track; track = tracks.get(track.parent))
		if (track.thread || track.process)
			return track;
	return {};
}

const stable = (a, b) => (a.ns < b.ns ? -1 : a.ns > b.ns ? 1 : a.i - b.i);
for (const event of times.sort(stable)) {
	const stack = open.get(event.track) ?? open.set(event.track, []).get(event.track), top = stack.at(-1);
	if (event.type === COUNTER) {
		(counters.get(event.track) ?? counters.set(event.track, []).get(event.track)).push(event);
	} else if (event.type === END) {
		if (!top)
			wrong(`an end without a beginning on ${event.track}`);
		else
			stack.pop().end = event.ns;
	} else {
		const slice = { ...event, parts: [], begin: event.ns, end: event.ns };
		(top ? top.parts : slices).push(slice);
		for (const id of event.from ?? [])
			(flows.get(id) ?? flows.set(id, {}).get(id)).from = slice;
		for (const id of event.to ?? [])
			(flows.get(id) ?? flows.set(id, {}).get(id)).to = slice;
		if (event.type === BEGIN)
			stack.push(slice);
		else
			same(event.type, INSTANT, 'type');
	}
}
for (const stack of open.values())
	if (stack.length)
		wrong(`${stack[0].name} has no end`);
for (const slice of slices)
	for (const part of slice.parts)
		if (part.begin < slice.begin || part.end > slice.end || part.parts.length)
			wrong(`${part.name} is not within ${slice.name}`);

// ---- clocks ----

const meta = Object.fromEntries(query('SELECT name, CAST(value AS TEXT) AS value FROM meta').map((row) => [row.name, row.value]));
const start = BigInt(meta.start_mono_ns), length = BigInt(meta.duration_ns);
const wanted = { 3: start };
wanted[1] = meta.real_offset_ns ? start + BigInt(meta.real_offset_ns) : BigInt(Date.parse(meta.start_utc)) * 1000000n;
if (meta.real_offset_ns)
	wanted[6] = start + BigInt(meta.boot_offset_ns);
same(clocks.primary, 3, 'primary clock');
same(clocks.clocks.length, Object.keys(wanted).length, 'clocks');
for (const clock of clocks.clocks)
	same(clock.ns, wanted[clock.id], `clock ${clock.id}`);
for (const slice of slices)
	if (slice.end < start || slice.end > start + length)
		wrong(`${slice.name} ends outside of the window`);

// ---- slow events and waits ----

const tables = query("SELECT DISTINCT of_table AS name FROM table_column").map((row) => row.name);
// The slices on tracks whose name begins so, as "end ns tid".
function of_tracks(prefix) {
	return slices.filter((slice) => tracks.get(slice.track).name?.startsWith(prefix) && !slice.from);
}
const key_of = (slice) => `${slice.end - start} ${slice.end - slice.begin} ${task_of(slice.track).thread?.tid ?? 0}`;
// One slice for each row.
function matches(name, prefix, check) {
	const rows = query(`SELECT * FROM "${name}"`), by_key = new Map();
	for (const slice of of_tracks(prefix))
		(by_key.get(key_of(slice)) ?? by_key.set(key_of(slice), []).get(key_of(slice))).push(slice);
	for (const row of rows) {
		const slice = by_key.get(`${row.time_ns} ${row.ns} ${row.tid ?? 0}`)?.shift();
		if (slice)
			check(row, slice);
		else
			wrong(`${name}: a row without a slice: ${row.time_ns} ${row.ns} ${row.tid}`);
	}
	for (const rest of by_key.values())
		if (rest.length)
			wrong(`${name}: a slice without a row: ${key_of(rest[0])}`);
	console.log(`# ${rows.length} rows of ${name}`);
}
const arg = (slice, name) => slice.args?.find((one) => one.name === name);

for (const name of tables.filter((one) => one.endsWith('_slow')))
	matches(name, `${name.slice(0, -5)}: `, (row, slice) => {
		const parts = Object.keys(row).filter((column) => column.endsWith('_ns') && !/^(time|culprit\d)_ns$/.test(column));
		const held = Object.fromEntries(slice.parts.map((part) => [part.name, part.end - part.begin]));
		for (const part of parts)
			same(held[part.slice(0, -3)] ?? 0, row[part] ?? 0, `${name} at ${row.time_ns}: ${part}`);
		if (row.culprit1 && !arg(slice, 'culprit 1')?.text.startsWith(`${row.culprit1}: ${row.culprit1_part} `))
			wrong(`${name}: culprit ${row.culprit1} is not an argument`);
		same(arg(slice, 'kernel stack')?.array.length > 0, row.kernel_stack !== null, `${name}: stack`);
	});
for (const name of tables.filter((one) => one.endsWith('_waits')))
	matches(name, `${name.slice(0, -6)}: long waits`, (row, slice) => {
		same(slice.name, row.state, 'state');
		same(arg(slice, 'chain')?.text ?? '', row.chain, 'chain');
		const arrow = slice.parts.map((part) => flows.get(part.to?.[0]))[0];
		if (!row.waker_tid !== !arrow)
			return wrong(`an arrow to ${row.comm}: ${!!arrow}, woken by ${row.waker_tid}`);
		if (arrow)
			same(`${task_of(arrow.from.track).thread.tid} ${arrow.from.end - start}`, `${row.waker_tid} ${row.time_ns}`, 'arrow');
	});
for (const [id, flow] of flows)
	if (!flow.from || !flow.to)
		wrong(`the arrow ${id} has one end`);

// ---- counters ----

// The value that holds at a time.
function value_at(uuid, ns) {
	return (counters.get(uuid) ?? []).filter((one) => one.ns <= ns).at(-1)?.value ?? 0;
}
function path_of(uuid) {
	const track = tracks.get(uuid);
	const own = track.process ? `pid ${track.process.pid}` : track.thread ? `tid ${track.thread.tid}` : track.name;
	return track.parent ? `${path_of(track.parent)}/${own}` : own;
}
const by_path = new Map();
for (const uuid of tracks.keys())
	if (tracks.get(uuid).counter)
		(by_path.get(path_of(uuid)) ?? by_path.set(path_of(uuid), []).get(path_of(uuid))).push(uuid);
const sum_at = (path, ns) => (by_path.get(path) ?? []).reduce((sum, uuid) => sum + value_at(uuid, ns), 0);
const intervals = query('SELECT id, start_ns, end_ns FROM interval ORDER BY id');

for (const [i, interval] of fs.readFileSync(intervals_file, 'utf8').trim().split('\n').map(JSON.parse).entries()) {
	const at = start + BigInt(intervals[i].start_ns), seconds = (intervals[i].end_ns - intervals[i].start_ns) / 1e9;
	for (const probe of interval.probes)
		for (const metric of probe.metrics ?? []) {
			const path = `${probe.module}/${metric.metric}`;
			near(sum_at(`${path} events`, at) * seconds, metric.total_events, `${path} events`);
			if (!metric.total_events)
				continue;
			for (const [name, us] of [['p50', metric.percentiles.p50_us], ['p99', metric.percentiles.p99_us], ['max', metric.max_us]])
				if (Math.abs(sum_at(`${path} ${name}`, at) - us) > 1e-3 + 1e-6 * us)
					wrong(`${path} ${name}: ${sum_at(`${path} ${name}`, at)}, not ${us}`);
		}
}
let held = 0;
for (const name of tables.filter((one) => query(`SELECT * FROM "${one}" LIMIT 1`)[0]?.life_ns !== undefined))
	for (const interval of intervals) {
		const at = start + BigInt(interval.start_ns), ns = interval.end_ns - interval.start_ns;
		for (const row of query(`SELECT pid, sum(life_ns) AS life_ns, sum(cpu_ns) AS cpu_ns, sum(disk_ns) AS disk_ns, sum(work_ns) AS
			work_ns FROM "${name}" WHERE pid NOT NULL AND interval = ${interval.id} GROUP BY pid`))
			for (const part of ['life', 'cpu', 'disk', 'work']) {
				near(sum_at(`pid ${row.pid}/${name}/${part}`, at) * ns, row[`${part}_ns`], `${row.pid} ${part}`);
				held++;
			}
	}
for (const row of query('SELECT * FROM pressure')) {
	const interval = intervals.find((one) => one.id === row.interval), ns = interval.end_ns - interval.start_ns;
	near(sum_at('pressure/cpu_some_ns', start + BigInt(interval.start_ns)) / 100 * ns, row.cpu_some_ns, 'pressure');
}
for (const [uuid, values] of counters)
	if (values.at(-1).value !== 0)
		wrong(`${path_of(uuid)} does not end`);
console.log(`# ${packets.length} packets, ${tracks.size} tracks, ${slices.length} slices, ${flows.size} arrows, ${held} values of parts`);
process.exit(bad ? 1 : 0);
