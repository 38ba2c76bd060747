// SPDX-License-Identifier: Apache-2.0
/**
 * A table of numbers and names: sorted by any column, filtered by a text, copied as CSV, used from the keyboard.
 * A long table has elements only for the visible rows.
 *
 *     ┌ filter ──── 12 of 840 rows ─── copy ┐
 *     │ name ▾ │  count │    time  ▆▆▆ 40 % │   head, always in sight
 *     │ …      │        │                   │ ↕ scrolls
 *     │ total  │        │                   │   of all rows that the filter leaves, where adding makes sense
 *     └────────┴────────┴───────────────────┘
 */

import {drawing, element, replaceContent} from "../shared/dom.js";
import {count, counted, percent, quantity} from "../shared/format.js";
import {nameElement} from "../shared/names.js";
import {orderBy, sumOf, toCsv} from "./table_rows.js";

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
 * @property {() => Promise<void>} [complete] sees to it that extend() has been called with all of them
 * @property {(row: Row) => void} [choose] makes rows be chosen, by click and by Enter
 * @property {(row: Row) => boolean} [isChosen]
 * @property {Arrangement} [arrangement] at first
 * @property {(arrangement: Arrangement) => void} [arranged] by the user
 *
 * What the filter looks at: null until it does.
 * @typedef {{row: Row, text: string | null}} Entry
 *
 * What the user has made of the rows.
 * @typedef {object} Arrangement
 * @property {string} filter
 * @property {string} sort key of a column, with a - before it if the largest come first; "": as they are
 */

const VIRTUAL_ROWS = 500;
const ROW_PX = 27;
const SPARE_ROWS = 10;
const FILTER_ROWS = 5;
const PRINTED_ROWS = 25;
const FIRST_TAIL = 24; /* the first column has most room for names */
const TAIL = 12;

/** @param {Column} column */
const isName = (column) => column.unit === "text" || column.unit === "number";
/** @param {Column} column */
const isAdded = (column) => column.whole !== undefined || column.is_sum === true;

/**
 * Columns worth showing: a pid or a device that all rows share is not, beside names that differ.
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
 * @param {boolean} [isFirst]
 */
