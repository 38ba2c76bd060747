// SPDX-License-Identifier: Apache-2.0
/**
 * Draws names on slices. Text is the most expensive part, so the width of each name is measured once, and a name that
 * does not fit is cut in the middle, by its number of characters.
 */

import {shorten} from "../shared/names.js";

const FAMILY = 'system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
const MEASURED = 20000;
const FEWEST = 3;
const TRIES = 8;

/**
 * @typedef {{text: string, from: number, to: number, y: number}} Text
 */

export class Texts {
	/** Slices of fewer CSS pixels have none; the server does not send it either. */
	static NARROWEST = 24;

	/** @param {CanvasRenderingContext2D} context */
	constructor(context) {
		this.context = context;
		/**
		 * By colour.
		 * @type {Map<string, Text[]>}
		 */
		this.waiting = new Map();
		/**
		 * Widths, of type one pixel high.
		 * @type {Map<string, number>}
		 */
		this.widths = new Map();
	}

	clear() {
		this.waiting.clear();
	}

	/**
	 * Takes back what would be written above a height.
	 * @param {number} y
	 */
	clip(y) {
		for (const [ink, list] of this.waiting)
			this.waiting.set(ink, list.filter((each) => each.y >= y));
	}

	/**
	 * @param {string} text
	 * @param {number} from
	 * @param {number} to
	 * @param {number} y of its middle
	 * @param {string} ink
	 * @returns {Text | null} what will be written
	 */
	add(text, from, to, y, ink) {
		if (!text)
			return null;
		const added = {text, from, to, y};
		const list = this.waiting.get(ink);
		if (list)
			list.push(added);
		else
			this.waiting.set(ink, [added]);
		return added;
	}

	/** @param {number} size of the type, in pixels */
	draw(size) {
		const {context} = this;
		context.font = `${size}px ${FAMILY}`;
		context.textBaseline = "middle";
		context.textAlign = "left";
		for (const [ink, list] of this.waiting) {
			context.fillStyle = ink;
			for (const {text, from, to, y} of list) {
				const fitting = this.#fit(text, to - from - 0.7 * size, size);
				if (fitting)
					context.fillText(fitting, from + 0.4 * size, y + 0.5);
			}
		}
	}

	/**
	 * @param {string} text
	 * @param {number} room
	 * @param {number} size
	 */
	#fit(text, room, size) {
		const width = this.#width(text, size) * size;
		if (width <= room)
			return text;
		const characters = Math.floor(((room - size) / width) * text.length); /* the dots are as wide as high */
		/* What is left may be wider than the rest of the name. */
		for (let most = characters; most >= FEWEST && most > characters - TRIES; most--) {
			const short = shorten(text, most + 1);
			if (this.#width(short, size) * size <= room)
				return short;
		}
		return "";
	}

	/**
	 * @param {string} text
	 * @param {number} size
	 */
	#width(text, size) {
		let width = this.widths.get(text);
		if (width === undefined) {
			if (this.widths.size >= MEASURED)
				this.widths.clear();
			width = this.context.measureText(text).width / size;
			this.widths.set(text, width);
		}
		return width;
	}
}
