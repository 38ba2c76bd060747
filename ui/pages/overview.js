// SPDX-License-Identifier: Apache-2.0
/**
 * The overview: the verdict first, then what the devices did, both without scrolling; then where the time went in
 * detail, and last whether the trace can be trusted, unless that endangers the verdict. The evidence for each statement
 * is one click away.
 */

import {nanosecondsBetween} from "../shared/api.js";
import {causeColour, nameColour} from "../shared/colours.js";
import {element, problem, replaceContent} from "../shared/dom.js";
import {bytes, counted, duration, percent} from "../shared/format.js";
import {createLinks} from "../shared/links.js";
import {causeMeaning} from "./causes.js";
import {evidenceList, findingOf, loadReport, rowsOf, sentenceList, sumByCause} from "./findings.js";
import {stackedBar, swatch} from "./plots.js";
import {furtherProblems, problemCards} from "./problems.js";

/**
 * @typedef {import("./findings.js").Report} Report
 * @typedef {import("./findings.js").Row} Row
 * @typedef {import("../shared/links.js").Links} Links
 * @typedef {import("./plots.js").Part & {about: string, show: (() => void) | null}} NamedPart
 */

const SHOWN_PARTS = 12;

/**
 * A text that leads somewhere, if there is somewhere to go.
 * @param {string} text
 * @param {string} title
 * @param {(() => void) | null} run
 */
function linkOrText(text, title, run) {
	return run ? element("button", {class: "link", title, click: run}, text) : element("span", {title}, text);
}

/**
 * What a report without a name for its part is about.
 * @param {Omit<Report, "devices" | "critical_path" | "findings">} report
 */
function partOf({first_ns, window}) {
	const from = nanosecondsBetween(first_ns, window.first_ns);
	const length = nanosecondsBetween(window.first_ns, window.last_ns);
	return window.part === "" ? `${duration(length)}, ${duration(from)} after the start` : window.part;
}

/** @param {Omit<Report, "devices" | "critical_path" | "findings">} report what ran, of a report */
function facts(report) {
	const started = Number(report.started_realtime_ns);
	const date = new Date(started / 1e6).toLocaleString("en-GB", {dateStyle: "long", timeStyle: "medium"});
	const {code, signal} = report.exit ?? {};
	const exit = signal !== undefined ? `killed by signal ${signal}` : code !== undefined && `exit status ${code}`;
	return element("dl", {class: "facts"}, ...[
		["ran", started ? date : null],
		["on", report.host],
		["for", [duration(report.wall_ns), exit].filter(Boolean).join(", ")],
		["recorded", [counted(report.processes, "process", "processes"), counted(report.threads, "thread"),
			counted(report.events, "event"), bytes(report.event_bytes)].join(", ")],
		[report.window.before === null ? "part" : "steps", partOf(report)],
		["before", report.window.before],
		["after", report.window.after],
	].filter(([, text]) => text)
		.map(([name, text]) => element("div", {}, element("dt", {}, name), element("dd", {}, text))));
}

/**
 * Whether the trace can be trusted.
 * @param {{severity: string, sentences: import("./findings.js").Sentence[]}} finding
 */
function health({severity, sentences}) {
	/** @type {Record<string, string>} */
	const verdicts = {fine: "The trace is complete", note: "The trace is sound; some notes",
		warning: "Read this first: the trace is not complete"};
	const grave = sentences.filter((each) => each.severity !== "fine");
	const fine = sentences.filter((each) => each.severity === "fine");
	return element("section", {class: `health ${severity}`, "aria-label": "Trace health"},
		element("h2", {}, verdicts[severity] ?? "Trace health"),
		grave.length > 0 && sentenceList(grave),
		fine.length > 0 && element("details", {open: grave.length === 0 && fine.length < 4},
			element("summary", {}, grave.length > 0 ? "What is fine" : "Details"), sentenceList(fine)));
}

/**
 * What cannot be known without a level, and how to record it.
 * @param {Report} report
 */
function missing(report) {
	const has = (/** @type {string} */ id) => findingOf(report, id)?.tables.some(({rows}) => rows.length > 0);
	const hints = [
		!has("devices") && ["No device activity was recorded. ",
			"Programs that use CUDA, HIP, HSA or OpenCL are traced without changes; “millrace doctor” lists what can " +
			"be traced here."],
		!has("threads") && ["Without the kernel level it is not known what threads waited for: this time is untraced. ",
			"Record with “sudo millrace record …”, or grant millrace the privileges that “millrace doctor” names."],
		!has("operations") && ["No operation of a dataflow graph was recorded. ",
			"TensorFlow and PyTorch are traced without changes; other programs can describe their graph through " +
			"millrace.h."],
	];
	const isRecorded = report.command !== null; /* what another tool has recorded is past our advice */
	return hints.some(Boolean) && element("section", {class: "hints", "aria-label": "What is missing"},
		...hints.map((hint) => hint && element("p", {}, element("strong", {}, hint[0]), isRecorded && hint[1])));
}

