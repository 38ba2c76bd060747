// SPDX-License-Identifier: Apache-2.0
/**
 * The window of time, and where its moments lie on the canvas. Pixels are those of the canvas, of which a
 * screen may have several for one of CSS.
 *
 *     x = (time − from) · width / (to − from)
 *
 * A slice begins in the pixel floor(x) and is at least one pixel wide.
 */

const NARROWEST_NS = 20;
/** How much of the window may show what is before or after the trace. */
const BEYOND = 0.8;

/**
 * @typedef {object} Viewport
 * @property {number} from in ns
 * @property {number} to
 * @property {number} width in pixels
 */

/**
 * @param {Viewport} viewport
 * @param {number} time
 */
export function timeToX({from, to, width}, time) {
	return ((time - from) * width) / (to - from);
}

/**
 * @param {Viewport} viewport
 * @param {number} x
 */
export function xToTime({from, to, width}, x) {
	return from + (x * (to - from)) / width;
}

/**
 * Short in URLs, and finer than any pixel.
 * @param {number} time
 */
const rounded = (time) => Math.round(time * 100) / 100;

/**
 * The nearest window that is not absurd: neither too narrow, nor much wider than the trace, nor beside it.
 * @param {number} from
 * @param {number} to
 * @param {number} span of the trace
 */
export function sensibleWindow(from, to, span) {
	const width = Math.min(Math.max(to - from, NARROWEST_NS), span * 1.25 + NARROWEST_NS);
	const middle = (from + to) / 2;
	const low = Math.min(Math.max(middle - width / 2, -width * BEYOND), span - width * (1 - BEYOND));
	return {from: rounded(low), to: rounded(low + width)};
}

/**
 * @param {{from: number, to: number}} window
 * @param {number} factor below 1: nearer
 * @param {number} anchor the time that stays where it is
 * @param {number} span
 */
export function zoomed({from, to}, factor, anchor, span) {
	const width = Math.max((to - from) * factor, NARROWEST_NS);
	const share = (anchor - from) / (to - from);
	return sensibleWindow(anchor - share * width, anchor + (1 - share) * width, span);
}

/**
 * @param {{from: number, to: number}} window
 * @param {number} time by which it moves
 * @param {number} span
 */
export function panned({from, to}, time, span) {
	return sensibleWindow(from + time, to + time, span);
}

/**
 * The window moved, not zoomed, so that a stretch of time is in sight; as it is where that is so already.
 * @param {{from: number, to: number}} window
 * @param {number} from
 * @param {number} to
 * @param {number} span
 */
export function revealed(window, from, to, span) {
	const {from: low, to: high} = window;
	if (to > low && from < high && (to - from >= high - low || (from >= low && to <= high)))
		return {from: low, to: high};
	const middle = (from + to) / 2;
	return sensibleWindow(middle - (high - low) / 2, middle + (high - low) / 2, span);
}
