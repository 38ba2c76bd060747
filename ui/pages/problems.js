// SPDX-License-Identifier: Apache-2.0
/**
 * Problems: what is wrong with the program, what it costs, and what to do about it (doc/problems.md), as cards. The
 * first few are cards; the others are a list.
 *
 *     ┌ 1.94 s  78.0% of the steps ┐
 *     │ Input bound                │
 *     │ why                        │
 *     │ What to do: remedy         │
 *     │ [Show me]           likely │
 *     └────────────────────────────┘
 */

import {nanosecondsBetween} from "../shared/api.js";
import {element} from "../shared/dom.js";
import {duration, percent} from "../shared/format.js";

/**
 * @typedef {object} Problem
 * @property {string} key
 * @property {string} title
 * @property {number} time_ns that it costs
 * @property {{of: string, whole_ns: number, permille: number}} share
 * @property {string} where
 * @property {string} why
 * @property {string} remedy
 * @property {"sure" | "likely" | "possible"} confidence
 * @property {boolean} [is_verdict] no fault of the program, but what its time is
 * @property {import("./findings.js").Evidence[]} evidence
 *
 * @typedef {import("./findings.js").Report} Report
 * @typedef {import("../shared/links.js").Links} Links
 */

const CARDS = 3;

/** What a share is of, for people. */
const WHOLES = /** @type {Record<string, string>} */ ({steps: "the steps", run: "the run", part: "this part"});

/** @param {Problem} problem */
const shareOf = ({time_ns, share}) => (share.of === "before" ? "before the steps"
	: `${percent(time_ns, share.whole_ns)} of ${WHOLES[share.of] ?? share.of}`);

/**
 * A sentence as such: with a capital letter, unless it begins with a name of the program, and a full stop.
 * @param {string} text
 */
function sentence(text) {
	const isWord = /^[a-z]+[ ,;:.]/.test(text);
	return text && (isWord ? text[0].toUpperCase() : text[0]) + text.slice(1) + (/[.!?:]$/.test(text) ? "" : ".");
}

/**
 * Leads to the moment that shows the problem best.
 * @param {Report} report
 * @param {Problem} problem
 * @param {Links | null} links
 */
function showButton(report, {title, evidence}, links) {
	const [best] = evidence;
	return links && best && element("button", {"aria-label": `Show me: ${title}`,
		title: "the longest moment of it, on the timeline",
		click: () => links.showEvidence(nanosecondsBetween(report.first_ns, best.start_ns), best)}, "Show me");
}

/**
 * @param {Report} report
 * @param {Problem} problem
 * @param {Links | null} links
 */
function card(report, problem, links) {
	const {title, time_ns, where, why, remedy, confidence, is_verdict} = problem;
	return element("article", {class: `card problem${is_verdict ? " is-verdict" : ""}`, "data-key": problem.key},
		element("p", {class: "card-number"}, duration(time_ns),
			element("span", {class: "quiet"}, ` ${shareOf(problem)}`)),
		element("h3", {}, title),
		where !== "" && element("p", {class: "problem-where mono", title: where}, where),
		element("p", {class: "problem-why", title: why}, sentence(why)),
		remedy !== "" && element("p", {class: "problem-remedy", title: remedy}, element("strong", {}, "What to do: "),
			sentence(remedy)),
		element("footer", {}, showButton(report, problem, links),
			confidence !== "sure" && element("span", {class: "quiet"}, confidence)));
}

/**
 * The problems that are no cards.
 * @param {Report} report
 * @param {Links | null} links
 */
export function furtherProblems(report, links) {
	const others = (report.problems ?? []).slice(CARDS);
	return others.length > 0 && element("section", {}, element("h2", {}, "Further problems"),
		element("ul", {class: "problems"}, ...others.map((problem) => element("li", {},
			element("strong", {}, problem.title), ` ${duration(problem.time_ns)}, ${shareOf(problem)}. `,
			sentence(problem.why), " ", sentence(problem.remedy), " ", showButton(report, problem, links)))));
}

/**
 * The most costly problems; none if the report has none.
 * @param {Report} report
 * @param {Links | null} links
 * @returns {HTMLElement[]}
 */
export function problemCards(report, links) {
	return (report.problems ?? []).slice(0, CARDS).map((problem) => card(report, problem, links));
}
