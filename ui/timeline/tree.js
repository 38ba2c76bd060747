// SPDX-License-Identifier: Apache-2.0
/**
 * The names left of the canvas: a tree that can be walked with the keyboard. Only the rows in sight are in the
 * document, and the one that has the focus.
 */

import {element} from "../shared/dom.js";
import {counted, duration} from "../shared/format.js";

/** Rows made before and after those in sight. */
const SPARE = 6;
/** Names of higher rows stand at their top. */
const HIGH = 30;

/** @typedef {import("./rows.js").Row} Row */

export class Tree {
	/**
	 * @param {object} actions
	 * @param {(row: Row) => void} actions.toggle opens it, or closes it
	 * @param {(row: Row) => void} actions.enter selects its first slice
	 * @param {(row: Row) => void} actions.pin its group
	 */
	constructor({toggle, enter, pin}) {
		this.toggle = toggle;
		this.enter = enter;
		this.pin = pin;
		this.element = element("div", {class: "timeline-tree", role: "tree", "aria-label": "Tracks"});
		this.element.addEventListener("keydown", (event) => this.#press(event));
		this.element.addEventListener("focusin", (event) => this.#focused(event));
		this.element.addEventListener("click", (event) => this.#clicked(event));
		/** @type {Map<string, HTMLElement>} */
		this.made = new Map();
		/** The row that Tab leads to. */
		this.current = "";
		/** @type {import("./rows.js").Layout | null} */
		this.layout = null;
		/**
		 * Called where a row out of sight gets the focus.
		 * @type {(row: Row) => void}
		 */
		this.reveal = () => {};
	}

	/**
	 * @param {import("./rows.js").Layout} layout
	 * @param {number} top
	 * @param {number} height
	 */
	render(layout, top, height) {
		if (layout !== this.layout)
			this.#restart(layout);
		const {rows} = layout;
		if (!rows.length)
			return;
		const first = Math.max(layout.indexAt(top + layout.pinnedHeight) - SPARE, 0);
		const last = Math.min(layout.indexAt(top + height) + SPARE, rows.length - 1);
		/** @type {Map<string, Row>} */
		const wanted = new Map();
		for (const row of [...rows.slice(0, layout.pinnedRows), ...rows.slice(first, last + 1)])
			wanted.set(row.key, row);
		const current = rows.find(({key}) => key === this.current) ?? rows[0];
		this.current = current.key;
		wanted.set(current.key, current);
		for (const [key, made] of this.made) {
			if (!wanted.has(key)) {
				made.remove();
				this.made.delete(key);
			}
		}
		for (const [key, row] of wanted) {
			if (!this.made.has(key))
				this.#add(row);
			if (row.isPinned) /* moves with what is scrolled */
				/** @type {HTMLElement} */ (this.made.get(key)).style.top = `${row.top + top}px`;
		}
	}

	/** The row that has the focus, if one has. */
	focused() {
		return this.#rowOf(document.activeElement);
	}

	/** @param {import("./rows.js").Layout} layout */
	#restart(layout) {
		const hadFocus = this.element.contains(document.activeElement);
		this.layout = layout;
		this.made.clear();
		this.element.replaceChildren();
		this.element.style.height = `${layout.height}px`;
		const current = layout.rows.find(({key}) => key === this.current);
		if (current)
			this.#add(current);
		if (hadFocus)
			this.made.get(this.current)?.focus({preventScroll: true});
	}

	/** @param {Row} row */
	#add(row) {
		const {group, band, isOpen} = row;
		const title = band && row.key !== group.id ? band.title : group.title;
		const hidden = band ? band.lanes - row.lanes : 0;
		const about = hidden > 0 ? `${counted(hidden, "more lane")}` : row.key === group.id ? group.about ?? "" : "";
		const size = band ? bandText(band) : group.busy_ns > 0 && `busy ${duration(group.busy_ns)}`;
		const full = [title, about, size].filter(Boolean).join(", ");
		const made = element("div", {
			class: `timeline-row ${band ? "of-band" : "of-group"}${row.height >= HIGH ? " is-high" : ""}` +
				(row.isPinned ? " is-pinned" : ""),
			role: "treeitem", "aria-level": row.depth + 1, title: full,
			"aria-expanded": isOpen === null ? null : String(isOpen),
			tabindex: row.key === this.current ? 0 : -1,
			"data-key": row.key, "data-group": group.id, "data-band": band ? band.band : null,
			"data-lane-height": band ? row.laneHeight : null,
		},
		element("span", {class: "timeline-arrow", "aria-hidden": "true"},
			isOpen === null ? "" : isOpen ? "▾" : "▸"),
		element("span", {class: "timeline-words"}, element("span", {class: "timeline-name"}, title),
			...about.split(", ").map((part, i) => part &&
				element("span", {class: "timeline-about"}, i > 0 ? `· ${part}` : part))),
		row.key === group.id && element("button", {class: "timeline-pin", tabindex: -1, title: "stays in sight (P)",
			"aria-label": `${row.isPinned ? "Unpin" : "Pin"} ${title}`}, row.isPinned ? "unpin" : "pin"));
		made.style.top = `${row.top}px`;
		made.style.height = `${row.height}px`;
		made.style.setProperty("--depth", String(row.depth));
		this.made.set(row.key, made);
		this.element.append(made);
	}

	/**
	 * @param {EventTarget | null} target
	 * @returns {Row | undefined}
	 */
	#rowOf(target) {
		const key = target instanceof Element ? target.closest("[data-key]")?.getAttribute("data-key") : null;
		return this.layout?.rows.find((row) => row.key === key);
	}

