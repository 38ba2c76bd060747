// SPDX-License-Identifier: Apache-2.0
/**
 * Draws the visible rows. Slices are painted directly into an image: a lane is one line of pixels, made once and
 * copied over its height, so that the cost of a frame depends on its pixels, not on the number of slices. The canvas
 * then draws text on top.
 *
 *     records of a lane   ▏▎ ██████ ▌                    line     ▏▎ ██████ ▌
 *                                                        copied   ▏▎ ██████ ▌   height times
 *     selected name                                      last two ▁▁            in another colour
 */

import {bytes, count} from "../shared/format.js";
import {themeColour} from "../shared/theme.js";
import {mix, pixelOf} from "./palette.js";
import {placeInRow} from "./rows.js";
import {drawSeries} from "./series.js";
import {firstAbove} from "./sorted.js";
import {Texts} from "./texts.js";
import {timeToX} from "./viewport.js";

/** Lanes lower than this have no text. */
const TEXT_HEIGHT = 14;
/** Of merged slices that cover nothing of their pixel this much is drawn, of 256. */
const FAINTEST = 90;
const IDLE_TINT = 120;
const MARK_HEIGHT = 2;
const WIDE_ENOUGH_FOR_EDGE = 4;

/**
 * @typedef {object} Frame
 * @property {import("./rows.js").Layout} layout
 * @property {number} top how far it is scrolled, in CSS pixels
 * @property {import("./viewport.js").Viewport} viewport
 * @property {number} ratio pixels for one of CSS
 * @property {number[]} grid moments
 * @property {{table: string, label: number} | null} highlight
 * @property {boolean} showIdle
 *
 * Where the names of a lane's slices are written, and those that are, by row.
 * @typedef {{y: number, ratio: number, written: Map<number, import("./texts.js").Text>}} TextPlace
 *
 * @typedef {object} Materials
 * @property {import("./sources.js").Sources} bands
 * @property {import("./palette.js").Palette} palette
 * @property {(table: string, label: number) => string} labelText
 */

function readColours() {
	return {
		background: pixelOf(themeColour("--background")),
		heading: pixelOf(themeColour("--panel")),
		rule: pixelOf(themeColour("--line")),
		mark: pixelOf(themeColour("--selection")),
		series: pixelOf(themeColour("--accent")),
		quiet: themeColour("--quiet"),
	};
}

export class Painter {
	/**
	 * @param {HTMLCanvasElement} canvas
	 * @param {Materials} materials
	 */
	constructor(canvas, {bands, palette, labelText}) {
		this.canvas = canvas;
		this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", {alpha: false}));
		this.bands = bands;
		this.palette = palette;
		this.labelText = labelText;
		this.texts = new Texts(this.context);
		this.image = new ImageData(1, 1);
		/* The image as numbers, and lines of it. */
		this.pixels = new Uint32Array(this.image.data.buffer);
		this.line = new Uint32Array(1);
		this.marks = new Uint8Array(1);
		this.blank = new Uint32Array(1);
		this.headingLine = new Uint32Array(1);
		this.idleLine = new Uint32Array(1);
		this.colours = readColours();
	}

	readTheme() {
		this.colours = readColours();
	}

	/** @param {Frame} frame */
	draw(frame) {
		this.#prepare(frame);
		const {layout, top, ratio} = frame;
		let isUnderPins = layout.pinnedRows > 0;
		for (const row of layout.inSight(top, this.canvas.height / ratio)) {
			if (isUnderPins && row.isPinned) {
				isUnderPins = false;
				this.texts.clip(layout.pinnedHeight * ratio);
			}
			this.#drawRow(row, row.isPinned ? {...frame, top: 0} : frame);
		}
		this.context.putImageData(this.image, 0, 0);
		this.texts.draw(11 * ratio);
	}

