// SPDX-License-Identifier: Apache-2.0
/**
 * Findings: the results of the analyses, as `millrace report --json` prints them (doc/json.md). This module shows the
 * sentences, tables and evidence of any finding without knowing which finding it is. The viewer and the HTML report
 * share it; in the report there is no server behind the page, and nothing is a link.
 */

import {nanosecondsBetween} from "../shared/api.js";
import {element} from "../shared/dom.js";
import {duration} from "../shared/format.js";
import {createTable} from "./table.js";

/**
 * @typedef {import("./table.js").Column} Column
 * @typedef {import("./table.js").Row} Row
 *
 * @typedef {{severity: string, text: string}} Sentence
 * @typedef {{id: string, title: string, columns: Column[], rows: Row[], left_out?: number}} Table
 *
 * @typedef {object} Evidence
 * @property {string} what
 * @property {number | null} pid null, as the next two: it is not known where
 * @property {number | null} tid 0: a queue of a device
 * @property {number | null} track
 * @property {number | bigint} start_ns
 * @property {number} duration_ns
 *
 * @typedef {object} Finding
 * @property {string} id
 * @property {string} title
 * @property {string} severity
 * @property {Sentence[]} sentences
 * @property {Table[]} tables
 * @property {Evidence[]} evidence
 *
 * @typedef {object} Report
 * @property {string} millrace
 * @property {string} trace
 * @property {string | null} command
 * @property {string | null} host
 * @property {number | bigint} started_realtime_ns
 * @property {number} wall_ns
 * @property {{code?: number, signal?: number} | null} exit
 * @property {number} processes
 * @property {number} threads
 * @property {number} events
 * @property {number} event_bytes
 * @property {number | bigint} first_ns
 * @property {{part: string | null, first_ns: number | bigint, last_ns: number | bigint, before: string | null,
 *     after: string | null}} window
 * @property {DeviceAnswer[]} devices
 * @property {{span_ns: number, shares: Cause[]} | null} critical_path
 * @property {import("./problems.js").Problem[]} [problems] the most costly first
 * @property {Finding[]} findings
 *
 * @typedef {{cause: string, culprit: string, ns: number}} Cause
 *
 * @typedef {object} DeviceAnswer
 * @property {string} name
 * @property {number | null} pid null: several processes share it
 * @property {number} span_ns
 * @property {number} busy_ns
 * @property {number} idle_ns
 * @property {Cause[]} idle_causes
 *
 * @typedef {import("../shared/links.js").Links} Links
 */

/**
 * By what they are about.
 * @type {Map<string, Promise<Report>>}
 */
const reports = new Map();

/** Of each table; tables.js asks for the others of the one that is shown. */
const FIRST_ROWS = 100;
const MORE_ROWS = 5000;

/**
 * The report on what all views look at, asked for once: the first rows of each table.
 * @param {import("../main.js").Context} context
 */
export function loadReport({api, store: {scope}}) {
	let report = reports.get(scope);
	if (!report) {
		report = api.json("report", {rows: FIRST_ROWS, scope});
		reports.set(scope, report);
		report.catch(() => reports.delete(scope));
	}
	return report;
}

/**
 * Some more rows of a table, if it lacks any.
 * @param {import("../main.js").Context} context
 * @param {string} id as in "idle.by_all"
 * @param {Table} table
 */
export async function loadRows({api, store: {scope}}, id, table) {
	const first = table.rows.length;
	const {rows} = await api.json("report", {table: id, first, rows: MORE_ROWS, scope});
	if (table.rows.length !== first)
		return; /* somebody else has been faster */
	table.rows = table.rows.concat(rows);
	table.left_out = rows.length === 0 ? 0 : Math.max((table.left_out ?? 0) - rows.length, 0);
}

/**
 * @param {Report} report
 * @param {string} id
 */
export function findingOf(report, id) {
	return report.findings.find((finding) => finding.id === id);
}

/**
 * The rows of a table; none if there is no such table.
 * @param {Report} report
 * @param {string} finding
 * @param {string} table
 * @returns {Row[]}
 */
export function rowsOf(report, finding, table) {
	return findingOf(report, finding)?.tables.find((each) => each.id === table)?.rows ?? [];
}

/**
 * Causes of the same kind together, the largest first. Those of each come with the largest first, too.
 * @param {Cause[]} causes
 * @returns {{cause: string, ns: number, all: Cause[]}[]}
 */
export function sumByCause(causes) {
	/** @type {Map<string, {cause: string, ns: number, all: Cause[]}>} */
	const sums = new Map();
	for (const each of causes) {
		const sum = sums.get(each.cause) ?? {cause: each.cause, ns: 0, all: []};
		sum.ns += each.ns;
		sum.all.push(each);
		sums.set(each.cause, sum);
	}
	return [...sums.values()].sort((a, b) => b.ns - a.ns);
}

/** @param {Sentence[]} sentences */
export function sentenceList(sentences) {
	return element("ul", {class: "sentences"},
		...sentences.map(({severity, text}) => element("li", {class: severity}, text)));
}

/**
 * Events that prove something: a click leads to them.
 * @param {Report} report
 * @param {Evidence[]} evidence
 * @param {Links | null} links
 */
export function evidenceList(report, evidence, links) {
	return element("ul", {class: "evidence"}, ...evidence.map((each) => {
		const at = nanosecondsBetween(report.first_ns, each.start_ns);
		const where = each.tid ? ` in thread ${each.tid}` : each.pid === null ? "" : ` in process ${each.pid}`;
		const text = `${duration(each.duration_ns)} at ${(at / 1e9).toFixed(9)} s${where}: ${each.what}`;
		return element("li", {}, links
			? element("button", {class: "link", title: "Show on the timeline",
				click: () => links.showEvidence(at, each)}, text)
			: text);
	}));
}

/**
 * @param {Finding} finding
 * @param {Table} table
 */
function tableFigure(finding, table) {
	return element("figure", {class: "finding-table"},
		element("figcaption", {}, element("h3", {}, table.title)),
		createTable({title: `${finding.title}: ${table.title}`, columns: table.columns, rows: table.rows,
			leftOut: table.left_out}).element);
}

/**
 * All of a finding.
 * @param {Report} report
 * @param {Finding} finding
 * @param {Links | null} links
 */
export function findingSection(report, finding, links) {
	return element("section", {class: "finding", id: finding.id},
		element("h2", {}, finding.title),
		finding.sentences.length > 0 && sentenceList(finding.sentences),
		...finding.tables.filter((table) => table.rows.length > 0).map((table) => tableFigure(finding, table)),
		finding.evidence.length > 0 && element("h3", {}, "Evidence"),
		finding.evidence.length > 0 && evidenceList(report, finding.evidence, links));
}
