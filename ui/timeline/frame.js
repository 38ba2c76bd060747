// SPDX-License-Identifier: Apache-2.0
/** The elements of the timeline (drawn in timeline.js). */

import {element} from "../shared/dom.js";

/**
 * @param {HTMLElement} tools
 * @param {HTMLElement} tree
 * @param {HTMLElement} tooltip
 * @param {{missing?: string[], groups: unknown[]}} trace
 */
export function createFrame(tools, tree, tooltip, {missing = [], groups}) {
	const canvas = element("canvas", {class: "timeline-canvas", tabindex: 0, role: "application",
		"aria-label": "Slices. Once a slice is selected, arrow keys go from slice to slice; ? lists all keys."});
	const overlay = element("canvas", {class: "timeline-overlay", "aria-hidden": "true"});
	const axis = element("canvas", {class: "timeline-axis", role: "img", "aria-label": "Time axis"});
	const scroller = element("div", {class: "timeline-scroll", tabindex: -1}, tree);
	const hair = element("div", {class: "timeline-hair", "aria-hidden": "true", hidden: true});
	const drawing = element("div", {class: "timeline-drawing"}, canvas, overlay, hair, tooltip);
	const status = element("p", {class: "timeline-status", role: "status", "aria-live": "polite"});
	const failure = element("p", {class: "timeline-failure warning", role: "alert", hidden: true});
	const empty = element("p", {class: "timeline-empty", role: "status", hidden: groups.length > 0},
		"This trace contains nothing to draw.");
	const whole = element("div", {class: "timeline"},
		tools,
		element("div", {class: "timeline-main"},
			element("div", {class: "timeline-corner"}), axis, scroller, drawing, empty),
		failure,
		missing.length > 0 && element("p", {class: "timeline-missing"},
			element("strong", {}, "Not in this trace: "), missing.join(" ")),
		status);
	return {element: whole, canvas, overlay, axis, scroller, drawing, hair, status, failure, empty};
}

/**
 * Gives canvases as many pixels as the screen has where they are.
 * @param {HTMLElement} place
 * @param {HTMLCanvasElement[]} canvases
 * @param {number} ratio pixels for one of CSS
 */
export function resize(place, canvases, ratio) {
	const width = Math.max(Math.round(place.clientWidth * ratio), 1);
	const height = Math.max(Math.round(place.clientHeight * ratio), 1);
	for (const canvas of canvases) {
		if (canvas.width !== width || canvas.height !== height) {
			canvas.width = width;
			canvas.height = height;
		}
	}
}
