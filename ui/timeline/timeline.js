// SPDX-License-Identifier: Apache-2.0
/**
 * The timeline: all tracks over one axis of time.
 *
 *     ┌ tools ────────────────────────────────────────┐
 *     │          │ axis                               │
 *     │ tree of  ├────────────────────────────────────┤ ▲
 *     │ names    │ rows: a canvas of slices, and over │ █  scrolls
 *     │          │ it one of selection and arrows     │ ▼
 *     ├ what is missing ──────────────────────────────┤
 *     └───────────────────────────────────────────────┘
 *
 * Names are elements, slices are pixels. Something is drawn only when something has changed, and then once in a
 * frame of the browser.
 */

import {duration, exactDuration} from "../shared/format.js";
import {onThemeChange} from "../shared/theme.js";
import {bandsOf, readArea, readStretch, writeArea} from "./area.js";
import {drawAxis, isOnStrip} from "./axis.js";
import {declareKeys, goToFirst} from "./commands.js";
import {Painter} from "./draw.js";
import {createFrame, resize} from "./frame.js";
import {listen} from "./input.js";
import {Openness} from "./openness.js";
import {Overlay} from "./overlay.js";
import {Palette} from "./palette.js";
import {firstLanes, Groups, laneAt} from "./rows.js";
import {valueAt} from "./series.js";
import {firstAbove} from "./sorted.js";
import {Sources} from "./sources.js";
import {momentText, ticks} from "./ticks.js";
import {createTools} from "./tools.js";
import {Tooltip} from "./tooltip.js";
import {Tree} from "./tree.js";
import {panned, revealed, sensibleWindow, xToTime, zoomed} from "./viewport.js";

/** Options that change which rows there are. */
const LAYOUT_OPTIONS = ["open", "closed", "lanes", "tracks", "pinned"];

export class Timeline {
	/** @param {import("../main.js").Context} context */
	constructor(context) {
		const {api, store, trace, colours} = context;
		this.context = context;
		this.store = store;
		this.groups = new Groups(trace);
		this.openness = new Openness(this.groups, store);
		this.layout = this.openness.layOut();
		this.bands = new Sources(api, store.span, () => this.refresh());
		this.top = 0;
		/** @type {{x: number, y: number} | null} */
		this.pointer = null;
		this.isShown = false;
		this.isAwaited = false;
		/**
		 * A stretch of time that is being drawn, and the bands to which it is limited.
		 * @type {{from: number, to: number, area: Set<number> | null} | null}
		 */
		this.draft = null;
		/** What was clicked here is in sight. */
		this.ownSelection = "";
		/** How wide the canvas was when something was clicked; 0: since then it has been drawn. */
		this.clickedWidth = 0;
		this.lastSelected = /** @type {import("../shared/state.js").Selected | null} */ (null);
		this.tools = createTools(context, {
			zoom: (factor) => this.#zoom((store.state.from + store.state.to) / 2, factor),
			showAll: () => this.showAll(),
			showSelection: () => this.showSelection(),
			setAll: (isOpen) => this.openness.set(this.groups.all, isOpen),
		});
		this.tree = new Tree({toggle: (row) => this.#toggle(row), enter: (row) => goToFirst(this, false, [row]),
			pin: ({group}) => this.openness.togglePin(group)});
		this.tooltip = new Tooltip(api);
		this.frame = createFrame(this.tools.element, this.tree.element, this.tooltip.element, trace);
		this.element = this.frame.element;
		this.painter = new Painter(this.frame.canvas, {bands: this.bands, palette: new Palette(colours),
			labelText: (table, label) => api.labelText(table, label)});
		this.overlay = new Overlay(this.frame.overlay, this.bands);
		this.#listen();
	}

	#listen() {
		const {canvas, axis, scroller, drawing} = this.frame;
		scroller.addEventListener("scroll", () => this.refresh());
		this.tree.reveal = (row) => this.#scrollTo(row);
		new ResizeObserver(() => this.refresh()).observe(drawing);
		onThemeChange(() => {
			this.painter.readTheme();
			this.overlay.readTheme();
			this.refresh();
		});
		const actions = this.#actions();
		listen(canvas, actions, (event) => (event.shiftKey ? "area" : "pan"));
		listen(axis, actions, (event) => (isOnStrip(event.offsetY) ? "jump" : "stretch"));
		this.store.subscribe((state, previous) => this.#changed(state, previous));
		declareKeys(this);
	}

