#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adding an analysis is a file, its line in meson.build and a row in a table: here it is made in a copy of the
sources, which are built. Text, JSON and the viewer's server then show its finding, in its place."""

import json
import subprocess
import time
import urllib.request

import harness
from extension import ExtensionTest, skip_unless_possible

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


class AnalysisExtension(ExtensionTest):
    def ask(self, address, name):
        with urllib.request.urlopen(f"{address}traces/0/{name}", timeout=60) as answer:
            return json.load(answer)

    def ask_viewer(self):
        view = subprocess.Popen(["build/millrace", "view", "--no-open", "tests/golden/small.mill"], cwd=self.tree,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            address = view.stdout.readline().strip()
            self.assertRegex(address, r"^http://127\.0\.0\.1:\d+/[0-9a-f]+/$")
            while self.ask(address, "progress")["state"] == "loading":
                time.sleep(0.05)
            return self.ask(address, "report")
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
        """The row stands second, and needs what stands further down."""
        self.write("src/analysis/weather.c", FILE)
        self.insert("src/analysis/meson.build", "    'all.c',\n", "    'weather.c',\n")
        self.insert("src/analysis/analyses.def", "/* Where the time went, in short", ROW)
        self.check_documented("weather", "src/analysis/weather.c", "src/analysis/meson.build",
                              "src/analysis/analyses.def")
        self.build()
        self.assertRegex(self.millrace("report", "tests/golden/small.mill"),
                         r"\n\nWhat the weather was like\n  - The sky was blue\.\n\nSky:\n"
                         r"  finding  sentences\n  Memory +7\n\nWhere the time went\n")
        self.check(json.loads(self.millrace("report", "--json", "tests/golden/small.mill")))
        self.check(self.ask_viewer())


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
