// SPDX-License-Identifier: Apache-2.0
/**
 * The dataflow graph: operations, collapsed by scope, with what they cost.
 *
 *     ┌ graph ─ colour ─ find ─ legend ──────────────┐
 *     │ canvas: the server has laid it out           │
 *     ├ what is under the pointer, or selected ──────┤
 *     └──────────────────────────────────────────────┘
 *
 * The graph, the scopes that the user has opened and closed, the colours and the position of the camera are options of
 * the state; the selected operation is the selection of all views.
 */

import {replaceContent} from "../shared/dom.js";
import {count, counted, duration, percent} from "../shared/format.js";
import {onThemeChange} from "../shared/theme.js";
import {Camera} from "./camera.js";
import {Painter} from "./draw.js";
import {createFrame} from "./frame.js";
import {declareKeys, listen} from "./input.js";
import {createLegend, PAINTS, shortDevice} from "./paint.js";
import {Picture} from "./picture.js";

/**
 * @typedef {import("./picture.js").Item} Item
 */

const PATIENCE_MS = 120; /* while somebody types */
const EMPTY = new Picture({nodes: [], edges: []});
const NOTHING_FOUND = {nodes: []};
const NOTHING_OPENED = {opened: null, closed: null, unfolded: null, at: null};

/** @param {string | undefined} text */
const readList = (text) => (text ?? "").split(",").filter((each) => /^\d+$/.test(each));

/** @param {string | undefined} text a list @param {string} more */
const addTo = (text, more) => [...readList(text).filter((each) => each !== more), more].join(",");

/** @param {string | undefined} text a list @param {string} less */
const removeFrom = (text, less) => readList(text).filter((each) => each !== less).join(",") || null;

/** @param {Item} item @param {number} span of the trace */
function describe(item, span) {
	const words = [item.name];
	if (item.scope)
		words.push(`scope of ${counted(item.children, "operation")}`);
	else if (item.children)
		words.push(`and ${counted(item.children - 1, "similar one")}`);
	else if (item.type)
		words.push(item.type);
	if (item.device || item.is_on_several)
		words.push(item.device ? shortDevice(item.device) : "several devices");
	words.push(item.count === 0 ? "not executed" :
		`${counted(item.count, "execution")}, self time ${duration(item.self_ns)}`);
	if (item.variables > 0)
		words.push(`with ${counted(item.variables, "variable or constant", "variables and constants")}`);
	if (item.device_ns > 0)
		words.push(`${duration(item.device_ns)} on the device`);
	if (item.critical_ns > 0)
		words.push(`${percent(item.critical_ns, span)} of the critical path`);
	return words.join(" · ");
}

