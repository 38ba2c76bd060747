// SPDX-License-Identifier: Apache-2.0
/** A slice: what it is, why it took as long as it did, what it is connected with, and all its fields. */

import {element} from "../shared/dom.js";
import {goToSameName} from "../timeline/commands.js";
import {buttons, endNodes, fieldLink, listing, section, valueNodes} from "./parts.js";

/**
 * @param {import("./parts.js").Context} context
 * @param {any} answer
 */
function rowButtons(context, {table, label, from, to, node}) {
	const {store} = context;
	return buttons([
		{text: "Zoom to it", about: "on the timeline (F)",
			run: () => store.update({view: "timeline", ...store.windowAround(from, to)}, "push")},
		...(node === null ? [] : [{text: "Graph", about: "its node in the graph",
			run: () => store.select(store.keyOfNode(node), {view: "graph"})}]),
		...(label === null ? [] : [
			{text: "All with this name", run: () => store.select(store.keyOfLabel(table, label))},
			{text: "‹", about: "previous with this name (,)", run: () => goToSameName(context, true)},
			{text: "›", about: "next with this name (.)", run: () => goToSameName(context, false)}]),
	]);
}

/**
 * What an arrow says, from cause to effect and the other way round.
 * @type {Record<string, [string, string]>}
 */
const VERBS = {
	"runs": ["runs", "part of"],
	"launched": ["launched", "launched by"],
	"waits for": ["awaited by", "waits for"],
	"woken by": ["woke", "woken by"],
	"woke": ["woke", "woken by"],
	"sent": ["sent to", "received from"],
	"received": ["sent to", "received from"],
	"feeds": ["feeds", "fed by"],
};

/**
 * @param {import("./parts.js").Context} context
 * @param {any} answer
 */
function arrowList(context, {arrows, table, row}) {
	const isThis = (/** @type {any} */ end) => end.table === table && end.row === row;
	return section("Connections", element("ul", {class: "details-arrows"},
		...arrows.map((/** @type {any} */ {kind, from, to}) => {
			const [forward, backward] = VERBS[kind] ?? [kind, kind];
			const isEffect = isThis(to);
			return element("li", {}, ...(isEffect || isThis(from) ? [] : endNodes(context, from)),
				element("span", {class: "quiet"}, ` ${isEffect ? backward : forward} `),
				...endNodes(context, isEffect ? from : to));
		})));
}

/**
 * @param {import("./parts.js").Context} context
 * @param {any} field
 */
function fieldValue(context, {text, value, unit, link}) {
	if (link && text)
		return [fieldLink(context, link, text)];
	if (typeof value === "number" && (unit === "ns" || unit === "time" || unit === "bytes"))
		return valueNodes(value, unit);
	return [text || "–"];
}

/**
 * @param {import("./parts.js").Context} context
 * @param {any} answer of `row`
 */
export function fillRow(context, answer) {
	const {title, subtitle, sentences, arrows, fields} = answer;
	return element("div", {},
		element("h2", {class: "details-title"}, title),
		subtitle && element("p", {class: "quiet"}, subtitle),
		rowButtons(context, answer),
		sentences.length > 0 && element("div", {class: "details-sentences"},
			...sentences.map((/** @type {string} */ sentence) => element("p", {}, sentence))),
		arrows.length > 0 && arrowList(context, answer),
		section("Fields", listing(fields.map((/** @type {any} */ field) =>
			({name: field.name.replaceAll("_", " "), about: field.about, value: fieldValue(context, field)})))));
}
