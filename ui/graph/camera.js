// SPDX-License-Identifier: Apache-2.0
/** The camera of the graph: which point is in the middle of the canvas, and the scale. */

const SMALLEST = 0.001;
/** What is smaller than that cannot be read; what begins larger than that shows too little. */
const LEGIBLE = 0.55;
const COMFORTABLE = 0.75;
const LARGEST = 4;

/**
 * @typedef {{x: number, y: number, width: number, height: number}} Rectangle
 */

export class Camera {
	constructor() {
		this.x = 0;
		this.y = 0;
		this.scale = 1;
		/** Of the canvas, in CSS pixels. */
		this.width = 1;
		this.height = 1;
	}

	/** @param {number} x on the canvas */
	worldX(x) {
		return this.x + (x - this.width / 2) / this.scale;
	}

	/** @param {number} y on the canvas */
	worldY(y) {
		return this.y + (y - this.height / 2) / this.scale;
	}

	/** @param {number} x of the graph */
	screenX(x) {
		return (x - this.x) * this.scale + this.width / 2;
	}

	/** @param {number} y of the graph */
	screenY(y) {
		return (y - this.y) * this.scale + this.height / 2;
	}

	/**
	 * What of the graph is on the canvas.
	 * @returns {Rectangle}
	 */
	get window() {
		return {x: this.worldX(0), y: this.worldY(0), width: this.width / this.scale, height: this.height / this.scale};
	}

	/** @param {number} x by how many pixels of the canvas @param {number} y */
	pan(x, y) {
		this.x += x / this.scale;
		this.y += y / this.scale;
	}

	/**
	 * The point at that place of the canvas stays where it is.
	 * @param {number} factor
	 * @param {number} [x]
	 * @param {number} [y]
	 */
	zoom(factor, x = this.width / 2, y = this.height / 2) {
		const worldX = this.worldX(x);
		const worldY = this.worldY(y);
		this.scale = Math.min(Math.max(this.scale * factor, SMALLEST), LARGEST);
		this.x += worldX - this.worldX(x);
		this.y += worldY - this.worldY(y);
	}

	/**
	 * Shows all of a rectangle, but never larger than life.
	 * @param {Rectangle} rectangle
	 */
	fit(rectangle) {
		const scale = Math.min(this.width / rectangle.width, this.height / rectangle.height) * 0.96;
		this.scale = Math.min(Math.max(scale, SMALLEST), 1);
		this.centre(rectangle);
	}

	/**
	 * Shows all of a page, or the beginning of one that is much too large: as wide as it is, if that can be read, and
	 * never the empty room beside it.
	 * @param {Rectangle} page
	 * @param {Rectangle | undefined} first what stands at its beginning
	 */
	start(page, first) {
		this.fit(page);
		if (this.scale >= LEGIBLE || !first)
			return;
		const wide = (0.96 * this.width) / page.width;
		this.scale = wide >= LEGIBLE ? Math.min(wide, 1) : COMFORTABLE;
		this.centre(first);
		this.y = first.y + (this.height / 2 - 40) / this.scale;
		const half = this.width / 2 / this.scale;
		this.x = wide >= this.scale ? page.x + page.width / 2
			: Math.min(Math.max(this.x, page.x + half), page.x + page.width - half);
	}

	/**
	 * Shows all that is in a box, or, near enough to read it, what comes first in it.
	 * @param {Rectangle} box
	 * @param {Rectangle | undefined} first
	 */
	enter(box, first) {
		this.start(box, first);
		this.scale = Math.max(this.scale, LEGIBLE);
	}

	/** @param {Rectangle} rectangle */
	centre(rectangle) {
		this.x = rectangle.x + rectangle.width / 2;
		this.y = rectangle.y + rectangle.height / 2;
	}

	/**
	 * Moves no more than is needed to see a rectangle, and comes near enough to read it.
	 * @param {Rectangle} rectangle
	 */
	reveal(rectangle) {
		const {x, y, width, height} = this.window;
		const isInside = rectangle.x >= x && rectangle.y >= y && rectangle.x + rectangle.width <= x + width &&
			rectangle.y + rectangle.height <= y + height;
		if (isInside && this.scale >= 0.45)
			return;
		this.scale = Math.max(this.scale, 0.8);
		this.centre(rectangle);
	}

	/** As text, for the URL. */
	write() {
		return [Math.round(this.x), Math.round(this.y), this.scale.toPrecision(3)].join(",");
	}

	/**
	 * @param {string | undefined} text
	 * @returns {boolean} whether it says anything
	 */
	read(text) {
		const [x, y, scale] = (text ?? "").split(",").map(Number);
		if (!Number.isFinite(x) || !Number.isFinite(y) || !(scale >= SMALLEST && scale <= LARGEST))
			return false;
		Object.assign(this, {x, y, scale});
		return true;
	}
}
