#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adding a table to the timeline is one entry in one file: here it is made in a copy of the sources, which are built.
The server then draws, names and searches the table, and the page, which is not changed, shows it by the description
that it gets."""

import json
import os
import pathlib
import shutil

import harness
from support import LiveTest, run

SOURCES = pathlib.Path(os.environ["SOURCE_DIR"])

# The model has this table, with durations; the timeline does not show it.
NEW_ENTRY = """
TABLE(collectives,
	.group = MR_GROUP_THREAD,
	.title = "gatherings",
	.noun = "gathering",
	.nouns = "gatherings of many",
	.label = "node",
	.lane_height = 13,
	.names = "gathering",
	.report = "gatherings.by_node",
	.same = "gathering=title run=run")
"""

# A thread with an operation and, in the new table, two slices of its node; then an empty trace, which has the
# descriptions of tables as any.
PROGRAM = r"""
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ask_json.h"
#include "hand_model.h"
#include "kernel_trace.h"

static void show(struct mr_view *view, const char *question)
{
	json_t *answer = ask_json(view, "%s", question);
	char *text = json_dumps(answer, JSON_COMPACT);

	printf("%s\n", text);
	free(text);
	json_decref(answer);
}

int main(void)
{
	struct mr_model *model = hand_model_start();
	struct mr_view *view = NULL;

	hand_node(0, 0, 100, "all_reduce");
	for (int i = 0; i < 2; i++)
		mr_collectives_append(&model->collectives,
				      (struct mr_collectives_row){.start_ns = 10 + 50 * i,
								  .duration_ns = 30,
								  .node = 1});
	hand_model_load();
	if (mr_view_make(model, &view) < 0)
		return 1;
	for (uint32_t i = 0; i < view->bands.list.count; i++)
		printf("%s ", mr_sliced_name(view->bands.list.items[i].table));
	printf("\n");
	show(view, "row?table=collectives&row=1");
	show(view, "groups?table=collectives");
	show(view, "find?text=all_reduce");
	kernel_trace_begin(1);
	kernel_trace_cut(0, 1, 0);
	if (mr_view_make(kernel_trace_load(1000), &view) < 0)
		return 1;
	show(view, "trace");
	return 0;
}
"""

# What the page makes of the description; the modules are those of the tree as it is.
PAGE = """
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
const layout = new Layout(new Groups(trace), {isOpen: () => true, hasAllLanes: () => true, isWanted: () => true});
const table = {columns: [{key: "gathering"}], rows: [{gathering: "all_reduce"}, {gathering: "broadcast"}]};
const selected = {kind: "label", table: "collectives", title: "all_reduce", node: null};
console.log(JSON.stringify({
	height: layout.rows[0].laneHeight,
	colour: new SliceColours(trace).of("collectives", 1),
	report: tellingTable(selected, trace),
	tables: nameOf(table, table.rows[0], trace).tables,
	about: [...rowsAbout("gatherings.by_node", table, selected, trace)],
}));
"""


class ViewExtension(LiveTest):
    def build(self, tree):
        for command in (["meson", "setup", "build", "-Doptimization=0"],
                        ["ninja", "-C", "build", "tests/unit_test_gatherings"]):
            result = run(*command, cwd=tree, timeout=400)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_one_entry(self):
        tree = pathlib.Path(self.path("tree"))
        shutil.copytree(SOURCES, tree, symlinks=True, ignore=shutil.ignore_patterns(".*", "build", "build-*"))
        definitions = tree / "src/timeline/tables.def"
        text = definitions.read_text()
        place = text.index("\nTABLE(states,")
        definitions.write_text(text[:place] + NEW_ENTRY + text[place:])
        (tree / "tests/unit/test_gatherings.c").write_text(PROGRAM)
        self.build(tree)
        result = run("build/tests/unit_test_gatherings", cwd=tree)
        self.assertEqual(result.returncode, 0, result.stderr)
        bands, row, groups, find, trace = result.stdout.splitlines()

        self.assertEqual(["node_executions", "collectives"], bands.split())
        row = json.loads(row)
        self.assertEqual(("collectives", "all_reduce", 60, 90), tuple(row[key] for key in ("table", "title", "from", "to")))
        self.assertIn("node", [field["name"] for field in row["fields"]])
        self.assertEqual([("all_reduce", 2, 60)], [(each["text"], each["count"], each["total_ns"])
                                                   for each in json.loads(groups)["rows"]])
        self.assertEqual({"operation", "gathering"}, {each["kind"] for each in json.loads(find)["results"]})
        self.check_page(tree, json.loads(trace)["tables"])

    def check_page(self, tree, described):
        """The page gets the entry, and needs nothing else."""
        entry = next(each for each in described if each["table"] == "collectives")
        self.assertEqual("gatherings of many", entry["nouns"])
        (tree / "trace.json").write_text(json.dumps({"tables": described}))
        (tree / "package.json").write_text('{"type": "module"}')
        (tree / "page.js").write_text(PAGE)
        result = run("node", "page.js", cwd=tree)
        self.assertEqual(result.returncode, 0, result.stderr)
        page = json.loads(result.stdout)
        self.assertEqual(13, page["height"])
        self.assertRegex(page["colour"], r"^hsl\(")
        self.assertEqual("gatherings.by_node", page["report"])
        self.assertEqual(["collectives"], page["tables"])
        self.assertEqual([{"gathering": "all_reduce"}], page["about"])


if __name__ == "__main__":
    if os.environ.get("SANITIZED") or not all(map(shutil.which, ("meson", "ninja", "cc", "node"))):
        harness.skip("meson, ninja, a compiler and node are needed")
    harness.main()
