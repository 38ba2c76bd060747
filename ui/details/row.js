// SPDX-License-Identifier: Apache-2.0
/** A slice: what it is, why it took as long as it did, what it is connected with, and all its fields. */

import {causeMeaning} from "../pages/causes.js";
import {stackedBar, swatch} from "../pages/plots.js";
import {causeColour} from "../shared/colours.js";
import {element} from "../shared/dom.js";
import {counted, duration, percent} from "../shared/format.js";
import {goToSameName} from "../timeline/commands.js";
import {icicle, stacksOf} from "./icicle.js";
import {buttons, endNodes, fieldLink, later, link, listing, section, valueNodes} from "./parts.js";

const GAP_CAUSES = 8;

/**
 * They stand above everything, those for going on first: what is pressed again and again stays where it is.
 * @param {import("./parts.js").Context} context
 * @param {any} answer
 */
function rowButtons(context, {table, label, node, gap, ...row}) {
	const {store} = context;
	const {from, to} = gap ?? row;
	return buttons([
		...(label === null ? [] : [
			{text: "‹", about: "previous with this name (,)", run: () => goToSameName(context, true)},
			{text: "›", about: "next with this name (.)", run: () => goToSameName(context, false)}]),
		{text: "Zoom to it", about: "on the timeline (F)",
			run: () => store.update({view: "timeline", ...store.windowAround(from, to)}, "push")},
		...(label === null ? [] : [
			{text: "All with this name", run: () => store.select(store.keyOfLabel(table, label))}]),
		...(node === null ? [] : [{text: "Graph", about: "its node in the graph",
			run: () => store.select(store.keyOfNode(node), {view: "graph"})}]),
	]);
}

/**
 * What an arrow says, from cause to effect and the other way round.
 * @type {Record<string, [string, string]>}
 */
const VERBS = {
	"runs": ["runs", "part of"],
	"launched": ["launched", "launched by"],
	"waits for": ["awaited by", "waits for"],
	"woken by": ["woke", "woken by"],
	"woke": ["woke", "woken by"],
	"sent": ["sent to", "received from"],
	"received": ["sent to", "received from"],
	"feeds": ["feeds", "fed by"],
};

/**
 * @param {import("./parts.js").Context} context
 * @param {any} answer
 */
function arrowList(context, {arrows, table, row}) {
	const isThis = (/** @type {any} */ end) => end.table === table && end.row === row;
	return section("Connections", element("ul", {class: "details-arrows"},
		...arrows.map((/** @type {any} */ {kind, from, to}) => {
			const [forward, backward] = VERBS[kind] ?? [kind, kind];
			const isEffect = isThis(to);
			return element("li", {}, ...(isEffect || isThis(from) ? [] : endNodes(context, from)),
				element("span", {class: "quiet"}, ` ${isEffect ? backward : forward} `),
				...endNodes(context, isEffect ? from : to));
		})));
}

/**
 * The whole gap that a piece of idle time belongs to: what took how much of it.
 * @param {import("./parts.js").Context} context
 * @param {any} answer
 */
function gapSection({store}, {gap, row}) {
	const whole = gap.to - gap.from;
	const isShown = (/** @type {any} */ each) => each.row === row;
	return section(`The gap: ${duration(whole)}`,
		stackedBar("What took how much of the gap", gap.causes.map((/** @type {any} */ {cause, culprit, ns}) =>
			({name: culprit ? `${cause}: ${culprit}` : cause, value: ns, colour: causeColour(cause)})), whole),
		element("ul", {class: "details-arrows gap-causes"},
			...gap.causes.slice(0, GAP_CAUSES).map((/** @type {any} */ each) => element("li",
				{"aria-current": isShown(each) ? "true" : null}, swatch(causeColour(each.cause)), " ",
				link(each.culprit ? `${each.cause}: ${each.culprit}` : each.cause,
					() => store.select(store.keyOfRow("idle", each.row)), "its longest piece"),
				element("span", {class: "quiet"}, ` ${duration(each.ns)}, ${percent(each.ns, whole)}`))),
			gap.causes.length > GAP_CAUSES && element("li", {class: "quiet"},
				`and ${counted(gap.causes.length - GAP_CAUSES, "other cause")}`)));
}

/**
 * The chain of causes: each link leads to its thread, at that moment.
 * @param {import("./parts.js").Context} context
 * @param {any} answer
 */
function chainSection(context, {chain}) {
	return section("Chain of causes", element("ol", {class: "details-chain"},
		...chain.map((/** @type {any} */ {cause, text, at}) => {
			const culprit = text && (at ? link(text, () => context.store.select(
				context.store.keyOfRow(at.table, at.row), {view: "timeline"}), "what it did then") : text);
			/* The first is who should have launched work, the others are why it did not. */
			return cause ? element("li", {}, element("span", {class: "chain-cause", title: causeMeaning(cause)}, cause),
				culprit && " ", culprit) : element("li", {}, culprit, " should have launched work");
		})));
}

/**
 * @param {import("./parts.js").Context} context
 * @param {any} field
 */
function fieldValue(context, {text, value, unit, link}) {
	if (link && text)
		return [fieldLink(context, link, text)];
	if (typeof value === "number" && (unit === "ns" || unit === "time" || unit === "bytes"))
		return valueNodes(value, unit);
	return [text || "–"];
}

/**
 * @param {import("./parts.js").Context} context
 * @param {any} answer of `row`
 */
export function fillRow(context, answer) {
	const {title, subtitle, sentences, arrows, fields, gap, chain} = answer;
	const stacks = stacksOf(context.trace, answer);
	return element("div", {},
		rowButtons(context, answer),
		element("h2", {class: "details-title"}, title),
		subtitle && element("p", {class: "quiet"}, subtitle),
		sentences.length > 0 && element("div", {class: "details-sentences"},
			...sentences.map((/** @type {string} */ sentence) => element("p", {}, sentence))),
		gap && gapSection(context, answer),
		chain?.length > 0 && chainSection(context, answer),
		arrows.length > 0 && arrowList(context, answer),
		stacks?.length !== 0 && later("Stacks", icicle(context, gap ?? answer, stacks)),
		section("Fields", listing(fields.map((/** @type {any} */ field) =>
			({name: field.name.replaceAll("_", " "), about: field.about, value: fieldValue(context, field)})))));
}
