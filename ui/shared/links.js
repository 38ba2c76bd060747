// SPDX-License-Identifier: Apache-2.0
/** Links from a finding to its evidence: a click shows it on the timeline or selects it in all views. */

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

	return {
		async showEvidence(at, {track, duration_ns}) {
			const window = store.windowAround(at, at + duration_ns);
			const place = track === null ? {} : {track};
			const found = await orNull(api.json("at", {...place, from: at, duration: duration_ns}));
			store.select(found ? store.keyOfRow(found.table, found.row) : "", {view: "timeline", ...window});
		},

		async showCause(table, cause) {
			const label = trace.enumerations.causes.indexOf(cause);
			const answer = label < 0 ? null : await orNull(api.json("label", {table, label}));
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