function cellsOf({unit, whole, is_difference}, value, isFirst = false) {
	const text = quantity(value, unit);
	if (is_difference)
		return [element("td", {class: `number ${Number(value) > 0 ? "more" : "less"}`},
			Number(value) > 0 ? `+${text}` : text)];
	if (unit === "text")
		return [element("td", {class: "text", title: text}, nameElement(text, isFirst ? FIRST_TAIL : TAIL))];
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
		button.textContent = "The browser does not allow copying";
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
		this.field = element("input", {type: "search"});
		/** What the options say, which may name a column that is not there. */
		this.given = {filter: "", sort: ""};
		/**
		 * Those the filter leaves, sorted.
		 * @type {Row[]}
		 */
		this.rows = options.rows;
		/**
		 * All of them, with what the filter looks at.
		 * @type {Entry[]}
		 */
		this.entries = options.rows.map((row) => ({row, text: null}));
		/**
		 * The same in another order.
		 * @type {{entries: Entry[], by: string}}
		 */
		this.sorted = {entries: this.entries, by: ""};
		this.active = 0;
		this.isRevealing = false;
		this.first = -1;
		this.body = element("tbody", {});
		this.foot = element("tfoot", {});
		this.said = element("span", {class: "quiet", role: "status"});
		this.heads = this.columns.flatMap((column) => this.#heads(column));
		this.headRow = element("tr", {}, ...this.heads);
		if (options.arrangement)
			this.#take(options.arrangement);
		const kind = options.choose ? {role: "grid"} : {};
		this.table = element("table", {...kind, "aria-label": options.title, class: "data"},
			element("thead", {}, this.headRow), this.body, this.foot);
		this.box = element("div", {class: "table-box"}, this.table);
		if (!options.choose)
			this.box.tabIndex = 0;
		this.cut = element("p", {class: "printed quiet"});
		this.element = element("div", {class: "table"}, this.#tools(), this.box, this.cut);
		this.box.addEventListener("scroll", () => this.#render());
		for (const touch of ["wheel", "pointerdown", "keydown"])
			this.box.addEventListener(touch, () => { this.isRevealing = false; }, {passive: true});
		new ResizeObserver(() => this.#resize()).observe(this.box);
		this.body.addEventListener("click", (event) => this.#click(event));
		this.body.addEventListener("keydown", (event) => this.#press(event));
		this.#arrange();
	}

	/** @param {Column} column */
	#heads(column) {
		const head = element("th", {scope: "col", class: isName(column) ? "" : "number", "data-key": column.key},
			element("button", {class: "sort", click: () => this.sort(column)}, column.title || column.key));
		return column.whole === undefined ? [head]
			: [head, element("th", {scope: "col", class: "share-head", "aria-label": `share of ${column.title}`,
				title: `of ${quantity(column.whole, column.unit)}`}, "share")];
	}

	#tools() {
		const {title, rows} = this.options;
		this.field.placeholder = "Filter";
		this.field.setAttribute("aria-label", `Filter ${title}`);
		this.field.hidden = rows.length < FILTER_ROWS && !this.field.value;
		this.field.addEventListener("input", () => {
			this.filter = this.field.value;
			this.#arrange();
			this.#tell();
		});
		/** @type {HTMLElement} */
		const button = element("button", {"aria-label": `Copy ${title} as CSV`,
			click: async () => {
				await this.options.complete?.();
				if (!this.options.complete || !this.options.leftOut) /* otherwise a message says why there is no more */
					copy(button, toCsv(this.options.columns, this.rows));
			}}, "Copy as CSV");
		return element("div", {class: "table-tools"}, this.field, this.said, button);
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
		this.#tell();
	}

	/** @returns {Arrangement} */
	get arrangement() {
		return {filter: this.filter, sort: this.sortKey && `${this.isDescending ? "-" : ""}${this.sortKey}`};
	}

	/**
	 * Filters and sorts as the user has done before.
	 * @param {Arrangement} arrangement
	 */
	arrange({filter, sort}) {
		if (filter === this.given.filter && sort === this.given.sort)
			return;
		this.#take({filter, sort});
		this.#arrange();
	}

	#tell() {
		this.given = this.arrangement;
		this.options.arranged?.(this.given);
	}

	/** @param {Arrangement} arrangement */
	#take({filter, sort}) {
		this.given = {filter, sort};
		const key = sort.replace(/^-/, "");
		this.sortKey = this.columns.some((column) => column.key === key) ? key : "";
		this.isDescending = sort.startsWith("-");
		this.filter = filter;
		if (this.field.value !== filter)
			this.field.value = filter;
	}

	/**
	 * More rows have come; where the user is in the table stays.
	 * @param {Row[]} rows those that were there, and the others
	 * @param {number} leftOut
	 */
	extend(rows, leftOut) {
		this.options.leftOut = leftOut;
		this.entries = this.entries.concat(rows.slice(this.entries.length).map((row) => ({row, text: null})));
		this.#noteTexts();
		if (leftOut > 0)
			return; /* they are shown when all have come */
		const columns = shownColumns(this.options.columns, rows);
		if (columns.length !== this.columns.length) {
			this.columns = columns;
			this.heads = columns.flatMap((column) => this.#heads(column));
			replaceContent(this.headRow, ...this.heads);
			this.entries = rows.map((row) => ({row, text: null}));
			this.#noteTexts();
			this.#take(this.given); /* its column may be there now */
		}
		this.sorted = {entries: this.entries, by: ""};
		const {active, box: {scrollTop}} = this;
		this.#arrange();
		this.active = Math.min(active, Math.max(this.rows.length - 1, 0));
		this.box.scrollTop = scrollTop;
		this.refresh();
	}

	/** So that a key that is typed into the filter need not. */
	#noteTexts() {
		const keys = this.columns.filter(isName).map(({key}) => key);
		for (const entry of this.entries)
			entry.text ??= keys.map((key) => entry.row[key] ?? "").join("\n").toLowerCase();
	}

	/** @returns {Entry[]} all, in the order that is wanted */
	#sort() {
		const by = this.arrangement.sort;
		const order = orderBy(this.sortKey, this.isDescending);
		if (by !== this.sorted.by)
			this.sorted = {by, entries: by ? [...this.entries].sort((a, b) => order(a.row, b.row)) : this.entries};
		return this.sorted.entries;
	}

	/** Filters, sorts, draws. */
	#arrange() {
		const wanted = this.filter.toLowerCase();
		if (wanted)
			this.#noteTexts();
		const entries = this.#sort();
		this.rows = (wanted ? entries.filter(({text}) => text?.includes(wanted)) : entries).map(({row}) => row);
		for (const head of this.heads) {
			const order = head.dataset.key === this.sortKey && (this.isDescending ? "descending" : "ascending");
			if (order)
				head.setAttribute("aria-sort", order);
			else
				head.removeAttribute("aria-sort");
		}
		const all = this.entries.length + (this.options.leftOut ?? 0);
		this.said.textContent = this.rows.length === all
			? counted(all, "row")
			: `${count(this.rows.length)} of ${counted(all, "row")}`;
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
		const isFocused = this.body.contains(document.activeElement);
		this.first = -1;
		this.#render();
		if (isFocused)
			this.#rowElement(this.active)?.focus({preventScroll: true});
	}

	/**
	 * @param {number} index
	 * @returns {HTMLElement | null} null: it is out of sight
	 */
	#rowElement(index) {
		return this.body.querySelector(`[data-index="${index}"]`);
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
		const nothing = this.rows.length === 0 && this.filter !== "" && element("tr", {class: "gap nothing"},
			element("td", {colspan: this.heads.length}, `No row matches “${this.filter}”.`));
		replaceContent(this.body, isVirtual && gap(first), ...inside, isVirtual && gap(this.rows.length - last),
			nothing);
	}

	/**
	 * @param {Row} row
	 * @param {number} index
	 */
	#row(row, index) {
		const {choose, isChosen} = this.options;
		const attributes = choose ? {tabindex: index === this.active ? 0 : -1,
			"aria-selected": String(isChosen?.(row) ?? false)} : {"aria-current": isChosen?.(row) ? "true" : null};
		return element("tr", {...attributes, "aria-rowindex": index + 2, "data-index": index,
			class: index < PRINTED_ROWS ? null : "unprinted"},
		...this.columns.flatMap((column, i) => cellsOf(column, row[column.key], i === 0)));
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

	/** Brings the first row that is chosen into sight, where it stays until the user moves on. */
	reveal() {
		const index = this.rows.findIndex((row) => this.options.isChosen?.(row));
		this.isRevealing = index >= 0;
		if (this.isRevealing)
			this.#scrollTo(index);
	}

	/** There is more or less room than before. */
	#resize() {
		this.first = -1;
		if (this.isRevealing)
			this.reveal();
		else
			this.refresh();
	}

	/** @param {number} index */
	#activate(index) {
		this.#scrollTo(index);
		this.#rowElement(index)?.focus();
	}

	/** @param {number} index */
	#scrollTo(index) {
		this.active = index;
		const head = 3 * ROW_PX; /* and the foot */
		const top = index * ROW_PX;
		if (top < this.box.scrollTop)
			this.box.scrollTop = top;
		else if (top + head + ROW_PX > this.box.scrollTop + this.box.clientHeight)
			this.box.scrollTop = top + head + ROW_PX - this.box.clientHeight;
		this.refresh();
	}
}

/**
 * @param {TableOptions} options
 * @returns {Pick<Table, "element" | "refresh" | "reveal" | "arrange" | "extend">} refresh: what is chosen has changed
 */
export function createTable(options) {
	return new Table(options);
}
