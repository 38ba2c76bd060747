// SPDX-License-Identifier: Apache-2.0
/**
 * Colours as pixel values: 0xAABBGGRR, the byte order of canvases.
 */

const DARK_INK = "#0b1219";
const LIGHT_INK = "#ffffff";
/** Text on a colour of this brightness (of 255) and more is dark. */
const BRIGHT = 118;

/**
 * @typedef {object} Paint
 * @property {number} fill
 * @property {number} edge where the slice begins
 * @property {string} ink for text upon it
 */

/**
 * A part of one colour in another.
 * @param {number} colour
 * @param {number} other
 * @param {number} share of the first, 0 to 256
 */
export function mix(colour, other, share) {
	const rest = 256 - share;
	const odd = (((colour & 0xff00ff) * share + (other & 0xff00ff) * rest) >>> 8) & 0xff00ff;
	const green = (((colour & 0xff00) * share + (other & 0xff00) * rest) >>> 8) & 0xff00;
	return (0xff000000 | odd | green) >>> 0;
}

/** Told a colour, it says it again as #rrggbb, or rgba() where something shines through. */
const reader = document.createElement("canvas").getContext("2d");
const UNREADABLE = "#808080";

/**
 * @param {string} css any colour of CSS
 * @returns {number} 0: transparent
 */
export function pixelOf(css) {
	let said = UNREADABLE;
	if (reader) {
		reader.fillStyle = UNREADABLE; /* what is no colour changes nothing */
		reader.fillStyle = css;
		said = String(reader.fillStyle);
	}
	if (said.endsWith(", 0)"))
		return 0;
	if (!said.startsWith("#"))
		said = UNREADABLE;
	const [red, green, blue] = [1, 3, 5].map((at) => parseInt(said.slice(at, at + 2), 16));
	return (0xff000000 | blue << 16 | green << 8 | red) >>> 0;
}

/** @param {number} pixel */
function brightness(pixel) {
	return 0.3 * (pixel & 255) + 0.59 * ((pixel >> 8) & 255) + 0.11 * ((pixel >> 16) & 255);
}

/** @param {number} fill on which there is text */
const inkOn = (fill) => (brightness(fill) >= BRIGHT ? DARK_INK : LIGHT_INK);

/** @param {string} css any colour on which there is text */
export const inkOf = (css) => inkOn(pixelOf(css));

/** Paints of labels, each made once. */
export class Palette {
	/** @param {import("../shared/colours.js").SliceColours} colours */
	constructor(colours) {
		this.colours = colours;
		/** @type {Map<string, Map<number, Paint>>} */
		this.tables = new Map();
	}

	/** @param {string} table @returns {(label: number) => Paint} */
	of(table) {
		let paints = this.tables.get(table);
		if (!paints)
			this.tables.set(table, paints = new Map());
		const known = paints;
		return (label) => known.get(label) ?? this.#make(table, label, known);
	}

	/**
	 * @param {string} table
	 * @param {number} label
	 * @param {Map<number, Paint>} known
	 */
	#make(table, label, known) {
		const fill = pixelOf(this.colours.of(table, label));
		const paint = {fill, edge: mix(fill, 0xff000000, 196), ink: inkOn(fill)};
		known.set(label, paint);
		return paint;
	}
}
