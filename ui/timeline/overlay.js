// SPDX-License-Identifier: Apache-2.0
/**
 * Draws on a separate canvas above the rows, so that moving the pointer does not redraw the rows: the selected slice,
 * arrows to its causes and effects, the critical path, a selected stretch of time.
 */

import {themeColour} from "../shared/theme.js";
import {onScreen} from "./rows.js";
import {firstAbove} from "./sorted.js";
import {timeToX} from "./viewport.js";

const NO_TRACK = 0xffffffff;
const HEAD = 7;
/** Arrows that go less far to the side go up or down. */
const STEEP = 24;

/**
 * @typedef {object} OverlayFrame
 * @property {import("./rows.js").Layout} layout
 * @property {number} top
 * @property {import("./viewport.js").Viewport} viewport
 * @property {number} ratio
 * @property {import("../shared/state.js").Selected | null} selected
 * @property {{from: number, to: number} | null} stretch
 * @property {Set<number> | null} area bands to which the stretch is limited
 * @property {import("./rows.js").Band | null} path the critical path, where it is to be shown
 */

function readColours() {
	return {
		accent: themeColour("--accent"),
		selection: themeColour("--selection"),
		background: themeColour("--background"),
		mark: themeColour("--mark"),
	};
}

export class Overlay {
	/**
	 * @param {HTMLCanvasElement} canvas
	 * @param {import("./sources.js").Sources} bands
	 */
	constructor(canvas, bands) {
		this.canvas = canvas;
		this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
		this.bands = bands;
		this.colours = readColours();
	}

	readTheme() {
		this.colours = readColours();
	}

	/** @param {OverlayFrame} frame */
	draw(frame) {
		const {context, canvas} = this;
		canvas.hidden = !frame.stretch && !frame.path && frame.selected?.kind !== "row";
		if (canvas.hidden)
			return;
		context.clearRect(0, 0, canvas.width, canvas.height);
		context.lineJoin = "round";
		if (frame.stretch)
			this.#drawStretch(frame, frame.stretch);
		if (frame.path)
			this.#drawPath(frame, frame.path);
		if (frame.selected?.kind === "row")
			this.#drawSelected(frame, frame.selected);
	}

