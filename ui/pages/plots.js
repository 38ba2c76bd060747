// SPDX-License-Identifier: Apache-2.0
/** Plots as SVG: they are sharp at any size, print, and their colours follow the theme. */

import {drawing, replaceContent} from "../shared/dom.js";
import {bytes, count, duration} from "../shared/format.js";

/**
 * A part of a whole.
 * @typedef {{name: string, value: number, colour: string}} Part
 */

const MARGIN = {left: 64, right: 14, top: 10, bottom: 24};

/** @param {string} text */
const tooltip = (text) => drawing("title", {}, text);

/**
 * Parts of a whole, side by side.
 * @param {string} label
 * @param {Part[]} parts
 * @param {number} whole
 */
export function stackedBar(label, parts, whole) {
	let before = 0;
	const rects = parts.map(({name, value, colour}) => {
		const x = `${(100 * before) / whole}%`;
		before += value;
		return drawing("rect", {x, width: `${(100 * value) / whole}%`, height: "100%", fill: colour},
			tooltip(`${name}: ${duration(value)}`));
	});
	return drawing("svg", {class: "stacked", role: "img", "aria-label": label}, ...rects);
}

/**
 * A square of a colour, for legends.
 * @param {string} colour
 */
export function swatch(colour) {
	return drawing("svg", {class: "swatch", "aria-hidden": "true"},
		drawing("rect", {width: "100%", height: "100%", rx: 2, fill: colour}));
}

/**
 * An SVG that is drawn anew when its width changes.
 * @param {string} label
 * @param {number} height
 * @param {(width: number) => import("../shared/dom.js").Child[]} draw
 * @returns {{element: SVGElement, redraw: () => void}}
 */
export function responsive(label, height, draw) {
	const svg = drawing("svg", {class: "plot", role: "img", "aria-label": label, height});
	const redraw = () => {
		const {width} = svg.getBoundingClientRect();
		if (width <= 0)
			return;
		svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
		replaceContent(svg, ...draw(width));
	};
	new ResizeObserver(redraw).observe(svg);
	return {element: svg, redraw};
}

/**
 * A linear scale from values to pixels, and back.
 * @typedef {object} Scale
 * @property {number} from
 * @property {number} to
 * @property {(value: number) => number} at
 * @property {(pixel: number) => number} value
 *
 * @param {number} from
 * @param {number} to
 * @param {number} first pixel of `from`
 * @param {number} last pixel of `to`
 * @returns {Scale}
 */
export function linear(from, to, first, last) {
	const span = (to - from) || 1;
	return {
		from, to,
		at: (value) => first + ((value - from) / span) * (last - first),
		value: (pixel) => from + ((pixel - first) / (last - first)) * span,
	};
}

/**
 * The scale of time of a plot.
 * @param {number} from
 * @param {number} to
 * @param {number} width
 */
export const horizontal = (from, to, width) => linear(from, to, MARGIN.left, width - MARGIN.right);
/**
 * The scale of values of a plot, from 0.
 * @param {number} most
 * @param {number} height
 */
export const vertical = (most, height) => linear(0, most, height - MARGIN.bottom, MARGIN.top);

/**
 * Round values within a range: 1, 2, 5 times a power of ten (of two for bytes).
 * @param {number} from
 * @param {number} to
 * @param {number} most how many
 * @param {boolean} [isBinary]
 */
export function roundValues(from, to, most, isBinary = false) {
	const least = (to - from) / Math.max(most, 1);
	const base = isBinary ? 2 ** Math.floor(Math.log2(least)) : 10 ** Math.floor(Math.log10(least));
	const step = base * ((isBinary ? [1, 2, 4] : [1, 2, 5, 10]).find((each) => each * base >= least) ?? 1);
	/** @type {number[]} */
	const values = [];
	for (let i = Math.ceil(from / step); i * step <= to && values.length <= 2 * most; i++)
		values.push(i * step);
	return {step, values};
}

/**
 * A time, as exact as the distance to the next needs.
 * @param {number} ns
 * @param {number} step
 */
function timeText(ns, step) {
	const power = Math.min(Math.max(Math.floor(Math.log10(Math.abs(ns)) / 3 + 1e-9), 0), 3);
	const size = 1000 ** power;
	const digits = Math.max(0, Math.ceil(Math.log10(size / step) - 1e-9));
	return ns === 0 ? "0" : `${(ns / size).toFixed(digits)} ${["ns", "µs", "ms", "s"][power]}`;
}

/**
 * Texts below a plot; the last does not reach out of it.
 * @param {Scale} scale
 * @param {number} height
 * @param {number[]} values
 * @param {(value: number) => string} textOf
 */
