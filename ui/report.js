// SPDX-License-Identifier: Apache-2.0
/**
 * The HTML report, `millrace report --html FILE`: the overview and all findings on a single page that needs no server.
 * The page contains the findings as JSON.
 */

import {findingSection} from "./pages/findings.js";
import {renderOverview} from "./pages/overview.js";
import {parseJson} from "./shared/api.js";
import {element, replaceContent} from "./shared/dom.js";
import {createThemeButton} from "./shared/theme.js";

/** @typedef {import("./pages/findings.js").Report} Report */

/**
 * Those that say more than the overview does.
 * @param {Report} report
 */
function detailedFindings({findings}) {
	return findings.filter(({id, tables, evidence}) =>
		id !== "overview" && (evidence.length > 0 || tables.some(({rows}) => rows.length > 0)));
}

/** @param {Report} report */
function contents(report) {
	return element("nav", {class: "contents", "aria-label": "Contents"},
		element("a", {href: "#top"}, "Overview"),
		...detailedFindings(report).map(({id, title}) => element("a", {href: `#${id}`}, title)));
}

/** @param {Report} report */
function build(report) {
	const title = report.command ?? report.trace;
	document.title = `${title} – millrace report`;
	document.body.classList.add("report");
	replaceContent(document.body,
		element("header", {class: "bar", id: "top"}, element("span", {class: "title"}, "millrace report"),
			contents(report), createThemeButton()),
		element("main", {},
			renderOverview(report, null),
			element("div", {class: "page"}, ...detailedFindings(report).map((finding) =>
				findingSection(report, finding, null)))),
		element("footer", {class: "page quiet"}, `Made by millrace ${report.millrace} from ${report.trace}.`));
	document.documentElement.dataset.ready = "true";
}

build(parseJson(/** @type {HTMLElement} */ (document.getElementById("report")).textContent ?? ""));
