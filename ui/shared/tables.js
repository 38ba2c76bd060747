// SPDX-License-Identifier: Apache-2.0
/**
 * How to show each table of the trace, as the server describes it (`tables` in the answer `trace`, made from
 * src/timeline/tables.def): no module has to know a table by name.
 */

/**
 * @typedef {object} Description what is not given is false, or there is none
 * @property {string} table
 * @property {string} noun what a slice of it is called
 * @property {string} nouns what several are called
 * @property {string} group the kind of group in which its bands stand
 * @property {"label" | "but_zero" | "cause" | "state" | "two"} colours what the colour of a slice follows from
 * @property {number} [lane_height] of lanes that need not be as high as text
 * @property {boolean} [is_derived] an analysis has made it
 * @property {boolean} [is_late] the server has to work it out first
 * @property {boolean} [is_rare] left out where a stretch of time is summed up
 * @property {boolean} [is_shaded_by_track] the shade of a slice is its track
 * @property {string[]} names columns of the report whose texts name slices: the first their title, others a field
 * @property {string} [report] the table of the report that says most of it, with its finding
 * @property {[string, string][]} same what is the same in a row of it and in a slice: column, field
 */

/**
 * Of a series of values, which is in no table.
 * @type {Description}
 */
const NONE = {table: "", noun: "", nouns: "", group: "", colours: "label", names: [], same: []};

/**
 * @param {{tables: Description[]}} trace
 * @param {string | null} table
 * @returns {Description}
 */
export const descriptionOf = (trace, table) => trace.tables.find((each) => each.table === table) ?? NONE;

/**
 * Gives each band the description of its table.
 * @param {{tables: Description[], bands: {table: string, as?: Description}[]}} trace
 */
export function describeBands(trace) {
	for (const band of trace.bands)
		band.as = descriptionOf(trace, band.table);
}
