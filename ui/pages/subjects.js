// SPDX-License-Identifier: Apache-2.0
/** What the rows of the report's tables are about: what a row names, and which rows what is selected stands in. */

/**
 * @typedef {import("./findings.js").Table} Table
 * @typedef {import("./findings.js").Row} Row
 * @typedef {import("../shared/state.js").Selected} Selected
 */

/**
 * Columns whose text names something on the timeline: tables of the trace that have it.
 * @type {[string, string[]][]}
 */
const NAMES = [
	["node", ["node_executions"]],
	["function", ["calls"]],
	["name", ["device_operations", "scopes"]],
	["call", ["system_calls"]],
	["file", ["system_calls"]],
];

/**
 * By table of the trace: the table of the report that says most of it, and what is the same in a row of it and in a
 * slice: column, field. A slice that does not tell, as all of a name do not, stands in all rows that have its title.
 * @type {Record<string, {id: string, same: [string, string][]}>}
 */
const TELLING = {
	node_executions: {id: "operations.by_node", same: []},
	device_operations: {id: "device_operations.by_name", same: [["name", "title"], ["kind", "kind"]]},
	calls: {id: "calls.by_name", same: [["function", "title"]]},
	system_calls: {id: "system_calls.by_call", same: [["call", "title"]]},
	steps: {id: "steps.steps", same: [["step", "number"], ["duration_ns", "duration"]]},
	idle: {id: "idle.causes", same: [["cause", "title"], ["culprit", "culprit"]]},
	path: {id: "critical_path.shares", same: [["cause", "title"], ["culprit", "culprit"]]},
	interrupts: {id: "input_output.by_interrupt", same: [["interrupt", "title"], ["interrupt_name", "called"]]},
	block_io: {id: "input_output.by_disk", same: [["operation", "title"]]},
	cpu_runs: {id: "threads.by_thread", same: [["tid", "tid"]]},
};

/** @param {Table} table @param {string} key */
const hasColumn = (table, key) => table.columns.some((column) => column.key === key);

/**
 * What a row names, and where that is found. A node is known by its number: other graphs may have one of the same name.
 * @param {Table} table
 * @param {Row} row
 */
export function nameOf(table, row) {
	const found = NAMES.find(([key]) => hasColumn(table, key));
	if (!found || typeof row[found[0]] !== "string")
		return null;
	const node = found[0] === "node" && typeof row.node_number === "number" ? row.node_number : null;
	return {node, text: String(row[found[0]]), tables: found[1]};
}

/**
 * The table of the report in which a thing is looked for first.
 * @param {Selected} selected
 */
export const tellingTable = (selected) => TELLING[selected.table ?? ""]?.id ?? null;

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
 * The rows that what is selected stands in.
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
	const telling = TELLING[selected.table ?? ""];
	const name = NAMES.find(([key, tables]) => hasColumn(table, key) && tables.includes(selected.table ?? ""));
	/** @type {[string, string][]} */
	const same = telling?.id === id ? telling.same : !name ? [] :
		name[0] === "file" ? [["file", "file"]] : [[name[0], "title"]];
	if (!same.some(([, field]) => field in texts))
		return new Set();
	return new Set(table.rows.filter((row) =>
		same.every(([key, field]) => !(field in texts) || String(row[key] ?? "") === texts[field])));
}
