// SPDX-License-Identifier: Apache-2.0
/**
 * Draws a picture on a canvas: boxes, edges, items, texts, in this order. Draws only what is in the window and can be
 * recognised at its scale: from afar, items are plain rectangles and edges are hair lines.
 */

import {bytes, counted, duration} from "../shared/format.js";
import {themeColour} from "../shared/theme.js";
import {deviceColour, laneColour, laneName, paintOf} from "./paint.js";
import {meet} from "./picture.js";

/**
 * @typedef {import("./picture.js").Item} Item
 * @typedef {import("./picture.js").Edge} Edge
 * @typedef {import("./picture.js").Picture} Picture
 * @typedef {import("./camera.js").Camera} Camera
 *
 * @typedef {object} Look
 * @property {Picture} picture
 * @property {Camera} camera
 * @property {string} paint
 * @property {Item | null} current
 * @property {Item | null} hovered
 * @property {ReturnType<Picture["whereFound"]>} matches
 */

const FONT = "system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif";
const CONTROL = [4, 4];
const STRIPE = 5;
/** Scales from which on details are drawn. */
const ROUND = 0.25;
const BOTH_LINES = 0.55;
/** Of type, in pixels of the screen: what is wanted, and what can still be read. */
const COMFORTABLE = 11;
const SMALLEST_TYPE = 6.5;
/** How far the ends of an edge that has no route reach out. */
const END = 16;

/** @param {CanvasRenderingContext2D} context @param {number[]} points */
function trace(context, points) {
	context.moveTo(points[0], points[1]);
	for (let i = 2; i < points.length; i += 2) {
		const [fromX, fromY, x, y] = points.slice(i - 2, i + 2);
		const half = (fromY + y) / 2;
		if (x === fromX || y === fromY)
			context.lineTo(x, y);
		else
			context.bezierCurveTo(fromX, half, x, half, x, y);
	}
}

/**
 * A rectangle with round corners, as a path.
 * @param {CanvasRenderingContext2D} context
 * @param {import("./camera.js").Rectangle} rectangle
 * @param {number} radius
 */
function roundRectangle(context, {x, y, width, height}, radius) {
	context.beginPath();
	context.moveTo(x + radius, y);
	context.arcTo(x + width, y, x + width, y + height, radius);
	context.arcTo(x + width, y + height, x, y + height, radius);
	context.arcTo(x, y + height, x, y, radius);
	context.arcTo(x, y, x + width, y, radius);
	context.closePath();
}

/** @param {CanvasRenderingContext2D} context @param {number[]} points of which the last is where it points to */
function arrow(context, points) {
	const [x, y] = points.slice(-2);
	const [beforeX, beforeY] = points.slice(-4);
	const length = points.length === 8 && beforeY === y ? Math.hypot(x - beforeX, y - beforeY) : 0;
	const [dx, dy] = length > 0 ? [(x - beforeX) / length, 0] : [0, beforeY <= y ? 1 : -1];
	context.moveTo(x, y);
	context.lineTo(x - 7 * dx - 3.5 * dy, y - 7 * dy - 3.5 * dx);
	context.lineTo(x - 7 * dx + 3.5 * dy, y - 7 * dy + 3.5 * dx);
	context.closePath();
}

/** @param {Item} item */
const titleOf = (item) => (item.scope || item.children === 0 ? item.title.trim() || "(no name)"
	: `${item.children} × ${item.type || item.title}`);

export class Painter {
	/** @param {HTMLCanvasElement} canvas */
	constructor(canvas) {
		this.canvas = canvas;
		this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
		/** @type {Map<string, string>} */
		this.shortened = new Map();
		this.colours = this.#readColours();
	}

	/** When colours have changed. */
	readTheme() {
		this.colours = this.#readColours();
	}

