// SPDX-License-Identifier: Apache-2.0
/**
 * The state of the page, one for all views. It is kept in the fragment of the URL, so that users can bookmark, share
 * and reload a view, and go back to it.
 *
 *     #trace=0&view=timeline&from=1200&to=98000&select=row:0:calls:12&open=process.1
 *       │       │             │                 │                     └ options, as views name them
 *       │       │             │                 └ row:TRACE:TABLE:ROW, label:TRACE:TABLE:LABEL or node:TRACE:NODE
 *       │       │             └ the window
 *       │       └ overview, timeline, graph, memory, tables, steps
 *       └ of those that the server has open
 *
 * The server resolves a selection; views find the result in `selected` and are notified when it arrives.
 */

/**
 * @typedef {object} State
 * @property {number} trace
 * @property {string} view
 * @property {number} from of the window, in ns
 * @property {number} to
 * @property {string} select
 * @property {Record<string, string>} options
 *
 * What is selected, as far as the server knows more than the selection says.
 * @typedef {object} Selected
 * @property {"row" | "label" | "node"} kind
 * @property {string | null} table
 * @property {number | null} row
 * @property {number | null} label
 * @property {number | null} node
 * @property {number | null} graph
 * @property {number | null} track
 * @property {number | null} from
 * @property {number | null} to
 * @property {string} title
 * @property {any} answer of `row`, `label` or `node`
 *
 * The time of the steps as they go on.
 * @typedef {{from: number, to: number}} Steady
 *
 * @typedef {(state: State, previous: State) => void} StateListener
 * @typedef {Partial<Omit<State, "options">> & {options?: Record<string, string | null>}} Change
 */

export const VIEWS = ["overview", "timeline", "graph", "memory", "tables", "steps"];

const SELECTION = /^(row:\d+:\w+:\d+|label:\d+:\w+:\d+|node:\d+:\d+)$/;

/**
 * The number of the trace that is looked at.
 * @param {string} fragment of a URL, with or without #
 */
