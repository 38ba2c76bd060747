// SPDX-License-Identifier: Apache-2.0
/** All slices of one name: how many, how long, and where the longest is. */

import {histogram} from "../pages/plots.js";
import {element} from "../shared/dom.js";
import {count} from "../shared/format.js";
import {descriptionOf} from "../shared/tables.js";
import {goToSameName} from "../timeline/commands.js";
import {buttons, endNodes, later, listing, section, valueNodes} from "./parts.js";

/**
 * @param {import("./parts.js").Context} context
 * @param {string} table
 * @param {number} label
 */
async function durations({api}, table, label) {
	const answer = await api.json("histogram", {table, label});
	return answer.buckets.length === 0 ? null : section("Durations", histogram("Durations", answer.buckets,
		[{name: "median", value: answer.median_ns}, {name: "95%", value: answer.p95_ns}]));
}

/**
 * @param {import("./parts.js").Context} context
 * @param {any} answer of `label`
 */
export function fillLabel(context, answer) {
	const {table, label, text, node} = answer;
	const {store} = context;
	const time = (/** @type {string} */ name, /** @type {number | null} */ ns) =>
		({name, value: ns === null ? ["–"] : valueNodes(ns, "ns")});
	return element("div", {},
		buttons([
			{text: "‹ Previous", about: "last before the window's end (,)", run: () => goToSameName(context, true)},
			{text: "Next ›", about: "first after the window's start (.)", run: () => goToSameName(context, false)},
			...(node === null || node === undefined ? [] : [{text: "Graph", about: "its node in the graph",
				run: () => store.select(store.keyOfNode(node), {view: "graph"})}])]),
		element("h2", {class: "details-title"}, text),
		element("p", {class: "quiet"},
			`all ${count(answer.count)} with this name, among ${descriptionOf(context.trace, table).nouns}`),
		listing([
			time("total", answer.total_ns), ...(answer.self_ns === null ? [] : [time("self", answer.self_ns)]),
			time("shortest", answer.min_ns), time("median", answer.median_ns), time("95% below", answer.p95_ns),
			time("longest", answer.max_ns)]),
		answer.first && section("Where", element("ul", {class: "details-arrows"},
			element("li", {}, "first: ", ...endNodes(context, answer.first)),
			element("li", {}, "longest: ", ...endNodes(context, answer.longest)))),
		later("Durations", durations(context, table, label)));
}
