#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links of the viewer: from a cause to the gap with the most time of it, from evidence to its place, from a system
call to its file and back."""

import json
import re
import subprocess

import browser
import harness
from browser import duration

SEED = 7


def headline(chain):
    """The cause that a chain goes by (doc/causes.md)."""
    kinds = [link.split("(")[0] for link in chain.split(" > ")]
    waits = [kind for kind in kinds[:-1] if kind in ("lock", "ipc", "child", "signal", "poll", "network")]
    return waits[-1] if waits and kinds[-1] in ("cpu", "sleep", "call", "untraced", "unknown") else kinds[-1]


def gaps(device):
    """The pieces of each gap of a device."""
    found = []
    for piece in device["pieces"]:
        if not found or found[-1][-1]["end_ns"] != piece["begin_ns"]:
            found.append([])
        found[-1].append(piece)
    return found


def time_of(pieces, cause=None):
    return sum(piece["end_ns"] - piece["begin_ns"] for piece in pieces
               if cause is None or headline(piece["chain"]) == cause)


class Causes(browser.ViewerTest):
    def test_a_cause_leads_to_the_gap_that_has_most_of_it(self):
        trace, truth = self.simulated(SEED)
        page = self.open(trace, "#scope=whole")
        causes = page.get_by_role("table", name=f"What {truth['devices'][0]['name']} did").get_by_role("button")
        causes.first.wait_for()
        names = [name for name in causes.all_inner_texts() if name not in ("device kernels", "copies alone")][:3]
        self.assertGreater(len(names), 1)
        for cause in names:
            causes.filter(has_text=re.compile(f"^{cause}$")).click()
            page.wait_for_url(re.compile(r"view=timeline.*select=row:0:idle:\d+"))
            page.get_by_role("heading", name=cause, exact=True).first.wait_for()
            worst = max((gap for device in truth["devices"] for gap in gaps(device)),
                        key=lambda gap, cause=cause: time_of(gap, cause))
            page.get_by_text(f"was idle for {duration(time_of(worst))}").wait_for()
            begin, end = (int(re.search(rf"{name}=(-?\d+)", page.url)[1]) for name in ("from", "to"))
            room = 0.75  # on both sides
            self.assertAlmostEqual(time_of(worst), (end - begin) / (1 + 2 * room), delta=2)
            page.go_back()

    def test_the_longest_evidence_may_be_nowhere(self):
        """After the last thread has ended nothing is traced any more: that belongs to no track."""
        trace = self.folder / "true.mill"
        subprocess.run([browser.MILLRACE, "record", "-o", trace, "--", "/bin/true"], check=True, capture_output=True,
                       timeout=60)
        done = subprocess.run([browser.MILLRACE, "report", "--whole", "--json", trace], check=True, capture_output=True,
                              timeout=60)
        paths = [finding for finding in json.loads(done.stdout)["findings"] if finding["id"] == "critical_path"]
        if not paths:
            self.skipTest("there is no critical path without the kernel level")
        found = paths[0]["evidence"]
        (places,) = (table["rows"] for table in paths[0]["tables"] if table["id"] == "by_place")
        self.assertEqual(found[0]["duration_ns"], max(row["max_ns"] for row in places))
        self.assertEqual(found, sorted(found, key=lambda each: -each["duration_ns"]))
        page = self.open(trace)
        if found[0]["track"] is None:
            nowhere = page.locator(".evidence button").first
            self.assertRegex(nowhere.inner_text(), r"^[\d.]+ [mµ]?s at [\d.]+ s: untraced")
            nowhere.click()
            page.wait_for_url(re.compile(r"view=timeline.*select=row:0:path:\d+"))


class Files(browser.ViewerTest):
    def open_table(self, trace, table, **options):
        page = self.open(trace, f"#view=tables&table={table}", **options)
        page.locator("table.data").wait_for()
        return page

    def column(self, page, number):
        return page.locator(f"table.data tbody tr:not(.gap) td:nth-child({number})").all_inner_texts()

    def test_files_are_as_sql_counts_them(self):
        trace, _ = self.simulated(SEED)
        page = self.open_table(trace, "input_output.by_file")
        wanted = self.query(trace, "select file_path as file, count(*) as count, sum(duration_ns) as time_ns, "
                                   "sum(number_name in ('read', 'recvfrom')) as reads, "
                                   "sum(number_name = 'write') as writes from system_calls where file is not null "
                                   "group by 1 order by 3 desc")
        self.assertGreater(len(wanted), 2)
        names = [cell.split("\t")[0] for cell in page.locator("table.data thead tr").all_inner_texts()]
        self.assertEqual("file", names[0].strip())
        for number, key in enumerate(("file", "count", None, "reads", "writes"), 1):
            if key:
                self.assertEqual([str(row[key]) for row in wanted], self.column(page, number))

    def test_a_system_call_leads_to_its_file(self):
        trace, _ = self.simulated(SEED)
        (call,) = self.query(trace, "select rowid as row, file_path from system_calls where file_path = '/dev/gpu'")
        page = self.open(trace, f"#view=timeline&select=row:0:system_calls:{call['row']}")
        page.get_by_role("button", name=call["file_path"]).click()
        page.wait_for_url(re.compile("view=tables.*table=input_output.by_file"))
        page.get_by_role("heading", name="Files", exact=False).first.wait_for()
        marked = page.locator("table.data tr[aria-selected=true]")
        marked.wait_for()
        self.assertEqual([call["file_path"]], self.column(page, 1))
        self.assertEqual([call["file_path"]], marked.locator("td:nth-child(1)").all_inner_texts())

    def test_a_file_leads_to_a_call_that_is_about_it(self):
        trace, _ = self.simulated(SEED)
        page = self.open_table(trace, "input_output.by_file")
        page.locator("table.data td[title='/dev/gpu']").click()
        page.wait_for_url(re.compile(r"select=row:0:system_calls:\d+"))
        page.get_by_role("heading", name="ioctl").first.wait_for()


if __name__ == "__main__":
    harness.main()
