// SPDX-License-Identifier: Apache-2.0
/**
 * Colours by meaning, the same in every view. Each name has its own hue, the same in all views and traces. States and
 * causes have fixed colours by kind: device work is blue, the runtime violet, CPU time green, waiting for a CPU yellow,
 * waiting for disks and others red, and sleep and unknown time grey.
 */

import {descriptionOf} from "./tables.js";

/**
 * Found by search, so that any two differ by a ΔE (CIEDE2000) of at least 9, also for people who see no red, no green
 * or no blue; a test states it. Whoever changes one searches anew.
 * @type {Record<string, string>}
 */
const CAUSES = {
	device: "#237fb9",
	copies: "#18f7dc",
	dependency: "#b8deff",
	device_busy: "#8888a3",
	dispatch: "#76beff",
	device_unknown: "#554d3c",
	unlaunched: "#5549ff",
	no_more_work: "#698180",
	launch: "#524294",
	call: "#aaadc8",
	sync: "#8d6fff",
	cpu: "#15813a",
	interrupt: "#acb16b",
	throttled: "#a20000",
	preempted: "#eaad00",
	wake_up: "#e0de7a",
	disk: "#c72e0d",
	lock: "#d25b59",
	gil: "#619cd7",
	hand_over: "#ffbdc8",
	network: "#8f5c64",
	sleep: "#869c9b",
	ipc: "#9b095c",
	child: "#bb8a01",
	signal: "#6e6489",
	poll: "#c4a99c",
	stopped: "#3b28dc",
	other: "#d3e0b0",
	unknown: "#3c5461",
	untraced: "#958876",
};

/** @type {Record<string, string>} */
const STATES = {
	running: CAUSES.cpu,
	runnable: CAUSES.preempted,
	blocked: "#9aa5b1",
	unknown: "#d5d9de",
};

/** @type {Record<string, string>} */
const BLOCKED = {
	"disk sleep": CAUSES.disk,
	"uninterruptible sleep": CAUSES.ipc,
	"stopped by a signal or debugger": CAUSES.stopped,
};

/** Where slices only need to differ from their neighbours, as steps do. */
const BY_TURNS = ["#6d8fb3", "#a9bfd6"];

const UNKNOWN = CAUSES.unknown;
const LIGHTNESSES = [56, 72, 44];

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

/**
 * Lightness differs too: not everybody can tell hues apart.
 * @param {number} label
 */
const labelColour = (label) => `hsl(${hue(label)} 46% ${LIGHTNESSES[label % LIGHTNESSES.length]}%)`;

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