	#readColours() {
		return Object.fromEntries(["background", "panel", "raised", "line", "text", "quiet", "accent", "mark",
			"selection", "warning"].map((name) => [name, themeColour(`--${name}`)]));
	}

	/** @param {Look} look */
	draw(look) {
		const {context, canvas} = this;
		const {camera, picture} = look;
		const ratio = canvas.width / camera.width;
		const scale = camera.scale * ratio;
		context.setTransform(1, 0, 0, 1, 0, 0);
		context.fillStyle = this.colours.background;
		context.fillRect(0, 0, canvas.width, canvas.height);
		context.setTransform(scale, 0, 0, scale, (camera.width / 2 - camera.x * camera.scale) * ratio,
			(camera.height / 2 - camera.y * camera.scale) * ratio);
		const window = camera.window;
		const items = picture.items.filter((item) => meet(item, window));
		for (const box of items.filter((item) => item.is_open))
			this.#drawBox(box, look);
		const lanes = picture.lanes.filter((lane) => meet(lane, window));
		for (const lane of lanes)
			this.#drawLane(lane, look);
		this.#drawEdges(picture.edges.filter((edge) => meet(edge, window)), look);
		for (const item of items) {
			if (item.is_open)
				this.#drawBoxTitle(item, look);
			else
				this.#drawItem(item, look);
		}
		for (const lane of lanes)
			this.#drawLaneName(lane, look);
		if (look.current)
			this.#drawFrame(look.current, this.colours.selection, 2.5, look);
	}

	/** @param {Item} box @param {Look} look */
	#drawBox(box, {camera, hovered}) {
		const {context, colours} = this;
		roundRectangle(context, box, 8);
		context.fillStyle = box.depth % 2 === 0 ? colours.panel : colours.background;
		context.fill();
		context.strokeStyle = box === hovered ? colours.accent : colours.line;
		context.lineWidth = 1 / Math.min(camera.scale, 1);
		context.stroke();
	}

	/**
	 * A device's part of a box.
	 * @param {import("./picture.js").Lane} lane
	 * @param {Look} look
	 */
	#drawLane({x, y, width, height, device}, {camera}) {
		const {context} = this;
		context.fillStyle = laneColour(device);
		context.globalAlpha = 0.1;
		context.fillRect(x, y, width, height);
		context.globalAlpha = 1;
		context.fillRect(x, y, width, 2 / Math.min(camera.scale, 1));
	}

	/**
	 * The name of its device, above it or at the upper edge of the window.
	 * @param {import("./picture.js").Lane} lane
	 * @param {Look} look
	 */
	#drawLaneName({x, y, width, height, device}, {camera}) {
		const {context, colours} = this;
		const size = Math.min(Math.max(11, COMFORTABLE / camera.scale), height / 5);
		if (size * camera.scale < SMALLEST_TYPE)
			return;
		context.font = `600 ${size}px ${FONT}`;
		context.textBaseline = "bottom";
		context.textAlign = "right";
		const text = this.#shorten(laneName(device), width - 8);
		const bottom = Math.min(Math.max(y - 2, camera.window.y + 1.5 * size), y + height);
		context.strokeStyle = colours.background;
		context.lineWidth = size / 3;
		context.strokeText(text, x + width - 4, bottom);
		context.fillStyle = laneColour(device);
		context.fillText(text, x + width - 4, bottom);
		context.textAlign = "left";
	}

	/**
	 * Above the edges that pass it.
	 * @param {Item} box
	 * @param {Look} look
	 */
	#drawBoxTitle(box, {camera}) {
		const {context, colours} = this;
		/* From afar the title is larger than life, as long as there is room for it. */
		const size = Math.min(Math.max(12, COMFORTABLE / camera.scale), box.height / 5);
		if (size * camera.scale < 6)
			return;
		context.font = `600 ${size}px ${FONT}`;
		context.textBaseline = "top";
		const title = this.#shorten(`− ${box.title}`, box.width - 16);
		context.strokeStyle = box.depth % 2 === 0 ? colours.panel : colours.background;
		context.lineWidth = size / 4;
		context.strokeText(title, box.x + 8, box.y + 4);
		context.fillStyle = colours.quiet;
		context.fillText(title, box.x + 8, box.y + 4);
	}

	/** @param {Edge[]} edges @param {Look} look */
	#drawEdges(edges, look) {
		const {context, colours} = this;
		const {camera, current, picture} = look;
		const isNear = camera.scale >= ROUND;
		const touched = edges.filter((edge) => current && (edge.from === current || edge.to === current));
		const hair = 1 / Math.min(Math.max(camera.scale, 0.05), 1);
		const width = (/** @type {Edge} */ edge) => (edge.bytes && picture.most.bytes > 0
			? 1 + 3.5 * Math.sqrt(edge.bytes / picture.most.bytes) : 1) * (isNear ? 1 : hair);
		context.globalAlpha = isNear ? 0.75 : 0.45;
		this.#strokeEdges(edges, width, colours.quiet, isNear);
		context.globalAlpha = 1;
		const crossing = edges.filter(({isCrossing, kind}) => isCrossing && kind === "data");
		this.#strokeEdges(crossing, (edge) => Math.max(width(edge), 2 * hair), colours.warning, isNear);
		if (camera.scale >= BOTH_LINES)
			this.#drawAmounts(crossing);
		if (touched.length > 0)
			this.#strokeEdges(touched, (edge) => Math.max(width(edge), 1.8 * hair), colours.accent, isNear, true);
	}

	/**
	 * What crosses from one device to another, in bytes.
	 * @param {Edge[]} edges
	 */
	#drawAmounts(edges) {
		const {context, colours} = this;
		context.font = `600 10px ${FONT}`;
		context.textBaseline = "middle";
		context.lineWidth = 3;
		context.strokeStyle = colours.background;
		context.fillStyle = colours.warning;
		for (const {bytes: amount, points} of edges.filter((edge) => edge.bytes)) {
			const at = 2 * Math.floor(points.length / 4);
			context.strokeText(bytes(amount ?? 0), points[at] + 5, points[at + 1] - 8);
			context.fillText(bytes(amount ?? 0), points[at] + 5, points[at + 1] - 8);
		}
	}

	/**
	 * @param {Edge[]} edges
	 * @param {(edge: Edge) => number} width
	 * @param {string} colour
	 * @param {boolean} isNear
	 * @param {boolean} [isWhole] also those that are cut
	 */
	#strokeEdges(edges, width, colour, isNear, isWhole = false) {
		const {context} = this;
		context.strokeStyle = context.fillStyle = colour;
		/* Lines of one style are one path: a hundred times faster than a path each. */
		/** @type {Map<string, Edge[]>} */
		const styles = new Map();
		for (const edge of edges) {
			const style = `${edge.kind} ${width(edge).toFixed(1)}`;
			const others = styles.get(style);
			if (others)
				others.push(edge);
			else
				styles.set(style, [edge]);
		}
		for (const group of styles.values()) {
			context.lineWidth = width(group[0]);
			context.setLineDash(group[0].kind === "control" && isNear ? CONTROL : []);
			context.beginPath();
			for (const edge of group)
				this.#traceEdge(edge, isWhole);
			context.stroke();
		}
		context.setLineDash([]);
		if (!isNear)
			return;
		context.beginPath();
		for (const edge of edges)
			arrow(context, edge.points);
		context.fill();
	}

	/** @param {Edge} edge @param {boolean} isWhole */
	#traceEdge(edge, isWhole) {
		const {context} = this;
		const {points} = edge;
		if (!edge.is_cut || isWhole) {
			trace(context, points);
			return;
		}
		const [x, y, toX, toY] = points;
		const down = edge.is_back ? -1 : 1;
		context.moveTo(x, y);
		context.lineTo(x, y + END * down);
		context.moveTo(x - 3, y + END * down);
		context.lineTo(x + 3, y + END * down);
		context.moveTo(toX, toY - END * down);
		context.lineTo(toX, toY);
	}

	/** @param {Item} item @param {Look} look */
	#drawItem(item, look) {
		const {context, colours} = this;
		const {colour, strength} = paintOf(item, look.paint, look.picture);
		const isNear = look.camera.scale >= ROUND;
		roundRectangle(context, item, isNear ? (item.scope ? 4 : 9) : 0);
		context.fillStyle = colours.raised;
		context.fill();
		context.globalAlpha = strength;
		context.fillStyle = colour;
		context.fill();
		context.globalAlpha = 1;
		if (item.width * look.camera.scale >= 6) {
			context.strokeStyle = item === look.hovered ? colours.accent : colours.quiet;
			context.lineWidth = item === look.hovered ? 2 : 0.8;
			context.stroke();
			if (item.children > 0 && isNear) {
				context.beginPath(); /* a second edge behind it: there is more inside */
				context.moveTo(item.x + 3, item.y + item.height + 3);
				context.lineTo(item.x + item.width + 3, item.y + item.height + 3);
				context.lineTo(item.x + item.width + 3, item.y + 3);
				context.stroke();
			}
		}
		if (isNear)
			this.#drawStripe(item);
		if (look.matches.marked.has(item))
			this.#drawFrame(item, colours.mark, 4, look);
		if (look.camera.scale >= BOTH_LINES)
			this.#drawTexts(item, look.matches.scopes.get(item) ?? 0, look.camera.scale);
		else
			this.#drawTitle(item, look.camera.scale);
	}

	/**
	 * The device that it runs on, whatever the colour of the rest means.
	 * @param {Item} item
	 */
	#drawStripe(item) {
		const {context} = this;
		const {x, y, width, height} = item;
		if (!item.device && !item.is_on_several)
			return;
		context.save();
		roundRectangle(context, {x, y, width, height}, item.scope ? 4 : 9);
		context.clip();
		context.fillStyle = deviceColour(item);
		context.fillRect(x, y, STRIPE, height);
		context.restore();
	}

	/**
	 * From afar: the title alone, as large as there is room for, and cut only where it could not be read any more.
	 * @param {Item} item
	 * @param {number} scale
	 */
	#drawTitle(item, scale) {
		const {context} = this;
		const largest = Math.min(Math.max(12, COMFORTABLE / scale), item.height * 0.6);
		const least = SMALLEST_TYPE / scale;
		if (largest < least)
			return;
		const title = titleOf(item);
		const room = item.width - 6;
		context.font = `500 12px ${FONT}`;
		const size = Math.max(Math.min(largest, (12 * room) / context.measureText(title).width), least);
		context.textAlign = "center";
		context.textBaseline = "middle";
		context.fillStyle = this.colours.text;
		context.font = `500 ${size.toFixed(1)}px ${FONT}`;
		context.fillText(this.#shorten(title, room), item.x + item.width / 2, item.y + item.height / 2);
		context.textAlign = "left";
	}

	/**
	 * Two lines, as large as there is room for when they are seen from afar.
	 * @param {Item} item
	 * @param {number} found inside
	 * @param {number} scale
	 */
	#drawTexts(item, found, scale) {
		const {context, colours} = this;
		const middle = item.x + item.width / 2;
		const room = item.width - 14;
		const isOne = item.children === 0;
		const below = found > 0 ? `${found} of ${item.children} found` :
			[item.scope ? counted(item.children, "operation") : isOne ? item.type !== item.title && item.type : "alike",
				item.self_ns > 0 && duration(item.self_ns)].filter(Boolean).join(" · ");
		context.textAlign = "center";
		context.textBaseline = "alphabetic";
		context.fillStyle = colours.text;
		const size = Math.min(Math.max(12, 10 / scale), 18).toFixed(1);
		context.font = `${isOne ? 500 : 600} ${size}px ${FONT}`;
		context.fillText(this.#shorten(titleOf(item), room), middle, item.y + (below ? 17 : 23));
		context.font = `${Math.min(Math.max(10, 7.5 / scale), 13).toFixed(1)}px ${FONT}`;
		context.globalAlpha = 0.75;
		context.fillText(this.#shorten(below, room), middle, item.y + 31);
		context.globalAlpha = 1;
		context.textAlign = "left";
	}

	/** @param {Item} item @param {string} colour @param {number} width @param {Look} look */
	#drawFrame(item, colour, width, {camera}) {
		const {context} = this;
		const room = 2 / Math.min(camera.scale, 1);
		roundRectangle(context, {x: item.x - room, y: item.y - room, width: item.width + 2 * room,
			height: item.height + 2 * room}, 8);
		context.strokeStyle = colour;
		context.lineWidth = width / Math.min(camera.scale, 1);
		context.stroke();
	}

	/**
	 * The end of a path says more than its beginning.
	 * @param {string} text
	 * @param {number} room in the font that is set
	 */
	#shorten(text, room) {
		const key = `${this.context.font} ${Math.round(room)} ${text}`;
		let short = this.shortened.get(key);
		if (short === undefined) {
			short = text;
			for (let left = text.length; left > 1 && this.context.measureText(short).width > room; left--)
				short = `…${text.slice(text.length - left + 1)}`;
			if (this.shortened.size > 20000)
				this.shortened.clear();
			this.shortened.set(key, short);
		}
		return short;
	}
}
