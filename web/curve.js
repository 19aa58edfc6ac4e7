// SPDX-License-Identifier: BSD-2-Clause
// Percentiles on an axis of nines: p90, p99, p99.9 have the same distance. The band is the width of a slot, which is
// the most that a value can be off.
const CURVE = { width: 620, height: 270, left: 64, right: 64, top: 10, bottom: 30 };

function nines(n) {
	const most = Math.max(1, Math.log10(Math.max(10, n))), points = [];
	for (let at = 0.02; at < most; at += 0.02)
		points.push(at);
	points.push(most);
	return points;
}

function curvePoints(hist) {
	return nines(hist.n).map((at) => {
		const [ns, slot] = quantileSlot(hist, hist.n * 10 ** -at <= 1.0001 ? 1 : 1 - 10 ** -at);
		return { at, ns: Math.max(1, ns), low: Math.max(1, slotLowNs(slot)), high: Math.max(1, Math.min(slotHighNs(slot), hist.max)) };
	});
}

function curveAxes(frame, x, y, most, low, high) {
	for (let at = 0; at <= most; at++) {
		const name = at === 0 ? "min" : at === 1 ? "p90" : at === 2 ? "p99" : "p99." + "9".repeat(at - 2);
		frame.append(svgEl("line", { x1: x(at), x2: x(at), y1: CURVE.top, y2: CURVE.height - CURVE.bottom, class: "grid" }),
			svgEl("text", { x: x(at), y: CURVE.height - 10, "text-anchor": "middle" }, name));
	}
	const p50 = x(Math.log10(2));
	frame.append(svgEl("text", { x: p50, y: CURVE.height - 10, "text-anchor": "middle" }, "p50"));
	for (const ns of logTicks(low, high))
		frame.append(svgEl("line", { x1: CURVE.left, x2: CURVE.width - CURVE.right, y1: y(ns), y2: y(ns), class: "grid" }),
			svgEl("text", { x: CURVE.left - 6, y: y(ns) + 4, "text-anchor": "end" }, fmtNs(ns).replace(/\.0+ /, " ")));
}

// lines: [{name, hist, color, dashed}], of which those without events are left out.
function percentileCurve(lines, title) {
	const shown = lines.filter((line) => line.hist.n).map((line) => ({ ...line, points: curvePoints(line.hist) }));
	const frame = svgEl("svg", { class: "curve", viewBox: "0 0 " + CURVE.width + " " + CURVE.height, role: "img", "aria-label": title });
	const all = shown.flatMap((line) => line.points);
	if (!all.length)
		return el("p", { class: "empty" }, "No events in this span.");
	const most = Math.max(...all.map((p) => p.at)), low = Math.min(...all.map((p) => p.low)) / 1.1;
	const high = Math.max(...shown.map((line) => line.hist.max)) * 1.2;
	const x = (at) => CURVE.left + at / most * (CURVE.width - CURVE.left - CURVE.right);
	const y = (ns) => CURVE.top + (1 - Math.log(ns / low) / Math.log(high / low)) * (CURVE.height - CURVE.top - CURVE.bottom);
	const path = (points, of) => points.map((p, i) => (i ? "L" : "M") + x(p.at).toFixed(1) + " " + y(of(p)).toFixed(1)).join("");
	curveAxes(frame, x, y, most, low, high);
	shown.forEach((line) => {
		const back = [...line.points].reverse();
		const name = line.name + ", n = " + fmtCount(line.hist.n);
		frame.append(svgEl("path", { d: path(line.points, (p) => p.high) + path(back, (p) => p.low).replace("M", "L") + "z",
			fill: line.color, opacity: 0.25 }),
		svgEl("path", { d: path(line.points, (p) => p.ns), stroke: line.color, "stroke-width": 2, fill: "none",
			"stroke-dasharray": line.dashed ? "4 4" : null }, svgEl("title", null, name)));
	});
	frame.addEventListener("pointermove", (event) => {
		const box = frame.getBoundingClientRect(), px = (event.clientX - box.left) / box.width * CURVE.width;
		const at = (px - CURVE.left) / (CURVE.width - CURVE.left - CURVE.right) * most, q = 1 - 10 ** -at;
		hint(event, at < 0 || at > most ? null : ["p" + (q * 100).toPrecision(Math.max(2, Math.ceil(at) + 2))].concat(
			shown.map((line) => line.name + ": " + fmtNs(quantile(line.hist, Math.max(1e-9, q))))));
	});
	frame.addEventListener("pointerleave", () => hint());
	return frame;
}
