// SPDX-License-Identifier: Apache-2.0
/**
 * The search field: operations, device kernels, functions, system calls, threads, files and nodes by a part of
 * their name. Choosing one selects it in all views.
 */

import {element, replaceContent} from "./dom.js";
import {count, duration} from "./format.js";
import {nameElement} from "./names.js";

const RESULTS = 30;
const PATIENCE_MS = 120;
const TAIL = 36; /* characters at the end of a name that are seen */

/**
 * @param {import("../main.js").Context} context
 * @returns {{element: HTMLElement, focus: () => void}}
 */
export function createSearch({api, store}) {
	const list = element("ul", {id: "search-results", role: "listbox", "aria-label": "Search results", hidden: true});
	const input = element("input", {
		type: "search", placeholder: "Search   /", role: "combobox", "aria-label": "Search", autocomplete: "off",
		"aria-controls": "search-results", "aria-expanded": "false", spellcheck: "false",
	});
	const box = element("div", {class: "search"}, input, list);
	/** @type {any[]} */
	let results = [];
	let chosen = -1;
	let timer = 0;
	let asked = 0;
	let answered = "";

	function close() {
		list.hidden = true;
		input.setAttribute("aria-expanded", "false");
		input.removeAttribute("aria-activedescendant");
		chosen = -1;
	}

	/** @param {number} index */
	function mark(index) {
		chosen = index;
		[...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === index)));
		list.children[index]?.scrollIntoView({block: "nearest"});
		input.setAttribute("aria-activedescendant", index >= 0 ? `search-result-${index}` : "");
	}

	/** @param {any} result */
	function choose(result) {
		close();
		input.blur();
		const window = result.first && store.state.view === "timeline" ? windowOf(result.first) : {};
		if (result.node !== null && result.node !== undefined && !result.first)
			store.select(store.keyOfNode(result.node), {view: "graph"});
		else if (result.first)
			store.select(store.keyOfRow(result.first.table, result.first.row), window);
		else if (result.label !== null && result.label !== undefined)
			store.select(store.keyOfLabel(result.table, result.label));
		else if (result.track !== null && result.track !== undefined)
			store.update({view: "timeline", options: {track: String(result.track)}}, "push");
	}

	/** @param {{time: number}} end */
	function windowOf({time}) {
		const {from, to} = store.state;
		const half = (to - from) / 2;
		return time >= from && time < to ? {} : {from: time - half, to: time + half};
	}

	/** @param {any} result @param {number} index */
	function show(result, index) {
		const about = [result.kind, result.count > 0 && `${count(result.count)}×`,
			result.total_ns > 0 && duration(result.total_ns)].filter(Boolean).join(", ");
		return element("li", {
			id: `search-result-${index}`, role: "option", "aria-selected": "false",
			pointerdown: (/** @type {Event} */ event) => {
				event.preventDefault();
				choose(result);
			},
		}, element("span", {class: "search-text", title: result.text}, nameElement(result.text, TAIL)),
		element("span", {class: "quiet"}, about));
	}

	async function ask() {
		const text = input.value.trim();
		const number = ++asked;
		if (!text)
			return close();
		let answer;
		try {
			answer = await api.json("find", {text, limit: RESULTS});
		} catch (error) {
			answer = {results: [], problem: /** @type {Error} */ (error).message};
		}
		if (number !== asked)
			return;
		answered = text;
		results = answer.results;
		replaceContent(list, ...results.map(show));
		if (results.length === 0)
			list.append(element("li", {class: "quiet"}, answer.problem ?? `Nothing matches “${text}”.`));
		list.hidden = false;
		input.setAttribute("aria-expanded", "true");
		mark(results.length > 0 ? 0 : -1);
	}

	input.addEventListener("input", () => {
		window.clearTimeout(timer);
		timer = window.setTimeout(ask, PATIENCE_MS);
	});
	input.addEventListener("blur", () => {
		window.clearTimeout(timer);
		asked++; /* an answer that comes now is not shown any more */
		close();
	});
	input.addEventListener("keydown", async (event) => {
		if (event.key === "Escape") {
			close();
			input.blur();
		} else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
			event.preventDefault();
			const step = event.key === "ArrowDown" ? 1 : -1;
			mark(Math.min(Math.max(chosen + step, 0), results.length - 1));
		} else if (event.key === "Enter") {
			window.clearTimeout(timer);
			if (list.hidden || answered !== input.value.trim())
				await ask();
			if (results[chosen])
				choose(results[chosen]);
		}
	});
	return {element: box, focus: () => input.select()};
}