class GraphView {
	/** @param {import("../main.js").Context} context */
	constructor(context) {
		this.context = context;
		this.store = context.store;
		this.camera = new Camera();
		/** @type {Picture | null} */
		this.picture = null;
		/** @type {Item | null} */
		this.current = null;
		/** @type {Item | null} */
		this.hovered = null;
		/** @type {import("./picture.js").Found[]} */
		this.found = [];
		this.foundFor = "";
		this.findTimer = 0;
		this.matches = EMPTY.whereFound([]);
		this.asked = "";
		this.shownSelection = "";
		this.isShown = false;
		this.frame = 0;
		/** @type {AbortController | null} */
		this.loading = null;
		this.paint = "time";
		this.parts = createFrame(context.trace.graphs, {
			choose: (graph) => this.#choose(graph),
			paint: (paint) => this.store.update({options: {paint}}),
			lanes: () => this.toggleLanes(),
			fit: () => this.fit(),
			reset: () => this.store.update({options: NOTHING_OPENED}),
			find: () => {
				window.clearTimeout(this.findTimer);
				this.findTimer = window.setTimeout(() => this.#find(), PATIENCE_MS);
			},
			goToNextMatch: () => this.#goToNextMatch(),
		});
		this.element = this.parts.element;
		this.canvas = this.parts.canvas;
		this.painter = new Painter(this.canvas);
		listen(this.canvas, this);
		declareKeys(context.keys, this);
		onThemeChange(() => {
			this.painter.readTheme();
			this.redraw();
		});
		new ResizeObserver(() => this.#resize()).observe(this.canvas);
		this.store.subscribe(() => this.#follow());
	}

	/** The graph that the state names; otherwise the one with the most executions, with edges if any has edges. */
	#wantedGraph() {
		const {graphs} = this.context.trace;
		const wanted = Number(this.store.state.options.graph);
		const largest = [...graphs].sort((a, b) => Number(b.edges > 0) - Number(a.edges > 0) ||
			b.executions - a.executions || b.nodes - a.nodes)[0];
		return graphs.find((/** @type {any} */ each) => each.graph === wanted)?.graph ?? largest?.graph ?? null;
	}

	/** @param {string} graph */
	#choose(graph) {
		this.store.update({options: {...NOTHING_OPENED, graph}}, "push");
	}

	/* ---- state → picture ---- */

	#follow() {
		const {state, selected} = this.store;
		if (!this.isShown)
			return;
		const paint = state.options.paint ?? "";
		this.paint = Object.keys(PAINTS).includes(paint) ? paint : "time";
		this.parts.painting.value = this.paint;
		const fresh = state.select !== this.shownSelection ? selected : null;
		if (fresh?.node && fresh.graph !== this.#wantedGraph()) {
			this.store.update({options: {...NOTHING_OPENED, graph: String(fresh.graph)}});
			return; /* comes here again */
		}
		if (!state.select && this.shownSelection) {
			this.shownSelection = "";
			this.current = null;
		}
		this.#load(fresh?.node ?? null);
	}

