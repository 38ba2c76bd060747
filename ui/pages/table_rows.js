// SPDX-License-Identifier: Apache-2.0
/** Operations on the rows of a table, however many there are: sorting, summing, writing as CSV. */

/**
 * @typedef {import("./table.js").Row} Row
 * @typedef {import("./table.js").Column} Column
 */

const collator = new Intl.Collator("en", {numeric: true});

/**
 * The order of rows by a column; what is not known comes last.
 * @param {string} key
 * @param {boolean} isDescending
 * @returns {(left: Row, right: Row) => number}
 */
export function orderBy(key, isDescending) {
	const sign = isDescending ? -1 : 1;
	return (left, right) => {
		const [a, b] = [left[key], right[key]];
		if (a === null || b === null)
			return a === b ? 0 : a === null ? 1 : -1;
		if (typeof a === "string" && typeof b === "string")
			return sign * collator.compare(a, b);
		return a < b ? -sign : a > b ? sign : 0;
	};
}

/**
 * CSV as RFC 4180 has it: exact integers, texts quoted where they must be.
 * @param {Column[]} columns
 * @param {Row[]} rows
 */
export function toCsv(columns, rows) {
	const cell = (/** @type {string} */ text) => /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
	const lines = [columns.map(({key}) => key),
		...rows.map((row) => columns.map(({key}) => row[key]?.toString() ?? ""))];
	return lines.map((line) => line.map(cell).join(",") + "\r\n").join("");
}

/**
 * @param {Row[]} rows
 * @param {string} key
 */
export function sumOf(rows, key) {
	if (rows.length > 0 && rows.every((row) => row[key] === null))
		return null;
	let sum = 0;
	for (const row of rows) {
		const value = row[key] ?? 0;
		sum += typeof value === "number" && value >= 0 ? value : NaN;
	}
	if (Number.isSafeInteger(sum)) /* it only grew, so it was so all along; much faster */
		return sum;
	const exact = rows.reduce((total, row) => total + BigInt(row[key] ?? 0), 0n);
	return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
}
