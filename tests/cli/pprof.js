// SPDX-License-Identifier: BSD-2-Clause
// pprof.js PROFILE: a profile of pprof as folded stacks: "comm;state;call;outermost;...;innermost us", a line a sample. The schema is
// that of profile.proto.
'use strict';
const fs = require('fs');
const zlib = require('zlib');
const { decode } = require('./protobuf.js');

const type = { 1: ['type', 'int'], 2: ['unit', 'int'] };
const profile = decode(zlib.gunzipSync(fs.readFileSync(process.argv[2])), {
	1: ['types', [type]],
	2: ['samples', [{
		1: ['locations', ['uint']], 2: ['values', ['int']],
		3: ['labels', [{ 1: ['key', 'int'], 2: ['text', 'int'], 3: ['number', 'int'] }]],
	}]],
	3: ['mappings', [{ 1: ['id', 'uint'], 5: ['file', 'int'], 7: ['named', 'bool'] }]],
	4: ['locations', [{ 1: ['id', 'uint'], 2: ['mapping', 'uint'], 3: ['address', 'uint'], 4: ['lines', [{ 1: ['function', 'uint'] }]] }]],
	5: ['functions', [{ 1: ['id', 'uint'], 2: ['name', 'int'], 3: ['system_name', 'int'] }]],
	6: ['strings', ['string']],
	9: ['ns', 'int'],
	10: ['duration', 'int'],
	13: ['comments', ['int']],
	14: ['by_default', 'int'],
});
// What must be there, and only once.
function one(list, id) {
	const found = list.filter((each) => each.id === id);
	if (!id || found.length !== 1)
		throw new Error(`${found.length} with the ID ${id}`);
	return found[0];
}
function text(index) {
	const found = profile.strings[Number(index)];
	if (found === undefined)
		throw new Error(`no text ${index}`);
	return found;
}
const types = profile.types.map((each) => `${text(each.type)}/${text(each.unit)}`).join(' ');
if (profile.strings[0] !== '' || types !== 'off-cpu/nanoseconds sleeps/count' || text(profile.by_default) !== 'off-cpu')
	throw new Error(`the types are ${types}`);
const name_of = new Map(profile.locations.map((each) => {
	one(profile.mappings, each.mapping);
	one(profile.locations, each.id);
	return [each.id, text(one(profile.functions, each.lines[0].function).name)];
}));
for (const sample of profile.samples) {
	const labels = Object.fromEntries((sample.labels ?? []).map((each) => [text(each.key), text(each.text ?? 0)]));
	const names = sample.locations.map((id) => name_of.get(id)).filter((name) => name !== '(no stack)').reverse();
	if (sample.values.length !== 2 || names.includes(undefined))
		throw new Error('a sample without values or names');
	console.log([labels.comm, labels.state, labels.call, ...names].filter(Boolean).map((each) => each.replace(/;/g, ':')).join(';'),
		String(sample.values[0]));
}
