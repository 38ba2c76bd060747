// SPDX-License-Identifier: Apache-2.0
/** A node of the dataflow graph: its neighbours, what it launched, its executions. */

import {durationBars, responsive} from "../pages/plots.js";
import {element} from "../shared/dom.js";
import {count, duration} from "../shared/format.js";
import {momentText} from "../timeline/ticks.js";
import {buttons, link, listing, MICROSECOND, section, valueNodes} from "./parts.js";

const SHOWN = 40;
const PLOT_HEIGHT = 110;

/**
 * A list of which only the beginning is shown.
 * @template T
 * @param {string} title
 * @param {T[]} items
 * @param {(item: T) => import("../shared/dom.js").Child[]} show
 */
function list(title, items, show) {
	return items.length > 0 && section(`${title} (${count(items.length)})`, element("ul", {class: "details-arrows"},
		...items.slice(0, SHOWN).map((item) => element("li", {}, ...show(item))),
		items.length > SHOWN && element("li", {class: "quiet"}, `and ${count(items.length - SHOWN)} more`)));
}

/**
 * How long each execution took, in their order: a step that is not like the others stands out.
 * @param {import("./parts.js").Context} context
 * @param {any[]} executions
 */
function executionsPlot({store}, executions) {
	const durations = executions.map(({from, to}) => to - from);
	const nameOf = (/** @type {number} */ i) => String(executions[i]?.step ?? i);
	/** @type {import("../pages/plots.js").Scale | null} */
	let shown = null;
	const plot = responsive("Durations of its executions", PLOT_HEIGHT, (width) => {
		const {scale, content} = durationBars({durations, nameOf, width, height: PLOT_HEIGHT});
		shown = scale;
		return content;
	});
	plot.element.addEventListener("click", (/** @type {any} */ event) => {
		const execution = executions[Math.floor(shown?.value(event.offsetX) ?? -1)];
		if (execution)
			store.select(store.keyOfRow("node_executions", execution.row));
	});
	return section(executions[0].step === null ? "Durations, in order" : "Durations, by step", plot.element);
}

/**
 * @param {import("./parts.js").Context} context
 * @param {any} answer of `node`
 */
export function fillNode(context, answer) {
	const {store} = context;
	const {node, name, type, device, executions} = answer;
	const neighbour = (/** @type {any} */ other) =>
		[link(other.title, () => store.select(store.keyOfNode(other.node)))];
	const first = executions[0];
	return element("div", {},
		buttons([
			{text: "Graph", run: () => store.update({view: "graph"}, "push")},
			...(first ? [{text: "First execution", about: "on the timeline", run: () =>
				store.select(store.keyOfRow("node_executions", first.row),
					{view: "timeline", ...store.windowAround(first.from, first.to)})},
			{text: "All executions", run: () => store.select(store.keyOfLabel("node_executions", node))}] : [])]),
		element("h2", {class: "details-title"}, name),
		element("p", {class: "quiet"}, [type, device].filter(Boolean).join(", ")),
		listing([
			{name: "executions", value: valueNodes(answer.count, "count")},
			{name: "total", value: valueNodes(answer.total_ns, "ns")}]),
		executions.length > 1 && executionsPlot(context, executions),
		list("Inputs", answer.inputs, neighbour),
		list("Outputs", answer.outputs, neighbour),
		list("Device operations", answer.device_operations, (/** @type {any} */ launched) => [
			link(launched.text, () => store.select(store.keyOfLabel("device_operations", launched.label))),
			element("span", {class: "quiet"}, ` ${count(launched.count)} ×, ${duration(launched.total_ns)}`)]),
		list("Executions", executions, (/** @type {any} */ execution) => [
			link(duration(execution.to - execution.from), () =>
				store.select(store.keyOfRow("node_executions", execution.row))),
			element("span", {class: "quiet"}, ` at ${momentText(execution.from, MICROSECOND)}` +
				(execution.step === null ? "" : `, step ${execution.step}`))]));
}
