// SPDX-License-Identifier: Apache-2.0
/**
 * A table of numbers and names: sorted by any column, filtered by a text, copied as CSV, used from the keyboard.
 * Of a long table only the rows in sight exist.
 *
 *     ┌ filter ──── 12 of 840 rows ─── copy ┐
 *     │ name ▾ │  count │    time  ▆▆▆ 40 % │   head, always in sight
 *     │ …      │        │                   │ ↕ scrolls
 *     │ total  │        │                   │   of all rows that the filter leaves, where adding makes sense
 *     └────────┴────────┴───────────────────┘
 */

import {drawing, element, replaceContent} from "./dom.js";
import {count, percent, quantity} from "./format.js";

/**
 * @typedef {Record<string, string | number | bigint | null>} Row
 *
 * @typedef {object} Column
 * @property {string} key of the value in a row
 * @property {string} title
 * @property {string} unit as the report names them: "text", "number", "ns", "bytes", "count" …
 * @property {number | bigint} [whole] what the rows divide
 * @property {boolean} [is_sum] rows may be added up
 * @property {boolean} [is_data] for programs, not shown
 * @property {boolean} [is_difference] more or less than something else
 *
 * @typedef {object} TableOptions
 * @property {string} title what it is called where it cannot be seen
 * @property {Column[]} columns
 * @property {Row[]} rows
 * @property {number} [leftOut] rows there are beyond these
 * @property {(row: Row) => void} [choose] makes rows be chosen, by click and by Enter
 * @property {(row: Row) => boolean} [isChosen]
 */

const VIRTUAL_ROWS = 500;
const ROW_PX = 27;
const SPARE_ROWS = 10;
const FILTER_ROWS = 5;
const PRINTED_ROWS = 25;

/** @param {Column} column */
const isName = (column) => column.unit === "text" || column.unit === "number";
/** @param {Column} column */
const isAdded = (column) => column.whole !== undefined || column.is_sum === true;

/**
 * Columns that tell something: a pid or a device that all rows share does not, beside names that differ.
 * @param {Column[]} columns
 * @param {Row[]} rows
 */
function shownColumns(columns, rows) {
	const differs = (/** @type {Column} */ {key}) => rows.some((row) => row[key] !== rows[0][key]);
	const shown = columns.filter(({is_data}) => !is_data);
	return shown.some((column) => column.unit === "text" && differs(column))
		? shown.filter((column) => !isName(column) || differs(column))
		: shown;
}

/**
 * Rows in the order of a column; what is not known comes last.
 * @param {Row[]} rows
 * @param {string} key
 * @param {boolean} isDescending
 */
export function sortRows(rows, key, isDescending) {
	const sign = isDescending ? -1 : 1;
	return [...rows].sort((left, right) => {
		const [a, b] = [left[key], right[key]];
		if (a === null || b === null)
			return a === b ? 0 : a === null ? 1 : -1;
		if (typeof a === "string" && typeof b === "string")
			return sign * a.localeCompare(b, "en", {numeric: true});
		return a < b ? -sign : a > b ? sign : 0;
	});
}

/**
 * CSV as RFC 4180 has it: exact integers, texts quoted where they must be.
 * @param {Column[]} columns
 * @param {Row[]} rows
 */
