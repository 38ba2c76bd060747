// SPDX-License-Identifier: Apache-2.0
/**
 * The data of bands. Slices come first. What the server must compute first (series, causes of idle time, the critical
 * path) has separate requests, sent after the slices are drawn, so that nothing waits for slow answers.
 */

import {Cache} from "./cache.js";

/** @typedef {import("./rows.js").Band} Band */

/**
 * A band, and how many of its lanes are in sight.
 * @typedef {{band: Band, lanes: number}} Shown
 */

/** @param {Band} band */
const isLate = ({as}) => as.is_late === true;

export class Sources {
	/**
	 * @param {import("../shared/api.js").Api} api
	 * @param {number} span
	 * @param {() => void} changed
	 */
	constructor(api, span, changed) {
		const slices = (/** @type {any} */ viewport, /** @type {AbortSignal} */ signal) => api.slices(viewport, signal);
		/** @type {Cache<import("../shared/api.js").SlicePart>} */
		this.slices = new Cache(slices, span, changed);
		/** @type {Cache<import("../shared/api.js").SlicePart>} */
		this.late = new Cache(slices, span, changed);
		/** @type {Cache<import("../shared/api.js").SeriesPart>} */
		this.series = new Cache((viewport, signal) => api.series(viewport, signal), span, changed);
		/**
		 * What to ask for when the slices are drawn.
		 * @type {(() => void) | null}
		 */
		this.later = null;
	}

	/**
	 * @param {Shown[]} shown
	 * @param {import("./viewport.js").Viewport} viewport
	 * @returns {boolean} whether all is there, but for what takes longer
	 */
	want(shown, viewport) {
		const numbers = (/** @type {(band: Band) => boolean} */ belongs) => {
			/** @type {Map<number, number>} */
			const lanesOf = new Map();
			for (const {band, lanes} of shown.filter((each) => belongs(each.band)))
				lanesOf.set(band.band, Math.max(lanesOf.get(band.band) ?? 1, lanes));
			return lanesOf;
		};
		const hasSlices = this.slices.want(numbers((band) => band.kind === "slices" && !isLate(band)), viewport);
		const series = numbers(({kind}) => kind === "series");
		const late = numbers(isLate);
		const lacks = (/** @type {Cache<any>} */ cache, /** @type {Map<number, number>} */ numbered) => {
			const isLacking = cache.lacking(numbered, viewport).length > 0;
			if (!isLacking) /* also where what failed has gone out of sight */
				cache.failure = "";
			return isLacking && cache.mayAsk();
		};
		const lacksSeries = lacks(this.series, series);
		const lacksLate = lacks(this.late, late);
		if (hasSlices && (lacksSeries || lacksLate))
			this.#askLater(() => {
				this.series.want(series, viewport);
				this.late.want(late, viewport);
			});
		return hasSlices;
	}

	/** @param {() => void} ask */
	#askLater(ask) {
		if (!this.later)
			window.setTimeout(() => {
				const asked = this.later;
				this.later = null;
				asked?.();
			});
		this.later = ask;
	}

	/** Why something could not be had; "": all is well. */
	failure() {
		return this.slices.failure || this.series.failure || this.late.failure;
	}

	/** Whether an answer is waited for. */
	isWaiting() {
		return this.later !== null || [this.slices, this.series, this.late].some(({underWay}) => underWay !== null);
	}

	/** @param {Band} band @param {number} lanes @param {number} from @param {number} to */
	slicesOf(band, lanes, from, to) {
		return (isLate(band) ? this.late : this.slices).pieces(band.band, lanes, from, to);
	}

	/** @param {Band} band @param {number} from @param {number} to */
	seriesOf(band, from, to) {
		return this.series.pieces(band.band, 1, from, to);
	}
}
