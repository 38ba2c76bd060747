// SPDX-License-Identifier: Apache-2.0

/**
 * The first of sorted numbers that is larger than a value; how many there are, if none is.
 * @param {Float64Array} numbers
 * @param {number} value
 */
export function firstAbove(numbers, value) {
	let low = 0;
	let high = numbers.length;
	while (low < high) {
		const middle = (low + high) >> 1;
		if (numbers[middle] <= value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
