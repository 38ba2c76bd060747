#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overview, tables, steps and memory in the viewer, and the HTML report, against what the simulator knows to be true
and what SQL says about the same trace."""

import csv
import io
import json
import re
import subprocess
import unittest

import browser

SEED = 7


def duration(ns):
    """As the pages write it: three digits."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= 0.9995 * size:
            value = ns / size
            return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f} {unit}"
    return f"{ns} ns"


class Overview(browser.ViewerTest):
    def test_devices_are_idle_as_the_simulator_says(self):
        trace, truth = self.simulated(SEED)
        page = self.open(trace)
        page.get_by_role("heading", name="Devices").wait_for()
        for device in truth["devices"]:
            span = device["last_ns"] - device["first_ns"]
            heading = page.get_by_role("heading", name=device["name"]).inner_text()
            self.assertIn(f"idle {100 * device['idle_ns'] / span:.1f} % of {duration(span)}", heading)
            rows = page.get_by_role("table", name=f"What {device['name']} did").locator("tr").all_inner_texts()
            shown = {cells[1]: cells[2] for cells in (row.split("\t") for row in rows)}
            dispatch = sum(piece["end_ns"] - piece["begin_ns"] for piece in device["pieces"]
                           if piece["chain"].split(" > ")[-1] == "dispatch")
            self.assertEqual(duration(dispatch), shown["dispatch"], device["name"])

    def test_bars_are_as_wide_as_their_parts(self):
        trace, truth = self.simulated(SEED)
        page = self.open(trace)
        device = truth["devices"][0]
        bar = page.get_by_role("img", name=f"What {device['name']} did")
        bar.wait_for()
        widths = bar.evaluate("(svg) => [...svg.children].map((each) => each.getBBox().width)")
        span = device["last_ns"] - device["first_ns"]
        whole = bar.bounding_box()["width"]
        busy = sum(width for width, name in zip(widths, bar.locator("title").all_text_contents())
                   if name.startswith(("kernels", "copies")))
        self.assertAlmostEqual(1 - device["idle_ns"] / span, busy / whole, delta=0.01)
        self.assertAlmostEqual(whole, sum(widths), delta=1)

    def test_evidence_leads_to_its_place_on_the_timeline(self):
        trace, truth = self.simulated(SEED)
        page = self.open(trace)
        evidence = page.locator(".evidence button").first
        text = evidence.inner_text()
        at = round(float(re.search(r"at ([\d.]+) s", text)[1]) * 1e9)
        evidence.click()
        page.wait_for_url(re.compile("view=timeline"))
        begin, end = (int(re.search(rf"{name}=(-?\d+)", page.url)[1]) for name in ("from", "to"))
        self.assertTrue(begin < at < end, page.url)
        page.go_back()
        evidence.wait_for()

    def test_a_card_leads_to_the_longest_piece_of_its_cause(self):
        trace, truth = self.simulated(SEED)
        page = self.open(trace)
        card = page.get_by_role("article").first
        cause = card.get_by_role("heading").inner_text()
        card.get_by_role("button").click()
        page.wait_for_url(re.compile(r"view=timeline.*select=row:(idle|path):\d+"))
        page.get_by_role("heading", name=cause, exact=True).first.wait_for()

    def test_says_what_is_missing(self):
        trace, _ = self.simulated(SEED, "no-kernel")
        page = self.open(trace)
        page.get_by_text("Without the kernel level").wait_for()
        self.assertEqual(0, page.get_by_text("No device did anything").count())

    def test_an_empty_trace(self):
        trace = self.folder / "empty.mill"
        if not trace.exists():
            subprocess.run([browser.MILLRACE, "record", "--levels", "dataflow", "-o", trace, "--", "/bin/true"],
                           check=True, capture_output=True, timeout=60)
        page = self.open(trace)
        page.get_by_text("No device did anything").wait_for()
        for view, text in (("Steps", "No steps"), ("Memory", "No memory was recorded")):
            page.get_by_role("tab", name=view).click()
            page.get_by_role("heading", name=text).wait_for()
        page.get_by_role("tab", name="Tables").click()
        page.get_by_role("tabpanel", name="Tables").locator("nav, .empty").first.wait_for()