/**
 * The three largest causes.
 * @param {Report} report
 * @param {Links | null} links
 */
function cards(report, links) {
	return rowsOf(report, "overview", "causes").map((row) => {
		const cause = String(row.cause);
		const isPath = row.what === "critical path";
		const show = links && (() => { links.showCause(isPath ? "path" : "idle", cause); });
		const card = element("article", {class: "card"},
			element("p", {class: "card-number"}, duration(Number(row.time_ns)),
				element("span", {class: "quiet"}, ` ${percent(Number(row.share_permille), 1000)} of the ${row.what}`)),
			element("h3", {}, cause),
			element("p", {}, `${causeMeaning(cause)}.`),
			row.culprit !== "" && element("p", {}, `Worst: ${row.culprit}, ${duration(Number(row.culprit_ns))}.`),
			row.operation !== "" && element("p", {}, `Mostly before ${row.operation}.`),
			show && element("button", {"aria-label": `Show the longest: ${cause}`, click: show},
				"Show the longest"));
		card.style.borderTopColor = causeColour(cause);
		return card;
	});
}

/**
 * A bar, and a table that says what its parts are.
 * @param {string} label
 * @param {NamedPart[]} parts
 * @param {number} whole
 */
function breakdown(label, parts, whole) {
	const shown = parts.length > SHOWN_PARTS + 1 ? parts.slice(0, SHOWN_PARTS) : parts;
	const others = parts.slice(shown.length);
	if (others.length > 0)
		shown.push({name: counted(others.length, "other"), value: others.reduce((sum, {value}) => sum + value, 0),
			colour: causeColour("other"), about: others.map(({name}) => name).join(", "), show: null});
	const rows = shown.map(({name, value, colour, about, show}) => element("tr", {},
		element("td", {}, swatch(colour)),
		element("td", {}, linkOrText(name, about, show)),
		element("td", {class: "number"}, duration(value)),
		element("td", {class: "number"}, percent(value, whole)),
		element("td", {class: "quiet about", title: about}, about)));
	return element("div", {class: "breakdown"}, stackedBar(label, shown, whole),
		element("table", {"aria-label": label}, element("tbody", {}, ...rows)));
}

/**
 * Causes as parts, with the worst culprit of each.
 * @param {import("./findings.js").Cause[]} causes
 * @param {(cause: string) => (() => void) | null} show
 * @returns {NamedPart[]}
 */
function causeParts(causes, show) {
	return sumByCause(causes).map(({cause, ns, all}) => {
		const culprit = all.find((each) => each.culprit)?.culprit;
		const about = causeMeaning(cause) + (culprit ? `; most of it: ${culprit}` : "");
		return {name: cause, value: ns, colour: causeColour(cause), about, show: show(cause)};
	});
}

/**
 * What a device did, and why it did nothing.
 * @param {import("./findings.js").DeviceAnswer} device
 * @param {Row} row of the device in the finding
 * @param {Links | null} links
 */
function deviceSection(device, row, links) {
	const parts = [
		{name: "device kernels", value: Number(row.compute_ns), colour: causeColour("device"),
			about: "busy with a device kernel",
			show: links && (() => links.showTable("device_operations", "by_name"))},
		{name: "copies alone", value: Number(row.exposed_ns), colour: causeColour("copies"),
			about: "busy only with copies, fills and similar operations",
			show: links && (() => links.showTable("device_operations", "copies"))},
		...causeParts(device.idle_causes, (cause) => links && (() => { links.showCause("idle", cause); })),
	];
	return element("section", {},
		element("h3", {}, `${device.name} `, element("span", {class: "quiet"},
			`${device.pid === null ? "shared by several processes" : `process ${device.pid}`}: ` +
			`busy ${percent(device.busy_ns, device.span_ns)}, ` +
			`idle ${percent(device.idle_ns, device.span_ns)} of ${duration(device.span_ns)}`)),
		breakdown(`What ${device.name} did`, parts.filter(({value}) => value > 0), device.span_ns));
}

/**
 * Of what the critical path is, which is not quite how long the program ran.
 * @param {Report} report
 * @param {number} span
 */
function pathSpan({wall_ns, window}, span) {
	const [traced, ran] = [duration(span), duration(wall_ns)];
	if (window.part !== null || traced === ran)
		return `The chain of work and waits that decides how long these ${traced} take.`;
	return "The chain of work and waits that decides how long the trace is: " +
		`${traced} from its first record to its last. The program ran for ${ran}` +
		(span > wall_ns ? "; the rest is time before its start and after its end." : ", of which this is a part.");
}

/**
 * The critical path: what decides how long the run takes.
 * @param {Report} report
 * @param {Links | null} links
 */
function criticalPath(report, links) {
	const {critical_path} = report;
	if (!critical_path || critical_path.span_ns === 0)
		return null;
	const parts = causeParts(critical_path.shares, (cause) => links && (() => { links.showCause("path", cause); }));
	return element("section", {},
		element("h2", {}, "Critical path"),
		element("p", {class: "quiet"}, pathSpan(report, critical_path.span_ns)),
		breakdown("What the critical path consists of", parts, critical_path.span_ns));
}

