#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: the times that it compares are those of one trace
"""Parts of the timeline: stretches of time on some tracks, tracks that stay in sight, whole gaps, and stacks."""

import json
import re
import subprocess

import browser
import harness

SEED = 7
STACKED = ("scopes", "node_executions", "calls", "system_calls", "device_operations")


class Areas(browser.ViewerTest):
    def show(self, trace, fragment="", **options):
        page = self.open(trace, "#view=timeline" + fragment, **options)
        self.settle(page)
        return page

    def settle(self, page):
        page.wait_for_selector('.timeline[data-waiting="false"]')

    def ask(self, page, question):
        return page.evaluate("(question) => fetch(`traces/0/${question}`).then((answer) => answer.json())", question)

    def origin(self, trace):
        done = subprocess.run([browser.MILLRACE, "info", "--json", trace], check=True, capture_output=True, timeout=60)
        return json.loads(done.stdout)["first_ns"]

    def test_an_area_is_summed_up_for_its_tracks_alone(self):
        trace, _ = self.simulated(SEED)
        page = self.show(trace)
        row = page.locator('[data-key$="/node_executions.1"]').bounding_box()
        canvas = page.locator(".timeline-canvas").bounding_box()
        y = row["y"] + row["height"] / 2
        page.mouse.move(canvas["x"] + 0.3 * canvas["width"], y)
        page.keyboard.down("Shift")
        page.mouse.down()
        page.mouse.move(canvas["x"] + 0.6 * canvas["width"], y, steps=4)
        page.mouse.up()
        page.keyboard.up("Shift")
        page.wait_for_function("() => location.hash.includes('area=')")
        low, high = map(int, re.search(r"stretch=(\d+),(\d+)", self.fragment(page)).groups())
        origin = self.origin(trace)
        sums = {}
        for each in self.query(trace, "select node_name, start_ns, duration_ns from node_executions where track = 1"):
            start = each["start_ns"] - origin
            inside = min(start + each["duration_ns"], high) - max(start, low)
            if inside > 0:
                sums[each["node_name"]] = sums.get(each["node_name"], 0) + inside
        self.assertTrue(sums)
        shown = page.locator(".details-stretch .details-table").first
        shown.wait_for()
        self.assertEqual(1, page.locator(".details-stretch details").count())
        for name, total in sums.items():
            line = shown.get_by_role("row").filter(has=page.get_by_role("button", name=name, exact=True))
            line.get_by_title(f"{total:,} ns of {high - low:,}").wait_for()

    def test_a_pinned_group_stays_in_sight(self):
        trace = self.pipeline()
        page = self.show(trace, height=420)
        group = page.get_by_role("treeitem", name="spectrum")
        group.scroll_into_view_if_needed()
        key = group.get_attribute("data-key")
        group.hover()
        page.get_by_role("button", name="Pin spectrum").click()
        page.wait_for_function("() => location.hash.includes('pinned=')")
        scroller = page.locator(".timeline-scroll")
        places = []
        for top in (0, 300, 600):
            scroller.evaluate("(scroller, top) => { scroller.scrollTop = top; }", top)
            page.wait_for_timeout(100)
            self.settle(page)
            places.append(page.locator(f'[data-key="{key}"]').bounding_box()["y"])
        self.assertEqual(1, len(set(places)), places)
        band = page.locator(f'[data-key^="{key}/node_executions"]').bounding_box()
        canvas = page.locator(".timeline-canvas").bounding_box()
        for share in range(2, 60):  # until there is something
            page.mouse.click(canvas["x"] + canvas["width"] * share / 64, band["y"] + band["height"] / 2)
            if "select=" in self.fragment(page):
                break
        page.wait_for_url(re.compile(r"select=row:0:node_executions:\d+"))
        row = int(re.search(r"node_executions:(\d+)", page.url)[1])
        (found,) = self.query(trace, "select tracks.name from node_executions join tracks on tracks.rowid = track "
                                     f"where node_executions.rowid = {row}")
        self.assertEqual("spectrum", found["name"])
        page.get_by_role("button", name="Unpin spectrum").click()
        page.wait_for_function("() => !location.hash.includes('pinned=')")

    def test_a_piece_of_idle_time_selects_its_gap(self):
        trace, truth = self.simulated(SEED)
        pieces = truth["devices"][0]["pieces"]
        page = self.show(trace)
        row = next(row for row in range(len(pieces)) if self.ask(page, f"row?table=idle&row={row}")["gap"]["causes"][1:])
        gap = self.ask(page, f"row?table=idle&row={row}")["gap"]
        first = next(i for i, piece in enumerate(pieces) if piece["begin_ns"] - truth["first_ns"] == gap["from"])
        self.assertIn(gap["to"] + truth["first_ns"], [piece["end_ns"] for piece in pieces])
        self.assertTrue(first == 0 or pieces[first - 1]["end_ns"] < pieces[first]["begin_ns"])
        self.assertEqual(gap["to"] - gap["from"], sum(cause["ns"] for cause in gap["causes"]))
        page = self.show(trace, f"&select=row:0:idle:{row}")
        page.get_by_role("heading", name=f"The gap: {browser.duration(gap['to'] - gap['from'])}").wait_for()
        page.keyboard.press("f")
        room = 0.75 * (gap["to"] - gap["from"])
        page.wait_for_function("""([from, to]) => {
            const shown = document.querySelector(".timeline").dataset;
            return Math.abs(Number(shown.from) - from) < 2 && Math.abs(Number(shown.to) - to) < 2;
        }""", arg=[gap["from"] - room, gap["to"] + room])
        link = page.locator(".details-chain button").first
        link.click()
        page.wait_for_url(re.compile(r"select=row:0:(states|calls|node_executions|scopes):\d+"))

    def test_stacks_sum_up_to_what_the_tracks_did(self):
        trace = self.pipeline()
        track = self.query(trace, "select rowid from tracks where name = 'spectrum'")[0]["rowid"]
        origin = self.origin(trace)
        low, high = 100_000_000, 300_000_000
        ends = []
        for table in STACKED:
            for each in self.query(trace, f"select start_ns, duration_ns from {table} where track = {track}"):
                start = each["start_ns"] - origin
                begin, end = max(start, low), min(start + each["duration_ns"], high)
                if begin < end:
                    ends.append((begin, end))
        covered, until = 0, low
        for begin, end in sorted(ends):
            covered += max(end - max(begin, until), 0)
            until = max(until, end)
        page = self.show(trace)
        answer = self.ask(page, f"icicle?from={low}&to={high}&tracks={track}")
        frames = answer["frames"]
        self.assertGreater(covered, 0)
        self.assertEqual(covered, answer["total_ns"])
        for number, frame in enumerate(frames):
            inside = sum(each["total_ns"] for each in frames if each["parent"] == number)
            self.assertLessEqual(inside + frame["self_ns"], frame["total_ns"])
            self.assertGreaterEqual(inside + frame["self_ns"], 0.9 * frame["total_ns"])  # what is too thin is left out

    def test_a_frame_of_the_stacks_selects_its_name(self):
        trace = self.pipeline()
        track = self.query(trace, "select rowid from tracks where name = 'spectrum'")[0]["rowid"]
        (row,) = self.query(trace, f"select rowid, node_name from node_executions where track = {track} limit 1")
        page = self.show(trace, f"&select=row:0:node_executions:{row['rowid']}")
        stacks = page.get_by_role("img", name="Stacks of the selection")
        stacks.wait_for()
        frame = stacks.locator(".icicle-frame").first
        self.assertIn(row["node_name"], frame.locator("title").text_content())
        frame.locator("rect").click()
        page.wait_for_url(re.compile(r"select=label:0:node_executions:\d+"))


if __name__ == "__main__":
    harness.main()