class Tables(browser.ViewerTest):
    def open_table(self, trace, table, **options):
        page = self.open(trace, f"#view=tables&table={table}", **options)
        page.locator("table.data").wait_for()
        return page

    def column(self, page, number):
        return page.locator(f"table.data tbody tr:not(.gap) td:nth-child({number})").all_inner_texts()

    def calls(self, trace):
        return self.query(trace, "select function, count(*) as count, sum(duration_ns) as total_ns from calls "
                                 "group by 1 order by 2 desc, 1")

    def test_sorts_by_any_column(self):
        trace, _ = self.simulated(SEED)
        page = self.open_table(trace, "calls.by_name")
        wanted = self.calls(trace)
        head = page.get_by_role("columnheader", name="count")
        for order, counts in (("descending", [str(row["count"]) for row in wanted]),
                              ("ascending", [str(row["count"]) for row in reversed(wanted)])):
            head.get_by_role("button").click()
            self.assertEqual(order, head.get_attribute("aria-sort"))
            self.assertEqual(counts, [text.replace(",", "") for text in self.column(page, 2)])
        page.get_by_role("columnheader", name="function").get_by_role("button").click()
        self.assertIsNone(head.get_attribute("aria-sort"))
        self.assertEqual(sorted((row["function"] for row in wanted), key=str.lower), self.column(page, 1))

    def test_filters_and_adds_up_what_is_left(self):
        trace, _ = self.simulated(SEED)
        page = self.open_table(trace, "calls.by_name")
        wanted = [row for row in self.calls(trace) if "clEnqueue" in row["function"]]
        self.assertGreater(len(wanted), 1)
        page.get_by_role("searchbox", name="Filter Runtime calls").fill("CLENQUEUE")
        self.assertEqual({row["function"] for row in wanted}, set(self.column(page, 1)))
        total = page.locator("tfoot td").nth(1).inner_text()
        self.assertEqual(sum(row["count"] for row in wanted), int(total.replace(",", "")))

    def test_copies_exact_numbers_as_csv(self):
        trace, _ = self.simulated(SEED)
        page = self.open_table(trace, "calls.by_name", permissions=["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy Runtime calls: By name as CSV").click()
        page.get_by_text("Copied").wait_for()
        text = page.evaluate("navigator.clipboard.readText()")
        self.assertEqual(text.count("\n"), text.count("\r\n"))
        rows = {row["function"]: row for row in csv.DictReader(io.StringIO(text, newline=""))}
        for row in self.calls(trace):
            self.assertEqual(str(row["count"]), rows[row["function"]]["count"])
            self.assertEqual(str(row["total_ns"]), rows[row["function"]]["total_ns"])

    def test_csv_quotes_what_must_be(self):
        names = ['say "hi", twice', "two\nlines", "plain"]
        trace = self.folder / "quoted.json"
        trace.write_text(json.dumps([{"ph": "X", "cat": "cuda_runtime", "name": name, "ts": 10 * i, "dur": 5, "pid": 1,
                                      "tid": 1} for i, name in enumerate(names)]))
        page = self.open_table(trace, "calls.by_name", permissions=["clipboard-read", "clipboard-write"])
        page.get_by_role("button", name="Copy Runtime calls: By name as CSV").click()
        page.get_by_text("Copied").wait_for()
        text = page.evaluate("navigator.clipboard.readText()")
        self.assertIn('"say ""hi"", twice",', text)
        self.assertIn('"two\nlines",', text)
        self.assertIn("\r\nplain,", text)
        rows = csv.DictReader(io.StringIO(text, newline=""))
        self.assertEqual(sorted(names), sorted(row["function"] for row in rows))

    def test_choosing_a_row_selects_it_everywhere_and_plots_it(self):
        trace, _ = self.simulated(SEED)
        page = self.open_table(trace, "calls.by_name")
        function, count = (self.column(page, number)[0] for number in (1, 2))
        page.locator("table.data tbody tr").first.focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowUp")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"select=label:calls:\d+"))
        plot = page.get_by_role("img", name=f"How long {function} took").first
        plot.wait_for()
        bars = [int(re.search(r": ([\d,]+)$", text)[1].replace(",", ""))
                for text in plot.locator(".bar-mark title").all_text_contents()]
        self.assertEqual(int(count.replace(",", "")), sum(bars))
        self.assertEqual("true", page.locator("table.data tbody tr").first.get_attribute("aria-selected"))
        page.reload()
        page.get_by_role("img", name=f"How long {function} took").first.wait_for()

    def test_of_a_long_table_only_rows_in_sight_exist(self):
        trace, _ = self.simulated(SEED, "size=3000")
        page = self.open_table(trace, "idle.by_all")
        said = page.locator(".table-tools [role=status]").inner_text()
        rows = int(said.removesuffix(" rows").replace(",", ""))
        self.assertGreater(rows, 500)
        self.assertLess(len(self.column(page, 1)), 150)
        page.locator(".table-box").evaluate("(box) => { box.scrollTop = box.scrollHeight; }")
        page.locator(f"table.data tr[data-index='{rows - 1}']").wait_for()
        self.assertLess(len(self.column(page, 1)), 150)


class Steps(browser.ViewerTest):
    def steps(self, trace):
        return self.query(trace, "select step, start_ns, duration_ns from steps order by start_ns")

    def test_a_step_is_chosen_by_click_and_by_key(self):
        trace = self.pipeline()
        page = self.open(trace, "#view=steps")
        page.get_by_role("img", name="Durations of steps").wait_for()
        steps = self.steps(trace)
        page.get_by_text(f"{len(steps):,} steps").wait_for()
        page.get_by_role("button", name="Longest").click()
        longest = max(steps, key=lambda step: step["duration_ns"])
        page.get_by_text(f"Step {longest['step']} took {duration(longest['duration_ns'])}.").wait_for()
        begin, end = (int(re.search(rf"{name}=(-?\d+)", page.url)[1]) for name in ("from", "to"))
        self.assertEqual(longest["duration_ns"], end - begin)
        place = steps.index(longest)
        page.keyboard.press("ArrowLeft" if place else "ArrowRight")
        beside = steps[place - 1 if place else 1]
        page.get_by_text(f"Step {beside['step']} took {duration(beside['duration_ns'])}.").wait_for()
        plot = page.get_by_role("img", name="Durations of steps")
        plot.click(position={"x": 66, "y": 100})
        page.get_by_text(re.compile(r"^Step [0-9] took")).wait_for()
        page.keyboard.press("t")
        page.wait_for_url(re.compile("view=timeline"))

    def test_a_step_is_compared_with_the_median_one(self):
        trace = self.pipeline()
        page = self.open(trace, "#view=steps")
        page.get_by_role("button", name="Longest").click()
        page.get_by_role("heading", name=re.compile("and the median one")).wait_for()
        table = page.get_by_role("table", name="Operations, self time")
        table.wait_for()
        differences = table.locator("tbody td:nth-child(4)").all_inner_texts()
        self.assertGreater(len(differences), 0)
        units = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
        sizes = [abs(float(number)) * units[unit] for number, unit in (text.split() for text in differences)]
        self.assertEqual(sorted(sizes, reverse=True), sizes)


class Memory(browser.ViewerTest):
    def test_peak_and_live_set(self):
        trace = self.pipeline()
        page = self.open(trace, "#view=memory")
        plot = page.locator("svg.plot").first
        plot.locator(".area-fill").wait_for()
        peak = json.loads(subprocess.run([browser.MILLRACE, "report", "--json", trace], check=True,
                                         capture_output=True, timeout=60).stdout)
        row = next(finding for finding in peak["findings"] if finding["id"] == "memory")["tables"][0]["rows"][0]
        self.assertIn(duration(row["peak_after_ns"]), page.locator("h3").first.inner_text())
        box = plot.bounding_box()
        plot.click(position={"x": box["width"] / 2, "y": 60})
        table = page.get_by_role("grid", name="Live memory by operation")
        table.wait_for()
        self.assertIn("moment=", page.url)
        allocations = [int(row.locator("td.number").first.inner_text().replace(",", ""))
                       for row in table.locator("tbody tr").all()]
        said = page.get_by_role("heading", name=re.compile("^Live at")).inner_text()
        self.assertEqual(int(re.search(r"in ([\d,]+) allocations", said)[1].replace(",", "")), sum(allocations))

    def test_zooms_the_window_of_all_views(self):
        page = self.open(self.pipeline(), "#view=memory")
        plot = page.locator("svg.plot").first
        plot.locator(".area-fill").wait_for()
        box = plot.bounding_box()
        page.mouse.move(box["x"] + 300, box["y"] + 60)
        page.mouse.down()
        page.mouse.move(box["x"] + 500, box["y"] + 60)
        page.mouse.up()
        page.wait_for_url(re.compile("from=[1-9]"))
        begin, end = (int(re.search(rf"{name}=(-?\d+)", page.url)[1]) for name in ("from", "to"))
        self.assertLess(begin, end)
        page.locator("body").press("f")
        page.wait_for_url(re.compile("from=0&"))
        self.assertLess(end, int(re.search(r"to=(\d+)", page.url)[1]))


class HtmlReport(browser.ViewerTest):
    def open_report(self, trace, **options):
        page_file = self.folder / "report.html"
        subprocess.run([browser.MILLRACE, "report", "--html", page_file, trace], check=True, timeout=60)
        context = self.chromium.new_context(**options)
        self.contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(browser.PATIENCE_MS)
        self.watch(page, page_file.as_uri())
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-ready]")
        return page

    def visible(self, locator):
        return locator.evaluate_all("(all) => all.filter((each) => each.checkVisibility()).length")

    def test_opens_from_disk(self):
        trace, truth = self.simulated(SEED)
        page = self.open_report(trace, offline=True)
        device = truth["devices"][0]
        span = device["last_ns"] - device["first_ns"]
        self.assertIn(f"idle {100 * device['idle_ns'] / span:.1f} %",
                      page.get_by_role("heading", name=device["name"]).first.inner_text())
        titles = page.locator("section.finding h2").all_inner_texts()
        self.assertIn("Why devices were idle", titles)
        self.assertEqual(0, page.get_by_role("button", name="Show the longest").count())
        calls = page.get_by_role("table", name="Runtime calls: By name")
        counts = self.query(trace, "select count(*) as count from calls group by function order by 1 desc")
        calls.get_by_role("button", name="count").click()
        shown = [int(text.replace(",", "")) for text in calls.locator("tbody td:nth-child(2)").all_inner_texts()]
        self.assertEqual([row["count"] for row in counts], shown)

    def test_prints(self):
        trace, _ = self.simulated(SEED, "size=3000")
        page = self.open_report(trace, color_scheme="dark")
        page.emulate_media(media="print")
        self.assertEqual("rgb(255, 255, 255)", page.evaluate("getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(0, self.visible(page.locator("button:not(.sort), input")))
        long = page.get_by_role("table", name=re.compile("By cause, operation"))
        self.assertEqual(25, self.visible(long.locator("tbody tr")))
        page.get_by_text(re.compile("^The first 25 of")).first.wait_for()
        pages = len(re.findall(rb"/Type\s*/Page\b", page.pdf()))
        self.assertTrue(1 < pages < 60, pages)

    def test_hostile_names_are_texts(self):
        names = ["</script><script>window.broken=1</script>", '<img src=x onerror="window.broken=1">', "<!--"]
        events = [{"ph": "X", "cat": "cpu_op", "name": name, "ts": 100 * i, "dur": 90, "pid": 1, "tid": 1}
                  for i, name in enumerate(names)]
        trace = self.folder / "hostile.json"
        trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}))
        page = self.open_report(trace)
        shown = page.get_by_role("table", name="Operations: where the time went: By node")
        self.assertEqual(set(names), set(shown.locator("tbody td:nth-child(1)").all_inner_texts()))
        self.assertTrue(page.evaluate("window.broken === undefined && !document.querySelector('img')"))
        viewer = self.open(trace, "#view=tables&table=operations.by_node")
        cells = viewer.locator("table.data tbody td:nth-child(1)")
        cells.first.wait_for()
        self.assertEqual(set(names), set(cells.all_inner_texts()))
        self.assertTrue(viewer.evaluate("window.broken === undefined && !document.querySelector('img')"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