function lowerAxis(scale, height, values, textOf) {
	const isLast = (/** @type {number} */ value) => scale.at(scale.to) - scale.at(value) < MARGIN.left / 2;
	return drawing("g", {class: "axis"}, ...values.map((value) => drawing("text",
		{x: scale.at(value), y: height - 6, "text-anchor": isLast(value) ? "end" : "middle"}, textOf(value))));
}

/**
 * The axis of time below a plot.
 * @param {Scale} scale
 * @param {number} height
 */
export function timeAxis(scale, height) {
	const {step, values} = roundValues(scale.from, scale.to, 8);
	return lowerAxis(scale, height, values, (value) => timeText(value, step));
}

/**
 * Lines across a plot, with their values beside them.
 * @param {Scale} scale
 * @param {number} width
 * @param {"ns" | "bytes" | "count"} unit
 */
export function valueAxis(scale, width, unit) {
	const {step, values} = roundValues(0, scale.to, 5, unit === "bytes");
	const text = (/** @type {number} */ value) =>
		unit === "bytes" ? bytes(value) : unit === "ns" ? timeText(value, step) : count(value);
	const shown = unit === "count" ? values.filter(Number.isInteger) : values;
	return drawing("g", {class: "axis"}, ...shown.flatMap((value) => [
		drawing("line", {x1: MARGIN.left, x2: width - MARGIN.right, y1: scale.at(value), y2: scale.at(value)}),
		drawing("text", {x: MARGIN.left - 6, y: scale.at(value) + 4, "text-anchor": "end"}, text(value))]));
}

/**
 * How many took how long, on a logarithmic axis.
 * @param {string} label
 * @param {{low_ns: number, high_ns: number, count: number}[]} buckets
 * @param {{name: string, value: number}[]} marks such as the median
 */
export function histogram(label, buckets, marks) {
	const height = 180;
	const logarithm = (/** @type {number} */ ns) => Math.log10(Math.max(ns, 1));
	const most = Math.max(...buckets.map((bucket) => bucket.count), 1);
	return responsive(label, height, (width) => {
		const low = logarithm(buckets[0].low_ns);
		const high = Math.max(logarithm(buckets[buckets.length - 1].high_ns), low + 0.01);
		const x = horizontal(low, high, width);
		const y = vertical(most, height);
		const powers = roundValues(low, high, Math.max(Math.floor(width / 110), 2)).values;
		return [
			valueAxis(y, width, "count"),
			...buckets.filter((bucket) => bucket.count > 0).map((bucket) => {
				const left = x.at(logarithm(bucket.low_ns));
				const right = x.at(logarithm(bucket.high_ns));
				return drawing("rect", {class: "bar-mark", x: left, width: Math.max(right - left - 1, 1),
					y: y.at(bucket.count), height: y.at(0) - y.at(bucket.count)},
				tooltip(`${duration(bucket.low_ns)} to ${duration(bucket.high_ns)}: ${count(bucket.count)}`));
			}),
			...marks.map(({name, value}) => {
				const at = x.at(logarithm(value));
				return drawing("g", {class: "mark"}, drawing("line", {x1: at, x2: at, y1: MARGIN.top, y2: y.at(0)}),
					tooltip(`${name}: ${duration(value)}`));
			}),
			lowerAxis(x, height, powers, (power) => duration(10 ** power)),
		];
	}).element;
}

/**
 * How far a scale must reach so that the usual values can be told apart: values beyond the far fence of a box plot
 * (three times the middle half above it) are cut off.
 * @param {number[]} values
 */
export function robustTop(values) {
	const sorted = [...values].sort((a, b) => a - b);
	const quantile = (/** @type {number} */ share) => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
	const fence = Math.max(quantile(0.75) + 3 * (quantile(0.75) - quantile(0.25)), 1.5 * quantile(0.5), 1);
	const usual = sorted.filter((value) => value <= fence);
	return {fence, top: (usual[usual.length - 1] ?? 1) * (usual.length < sorted.length ? 1.15 : 1)};
}

/**
 * A bar of some height for a column, cut off at the top of the scale with a mark on it.
 * @param {{x: number, width: number, y: Scale, kind: string}} place
 * @param {number} value
 * @param {Part[]} parts that it consists of; none: it is of one colour
 * @returns {import("../shared/dom.js").Child[]}
 */