export function readTrace(fragment) {
	const given = new URLSearchParams(fragment.replace(/^#/, "")).get("trace") ?? "";
	return /^\d+$/.test(given) ? Number(given) : 0;
}

/**
 * @param {string} fragment of a URL, with or without #
 * @param {number} span of the trace
 * @param {Steady | null} [steady] where its steps go on: what is shown at first, unless the whole is asked for
 * @returns {State}
 */
export function readFragment(fragment, span, steady = null) {
	const given = new URLSearchParams(fragment.replace(/^#/, ""));
	const take = (/** @type {string} */ name) => {
		const value = given.get(name);
		given.delete(name);
		return value;
	};
	const number = (/** @type {string | null} */ text, /** @type {number} */ otherwise) =>
		text !== null && text !== "" && Number.isFinite(Number(text)) ? Number(text) : otherwise;
	const view = take("view") ?? "";
	const all = steady && given.get("scope") !== "whole" ? steady : {from: 0, to: span};
	const from = number(take("from"), all.from);
	const to = number(take("to"), all.to);
	const select = take("select") ?? "";
	const isWindow = from < to;
	given.delete("trace");
	return {
		trace: readTrace(fragment),
		view: VIEWS.includes(view) ? view : VIEWS[0],
		from: isWindow ? from : all.from,
		to: isWindow ? to : all.to,
		select: SELECTION.test(select) ? select : "",
		options: Object.fromEntries(given),
	};
}

/** @param {State} state */
export function writeFragment(state) {
	const parts = new URLSearchParams({trace: String(state.trace), view: state.view, from: String(state.from),
		to: String(state.to)});
	if (state.select)
		parts.set("select", state.select);
	for (const [name, value] of Object.entries(state.options))
		parts.set(name, value);
	return "#" + parts.toString().replaceAll("%3A", ":").replaceAll("%2C", ",").replaceAll("%2F", "/");
}

export class Store {
	/**
	 * @param {number} span of the trace, in ns
	 * @param {import("./api.js").Api} api
	 * @param {Steady | null} steady null: it has no steps
	 */
	constructor(span, api, steady) {
		this.span = Math.max(span, 1);
		this.api = api;
		this.steady = steady;
		/** @type {Set<StateListener>} */
		this.listeners = new Set();
		this.state = readFragment(location.hash, this.span, steady);
		/** @type {Selected | null} */
		this.selected = null;
		/** Why the selection could not be resolved; "" if it was, or if the answer is pending. */
		this.failure = "";
		/** The selection came with its window: neither is changed for the other. */
		this.isFromUrl = true;
		this.urlTimer = 0;
		window.addEventListener("popstate", () => {
			if (readTrace(location.hash) !== this.state.trace) {
				location.reload(); /* all that is shown is of the other */
				return;
			}
			this.isFromUrl = true;
			this.#change(readFragment(location.hash, this.span, steady));
		});
		this.#resolve();
	}

	/**
	 * What names a row in a selection.
	 * @param {string} table
	 * @param {number} row
	 */
	keyOfRow(table, row) {
		return `row:${this.state.trace}:${table}:${row}`;
	}

	/** @param {string} table @param {number} label */
	keyOfLabel(table, label) {
		return `label:${this.state.trace}:${table}:${label}`;
	}

	/** @param {number} node */
	keyOfNode(node) {
		return `node:${this.state.trace}:${node}`;
	}

	/** @returns {import("./scope.js").Scope} what all views look at */
	get scope() {
		return this.steady && this.state.options.scope !== "whole" ? "steps" : "whole";
	}

	/** All of what is looked at. */
	get all() {
		return this.scope === "steps" && this.steady ? this.steady : {from: 0, to: this.span};
	}

	/** @param {import("./scope.js").Scope} scope */
	changeScope(scope) {
		if (scope === this.scope)
			return;
		const {from, to} = scope === "steps" && this.steady ? this.steady : {from: 0, to: this.span};
		this.update({from, to, options: {scope: scope === "steps" ? null : scope}}, "push");
	}

	/** @param {StateListener} listener */
	subscribe(listener) {
		this.listeners.add(listener);
		return () => this.listeners.delete(listener);
	}

	/**
	 * Changes some of the state. An option that is null is removed.
	 * @param {Change} change
	 * @param {"push" | "replace"} [history] push: the way back leads here
	 */
	update(change, history = "replace") {
		const options = {...this.state.options};
		for (const [name, value] of Object.entries(change.options ?? {})) {
			if (value === null)
				delete options[name];
			else
				options[name] = value;
		}
		const next = {...this.state, ...change, options};
		if (change.select !== undefined)
			this.isFromUrl = false;
		if (history === "push") {
			this.writeUrl();
			this.#change(next);
			window.history.pushState(null, "", writeFragment(next));
		} else {
			this.#change(next);
			/* Browsers refuse a page that changes its URL at every frame. */
			if (!this.urlTimer)
				this.urlTimer = window.setTimeout(() => this.writeUrl(), 250);
		}
	}

	writeUrl() {
		window.clearTimeout(this.urlTimer);
		this.urlTimer = 0;
		window.history.replaceState(null, "", writeFragment(this.state));
	}

	/**
	 * Selects a thing everywhere; "" selects nothing.
	 * @param {string} select
	 * @param {Change} [change] made together with it, such as another view
	 */
	select(select, change = {}) {
		this.update({...change, select}, "push");
	}

	/**
	 * Shows a stretch of time with some room around it.
	 * @param {number} from
	 * @param {number} to
	 * @returns {{from: number, to: number}}
	 */
	windowAround(from, to) {
		const room = Math.max((to - from) * 0.75, 50);
		return {from: Math.round(from - room), to: Math.round(to + room)};
	}

	/** @param {State} next */
	#change(next) {
		const previous = this.state;
		this.state = next;
		if (next.select !== previous.select)
			this.#resolve();
		this.#tell(previous);
	}

	/** @param {State} previous */
	#tell(previous) {
		for (const listener of this.listeners)
			listener(this.state, previous);
	}

	async #resolve() {
		const asked = this.state.select;
		this.selected = null;
		this.failure = "";
		if (!asked)
			return;
		let selected = null;
		let failure = "";
		try {
			selected = await resolveSelection(this.api, asked);
		} catch (error) {
			failure = error instanceof Error ? error.message : String(error);
		}
		if (this.state.select !== asked)
			return;
		this.selected = selected;
		this.failure = failure;
		this.#tell(this.state);
	}
}

/**
 * @param {import("./api.js").Api} api
 * @param {string} select
 * @returns {Promise<Selected>}
 */
async function resolveSelection(api, select) {
	const [kind, trace, first, second] = select.split(":");
	if (Number(trace) !== api.trace)
		throw new Error(`trace ${trace} is not open here`);
	const nothing = {table: null, row: null, label: null, node: null, graph: null, track: null, from: null, to: null};
	if (kind === "row") {
		const answer = await api.json("row", {table: first, row: second});
		/* Of a piece of idle time the whole gap is meant: pieces end where the chain of causes changes. */
		const {from, to} = answer.gap ?? answer;
		return {...nothing, ...answer, from, to, kind: "row", answer};
	}
	if (kind === "label") {
		const answer = await api.json("label", {table: first, label: second});
		return {...nothing, kind: "label", table: first, label: Number(second), node: answer.node,
			graph: answer.graph, title: answer.text, answer};
	}
	const answer = await api.json("node", {node: first});
	return {...nothing, kind: "node", node: answer.node, graph: answer.graph, title: answer.name,
		table: "node_executions", label: answer.node, answer};
}
