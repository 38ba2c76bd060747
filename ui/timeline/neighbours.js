// SPDX-License-Identifier: Apache-2.0
/**
 * Goes from one slice to the next: in its lane, or with the same name.
 *
 * The server merges slices that begin in the same pixel. To find the very next slice, the page requests ever longer
 * stretches of the time after a slice until one has content, and then ever finer parts of its first pixel until it
 * is a single slice.
 */

import {firstAbove} from "./sorted.js";

const PIXELS = 256;
const ROUNDS = 24;
const WIDER = 8;

/**
 * @typedef {{table: string, row: number, from: number, to: number}} Found
 */

/**
 * The slice of a lane that begins first at or after a moment, or last before it.
 * @param {import("../shared/api.js").Api} api
 * @param {{band: number, table: string, lane: number, time: number, span: number}} place
 * @param {boolean} isBackward
 * @returns {Promise<Found | null>}
 */
export async function nextInLane(api, {band, table, lane, time, span}, isBackward) {
	let width = PIXELS;
	let edge = time;
	for (let round = 0; round < ROUNDS; round++) {
		const from = isBackward ? edge - width : edge;
		const parts = await api.slices({bands: [band], lanes: [lane + 1], from, to: from + width, pixels: PIXELS});
		const part = parts.find((each) => each.lane === lane);
		/* Times are whole numbers, so half of one is between them. */
		const i = !part ? -1 : isBackward ? firstAbove(part.start, edge - 0.5) - 1 : firstAbove(part.start, edge - 0.5);
		if (!part || i < 0 || i >= part.count || part.start[i] < from || part.start[i] >= from + width) {
			if (isBackward ? from < 0 : from + width > span)
				return null;
			edge = isBackward ? from : from + width;
			width *= WIDER;
			continue;
		}
		const density = width / PIXELS;
		if (part.slices[i] === 1 || density <= 1)
			return {table, row: part.row[i], from: part.start[i], to: part.end[i]};
		const pixel = Math.floor(from + Math.floor((part.start[i] - from) / density) * density);
		width = Math.ceil(density);
		edge = isBackward ? pixel + width : pixel;
	}
	return null;
}

/**
 * The next slice of the same name, anywhere.
 * @param {import("../shared/api.js").Api} api
 * @param {{table: string, label: number, from: number}} slice
 * @param {boolean} isBackward
 * @returns {Promise<{table: string, row: number, time: number} | null>}
 */
export async function nextOfName(api, {table, label, from}, isBackward) {
	try {
		return await api.json("next", {table, label, from, backward: isBackward ? 1 : 0});
	} catch {
		return null; /* there is none */
	}
}
