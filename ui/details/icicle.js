// SPDX-License-Identifier: Apache-2.0
/**
 * Stacks of a selection as an icicle: what threads and queues did in it, name by name, the callers above. The width of
 * a frame is its time; a click selects its name.
 */

import {responsive} from "../pages/plots.js";
import {drawing, element} from "../shared/dom.js";
import {counted, duration, percent} from "../shared/format.js";
import {shorten} from "../shared/names.js";
import {tracksOf} from "../timeline/area.js";
import {inkOf} from "../timeline/palette.js";
import {section} from "./parts.js";

/**
 * @typedef {object} Frame
 * @property {number | null} parent
 * @property {string} table
 * @property {number} label
 * @property {string} text
 * @property {number} count
 * @property {number} total_ns
 * @property {number} self_ns
 */

/* In pixels. */
const ROW = 18;
const LETTER = 6.5;
const ROOM = 8;
/** Tables whose slices are frames. */
const STACKED = ["node_executions", "scopes", "calls", "system_calls"];
/** Those during which it says something what their track did. */
const ON_TRACK = [...STACKED, "states", "path", "steps"];

/**
 * The tracks whose stacks are shown with a slice: its own; with a gap, those of the threads that it waited for.
 * Null: all; none: there are no stacks.
 * @param {any} trace
 * @param {{table: string, track: number | null, gap?: unknown, chain?: {at: {band: number | null} | null}[]}} answer of
 *     `row`
 * @returns {number[] | null}
 */
export function stacksOf(trace, {table, track, gap, chain}) {
	if (!gap)
		return ON_TRACK.includes(table) && track !== null ? [track] : [];
	const tracks = (chain ?? []).map(({at}) => (typeof at?.band === "number" ? trace.bands[at.band].track : null));
	const threads = [...new Set(tracks)].filter((each) => each !== null);
	return threads.length > 0 ? threads : null;
}

/**
 * The tracks of an area that can have stacks; null: all.
 * @param {any} trace
 * @param {Set<number> | null} area
 */
export const stackTracks = (trace, area) => area && [...new Set([...STACKED, "device_operations", "states"]
	.flatMap((table) => tracksOf(trace, area, table) ?? []))];

/**
 * Where each frame begins and how wide it is, as shares of the whole, and how deep it is: beside those before it in the
 * same one.
 * @param {Frame[]} frames callers before those that they call
 * @param {number} total
 */
function place(frames, total) {
	/** @type {{x: number, depth: number, used: number}[]} */
	const places = [];
	let used = 0;
	for (const {parent, total_ns} of frames) {
		const around = parent === null ? null : places[parent];
		const x = around ? around.x + around.used : used;
		places.push({x, depth: around ? around.depth + 1 : 0, used: 0});
		if (around)
			around.used += total_ns;
		else
			used += total_ns;
	}
	return places.map(({x, depth}, i) => ({x: x / total, depth, width: frames[i].total_ns / total}));
}

/**
 * Siblings by their time, the longest first; callers stay before those that they call.
 * @param {Frame[]} frames
 * @returns {Frame[]}
 */
function sorted(frames) {
	/** @type {Map<number | null, number[]>} */
	const inside = new Map();
	frames.forEach(({parent}, i) => inside.set(parent, [...inside.get(parent) ?? [], i]));
	/** @type {Frame[]} */
	const result = [];
	const add = (/** @type {number | null} */ parent, /** @type {number | null} */ place) => {
		const longest = (inside.get(parent) ?? []).sort((a, b) => frames[b].total_ns - frames[a].total_ns);
		for (const i of longest) {
			result.push({...frames[i], parent: place});
			add(i, result.length - 1);
		}
	};
	add(null, null);
	return result;
}

/**
 * @param {import("./parts.js").Context} context
 * @param {{from: number, to: number}} window
 * @param {number[] | null} tracks null: all
 */
export async function icicle({api, store, colours}, {from, to}, tracks) {
	if (tracks?.length === 0)
		return null;
	const answer = await api.json("icicle", {from: Math.floor(from), to: Math.ceil(to), tracks: tracks?.join(",")});
	if (answer.frames.length === 0)
		return null;
	const frames = sorted(answer.frames);
	const places = place(frames, answer.total_ns);
	const height = (Math.max(...places.map(({depth}) => depth)) + 1) * ROW;
	const draw = (/** @type {number} */ whole) => frames.map((frame, i) => {
		const colour = colours.of(frame.table, frame.label);
		const [x, width, y] = [places[i].x * whole, places[i].width * whole, places[i].depth * ROW];
		return drawing("g", {class: "icicle-frame",
			click: () => store.select(store.keyOfLabel(frame.table, frame.label))},
		drawing("rect", {x, y, width: Math.max(width - 1, 0.5), height: ROW - 1,
			fill: colour}),
		drawing("title", {}, `${frame.text}: ${duration(frame.total_ns)}, ` +
			`${percent(frame.total_ns, answer.total_ns)}, itself ${duration(frame.self_ns)}, ` +
			counted(frame.count, "time")),
		width > ROOM + 3 * LETTER && drawing("text", {x: x + ROOM / 2, y: y + 13, fill: inkOf(colour)},
			shorten(frame.text, Math.floor((width - ROOM) / LETTER))));
	});
	return section("Stacks", element("p", {class: "quiet"}, `${duration(answer.total_ns)} in all; callers above`),
		responsive("Stacks of the selection", height, draw).element);
}
