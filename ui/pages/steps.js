// SPDX-License-Identifier: Apache-2.0
/**
 * Steps: how long each took, and why a step took longer or shorter than the median step.
 */

import {causeColour} from "../shared/colours.js";
import {element, problem, replaceContent} from "../shared/dom.js";
import {counted, duration, percent} from "../shared/format.js";
import {causeMeaning} from "./causes.js";
import {rowsOf, sumByCause} from "./findings.js";
import {durationBars, responsive, robustTop, swatch} from "./plots.js";
import {createTable} from "./table.js";

/**
 * @typedef {import("./findings.js").Report} Report
 * @typedef {import("./table.js").Row} Row
 * @typedef {{row: number, number: number, track: number, from: number, to: number}} Step
 */

const HEIGHT = 220;
const OUTLIERS = 12;

/** @param {Step} step */
const lengthOf = ({from, to}) => to - from;

/**
 * What two steps are compared by.
 * @type {{title: string, values: (report: Report) => [string, number][]}[]}
 */
const COMPARISONS = [
	{title: "Where the time went", values: (report) => rowsOf(report, "overview", "time")
		.map((row) => [`${row.part} (${row.what})`, Number(row.time_ns)])},
	{title: "Why devices were idle", values: (report) => report.devices.flatMap(({name, idle_causes}) =>
		sumByCause(idle_causes).map(({cause, ns}) => /** @type {[string, number]} */ ([`${cause} (${name})`, ns])))},
	{title: "Operations, self time", values: (report) => rowsOf(report, "operations", "by_node")
		.map((row) => [String(row.node), Number(row.self_ns)])},
	{title: "Device kernels and copies", values: (report) => rowsOf(report, "device_operations", "by_name")
		.map((row) => [String(row.name), Number(row.total_ns)])},
];

/**
 * Both values of each name, the largest difference first.
 * @param {[string, number][]} here
 * @param {[string, number][]} median
 * @returns {Row[]}
 */
export function differences(here, median) {
	/** @type {Map<string, [number, number]>} */
	const both = new Map();
	for (const [side, values] of [here, median].entries()) {
		for (const [name, value] of values) {
			const pair = both.get(name) ?? [0, 0];
			pair[side] += value;
			both.set(name, pair);
		}
	}
	return [...both].map(([name, [a, b]]) => ({name, here_ns: a, median_ns: b, difference_ns: a - b}))
		.sort((a, b) => Math.abs(b.difference_ns) - Math.abs(a.difference_ns));
}

/**
 * @param {Step[]} steps
 * @returns {Step | null}
 */
function medianOf(steps) {
	const sorted = [...steps].sort((a, b) => lengthOf(a) - lengthOf(b));
	return sorted[Math.floor((sorted.length - 1) / 2)] ?? null;
}

