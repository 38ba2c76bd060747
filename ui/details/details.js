// SPDX-License-Identifier: Apache-2.0
/**
 * The panel beside all views: everything about the selection, and what a selected stretch of time consists of.
 * The panel is hidden if nothing is selected.
 */

import {element, problem, replaceContent} from "../shared/dom.js";
import {readArea, readStretch} from "../timeline/area.js";
import {fillLabel} from "./label.js";
import {fillNode} from "./node.js";
import {fillRow} from "./row.js";
import {fillStretch} from "./stretch.js";

const NARROWEST = 220;
const KEY_STEP = 24;
/** A stretch that is still being drawn with the mouse is not asked for. */
const PATIENCE_MS = 150;

/** @type {Record<string, (context: import("../main.js").Context, answer: any) => Node>} */
const CONTENTS = {row: fillRow, label: fillLabel, node: fillNode};

/**
 * The edge that is dragged to make the panel wider.
 * @param {HTMLElement} panel
 */
function createEdge(panel) {
	const edge = element("div", {class: "details-edge", role: "separator", tabindex: 0, "aria-orientation": "vertical",
		"aria-label": "Width of the details panel"});
	const setWidth = (/** @type {number} */ width) => {
		const fitting = Math.round(Math.min(Math.max(width, NARROWEST), window.innerWidth * 0.7));
		panel.style.setProperty("--details", `${fitting}px`);
		edge.setAttribute("aria-valuenow", String(fitting));
	};
	edge.addEventListener("pointerdown", (event) => edge.setPointerCapture(event.pointerId));
	edge.addEventListener("pointermove", (event) => {
		if (edge.hasPointerCapture(event.pointerId))
			setWidth(panel.getBoundingClientRect().right - event.clientX);
	});
	edge.addEventListener("keydown", (event) => {
		const step = event.key === "ArrowLeft" ? KEY_STEP : event.key === "ArrowRight" ? -KEY_STEP : 0;
		if (!step)
			return;
		event.preventDefault();
		event.stopPropagation();
		setWidth(panel.offsetWidth + step);
	});
	return edge;
}

/**
 * @param {import("../main.js").Context} context
 * @returns {{element: HTMLElement}}
 */
export function createDetails(context) {
	const {store} = context;
	const selection = element("div", {class: "details-selection"});
	const stretch = element("div", {class: "details-stretch"});
	const content = element("div", {class: "details-content", tabindex: -1}, selection, stretch);
	const fold = element("button", {class: "details-fold", "aria-expanded": "true",
		"aria-label": "Hide the details"}, "»");
	const panel = element("aside", {class: "details", "aria-label": "Details", hidden: true});
	panel.append(createEdge(panel), fold, content);
	fold.addEventListener("click", () => {
		const isFolded = panel.classList.toggle("is-folded");
		fold.textContent = isFolded ? "«" : "»";
		fold.setAttribute("aria-expanded", String(!isFolded));
	});
	let shownSelected = /** @type {import("../shared/state.js").Selected | null} */ (null);
	let shownFailure = "";
	let shownStretch = " ";
	let timer = 0;

	function showSelection() {
		const {selected, failure} = store;
		if (selected === shownSelected && failure === shownFailure)
			return;
		shownSelected = selected;
		shownFailure = failure;
		replaceContent(selection, selected ? CONTENTS[selected.kind](context, selected.answer)
			: failure && problem(failure));
		content.scrollTop = 0;
	}

	function showStretch() {
		const {stretch: option = "", area = ""} = store.state.options;
		if (`${option} ${area}` === shownStretch)
			return;
		shownStretch = `${option} ${area}`;
		window.clearTimeout(timer);
		const range = readStretch(option);
		if (range)
			timer = window.setTimeout(() => replaceContent(stretch, fillStretch(context, range, readArea(area))),
				PATIENCE_MS);
		else
			stretch.replaceChildren();
	}

	function refresh() {
		showSelection();
		showStretch();
		panel.hidden = !store.state.select && !store.state.options.stretch;
		if (store.state.select && !store.selected && !store.failure)
			selection.setAttribute("aria-busy", "true");
		else
			selection.removeAttribute("aria-busy");
	}

	store.subscribe(refresh);
	refresh();
	return {element: panel};
}
