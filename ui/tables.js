// SPDX-License-Identifier: Apache-2.0
/**
 * Tables: all tables of all findings, one at a time. Choosing a row selects what it names everywhere, and shows how
 * long each of them took.
 *
 *     ┌ list ──────┬ title ───────────────────────┐
 *     │ Operations │ histogram of what is chosen  │
 *     │   By node  │ table                        │
 *     └────────────┴──────────────────────────────┘
 */

import {element, problem, replaceContent} from "./dom.js";
import {loadReport, sentenceList} from "./findings.js";
import {count, duration} from "./format.js";
import {createLinks} from "./links.js";
import {histogram} from "./plots.js";
import {createTable} from "./table.js";

/**
 * @typedef {import("./findings.js").Finding} Finding
 * @typedef {import("./findings.js").Table} Table
 * @typedef {import("./findings.js").Row} Row
 */

/** What people look for first; the others follow as the report has them. */
const FIRST = ["operations", "device_operations", "calls", "system_calls", "input_output", "threads", "waits"];

/**
 * Columns whose text names something on the timeline: tables of the trace that have it.
 * @type {[string, string[]][]}
 */
const NAMES = [
	["node", ["node_executions"]],
	["function", ["calls"]],
	["name", ["device_operations", "scopes"]],
	["call", ["system_calls"]],
];

/**
 * What a row names, and where that is found.
 * @param {Table} table
 * @param {Row} row
 */
function nameOf(table, row) {
	const found = NAMES.find(([key]) => table.columns.some((column) => column.key === key));
	return found && typeof row[found[0]] === "string" ? {text: String(row[found[0]]), tables: found[1]} : null;
}

/**
 * "Operations" of "Operations: where the time went"
 * @param {Finding} finding
 */
const shortTitle = ({title}) => title.split(":")[0];

/**
 * @param {Finding[]} findings
 * @returns {{id: string, finding: Finding, table: Table}[]}
 */
function listTables(findings) {
	const place = (/** @type {Finding} */ {id}) => (FIRST.includes(id) ? FIRST.indexOf(id) : FIRST.length);
	return [...findings].filter(({id}) => id !== "overview").sort((a, b) => place(a) - place(b))
		.flatMap((finding) => finding.tables.filter(({rows}) => rows.length > 0)
			.map((table) => ({id: `${finding.id}.${table.id}`, finding, table})));
}

class Tables {
	/** @param {import("./main.js").Context} context */
	constructor(context) {
		this.context = context;
		this.links = createLinks(context);
		this.list = element("nav", {class: "side", "aria-label": "Tables"});
		this.main = element("div", {class: "page"}, element("p", {role: "status"}, "Analysing the trace …"));
		this.distribution = element("div", {});
		this.element = element("div", {class: "split"}, this.list, this.main);
		/** @type {{id: string, finding: Finding, table: Table}[]} */
		this.tables = [];
		this.shown = "";
		this.plotted = "";
		/** @type {{refresh: () => void} | null} */
		this.table = null;
		context.store.subscribe(() => this.#follow());
	}

	async load() {
		try {
			this.tables = listTables((await loadReport(this.context.api)).findings);
		} catch (error) {
			replaceContent(this.main, problem(error));
			return;
		}
		if (this.tables.length === 0)
			replaceContent(this.main, element("p", {class: "empty"}, "The trace holds nothing to stand in a table."));
		else
			this.#follow();
	}

	/** Shows what the state says. */
	#follow() {
		const {view, options} = this.context.store.state;
		if (view !== "tables" || this.tables.length === 0)
			return;
		const wanted = this.tables.find(({id}) => id === options.table) ?? this.tables[0];
		if (wanted.id !== this.shown)
			this.#show(wanted);
		this.table?.refresh();
		this.#plot();
	}

	/** @param {{id: string, finding: Finding, table: Table}} wanted */
	#show({id, finding, table}) {
		this.shown = id;
		replaceContent(this.list, ...this.tables.flatMap((each, i) => [
			each.finding !== this.tables[i - 1]?.finding && element("h3", {}, shortTitle(each.finding)),
			element("button", {"aria-current": String(each.id === id),
				click: () => this.context.store.update({options: {table: each.id}}, "push")}, each.table.title)]));
		const created = createTable({
			title: `${finding.title}: ${table.title}`, columns: table.columns, rows: table.rows,
			choose: nameOf(table, table.rows[0]) ? (row) => this.#choose(table, row) : undefined,
			isChosen: (row) => {
				const {selected} = this.context.store;
				return selected !== null && nameOf(table, row)?.text === selected.title;
			},
		});
		this.table = created;
		replaceContent(this.main, element("h2", {}, `${shortTitle(finding)}: ${table.title}`),
			finding.sentences.length > 0 && element("details", {},
				element("summary", {class: "quiet"}, "About these numbers"), sentenceList(finding.sentences)),
			this.distribution, created.element);
	}

	/**
	 * @param {Table} table
	 * @param {Row} row
	 */
	async #choose(table, row) {
		const name = nameOf(table, row);
		const found = name && await this.links.findName(name.text, name.tables);
		if (found)
			this.links.selectName(found);
	}

	/** How long each of what is selected took. */
	async #plot() {
		const {selected, state} = this.context.store;
		const label = selected && (selected.kind === "row" ? selected.answer.label : selected.label);
		const asked = selected && label !== null && label !== undefined ? `${selected.table}:${label}` : "";
		if (asked === this.plotted || (state.select && !selected))
			return;
		this.plotted = asked;
		replaceContent(this.distribution);
		if (!selected || !asked)
			return;
		const answer = await this.context.api.json("histogram", {table: selected.table, label}).catch(() => null);
		if (!answer || answer.buckets.length === 0 || this.plotted !== asked)
			return;
		const title = selected.kind === "row" ? selected.answer.title : selected.title;
		replaceContent(this.distribution,
			element("h3", {}, `${title} `, element("span", {class: "quiet"},
				`${count(answer.count)} times, ${duration(answer.min_ns)} to ${duration(answer.max_ns)}, ` +
				`median ${duration(answer.median_ns)}, 95 % within ${duration(answer.p95_ns)}`)),
			histogram(`How long ${title} took`, answer.buckets,
				[{name: "median", value: answer.median_ns}, {name: "95 %", value: answer.p95_ns}]));
	}

	show() {
		if (this.tables.length === 0)
			this.load();
		else
			this.#follow();
	}
}

/**
 * @param {import("./main.js").Context} context
 * @returns {import("./main.js").View}
 */
export function create(context) {
	const tables = new Tables(context);
	return {element: tables.element, show: () => tables.show(), hide() {}};
}
