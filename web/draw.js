// SPDX-License-Identifier: BSD-2-Clause
// Elements, colours, axes and the hint under the pointer. Texts are set as text, never as HTML.
const LEFT = 76; // px before each picture with a time axis
const RIGHT = 8;

// Okabe and Ito: distinct for the colour-blind. `top` has the same.
const COLORS = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#b8a500", "#888888"];

const RAMPS = {
	light: ["#e6eff8", "#a9cbe6", "#5a9bd0", "#1b5fa6", "#08254a"],
	dark: ["#15314b", "#1d5a87", "#3a92c2", "#8fd0ea", "#fff7c9"],
};

const darkQuery = window.matchMedia("(prefers-color-scheme: dark)");

function theme() {
	const style = getComputedStyle(document.documentElement);
	const dark = darkQuery.matches && !window.matchMedia("print").matches;
	const get = (name) => style.getPropertyValue(name).trim();
	return { ramp: RAMPS[dark ? "dark" : "light"], ink: get("--ink"), dim: get("--dim"), line: get("--line"),
		mark: get("--mark"), back: get("--back"), shade: get("--shade") };
}

function fill(node, attributes, children) {
	for (const [name, value] of Object.entries(attributes || {})) {
		if (name.startsWith("on"))
			node.addEventListener(name.slice(2), value);
		else if (value !== null && value !== undefined && value !== false)
			node.setAttribute(name, value === true ? "" : value);
	}
	for (const child of children)
		if (child !== null && child !== undefined)
			node.append(child);
	return node;
}

const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
const svgEl = (name, attributes, ...children) => fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

function clear(node) {
	node.replaceChildren();
	return node;
}

// The width that a picture may have.
function widthOf() {
	const page = document.getElementById("page"), style = getComputedStyle(page);
	return Math.max(240, Math.floor(page.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)));
}

const hintBox = document.getElementById("hint");

// Shows lines of text at the pointer; without lines it hides them.
function hint(event, lines) {
	hintBox.hidden = !lines;
	if (!lines)
		return;
	clear(hintBox).append(...lines.map((line) => el("div", null, line)));
	const left = Math.min(event.clientX + 14, window.innerWidth - hintBox.offsetWidth - 8);
	const top = Math.min(event.clientY + 14, window.innerHeight - hintBox.offsetHeight - 8);
	hintBox.style.left = Math.max(0, left) + "px";
	hintBox.style.top = Math.max(0, top) + "px";
}

// Powers of ten between two latencies in ns.
function logTicks(low, high) {
	const ticks = [];
	for (let ns = 10 ** Math.ceil(Math.log10(Math.max(1, low))); ns <= high; ns *= 10)
		ticks.push(ns);
	return ticks;
}

// About `most` round times in ns.
function timeTicks(start, end, most) {
	const rough = (end - start) / most, base = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
	const step = base * [1, 2, 5, 10].find((m) => m * base >= rough), ticks = [];
	for (let ns = Math.ceil(start / step) * step; ns <= end; ns += step)
		ticks.push(ns);
	return ticks;
}

// Tables that are wider than the page become a list of cards, whose cells have the heads of their columns.
function fitTables() {
	for (const box of document.querySelectorAll(".scroll")) {
		const heads = [...box.querySelectorAll("thead tr > *")].map((head) => head.textContent);
		box.classList.remove("cards");
		if (box.scrollWidth <= box.clientWidth)
			continue;
		box.classList.add("cards");
		for (const row of box.querySelectorAll("tbody tr"))
			[...row.children].forEach((cell, i) => cell.setAttribute("data-label", heads[i]));
	}
}

// A long name may be broken after a slash, but not elsewhere.
const breakable = (name) => name.length < 33 ? [name] : name.split(/(?<=\/)/).flatMap((part, i) => i ? [el("wbr"), part] : [part]);

// A table whose columns sort when their head is clicked. columns: [title, class]; rows: [[{text, value, node}]].
function sortable(columns, rows, caption) {
	const body = el("tbody"), head = el("tr");
	const state = { by: -1, down: true };
	const cell = (one, i) => el("td", { class: columns[i][1], "data-value": one.value, title: one.title },
		...(one.node ? [one.node] : breakable(one.text)));
	const show = () => clear(body).append(...rows.map((row) => el("tr", null, ...row.map(cell))));
	const sort = (i) => {
		const of = (row) => row[i].value === undefined ? row[i].text : Number(row[i].value);
		state.down = state.by === i ? !state.down : true;
		state.by = i;
		rows.sort((a, b) => (of(a) < of(b) ? 1 : of(a) > of(b) ? -1 : 0) * (state.down ? 1 : -1));
		[...head.children].forEach((th, at) =>
			th.setAttribute("aria-sort", at === i ? (state.down ? "descending" : "ascending") : "none"));
		show();
		fitTables();
	};
	columns.forEach(([title, kind], i) => head.append(el("th", { class: kind, scope: "col" },
		el("button", { type: "button", onclick: () => sort(i) }, title))));
	show();
	return el("div", { class: "scroll" },
		el("table", null, caption ? el("caption", null, caption) : null, el("thead", null, head), body));
}
