// SPDX-License-Identifier: Apache-2.0
/** What is under the pointer, in a few words beside it. */

import {element, replaceContent} from "../shared/dom.js";
import {bytes, count, duration, percent} from "../shared/format.js";
import {momentText} from "./ticks.js";

const PATIENCE_MS = 90;
const REMEMBERED = 2000;
const MICROSECOND = 1000;

/**
 * @typedef {object} Hit
 * @property {import("./rows.js").Band} band
 * @property {number} lane
 * @property {number} row
 * @property {number} label
 * @property {number} slices
 * @property {number} shade
 * @property {number} from
 * @property {number} to
 *
 * What a counter was at a moment.
 * @typedef {{band: import("./rows.js").Band, time: number, value: number, low: number, high: number}} Value
 */

export class Tooltip {
	/** @param {import("../shared/api.js").Api} api */
	constructor(api) {
		this.api = api;
		this.element = element("div", {class: "timeline-tooltip", role: "tooltip", hidden: true});
		/**
		 * Names of slices that are too narrow to be named by the server at once.
		 * @type {Map<string, string>}
		 */
		this.titles = new Map();
		this.timer = 0;
		this.shown = "";
	}

	hide() {
		window.clearTimeout(this.timer);
		this.element.hidden = true;
		this.shown = "";
	}

	/**
	 * @param {Hit} hit
	 * @param {number} x
	 * @param {number} y
	 * @param {HTMLElement} place in which it must stay
	 */
	show(hit, x, y, place) {
		const key = `${hit.band.table}:${hit.row}:${hit.slices}`;
		if (key !== this.shown) {
			this.shown = key;
			this.#fill(hit);
		}
		this.#place(x, y, place);
	}

	/**
	 * The value of a counter.
	 * @param {Value} at
	 * @param {number} x
	 * @param {number} y
	 * @param {HTMLElement} place
	 */
	showValue({band, time, value, low, high}, x, y, place) {
		const text = (/** @type {number} */ each) => band.unit === "bytes" ? bytes(each) : count(Math.round(each));
		const varies = text(low) !== text(high);
		window.clearTimeout(this.timer);
		this.shown = "";
		replaceContent(this.element,
			element("div", {class: "timeline-tooltip-title"}, text(value)),
			varies && element("div", {class: "quiet"}, `${text(low)} to ${text(high)} within this pixel`),
			element("div", {class: "quiet"}, `${band.title}, at ${momentText(time, MICROSECOND)}`));
		this.#place(x, y, place);
	}

	/**
	 * @param {number} x
	 * @param {number} y
	 * @param {HTMLElement} place
	 */
	#place(x, y, place) {
		this.element.hidden = false;
		const {offsetWidth, offsetHeight} = this.element;
		const left = x + 14 + offsetWidth > place.clientWidth ? x - 14 - offsetWidth : x + 14;
		const top = y + 16 + offsetHeight > place.clientHeight ? y - 10 - offsetHeight : y + 16;
		this.element.style.transform =
			`translate(${Math.round(Math.max(left, 0))}px, ${Math.round(Math.max(top, 0))}px)`;
	}

	/** @param {Hit} hit */
	#fill(hit) {
		window.clearTimeout(this.timer);
		const {table} = hit.band;
		const row = `${table}:${hit.row}`;
		const title = this.api.labelText(table, hit.label) || this.titles.get(row);
		this.#write(hit, title ?? "…");
		if (title === undefined)
			this.timer = window.setTimeout(() => this.#ask(hit, row), PATIENCE_MS);
	}

	/**
	 * @param {Hit} hit
	 * @param {string} row
	 */
	async #ask(hit, row) {
		const shown = this.shown;
		const answer = await this.api.json("row", {table: hit.band.table, row: hit.row}).catch(() => null);
		if (!answer)
			return;
		if (this.titles.size >= REMEMBERED)
			this.titles.clear();
		this.titles.set(row, answer.title);
		if (this.shown === shown)
			this.#write(hit, answer.title);
	}

	/**
	 * @param {Hit} hit
	 * @param {string} title
	 */
	#write(hit, title) {
		const {slices, shade, from, to, band} = hit;
		const isMerged = slices > 1;
		const second = isMerged
			? `${count(slices)} slices begin within ${duration(to - from)}` +
				(band.as.is_shaded_by_track ? "" : `, ${percent(shade, 1000)} covered`)
			: duration(to - from);
		replaceContent(this.element,
			element("div", {class: "timeline-tooltip-title"}, isMerged ? `longest: ${title}` : title),
			element("div", {class: "quiet"}, second),
			element("div", {class: "quiet"}, band.title));
	}
}
