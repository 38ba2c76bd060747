// SPDX-License-Identifier: Apache-2.0
/** What a stretch of time consists of: for each table, the names that took the most time. */

import {drawing, element} from "../shared/dom.js";
import {count, counted, duration} from "../shared/format.js";
import {tracksOf} from "../timeline/area.js";
import {icicle, stackTracks} from "./icicle.js";
import {buttons, later, link, listing, valueNodes} from "./parts.js";

const ROWS = 12;

/**
 * @param {import("./parts.js").Context} context
 * @param {string} table
 * @param {any[]} rows
 * @param {{from: number, to: number}} stretch
 */
function composition({store, colours}, table, rows, stretch) {
	const most = Math.max(...rows.map((row) => row.total_ns), 1);
	const bar = (/** @type {any} */ row) => drawing("svg", {class: "details-bar", "aria-hidden": "true"},
		drawing("rect", {width: `${(100 * row.total_ns) / most}%`, height: "100%", rx: 1,
			fill: colours.of(table, row.label)}));
	return element("table", {class: "details-table"},
		element("thead", {}, element("tr", {}, element("th", {scope: "col"}, "name"),
			element("th", {scope: "col", class: "number"}, "count"),
			element("th", {scope: "col", class: "number"}, "time"))),
		element("tbody", {}, ...rows.slice(0, ROWS).map((row) => element("tr", {},
			element("td", {}, link(row.text, () => store.select(store.keyOfLabel(table, row.label))), bar(row)),
			element("td", {class: "number"}, count(row.count)),
			element("td", {class: "number", title: `${count(row.total_ns)} ns of ${count(stretch.to - stretch.from)}`},
				duration(row.total_ns)))),
		rows.length > ROWS && element("tr", {}, element("td", {class: "quiet", colspan: 3},
			`and ${count(rows.length - ROWS)} more, ` +
			duration(rows.slice(ROWS).reduce((sum, row) => sum + row.total_ns, 0))))));
}

/**
 * @param {import("./parts.js").Context} context
 * @param {import("../shared/tables.js").Description} described
 * @param {{from: number, to: number}} stretch
 * @param {Set<number> | null} area bands to which it is limited
 */
async function ask(context, {table, nouns}, stretch, area) {
	const tracks = tracksOf(context.trace, area, table);
	if (tracks?.length === 0)
		return null;
	const {rows} = await context.api.json("groups", {table, from: Math.floor(stretch.from), to: Math.ceil(stretch.to),
		tracks: tracks?.join(",")});
	if (rows.length === 0)
		return null;
	return element("details", {open: true}, element("summary", {}, nouns[0].toUpperCase() + nouns.slice(1)),
		composition(context, table, rows, stretch));
}

/**
 * @param {import("./parts.js").Context} context
 * @param {{from: number, to: number}} stretch
 * @param {Set<number> | null} area bands to which it is limited
 */
export function fillStretch(context, stretch, area) {
	const {store, trace} = context;
	const present = new Set(trace.bands.map((/** @type {any} */ band) => band.table));
	/** @type {import("../shared/tables.js").Description[]} */
	const shown = trace.tables.filter((/** @type {any} */ each) => present.has(each.table) && !each.is_rare);
	return element("div", {},
		element("h2", {class: "details-title"}, `${duration(stretch.to - stretch.from)} selected`),
		buttons([
			{text: "Zoom to it", about: "on the timeline (F)",
				run: () => store.update({view: "timeline", ...stretch}, "push")},
			{text: "Clear", about: "select no stretch of time (Esc)",
				run: () => store.update({options: {stretch: null, area: null}}, "push")}]),
		listing([
			{name: "from", value: valueNodes(stretch.from, "ns")},
			{name: "to", value: valueNodes(stretch.to, "ns")},
			...(area ? [{name: "on", value: [counted(area.size, "band")]}] : [])]),
		later("Stacks", icicle(context, stretch, stackTracks(trace, area))),
		...shown.map((each) => later(each.nouns, ask(context, each, stretch, area))));
}
