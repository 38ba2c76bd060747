// SPDX-License-Identifier: Apache-2.0
/** The bar above the timeline: zoom, what lies over the tracks, which tracks, and what colours mean. */

import {causeColour, stateColour} from "../shared/colours.js";
import {element} from "../shared/dom.js";

/**
 * @typedef {object} ToolActions
 * @property {(factor: number) => void} zoom
 * @property {() => void} showAll
 * @property {() => void} showSelection
 * @property {(isOpen: boolean) => void} setAll opens or closes all groups
 */

/**
 * @param {string} colour
 * @param {string} text
 */
function legendItem(colour, text) {
	const patch = element("span", {class: "timeline-patch", "aria-hidden": "true"});
	patch.style.background = colour;
	return element("li", {}, patch, text);
}

/** @param {{causes: string[], states: string[], reasons: string[]}} enumerations */
function createLegend({causes, states, reasons}) {
	const special = reasons.filter((reason) => stateColour("blocked", reason) !== stateColour("blocked", ""));
	const list = (/** @type {string} */ title, /** @type {HTMLElement[]} */ items) =>
		element("section", {}, element("h3", {}, title), element("ul", {}, ...items));
	return element("details", {class: "timeline-legend"},
		element("summary", {}, "Legend"),
		element("div", {class: "timeline-legend-box"},
			list("Thread states", [
				...states.map((state) => legendItem(stateColour(state, ""), state)),
				...special.map((reason) => legendItem(stateColour("blocked", reason), `blocked: ${reason}`))]),
			list("Causes of idle time and along the critical path",
				causes.map((cause) => legendItem(causeColour(cause), cause.replaceAll("_", " ")))),
			element("p", {class: "quiet"}, "Each name of an operation, device kernel or call has its own colour. " +
				"Paler: a pixel that several slices share and do not fill. Underlined: the selected name.")));
}

/**
 * A button that is on or off; the state is in the URL.
 * @param {import("../shared/state.js").Store} store
 * @param {string} option
 * @param {string} text
 * @param {string} about
 * @param {boolean} atFirst
 */
function createSwitch(store, option, text, about, atFirst) {
	const isOn = () => (store.state.options[option] ?? (atFirst ? "on" : "off")) === "on";
	const button = element("button", {title: about, click: () => {
		const next = !isOn();
		store.update({options: {[option]: next === atFirst ? null : next ? "on" : "off"}});
	}}, text);
	const refresh = () => button.setAttribute("aria-pressed", String(isOn()));
	store.subscribe(refresh);
	refresh();
	return {button, isOn};
}

/**
 * @param {import("../main.js").Context} context
 * @param {ToolActions} actions
 */
export function createTools({store, trace}, actions) {
	const idle = createSwitch(store, "idle", "Idle causes", "colour the gaps of each device by cause", true);
	const path = createSwitch(store, "path", "Critical path", "draw the critical path through the tracks", false);
	const filter = element("input", {type: "search", class: "timeline-filter", placeholder: "Filter tracks",
		"aria-label": "Filter tracks", spellcheck: "false", value: store.state.options.tracks ?? ""});
	filter.addEventListener("input", () => store.update({options: {tracks: filter.value || null}}));
	store.subscribe(({options}) => {
		if (filter.value !== (options.tracks ?? ""))
			filter.value = options.tracks ?? "";
	});
	const status = element("span", {class: "timeline-window"});
	const button = (/** @type {string} */ text, /** @type {string} */ name, /** @type {() => void} */ click) =>
		element("button", {"aria-label": name, title: name, click}, text);
	const bar = element("div", {class: "timeline-tools", role: "toolbar", "aria-label": "Timeline"},
		button("+", "Zoom in (W)", () => actions.zoom(1 / 2)),
		button("−", "Zoom out (S)", () => actions.zoom(2)),
		button("All", "Show the whole trace (0)", actions.showAll),
		button("Selection", "Zoom to the selection (F)", actions.showSelection),
		element("span", {class: "timeline-space"}),
		idle.button, path.button,
		element("span", {class: "timeline-space"}),
		filter,
		button("Open all", "Open all groups", () => actions.setAll(true)),
		button("Close all", "Close all groups", () => actions.setAll(false)),
		createLegend(trace.enumerations), status);
	return {element: bar, status, showIdle: idle.isOn, showPath: path.isOn};
}
