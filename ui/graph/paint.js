// SPDX-License-Identifier: Apache-2.0
/** The meaning of the colours of items, and the legend. */

import {swatch} from "../pages/plots.js";
import {nameColour} from "../shared/colours.js";
import {element} from "../shared/dom.js";
import {duration} from "../shared/format.js";

/**
 * @typedef {import("./picture.js").Item} Item
 * @typedef {import("./picture.js").Picture} Picture
 *
 * @typedef {object} Paint
 * @property {string} colour
 * @property {number} strength 0 to 1
 */

const HOT = "#d1495b";
const NONE = "#9aa5b1";

/** @type {Record<string, {title: string, figure?: "self_ns" | "device_ns" | "critical_ns"}>} */
export const PAINTS = {
	time: {title: "time", figure: "self_ns"},
	device: {title: "device"},
	critical: {title: "critical path", figure: "critical_ns"},
	device_time: {title: "device time", figure: "device_ns"},
	type: {title: "type"},
};

/**
 * The last part of "/job:localhost/replica:0/task:0/device:GPU:0".
 * @param {string} name
 */
export function shortDevice(name) {
	return name.replace(/^.*\/device:/, "");
}

/** @param {Item} item @param {string} paint */
function nameOf(item, paint) {
	if (paint === "type")
		return item.node ? item.type || "unknown" : "scope";
	return item.is_on_several ? "several" : item.device ? shortDevice(item.device) : "unknown";
}

/** @param {string} name */
const colourOf = (name) => (name === "unknown" || name === "several" || name === "scope" ? NONE : nameColour(name));

/** @param {string | null} device of a lane */
export const laneColour = (device) => (device ? nameColour(shortDevice(device)) : NONE);

/** @param {string | null} device of a lane */
export const laneName = (device) => (device ? shortDevice(device) : "several devices, or none");

/** @param {Item} item */
export const deviceColour = (item) => colourOf(nameOf(item, "device"));

/**
 * @param {Item} item
 * @param {string} paint
 * @param {Picture} picture
 * @returns {Paint}
 */
export function paintOf(item, paint, picture) {
	const {figure} = PAINTS[paint];
	if (!figure)
		return {colour: colourOf(nameOf(item, paint)), strength: 0.42};
	const most = picture.most[figure];
	/* The square root, so that a hundredth can still be distinguished from nothing. */
	return {colour: HOT, strength: most > 0 ? 0.85 * Math.sqrt(item[figure] / most) : 0};
}

/**
 * @param {string} paint
 * @param {Picture} picture
 */
export function createLegend(paint, picture) {
	const {figure} = PAINTS[paint];
	if (figure) {
		const most = picture.most[figure];
		return most === 0 ? [element("span", {class: "quiet"}, "none in this graph")] : [
			element("span", {}, "0"), element("span", {class: "graph-heat", "aria-hidden": "true"}),
			element("span", {}, duration(most))];
	}
	/** @type {Map<string, number>} */
	const names = new Map();
	for (const item of picture.items.filter((each) => !each.is_open))
		names.set(nameOf(item, paint), (names.get(nameOf(item, paint)) ?? 0) + 1);
	const shown = [...names].sort((a, b) => b[1] - a[1]).slice(0, 7).map(([name]) => name);
	return [...shown.map((name) => element("span", {class: "graph-key"}, swatch(colourOf(name)), name)),
		names.size > shown.length && element("span", {class: "quiet"}, `and ${names.size - shown.length} more`)];
}
