// SPDX-License-Identifier: Apache-2.0
/** The subjects of the rows of the report's tables: what a row names, and which rows belong to the selection. */

import {descriptionOf} from "../shared/tables.js";

/**
 * @typedef {import("./findings.js").Table} Table
 * @typedef {import("./findings.js").Row} Row
 * @typedef {import("../shared/state.js").Selected} Selected
 */

/** @param {Table} table @param {string} key */
const hasColumn = (table, key) => table.columns.some((column) => column.key === key);

/**
 * What a row names, and the tables of the trace that have it. A node is known by its number: other graphs may have one
 * of the same name.
 * @param {Table} table
 * @param {Row} row
 * @param {any} trace the answer of `trace`
 */
export function nameOf(table, row, trace) {
	/** @type {import("../shared/tables.js").Description[]} */
	const all = trace.tables;
	const key = all.flatMap(({names}) => names).find((each) => hasColumn(table, each));
	if (!key || typeof row[key] !== "string")
		return null;
	const node = key === "node" && typeof row.node_number === "number" ? row.node_number : null;
	const tables = all.filter(({names}) => names.includes(key)).map((each) => each.table);
	return {node, text: String(row[key]), tables};
}

/**
 * The table of the report in which a thing is looked for first.
 * @param {Selected} selected
 * @param {any} trace
 */
export const tellingTable = (selected, trace) => descriptionOf(trace, selected.table).report ?? null;

/**
 * What is known of a thing, by name, as text.
 * @param {Selected} selected
 * @returns {Record<string, string>}
 */
function textsOf({kind, title, from, to, answer}) {
	const fields = kind === "row" ? answer.fields : [];
	return {...Object.fromEntries(fields.map((/** @type {any} */ field) => [field.name, field.text])), title,
		...(kind === "row" ? {duration: String(Number(to) - Number(from))} : {})};
}

/**
 * @param {Table} table
 * @param {Selected} selected
 * @param {any} trace
 */
function rowsOfNode(table, selected, trace) {
	const exact = table.rows.filter(({node_number}) => node_number === selected.node);
	if (exact.length > 0)
		return exact;
	/* The row may have been named after the same node of another process. */
	const {answer, graph} = selected;
	const field = selected.kind === "row" ? answer.fields.find((/** @type {any} */ {link}) =>
		link?.node === selected.node) : null;
	const name = field ? field.text : selected.title;
	const graphName = trace.graphs.find((/** @type {any} */ each) => each.graph === graph)?.name;
	return table.rows.filter((row) => row.node === name &&
		(row.graph === undefined || graphName === undefined || row.graph === graphName));
}

/**
 * The rows that belong to the selection. If the selection lacks a field that distinguishes rows, as all slices of a
 * name do, all rows with its title belong to it.
 * @param {string} id of the table, with its finding
 * @param {Table} table
 * @param {Selected | null} selected
 * @param {any} trace the answer of `trace`
 * @returns {Set<Row>}
 */
export function rowsAbout(id, table, selected, trace) {
	if (!selected)
		return new Set();
	if (hasColumn(table, "node"))
		return new Set(selected.node === null ? [] : rowsOfNode(table, selected, trace));
	const texts = textsOf(selected);
	const {report, names, same: known} = descriptionOf(trace, selected.table);
	const key = names.find((each) => hasColumn(table, each));
	/** @type {[string, string][]} */
	const same = report === id ? known : key ? [[key, key === names[0] ? "title" : key]] : [];
	if (!same.some(([, field]) => field in texts))
		return new Set();
	return new Set(table.rows.filter((row) =>
		same.every(([key, field]) => !(field in texts) || String(row[key] ?? "") === texts[field])));
}
