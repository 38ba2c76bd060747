// SPDX-License-Identifier: Apache-2.0
/** Mouse, trackpad, touch and keys of the graph. */

const ZOOM = 1.25;
const STEP = 80;
/** The pointer may move by this many pixels during a click. */
const TREMBLE = 4;

/**
 * @typedef {object} Target what can be done to the graph
 * @property {import("./camera.js").Camera} camera
 * @property {() => void} redraw
 * @property {(x: number, y: number) => void} hover
 * @property {() => void} leave
 * @property {(x: number, y: number) => void} pick
 * @property {(x: number, y: number) => void} toggleAt
 * @property {() => void} fit
 * @property {() => void} toggleLanes
 * @property {() => void} toggle
 * @property {(direction: "up" | "down" | "left" | "right") => void} move
 */

/**
 * @param {HTMLCanvasElement} canvas
 * @param {Target} target
 */
export function listen(canvas, target) {
	const {camera} = target;
	/** @type {Map<number, {x: number, y: number}>} */
	const pressed = new Map();
	let moved = 0;
	canvas.addEventListener("wheel", (event) => {
		event.preventDefault();
		const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 16 : 1;
		if (event.shiftKey)
			camera.pan((event.deltaX || event.deltaY) * lines, 0);
		else if (event.deltaX !== 0 && !event.ctrlKey)
			camera.pan(event.deltaX * lines, event.deltaY * lines);
		else
			camera.zoom(Math.exp((-event.deltaY * lines * (event.ctrlKey ? 3 : 1)) / 400),
				event.offsetX, event.offsetY);
		target.redraw();
	}, {passive: false});
	canvas.addEventListener("pointerdown", (event) => {
		if (event.button !== 0)
			return;
		canvas.setPointerCapture(event.pointerId);
		pressed.set(event.pointerId, {x: event.offsetX, y: event.offsetY});
		moved = 0;
	});
	canvas.addEventListener("pointermove", (event) => {
		const before = pressed.get(event.pointerId);
		if (!before) {
			target.hover(event.offsetX, event.offsetY);
			return;
		}
		const now = {x: event.offsetX, y: event.offsetY};
		const other = [...pressed].find(([id]) => id !== event.pointerId)?.[1];
		moved += Math.hypot(now.x - before.x, now.y - before.y);
		if (moved > TREMBLE) {
			camera.pan((before.x - now.x) / pressed.size, (before.y - now.y) / pressed.size);
			if (other) /* two fingers */
				camera.zoom(Math.hypot(now.x - other.x, now.y - other.y) /
					Math.max(Math.hypot(before.x - other.x, before.y - other.y), 1), other.x, other.y);
			target.redraw();
		}
		pressed.set(event.pointerId, now);
	});
	const release = (/** @type {PointerEvent} */ event) => {
		if (pressed.delete(event.pointerId) && moved <= TREMBLE && event.type === "pointerup")
			target.pick(event.offsetX, event.offsetY);
	};
	canvas.addEventListener("pointerup", release);
	canvas.addEventListener("pointercancel", release);
	canvas.addEventListener("pointerleave", () => target.leave());
	/* Here and not among the keys of the view: Enter on a button is the button's. */
	canvas.addEventListener("keydown", (event) => {
		if (event.key !== "Enter" && event.key !== " ")
			return;
		event.preventDefault();
		target.toggle();
	});
	canvas.addEventListener("dblclick", (event) => target.toggleAt(event.offsetX, event.offsetY));
}

/**
 * @param {import("../shared/keys.js").Keys} keys
 * @param {Target} target
 */
export function declareKeys(keys, target) {
	const view = "graph";
	const change = (/** @type {() => void} */ run) => () => {
		run();
		target.redraw();
	};
	const zoom = (/** @type {number} */ factor) => change(() => target.camera.zoom(factor));
	const pan = (/** @type {number} */ x, /** @type {number} */ y) =>
		change(() => target.camera.pan(x * STEP, y * STEP));
	keys.add(
		{view, keys: ["ArrowUp"], about: "go to an input", run: () => target.move("up")},
		{view, keys: ["ArrowDown"], about: "go to an output", run: () => target.move("down")},
		{view, keys: ["ArrowLeft"], about: "go to the item on the left", run: () => target.move("left")},
		{view, keys: ["ArrowRight"], about: "go to the item on the right", run: () => target.move("right")},
		{view, keys: ["f", "0"], about: "show the whole graph", run: () => target.fit()},
		{view, keys: ["l"], about: "give each device a lane, or none", run: () => target.toggleLanes()},
		{view, keys: ["w", "+", "="], about: "zoom in", run: zoom(ZOOM)},
		{view, keys: ["s", "-"], about: "zoom out", run: zoom(1 / ZOOM)},
		{view, keys: ["a", "Shift+ArrowLeft"], about: "move left", run: pan(-1, 0)},
		{view, keys: ["d", "Shift+ArrowRight"], about: "move right", run: pan(1, 0)},
		{view, keys: ["Shift+ArrowUp"], about: "move up", run: pan(0, -1)},
		{view, keys: ["Shift+ArrowDown"], about: "move down", run: pan(0, 1)});
	keys.addGestures(
		{view, gesture: "Enter, Space", about: "open or close the selected scope"},
		{view, gesture: "drag", about: "move"},
		{view, gesture: "wheel, pinch", about: "zoom"},
		{view, gesture: "double click", about: "open or close a scope"});
}
