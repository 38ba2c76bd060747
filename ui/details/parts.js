// SPDX-License-Identifier: Apache-2.0
/** Building blocks of the details panel. */

import {element} from "../shared/dom.js";
import {bytes, count, duration, exactDuration} from "../shared/format.js";
import {descriptionOf} from "../shared/tables.js";
import {momentText} from "../timeline/ticks.js";

/** Moments are shown so exactly that neighbours differ. */
export const MICROSECOND = 1000;

/**
 * @typedef {import("../main.js").Context} Context
 * @typedef {{table: string, row: number, title: string, time: number, band: number | null}} End of an arrow: a slice
 */

/**
 * @param {string} text
 * @param {() => void} click
 * @param {string} [about]
 */
export function link(text, click, about) {
	return element("button", {class: "link", title: about, click}, text);
}

/**
 * A slice by its name, when it was, and on which track.
 * @param {Context} context
 * @param {End} end
 * @returns {HTMLElement[]}
 */
export function endNodes({store, trace}, {table, row, title, time, band}) {
	const track = band === null ? null : trace.bands[band].track;
	const where = track === null ? "" : `, ${trace.tracks[track].title}`;
	return [link(title, () => store.select(store.keyOfRow(table, row)), descriptionOf(trace, table).noun),
		element("span", {class: "quiet", title: exactDuration(time)}, ` at ${momentText(time, MICROSECOND)}${where}`)];
}

/**
 * Where a field leads.
 * @param {Context} context
 * @param {any} target
 * @param {string} text
 */
export function fieldLink({store, trace}, target, text) {
	if (target.node !== undefined)
		return link(text, () => store.select(store.keyOfNode(target.node), {view: "graph"}), "show in the graph");
	if (target.row !== undefined)
		return link(text, () => store.select(store.keyOfRow(target.table, target.row)),
			descriptionOf(trace, target.table).noun);
	if (target.label !== undefined)
		return link(text, () => store.select(store.keyOfLabel(target.table, target.label)), "all with this name");
	if (target.file !== undefined)
		return link(text, () => store.update({view: "tables",
			options: {table: "input_output.by_file", filter: text, sort: null}}, "push"), "how the file was used");
	return link(text, () => store.update({view: "timeline", options: {track: String(target.track)}}, "push"),
		"show on the timeline");
}

/**
 * A value in few digits, and exactly where those are not all.
 * @param {number} value
 * @param {string | null} unit
 */
export function valueNodes(value, unit) {
	const short = unit === "bytes" ? bytes(value) : unit === "count" ? count(value) : duration(value);
	const exact = unit === "bytes" ? `${count(value)} B` : unit === "count" ? short : exactDuration(value);
	return [short, exact !== short && element("span", {class: "details-exact"}, exact)];
}

/**
 * Names and values, in two columns.
 * @param {{name: string, about?: string, value: import("../shared/dom.js").Child[]}[]} lines
 */
export function listing(lines) {
	return element("dl", {class: "details-listing"}, ...lines.flatMap(({name, about, value}) => [
		element("dt", {title: about}, name),
		element("dd", {title: about}, ...value)]));
}

/**
 * @param {string} title
 * @param {import("../shared/dom.js").Child[]} children
 */
export function section(title, ...children) {
	return element("section", {}, element("h3", {}, title), ...children);
}

/**
 * @param {{text: string, about?: string, run: () => void}[]} buttons
 */
export function buttons(buttons) {
	return element("div", {class: "details-buttons"}, ...buttons.map(({text, about, run}) =>
		element("button", {title: about, click: run}, text)));
}

/**
 * Something that comes later; a failure is shown in its place.
 * @param {string} name
 * @param {Promise<Node | null>} promise
 */
export function later(name, promise) {
	const place = element("div", {"aria-busy": "true"}, element("p", {class: "quiet"}, `${name} …`));
	promise.then((node) => place.replaceChildren(...(node ? [node] : [])),
		(error) => place.replaceChildren(element("p", {class: "warning"}, `${name}: ${error.message}`)))
		.finally(() => place.removeAttribute("aria-busy"));
	return place;
}
