// SPDX-License-Identifier: Apache-2.0
/** What the keyboard does on the timeline. */

import {GESTURES} from "./input.js";
import {nextInLane, nextOfName} from "./neighbours.js";
import {laneAt} from "./rows.js";
import {firstAbove} from "./sorted.js";
import {panned, revealed, zoomed} from "./viewport.js";

const ZOOM_STEP = 1.25;
const PAN_STEP = 0.1;
/** Beyond the edge of a lane, in pixels. */
const EPSILON = 1.5;

/**
 * @typedef {import("./timeline.js").Timeline} Timeline
 * @typedef {import("./neighbours.js").Found} Found
 */

/**
 * Selects a slice and brings it into sight without zooming.
 * @param {Timeline} timeline
 * @param {Found | null} found
 */
function goTo({store}, found) {
	if (found)
		store.select(store.keyOfRow(found.table, found.row), revealed(store.state, found.from, found.to, store.span));
}

/**
 * The first lane in sight, or the first of a row, that has a slice in the window.
 * @param {Timeline} timeline
 * @param {import("./rows.js").Row[]} rows
 */
function firstLane({store: {state}, bands}, rows) {
	for (const row of rows) {
		const {band, lanes} = row.band ? row : {band: row.stripes[0], lanes: 1};
		if (band?.kind !== "slices")
			continue;
		const parts = bands.slicesOf(band, lanes, state.from, state.to).flatMap((piece) => piece.parts)
			.filter(({start, end, count}) => count > 0 && start[0] < state.to && end[count - 1] > state.from);
		if (parts.length > 0)
			return {band: band.band, table: band.table, lane: Math.min(...parts.map(({lane}) => lane))};
	}
	return null;
}

/**
 * Selects the first slice in sight where none is selected; the last, if the way is back.
 * @param {Timeline} timeline
 * @param {boolean} isBackward
 * @param {import("./rows.js").Row[]} [rows]
 */
export async function goToFirst(timeline, isBackward, rows = timeline.rowsInSight()) {
	const {context, store} = timeline;
	const place = firstLane(timeline, rows);
	if (!place)
		return;
	const from = Math.max(Math.floor(store.state.from), 0);
	const to = Math.min(Math.ceil(store.state.to), store.span);
	const found = await nextInLane(context.api, {...place, time: isBackward ? to : from, span: store.span}, isBackward);
	goTo(timeline, found ?? await nextInLane(context.api, {...place, time: from, span: store.span}, !isBackward));
}

/**
 * @param {Timeline} timeline
 * @param {boolean} isBackward
 */
async function goAlongLane(timeline, isBackward) {
	const {context, store} = timeline;
	const {selected} = store;
	if (selected?.kind !== "row" || typeof selected.answer.band !== "number")
		return goToFirst(timeline, isBackward);
	const {band, lane, table, from} = selected.answer;
	const time = isBackward ? from : from + 1;
	return goTo(timeline, await nextInLane(context.api, {band, table, lane, time, span: store.span}, isBackward));
}

/**
 * @param {import("../main.js").Context} context
 * @param {boolean} isBackward
 */
export async function goToSameName({api, store}, isBackward) {
	const {selected} = store;
	if (!selected || selected.table === null || selected.label === null)
		return;
	const from = selected.from ?? (isBackward ? store.state.to : store.state.from);
	const next = await nextOfName(api, {table: selected.table, label: selected.label, from}, isBackward);
	if (next)
		store.select(store.keyOfRow(next.table, next.row), revealed(store.state, next.time, next.time + 1, store.span));
}

/**
 * The slice of the next lane above or below that is nearest in time.
 * @param {Timeline} timeline
 * @param {1 | -1} step
 */
function goAcrossLanes(timeline, step) {
	const {store, layout, bands} = timeline;
	const answer = store.selected?.kind === "row" ? store.selected.answer : null;
	const place = answer && typeof answer.band === "number" ? layout.place(answer.band, answer.lane) : null;
	if (!answer || !place)
		return goToFirst(timeline, step < 0);
	const middle = (Math.max(answer.from, store.state.from) + Math.min(answer.to, store.state.to)) / 2;
	let y = step > 0 ? place.y + place.height + EPSILON : place.y - EPSILON;
	while (y > 0 && y < layout.height) {
		const row = layout.rows[layout.indexAt(y)];
		const lane = laneAt(row, y);
		const isOther = lane && (lane.band.band !== answer.band || lane.lane !== answer.lane);
		const part = isOther && lane.band.kind === "slices" &&
			bands.slicesOf(lane.band, lane.lane + 1, store.state.from, store.state.to).flatMap(({parts}) => parts)
				.find((each) => each.lane === lane.lane && each.count > 0);
		if (lane && part) {
			const i = Math.min(firstAbove(part.end, middle), part.count - 1);
			return goTo(timeline, {table: lane.band.table, row: part.row[i], from: part.start[i], to: part.end[i]});
		}
		const edge = step > 0 ? row.top + row.height + EPSILON : row.top - EPSILON;
		const next = y + step * row.laneHeight;
		y = row.band && (step > 0 ? next < edge : next > edge) ? next : edge;
	}
	return undefined;
}

/**
 * Makes what is selected, or else what is in sight, the selected stretch of time.
 * @param {Timeline} timeline
 */
function markStretch({store}) {
	const {selected, state} = store;
	const {from, to} = selected?.from != null && selected.to != null ? {from: selected.from, to: selected.to} : state;
	store.update({select: "", options: {stretch: `${Math.floor(from)},${Math.ceil(to)}`, area: null}}, "push");
}

/** @param {Timeline} timeline */
export function declareKeys(timeline) {
	const {context, store} = timeline;
	const zoom = (/** @type {number} */ factor) => () =>
		store.update(zoomed(store.state, factor, timeline.pointerTime(), store.span));
	const pan = (/** @type {number} */ share) => () =>
		store.update(panned(store.state, share * (store.state.to - store.state.from), store.span));
	const view = "timeline";
	context.keys.add(
		{view, keys: ["w", "+", "="], about: "zoom in at the pointer", run: zoom(1 / ZOOM_STEP)},
		{view, keys: ["s", "-"], about: "zoom out", run: zoom(ZOOM_STEP)},
		{view, keys: ["a"], about: "pan left", run: pan(-PAN_STEP)},
		{view, keys: ["d"], about: "pan right", run: pan(PAN_STEP)},
		{view, keys: ["f"], about: "zoom to the selection", run: () => timeline.showSelection()},
		{view, keys: ["0", "Home"], about: "show the whole trace", run: () => timeline.showAll()},
		{view, keys: ["m"], about: "select the slice's time, or all visible time", run: () => markStretch(timeline)},
		{view, keys: ["ArrowLeft"], about: "previous slice in the lane, or the last in sight",
			run: () => goAlongLane(timeline, true)},
		{view, keys: ["ArrowRight"], about: "next slice in the lane, or the first in sight",
			run: () => goAlongLane(timeline, false)},
		{view, keys: ["ArrowUp"], about: "slice above", run: () => goAcrossLanes(timeline, -1)},
		{view, keys: ["ArrowDown"], about: "slice below", run: () => goAcrossLanes(timeline, 1)},
		{view, keys: [","], about: "previous slice with the same name", run: () => goToSameName(context, true)},
		{view, keys: ["."], about: "next slice with the same name", run: () => goToSameName(context, false)},
		{view, keys: ["Enter"], about: "open or close its group", run: () => timeline.toggleSelected()},
		{view, keys: ["p"], about: "pin its group: it stays in sight", run: () => timeline.pinSelected()});
	context.keys.addGestures(...GESTURES);
}
