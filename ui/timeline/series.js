// SPDX-License-Identifier: Apache-2.0
/**
 * A counter over time, as filled steps: its last value in each pixel, and, fainter, the range of its values in the
 * pixel.
 */

import {firstAbove} from "./sorted.js";
import {roundUp} from "./ticks.js";
import {timeToX} from "./viewport.js";

/**
 * @typedef {{from: number, to: number, part: import("../shared/api.js").SeriesPart}} SeriesPiece
 * @typedef {{y: number, height: number, faint: number, strong: number}} Place and colours
 * @typedef {{pixels: Uint32Array, width: number, height: number}} Image
 */

/**
 * The records of a piece that matter: the one that holds where it begins, and those within.
 * @param {SeriesPiece} piece
 */
function range({from, to, part}) {
	const first = Math.max(firstAbove(part.time, from) - 1, 0);
	return {first, last: firstAbove(part.time, to)};
}

/**
 * The value that holds at a moment, and the range of values in its pixel.
 * @param {{from: number, to: number, parts: import("../shared/api.js").SeriesPart[]}[]} pieces
 * @param {number} time
 * @returns {{value: number, low: number, high: number} | null} null: it has none there
 */
export function valueAt(pieces, time) {
	const part = pieces.find(({from, to}) => time >= from && time < to)?.parts[0];
	const i = part ? firstAbove(part.time, time) - 1 : -1;
	return part && i >= 0 ? {value: part.last[i], low: part.low[i], high: part.high[i]} : null;
}

/** @param {SeriesPiece[]} pieces */
function extremes(pieces) {
	let low = 0;
	let high = 0;
	for (const piece of pieces) {
		const {first, last} = range(piece);
		for (let i = first; i < last; i++) {
			low = Math.min(low, piece.part.low[i]);
			high = Math.max(high, piece.part.high[i]);
		}
	}
	return {low, high};
}

/**
 * @param {Image} image
 * @param {SeriesPiece[]} pieces
 * @param {import("./viewport.js").Viewport} viewport
 * @param {Place} place
 * @returns {number} the highest value
 */
export function drawSeries(image, pieces, viewport, place) {
	const {low, high} = extremes(pieces);
	const top = high > 0 ? roundUp(high) : low < 0 ? 0 : 1;
	const bottom = low < 0 ? -roundUp(-low) : 0;
	const yOf = (/** @type {number} */ value) =>
		Math.round(place.y + place.height * (1 - (value - bottom) / (top - bottom)));
	for (const piece of pieces)
		drawPiece(image, piece, viewport, yOf, place);
	return high;
}

/**
 * @param {Image} image
 * @param {SeriesPiece} piece
 * @param {import("./viewport.js").Viewport} viewport
 * @param {(value: number) => number} yOf
 * @param {Place} place
 */
function drawPiece(image, piece, viewport, yOf, {faint, strong}) {
	const {time, low, high, last, count} = piece.part;
	const {first, last: end} = range(piece);
	const left = Math.max(Math.floor(timeToX(viewport, piece.from)), 0);
	const right = Math.min(Math.ceil(timeToX(viewport, piece.to)), image.width);
	const zero = yOf(0);
	for (let i = first; i < end; i++) {
		const x = Math.floor(timeToX(viewport, time[i]));
		const next = i + 1 < count ? Math.floor(timeToX(viewport, time[i + 1])) : right;
		const from = Math.max(x, left);
		const to = Math.min(Math.max(next, x + 1), right);
		const y = yOf(last[i]);
		fillBox(image, from, to, Math.min(y, zero), Math.max(y, zero), faint);
		/* Only the first pixel is where it went up and down; after that it stays what it was at last. */
		fillBox(image, from, Math.min(x + 1, to), yOf(high[i]), yOf(low[i]) + 1, strong);
		fillBox(image, from, to, y, y + 1, strong);
	}
}

/**
 * @param {Image} image
 * @param {number} left
 * @param {number} right
 * @param {number} top
 * @param {number} bottom
 * @param {number} colour
 */
function fillBox({pixels, width, height}, left, right, top, bottom, colour) {
	const last = Math.min(bottom, height);
	for (let y = Math.max(top, 0); y < last; y++) {
		for (let x = left; x < right; x++)
			pixels[y * width + x] = colour;
	}
}
