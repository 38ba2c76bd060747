// SPDX-License-Identifier: Apache-2.0
/** Ticks of the time axis at round times, and their texts. */

const UNITS = [{name: "s", ns: 1e9}, {name: "ms", ns: 1e6}, {name: "µs", ns: 1e3}, {name: "ns", ns: 1}];
/** A digit is about so wide, as a share of the height of the type. */
const DIGIT = 0.62;

/**
 * The next larger of 1, 2, 5, 10, 20, …
 * @param {number} value
 */
export function roundUp(value) {
	const power = 10 ** Math.floor(Math.log10(value));
	const digit = [1, 2, 5, 10].find((each) => each * power >= value * (1 - 1e-9)) ?? 10;
	return digit * power;
}

/**
 * A moment with as many digits as moments that lie `step` apart need to differ.
 * @param {number} time
 * @param {number} step
 * @param {number} [largest] of the moments that are written in the same unit
 */
export function momentText(time, step, largest = Math.abs(time)) {
	const unit = UNITS.find(({ns}) => largest >= ns) ?? UNITS[3];
	const digits = Math.max(0, Math.ceil(Math.log10(unit.ns / step) - 1e-9));
	return `${(time / unit.ns).toFixed(Math.min(digits, 9))} ${unit.name}`;
}

/**
 * @param {import("./viewport.js").Viewport} viewport
 * @param {number} typeHeight in pixels
 * @returns {{time: number, text: string}[]}
 */
export function ticks(viewport, typeHeight) {
	const {from, to, width} = viewport;
	const density = (to - from) / width;
	const largest = Math.max(Math.abs(from), Math.abs(to));
	const widest = (/** @type {number} */ step) => (momentText(largest, step).length + 3) * DIGIT * typeHeight;
	let step = Math.max(roundUp(density * typeHeight * 5), 1);
	while (step / density < widest(step))
		step = roundUp(step * 1.5);
	const found = [];
	for (let i = Math.ceil(from / step); i * step <= to; i++)
		found.push({time: i * step, text: i === 0 ? "0" : momentText(i * step, step, largest)});
	return found;
}
