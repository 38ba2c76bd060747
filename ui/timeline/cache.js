// SPDX-License-Identifier: Apache-2.0
/**
 * Caches the server's answers about bands. Requests the visible window plus some room on both sides, so that panning
 * finds data there. Until a better answer arrives, older ones are drawn, stretched:
 *
 *     newest answer            ├───────────┤
 *     older, coarser  ├──────────────────────────────┤
 *     drawn           ├─ older ┼── newest ─┼─ older ─┤
 *
 * Only the visible lanes of a band are requested. One request is in progress at a time; it is aborted only if its
 * answer would be useless. The latest few answers are kept whole. After a failure the cache waits a while, then
 * retries.
 */

const ANSWERS = 10;
const ANSWER_BYTES = 24e6;
const BANDS_ASKED = 256;
const PIXELS_ASKED = 8192;
const MARGIN = 0.5;
const RETRY_MS = 2000;

/**
 * @template P
 * @typedef {object} Answer
 * @property {number} from
 * @property {number} to
 * @property {number} density ns in a pixel
 * @property {Map<number, number>} bands that were asked for, and of each how many lanes
 * @property {Map<number, P[]>} parts by band
 * @property {number} bytes
 */

/**
 * @template {{band: number, count: number}} P
 */
export class Cache {
	/**
	 * @param {(viewport: import("../shared/api.js").Viewport, signal: AbortSignal) => Promise<P[]>} ask
	 * @param {number} span of the trace
	 * @param {() => void} changed
	 */
	constructor(ask, span, changed) {
		this.ask = ask;
		this.span = span;
		this.changed = changed;
		/**
		 * The newest first.
		 * @type {Answer<P>[]}
		 */
		this.answers = [];
		/** @type {{from: number, to: number, density: number, abort: AbortController} | null} */
		this.underWay = null;
		this.retryAt = 0;
		/** Why the last request failed. */
		this.failure = "";
	}

	/**
	 * @param {Map<number, number>} bands and how many lanes of each
	 * @param {import("./viewport.js").Viewport} viewport
	 * @returns {[number, number][]} those that cannot be drawn as fine as they should be
	 */
	lacking(bands, viewport) {
		const density = (viewport.to - viewport.from) / viewport.width;
		const {from, to} = this.#clip(viewport);
		return [...bands].filter(([band, lanes]) => !this.answers.some((answer) => hasLanes(answer, band, lanes) &&
			answer.from <= from && answer.to >= to && isFine(answer.density, density)));
	}

	/** Whether a request may be sent: a while after one that failed it may not. */
	mayAsk() {
		return performance.now() >= this.retryAt;
	}

	/**
	 * Sees to it that some bands can be drawn.
	 * @param {Map<number, number>} bands and how many lanes of each
	 * @param {import("./viewport.js").Viewport} viewport
	 * @returns {boolean} whether all of them can, as fine as they should be
	 */
	want(bands, viewport) {
		const lacking = this.lacking(bands, viewport);
		if (lacking.length === 0) {
			this.failure = "";
			return true;
		}
		const density = (viewport.to - viewport.from) / viewport.width;
		const {from, to} = this.#clip(viewport);
		if (this.underWay) {
			const {from: low, to: high, density: asked, abort} = this.underWay;
			if (low < to && high > from && asked < density * 4 && asked > density / 4)
				return false;
			abort.abort();
		}
		if (this.mayAsk())
			this.#send(lacking.slice(0, BANDS_ASKED), from, to, density);
		return false;
	}