class Steps {
	/** @param {import("../main.js").Context} context */
	constructor(context) {
		this.context = context;
		this.element = element("div", {}, element("p", {class: "page", role: "status"}, "Looking for steps …"));
		/** @type {Step[]} */
		this.all = [];
		/**
		 * Those of the track that is shown, in what all views look at.
		 * @type {Step[]}
		 */
		this.steps = [];
		/**
		 * As the server has it.
		 * @type {Step | null}
		 */
		this.medianOfAll = null;
		/**
		 * Of those that are shown.
		 * @type {Step | null}
		 */
		this.median = null;
		this.isInferred = false;
		/** Whether there are more steps than those that are shown. */
		this.isPart = false;
		this.compared = "";
		this.chooser = element("select", {"aria-label": "Thread whose steps are shown"});
		this.chooser.addEventListener("change", () =>
			context.store.update({select: "", options: {steps: this.chooser.value}}, "push"));
		this.comparison = element("div", {});
		this.legend = element("ul", {class: "step-causes", "aria-label": "Causes"});
		this.outliers = element("div", {class: "step-outliers"});
		/**
		 * By row: cause and ns in turn. Null until the server has answered.
		 * @type {number[][] | null}
		 */
		this.causes = null;
		/**
		 * The causes of the steps that are shown, the largest first.
		 * @type {number[]}
		 */
		this.order = [];
		this.said = element("p", {role: "status"});
		const plot = responsive("Durations of steps", HEIGHT, (width) => this.#draw(width));
		this.plot = plot.element;
		this.redraw = plot.redraw;
		this.plot.addEventListener("click", (event) => this.#click(/** @type {MouseEvent} */ (event)));
		context.store.subscribe(() => this.#follow());
		context.keys.add(
			{keys: ["ArrowLeft"], about: "go to the previous step", view: "steps", run: () => this.#move(-1)},
			{keys: ["ArrowRight"], about: "go to the next step", view: "steps", run: () => this.#move(1)},
			{keys: ["t"], about: "show the step on the timeline", view: "steps", run: () => this.#toTimeline()});
		context.keys.addGestures({gesture: "click", about: "choose a step", view: "steps"});
	}

	async load() {
		try {
			const answer = await this.context.api.json("steps");
			this.all = answer.steps;
			this.isInferred = answer.is_inferred;
			this.medianOfAll = this.all.find(({row}) => row === answer.median_row) ?? null;
		} catch (error) {
			replaceContent(this.element, problem(error));
			return;
		}
		this.#build();
	}

	#build() {
		if (this.all.length === 0) {
			replaceContent(this.element, element("div", {class: "empty"}, element("h2", {}, "No steps"),
				element("p", {}, "The program marks no steps, and its launches do not repeat clearly " +
					"enough to infer them. A program can mark its steps through millrace.h.")));
			return;
		}
		const tracks = [...new Set(this.all.map(({track}) => track))];
		replaceContent(this.chooser,
			...tracks.map((track) => element("option", {value: track}, this.#nameOf(track))));
		replaceContent(this.element, element("div", {class: "page"},
			element("h2", {}, this.isInferred ? "Steps, inferred from repeated launches" : "Steps"),
			element("div", {class: "toolbar"}, tracks.length > 1 && this.chooser,
				element("button", {"aria-label": "Previous step", click: () => this.#move(-1)}, "←"),
				element("button", {"aria-label": "Next step", click: () => this.#move(1)}, "→"),
				element("button", {click: () => this.#chooseLongest()}, "Longest"),
				element("button", {click: () => this.#toTimeline()}, "Show on the timeline")),
			this.plot, this.legend, this.said, this.outliers, this.comparison));
		this.#follow();
		this.#loadCauses();
	}

	/** What the critical path consists of during each step: the server works that out after the first picture. */
	async #loadCauses() {
		try {
			this.causes = (await this.context.api.json("step_causes")).causes;
		} catch (error) {
			replaceContent(this.legend, problem(error));
			return;
		}
		this.#follow();
	}

	/**
	 * The causes of a step, in the same order for all: the causes of most of the time at the bottom.
	 * @param {Step} step
	 * @returns {import("./plots.js").Part[]}
	 */
	#causesOf(step) {
		const names = this.context.trace.enumerations.causes;
		const flat = this.causes?.[step.row] ?? [];
		const sums = new Map(flat.flatMap((value, i) => (i % 2 === 0 ? [[value, flat[i + 1]]] : [])));
		return this.order.filter((cause) => sums.has(cause)).map((cause) =>
			({name: names[cause], value: sums.get(cause) ?? 0, colour: causeColour(names[cause])}));
	}

	/** Which causes there are, and how much of all steps each took. */
	#showCauses() {
		if (!this.causes)
			return;
		/** @type {Map<number, number>} */
		const sums = new Map();
		for (const {row} of this.steps) {
			const flat = this.causes[row] ?? [];
			for (let i = 0; i < flat.length; i += 2)
				sums.set(flat[i], (sums.get(flat[i]) ?? 0) + flat[i + 1]);
		}
		const names = this.context.trace.enumerations.causes;
		const whole = [...sums.values()].reduce((sum, ns) => sum + ns, 0);
		this.order = [...sums].sort((a, b) => b[1] - a[1]).map(([cause]) => cause);
		replaceContent(this.legend, ...this.order.map((cause) => element("li",
			{title: causeMeaning(names[cause])}, swatch(causeColour(names[cause])),
			` ${names[cause]} `, element("span", {class: "quiet"}, percent(sums.get(cause) ?? 0, whole)))));
	}

	/** The steps that are far longer than the others. */
	#showOutliers() {
		const {fence} = robustTop(this.steps.map(lengthOf));
		const all = this.steps.filter((step) => lengthOf(step) > fence).sort((a, b) => lengthOf(b) - lengthOf(a));
		const median = this.median ? lengthOf(this.median) : 0;
		replaceContent(this.outliers, all.length > 0 && element("p", {},
			`${counted(all.length, "step")} far longer than the others: `,
			...all.slice(0, OUTLIERS).flatMap((step, i) => [i > 0 && ", ",
				element("button", {class: "link", click: () => this.#choose(step)}, `step ${step.number}`),
				` (${duration(lengthOf(step))}, ${(lengthOf(step) / median).toFixed(1)} × the median)`]),
			all.length > OUTLIERS && ` and ${counted(all.length - OUTLIERS, "more", "more")}`));
	}

	/** @param {number} track */
	#nameOf(track) {
		const found = this.context.trace.tracks.find((/** @type {any} */ each) => each.track === track);
		return found?.title ?? `track ${track}`;
	}

	/** The step that is chosen: the one that is selected, or that what is selected belongs to. */
	#chosen() {
		const {state: {select}, selected} = this.context.store;
		const link = selected?.kind === "row" ? selected.answer.fields.find((/** @type {any} */ field) =>
			field.link?.table === "steps")?.link : null;
		return this.all.find(({row}) => this.context.store.keyOfRow("steps", row) === select) ??
			this.all.find(({row}) => row === link?.row) ?? null;
	}

	#follow() {
		const {state} = this.context.store;
		if (state.view !== "steps" || this.all.length === 0)
			return;
		const {from, to} = this.context.store.all;
		const chosen = this.#chosen();
		const track = chosen?.track ?? Number(state.options.steps ?? this.medianOfAll?.track ?? this.all[0].track);
		const ofTrack = this.all.filter((step) => step.track === track);
		const isInScope = (/** @type {Step} */ step) => step.from >= from && step.from < to;
		this.steps = ofTrack.filter((step) => isInScope(step) || step === chosen);
		this.isPart = this.steps.length < ofTrack.length;
		this.median = this.medianOfAll?.track === track && !this.isPart ? this.medianOfAll
			: medianOf(this.steps.filter(isInScope));
		this.chooser.value = String(track);
		this.#showCauses();
		this.redraw();
		this.#say(chosen);
		this.#showOutliers();
		this.#compare(chosen);
	}

	/** @param {number} width */
	#draw(width) {
		const chosen = this.#chosen();
		const {scale, content} = durationBars({durations: this.steps.map(lengthOf), width, height: HEIGHT,
			nameOf: (index) => String(this.steps[index].number),
			partsOf: this.causes ? (index) => this.#causesOf(this.steps[index]) : undefined,
			chosen: chosen ? this.steps.indexOf(chosen) : -1, median: this.median ? lengthOf(this.median) : null});
		this.scale = scale;
		return content;
	}

	/** @param {Step | null} chosen */
	#say(chosen) {
		if (this.steps.length === 1) {
			const [{number}] = this.steps;
			this.said.textContent = `Step ${number} took ${duration(lengthOf(this.steps[0]))}. It is the only one.`;
			return;
		}
		const many = counted(this.steps.length, "step") + (this.isPart ? ", without warm-up" : "") +
			(this.median ? `; the median step took ${duration(lengthOf(this.median))}` : "");
		this.said.textContent = chosen ? `Step ${chosen.number} took ${duration(lengthOf(chosen))}. ${many}.` :
			`${many}. Click a step, or use ← and →, to compare it with the median step.`;
	}

	/** @param {MouseEvent} event */
	#click(event) {
		if (!this.scale)
			return;
		const index = Math.floor(this.scale.value(event.clientX - this.plot.getBoundingClientRect().left));
		this.#choose(this.steps[Math.min(Math.max(index, 0), this.steps.length - 1)]);
	}

	/** @param {number} by */
	#move(by) {
		const chosen = this.#chosen();
		const index = chosen ? this.steps.indexOf(chosen) + by : by > 0 ? 0 : this.steps.length - 1;
		if (this.steps[index])
			this.#choose(this.steps[index]);
	}

	#chooseLongest() {
		this.#choose(this.steps.reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a)));
	}

	/**
	 * Selects a step and makes it the window of all views.
	 * @param {Step} step
	 */
	#choose({row, from, to}) {
		this.context.store.select(this.context.store.keyOfRow("steps", row), {from, to});
	}

	#toTimeline() {
		this.context.store.update({view: "timeline"}, "push");
	}

	/**
	 * Two columns from the reports of both windows.
	 * @param {Step | null} chosen
	 */
	async #compare(chosen) {
		const {median} = this;
		const asked = chosen && median ? `${chosen.row} ${median.row}` : "";
		if (asked === this.compared)
			return;
		this.compared = asked;
		if (!chosen || !median || chosen === median) {
			replaceContent(this.comparison,
				chosen && median && element("p", {class: "quiet"}, "This is the median step itself."));
			return;
		}
		replaceContent(this.comparison, element("p", {role: "status"}, "Comparing …"));
		const reportOf = (/** @type {Step} */ {from, to}) => this.context.api.json("report", {from, to});
		try {
			const [here, usual] = await Promise.all([reportOf(chosen), reportOf(median)]);
			if (this.compared === asked)
				this.#showComparison(chosen, median, here, usual);
		} catch (error) {
			replaceContent(this.comparison, problem(error));
		}
	}

	/**
	 * @param {Step} chosen
	 * @param {Step} median
	 * @param {Report} here
	 * @param {Report} usual
	 */
	#showComparison(chosen, median, here, usual) {
		const columns = [
			{key: "name", title: "what", unit: "text"},
			{key: "here_ns", title: `step ${chosen.number}`, unit: "ns"},
			{key: "median_ns", title: "median", unit: "ns"},
			{key: "difference_ns", title: "difference", unit: "ns", is_difference: true},
		];
		replaceContent(this.comparison,
			element("h2", {}, `Step ${chosen.number} compared with the median step, ${median.number}`),
			element("div", {class: "columns"}, ...COMPARISONS.map(({title, values}) => {
				const rows = differences(values(here), values(usual));
				return rows.length > 0 && element("section", {}, element("h3", {}, title),
					createTable({title, columns, rows}).element);
			})));
	}

	show() {
		if (this.all.length === 0)
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
	const steps = new Steps(context);
	return {element: steps.element, show: () => steps.show(), hide() {}};
}
