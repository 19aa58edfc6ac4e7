// SPDX-License-Identifier: BSD-2-Clause
// Added to a page: tells in the title how many slow events are shown at first, and after each press of "more".
window.addEventListener("load", () => setTimeout(() => {
	const shown = () => document.querySelector("#slow table").querySelectorAll("tbody tr").length, counts = [shown()];
	for (let more; (more = document.querySelector("#slow .more")) && counts.length < 3;) {
		more.click();
		counts.push(shown());
	}
	document.title = "shown: " + counts.join(" ");
}, 300));