	/**
	 * A stretch of time, on all tracks or on some.
	 * @param {OverlayFrame} frame
	 * @param {{from: number, to: number}} stretch
	 */
	#drawStretch({viewport, layout, top, ratio, area}, {from, to}) {
		const {context, canvas} = this;
		const left = timeToX(viewport, from);
		const right = timeToX(viewport, to);
		const isIn = (/** @type {import("./rows.js").Row} */ {band, stripes}) =>
			(band ? [band] : stripes).some((each) => area?.has(each.band));
		const boxes = !area ? [{y: 0, height: canvas.height}]
			: layout.inSight(top, canvas.height / ratio).filter(isIn).map((row) =>
				({y: onScreen(row, row.top, top) * ratio, height: row.height * ratio}));
		context.fillStyle = this.colours.accent;
		context.globalAlpha = area ? 0.28 : 0.14;
		for (const {y, height} of boxes)
			context.fillRect(left, y, right - left, height);
		context.globalAlpha = 0.9;
		context.fillRect(Math.floor(left), 0, 1, canvas.height);
		context.fillRect(Math.floor(right), 0, 1, canvas.height);
		context.globalAlpha = 1;
	}

	/**
	 * The path as a line from track to track.
	 * @param {OverlayFrame} frame
	 * @param {import("./rows.js").Band} path
	 */
	#drawPath({layout, top, viewport, ratio}, path) {
		const line = new Path2D();
		let last = /** @type {number | null} */ (null);
		for (const {from, to, parts} of this.bands.slicesOf(path, 1, viewport.from, viewport.to)
			.sort((a, b) => a.from - b.from)) {
			for (const {count, start, end, shade} of parts) {
				for (let i = Math.max(firstAbove(end, from) - 1, 0); i < count && start[i] < to; i++) {
					const height = shade[i] === NO_TRACK ? null : layout.heightOfTrack(shade[i], top);
					if (height === null)
						continue;
					const y = height * ratio;
					const x = timeToX(viewport, start[i]);
					if (last === null)
						line.moveTo(x, y);
					else if (last !== y)
						line.lineTo(x, last);
					line.lineTo(x, y);
					line.lineTo(timeToX(viewport, end[i]), y);
					last = y;
				}
			}
		}
		this.#stroke(line, this.colours.mark, 2.5 * ratio, ratio);
	}

	/**
	 * A line that is seen on any ground.
	 * @param {Path2D} line
	 * @param {string} colour
	 * @param {number} width
	 * @param {number} halo
	 */
	#stroke(line, colour, width, halo) {
		const {context} = this;
		context.strokeStyle = this.colours.background;
		context.lineWidth = width + 2 * halo;
		context.stroke(line);
		context.strokeStyle = colour;
		context.lineWidth = width;
		context.stroke(line);
	}

	/**
	 * @param {OverlayFrame} frame
	 * @param {import("../shared/state.js").Selected} selected
	 */
	#drawSelected(frame, selected) {
		const {layout, top, viewport, ratio} = frame;
		const {band, lane, arrows} = selected.answer;
		const from = Number(selected.from);
		const to = Number(selected.to);
		for (const arrow of arrows ?? [])
			this.#drawArrow(frame, arrow);
		const place = typeof band === "number" ? layout.place(band, lane) : null;
		if (!place)
			return;
		/* A slice much wider than the window would be drawn slowly, and its sides are not seen anyway. */
		const left = Math.max(Math.floor(timeToX(viewport, from)), -10);
		const right = Math.min(Math.max(Math.round(timeToX(viewport, to)), left + 1), this.canvas.width + 10);
		const box = new Path2D();
		box.rect(left - ratio, (onScreen(place, place.y, top) - 0.5) * ratio, right - left + 2 * ratio,
			(place.height + 1) * ratio);
		this.#stroke(box, this.colours.selection, 2 * ratio, ratio);
	}

	/**
	 * @param {OverlayFrame} frame
	 * @param {any} arrow
	 */
	#drawArrow({layout, top, viewport, ratio}, {from, to}) {
		const ends = [from, to].map(({band, lane, time}) => {
			const place = typeof band === "number" ? layout.place(band, lane ?? 0) : null;
			return place && {x: timeToX(viewport, time), y: onScreen(place, place.y + place.height / 2, top) * ratio};
		});
		const [tail, head] = ends;
		if (!tail || !head || Math.max(tail.x, head.x) < 0 || Math.min(tail.x, head.x) > viewport.width)
			return;
		const isSteep = Math.abs(head.x - tail.x) < STEEP * ratio && Math.abs(head.y - tail.y) > HEAD * ratio;
		const curve = new Path2D();
		curve.moveTo(tail.x, tail.y);
		if (isSteep) {
			const middle = (tail.y + head.y) / 2;
			curve.bezierCurveTo(tail.x, middle, head.x, middle, head.x, head.y);
			this.#drawLine(curve, head, 0, Math.sign(head.y - tail.y), ratio);
		} else {
			const bend = Math.min(Math.max(Math.abs(head.x - tail.x) / 2, STEEP * ratio), 140 * ratio);
			curve.bezierCurveTo(tail.x + bend, tail.y, head.x - bend, head.y, head.x, head.y);
			this.#drawLine(curve, head, 1, 0, ratio);
		}
	}

	/**
	 * @param {Path2D} curve
	 * @param {{x: number, y: number}} head where it ends
	 * @param {number} right whether it ends going to the right: 0 or 1
	 * @param {number} down or down: 0, 1, or -1 for up
	 * @param {number} ratio
	 */
	#drawLine(curve, {x, y}, right, down, ratio) {
		const length = HEAD * ratio;
		const tip = new Path2D();
		tip.moveTo(x, y);
		tip.lineTo(x - length * (right + down / 2), y - length * (down + right / 2));
		tip.lineTo(x - length * (right - down / 2), y - length * (down - right / 2));
		tip.closePath();
		this.#stroke(curve, this.colours.accent, 1.75 * ratio, ratio);
		this.#stroke(tip, this.colours.accent, ratio, ratio);
		this.context.fillStyle = this.colours.accent;
		this.context.fill(tip);
	}
}