	/** @param {number | null} node that is to be shown */
	async #load(node) {
		const graph = this.#wantedGraph();
		if (graph === null) {
			this.parts.message.textContent = "The trace has no dataflow graph.";
			return;
		}
		this.parts.chooser.value = String(graph);
		const {opened, closed, unfolded, lanes} = this.store.state.options;
		const isThere = this.picture?.graph === graph && (this.picture?.byId.has(`n${node}`) ?? false);
		const {scope} = this.store;
		const asked = [scope, graph, lanes, opened, closed, unfolded].join(" ");
		if (asked !== this.asked || (node !== null && !isThere)) {
			this.asked = asked;
			const picture = await this.#fetch(
				{graph, scope, open: opened, close: closed, unfold: unfolded, show: node, lanes: lanes ? 1 : null});
			if (!picture)
				return;
			this.#show(picture);
			if (node !== null)
				this.#keepOpen(picture.byId.get(`n${node}`));
		}
		if (node !== null) {
			this.shownSelection = this.store.state.select;
			this.#makeCurrent(this.picture?.byId.get(`n${node}`) ?? null, true);
		}
		this.#update();
	}

	/**
	 * @param {import("../shared/api.js").Parameters} wish
	 * @returns {Promise<Picture | null>} null: another one is wanted by now, or there is none
	 */
	async #fetch(wish) {
		this.loading?.abort();
		const loading = this.loading = new AbortController();
		try {
			return new Picture(await this.context.api.json("graph", wish, loading.signal));
		} catch (error) {
			if (!loading.signal.aborted)
				this.parts.message.textContent = error instanceof Error ? error.message : String(error);
			return null;
		}
	}

	/**
	 * What was opened and unfolded for an item stays so.
	 * @param {Item | undefined} item
	 */
	#keepOpen(item) {
		const {picture, store} = this;
		const {opened, closed, unfolded} = store.state.options;
		/** @type {string[]} */
		const around = [];
		for (let box = item?.parent; picture && box; box = picture.get(box).parent)
			around.push(String(picture.get(box).scope));
		const open = [...new Set([...readList(opened), ...around])].join(",") || null;
		const close = readList(closed).filter((each) => !around.includes(each)).join(",") || null;
		const unfold = item ? addTo(unfolded, String(item.node)) : unfolded ?? null;
		this.asked = [store.scope, picture?.graph, store.state.options.lanes, open, close, unfold].join(" ");
		store.update({options: {opened: open, closed: close, unfolded: unfold}});
	}

	/**
	 * Puts a new picture where the old one was, as far as they have something in common.
	 * @param {Picture} picture
	 */
	#show(picture) {
		const old = this.picture;
		const anchor = old?.graph === picture.graph && this.current ? this.current : null;
		const same = anchor && picture.byId.get(anchor.id);
		this.picture = picture;
		this.hovered = null;
		this.parts.message.textContent = picture.items.length === 0 ? "The graph is empty." : "";
		if (anchor && same && same.is_open && !anchor.is_open) {
			this.camera.enter(same, picture.firstIn(same)); /* what was opened is to be seen */
		} else if (anchor && same) {
			this.camera.x += same.x + same.width / 2 - anchor.x - anchor.width / 2;
			this.camera.y += same.y - anchor.y;
		} else if (!this.camera.read(this.store.state.options.at)) {
			this.camera.start(picture.page, picture.first);
		}
		this.current = (this.current && picture.byId.get(this.current.id)) ?? null;
		this.#find();
	}

	#update() {
		if (!this.picture)
			return;
		this.parts.lanes.hidden = !this.picture.hasDevices;
		this.parts.lanes.setAttribute("aria-pressed", String(this.picture.hasLanes));
		replaceContent(this.parts.legend, ...createLegend(this.paint, this.picture));
		this.#say();
		this.redraw();
	}

	#say() {
		const item = this.hovered ?? this.current;
		const {picture} = this;
		if (!picture)
			return;
		const items = counted(picture.items.length, "item");
		this.canvas.setAttribute("aria-label", `Dataflow graph ${picture.name}: ${items}`);
		this.parts.status.textContent = item ? describe(item, this.store.span) :
			[items, picture.items.length > 0 && picture.edges.length === 0 ? "the trace does not say what feeds what"
				: counted(picture.edges.length, "edge"),
			picture.crossing > 0 && `${counted(picture.crossing, "edge crosses", "edges cross")} ` +
				"from one device to another"].filter(Boolean).join(", ");
	}

	redraw() {
		if (this.frame || !this.isShown)
			return;
		this.frame = requestAnimationFrame(() => {
			this.frame = 0;
			if (!this.picture)
				return;
			this.painter.draw({picture: this.picture, camera: this.camera, paint: this.paint,
				current: this.current, hovered: this.hovered, matches: this.matches});
			const at = this.camera.write();
			if (at !== this.store.state.options.at)
				this.store.update({options: {at}});
		});
	}

	#resize() {
		const {clientWidth: width, clientHeight: height} = this.canvas;
		if (width === 0 || height === 0)
			return;
		this.canvas.width = Math.round(width * devicePixelRatio);
		this.canvas.height = Math.round(height * devicePixelRatio);
		this.camera.width = width;
		this.camera.height = height;
		this.redraw();
	}

	/* ---- what the user does ---- */

	/** @param {number} x @param {number} y on the canvas */
	#itemAt(x, y) {
		return this.picture?.itemAt(this.camera.worldX(x), this.camera.worldY(y)) ?? null;
	}

	/** @param {number} x @param {number} y */
	hover(x, y) {
		const item = this.#itemAt(x, y);
		if (item === this.hovered)
			return;
		this.hovered = item;
		this.#say();
		this.redraw();
	}

	leave() {
		this.hovered = null;
		this.#say();
		this.redraw();
	}

	/** @param {number} x @param {number} y */
	pick(x, y) {
		this.#chooseItem(this.#itemAt(x, y));
	}

	/**
	 * Selects an operation everywhere; a scope is known here alone.
	 * @param {Item | null} item
	 */
	#chooseItem(item) {
		this.#makeCurrent(item, false);
		const select = item?.node && item.children === 0 ? this.store.keyOfNode(item.node) : "";
		if (select !== this.store.state.select) {
			this.shownSelection = select;
			this.store.select(select);
		}
	}

	/** @param {Item | null} item @param {boolean} isRevealed */
	#makeCurrent(item, isRevealed) {
		this.current = item;
		if (item && isRevealed)
			this.camera.reveal(item);
		this.#say();
		this.redraw();
	}

	/** @param {number} x @param {number} y */
	toggleAt(x, y) {
		this.#toggleItem(this.#itemAt(x, y));
	}

	toggle() {
		this.#toggleItem(this.current);
	}

	/**
	 * Opens or closes a scope; unfolds what stands for several.
	 * @param {Item | null} item
	 */
	#toggleItem(item) {
		const {opened, closed, unfolded} = this.store.state.options;
		if (!item || item.children === 0)
			return;
		const number = item.id.slice(1);
		this.current = item;
		this.store.update({options: !item.scope ? {unfolded: addTo(unfolded, number)} :
			item.is_open ? {closed: addTo(closed, number), opened: removeFrom(opened, number)} :
			{opened: addTo(opened, number), closed: removeFrom(closed, number)}}, "push");
	}

	toggleLanes() {
		this.store.update({options: {lanes: this.store.state.options.lanes ? null : "on", at: null}}, "push");
	}

	fit() {
		if (!this.picture)
			return;
		this.camera.fit(this.picture.page);
		this.redraw();
	}

	/** @param {"up" | "down" | "left" | "right"} direction */
	move(direction) {
		const {picture, camera} = this;
		const start = this.current;
		const next = start && !start.is_open ? picture?.neighbour(start, direction) :
			picture?.nearest(camera.x, camera.y);
		if (!next)
			return;
		this.#chooseItem(next);
		camera.reveal(next);
		this.redraw();
	}

	/** Asks the server for matches, unless it has already answered: most may be in closed scopes. */
	async #find() {
		window.clearTimeout(this.findTimer);
		const text = this.parts.finder.value.trim();
		const graph = this.picture?.graph;
		const asked = text && graph ? `${graph} ${text}` : "";
		if (asked !== this.foundFor) {
			this.foundFor = asked;
			const answer = asked ? await this.context.api.json("graph_find", {graph, text}).catch(() => null)
				: NOTHING_FOUND;
			if (this.foundFor !== asked)
				return;
			if (!answer) {
				this.foundFor = "";
				this.parts.found.textContent = "the server did not answer";
				return;
			}
			this.found = answer.nodes;
		}
		this.matches = (this.picture ?? EMPTY).whereFound(this.found);
		const {shown, hidden} = this.matches;
		this.parts.found.textContent = !asked ? "" : this.found.length === 0 ? "no match" :
			`${count(shown.length)} shown` + (hidden.length > 0 ? `, ${count(hidden.length)} in closed boxes` : "");
		this.redraw();
	}

	/** Those that are shown first; then the next one is opened. */
	async #goToNextMatch() {
		await this.#find();
		const {shown, hidden} = this.matches;
		const index = shown.indexOf(/** @type {Item} */ (this.current)) + 1;
		if (index === shown.length && hidden.length > 0) {
			this.store.select(this.store.keyOfNode(hidden[0].node));
			return;
		}
		const next = shown[index % shown.length];
		if (next) {
			this.#chooseItem(next);
			this.camera.reveal(next);
			this.redraw();
		}
	}

	show() {
		this.isShown = true;
		this.#resize();
		this.#follow();
	}

	hide() {
		this.isShown = false;
	}
}

/** @param {import("../main.js").Context} context */
export function create(context) {
	return new GraphView(context);
}
