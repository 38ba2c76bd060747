// SPDX-License-Identifier: Apache-2.0
/**
 * The time axis: the position of the window in the trace, and ticks at round times.
 *
 *     ▁▁▁▁▁▁▁▁▁▁████▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁     the whole trace, and the window
 *     1.20 s     1.25 s     1.30 s          moments
 */

import {themeColour} from "../shared/theme.js";
import {momentText} from "./ticks.js";
import {timeToX} from "./viewport.js";

const STRIP = 8;

/**
 * @typedef {object} AxisFrame
 * @property {import("./viewport.js").Viewport} viewport
 * @property {number} ratio
 * @property {number} span
 * @property {{time: number, text: string}[]} ticks
 * @property {{from: number, to: number} | null} stretch
 * @property {number | null} pointer the time under it
 */

/**
 * Whether a height, in CSS pixels, is that of the strip that shows the whole trace.
 * @param {number} y
 */
export const isOnStrip = (y) => y < STRIP;

/**
 * @param {HTMLCanvasElement} canvas
 * @param {AxisFrame} frame
 */
export function drawAxis(canvas, {viewport, ratio, span, ticks, stretch, pointer}) {
	const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
	const {width, height} = canvas;
	context.fillStyle = themeColour("--panel");
	context.fillRect(0, 0, width, height);
	drawStrip(context, viewport, ratio, span);
	if (stretch) {
		const left = timeToX(viewport, stretch.from);
		context.fillStyle = themeColour("--accent");
		context.globalAlpha = 0.25;
		context.fillRect(left, STRIP * ratio, timeToX(viewport, stretch.to) - left, height);
		context.globalAlpha = 1;
	}
	context.font = `${11 * ratio}px system-ui, "Segoe UI", "DejaVu Sans", sans-serif`;
	context.textBaseline = "middle";
	for (const {time, text} of ticks) {
		const x = Math.floor(timeToX(viewport, time));
		context.fillStyle = themeColour("--line");
		context.fillRect(x, STRIP * ratio, 1, height);
		context.fillStyle = themeColour("--quiet");
		if (x + context.measureText(text).width + 8 * ratio < width)
			context.fillText(text, x + 4 * ratio, 21 * ratio);
	}
	if (pointer !== null)
		drawPointer(context, pointer, viewport, ratio);
	context.fillStyle = themeColour("--line");
	context.fillRect(0, height - 1, width, 1);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {import("./viewport.js").Viewport} viewport
 * @param {number} ratio
 * @param {number} span
 */
function drawStrip(context, {from, to, width}, ratio, span) {
	context.fillStyle = themeColour("--line");
	context.fillRect(0, 0, width, STRIP * ratio);
	const left = (Math.max(from, 0) / span) * width;
	const right = (Math.min(to, span) / span) * width;
	context.fillStyle = themeColour("--accent");
	context.fillRect(Math.min(left, width - 3 * ratio), 0, Math.max(right - left, 3 * ratio), STRIP * ratio);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} time
 * @param {import("./viewport.js").Viewport} viewport
 * @param {number} ratio
 */
function drawPointer(context, time, viewport, ratio) {
	const text = momentText(time, (viewport.to - viewport.from) / viewport.width);
	const room = context.measureText(text).width + 10 * ratio;
	const x = Math.min(Math.max(timeToX(viewport, time) - room / 2, 0), viewport.width - room);
	context.fillStyle = themeColour("--text");
	context.fillRect(x, 12 * ratio, room, 18 * ratio);
	context.fillStyle = themeColour("--background");
	context.fillText(text, x + 5 * ratio, 21 * ratio);
}
