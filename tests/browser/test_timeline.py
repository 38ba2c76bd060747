#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The timeline and the details: slices are drawn at their times, and everything can be reached with mouse and keys."""

import json
import re
import subprocess
import urllib.parse

import browser
import harness

SEED = 99
# A line of pixels of a lane, near its upper edge, where there is no text.
PIXELS = """([key, lane]) => {
	const row = document.querySelector(`[data-key$="${key}"]`);
	const canvas = document.querySelector(".timeline-canvas");
	const top = row.getBoundingClientRect().top - canvas.getBoundingClientRect().top;
	const ratio = canvas.width / canvas.clientWidth;
	const y = Math.floor((top + 3 + lane * Number(row.dataset.laneHeight)) * ratio);
	const copy = new OffscreenCanvas(canvas.width, 1).getContext("2d");
	copy.drawImage(canvas, 0, -y);
	return Array.from(new Uint32Array(copy.getImageData(0, 0, canvas.width, 1).data.buffer));
}"""
# Whether anything lies over the slices.
IS_OVERLAID = """() => {
	const canvas = document.querySelector(".timeline-overlay");
	const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
	copy.drawImage(canvas, 0, 0);
	return !canvas.hidden && copy.getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte > 0);
}"""
IS_RESOLVED = "() => document.querySelector('.details-selection').getAttribute('aria-busy') === null"


