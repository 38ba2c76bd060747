// SPDX-License-Identifier: Apache-2.0
/**
 * Tables: all tables of all findings, one at a time. Choosing a row selects what it names in all views and shows the
 * distribution of its durations. A selection made elsewhere is marked here, in the most specific table. The table, its
 * filter and its order are options of the state.
 *
 *     ┌ list ──────┬ title ───────────────────────┐
 *     │ Operations │ histogram of what is chosen  │
 *     │   By node  │ table                        │
 *     └────────────┴──────────────────────────────┘
 */

import {element, problem, replaceContent} from "../shared/dom.js";
import {counted, duration} from "../shared/format.js";
import {createLinks} from "../shared/links.js";
import {loadReport, loadRows, sentenceList} from "./findings.js";
import {histogram} from "./plots.js";
import {nameOf, rowsAbout, tellingTable} from "./subjects.js";
import {createTable} from "./table.js";

/**
 * @typedef {import("./findings.js").Finding} Finding
 * @typedef {import("./findings.js").Table} Table
 * @typedef {import("./findings.js").Row} Row
 */

/** What people look for first; the others follow as the report has them. */
const FIRST = ["operations", "device_operations", "calls", "system_calls", "input_output", "threads", "waits"];

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

/** A table as it is in the report. */
const UNARRANGED = {filter: null, sort: null};

/** @param {Record<string, string>} options of the state */
const arrangementOf = ({filter = "", sort = ""}) => ({filter, sort});

/** @typedef {{id: string, finding: Finding, table: Table}} Listed */

class Tables {
	/** @param {import("../main.js").Context} context */
	constructor(context) {
		this.context = context;
		this.links = createLinks(context);
		this.list = element("nav", {class: "side", "aria-label": "Tables"});
		this.main = element("div", {class: "page"}, element("p", {role: "status"}, "Analysing the trace …"));
		this.distribution = element("div", {class: "distribution"});
		this.element = element("div", {class: "split"}, this.list, this.main);
		/** @type {Listed[]} */
		this.tables = [];
		/** What they are about. */
		this.scope = "";
		this.shown = "";
		this.plotted = "";
		/** @type {ReturnType<typeof createTable> | null} */
		this.table = null;
		/**
		 * Rows of the table that is shown.
		 * @type {Set<Row>}
		 */
		this.chosen = new Set();
		/** The selection that is marked, and the last one that was looked for. */
		this.followed = "";
		this.looked = "";
		context.store.subscribe(() => this.#follow());
	}

	async load() {
		const {scope} = this.context.store;
		this.scope = scope;
		try {
			const {findings} = await loadReport(this.context);
			if (this.scope !== scope)
				return;
			this.tables = listTables(findings);
			this.shown = "";
		} catch (error) {
			replaceContent(this.main, problem(error));
			return;
		}
		if (this.tables.length === 0)
			replaceContent(this.main, element("p", {class: "empty"}, "The trace contains nothing to list in a table."));
		else
			this.#follow();
	}

	/** Shows what the state says. */
	#follow() {
		const {state: {view, options}, scope} = this.context.store;
		if (view !== "tables" || this.tables.length === 0)
			return;
		if (scope !== this.scope) {
			this.load(); /* and comes here again */
			return;
		}
		const named = this.tables.find(({id}) => id === options.table);
		const better = this.#turnToSelection(named);
		if (better) {
			this.context.store.update({options: {...UNARRANGED, table: better.id}});
			return; /* comes here again */
		}
		const wanted = named ?? this.tables[0];
		const isNew = wanted.id !== this.shown;
		if (isNew)
			this.#show(wanted);
		this.table?.arrange(arrangementOf(options));
		this.#mark(wanted, isNew);
		this.#plot();
	}

	/**
	 * Where what has just been selected stands, unless it stands in the table that is shown, or the URL names both.
	 * @param {Listed | undefined} named
	 */
	#turnToSelection(named) {
		const {selected, state, isFromUrl} = this.context.store;
		if (state.select && (!selected || state.select === this.looked))
			return null;
		this.looked = state.select;
		if (!selected)
			return null;
		const has = (/** @type {Listed | undefined} */ each) =>
			each && rowsAbout(each.id, each.table, selected, this.context.trace).size > 0;
		const mayHave = (/** @type {Listed | undefined} */ each) => has(each) || Boolean(each?.table.left_out);
		const telling = this.tables.find(({id}) => id === tellingTable(selected, this.context.trace));
		return named && (isFromUrl || has(named)) ? null : mayHave(telling) ? telling : null;
	}

	/**
	 * @param {Listed} shown
	 * @param {boolean} isNew
	 */
	#mark({id, table}, isNew) {
		const {selected, state} = this.context.store;
		const asked = selected ? state.select : "";
		if (asked === this.followed && !isNew)
			return;
		this.followed = asked;
		this.chosen = rowsAbout(id, table, selected, this.context.trace);
		this.table?.refresh();
		this.table?.reveal();
	}

	/**
	 * Asks for the rows that the report has left out, as long as the table is shown.
	 * @param {Listed} listed
	 * @param {ReturnType<typeof createTable>} shown
	 */
	async #complete(listed, shown) {
		const {id, table} = listed;
		try {
			while (table.left_out && this.table === shown) {
				await loadRows(this.context, id, table);
				shown.extend(table.rows, table.left_out);
			}
			if (this.table === shown)
				this.#mark(listed, true);
		} catch (error) {
			if (this.table === shown)
				this.main.append(problem(error));
		}
	}

	/** @param {Listed} wanted */
	#show(wanted) {
		const {id, finding, table} = wanted;
		this.shown = id;
		replaceContent(this.list, ...this.tables.flatMap((each, i) => [
			each.finding !== this.tables[i - 1]?.finding && element("h3", {}, shortTitle(each.finding)),
			element("button", {"aria-current": String(each.id === id),
				click: () => this.context.store.update({options: {...UNARRANGED, table: each.id}}, "push")},
			each.table.title)]));
		const created = createTable({
			title: `${finding.title}: ${table.title}`, columns: table.columns, rows: table.rows,
			leftOut: table.left_out, complete: () => completion,
			choose: nameOf(table, table.rows[0], this.context.trace) ? (row) => this.#choose(table, row) : undefined,
			isChosen: (row) => this.chosen.has(row),
			arrangement: arrangementOf(this.context.store.state.options),
			arranged: ({filter, sort}) =>
				this.context.store.update({options: {filter: filter || null, sort: sort || null}}),
		});
		this.table = created;
		const completion = table.left_out ? this.#complete(wanted, created) : Promise.resolve();
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
		const name = nameOf(table, row, this.context.trace);
		if (name?.node) {
			this.context.store.select(this.context.store.keyOfNode(name.node));
			return;
		}
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
				`${counted(answer.count, "time")}, ${duration(answer.min_ns)} to ${duration(answer.max_ns)}, ` +
				`median ${duration(answer.median_ns)}, 95% within ${duration(answer.p95_ns)}`)),
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
 * @param {import("../main.js").Context} context
 * @returns {import("../main.js").View}
 */
export function create(context) {
	const tables = new Tables(context);
	return {element: tables.element, show: () => tables.show(), hide() {}};
}
