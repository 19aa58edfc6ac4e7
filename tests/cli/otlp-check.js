// SPDX-License-Identifier: BSD-2-Clause
// otlp-check.js FILE...: is each an ExportMetricsServiceRequest as OTLP 1 has it in JSON? The names and types are those of
// opentelemetry/proto/metrics/v1/metrics.proto and of the mapping of protobuf to JSON. Prints what is wrong.
'use strict';
const fs = require('fs');

const text = (value) => typeof value === 'string';
const flag = (value) => typeof value === 'boolean';
const real = (value) => typeof value === 'number' && Number.isFinite(value);
const int32 = (value) => Number.isInteger(value) && Math.abs(value) < 2 ** 31;
const uint64 = (value) => text(value) && /^(0|[1-9][0-9]*)$/.test(value) && BigInt(value) < 2n ** 64n;
const one = (of) => (value) => [1, 2].includes(value) && of; // aggregationTemporality: delta, cumulative
const list = (type) => ({ list: type });

const attribute = { key: text, value: { stringValue: text } };
const number = { attributes: list(attribute), startTimeUnixNano: uint64, timeUnixNano: uint64, asDouble: real };
const buckets = { offset: int32, bucketCounts: list(uint64) };
const exponential = {
	attributes: list(attribute), startTimeUnixNano: uint64, timeUnixNano: uint64, count: uint64, sum: real, scale: int32,
	zeroCount: uint64, positive: buckets, negative: buckets, min: real, max: real, zeroThreshold: real,
};
const metric = {
	name: text, description: text, unit: text,
	gauge: { dataPoints: list(number) },
	sum: { dataPoints: list(number), aggregationTemporality: one(true), isMonotonic: flag },
	exponentialHistogram: { dataPoints: list(exponential), aggregationTemporality: one(true) },
};
const request = {
	resourceMetrics: list({
		resource: { attributes: list(attribute) },
		scopeMetrics: list({ scope: { name: text, version: text }, metrics: list(metric) }),
	}),
};
let bad = 0;

function complain(file, where, what) {
	console.log(`${file}: ${where}: ${what}`);
	bad++;
}

function check(file, where, type, value) {
	if (typeof type === 'function') {
		if (!type(value))
			complain(file, where, `not valid: ${JSON.stringify(value)}`);
	} else if (type.list) {
		if (!Array.isArray(value))
			return complain(file, where, 'not a list');
		value.forEach((each, i) => check(file, `${where}[${i}]`, type.list, each));
	} else {
		for (const name of Object.keys(value)) {
			if (type[name])
				check(file, `${where}.${name}`, type[name], value[name]);
			else
				complain(file, `${where}.${name}`, 'no such field');
		}
	}
}

// What the types do not say.
function check_metric(file, one) {
	const kinds = ['gauge', 'sum', 'exponentialHistogram'].filter((kind) => one[kind]);

	if (kinds.length !== 1 || !one.name || !one[kinds[0]].dataPoints.length)
		return complain(file, one.name, 'not one kind with points');
	if (kinds[0] !== 'gauge' && !one[kinds[0]].aggregationTemporality)
		complain(file, one.name, 'no temporality');
	const points = one[kinds[0]].dataPoints, seen = new Set(points.map((point) => JSON.stringify(point.attributes)));
	if (seen.size !== points.length)
		complain(file, one.name, 'two points with the same attributes');
	for (const point of points) {
		if (BigInt(point.timeUnixNano) < BigInt(point.startTimeUnixNano ?? 0))
			complain(file, one.name, 'a point ends before it starts');
		if (!point.attributes.every((each) => each.key && text(each.value.stringValue)))
			complain(file, one.name, 'an attribute without a value');
		if (kinds[0] !== 'exponentialHistogram')
			continue;
		const sum = (point.positive?.bucketCounts ?? []).reduce((a, b) => a + BigInt(b), BigInt(point.zeroCount));
		if (sum !== BigInt(point.count))
			complain(file, one.name, `${sum} in buckets, count ${point.count}`);
	}
}

for (const file of process.argv.slice(2)) {
	const body = JSON.parse(fs.readFileSync(file));

	check(file, 'body', request, body);
	for (const resource of body.resourceMetrics)
		for (const scope of resource.scopeMetrics)
			scope.metrics.forEach((each) => check_metric(file, each));
}
process.exit(bad ? 1 : 0);
