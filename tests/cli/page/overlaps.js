// SPDX-License-Identifier: BSD-2-Clause
// Added to a picture: the title says which of its texts are outside it, or over each other.
window.addEventListener("load", () => {
	const outer = document.querySelector("svg").getBoundingClientRect();
	const boxes = [...document.querySelectorAll("svg text")].map((text) => ({ text: text.textContent, box: text.getBoundingClientRect() })), bad = [];
	const cover = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
	boxes.forEach((one, i) => {
		if (one.box.left < outer.left || one.box.right > outer.right || one.box.top < outer.top || one.box.bottom > outer.bottom)
			bad.push(one.text + " is outside");
		boxes.slice(0, i).filter((other) => cover(one.box, other.box)).forEach((other) => bad.push(one.text + " is over " + other.text));
	});
	document.title = boxes.length + " texts: " + (bad.join("; ") || "none is cut");
});
