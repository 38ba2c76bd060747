// SPDX-License-Identifier: Apache-2.0
/**
 * The server's answers (doc/viewer.md). All times are nanoseconds since the trace began, so that they are
 * exact as numbers; only the report's are absolute.
 *
 *     slices  magic parts label_bytes 0 │ band lane count 0 │ start[] end[] row[] slices[] label[] shade[] │ … │ labels
 *     series  magic parts 0 0           │ band 0    count 0 │ time[] low[] high[] last[]                   │ …
 */

const SLICES = 0x3156524d;
const SERIES = 0x3153524d;

/**
 * A lane of a band: one record for each pixel that is not empty.
 * @typedef {object} SlicePart
 * @property {number} band
 * @property {number} lane
 * @property {number} count
 * @property {Float64Array} start of the first slice of the pixel
 * @property {Float64Array} end the latest
 * @property {Uint32Array} row the longest
 * @property {Uint32Array} slices how many
 * @property {Uint32Array} label of the longest
 * @property {Uint32Array} shade how much of start to end is covered, in permille
 *
 * @typedef {object} SeriesPart
 * @property {number} band
 * @property {number} count
 * @property {Float64Array} time
 * @property {Float64Array} low
 * @property {Float64Array} high
 * @property {Float64Array} last
 *
 * @typedef {{bands: number[], lanes?: number[], from: number, to: number, pixels: number}} Viewport lanes: of each band
 *     the first so many; without it all
 * @typedef {Record<string, string | number | undefined | null>} Parameters
 */

/** The server reported an error or did not answer; the message is for people. */
export class ApiError extends Error {
	/**
	 * @param {number} status of HTTP; 0: the server is not there
	 * @param {string} message
	 */
	constructor(status, message) {
		super(message);
		this.status = status;
	}
}

/**
 * Integers that are too large to be exact become BigInt.
 * @param {string} text
 * @returns {any}
 */
export function parseJson(text) {
	if (!/\d{16}/.test(text))
		return JSON.parse(text); /* much faster */
	/** @type {any} */
	const reviver = (/** @type {string} */ _key, /** @type {any} */ value, /** @type {any} */ context) =>
		typeof value === "number" && !Number.isSafeInteger(value) && /^-?\d+$/.test(context?.source ?? "")
			? BigInt(context.source)
			: value;
	return JSON.parse(text, reviver);
}

/**
 * Nanoseconds from one absolute time to another.
 * @param {number | bigint} from
 * @param {number | bigint} to
 */
export function nanosecondsBetween(from, to) {
	return Number(BigInt(to) - BigInt(from));
}

/**
 * @param {ArrayBuffer} buffer
 * @param {number} magic
 */
function checkMagic(buffer, magic) {
	const head = new Uint32Array(buffer, 0, 4);
	if (head[0] !== magic)
		throw new ApiError(0, "the server sent an unexpected answer: reload the page");
	return head;
}

/**
 * @param {ArrayBuffer} buffer
 * @returns {{parts: SlicePart[], labels: Record<string, Record<string, string>>}}
 */
export function decodeSlices(buffer) {
	const [, partCount, labelBytes] = checkMagic(buffer, SLICES);
	/** @type {SlicePart[]} */
	const parts = [];
	let at = 16;
	for (let i = 0; i < partCount; i++) {
		const [band, lane, count] = new Uint32Array(buffer, at, 3);
		at += 16;
		const words = at + 16 * count;
		parts.push({
			band, lane, count,
			start: new Float64Array(buffer, at, count),
			end: new Float64Array(buffer, at + 8 * count, count),
			row: new Uint32Array(buffer, words, count),
			slices: new Uint32Array(buffer, words + 4 * count, count),
			label: new Uint32Array(buffer, words + 8 * count, count),
			shade: new Uint32Array(buffer, words + 12 * count, count),
		});
		at += 32 * count;
	}
	const labels = labelBytes ? JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at, labelBytes))) : {};
	return {parts, labels};
}

/**
 * @param {ArrayBuffer} buffer
 * @returns {SeriesPart[]}
 */
export function decodeSeries(buffer) {
	const [, partCount] = checkMagic(buffer, SERIES);
	/** @type {SeriesPart[]} */
	const parts = [];
	let at = 16;
	for (let i = 0; i < partCount; i++) {
		const [band, , count] = new Uint32Array(buffer, at, 3);
		at += 16;
		parts.push({
			band, count,
			time: new Float64Array(buffer, at, count),
			low: new Float64Array(buffer, at + 8 * count, count),
			high: new Float64Array(buffer, at + 16 * count, count),
			last: new Float64Array(buffer, at + 24 * count, count),
		});
		at += 32 * count;
	}
	return parts;
}

/**
 * Whether the server answers at all.
 * @param {number} trace
 */
async function isThere(trace) {
	try {
		return (await fetch(`traces/${trace}/progress`)).ok;
	} catch {
		return false;
	}
}

/** The questions about one trace. */
export class Api {
	/** @param {number} trace its number */
	constructor(trace) {
		this.trace = trace;
		/** Texts of labels met so far, by table. @type {Map<string, Map<number, string>>} */
		this.labels = new Map();
	}

	/**
	 * @param {string} name
	 * @param {Parameters} [parameters] those that are null or undefined are left out
	 * @param {AbortSignal} [signal]
	 * @returns {Promise<Response>}
	 */
	async request(name, parameters = {}, signal) {
		const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null);
		const query = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
		let response;
		try {
			response = await fetch(`traces/${this.trace}/${name}${query ? "?" + query : ""}`, {signal});
		} catch (error) {
			if (signal?.aborted)
				throw error;
			throw new ApiError(0, await isThere(this.trace) ? `${name}: the connection to the server was lost`
				: "millrace view has ended: start it again to continue");
		}
		if (response.ok)
			return response;
		const body = await response.json().catch(() => ({}));
		throw new ApiError(response.status, body.error ?? `${name}: the server answered ${response.status}`);
	}

	/**
	 * @param {string} name
	 * @param {Parameters} [parameters]
	 * @param {AbortSignal} [signal]
	 * @returns {Promise<any>}
	 */
	async json(name, parameters, signal) {
		return parseJson(await (await this.request(name, parameters, signal)).text());
	}

	/**
	 * What is to be drawn of some bands.
	 * @param {Viewport} viewport
	 * @param {AbortSignal} [signal]
	 */
	async slices({bands, lanes, from, to, pixels}, signal) {
		const asked = {bands: bands.join(","), lanes: lanes?.join(","), from: Math.floor(from), to: Math.ceil(to),
			pixels};
		const answer = decodeSlices(await (await this.request("slices", asked, signal)).arrayBuffer());
		for (const [table, texts] of Object.entries(answer.labels)) {
			for (const [label, text] of Object.entries(texts))
				this.#labelsOf(table).set(Number(label), text);
		}
		return answer.parts;
	}

	/**
	 * @param {Viewport} viewport
	 * @param {AbortSignal} [signal]
	 */
	async series({bands, from, to, pixels}, signal) {
		const asked = {bands: bands.join(","), from: Math.floor(from), to: Math.ceil(to), pixels};
		return decodeSeries(await (await this.request("series", asked, signal)).arrayBuffer());
	}

	/** @param {string} table */
	#labelsOf(table) {
		let labels = this.labels.get(table);
		if (!labels)
			this.labels.set(table, labels = new Map());
		return labels;
	}

	/**
	 * The text of a label, if an answer had it.
	 * @param {string} table
	 * @param {number} label
	 */
	labelText(table, label) {
		return this.labels.get(table)?.get(label) ?? "";
	}
}
