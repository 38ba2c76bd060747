// SPDX-License-Identifier: Apache-2.0
/** Links from a finding to its evidence: a click shows it on the timeline or selects it in all views. */

import {writeArea} from "../timeline/area.js";
import {ApiError} from "./api.js";

/**
 * What a page without a server cannot do.
 * @typedef {object} Links
 * @property {(at: number, evidence: {track: number | null, duration_ns: number}) => Promise<void>} showEvidence
 * @property {(table: "idle" | "path", cause: string) => Promise<void>} showCause where it is longest: the gap that has
 *     most of it, or a piece of the critical path
 * @property {(finding: string, table: string) => void} showTable
 * @property {(name: string, tables: string[]) => Promise<any>} findName what has exactly this name, or null
 * @property {(found: any) => void} selectName what findName() has found
 */

/**
 * Null where the server does not know of something.
 * @template T
 * @param {Promise<T>} answer
 */
async function orNull(answer) {
	try {
		return await answer;
	} catch (error) {
		if (error instanceof ApiError && error.status === 404)
			return null;
		throw error;
	}
}

/**
 * @param {import("../main.js").Context} context
 * @returns {Links}
 */
export function createLinks({api, store, trace}) {
	/** @param {string} table @param {number} row */
	async function showRow(table, row) {
		const {from, to} = await api.json("row", {table, row});
		store.select(store.keyOfRow(table, row), {view: "timeline", ...store.windowAround(from, to)});
	}

	/**
	 * The bands of a track; null: all of them.
	 * @param {number | null} track
	 */
	const areaOf = (track) => writeArea(trace.bands.filter((/** @type {any} */ band) => band.track === track &&
		track !== null).map((/** @type {any} */ {band}) => band)) || null;

	return {
		async showEvidence(at, {track, duration_ns}) {
			const window = store.windowAround(at, at + duration_ns);
			const place = track === null ? {} : {track};
			const {table, row} = await api.json("at", {...place, from: at, duration: duration_ns});
			if (row !== null)
				store.select(store.keyOfRow(table, row),
					{view: "timeline", ...window, options: {stretch: null, area: null}});
			else /* part of a slice, or of several: what happened there in this time */
				store.select("", {view: "timeline", ...window,
					options: {stretch: `${at},${at + duration_ns}`, area: areaOf(track)}});
		},

		async showCause(table, cause) {
			const label = trace.enumerations.causes.indexOf(cause);
			const {from, to} = store.all;
			const answer = label < 0 ? null : await orNull(api.json("label",
				{table, label, from: Math.floor(from), to: Math.ceil(to)}));
			if (answer?.gap)
				store.select(store.keyOfRow(table, answer.gap.row),
					{view: "timeline", ...store.windowAround(answer.gap.from, answer.gap.to)});
			else if (answer?.longest)
				await showRow(answer.longest.table, answer.longest.row);
			else
				store.update({view: "timeline"}, "push");
		},

		showTable(finding, table) {
			store.update({view: "tables", options: {table: `${finding}.${table}`, filter: null, sort: null}}, "push");
		},

		async findName(name, tables) {
			const {results} = await api.json("find", {text: name, limit: 50});
			return results.find((/** @type {any} */ each) =>
				each.text === name && tables.includes(each.table)) ?? null;
		},

		selectName(found) {
			if (found.table === "node_executions" && found.node !== null && found.node !== undefined)
				store.select(store.keyOfNode(found.node));
			else if (found.label === null) /* a file: the first call that is about it */
				store.select(store.keyOfRow(found.first.table, found.first.row));
			else
				store.select(store.keyOfLabel(found.table, found.label));
		},
	};
}
