// SPDX-License-Identifier: Apache-2.0
/**
 * Colours by meaning, the same in every view. Each name has its own hue, the same in all views and traces. States and
 * causes have fixed colours by kind: device work is blue, the runtime violet, CPU time green, waiting for a CPU orange,
 * waiting for disks and others red, and unknown time grey.
 */

import {descriptionOf} from "./tables.js";

/** @type {Record<string, string>} */
const STATES = {
	running: "#3fa34d",
	runnable: "#f0a202",
	blocked: "#9aa5b1",
	unknown: "#d5d9de",
};

/** @type {Record<string, string>} */
const BLOCKED = {
	"disk sleep": "#c8553d",
	"uninterruptible sleep": "#b56576",
	"stopped by a signal or debugger": "#6d597a",
};

/** @type {Record<string, string>} */
const CAUSES = {
	device: "#2b7bba",
	copies: "#38a3a5",
	dependency: "#5b9bd5",
	device_busy: "#1d4e89",
	dispatch: "#8ecae6",
	device_unknown: "#a9b4c2",
	unlaunched: "#b7a6d9",
	no_more_work: "#c9d6df",
	launch: "#8e5fbf",
	call: "#a685c9",
	sync: "#6a4c93",
	cpu: "#3fa34d",
	interrupt: "#d4b106",
	throttled: "#e07a1f",
	preempted: "#f0a202",
	wake_up: "#f6c667",
	disk: "#c8553d",
	lock: "#e5446d",
	network: "#d66ba0",
	sleep: "#7a8ca3",
	ipc: "#c27ba0",
	child: "#b08968",
	signal: "#9c7a97",
	poll: "#94a3b8",
	stopped: "#6d597a",
	other: "#a3a380",
	unknown: "#b8bec6",
	untraced: "#d0d4da",
};

/** Where slices only need to differ from their neighbours, as steps do. */
const BY_TURNS = ["#6d8fb3", "#a9bfd6"];

const UNKNOWN = "#b8bec6";

/**
 * @param {string} state
 * @param {string} reason
 */
export function stateColour(state, reason) {
	return (state === "blocked" && BLOCKED[reason]) || STATES[state] || UNKNOWN;
}

/** @param {string} cause */
export function causeColour(cause) {
	return CAUSES[cause.replace(/[ -]/g, "_")] ?? UNKNOWN;
}

/**
 * A hue for any number; neighbours are far apart.
 * @param {number} number
 */
function hue(number) {
	return Math.round(((Math.imul(number + 1, 0x9e3779b1) >>> 0) / 2 ** 32) * 360);
}

/** @param {number} label */
const labelColour = (label) => `hsl(${hue(label)} 46% 56%)`;

/** @param {string} text */
function textNumber(text) {
	let hash = 0x811c9dc5;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	return hash >>> 0;
}

/** @param {string} text */
export function nameColour(text) {
	return labelColour(textNumber(text));
}

/**
 * Colours of slices by their label.
 */
export class SliceColours {
	/**
	 * @param {{tables: import("./tables.js").Description[],
	 *     enumerations: {causes: string[], states: string[], reasons: string[]}}} trace
	 */
	constructor(trace) {
		this.trace = trace;
		/** @type {Map<string, Map<number, string>>} */
		this.known = new Map();
	}

	/**
	 * @param {string} table
	 * @param {number} label
	 */
	of(table, label) {
		let colours = this.known.get(table);
		if (!colours)
			this.known.set(table, colours = new Map());
		let colour = colours.get(label);
		if (!colour)
			colours.set(label, colour = this.#make(table, label));
		return colour;
	}

	/**
	 * @param {string} table
	 * @param {number} label
	 */
	#make(table, label) {
		const {causes, states, reasons} = this.trace.enumerations;
		switch (descriptionOf(this.trace, table).colours) {
		case "state":
			return stateColour(states[label >> 4], reasons[label & 15]);
		case "cause":
			return causeColour(causes[label] ?? "unknown");
		case "two":
			return BY_TURNS[label % BY_TURNS.length];
		case "but_zero":
			return label === 0 ? "transparent" : labelColour(label);
		default:
			return labelColour(label);
		}
	}
}