export function toCsv(columns, rows) {
	const cell = (/** @type {string} */ text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
	const lines = [columns.map(({key}) => key),
		...rows.map((row) => columns.map(({key}) => row[key]?.toString() ?? ""))];
	return lines.map((line) => line.map(cell).join(",") + "\r\n").join("");
}

/**
 * @param {Row[]} rows
 * @param {string} key
 */
function sumOf(rows, key) {
	const sum = rows.reduce((total, row) => total + BigInt(row[key] ?? 0), 0n);
	return Number.isSafeInteger(Number(sum)) ? Number(sum) : sum;
}

/**
 * A bar of a part of a whole.
 * @param {number} part
 * @param {number} whole
 */
function shareBar(part, whole) {
	const width = whole > 0 ? Math.min(Math.max((100 * part) / whole, 0), 100) : 0;
	return drawing("svg", {class: "share", "aria-hidden": "true"},
		drawing("rect", {width: `${width}%`, height: "100%"}));
}

/**
 * The cells of one column: a part of a whole has its share beside it.
 * @param {Column} column
 * @param {number | bigint | string | null} value
 */
function cellsOf({unit, whole, is_difference}, value) {
	const text = quantity(value, unit);
	if (is_difference)
		return [element("td", {class: `number ${Number(value) > 0 ? "more" : "less"}`},
			Number(value) > 0 ? `+${text}` : text)];
	if (unit === "text")
		return [element("td", {class: text.includes("/") ? "text path" : "text", title: text},
			element("bdi", {dir: "ltr"}, text))];
	const exact = value === null ? "not known" : `${count(/** @type {number} */ (value))} ${unit}`;
	const cells = [element("td", {class: "number", title: exact}, text)];
	if (whole !== undefined)
		cells.push(element("td", {class: "number share-cell"},
			shareBar(Number(value), Number(whole)),
			element("span", {}, percent(Number(value), Number(whole)))));
	return cells;
}

/**
 * The room of rows that are out of sight.
 * @param {number} rows
 */
function gap(rows) {
	const row = element("tr", {class: "gap", "aria-hidden": "true"});
	row.style.height = `${rows * ROW_PX}px`;
	return row;
}

/**
 * Copies and says so.
 * @param {HTMLElement} button
 * @param {string} text
 */
async function copy(button, text) {
	const said = button.textContent;
	try {
		await navigator.clipboard.writeText(text);
		button.textContent = "Copied";
	} catch {
		button.textContent = "The browser does not allow it";
	}
	window.setTimeout(() => { button.textContent = said; }, 1500);
}

class Table {
	/** @param {TableOptions} options */
	constructor(options) {
		this.options = options;
		this.columns = shownColumns(options.columns, options.rows);
		this.sortKey = "";
		this.isDescending = false;
		this.filter = "";
		/**
		 * Those the filter leaves, sorted.
		 * @type {Row[]}
		 */
		this.rows = options.rows;
		this.active = 0;
		this.first = -1;
		this.body = element("tbody", {});
		this.foot = element("tfoot", {});
		this.said = element("span", {class: "quiet", role: "status"});
		this.heads = this.columns.flatMap((column) => this.#heads(column));
		const kind = options.choose ? {role: "grid"} : {};
		this.table = element("table", {...kind, "aria-label": options.title, class: "data"},
			element("thead", {}, element("tr", {}, ...this.heads)), this.body, this.foot);
		this.box = element("div", {class: "table-box"}, this.table);
		if (!options.choose)
			this.box.tabIndex = 0;
		this.cut = element("p", {class: "printed quiet"});
		this.element = element("div", {class: "table"}, this.#tools(), this.box, this.cut);
		this.box.addEventListener("scroll", () => this.#render());
		this.body.addEventListener("click", (event) => this.#click(event));
		this.body.addEventListener("keydown", (event) => this.#press(event));
		this.#arrange();
	}

	/** @param {Column} column */
	#heads(column) {
		const head = element("th", {scope: "col", class: isName(column) ? "" : "number", "data-key": column.key},
			element("button", {class: "sort", click: () => this.sort(column)}, column.title || column.key));
		return column.whole === undefined ? [head]
			: [head, element("th", {scope: "col", "aria-label": `share of ${column.title}`})];
	}

	#tools() {
		const {title, rows} = this.options;
		const filter = element("input", {type: "search", placeholder: "Filter", "aria-label": `Filter ${title}`,
			hidden: rows.length < FILTER_ROWS});
		filter.addEventListener("input", () => {
			this.filter = filter.value.toLowerCase();
			this.#arrange();
		});
		/** @type {HTMLElement} */
		const button = element("button", {"aria-label": `Copy ${title} as CSV`,
			click: () => copy(button, toCsv(this.options.columns, this.rows))}, "Copy as CSV");
		return element("div", {class: "table-tools"}, filter, this.said, button);
	}

	/**
	 * Numbers begin with the largest, names with the first; again turns it round, and the third time restores.
	 * @param {Column} column
	 */
	sort(column) {
		const isDescendingFirst = !isName(column);
		if (this.sortKey !== column.key) {
			this.sortKey = column.key;
			this.isDescending = isDescendingFirst;
		} else if (this.isDescending === isDescendingFirst) {
			this.isDescending = !isDescendingFirst;
		} else {
			this.sortKey = "";
		}
		this.#arrange();
	}

	/** Filters, sorts, draws. */
	#arrange() {
		const {rows} = this.options;
		const names = this.columns.filter(isName);
		const matches = (/** @type {Row} */ row) =>
			names.some(({key}) => String(row[key] ?? "").toLowerCase().includes(this.filter));
		this.rows = this.filter ? rows.filter(matches) : rows;
		if (this.sortKey)
			this.rows = sortRows(this.rows, this.sortKey, this.isDescending);
		for (const head of this.heads) {
			const order = head.dataset.key === this.sortKey && (this.isDescending ? "descending" : "ascending");
			if (order)
				head.setAttribute("aria-sort", order);
			else
				head.removeAttribute("aria-sort");
		}
		const all = rows.length + (this.options.leftOut ?? 0);
		this.said.textContent = this.rows.length === all
			? `${count(all)} ${all === 1 ? "row" : "rows"}`
			: `${count(this.rows.length)} of ${count(all)} rows`;
		this.cut.textContent = all > PRINTED_ROWS ? `The first ${PRINTED_ROWS} of ${count(all)} rows.` : "";
		this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
		replaceContent(this.foot, this.#totals());
		this.active = 0;
		this.box.scrollTop = 0;
		this.refresh();
	}

	/** Sums, where there is more than one row and a column of which they say something. */
	#totals() {
		if (this.rows.length < 2 || !this.columns.some(isAdded))
			return null;
		let isFirst = true;
		const leftOut = this.options.leftOut && !this.filter ? "total of these" : "total";
		return element("tr", {}, ...this.columns.flatMap((column) => {
			const cells = isAdded(column)
				? cellsOf(column, sumOf(this.rows, column.key))
				: [element("td", {}, isFirst ? leftOut : "")];
			isFirst = false;
			return cells;
		}));
	}

	/** Draws the rows anew: what is chosen may have changed. */
	refresh() {
		this.first = -1;
		this.#render();
	}

	#render() {
		const isVirtual = this.rows.length > VIRTUAL_ROWS;
		const inSight = Math.ceil((this.box.clientHeight || 600) / ROW_PX) + 2 * SPARE_ROWS;
		const first = isVirtual ? Math.max(Math.floor(this.box.scrollTop / ROW_PX) - SPARE_ROWS, 0) : 0;
		const last = isVirtual ? Math.min(first + inSight, this.rows.length) : this.rows.length;
		if (first === this.first)
			return;
		this.first = first;
		const inside = this.rows.slice(first, last).map((row, i) => this.#row(row, first + i));
		replaceContent(this.body, isVirtual && gap(first), ...inside, isVirtual && gap(this.rows.length - last));
	}

	/**
	 * @param {Row} row
	 * @param {number} index
	 */
	#row(row, index) {
		const {choose, isChosen} = this.options;
		const attributes = choose ? {tabindex: index === this.active ? 0 : -1,
			"aria-selected": String(isChosen?.(row) ?? false)} : {};
		return element("tr", {...attributes, "aria-rowindex": index + 2, "data-index": index,
			class: index < PRINTED_ROWS ? null : "unprinted"},
		...this.columns.flatMap((column) => cellsOf(column, row[column.key])));
	}

	/** @param {Event} event */
	#indexOf(event) {
		const row = /** @type {HTMLElement} */ (event.target).closest("tr");
		return row?.dataset.index === undefined ? -1 : Number(row.dataset.index);
	}

	/** @param {Event} event */
	#click(event) {
		const index = this.#indexOf(event);
		if (index < 0 || !this.options.choose)
			return;
		this.active = index;
		this.options.choose(this.rows[index]);
	}

	/** @param {KeyboardEvent} event */
	#press(event) {
		const index = this.#indexOf(event);
		const page = Math.max(Math.floor(this.box.clientHeight / ROW_PX) - 2, 1);
		/** @type {Record<string, number>} */
		const moves = {ArrowDown: index + 1, ArrowUp: index - 1, PageDown: index + page, PageUp: index - page,
			Home: 0, End: this.rows.length - 1};
		if (index < 0 || !this.options.choose || event.ctrlKey || event.altKey || event.metaKey)
			return;
		if (event.key === "Enter" || event.key === " ")
			this.options.choose(this.rows[index]);
		else if (event.key in moves)
			this.#activate(Math.min(Math.max(moves[event.key], 0), this.rows.length - 1));
		else
			return;
		event.preventDefault();
	}

	/** @param {number} index */
	#activate(index) {
		this.active = index;
		const head = 2 * ROW_PX;
		const top = index * ROW_PX;
		if (top < this.box.scrollTop)
			this.box.scrollTop = top;
		else if (top + head + ROW_PX > this.box.scrollTop + this.box.clientHeight)
			this.box.scrollTop = top + head + ROW_PX - this.box.clientHeight;
		this.refresh();
		/** @type {HTMLElement | null} */ (this.body.querySelector(`[data-index="${index}"]`))?.focus();
	}
}

/**
 * @param {TableOptions} options
 * @returns {{element: HTMLElement, refresh: () => void}} refresh: what is chosen has changed
 */
export function createTable(options) {
	return new Table(options);
}