class Timeline(browser.ViewerTest):
    def show(self, trace, height=900, **state):
        fragment = "#" + urllib.parse.urlencode({"view": "timeline", **state}, safe=":,")
        page = self.open(trace, fragment, height=height)
        self.settle(page)
        return page

    def settle(self, page):
        page.wait_for_selector('.timeline[data-waiting="false"]')

    def state(self, page):
        return dict(urllib.parse.parse_qsl(self.fragment(page)[1:]))

    def wait_for_state(self, page, **wanted):
        """The URL follows within a moment."""
        for name, value in wanted.items():
            page.wait_for_function("""([name, value]) =>
                new URLSearchParams(location.hash.slice(1)).get(name) === value""", arg=[name, value])

    def window(self, page):
        """Both at the same moment."""
        return tuple(page.locator(".timeline").evaluate("view => [view.dataset.from, view.dataset.to].map(Number)"))

    def x_of(self, page, time, width):
        begin, end = self.window(page)
        return int((time - begin) * width // (end - begin))

    def place(self, page, key, lane, time):
        """Where on the page a moment of a lane is."""
        row = page.locator(f'[data-key$="{key}"]')
        canvas = page.locator(".timeline-canvas").bounding_box()
        begin, end = self.window(page)
        return (canvas["x"] + (time - begin) * canvas["width"] / (end - begin),
                row.bounding_box()["y"] + 1 + (lane + 0.5) * float(row.get_attribute("data-lane-height")))

    def origin(self, trace):
        """When the trace began: what all times of the viewer count from."""
        done = subprocess.run([browser.MILLRACE, "info", "--json", trace], check=True, capture_output=True, timeout=60)
        return json.loads(done.stdout)["first_ns"]

    def executions(self, trace, condition="true"):
        return self.query(trace, f"select rowid, track, start_ns - {self.origin(trace)} as start, duration_ns, node, "
                                 f"node_name from node_executions where {condition} order by start_ns")

    def check_line(self, page, pixels, pieces, origin):
        """Every piece that is wide enough has the colour of its cause, from its first pixel to its last."""
        colours = {}
        seen = 0
        for i, (begin, end, cause) in enumerate(pieces):
            first, last = (self.x_of(page, time - origin, len(pixels)) for time in (begin, end))
            if first < 0 or last > len(pixels) or last - first < 5:
                continue
            inner = set(pixels[first + 1:last - 1])
            self.assertEqual(1, len(inner), f"{cause} at {begin}")
            colour = inner.pop()
            self.assertEqual(colour, colours.setdefault(cause, colour), f"{cause} at {begin}")
            self.assertNotEqual(colour, pixels[first], "a slice begins with an edge")
            before = i > 0 and self.x_of(page, pieces[i - 1][0] - origin, len(pixels)) < first - 1
            if before and pieces[i - 1][2] != cause:
                self.assertNotEqual(colour, pixels[first - 1], f"before {cause} at {begin}")
            seen += 1
        self.assertEqual(len(colours), len(set(colours.values())), "two causes have the same colour")
        return seen

    def test_idle_time_and_critical_path_are_drawn_as_the_simulator_says(self):
        trace, truth = self.simulated(SEED)
        device = truth["devices"][0]
        idle = [(piece["begin_ns"], piece["end_ns"], re.match(r"[a-z -]+", piece["chain"])[0].strip())
                for piece in device["pieces"]]
        path = [(piece["begin_ns"], piece["end_ns"], re.match(r"[a-z -]+", piece["segment"])[0].strip())
                for piece in truth["path"]]
        for window in ({}, {"from": "400000", "to": "700000"}, {"from": "1100000", "to": "1446135"}):
            page = self.show(trace, **window)
            seen = self.check_line(page, page.evaluate(PIXELS, ["/idle.1", 0]), idle, truth["first_ns"])
            seen += self.check_line(page, page.evaluate(PIXELS, ["path.0", 0]), path, truth["first_ns"])
            self.assertGreater(seen, 4)

    def test_a_known_slice_is_at_known_pixels(self):
        trace, _ = self.simulated(SEED)
        alone = self.executions(trace, "track = 2")
        self.assertEqual(1, len(alone))
        start, end = alone[0]["start"], alone[0]["start"] + alone[0]["duration_ns"]
        for low, high in ((0, 1446135), (start - 1000, end + 1000), (start + 100, end + 5000)):
            page = self.show(trace, **{"from": str(low), "to": str(high)})
            pixels = page.evaluate(PIXELS, ["/node_executions.2", 0])
            first = self.x_of(page, start, len(pixels))
            last = self.x_of(page, end, len(pixels))
            inside = pixels[max(first, 0) + 1:min(last, len(pixels))]
            self.assertEqual(1, len(set(inside)))
            outside = pixels[:max(first, 0)] + pixels[last + 1:]
            self.assertNotIn(inside[0], outside)
            if first >= 0:
                self.assertNotIn(pixels[first], outside)

    def test_zooming_keeps_the_time_under_the_pointer(self):
        page = self.show(self.pipeline())
        canvas = page.locator(".timeline-canvas").bounding_box()
        share = 0.3
        begin, end = self.window(page)
        whole = end - begin
        time = begin + share * whole
        page.mouse.move(canvas["x"] + share * canvas["width"], canvas["y"] + 100)
        page.keyboard.down("Control")
        for _ in range(8):
            page.mouse.wheel(0, -120)
        page.keyboard.up("Control")
        page.keyboard.press("w")
        page.wait_for_function("end => Number(document.querySelector('.timeline').dataset.to) < end", arg=time * 1.8)
        begin, end = self.window(page)
        self.assertLess(end - begin, whole / 2)
        self.assertAlmostEqual(time, begin + share * (end - begin), delta=(end - begin) / 400)
        page.keyboard.press("0")
        page.wait_for_function("() => document.querySelector('.timeline').dataset.from === '0'")

    def test_dragging_and_turning_the_wheel_pan_and_scroll(self):
        page = self.show(self.pipeline(), 500, **{"from": "100000000", "to": "200000000"})
        canvas = page.locator(".timeline-canvas").bounding_box()
        page.mouse.move(canvas["x"] + 300, canvas["y"] + 200)
        page.mouse.down()
        page.mouse.move(canvas["x"] + 100, canvas["y"] + 150, steps=4)
        page.mouse.up()
        moved = 100e6 + 200 / canvas["width"] * 100e6
        page.wait_for_function("""wanted => {
            const {from} = document.querySelector(".timeline").dataset;
            return Math.abs(Number(from) - wanted) < 1e6;
        }""", arg=moved)
        scroller = page.locator(".timeline-scroll")
        scrolled = scroller.evaluate("element => element.scrollTop")
        self.assertGreater(scrolled, 0)
        page.mouse.wheel(0, -400)
        page.wait_for_function("() => document.querySelector('.timeline-scroll').scrollTop === 0")

    def test_a_clicked_slice_tells_everything_about_itself(self):
        trace = self.pipeline()
        track = self.query(trace, "select rowid from tracks where name = 'spectrum'")[0]["rowid"]
        slice_ = max(self.executions(trace, f"track = {track}")[:40], key=lambda each: each["duration_ns"])
        start, end = slice_["start"], slice_["start"] + slice_["duration_ns"]
        page = self.show(trace, **{"from": str(start - 100_000), "to": str(end + 100_000)})
        page.mouse.click(*self.place(page, f"/node_executions.{track}", 0, (start + end) / 2))
        self.wait_for_state(page, select=f"row:0:node_executions:{slice_['rowid']}")
        details = page.get_by_role("complementary", name="Details")
        details.get_by_role("heading", name=slice_["node_name"], exact=True).wait_for()
        self.assertIn(f"{slice_['duration_ns']:,} ns", details.inner_text())
        self.assertIn("spectrum", details.inner_text())
        page.get_by_role("button", name="All with this name").click()
        details.get_by_text("median", exact=True).wait_for()
        of_name = self.executions(trace, f"node = {slice_['node']}")
        self.assertIn(f"all {len(of_name):,} with this name", details.inner_text())
        self.assertIn(f"{sum(each['duration_ns'] for each in of_name):,} ns", details.inner_text())
        details.get_by_role("img", name="Durations").wait_for()
        page.go_back()
        details.get_by_role("heading", name=slice_["node_name"], exact=True).wait_for()
        page.keyboard.press("Escape")
        details.wait_for(state="hidden")

    def test_the_tooltip_names_what_is_under_the_pointer(self):
        trace, _ = self.simulated(SEED)
        slice_ = self.executions(trace, "track = 2")[0]
        page = self.show(trace)
        page.mouse.move(*self.place(page, "/node_executions.2", 0, slice_["start"] + slice_["duration_ns"] / 2))
        tooltip = page.get_by_role("tooltip")
        tooltip.get_by_text(slice_["node_name"]).wait_for()
        self.assertIn(f"{slice_['duration_ns'] / 1000:.3g} µs", tooltip.inner_text())

    def test_connections_lead_from_a_kernel_to_its_launch(self):
        trace, _ = self.simulated(SEED)
        kernel = self.query(trace, "select d.rowid, d.call, c.function from device_operations d "
                                   "join calls c on c.rowid = d.call where d.kind = 'kernel' limit 1")[0]
        page = self.show(trace, select=f"row:0:device_operations:{kernel['rowid']}")
        item = page.get_by_role("complementary").get_by_role("listitem").filter(has_text="launched by")
        item.get_by_role("button", name=kernel["function"]).click()
        self.wait_for_state(page, select=f"row:0:calls:{kernel['call']}")
        page.locator(".details-title", has_text=kernel["function"]).wait_for()
        page.wait_for_function(IS_OVERLAID)

    def test_arrow_keys_visit_every_slice_of_a_lane_in_order(self):
        trace = self.pipeline()
        track = self.query(trace, "select rowid from tracks where name = 'source'")[0]["rowid"]
        order = [each["rowid"] for each in self.executions(trace, f"track = {track}")]
        middle = len(order) // 2
        page = self.show(trace, select=f"row:0:node_executions:{order[middle]}")
        page.locator(".details-title").wait_for()
        for key, step in (("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("ArrowLeft", 0), ("ArrowLeft", -1)):
            page.keyboard.press(key)
            self.wait_for_state(page, select=f"row:0:node_executions:{order[middle + step]}")
            page.wait_for_function(IS_RESOLVED)
        page.keyboard.press("ArrowDown")
        page.wait_for_function("() => location.hash.includes('select=row:0:states:')")

    def test_same_name_before_and_after(self):
        trace = self.pipeline()
        rows = self.executions(trace)
        chosen = [each for each in rows if each["node"] == rows[len(rows) // 2]["node"]]
        page = self.show(trace, select=f"row:0:node_executions:{chosen[10]['rowid']}")
        for key, index in ((".", 11), (",", 10), (",", 9)):
            page.wait_for_function(IS_RESOLVED)
            page.keyboard.press(key)
            self.wait_for_state(page, select=f"row:0:node_executions:{chosen[index]['rowid']}")

    def test_a_selected_stretch_of_time_is_summed_up_exactly(self):
        trace, _ = self.simulated(SEED)
        page = self.show(trace)
        begin, y = self.place(page, "/node_executions.1", 0, 600_000)
        end, _ = self.place(page, "/node_executions.1", 0, 800_000)
        page.mouse.move(begin, y)
        page.keyboard.down("Shift")
        page.mouse.down()
        page.mouse.move(end, y, steps=5)
        page.mouse.up()
        page.keyboard.up("Shift")
        page.wait_for_function("() => location.hash.includes('stretch=')")
        low, high = map(int, self.state(page)["stretch"].split(","))
        self.assertAlmostEqual(600_000, low, delta=2000)
        self.assertAlmostEqual(800_000, high, delta=2000)
        sums = {}
        for each in self.executions(trace):
            inside = min(each["start"] + each["duration_ns"], high) - max(each["start"], low)
            if inside > 0:
                sums[each["node_name"]] = sums.get(each["node_name"], 0) + inside
        self.assertTrue(sums)
        for name, total in sums.items():
            row = page.get_by_role("row").filter(has=page.get_by_role("button", name=name, exact=True))
            row.get_by_title(f"{total:,} ns of {high - low:,}").wait_for()

    def test_groups_open_and_close_from_the_keyboard_and_stay_so(self):
        trace = self.pipeline()
        page = self.show(trace)
        group = page.get_by_role("treeitem", name="filter-0")
        group.focus()
        self.assertEqual("true", group.get_attribute("aria-expanded"))
        page.keyboard.press("Enter")
        page.wait_for_selector('.timeline-row[aria-expanded="false"]:focus')
        page.wait_for_function("() => location.hash.includes('closed=thread.')")
        page.reload()
        page.wait_for_selector("html[data-ready]")
        self.settle(page)
        self.assertEqual("false", group.get_attribute("aria-expanded"))
        self.assertEqual(0, page.locator(f'[data-group="{group.get_attribute("data-group")}"][data-band]').count())
        group.focus()
        page.keyboard.press("ArrowRight")
        page.wait_for_selector('.timeline-row[aria-expanded="true"]:focus')
        page.keyboard.press("ArrowDown")
        self.assertEqual("operations", page.evaluate("() => document.activeElement.textContent"))

    def test_of_a_deep_band_the_first_lanes_are_shown_until_it_is_opened(self):
        trace = self.folder / "deep.json"
        trace.write_text(json.dumps({"traceEvents": [
            {"ph": "X", "name": f"level {i}", "ts": 10 * i, "dur": 1000 - 20 * i, "pid": 1, "tid": 1} for i in range(10)]}))
        page = self.show(trace)
        band = page.get_by_role("treeitem").filter(has_text="4 more lanes")
        height = band.bounding_box()["height"]
        key = band.get_attribute("data-key")
        band.click()
        opened = page.locator(f'[data-key="{key}"][aria-expanded="true"]')
        opened.wait_for()
        self.assertAlmostEqual(height / 6 * 10, opened.bounding_box()["height"], delta=4)
        table, row = page.evaluate("""async () => {
            const {results} = await (await fetch("traces/0/find?text=level%208&limit=1")).json();
            return [results[0].first.table, results[0].first.row];
        }""")
        page = self.show(trace, select=f"row:0:{table}:{row}")
        opened = page.locator(f'[data-key="{key}"][aria-expanded="true"]')
        opened.wait_for()
        page.locator(".details-title", has_text="level 8").wait_for()

    def test_what_is_selected_elsewhere_comes_into_sight(self):
        trace = self.pipeline()
        row = self.query(trace, "select rowid, track from cpu_runs where tid > 0 order by start_ns desc limit 1")[0]
        page = self.show(trace, select=f"row:0:cpu_runs:{row['rowid']}")
        band = page.locator(f'[data-key$="/cpu_runs.{row["track"]}"]')
        band.wait_for()
        page.wait_for_url(lambda url: "open=cpus.0" in url)
        page.wait_for_function("""key => {
            const box = document.querySelector(`[data-key$="${key}"]`).getBoundingClientRect();
            const around = document.querySelector(".timeline-scroll").getBoundingClientRect();
            return around.top <= box.top && box.bottom <= around.bottom + 1;
        }""", arg=f"/cpu_runs.{row['track']}")
        page.locator(".timeline-status", has_text=re.compile(".")).wait_for()

    def test_what_is_selected_is_not_hidden_by_the_filter(self):
        trace = self.pipeline()
        track = self.query(trace, "select rowid from tracks where name = 'source'")[0]["rowid"]
        row = self.executions(trace, f"track = {track}")[0]["rowid"]
        page = self.show(trace, tracks="spectrum")
        band = page.locator(f'[data-key$="/node_executions.{track}"]')
        self.assertEqual(0, band.count())
        page.goto(f"{page.url}&select=row:0:node_executions:{row}")
        band.wait_for()
        page.wait_for_url(lambda url: "tracks=" not in url)
        self.assertEqual("", page.get_by_role("searchbox", name="Filter tracks").input_value())

    def test_the_window_of_a_url_stays_whatever_is_selected(self):
        trace = self.pipeline()
        rows = self.executions(trace)
        window = {"from": "400000000", "to": "400100000"}
        page = self.show(trace, select=f"row:0:node_executions:{rows[0]['rowid']}", **window)
        title = page.locator(".details-title")
        for row in (rows[0], rows[-1]):
            page.goto(page.url.replace(self.state(page)["select"], f"row:0:node_executions:{row['rowid']}"))
            title.filter(has_text=row["node_name"]).wait_for()
            self.settle(page)
            self.assertEqual((400e6, 400.1e6), self.window(page))
        page.go_back()
        title.filter(has_text=rows[0]["node_name"]).wait_for()
        self.settle(page)
        self.assertEqual((400e6, 400.1e6), self.window(page))

    def test_switches_and_filter_are_in_the_url(self):
        trace, _ = self.simulated(SEED)
        page = self.show(trace)
        overlay = page.locator(".timeline-overlay")
        self.assertFalse(overlay.is_visible())
        path = page.get_by_role("button", name="Critical path", exact=True)
        path.click()
        self.wait_for_state(page, path="on")
        self.assertEqual("true", path.get_attribute("aria-pressed"))
        page.wait_for_function(IS_OVERLAID)
        page.get_by_role("searchbox", name="Filter tracks").fill("1003")
        self.wait_for_state(page, tracks="1003")
        page.get_by_role("treeitem", name="tid 1002").wait_for(state="detached")
        self.assertEqual(1, page.get_by_role("treeitem", name="tid 1003").count())
        page.get_by_role("searchbox", name="Filter tracks").fill("nonesuch")
        page.get_by_text("No track matches “nonesuch”.").wait_for()
        page.get_by_role("searchbox", name="Filter tracks").fill("")
        page.get_by_text("No track matches").wait_for(state="hidden")

    def test_names_upon_slices_are_cut_where_they_do_not_differ(self):
        names = [f"StatefulPartitionedCall/sequential_1/layer_{i}/convolution" for i in range(4)]
        names += [f"__inference_multi_step_on_iterator_with_a_long_name_{i}" for i in range(1982, 1984)]
        trace = self.folder / "long.json"
        trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": name, "ts": 100 * i, "dur": 90, "pid": 1, "tid": 1}
            for i, name in enumerate(names)]}))
        page = self.open(trace, "#view=timeline")
        page.wait_for_selector("html[data-drawn]")
        page.evaluate("""() => {
            window.texts = {}; /* by width */
            const draw = CanvasRenderingContext2D.prototype.fillText;
            CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
                (window.texts[this.canvas.width] ??= []).push(text);
                draw.call(this, text, ...place);
            };
        }""")
        wider = page.locator(".timeline-canvas").evaluate("canvas => canvas.width") + 100
        page.set_viewport_size({"width": 1500, "height": 800})
        page.wait_for_function("width => window.texts[width]?.some((text) => text.endsWith('_1983'))", arg=wider)
        drawn = {text for text in page.evaluate("width => window.texts[width]", wider) if "…" in text}
        for name in names:
            end = name[-5:] if name.startswith("__") else name[-20:]
            (text,) = (each for each in drawn if each.endswith(end))
            self.assertTrue(name.startswith(text.split("…")[0]), text)

    def test_it_says_what_is_missing(self):
        page = self.show(self.pipeline())
        page.get_by_text("Not in this trace:").wait_for()
        self.assertIn("runtime level", page.locator(".timeline-missing").inner_text())

    def test_everything_that_can_be_used_has_a_name(self):
        page = self.show(self.pipeline(), select="row:0:node_executions:5")
        page.locator(".details-title").wait_for()
        nameless = page.evaluate("""() => [...document.querySelectorAll("button, input, [tabindex], summary")]
            .filter((element) => !element.closest("[hidden]") && element.tabIndex >= 0 &&
                !(element.getAttribute("aria-label") || element.textContent.trim() || element.title))
            .map((element) => element.outerHTML)""")
        self.assertEqual([], nameless)

    def test_the_details_can_be_resized_and_folded_with_keys(self):
        page = self.show(self.pipeline(), select="row:0:node_executions:5")
        page.locator(".details-title").wait_for()
        panel = page.get_by_role("complementary", name="Details")
        before = panel.bounding_box()["width"]
        page.get_by_role("separator").focus()
        page.keyboard.press("ArrowLeft")
        self.assertGreater(panel.bounding_box()["width"], before)
        fold = page.get_by_role("button", name="Hide the details")
        fold.press("Enter")
        self.assertEqual("false", fold.get_attribute("aria-expanded"))
        self.assertLess(panel.bounding_box()["width"], before / 2)

    def test_what_fails_is_told_and_asked_for_again(self):
        page = self.open(self.pipeline(), "#view=timeline")
        self.settle(page)
        refused = []

        def refuse(route):
            refused.append(route.request.url)
            route.fulfill(status=500, content_type="application/json", body='{"error": "it cannot be told"}')

        page.route("**/traces/0/series?*", refuse)
        page.reload()
        page.get_by_text("it cannot be told").wait_for()
        self.settle(page)  # until the next attempt
        page.unroute("**/traces/0/series?*")
        page.get_by_text("it cannot be told").wait_for(state="hidden")
        self.settle(page)
        self.assertGreater(len(refused), 0)
        self.wait_for_problems(page, len(refused))
        self.assertEqual(len(refused), sum("500" in problem for problem in self.problems))
        self.problems = [problem for problem in self.problems if "500" not in problem]


if __name__ == "__main__":
    harness.main()
