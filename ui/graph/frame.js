// SPDX-License-Identifier: Apache-2.0
/** The elements of the graph view. */

import {element} from "../shared/dom.js";
import {counted} from "../shared/format.js";
import {PAINTS} from "./paint.js";

/**
 * @typedef {object} Actions
 * @property {(graph: string) => void} choose
 * @property {(paint: string) => void} paint
 * @property {() => void} lanes
 * @property {() => void} fit
 * @property {() => void} reset
 * @property {() => void} find
 * @property {() => void} goToNextMatch
 *
 * @typedef {ReturnType<typeof createFrame>} Frame
 */

/**
 * As it is called in Python: "__inference_train_step_1982" is "train_step #1982".
 * @param {string} name
 */
const shortName = (name) => name.replace(/^__(inference|forward|backward)_(.*)_(\d+)$/, (_, kind, function_, number) =>
	`${kind === "inference" ? "" : `${kind} `}${function_} #${number}`);

/**
 * @param {any[]} graphs of the trace
 * @param {Actions} actions
 */
export function createFrame(graphs, actions) {
	const option = (/** @type {string | number} */ value, /** @type {string} */ text) =>
		element("option", {value}, text);
	const canvas = element("canvas", {class: "graph-canvas", tabindex: 0, role: "application",
		"aria-label": "Dataflow graph", "aria-describedby": "graph-status"});
	const chooser = element("select", {"aria-label": "Graph",
		change: (/** @type {any} */ event) => actions.choose(event.target.value)},
		...graphs.map(({graph, name, nodes}) => option(graph,
			`${shortName(name) || "graph"} (${counted(nodes, "operation")})`)));
	const painting = element("select", {"aria-label": "Colour by",
		change: (/** @type {any} */ event) => actions.paint(event.target.value)},
		...Object.entries(PAINTS).map(([name, {title}]) => option(name, `colour: ${title}`)));
	const finder = element("input", {type: "search", placeholder: "Highlight …", "aria-label": "Highlight operations",
		input: actions.find,
		keydown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && actions.goToNextMatch()});
	const lanes = element("button", {title: "a lane for each device (l)", "aria-pressed": "false", hidden: true,
		click: actions.lanes}, "Lanes");
	const found = element("span", {class: "quiet", role: "status"});
	const legend = element("span", {class: "graph-legend"});
	const status = element("p", {class: "graph-status", id: "graph-status", role: "status"});
	const message = element("p", {class: "graph-message quiet", role: "status"});
	chooser.hidden = graphs.length === 0;
	const top = element("section", {class: "graph"},
		element("div", {class: "graph-tools"}, chooser, painting, lanes,
			element("button", {title: "show the whole graph (f)", click: actions.fit}, "Fit"),
			element("button", {title: "open and close the scopes as at the start", click: actions.reset}, "Reset"),
			finder, found, legend),
		element("div", {class: "graph-place"}, canvas, message), status);
	return {element: top, canvas, chooser, painting, lanes, finder, found, legend, status, message};
}