	/** @returns {import("./input.js").Actions} */
	#actions() {
		const {store} = this;
		const timeAt = (/** @type {number} */ x) => xToTime(this.#viewport(), x * this.#ratio());
		return {
			zoom: (x, factor) => this.#zoom(timeAt(x), factor),
			pan: (x) => store.update(panned(store.state, timeAt(x) - timeAt(0), store.span)),
			scroll: (y) => this.frame.scroller.scrollBy(0, y),
			stretch: (from, to, isDone, isLimited) => {
				const [low, high] = [timeAt(Math.min(from.x, to.x)), timeAt(Math.max(from.x, to.x))];
				const area = isLimited ? this.#bandsBetween(from.y, to.y) : null;
				this.draft = {from: Math.round(low), to: Math.max(Math.round(high), Math.round(low) + 1), area};
				this.refresh();
				if (isDone) {
					store.select("", {options: {stretch: `${this.draft.from},${this.draft.to}`,
						area: area && writeArea(area)}});
					this.draft = null;
				}
			},
			point: (x, y) => {
				this.pointer = {x, y};
				this.refresh();
			},
			leave: () => {
				this.pointer = null;
				this.refresh();
			},
			select: (x, y) => this.#select(x, y),
			zoomTo: (x, y) => {
				const hit = this.#hit(x, y);
				if (hit)
					store.update(store.windowAround(hit.from, hit.to), "push");
			},
			jump: (x) => {
				const middle = (x * this.#ratio() * store.span) / this.frame.axis.width;
				const half = (store.state.to - store.state.from) / 2;
				store.update(sensibleWindow(middle - half, middle + half, store.span));
			},
		};
	}

	/**
	 * @param {number} anchor
	 * @param {number} factor
	 */
	#zoom(anchor, factor) {
		this.store.update(zoomed(this.store.state, factor, anchor, this.store.span));
	}

	showAll() {
		this.store.update({...this.store.all}, "push");
	}

	/** Zooms to what is selected: a slice, or a stretch of time. */
	showSelection() {
		const {store} = this;
		const {selected} = store;
		const stretch = readStretch(store.state.options.stretch);
		if (selected?.from != null && selected.to != null)
			store.update(store.windowAround(selected.from, selected.to), "push");
		else if (stretch)
			store.update(sensibleWindow(stretch.from, stretch.to, store.span), "push");
	}

	/** The time under the pointer, or in the middle where there is none. */
	pointerTime() {
		return xToTime(this.#viewport(), this.pointer ? this.pointer.x * this.#ratio() : this.frame.canvas.width / 2);
	}

	/** @param {import("./rows.js").Row} row */
	#toggle({group, band, isOpen}) {
		if (band)
			this.openness.setLanes(band, isOpen === false);
		else
			this.openness.set([group], isOpen === false);
	}

	/** Opens or closes the group of the selected slice. */
	toggleSelected() {
		const band = this.store.selected?.answer.band;
		const row = typeof band === "number" ? this.layout.rowOfBand.get(band) : undefined;
		const heading = row && this.layout.rowOfGroup.get(row.group.id);
		if (heading)
			this.#toggle(heading);
	}

	/** Pins the group of the selected slice, or of the row that has the focus. */
	pinSelected() {
		const band = this.store.selected?.answer.band;
		const row = this.tree.focused() ?? (typeof band === "number" ? this.layout.rowOfBand.get(band) : undefined);
		if (row)
			this.openness.togglePin(row.group);
	}

