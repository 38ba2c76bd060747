#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adding an analysis is a file, its line in meson.build and a row in a table: here it is made in a copy of the
sources, which are built. Text, JSON and the viewer's server then show its finding, in its place."""

import json
import os
import pathlib
import shutil
import subprocess
import urllib.request

import harness
from support import LiveTest, run

SOURCES = pathlib.Path(os.environ["SOURCE_DIR"])

FILE = """/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis.h"

static const struct mr_finding_column columns[] = {
	{"finding", "finding", MR_UNIT_TEXT, 0},
	{"sentences", "sentences", MR_UNIT_COUNT, MR_COLUMN_SUM},
};

int mr_analyse_weather(const struct mr_model *model, struct mr_findings *findings)
{
	const struct mr_finding *memory = mr_findings_find(findings, "memory");
	struct mr_finding *finding = mr_finding_begin(findings, "weather");
	struct mr_finding_table *table =
		mr_finding_add_table(findings, finding, "sky", "Sky", columns, 2, 1);

	(void)model;
	mr_finding_value(table, 0, 0)->text = memory ? memory->title : "memory was not looked at yet";
	mr_finding_value(table, 0, 1)->number = 7;
	return mr_finding_say(findings, finding, MR_SEVERITY_NOTE, "The sky was blue.");
}
"""
ROW = 'MR_ANALYSIS(weather, "What the weather was like", "memory")\n'


class AnalysisExtension(LiveTest):
    def build(self, tree):
        for command in (["meson", "setup", "build", "-Doptimization=0", "-Dtests=false"],
                        ["ninja", "-C", "build", "millrace"]):
            result = run(*command, cwd=tree, timeout=400)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def extend(self, tree):
        """The row stands second, and needs what stands further down."""
        (tree / "src/analysis/weather.c").write_text(FILE)
        for path, before, added in (("src/analysis/meson.build", "    'all.c',\n", "    'weather.c',\n"),
                                    ("src/analysis/analyses.def", 'MR_ANALYSIS(health, "Trace health")\n', ROW)):
            text = (tree / path).read_text()
            self.assertEqual(text.count(before), 1, path)
            (tree / path).write_text(text.replace(before, before + added))

    def ask_viewer(self, tree):
        view = subprocess.Popen(["build/millrace", "view", "--no-open", "--port", "0", "tests/golden/small.mill"],
                                cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            address = view.stdout.readline().strip()
            self.assertRegex(address, r"^http://127\.0\.0\.1:\d+/[0-9a-f]+/$")
            with urllib.request.urlopen(address + "api/report", timeout=60) as answer:
                return json.load(answer)
        finally:
            view.terminate()
            view.wait()
            view.stdout.close()

    def check(self, said):
        self.assertEqual([finding["id"] for finding in said["findings"][:3]], ["health", "weather", "overview"])
        finding = said["findings"][1]
        self.assertEqual(finding["title"], "What the weather was like")
        self.assertEqual(finding["sentences"], [{"severity": "note", "text": "The sky was blue."}])
        (table,) = finding["tables"]
        self.assertEqual(table["rows"], [{"finding": "Memory", "sentences": 7}])

    def test_file_and_row(self):
        tree = pathlib.Path(self.path("tree"))
        shutil.copytree(SOURCES, tree, symlinks=True, ignore=shutil.ignore_patterns(".*", "build", "build-*"))
        self.extend(tree)
        self.build(tree)
        result = run("build/millrace", "report", "tests/golden/small.mill", cwd=tree)
        self.assertRegex(result.stdout, r"\n\nWhat the weather was like\n  - The sky was blue\.\n\nSky:\n"
                                        r"  finding  sentences\n  Memory +7\n\nWhere the time went\n")
        result = run("build/millrace", "report", "--json", "tests/golden/small.mill", cwd=tree)
        self.check(json.loads(result.stdout))
        self.check(self.ask_viewer(tree))


if __name__ == "__main__":
    if os.environ.get("SANITIZED") or not all(map(shutil.which, ("meson", "ninja", "cc"))):
        harness.skip("meson, ninja and a compiler are needed, and no sanitizer")
    harness.main()
