// SPDX-License-Identifier: Apache-2.0
/**
 * Numbers for people, as the text report writes them: three digits are enough to read. Exact values are given
 * where something is selected.
 */

/**
 * @param {number} value
 * @returns {string} with three significant digits, never in powers of ten
 */
function threeDigits(value) {
	const size = Math.abs(value);
	return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2);
}

/**
 * "12.3 ms"
 * @param {number} ns
 */
export function duration(ns) {
	const size = Math.abs(ns);
	if (size < 1e3)
		return `${Math.round(ns)} ns`;
	if (size < 999.5e3)
		return `${threeDigits(ns / 1e3)} µs`;
	if (size < 999.5e6)
		return `${threeDigits(ns / 1e6)} ms`;
	if (size < 999.5e9)
		return `${threeDigits(ns / 1e9)} s`;
	return `${count(Math.round(ns / 1e9))} s`;
}

/**
 * "12,345,678 ns"
 * @param {number} ns
 */
export function exactDuration(ns) {
	return `${count(ns)} ns`;
}

/**
 * "1.50 MiB"
 * @param {number} value
 */
export function bytes(value) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let unit = 0;
	let shown = value;
	while (Math.abs(shown) >= 1023.5 && unit < units.length - 1) {
		shown /= 1024;
		unit++;
	}
	return unit === 0 ? `${shown} B` : `${threeDigits(shown)} ${units[unit]}`;
}

/**
 * "1,234,567"
 * @param {number | bigint} value
 */
export function count(value) {
	return value.toString().replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * "1 step", "12 steps"
 * @param {number} number
 * @param {string} one
 * @param {string} [many]
 */
export function counted(number, one, many = `${one}s`) {
	return `${count(number)} ${number === 1 ? one : many}`;
}

/**
 * "12.3%" of a whole; "" where there is none
 * @param {number} part
 * @param {number} whole
 */
export function percent(part, whole) {
	return whole > 0 ? `${((100 * part) / whole).toFixed(1)}%` : "";
}

/**
 * A value of a table of the report, by the unit that its column has.
 * @param {number | bigint | string | null} value null: not known
 * @param {string} unit
 */
export function quantity(value, unit) {
	if (value === null)
		return "–";
	if (typeof value === "string")
		return value;
	const number = Number(value);
	switch (unit) {
	case "ns":
		return duration(number);
	case "bytes":
		return bytes(number);
	case "bytes_per_second":
		return `${bytes(number)}/s`;
	case "permille":
		return percent(number, 1000);
	case "thousandths":
		return (number / 1000).toFixed(2);
	case "count":
		return count(value);
	default:
		return value.toString();
	}
}