	/**
	 * Empties the image.
	 * @param {Frame} frame
	 */
	#prepare(frame) {
		const {width, height} = this.canvas;
		if (this.image.width !== width || this.image.height !== height)
			this.#allocate(width, height);
		this.pixels.fill(this.colours.background);
		this.#makeLine(this.blank, this.colours.background, frame);
		this.#makeLine(this.headingLine, this.colours.heading, frame);
		this.texts.clear();
	}

	/**
	 * @param {number} width
	 * @param {number} height
	 */
	#allocate(width, height) {
		this.image = new ImageData(width, height);
		this.pixels = new Uint32Array(this.image.data.buffer);
		this.line = new Uint32Array(width);
		this.marks = new Uint8Array(width);
		this.blank = new Uint32Array(width);
		this.headingLine = new Uint32Array(width);
		this.idleLine = new Uint32Array(width);
	}

	/**
	 * An empty line of a colour, with those of the grid across.
	 * @param {Uint32Array} line
	 * @param {number} colour
	 * @param {Frame} frame
	 */
	#makeLine(line, colour, {grid, viewport}) {
		line.fill(colour);
		for (const time of grid) {
			const x = Math.floor(timeToX(viewport, time));
			if (x >= 0 && x < line.length)
				line[x] = mix(this.colours.rule, colour, 150);
		}
	}

	/**
	 * Copies a line over some height.
	 * @param {Uint32Array} line
	 * @param {number} from
	 * @param {number} to
	 */
	#fill(line, from, to) {
		const {width, height} = this.canvas;
		for (let y = Math.max(from, 0); y < Math.min(to, height); y++)
			this.pixels.set(line, y * width);
	}

	/**
	 * @param {import("./rows.js").Row} row
	 * @param {Frame} frame
	 */
	#drawRow(row, frame) {
		const {top, ratio} = frame;
		const {width, height} = this.canvas;
		const from = Math.round((row.top - top) * ratio);
		const to = Math.round((row.top + row.height - top) * ratio);
		const blank = row.band ? this.blank : this.headingLine;
		this.#fill(blank, from, to);
		if (to > 0 && to <= height)
			this.pixels.fill(this.colours.rule, (to - 1) * width, to * width);
		if (row.band?.kind === "series")
			this.#drawSeriesRow(row, row.band, frame);
		else if (row.band)
			this.#drawBand(row, row.band, frame, this.#underlay(row.band, blank, frame), row.lanes);
		for (const stripe of row.stripes)
			this.#drawBand(row, stripe, frame, blank, 1);
	}

	/**
	 * What is seen between the slices of a band: of a device, why it was idle.
	 * @param {import("./rows.js").Band} band
	 * @param {Uint32Array} blank
	 * @param {Frame} frame
	 */
	#underlay(band, blank, frame) {
		const idle = frame.showIdle && frame.layout.groups.idleOfQueue.get(band.band);
		const line = this.idleLine;
		if (!idle)
			return blank;
		line.set(blank);
		for (const piece of this.bands.slicesOf(idle, 1, frame.viewport.from, frame.viewport.to)) {
			for (const part of piece.parts)
				this.#drawLane(part, piece, idle, line, frame, IDLE_TINT, null);
		}
		return line;
	}

	/**
	 * @param {import("./rows.js").Row} row
	 * @param {import("./rows.js").Band} band
	 * @param {Frame} frame
	 * @param {Uint32Array} blank
	 * @param {number} lanes
	 */
	#drawBand(row, band, frame, blank, lanes) {
		const {top, ratio, viewport, highlight} = frame;
		const pieces = this.bands.slicesOf(band, lanes, viewport.from, viewport.to);
		const isMarked = highlight?.table === band.table;
		for (let lane = 0; lane < lanes; lane++) {
			const place = placeInRow(row, band.band, lane);
			const from = Math.round((place.y - top) * ratio);
			const to = Math.round((place.y + place.height - top) * ratio);
			if (to <= 0 || from >= this.canvas.height)
				continue;
			this.line.set(blank);
			this.marks.fill(0);
			const text = place.height >= TEXT_HEIGHT && row.band
				? {y: (from + to) / 2, ratio, written: new Map()} : null;
			for (const piece of pieces) {
				const part = piece.parts.find((each) => each.lane === lane);
				if (part)
					this.#drawLane(part, piece, band, this.line, frame, 256, text);
			}
			this.#fill(this.line, from, to);
			if (isMarked)
				this.#drawMarks(to - Math.round(MARK_HEIGHT * ratio), to);
		}
	}

	/**
	 * Underlines what has the selected name.
	 * @param {number} from
	 * @param {number} to
	 */
	#drawMarks(from, to) {
		for (let x = 0; x < this.line.length; x++) {
			if (this.marks[x])
				this.line[x] = this.colours.mark;
		}
		this.#fill(this.line, from, to);
	}

	/**
	 * Paints the records of a lane into a line.
	 * @param {import("../shared/api.js").SlicePart} part
	 * @param {{from: number, to: number}} piece
	 * @param {import("./rows.js").Band} band
	 * @param {Uint32Array} line
	 * @param {Frame} frame
	 * @param {number} strength of the colours, of 256
	 * @param {TextPlace | null} text where it is written, if at all
	 */
	#drawLane(part, piece, {table, as}, line, frame, strength, text) {
		const {viewport, highlight} = frame;
		const {start, end, row, slices, shade, label} = part;
		const scale = viewport.width / (viewport.to - viewport.from);
		const left = Math.max(Math.floor(timeToX(viewport, piece.from)), 0);
		const right = Math.min(Math.ceil(timeToX(viewport, piece.to)), line.length);
		const marked = highlight?.table === table ? highlight.label : -1;
		const paintOf = this.palette.of(table);
		const ground = this.colours.background;
		const fewest = as.is_shaded_by_track ? Infinity : 1; /* more slices are as faint as they cover little */
		for (let i = firstAbove(end, piece.from); i < part.count && start[i] < piece.to; i++) {
			const x = Math.floor((start[i] - viewport.from) * scale);
			const begin = Math.max(x, left);
			const stop = Math.min(Math.max(Math.round((end[i] - viewport.from) * scale), x + 1), right);
			const paint = paintOf(label[i]);
			if (begin >= stop || paint.fill === 0)
				continue;
			const share = slices[i] > fewest ? FAINTEST + ((256 - FAINTEST) * shade[i]) / 1000 : 256;
			const colour = share < 256 || strength < 256 ? mix(paint.fill, ground, ((share * strength) / 256) | 0)
				: paint.fill;
			if (stop - begin === 1)
				line[begin] = colour; /* most of them, and a call would cost more than the pixel */
			else
				line.fill(colour, begin, stop);
			if (stop - begin >= WIDE_ENOUGH_FOR_EDGE && x >= left && strength === 256)
				line[x] = paint.edge;
			if (label[i] === marked)
				this.marks.fill(1, begin, stop);
			if (text && stop - begin >= Texts.NARROWEST * text.ratio)
				this.#write(text, row[i], this.labelText(table, label[i]), {from: begin, to: stop}, paint.ink);
		}
	}

	/**
	 * Names a slice once, though each answer of the cache draws a piece of it.
	 * @param {TextPlace} place
	 * @param {number} row of the slice
	 * @param {string} name
	 * @param {{from: number, to: number}} piece
	 * @param {string} ink
	 */
	#write({y, written}, row, name, {from, to}, ink) {
		const other = written.get(row);
		if (other) {
			other.from = Math.min(other.from, from);
			other.to = Math.max(other.to, to);
			return;
		}
		const added = this.texts.add(name, from, to, y, ink);
		if (added)
			written.set(row, added);
	}

	/**
	 * @param {import("./rows.js").Row} row
	 * @param {import("./rows.js").Band} band
	 * @param {Frame} frame
	 */
	#drawSeriesRow(row, band, {top, ratio, viewport}) {
		const parts = this.bands.seriesOf(band, viewport.from, viewport.to)
			.flatMap((piece) => piece.parts.map((part) => ({...piece, part})));
		const {series, background, quiet} = this.colours;
		const place = {y: (row.top - top + TEXT_HEIGHT) * ratio, height: (row.height - TEXT_HEIGHT - 4) * ratio,
			faint: mix(series, background, 80), strong: mix(series, background, 210)};
		const most = drawSeries({pixels: this.pixels, ...size(this.canvas)}, parts, viewport, place);
		if (parts.length)
			this.texts.add(band.unit === "bytes" ? bytes(most) : count(Math.round(most)), 0, this.canvas.width,
				place.y - (TEXT_HEIGHT / 2 - 1) * ratio, quiet);
	}
}

/** @param {HTMLCanvasElement} canvas */
function size({width, height}) {
	return {width, height};
}