	/**
	 * What there is of a band, and which part of the window it should be drawn in. Answers that lack some of the lanes
	 * come last.
	 * @param {number} band
	 * @param {number} lanes
	 * @param {number} from
	 * @param {number} to
	 * @returns {{from: number, to: number, parts: P[]}[]}
	 */
	pieces(band, lanes, from, to) {
		/** @type {{from: number, to: number, parts: P[]}[]} */
		const found = [];
		let gaps = [{from, to}];
		const having = this.answers.filter(({bands}) => bands.has(band));
		for (const answer of [...having.filter((each) => hasLanes(each, band, lanes)),
			...having.filter((each) => !hasLanes(each, band, lanes))]) {
			if (!gaps.length)
				break;
			const parts = answer.parts.get(band) ?? [];
			gaps = gaps.flatMap((gap) => {
				const low = Math.max(gap.from, answer.from);
				const high = Math.min(gap.to, answer.to);
				if (low >= high)
					return [gap];
				found.push({from: low, to: high, parts});
				return [{from: gap.from, to: low}, {from: high, to: gap.to}].filter((each) => each.from < each.to);
			});
		}
		return found;
	}

	/**
	 * There is nothing before and after the trace that would have to be asked for.
	 * @param {{from: number, to: number}} window
	 */
	#clip({from, to}) {
		const low = Math.min(Math.max(from, 0), this.span - 1);
		return {from: low, to: Math.max(Math.min(to, this.span), low + 1)};
	}

	/**
	 * @param {[number, number][]} bands
	 * @param {number} from
	 * @param {number} to
	 * @param {number} density
	 */
	async #send(bands, from, to, density) {
		const room = Math.min(MARGIN * (to - from), Math.max((PIXELS_ASKED * density - (to - from)) / 2, 0));
		const asked = this.#clip({from: Math.floor(from - room), to: Math.ceil(to + room)});
		asked.from = Math.floor(asked.from);
		asked.to = Math.ceil(asked.to);
		const pixels = Math.min(Math.max(Math.ceil((asked.to - asked.from) / density), 1), PIXELS_ASKED);
		const request = {...asked, density, abort: new AbortController()};
		this.underWay = request;
		try {
			const parts = await this.ask({bands: bands.map(([band]) => band), lanes: bands.map(([, lanes]) => lanes),
				...asked, pixels}, request.abort.signal);
			this.failure = "";
			this.#keep({...asked, density: (asked.to - asked.from) / pixels, bands: new Map(bands),
				parts: groupByBand(parts), bytes: parts.reduce((sum, {count}) => sum + 32 * count, 0)});
		} catch (error) {
			if (!request.abort.signal.aborted) {
				this.failure = `The drawing is incomplete: ${error instanceof Error ? error.message : error}. ` +
					"Retrying in a moment.";
				this.retryAt = performance.now() + RETRY_MS;
				window.setTimeout(this.changed, RETRY_MS + 10);
			}
		}
		if (this.underWay === request) {
			this.underWay = null;
			this.changed();
		}
	}

	/** @param {Answer<P>} answer */
	#keep(answer) {
		this.answers.unshift(answer);
		let bytes = 0;
		const enough = this.answers.findIndex((each, i) => (bytes += each.bytes) > ANSWER_BYTES && i > 0);
		this.answers.length = Math.min(this.answers.length, ANSWERS, enough < 0 ? ANSWERS : enough);
	}
}

/**
 * @param {{bands: Map<number, number>}} answer
 * @param {number} band
 * @param {number} lanes
 */
function hasLanes({bands}, band, lanes) {
	return (bands.get(band) ?? 0) >= lanes;
}

/**
 * Finer than needed is good enough up to twice: then there would be too much to draw.
 * @param {number} has
 * @param {number} needs
 */
function isFine(has, needs) {
	return has <= needs * 1.01 && (has >= needs * 0.45 || has <= 1);
}

/**
 * @template {{band: number}} P
 * @param {P[]} parts
 * @returns {Map<number, P[]>}
 */
function groupByBand(parts) {
	/** @type {Map<number, P[]>} */
	const groups = new Map();
	for (const part of parts) {
		const group = groups.get(part.band);
		if (group)
			group.push(part);
		else
			groups.set(part.band, [part]);
	}
	return groups;
}
