// SPDX-License-Identifier: Apache-2.0
/**
 * Memory: how much each process used on each device and from each allocator over time, in the same window as the
 * timeline, and which operations had allocated the memory that was live at a moment. A framework allocates from memory
 * that it got from the runtime: the two are shown separately and never added.
 */

import {drawing, element, problem, replaceContent} from "../shared/dom.js";
import {bytes, counted, duration} from "../shared/format.js";
import {panned, revealed, zoomed} from "../timeline/viewport.js";
import {area, horizontal, responsive, timeAxis, valueAxis, vertical} from "./plots.js";
import {createTable} from "./table.js";

/**
 * @typedef {object} Series
 * @property {number} band
 * @property {number} pid
 * @property {string | null} device
 * @property {string} title
 * @property {string} teller
 * @property {string | null} allocator
 * @property {number} peak_bytes
 * @property {number} peak_at
 * @property {number} end_bytes
 *
 * @typedef {import("./plots.js").Scale} Scale
 * @typedef {{series: Series, element: SVGElement, redraw: () => void, scale: Scale | null}} Plot
 */

const HEIGHT = 170;
const DRAG_PX = 5;
const STEP = 0.25;

class Memory {
	/** @param {import("../main.js").Context} context */
	constructor(context) {
		this.context = context;
		this.element = element("div", {}, element("p", {class: "page", role: "status"}, "Adding up memory …"));
		this.live = element("section", {"aria-live": "polite"});
		/** @type {Plot[]} */
		this.plots = [];
		/** @type {Map<number, import("../shared/api.js").SeriesPart>} */
		this.parts = new Map();
		this.fetched = "";
		/** What the peaks are of. */
		this.scope = "";
		this.shownLive = "";
		/** @type {{refresh: () => void} | null} */
		this.table = null;
		/** @type {AbortController | null} */
		this.request = null;
		context.store.subscribe(() => this.#follow());
		const key = (/** @type {string[]} */ keys, /** @type {string} */ about, /** @type {() => void} */ run) =>
			({keys, about, view: "memory", run});
		context.keys.add(
			key(["w", "+", "="], "zoom in", () => this.#zoom(0.5)), key(["s", "-"], "zoom out", () => this.#zoom(2)),
			key(["a"], "pan to earlier", () => this.#pan(-STEP)), key(["d"], "pan to later", () => this.#pan(STEP)),
			key(["f", "0", "Home"], "show the whole trace", () => this.#showAll()),
			key(["p"], "show the peak", () => this.#showPeak(this.#chosenPlot()?.series)),
			key(["ArrowLeft"], "go to the previous moment", () => this.#moveMoment(-1)),
			key(["ArrowRight"], "go to the next moment", () => this.#moveMoment(1)));
		context.keys.addGestures({gesture: "click", about: "show what is live at that time", view: "memory"},
			{gesture: "drag", about: "zoom to a stretch of time", view: "memory"});
	}

	async load() {
		/** @type {Series[]} */
		let all;
		try {
			const {scope, all: {from, to}} = this.context.store;
			this.scope = scope;
			all = (await this.context.api.json("memory", {from: Math.floor(from), to: Math.ceil(to)})).series;
		} catch (error) {
			replaceContent(this.element, problem(error));
			return;
		}
		if (all.length === 0) {
			replaceContent(this.element, element("div", {class: "empty"},
				element("h2", {}, "The trace contains no allocations"),
				element("p", {}, "Allocations come from the runtime level (what the GPU runtime allocates) and from " +
					"the dataflow level (the framework's allocators, or a program through millrace.h).")));
			return;
		}
		this.plots = all.map((series) => this.#plot(series));
		this.fetched = "";
		this.shownLive = "";
		this.#build(all);
		this.#follow();
	}

	/** @param {Series[]} all */
	#build(all) {
		const button = (/** @type {string} */ text, /** @type {string} */ label, /** @type {() => void} */ click) =>
			element("button", {"aria-label": label, click}, text);
		const isBoth = new Set(all.map(({teller}) => teller)).size > 1;
		replaceContent(this.element, element("div", {class: "page"},
			element("h2", {}, "Memory"),
			isBoth && element("p", {class: "quiet"},
				"The framework allocates from memory that it got from the runtime: do not add the two up."),
			element("div", {class: "toolbar"},
				button("+", "Zoom in", () => this.#zoom(0.5)), button("−", "Zoom out", () => this.#zoom(2)),
				button("←", "Earlier", () => this.#pan(-STEP)), button("→", "Later", () => this.#pan(STEP)),
				button("All", "Show the whole trace", () => this.#showAll())),
			...this.plots.map(({series, element: svg}) => element("section", {},
				element("h3", {}, `${series.title} `, element("span", {class: "quiet"}, this.#about(series)),
					element("button", {class: "peak", "aria-label": `Peak of ${series.title}`,
						title: "what was live at the peak", click: () => this.#showPeak(series)}, "Peak")),
				svg))));
	}

	/** @param {Series} series */
	#about({peak_bytes, peak_at, end_bytes}) {
		return `peak ${bytes(peak_bytes)} at ${duration(peak_at)}; ${bytes(end_bytes)} at the end`;
	}

	/**
	 * @param {Series} series
	 * @returns {Plot}
	 */
	#plot(series) {
		/** @type {Plot} */
		const plot = {series, scale: null, ...responsive(`Memory of ${series.title} over time`, HEIGHT,
			(width) => this.#draw(plot, width))};
		this.#listen(plot);
		return plot;
	}

	/**
	 * @param {Plot} plot
	 * @param {number} width
	 */
	#draw(plot, width) {
		const {from, to, options} = this.context.store.state;
		const x = plot.scale = horizontal(from, to, width);
		const y = vertical(Math.max(plot.series.peak_bytes, 1), HEIGHT);
		const part = this.parts.get(plot.series.band);
		const {peak_at, peak_bytes} = plot.series;
		const moment = options.moment === undefined ? null : Number(options.moment);
		return [
			valueAxis(y, width, "bytes"),
			part ? area(part, x, y) : null,
			peak_at >= from && peak_at < to && drawing("g", {class: "mark"},
				drawing("circle", {cx: x.at(peak_at), cy: y.at(peak_bytes), r: 4}),
				drawing("title", {}, `peak: ${bytes(peak_bytes)} at ${duration(peak_at)}`)),
			moment !== null && moment >= from && moment < to && drawing("line",
				{class: "moment", x1: x.at(moment), x2: x.at(moment), y1: y.at(y.to), y2: y.at(0)}),
			timeAxis(x, HEIGHT),
		];
	}

	/**
	 * A click asks what is live, a drag zooms.
	 * @param {Plot} plot
	 */
	#listen(plot) {
		const svg = plot.element;
		const timeAt = (/** @type {PointerEvent} */ event) => {
			const {from, to} = this.context.store.state;
			const at = plot.scale?.value(event.clientX - svg.getBoundingClientRect().left) ?? 0;
			return Math.round(Math.min(Math.max(at, from), to));
		};
		/** @type {{x: number, time: number} | null} */
		let pressed = null;
		svg.addEventListener("pointerdown", (event) => {
			const pointer = /** @type {PointerEvent} */ (event);
			pressed = {x: pointer.clientX, time: timeAt(pointer)};
			svg.setPointerCapture(pointer.pointerId);
		});
		svg.addEventListener("pointerup", (event) => {
			const pointer = /** @type {PointerEvent} */ (event);
			if (!pressed)
				return;
			const [from, to] = [pressed.time, timeAt(pointer)].sort((a, b) => a - b);
			if (Math.abs(pointer.clientX - pressed.x) > DRAG_PX && from < to)
				this.context.store.update({from, to}, "push");
			else
				this.#choose(plot.series.band, pressed.time);
			pressed = null;
		});
	}

	/**
	 * @param {number} band
	 * @param {number} time
	 */
	#choose(band, time) {
		this.context.store.update({options: {moment: String(time), memory: String(band)}}, "push");
	}

	/**
	 * What was live at the peak, which comes into the window.
	 * @param {Series | undefined} series
	 */
	#showPeak(series) {
		const {store} = this.context;
		if (!series)
			return;
		const {band, peak_at} = series;
		store.update({...revealed(store.state, peak_at, peak_at + 1, store.span),
			options: {moment: String(peak_at), memory: String(band)}}, "push");
	}

	/** The one that was clicked last, or the first. */
	#chosenPlot() {
		const {memory} = this.context.store.state.options;
		return this.plots.find(({series}) => String(series.band) === memory) ?? this.plots[0];
	}

	/** @param {number} direction */
	#moveMoment(direction) {
		const {from, to, options} = this.context.store.state;
		const band = Number(options.memory ?? this.plots[0]?.series.band);
		const part = this.parts.get(band);
		const at = Number(options.moment ?? (direction > 0 ? from : to));
		const times = [...part?.time ?? []].map(Math.round).filter((time) => time >= from && time < to);
		const next = direction > 0 ? times.find((time) => time > at) : times.reverse().find((time) => time < at);
		if (next !== undefined)
			this.#choose(band, next);
	}

	/** @param {number} factor */
	#zoom(factor) {
		const {store} = this.context;
		store.update(zoomed(store.state, factor, (store.state.from + store.state.to) / 2, store.span));
	}

	/** @param {number} share of the window */
	#pan(share) {
		const {store} = this.context;
		store.update(panned(store.state, share * (store.state.to - store.state.from), store.span));
	}

	#showAll() {
		this.context.store.update({...this.context.store.all});
	}

	/** Shows what the state says. */
	#follow() {
		const {state: {view}, scope} = this.context.store;
		if (view !== "memory" || this.plots.length === 0)
			return;
		if (scope !== this.scope) {
			this.scope = scope;
			this.load(); /* peaks are those of what is looked at */
			return;
		}
		for (const plot of this.plots)
			plot.redraw();
		this.table?.refresh();
		this.#fetch();
		this.#showLive();
	}

	async #fetch() {
		const {from, to} = this.context.store.state;
		const pixels = Math.min(Math.max(Math.round(this.plots[0].element.getBoundingClientRect().width), 1), 2048);
		const wanted = `${from}:${to}:${pixels}`;
		if (wanted === this.fetched)
			return;
		this.fetched = wanted;
		this.request?.abort();
		this.request = new AbortController();
		try {
			const bands = this.plots.map(({series}) => series.band);
			const parts = await this.context.api.series({bands, from, to, pixels}, this.request.signal);
			this.parts = new Map(parts.map((part) => [part.band, part]));
		} catch {
			return; /* a newer window was requested, or the server has gone, which other views report */
		}
		for (const plot of this.plots)
			plot.redraw();
	}

	/** Which operations allocated what is live at the moment that is chosen. */
	async #showLive() {
		const {options} = this.context.store.state;
		const asked = options.moment === undefined ? "" : `${options.memory}:${options.moment}`;
		if (asked === this.shownLive)
			return;
		this.shownLive = asked;
		this.table = null;
		const plot = this.plots.find(({series}) => String(series.band) === options.memory);
		if (!asked || !plot)
			return this.live.remove();
		const {series} = plot;
		const answer = await this.context.api.json("live", {band: series.band, time: options.moment})
			.catch((/** @type {Error} */ error) => error);
		if (this.shownLive !== asked)
			return undefined;
		plot.element.after(this.live);
		if (answer instanceof Error)
			return replaceContent(this.live, problem(answer));
		const columns = [
			{key: "text", title: "operation", unit: "text"}, {key: "allocator", title: "allocator", unit: "text"},
			{key: "count", title: "allocations", unit: "count", is_sum: true},
			{key: "bytes", title: "bytes", unit: "bytes", whole: answer.bytes},
		];
		const table = createTable({title: "Live memory by operation", columns, rows: answer.rows,
			choose: ({node}) => node !== null && this.context.store.select(this.context.store.keyOfNode(Number(node))),
			isChosen: ({node}) => node !== null && node === this.context.store.selected?.node});
		this.table = table;
		return replaceContent(this.live,
			element("h3", {}, `Live at ${duration(Number(options.moment))}: `, element("span", {class: "quiet"},
				`${bytes(answer.bytes)} in ${counted(answer.count, "allocation")}`)),
			answer.rows.length > 0 && table.element);
	}

	show() {
		if (this.plots.length === 0)
			this.load();
		else
			this.#follow();
	}
}

/**
 * @param {import("../main.js").Context} context
 * @returns {import("../main.js").View}
 */
export function create(context) {
	const memory = new Memory(context);
	return {element: memory.element, show: () => memory.show(), hide() {}};
}
