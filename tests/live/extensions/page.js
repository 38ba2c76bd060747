// SPDX-License-Identifier: Apache-2.0
// What the page makes of the description of a table; the modules are those of the tree as it is.
import {SliceColours} from "./ui/shared/colours.js";
import {describeBands} from "./ui/shared/tables.js";
import {nameOf, rowsAbout, tellingTable} from "./ui/pages/subjects.js";
import {Groups, Layout} from "./ui/timeline/rows.js";
import {readFileSync} from "node:fs";

const trace = JSON.parse(readFileSync("trace.json", "utf8"));
trace.enumerations = {causes: [], states: [], reasons: []};
trace.graphs = [];
trace.bands = [{band: 0, key: "collectives.0", table: "collectives", track: 0, kind: "slices", lanes: 1}];
trace.groups = [{id: "thread.0", kind: "thread", parent: null, track: 0, busy_ns: 1, bands: [0]}];
describeBands(trace);
const layout = new Layout(new Groups(trace),
	{isOpen: () => true, isPinned: () => false, hasAllLanes: () => true, isWanted: () => true});
const table = {columns: [{key: "gathering"}], rows: [{gathering: "all_reduce"}, {gathering: "broadcast"}]};
const selected = {kind: "label", table: "collectives", title: "all_reduce", node: null};
console.log(JSON.stringify({
	height: layout.rows[0].laneHeight,
	colour: new SliceColours(trace).of("collectives", 1),
	report: tellingTable(selected, trace),
	tables: nameOf(table, table.rows[0], trace).tables,
	about: [...rowsAbout("gatherings.by_node", table, selected, trace)],
}));
