// SPDX-License-Identifier: BSD-2-Clause
// Added to a page in a frame: tells the page around it what is cut at this width, with everything unfolded.
window.addEventListener("load", () => setTimeout(() => {
	document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
	setTimeout(() => {
		const name = (node) => node.tagName + (node.id ? "#" + node.id : "") + "." + node.getAttribute("class") + " " + node.textContent.slice(0, 40);
		const cut = [...document.querySelectorAll("body, body *")].filter((node) => node.clientWidth && node.scrollWidth > node.clientWidth)
			.map((node) => name(node) + " " + node.scrollWidth + " in " + node.clientWidth);
		for (const text of document.querySelectorAll("svg text")) {
			const inner = text.getBoundingClientRect(), outer = text.closest("svg").getBoundingClientRect();
			if (inner.width && (inner.left < outer.left - 1 || inner.right > outer.right + 1 || inner.top < outer.top - 3 || inner.bottom > outer.bottom + 3))
				cut.push(name(text) + " is outside its picture");
		}
		parent.postMessage(innerWidth + ": " + (cut.length ? cut.join("\n") : "nothing is cut"), "*");
	}, 300);
}, 300));
