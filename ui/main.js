// SPDX-License-Identifier: Apache-2.0
/**
 * The entry point of the page: waits until the trace is loaded, then builds the frame around the views.
 *
 *     ┌ tabs ─────────────────────────────── search ─ theme ─ ? ┐
 *     │ the view that is shown                       │ details  │
 *     └──────────────────────────────────────────────┴──────────┘
 */

import {createDetails} from "./details/details.js";
import * as graph from "./graph/graph.js";
import * as memory from "./pages/memory.js";
import * as overview from "./pages/overview.js";
import * as steps from "./pages/steps.js";
import * as tables from "./pages/tables.js";
import {Api, ApiError} from "./shared/api.js";
import {SliceColours} from "./shared/colours.js";
import {element, replaceContent} from "./shared/dom.js";
import {count, duration} from "./shared/format.js";
import {Keys} from "./shared/keys.js";
import {createScopeSwitch} from "./shared/scope.js";
import {createSearch} from "./shared/search.js";
import {readTrace, Store, VIEWS} from "./shared/state.js";
import {describeBands} from "./shared/tables.js";
import {createThemeButton} from "./shared/theme.js";
import * as timeline from "./timeline/timeline.js";

/**
 * What views are made of.
 * @typedef {object} Context
 * @property {Api} api
 * @property {Store} store
 * @property {any} trace the answer of `trace`
 * @property {SliceColours} colours
 * @property {Keys} keys
 *
 * @typedef {{element: HTMLElement, show: () => void, hide: () => void}} View
 */

/** @type {Record<string, {create: (context: Context) => View}>} */
const MODULES = {overview, timeline, graph, memory, tables, steps};
const PATIENCE_MS = 150; /* before it is worth to say that something is loading */

/** @param {string} view */
const titleOf = (view) => view[0].toUpperCase() + view.slice(1);

/**
 * @param {Api} api
 * @returns {Promise<void>} when the trace is loaded
 */
async function waitForTrace(api) {
	const bar = element("progress", {"aria-label": "Loading the trace"});
	const text = element("p", {role: "status"}, "Loading the trace …");
	const began = performance.now();
	for (;;) {
		const progress = await api.json("progress");
		if (progress.state === "ready")
			return;
		if (progress.state === "failed")
			throw new Error(progress.error);
		const waited = performance.now() - began;
		if (!bar.isConnected && waited > PATIENCE_MS)
			replaceContent(document.body,
				element("main", {class: "loading"}, element("h1", {}, "millrace"), text, bar));
		if (progress.total > 0) {
			bar.max = progress.total;
			bar.value = progress.done;
			text.textContent = `Loading the trace: ${progress.what}, ` +
				`${count(progress.done)} of ${count(progress.total)}`;
		}
		/* Often at first, when little is missing as a rule. */
		await new Promise((resolve) => window.setTimeout(resolve, Math.min(20 + waited / 10, PATIENCE_MS)));
	}
}

/**
 * @param {unknown} error
 * @param {number} trace that was asked for
 */
function showFailure(error, trace) {
	const message = error instanceof ApiError && error.status === 404 ? `Trace ${trace} is not open here.`
		: error instanceof Error ? error.message : String(error);
	replaceContent(document.body, element("main", {class: "loading", role: "alert"},
		element("h1", {}, "millrace"), element("p", {}, message)));
}

/**
 * Makes a view when it is first asked for, hidden; a view asks the server for nothing before it is shown.
 * @param {Context} context
 * @param {HTMLElement} place
 */
function createViews(context, place) {
	/** @type {Map<string, View>} */
	const made = new Map();
	return (/** @type {string} */ name) => {
		let view = made.get(name);
		if (!view) {
			view = MODULES[name].create(context);
			view.element.classList.add("view");
			view.element.setAttribute("role", "tabpanel");
			view.element.setAttribute("aria-label", titleOf(name));
			view.element.hidden = true;
			made.set(name, view);
			place.append(view.element);
		}
		return view;
	};
}

/**
 * Shows the view that the state names.
 * @param {Context} context
 * @param {(name: string) => View} viewOf
 * @param {Map<string, HTMLElement>} tabs
 */
function createSwitch(context, viewOf, tabs) {
	let shown = "";
	return () => {
		const wanted = context.store.state.view;
		if (wanted === shown)
			return;
		if (shown) {
			const old = viewOf(shown);
			old.hide();
			old.element.hidden = true;
		}
		shown = wanted;
		const view = viewOf(wanted);
		view.element.hidden = false;
		for (const [name, tab] of tabs) {
			tab.setAttribute("aria-selected", String(name === wanted));
			tab.tabIndex = name === wanted ? 0 : -1;
		}
		document.title = `${titleOf(wanted)} – ${context.trace.title} – millrace`;
		view.show();
	};
}

/** @param {Context} context */
function createTabs({store}) {
	/** @type {Map<string, HTMLElement>} */
	const tabs = new Map(VIEWS.map((name) => [name, element("button",
		{role: "tab", click: () => store.update({view: name}, "push")}, titleOf(name))]));
	const list = element("div", {class: "tabs", role: "tablist", "aria-label": "Views"}, ...tabs.values());
	list.addEventListener("keydown", (event) => {
		const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
		if (!step)
			return;
		event.preventDefault();
		event.stopPropagation();
		const next = VIEWS[(VIEWS.indexOf(store.state.view) + step + VIEWS.length) % VIEWS.length];
		store.update({view: next}, "push");
		tabs.get(next)?.focus();
	});
	return {tabs, list};
}

/** @param {Context} context */
function build(context) {
	const {store, keys, trace} = context;
	const {tabs, list} = createTabs(context);
	const search = createSearch(context);
	const place = element("main", {class: "place"});
	const details = createDetails(context);
	const viewOf = createViews(context, place);
	const showHelp = () => {
		VIEWS.forEach(viewOf); /* which declare their keys when they are made */
		keys.showHelp();
	};
	replaceContent(document.body,
		element("header", {class: "bar"},
			element("span", {class: "title", title: `${trace.command ?? trace.path}, ${duration(trace.span_ns)}`},
				trace.title),
			list, createScopeSwitch(store), search.element, createThemeButton(),
			element("button", {"aria-label": "Keys and gestures", click: showHelp}, "?")),
		element("div", {class: "body"}, place, details.element));
	keys.add(
		{keys: ["?"], about: "this page", run: showHelp},
		{keys: ["/", "Ctrl+f"], about: "search", run: () => search.focus()},
		{keys: ["Escape"], about: "clear the selection",
			run: () => (store.state.select || store.state.options.stretch) &&
				store.select("", {options: {stretch: null, area: null}})},
		...VIEWS.map((view, i) => ({keys: [String(i + 1)], about: titleOf(view),
			run: () => store.update({view}, "push")})));
	const showView = createSwitch(context, viewOf, tabs);
	store.subscribe(showView);
	showView();
	document.documentElement.dataset.ready = "true";
}

async function start() {
	const api = new Api(readTrace(location.hash));
	try {
		await waitForTrace(api);
		const trace = await api.json("trace");
		describeBands(trace);
		const store = new Store(trace.span_ns, api, trace.steady);
		build({api, store, trace, colours: new SliceColours(trace),
			keys: new Keys(() => store.state.view)});
	} catch (error) {
		showFailure(error, api.trace);
	}
}

start();
