// SPDX-License-Identifier: Apache-2.0
/**
 * A part of the timeline that the user has selected: a stretch of time, on all tracks or on some. In the URL:
 *
 *     stretch=1200,98000        from, to
 *     area=3-9,14               the bands to which it is limited
 */

/** @typedef {import("./rows.js").Row} Row */

/**
 * @param {string | undefined} option
 * @returns {{from: number, to: number} | null}
 */
export function readStretch(option) {
	const [from, to] = (option ?? "").split(",").map(Number);
	return from < to ? {from, to} : null;
}

/**
 * @param {string | undefined} option
 * @returns {Set<number> | null} null: all
 */
export function readArea(option) {
	if (!option)
		return null;
	/** @type {Set<number>} */
	const bands = new Set();
	for (const range of option.split(",")) {
		const ends = range.split("-").map(Number);
		for (let band = ends[0]; band <= ends[ends.length - 1] && bands.size < 100000; band++)
			bands.add(band);
	}
	return bands;
}

/** @param {Iterable<number>} bands */
export function writeArea(bands) {
	/** @type {[number, number][]} */
	const ranges = [];
	for (const band of [...new Set(bands)].sort((a, b) => a - b)) {
		const last = ranges[ranges.length - 1];
		if (last && last[1] === band - 1)
			last[1] = band;
		else
			ranges.push([band, band]);
	}
	return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}

/**
 * The bands of rows, also those that closed groups hide.
 * @param {import("./rows.js").Layout} layout
 * @param {Row[]} rows
 * @returns {number[]}
 */
export function bandsOf(layout, rows) {
	const chosen = new Set(rows);
	return [...layout.rowOfBand].filter(([, row]) => chosen.has(row)).map(([band]) => band);
}

/**
 * The tracks of a table that an area has; null: all. Idle time has devices instead of tracks.
 * @param {{bands: {band: number, table: string, key: string}[]}} trace
 * @param {Set<number> | null} area
 * @param {string} table
 * @returns {number[] | null}
 */
export function tracksOf({bands}, area, table) {
	return area && bands.filter((band) => area.has(band.band) && band.table === table)
		.map(({key}) => Number(key.slice(key.lastIndexOf(".") + 1)));
}