/**
 * Where no device did anything: the operations that took longest.
 * @param {Report} report
 * @param {Links | null} links
 */
function operations(report, links) {
	const types = rowsOf(report, "operations", "by_type");
	const whole = types.reduce((sum, row) => sum + Number(row.self_ns), 0);
	if (rowsOf(report, "devices", "devices").length > 0 || whole === 0)
		return null;
	const show = links && (() => links.showTable("operations", "by_type"));
	const parts = types.map((row) => ({name: String(row.type), value: Number(row.self_ns), show,
		colour: nameColour(String(row.type)), about: counted(Number(row.count), "execution")}));
	return element("section", {},
		element("h2", {}, "Operations by type"),
		breakdown("Time in operations by type", parts, whole));
}

/**
 * What is wrong, or where no problem was looked for, the largest causes.
 * @param {Report} report
 * @param {Links | null} links
 */
function verdict(report, links) {
	const finding = findingOf(report, "overview");
	const problems = problemCards(report, links);
	const shown = problems.length > 0 ? problems : cards(report, links);
	if (shown.length === 0)
		return null;
	return element("section", {class: "verdict", "aria-label": "Verdict"},
		problems.length === 0 && finding && element("h2", {}, finding.title),
		element("div", {class: "cards"}, ...shown));
}

/**
 * The sentences about where the time went, which need not be read first.
 * @param {Report} report
 */
function sentences(report) {
	const finding = findingOf(report, "overview");
	return finding && finding.sentences.length > 0 && element("section", {},
		element("h2", {}, finding.title), sentenceList(finding.sentences));
}

/**
 * All of the overview.
 * @param {Report} report
 * @param {Links | null} links null: a page on its own
 * @returns {HTMLElement}
 */
export function renderOverview(report, links) {
	const finding = findingOf(report, "overview");
	const trust = findingOf(report, "health");
	const isEndangered = trust?.severity === "warning";
	const rows = rowsOf(report, "devices", "devices"); /* in the same order */
	return element("div", {class: "page overview"},
		element("header", {}, element("h1", {}, report.command ?? report.trace), facts(report)),
		trust && isEndangered && health(trust),
		report.events === 0 && element("p", {class: "empty"}, "The trace is empty: no event was recorded."),
		verdict(report, links),
		rows.length > 0 && element("section", {class: "devices"}, element("h2", {}, "Devices"),
			...rows.map((row, i) => deviceSection(report.devices[i], row, links))),
		furtherProblems(report, links),
		sentences(report),
		criticalPath(report, links),
		operations(report, links),
		finding && finding.evidence.length > 0 && element("section", {},
			element("h2", {}, "Evidence: the longest pieces"), evidenceList(report, finding.evidence, links)),
		trust && !isEndangered && health(trust),
		missing(report));
}

/**
 * What is known before the analyses have ended, and how far they are.
 * @param {import("../main.js").Context} context
 */
function createWaiting({api, store: {scope, all}, trace: {summary, command, path, health: known}}) {
	const first = BigInt(summary.first_ns);
	const window = scope === "whole" ? summary.window
		: {part: "", first_ns: first + BigInt(all.from), last_ns: first + BigInt(all.to), before: "", after: ""};
	const said = element("p", {role: "status"}, "Analysing the trace …");
	const bar = element("progress", {"aria-label": "Analysing the trace"});
	const began = performance.now();
	const timer = setInterval(async () => {
		said.textContent = `Analysing the trace … ${Math.round((performance.now() - began) / 1000)} s`;
		const {done, total} = await api.json("progress").catch(() => ({total: 0}));
		if (total > 0) {
			bar.max = total;
			bar.value = done;
		}
	}, 1000);
	const sentences = (known?.sentences ?? []).map((/** @type {string} */ text) => ({severity: known.severity, text}));
	return {
		element: element("div", {class: "page overview"},
			element("header", {}, element("h1", {}, command ?? path), facts({...summary, window})),
			known?.severity === "warning" && health({severity: known.severity, sentences}),
			said, bar),
		stop: () => clearInterval(timer),
	};
}

/**
 * @param {import("../main.js").Context} context
 * @returns {import("../main.js").View}
 */
export function create(context) {
	const {store} = context;
	const place = element("div", {});
	let shown = "";
	const load = async () => {
		const {scope} = store;
		if (store.state.view !== "overview" || shown === scope)
			return;
		shown = scope;
		const waiting = createWaiting(context);
		replaceContent(place, waiting.element);
		const content = await loadReport(context)
			.then((report) => renderOverview(report, createLinks(context)), problem);
		waiting.stop();
		if (shown === scope)
			replaceContent(place, content);
	};
	store.subscribe(load);
	return {element: place, show: load, hide() {}};
}
