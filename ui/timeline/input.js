// SPDX-License-Identifier: Apache-2.0
/**
 * Mouse, trackpad and touch. Positions are CSS pixels of the canvas.
 *
 *     wheel                  scrolls the rows          Ctrl + wheel, pinch    zooms at the pointer
 *     Shift + wheel, sidewards wheel    pans           drag                   pans and scrolls
 *     drag on the axis       selects a stretch of time     Shift + drag      selects it on these tracks
 *     click                  selects                   double click           zooms to the slice
 */

const MOVED = 4;
const WHEEL_LINE = 32;
const ZOOM_SPEED = 0.0022;

/**
 * @typedef {object} Actions
 * @property {(x: number, factor: number) => void} zoom below 1: nearer
 * @property {(x: number) => void} pan
 * @property {(y: number) => void} scroll
 * @property {(from: Point, to: Point, isDone: boolean, isLimited: boolean) => void} stretch limited: to the rows
 * @property {(x: number, y: number) => void} point
 * @property {() => void} leave
 * @property {(x: number, y: number) => void} select
 * @property {(x: number, y: number) => void} zoomTo
 * @property {(x: number) => void} jump to that part of the whole trace
 *
 * @typedef {{x: number, y: number}} Point
 * @typedef {"pan" | "stretch" | "area" | "jump"} Kind of a drag
 */

export const GESTURES = [
	{gesture: "wheel", about: "scroll the tracks", view: "timeline"},
	{gesture: "Ctrl + wheel, pinch", about: "zoom at the pointer", view: "timeline"},
	{gesture: "Shift + wheel", about: "pan", view: "timeline"},
	{gesture: "drag", about: "pan and scroll", view: "timeline"},
	{gesture: "drag on the axis", about: "select a stretch of time", view: "timeline"},
	{gesture: "Shift + drag", about: "select a stretch of time on some tracks", view: "timeline"},
	{gesture: "click", about: "select a slice", view: "timeline"},
	{gesture: "double click", about: "zoom to a slice", view: "timeline"},
];

/**
 * @param {WheelEvent} event
 * @param {Actions} actions
 */
function turnWheel(event, actions) {
	event.preventDefault();
	const unit = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? 1 : WHEEL_LINE;
	const x = event.deltaX * unit;
	const y = event.deltaY * unit;
	if (event.ctrlKey || event.metaKey)
		actions.zoom(event.offsetX, Math.exp(y * ZOOM_SPEED));
	else if (event.shiftKey || Math.abs(x) > Math.abs(y))
		actions.pan(x || y);
	else
		actions.scroll(y);
}

/** What pointers that are down do together: one drags, two pinch. */
class Drag {
	/** @param {Actions} actions */
	constructor(actions) {
		this.actions = actions;
		/** @type {Map<number, Point>} */
		this.points = new Map();
		/** @type {Point} */
		this.began = {x: 0, y: 0};
		this.hasMoved = false;
		/** @type {Kind} */
		this.kind = "pan";
	}

	/**
	 * @param {PointerEvent} event
	 * @param {Kind} kind
	 */
	begin(event, kind) {
		this.points.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
		this.hasMoved = this.points.size > 1;
		this.began = {x: event.offsetX, y: event.offsetY};
		this.kind = kind;
		if (kind === "jump")
			this.actions.jump(event.offsetX);
	}

	/** @param {PointerEvent} event */
	move(event) {
		const before = this.points.get(event.pointerId);
		if (!before)
			return;
		const now = {x: event.offsetX, y: event.offsetY};
		if (Math.hypot(now.x - this.began.x, now.y - this.began.y) >= MOVED)
			this.hasMoved = true;
		if (!this.hasMoved)
			return;
		if (this.points.size === 2)
			this.#pinch(event.pointerId, before, now);
		else if (this.kind === "stretch" || this.kind === "area")
			this.actions.stretch(this.began, now, false, this.kind === "area");
		else if (this.kind === "jump")
			this.actions.jump(now.x);
		else {
			this.actions.pan(before.x - now.x);
			this.actions.scroll(before.y - now.y);
		}
		this.points.set(event.pointerId, now);
	}

	/**
	 * @param {number} id of the finger that moves
	 * @param {Point} before
	 * @param {Point} now
	 */
	#pinch(id, before, now) {
		const other = [...this.points].find(([each]) => each !== id)?.[1];
		if (!other)
			return;
		const distance = (/** @type {Point} */ point) => Math.max(Math.abs(point.x - other.x), 20);
		this.actions.zoom(other.x, distance(before) / distance(now));
		this.actions.scroll((before.y - now.y) / 2);
	}

	/**
	 * @param {PointerEvent} event
	 * @returns {boolean} whether it was a click
	 */
	end(event) {
		if (!this.points.delete(event.pointerId))
			return false;
		if (this.hasMoved && (this.kind === "stretch" || this.kind === "area"))
			this.actions.stretch(this.began, {x: event.offsetX, y: event.offsetY}, true, this.kind === "area");
		return !this.hasMoved && this.kind === "pan" && event.type === "pointerup";
	}
}

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Actions} actions
 * @param {(event: PointerEvent) => Kind} kindOf what a drag that begins there does
 */
export function listen(canvas, actions, kindOf) {
	const drag = new Drag(actions);
	canvas.addEventListener("wheel", (event) => turnWheel(event, actions), {passive: false});
	canvas.addEventListener("pointerdown", (event) => {
		if (event.button !== 0)
			return;
		canvas.setPointerCapture(event.pointerId);
		drag.begin(event, kindOf(event));
	});
	canvas.addEventListener("pointermove", (event) => {
		drag.move(event);
		actions.point(event.offsetX, event.offsetY);
	});
	for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
		canvas.addEventListener(name, (event) => {
			if (drag.end(event))
				actions.select(event.offsetX, event.offsetY);
		});
	}
	canvas.addEventListener("pointerleave", () => actions.leave());
	canvas.addEventListener("dblclick", (event) => actions.zoomTo(event.offsetX, event.offsetY));
}
