#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What makes the viewer pleasant to use: nothing moves under the pointer, nothing is empty without a word, everything
can be reached with keys, and numbers are written in one way."""

import json
import re
import subprocess

import browser
import harness

SEED = 7
# Every text that is drawn on the timeline from now on, frame by frame.
LISTEN = """() => {
	window.frames_ = [[]];
	const draw = CanvasRenderingContext2D.prototype.fillText;
	CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
		if (this.canvas.className === "timeline-canvas")
			window.frames_.at(-1).push(text);
		draw.call(this, text, ...place);
	};
	const put = CanvasRenderingContext2D.prototype.putImageData;
	CanvasRenderingContext2D.prototype.putImageData = function (...rest) {
		window.frames_.push([]);
		put.call(this, ...rest);
	};
}"""


class Comfort(browser.ViewerTest):
    def settle(self, page):
        page.wait_for_selector('.timeline[data-waiting="false"]')

    def imported(self, name, events):
        trace = self.folder / f"{name}.json"
        trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        return trace

    def test_help_opens_at_its_beginning(self):
        page = self.open(self.pipeline(), height=420)
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog", name="Keys and gestures")
        dialog.wait_for()
        self.assertTrue(dialog.evaluate("(dialog) => dialog.scrollHeight > dialog.clientHeight"), "it need not scroll")
        self.assertEqual(0, dialog.evaluate("(dialog) => dialog.scrollTop"))
        dialog.get_by_role("button", name="Close").click()
        dialog.wait_for(state="detached")

    def test_a_slice_is_named_once_however_many_answers_draw_it(self):
        trace = self.imported("wide", [
            {"ph": "X", "cat": "cpu_op", "name": "whole", "ts": 0, "dur": 1_000_000, "pid": 1, "tid": 1},
            *({"ph": "X", "cat": "cpu_op", "name": f"part {i}", "ts": 1000 * i, "dur": 900, "pid": 1, "tid": 1}
              for i in range(1000))])
        page = self.open(trace, "#view=timeline&from=400000000&to=420000000")
        self.settle(page)
        page.evaluate(LISTEN)
        for _ in range(12):  # each leads out of what was asked for before
            page.keyboard.press("d")
            page.wait_for_timeout(20)
        for _ in range(4):
            page.keyboard.press("s")
            page.wait_for_timeout(20)
        self.settle(page)
        frames = [frame for frame in page.evaluate("window.frames_") if frame]
        self.assertGreater(len(frames), 5)
        self.assertEqual({1}, {frame.count("whole") for frame in frames})

    def test_going_from_slice_to_slice_leaves_the_buttons_where_they_are(self):
        trace = self.imported("names", [
            {"ph": "X", "cat": "cpu_op", "name": "op" if i % 2 else f"a long name that needs several lines {i} " * 4,
             "ts": 100 * i, "dur": 90, "pid": 1, "tid": 1} for i in range(6)])
        page = self.open(trace, "#view=timeline&select=row:0:node_executions:1")
        button = page.get_by_role("button", name="Zoom to it")
        button.wait_for()
        boxes = []
        for row in range(4):
            page.goto(re.sub(r"executions:\d+", f"executions:{row}", page.url))
            page.wait_for_function("() => document.querySelector('.details-selection').getAttribute('aria-busy') === null")
            boxes.append(button.bounding_box())
        self.assertEqual(1, len({(box["x"], box["y"]) for box in boxes}), boxes)

    def test_a_clicked_slice_stays_under_the_pointer(self):
        trace = self.pipeline()
        row = self.query(trace, "select start_ns, duration_ns from node_executions order by duration_ns desc limit 1")[0]
        first = json.loads(subprocess.run([browser.MILLRACE, "info", "--json", trace], check=True, timeout=60,
                                          capture_output=True).stdout)["first_ns"]
        middle = row["start_ns"] - first + row["duration_ns"] / 2
        page = self.open(trace, f"#view=timeline&from={int(middle - 2e6)}&to={int(middle + 6e6)}")
        self.settle(page)
        canvas = page.locator(".timeline-canvas")
        under = """([canvas, x]) => {
			const {from, to} = document.querySelector(".timeline").dataset;
			return Number(from) + (Number(to) - Number(from)) * x / canvas.clientWidth;
		}"""
        box = canvas.bounding_box()
        x = box["width"] / 4
        for y in range(20, int(box["height"]), 6):  # until something is hit
            page.mouse.click(box["x"] + x, box["y"] + y)
            if page.get_by_role("complementary", name="Details").is_visible():
                break
        page.locator(".details-title").wait_for()
        self.settle(page)
        self.assertLess(canvas.bounding_box()["width"], box["width"])
        self.assertEqual(box["y"], canvas.bounding_box()["y"])
        self.assertAlmostEqual(middle, page.evaluate(under, [canvas.element_handle(), x]), delta=8e6 / box["width"])

    def test_a_filter_that_leaves_nothing_says_so(self):
        trace, _ = self.simulated(SEED)
        page = self.open(trace, "#view=tables&table=calls.by_name")
        page.get_by_role("searchbox", name="Filter Runtime calls").fill("nonesuch")
        page.get_by_text("No row matches “nonesuch”.").wait_for()
        page.get_by_role("searchbox", name="Filter Runtime calls").fill("")
        page.get_by_text("No row matches").wait_for(state="detached")

    def test_keys_alone_select_a_slice(self):
        trace = self.pipeline()
        page = self.open(trace, "#view=timeline")
        self.settle(page)
        page.keyboard.press("ArrowRight")
        page.wait_for_url(re.compile(r"select=row:0:\w+:\d+"))
        page = self.open(trace, "#view=timeline")
        self.settle(page)
        band = page.locator('[data-key*="/node_executions."]').first
        band.focus()
        track = int(band.get_attribute("data-key").rpartition(".")[2])
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"select=row:0:node_executions:\d+"))
        first = self.query(trace, f"select rowid from node_executions where track = {track} order by start_ns limit 1")
        self.assertIn(f"select=row:0:node_executions:{first[0]['rowid']}", page.url)

    def test_a_counter_shows_its_value_under_the_pointer(self):
        trace = self.pipeline()
        page = self.open(trace, "#view=timeline")
        self.settle(page)
        memory = page.evaluate("fetch('traces/0/memory').then((answer) => answer.json())")["series"][0]
        row = page.locator(f'[data-band="{memory["band"]}"]')
        row.scroll_into_view_if_needed()
        self.settle(page)
        canvas, box = page.locator(".timeline-canvas").bounding_box(), row.bounding_box()
        page.mouse.move(canvas["x"] + canvas["width"] / 2, box["y"] + box["height"] / 2)
        tooltip = page.get_by_role("tooltip")
        tooltip.get_by_text(re.compile(r"^[\d.]+ (B|[KMG]iB)$")).wait_for()
        self.assertIn(" at ", tooltip.inner_text())

    def test_the_peak_of_memory_is_one_click_away(self):
        page = self.open(self.pipeline(), "#view=memory")
        page.locator("svg.plot .area-fill").first.wait_for()
        series = page.evaluate("fetch('traces/0/memory').then((answer) => answer.json())")["series"][0]
        page.get_by_role("button", name=f"Peak of {series['title']}").first.click()
        page.get_by_role("heading", name=re.compile("^Live at")).wait_for()
        live = page.evaluate("([band, time]) => fetch(`traces/0/live?band=${band}&time=${time}`)"
                             ".then((answer) => answer.json())", [series["band"], series["peak_at"]])
        self.assertEqual(series["peak_bytes"], live["bytes"])
        self.assertIn(f"moment={series['peak_at']}", self.fragment(page))
        page.locator("svg.plot .moment").first.wait_for(state="attached")

    def test_one_is_not_many(self):
        trace = self.imported("single", [{"ph": "X", "cat": "cpu_op", "name": "alone", "ts": 0, "dur": 10, "pid": 1,
                                          "tid": 1}])
        page = self.open(trace)
        page.get_by_text("1 process, 1 thread").first.wait_for()
        page.get_by_role("tab", name="Graph").click()
        page.get_by_role("combobox", name="Graph").locator("option", has_text="(1 operation)").wait_for(state="attached")

    def test_numbers_are_written_in_one_way(self):
        trace, _ = self.simulated(SEED)
        page = self.open(trace)
        page.get_by_role("heading", name="Devices").wait_for()
        text = page.locator("body").inner_text()
        self.assertRegex(text, r"\d%")
        self.assertRegex(text, r"\d µs")
        self.assertNotRegex(text, r"\d %")
        self.assertNotRegex(text, r"\d us\b")


if __name__ == "__main__":
    harness.main()