function barMarks({x, width, y, kind}, value, parts) {
	const box = (/** @type {number} */ from, /** @type {number} */ to) => {
		const [low, high] = [y.at(Math.min(from, y.to)), y.at(Math.min(to, y.to))];
		return {x, width, y: high, height: Math.max(low - high, from === 0 ? 1 : 0)};
	};
	let before = 0;
	const cut = `M${x},${y.at(y.to) + 7}h${width}l${-width / 2},-7Z`;
	const stacked = parts.map((part) => {
		before += part.value;
		return drawing("rect", {class: "stack-mark", fill: part.colour, ...box(before - part.value, before)});
	});
	return [parts.length === 0 || kind.includes("chosen") ? drawing("rect", {class: kind, ...box(0, value)}) : null,
		...stacked,
		value > y.to && drawing("path", {class: "cut-mark", d: cut})];
}

/**
 * Durations in their order, a bar each; where there are more than pixels, the shortest and the longest of a pixel. The
 * scale is that of the usual ones; those beyond it are cut.
 * @param {object} bars
 * @param {number[]} bars.durations
 * @param {(index: number) => string} bars.nameOf what stands below a bar
 * @param {(index: number) => Part[]} [bars.partsOf] what a duration consists of
 * @param {number} bars.width
 * @param {number} bars.height
 * @param {number} [bars.chosen] -1: none
 * @param {number | null} [bars.median]
 */
export function durationBars({durations, nameOf, partsOf, width, height, chosen = -1, median = null}) {
	const x = horizontal(0, durations.length, width);
	const y = vertical(robustTop(durations).top, height);
	const columns = Math.min(durations.length, Math.max(Math.floor(x.at(durations.length) - x.at(0)), 1));
	const each = durations.length / columns;
	const wide = x.at(each) - x.at(0);
	const place = (/** @type {string} */ kind, /** @type {number} */ column) =>
		({x: x.at(column * each), width: wide > 3 ? wide - 1 : wide, y, kind});
	/** @type {import("../shared/dom.js").Child[]} */
	const bars = [];
	for (let column = 0; column < columns; column++) {
		const first = Math.floor(column * each);
		const here = durations.slice(first, Math.max(Math.floor((column + 1) * each), first + 1));
		const isChosen = chosen >= first && chosen < first + here.length;
		const kind = isChosen ? "bar-mark chosen" : here.length > 1 ? "bar-mark range" : "bar-mark";
		const longest = Math.max(...here);
		bars.push(...barMarks(place(kind, column), longest, partsOf?.(first + here.indexOf(longest)) ?? []));
		if (here.length > 1 && !isChosen && !partsOf)
			bars.push(...barMarks(place("bar-mark", column), Math.min(...here), []));
	}
	const medianLine = median !== null && drawing("g", {class: "mark"},
		drawing("line", {x1: MARGIN.left, x2: width - MARGIN.right, y1: y.at(median), y2: y.at(median)}),
		tooltip(`median: ${duration(median)}`));
	const named = roundValues(0, durations.length - 1, Math.floor(width / 90)).values.filter(Number.isInteger);
	const middles = linear(-0.5, durations.length - 0.5, x.at(0), x.at(durations.length));
	const names = lowerAxis(middles, height, named, nameOf);
	const at = x.at(chosen + 0.5);
	const pointer = chosen >= 0 && (wide < 4 || partsOf !== undefined) &&
		drawing("line", {class: "moment", x1: at, x2: at, y1: MARGIN.top, y2: y.at(0)});
	return {scale: x, content: [valueAxis(y, width, "ns"), ...bars, medianLine, pointer, names]};
}

/**
 * A value over time: filled below the highest of each pixel, with a line where it was lowest.
 * @param {import("../shared/api.js").SeriesPart} part
 * @param {Scale} x
 * @param {Scale} y
 */
export function area({count: points, time, low, high, last}, x, y) {
	const left = x.at(x.from);
	const right = x.at(x.to);
	const within = (/** @type {number} */ ns) => Math.min(Math.max(x.at(ns), left), right);
	const base = y.at(0);
	const edge = [`L${points > 0 ? within(time[0]) : left},${base}`];
	const least = [];
	for (let i = 0; i < points; i++) {
		const at = within(time[i]);
		const next = i + 1 < points ? within(time[i + 1]) : right;
		const after = y.at(last[i]);
		edge.push(`L${at},${y.at(high[i])}`, `L${Math.min(at + 1, next)},${after}`, `L${next},${after}`);
		if (low[i] < last[i])
			least.push(`M${at},${y.at(low[i])}V${y.at(high[i])}`);
	}
	return drawing("g", {class: "area"},
		drawing("path", {class: "area-fill", d: `M${left},${base}${edge.join("")}L${right},${base}Z`}),
		drawing("path", {class: "area-low", d: least.join("") || `M${right},${base}`}));
}
