// SPDX-License-Identifier: BSD-2-Clause
// Heat maps: time to the right, log latency upwards, colour by the square root of the number of events.
const ROWS = 4; // per octave
const HEAT_HEIGHT = 132;

function rowOfSlot(slot) {
	const middle = slot < 32 ? slot * 31.25 + 15.6 : Math.sqrt(slotLowNs(slot) * Math.min(slotHighNs(slot), 7e13));
	return Math.floor(Math.log2(middle) * ROWS);
}

const ROW_OF = Array.from({ length: SLOTS }, (_, slot) => rowOfSlot(slot));

// The events of a column by row.
function rowsOf(cell) {
	const rows = new Map();
	for (let i = 0; cell && i < cell.slots.length; i += 2)
		rows.set(ROW_OF[cell.slots[i]], (rows.get(ROW_OF[cell.slots[i]]) || 0) + cell.slots[i + 1]);
	return rows;
}

// The rows that have events, and the most events in a cell; of several series together, so that they share one scale.
function heatScale(allColumns) {
	const scale = { low: Infinity, high: -Infinity, most: 1 };
	for (const [row, count] of allColumns.flat().flatMap((cell) => [...rowsOf(cell)])) {
		scale.most = Math.max(scale.most, count);
		scale.low = Math.min(scale.low, row);
		scale.high = Math.max(scale.high, row);
	}
	if (scale.low > scale.high)
		Object.assign(scale, { low: 10 * ROWS, high: 20 * ROWS });
	scale.low -= 1;
	scale.high += 2;
	return scale;
}

function mix(ramp, at) {
	const place = Math.min(at, 0.9999) * (ramp.length - 1), i = Math.floor(place), part = place - i;
	const hex = (color, from) => parseInt(color.slice(from, from + 2), 16);
	const both = [1, 3, 5].map((from) => Math.round(hex(ramp[i], from) * (1 - part) + hex(ramp[i + 1], from) * part));
	return "rgb(" + both.join(",") + ")";
}

function hatch(context, color) {
	const tile = document.createElement("canvas"), draw = tile.getContext("2d");
	tile.width = tile.height = 6;
	draw.strokeStyle = color;
	draw.stroke(new Path2D("M0 6L6 0"));
	return context.createPattern(tile, "repeat");
}

function drawCells(context, of, look) {
	const { columns, edges, scale, x, y } = of;
	columns.forEach((cell, i) => {
		const left = x(edges[i].start), width = Math.max(1, x(edges[i].end) - left);
		context.clearRect(left, 0, width + 0.5, of.height);
		for (const [row, count] of rowsOf(cell)) {
			context.fillStyle = of.color ? of.color(count, i, row) : mix(look.ramp, Math.sqrt(count / scale.most));
			context.fillRect(left, y(row + 1), width + 0.3, y(row) - y(row + 1) + 0.3);
		}
		if (cell && cell.n && !of.color) {
			context.fillStyle = look.mark;
			context.fillRect(left, y(Math.log2(Math.max(1, cell.max)) * ROWS) - 1, Math.max(2, width), 2);
		}
	});
}

function drawAxes(context, of, look) {
	context.fillStyle = look.dim;
	context.strokeStyle = look.line;
	context.font = "11px system-ui, sans-serif";
	context.textBaseline = "middle";
	context.textAlign = "right";
	for (const ns of logTicks(2 ** (of.scale.low / ROWS), 2 ** (of.scale.high / ROWS))) {
		const at = Math.round(of.y(Math.log2(ns) * ROWS)) + 0.5;
		context.fillText(fmtNs(ns).replace(/\.0+ /, " "), LEFT - 6, Math.min(of.height - 7, Math.max(7, at)));
		context.globalAlpha = 0.5;
		context.stroke(new Path2D("M" + LEFT + " " + at + "H" + of.x(of.end)));
		context.globalAlpha = 1;
	}
}

// One heat map. of: {columns, edges, scale, title, start, end, span, color, onhover}. Returns its canvas.
function heatMap(of) {
	const look = theme(), width = of.width || widthOf(), ratio = window.devicePixelRatio || 1;
	const canvas = el("canvas", { role: "img", "aria-label": of.title });
	const context = canvas.getContext("2d");
	of.height = HEAT_HEIGHT;
	of.x = (ns) => LEFT + (ns - of.start) / Math.max(1, of.end - of.start) * (width - LEFT - RIGHT);
	of.y = (row) => of.height - (row - of.scale.low) / (of.scale.high - of.scale.low) * of.height;
	canvas.width = width * ratio;
	canvas.height = of.height * ratio;
	canvas.style.width = width + "px";
	canvas.style.height = of.height + "px";
	context.scale(ratio, ratio);
	context.fillStyle = hatch(context, look.dim);
	context.fillRect(LEFT, 0, width - LEFT - RIGHT, of.height);
	drawCells(context, of, look);
	drawAxes(context, of, look);
	canvas.addEventListener("pointermove", (event) => hint(event, hoverLines(of, event, canvas)));
	canvas.addEventListener("pointerleave", () => hint());
	return canvas;
}

function hoverLines(of, event, canvas) {
	const box = canvas.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
	const ns = of.start + (px - LEFT) / (box.width - LEFT - RIGHT) * (of.end - of.start);
	const at = of.edges.findIndex((edge) => ns >= edge.start && ns < edge.end), cell = of.columns[at];
	const row = Math.floor(of.scale.low + (of.height - py) / of.height * (of.scale.high - of.scale.low));
	if (px < LEFT || at < 0)
		return px < LEFT ? null : ["no data"];
	const when = fmtSec(of.edges[at].start) + " to " + fmtSec(of.edges[at].end);
	if (!cell || !cell.n)
		return [when, "no events"];
	if (of.lines)
		return [when].concat(of.lines(at, row));
	const hist = addHist(emptyHist(), cell);
	return [when, fmtNs(2 ** (row / ROWS)) + " to " + fmtNs(2 ** ((row + 1) / ROWS)) + ": " + fmtCount(rowsOf(cell).get(row) || 0) + " events",
		fmtCount(cell.n) + " events, p50 " + fmtNs(quantile(hist, 0.5)) + ", p99 " + fmtNs(quantile(hist, 0.99)) +
		", max " + fmtNs(cell.max)];
}
