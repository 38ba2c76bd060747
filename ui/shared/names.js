// SPDX-License-Identifier: Apache-2.0
/**
 * Shortens names that do not fit. Many names begin alike (StatefulPartitionedCall/sequential_1/…), and others differ
 * only in a number at the end, so names are cut in the middle, and the last parts of a path are kept.
 */

import {element} from "./dom.js";

const FAMILY = 'system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
const TYPE_PX = 14; /* as in style.css */
const MEASURED = 20000;

/**
 * The end that is kept: the last parts of a path as far as they fit, else half of the room.
 * @param {string} text that is longer
 * @param {number} most characters
 */
function tailOf(text, most) {
	const slash = text.indexOf("/", text.length - most);
	return slash > 0 ? text.slice(slash) : text.slice(text.length - Math.floor(most / 2));
}

/**
 * "Stateful…/conv2d_1/convolution"
 * @param {string} text
 * @param {number} characters that there is room for
 * @returns {string}
 */
export function shorten(text, characters) {
	if (text.length <= characters)
		return text;
	const last = text.slice(text.lastIndexOf("/") + 1);
	if (last.length + 1 > characters && last.length < text.length)
		return shorten(last, characters);
	const tail = tailOf(text, characters - 1);
	return `${text.slice(0, characters - 1 - tail.length)}…${tail}`;
}

/** @type {CanvasRenderingContext2D | null} */
let measure = null;
/** @type {Map<string, number>} */
const widths = new Map();

/** @param {string} text */
function widthOf(text) {
	let width = widths.get(text);
	if (width === undefined) {
		if (!measure) {
			measure = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
			measure.font = `${TYPE_PX}px ${FAMILY}`;
		}
		if (widths.size >= MEASURED)
			widths.clear();
		width = measure.measureText(text).width;
		widths.set(text, width);
	}
	return width;
}

/**
 * A name that is cut, by the browser, to the width that its place happens to have: all of it is there as text.
 * @param {string} text
 * @param {number} most characters at its end that are kept as long as there is room for them
 */
export function nameElement(text, most) {
	if (text.length <= most)
		return element("bdi", {dir: "ltr", class: "name"}, text);
	const tail = tailOf(text, most);
	const made = element("bdi", {dir: "ltr", class: "name name-parts"},
		element("span", {class: "name-head"}, text.slice(0, text.length - tail.length)),
		element("span", {class: "name-tail"}, tail));
	made.style.setProperty("--tail", `${widthOf(tail)}px`);
	return made;
}
