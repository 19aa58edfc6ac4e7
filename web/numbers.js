// SPDX-License-Identifier: BSD-2-Clause
// The slots of include/latscope/hist.h and the arithmetic of src/core/hist.c, so that a span of the page has the numbers
// of `latscope report --from --to`. All numbers are below 2^53.
const SUB = 32;
const OVERFLOW = SUB + SUB * 36;
const SLOTS = OVERFLOW + 1;
const QUANTILES = [["p50", 0.5], ["p90", 0.9], ["p99", 0.99], ["p99.9", 0.999], ["p99.99", 0.9999]];

// Lower edge of a slot in ns: hist_slot_low_ns().
function slotLowNs(slot) {
	const octave = slot < SUB ? 0 : Math.floor((slot - SUB) / SUB);
	const scaled = slot < SUB ? slot : (SUB + (slot - SUB) % SUB) * 2 ** octave;
	return Math.floor((scaled * 1000 + SUB - 1) / SUB);
}

const slotHighNs = (slot) => slot === OVERFLOW ? Infinity : slotLowNs(slot + 1);
const emptyHist = () => ({ slots: new Float64Array(SLOTS), n: 0, sum: 0, max: 0, tail: 0, counts: [] });

// Adds a column of a series: a histogram, or sums without slots.
function addHist(to, cell) {
	for (let i = 0; cell.slots && i < cell.slots.length; i += 2)
		to.slots[cell.slots[i]] += cell.slots[i + 1];
	to.n += cell.n;
	to.sum += cell.sum;
	to.max = Math.max(to.max, cell.max);
	to.tail += cell.tail || 0;
	for (const [index, value] of cell.counts || [])
		to.counts[index] = (to.counts[index] || 0) + value;
	return to;
}

// rank_of()
function rankOf(q, n) {
	const exact = q * n - 1e-6;
	return exact >= n ? n : exact <= 1 ? 1 : Math.ceil(exact);
}

// interpolate()
function interpolate(hist, slot, nth) {
	const low = slotLowNs(slot), high = Math.min(slotHighNs(slot), hist.max);
	if (high <= low)
		return hist.max;
	return Math.min(low + Math.trunc((high - low) * (nth - 0.5) / hist.slots[slot]), hist.max);
}

// [the value in ns, its slot]: hist__quantile_of()
function quantileSlot(hist, q) {
	const rank = hist.n ? rankOf(q, hist.n) : 0;
	let below = 0, last = 0;
	for (let i = 0; i < SLOTS; i++) {
		if (!hist.slots[i])
			continue;
		last = i;
		if (rank < hist.n && rank <= below + hist.slots[i])
			return [interpolate(hist, i, rank - below), i];
		below += hist.slots[i];
	}
	return [hist.max, last];
}

const quantile = (hist, q) => quantileSlot(hist, q)[0];
const mean = (hist) => hist.n ? hist.sum / hist.n : 0;

// As in the JSON of latscope: us, three decimals.
const usValue = (ns) => String(Number((ns / 1000).toFixed(3)));

// Three digits: "870 ns", "1.23 ms".
const digits = (value) => value >= 99.95 ? value.toFixed(0) : value >= 9.995 ? value.toFixed(1) : value.toFixed(2);

function fmtNs(ns) {
	const units = [["s", 1e9], ["ms", 1e6], ["µs", 1e3]];
	for (const [unit, scale] of units) {
		if (ns >= scale * 0.99995)
			return digits(ns / scale) + " " + unit;
	}
	return ns.toFixed(0) + " ns";
}

const fmtRate = (rate) => rate >= 999.5 ? fmtCount(rate) : digits(rate);
const fmtCount = (n) => String(Math.round(n)).replace(/\B(?=(\d{3})+$)/g, ",");

function fmtShare(part, whole) {
	const share = whole ? part / whole * 100 : 0;
	return share && share < 0.01 ? "<0.01 %" : digits(share).replace(/^0.00$/, "0") + " %";
}

// "-0.03 %", as the text of `latscope report` has it.
const fmtSigned = (share) => share ? (share < 0 ? "-" : "+") + fmtShare(Math.abs(share), 1) : "0 %";

const fmtSec = (ns) => String(Number((ns / 1e9).toFixed(3))) + " s";