	/**
	 * The bands of the rows between two heights on the screen.
	 * @param {number} from
	 * @param {number} to
	 */
	#bandsBetween(from, to) {
		const [low, high] = [from, to].map((y) => this.layout.heightAt(y, this.top)).sort((a, b) => a - b);
		const rows = this.layout.rows.filter(({top, height}) => top < high && top + height > low);
		return new Set(bandsOf(this.layout, rows));
	}

	#ratio() {
		return window.devicePixelRatio || 1;
	}

	/** @returns {import("./viewport.js").Viewport} */
	#viewport() {
		const {from, to} = this.store.state;
		return {from, to, width: this.frame.canvas.width};
	}

	/**
	 * The slice at a place of the canvas. A little beside it is near enough.
	 * @param {number} x
	 * @param {number} y
	 * @returns {import("./tooltip.js").Hit | null}
	 */
	#hit(x, y) {
		const row = this.layout.rowAt(y, this.top);
		const lane = row && laneAt(row, this.layout.heightAt(y, this.top));
		if (!row || !lane || lane.band.kind === "series")
			return null;
		const viewport = this.#viewport();
		const time = xToTime(viewport, x * this.#ratio());
		const room = (2 * (viewport.to - viewport.from)) / viewport.width;
		const shown = this.bands.slicesOf(lane.band, Math.max(row.lanes, 1), viewport.from, viewport.to);
		for (const {from, to, parts} of shown) {
			const part = parts.find((each) => each.lane === lane.lane);
			if (!part || time < from || time >= to)
				continue;
			const i = firstAbove(part.end, time - room);
			if (i < part.count && part.start[i] <= time + room)
				return {...lane, row: part.row[i], label: part.label[i], slices: part.slices[i], shade: part.shade[i],
					from: part.start[i], to: part.end[i]};
		}
		return null;
	}

	/**
	 * The value of the counter at a place of the canvas.
	 * @param {number} x
	 * @param {number} y
	 * @returns {import("./tooltip.js").Value | null}
	 */
	#valueAt(x, y) {
		const row = this.layout.rowAt(y, this.top);
		if (row?.band?.kind !== "series")
			return null;
		const viewport = this.#viewport();
		const time = xToTime(viewport, x * this.#ratio());
		const found = valueAt(this.bands.seriesOf(row.band, viewport.from, viewport.to), time);
		return found && {...found, band: row.band, time};
	}

	/** @param {number} x @param {number} y */
	#select(x, y) {
		this.frame.canvas.focus({preventScroll: true});
		const hit = this.#hit(x, y);
		this.ownSelection = hit ? this.store.keyOfRow(hit.band.table, hit.row) : "";
		this.clickedWidth = this.frame.canvas.width;
		if (this.ownSelection !== this.store.state.select)
			this.store.select(this.ownSelection);
	}

	/**
	 * @param {import("../shared/state.js").State} state
	 * @param {import("../shared/state.js").State} previous
	 */
	#changed(state, previous) {
		if (LAYOUT_OPTIONS.some((name) => state.options[name] !== previous.options[name]))
			this.layout = this.openness.layOut();
		if (this.isShown)
			this.#follow();
		this.refresh();
	}

	/** Brings what was selected or asked for elsewhere into sight. */
	#follow() {
		const {store} = this;
		const {track} = store.state.options;
		if (track !== undefined) {
			store.update({options: {track: null}});
			const group = this.groups.groupOfTrack.get(Number(track));
			this.#reveal(group, this.groups.bandOfTrack.get(Number(track)));
		}
		const {selected} = store;
		if (selected === this.lastSelected)
			return;
		this.lastSelected = selected;
		this.#tellSelected();
		if (selected?.kind !== "row" || store.state.select === this.ownSelection)
			return;
		const {band, lane} = selected.answer;
		const from = Number(selected.from);
		const to = Number(selected.to);
		if (typeof band !== "number")
			return;
		if (lane >= firstLanes(this.groups.bands[band]))
			this.openness.setLanes(this.groups.bands[band], true);
		this.#reveal(this.groups.all.find(({bands}) => bands.includes(band)), this.groups.bands[band]);
		const window = revealed(store.state, from, to, store.span);
		if (window.from !== store.state.from && !store.isFromUrl)
			store.update(window);
	}

	#tellSelected() {
		const {selected} = this.store;
		this.frame.status.textContent = selected?.kind !== "row" ? selected?.title ?? ""
			: `${selected.title}, ${duration(Number(selected.to) - Number(selected.from))}, ` +
				`at ${exactDuration(Number(selected.from))}`;
	}

	/**
	 * @param {import("./rows.js").Group | undefined} group
	 * @param {import("./rows.js").Band | undefined} band
	 */
	#reveal(group, band) {
		if (group && !this.layout.rowOfGroup.has(group.id))
			this.store.update({options: {tracks: null}}); /* the filter hides it */
		if (group)
			this.openness.reveal(group);
		const row = (band && this.layout.rowOfBand.get(band.band)) ?? (group && this.layout.rowOfGroup.get(group.id));
		if (row)
			this.#scrollTo(row);
	}

	/** @param {import("./rows.js").Row} row */
	#scrollTo({top, height, isPinned}) {
		const {scrollTop, clientHeight} = this.frame.scroller;
		const {pinnedHeight} = this.layout;
		/* The spacer may still have the height of the former layout. */
		this.tree.element.style.height = `${this.layout.height}px`;
		if (!isPinned && (top < scrollTop + pinnedHeight || top + height > scrollTop + clientHeight))
			this.frame.scroller.scrollTop = Math.max(top - pinnedHeight - (clientHeight - pinnedHeight) / 3, 0);
	}

	/** Draws in the next frame. */
	refresh() {
		if (this.isAwaited || !this.isShown)
			return;
		this.isAwaited = true;
		requestAnimationFrame(() => {
			this.isAwaited = false;
			if (this.isShown)
				this.#draw();
		});
	}

	#draw() {
		const {store, layout} = this;
		const ratio = this.#ratio();
		resize(this.frame.drawing, [this.frame.canvas, this.frame.overlay], ratio);
		resize(this.frame.axis, [this.frame.axis], ratio);
		this.#keepScale();
		const viewport = this.#viewport();
		this.tree.render(layout, this.frame.scroller.scrollTop, this.frame.scroller.clientHeight);
		this.top = this.frame.scroller.scrollTop;
		const moments = ticks(viewport, 11 * ratio);
		const {selected} = store;
		const highlight = selected && selected.table !== null && selected.label !== null
			? {table: selected.table, label: selected.label} : null;
		const common = {layout, top: this.top, viewport, ratio};
		const isComplete = this.bands.want(this.#bandsInSight(), viewport);
		this.painter.draw({...common, highlight, grid: moments.map(({time}) => time), showIdle: this.tools.showIdle()});
		const stretch = this.draft ?? readStretch(store.state.options.stretch);
		const area = this.draft ? this.draft.area : readArea(store.state.options.area);
		this.overlay.draw({...common, selected, stretch, area, path: this.#path()});
		drawAxis(this.frame.axis, {viewport, ratio, span: store.span, ticks: moments, stretch,
			pointer: this.pointer && this.pointerTime()});
		this.#pointOut();
		this.#tell(isComplete);
	}

	/** A click opens or closes the panel beside the canvas: what was clicked stays under the pointer. */
	#keepScale() {
		const {width} = this.frame.canvas;
		const {from, to} = this.store.state;
		if (this.clickedWidth > 0 && width !== this.clickedWidth) {
			const end = from + ((to - from) * width) / this.clickedWidth;
			this.store.update({from, to: Math.min(end, Math.max(to, this.store.span))});
		}
		this.clickedWidth = 0;
	}

	/** The critical path, where it is to be drawn as a line. */
	#path() {
		return (this.tools.showPath() && this.groups.bands.find(({as}) => as.is_shaded_by_track)) || null;
	}

	/** @returns {import("./rows.js").Row[]} */
	rowsInSight() {
		return this.layout.inSight(this.top, this.frame.drawing.clientHeight);
	}

	/** @returns {import("./sources.js").Shown[]} */
	#bandsInSight() {
		const rows = this.rowsInSight();
		const shown = rows.flatMap(({band, stripes, lanes}) =>
			(band ? [{band, lanes}] : stripes.map((stripe) => ({band: stripe, lanes: 1}))));
		const path = this.#path();
		if (path)
			shown.push({band: path, lanes: 1});
		if (this.tools.showIdle()) {
			for (const {band} of [...shown]) {
				const idle = this.groups.idleOfQueue.get(band.band);
				if (idle)
					shown.push({band: idle, lanes: 1});
			}
		}
		return shown;
	}

	#pointOut() {
		this.frame.hair.hidden = this.pointer === null;
		if (this.pointer)
			this.frame.hair.style.transform = `translateX(${Math.floor(this.pointer.x)}px)`;
		const hit = this.pointer && this.#hit(this.pointer.x, this.pointer.y);
		const value = hit ? null : this.pointer && this.#valueAt(this.pointer.x, this.pointer.y);
		if (hit && this.pointer)
			this.tooltip.show(hit, this.pointer.x, this.pointer.y, this.frame.drawing);
		else if (value && this.pointer)
			this.tooltip.showValue(value, this.pointer.x, this.pointer.y, this.frame.drawing);
		else
			this.tooltip.hide();
		this.frame.canvas.style.cursor = hit ? "pointer" : "default";
	}

	/**
	 * Says what is shown.
	 * @param {boolean} isComplete
	 */
	#tell(isComplete) {
		const {from, to} = this.store.state;
		const failure = this.bands.failure();
		this.tools.status.textContent = `${duration(to - from)} from ` +
			(Math.round(from) === 0 ? "the start" : momentText(from, (to - from) / 10));
		this.#tellEmpty();
		this.frame.failure.textContent = failure;
		this.frame.failure.hidden = !failure;
		this.element.dataset.from = String(from);
		this.element.dataset.to = String(to);
		this.element.dataset.waiting = String(this.bands.isWaiting() || (!isComplete && !failure));
		if (isComplete)
			document.documentElement.dataset.drawn = "true";
	}

	/** A filter that leaves nothing says so. */
	#tellEmpty() {
		const {tracks} = this.store.state.options;
		const {empty} = this.frame;
		if (this.groups.all.length === 0)
			return;
		empty.hidden = this.layout.rows.length > 0;
		if (!empty.hidden)
			empty.textContent = `No track matches “${tracks}”.`;
	}

	show() {
		this.isShown = true;
		this.frame.scroller.scrollTop = this.top;
		this.#follow();
		this.refresh();
	}

	hide() {
		this.isShown = false;
		this.tooltip.hide();
	}
}

/**
 * @param {import("../main.js").Context} context
 * @returns {import("../main.js").View}
 */
export function create(context) {
	return new Timeline(context);
}