	/** @param {Event} event */
	#focused(event) {
		const row = this.#rowOf(event.target);
		if (!row)
			return;
		this.made.get(this.current)?.setAttribute("tabindex", "-1");
		this.current = row.key;
		this.made.get(row.key)?.setAttribute("tabindex", "0");
	}

	/** @param {MouseEvent} event */
	#clicked(event) {
		const row = this.#rowOf(event.target);
		if (!row)
			return;
		this.made.get(row.key)?.focus({preventScroll: true});
		if (event.target instanceof Element && event.target.closest(".timeline-pin"))
			this.pin(row);
		else if (row.isOpen !== null)
			this.toggle(row);
	}

	/** @param {Row | undefined} row */
	focus(row) {
		if (!row)
			return;
		this.reveal(row);
		if (!this.made.has(row.key))
			this.#add(row);
		this.made.get(row.key)?.focus({preventScroll: true});
	}

	/** @param {KeyboardEvent} event */
	#press(event) {
		const row = this.#rowOf(event.target);
		if (!row || !this.layout || event.ctrlKey || event.altKey || event.metaKey)
			return;
		const {rows} = this.layout;
		const index = rows.indexOf(row);
		const parent = this.layout.rowOfGroup.get(row.band && row.key !== row.group.id ? row.group.id
			: row.group.parent ?? "");
		/** @type {Record<string, () => void>} */
		const actions = {
			ArrowDown: () => this.focus(rows[index + 1]),
			ArrowUp: () => this.focus(rows[index - 1]),
			Home: () => this.focus(rows[0]),
			End: () => this.focus(rows[rows.length - 1]),
			ArrowRight: () => row.isOpen === false ? this.toggle(row) : this.focus(rows[index + 1]),
			ArrowLeft: () => row.isOpen ? this.toggle(row) : this.focus(parent),
			Enter: () => row.isOpen === null ? this.enter(row) : this.toggle(row),
			" ": () => row.isOpen !== null && this.toggle(row),
		};
		if (!actions[event.key])
			return;
		event.preventDefault();
		event.stopPropagation();
		actions[event.key]();
	}
}

/** @param {import("./rows.js").Band} band */
function bandText({title, kind, count: slices, lanes}) {
	if (kind === "series")
		return title;
	return [title, slices === null ? "" : counted(slices, "slice"), lanes > 1 ? `${lanes} lanes` : ""]
		.filter(Boolean).join(", ");
}
