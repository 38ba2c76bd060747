#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: the times that it compares are those of one trace
"""The overview: what is wrong comes first, and what it says of devices is what the simulator knows to be true."""

import json
import re
import subprocess

import browser
import harness
from browser import duration

SEED = 7


class Overview(browser.ViewerTest):
    def test_devices_are_idle_as_the_simulator_says(self):
        trace, truth = self.simulated(SEED)
        page = self.open(trace)
        page.get_by_role("heading", name="Devices").wait_for()
        self.assertTrue(truth["devices"])
        for device in truth["devices"]:
            span = device["last_ns"] - device["first_ns"]
            heading = page.get_by_role("heading", name=device["name"]).inner_text()
            self.assertIn(f"idle {100 * device['idle_ns'] / span:.1f}% of {duration(span)}", heading)
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
                   if name.startswith(("device kernels", "copies")))
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

    def with_problems(self, trace, count, severity="note", proof=None):
        """A page whose report has problems, each worth as much as half of the one before it."""
        page = self.open(trace, "#view=tables", width=1280, height=720)
        page.locator(".empty, nav").first.wait_for()
        (operation,) = self.query(trace, "select track, start_ns, duration_ns from device_operations "
                                         "where kind = 'kernel' order by duration_ns desc limit 1")
        proof = proof or {"what": "the longest", "pid": 1, "tid": 0, **operation}
        problems = [{"key": f"problem_{i}", "title": f"Problem {i}", "time_ns": 10**6 >> i,
                     "share": {"of": "steps", "whole_ns": 2 * 10**6, "permille": 500 >> i}, "where": f"stage {i}",
                     "why": f"this is why {i}, in as many words as a sentence or two of a rule need to say it all",
                     "remedy": f"call dataset.prefetch({i}) behind the last map, and give map num_parallel_calls",
                     "confidence": "likely", "is_verdict": False, "evidence": [proof]} for i in range(count)]

        def answer(route):
            report = route.fetch().json()
            report["problems"] = problems
            for finding in report["findings"]:
                if finding["id"] == "health":
                    finding["severity"] = severity
            route.fulfill(json=report)

        page.route("**/traces/0/report?*", answer)
        page.reload()
        page.get_by_role("tab", name="Overview").click()
        page.get_by_role("heading", name="Devices").wait_for()
        return page, operation

    def test_problems_come_first_and_devices_need_no_scrolling(self):
        trace, _ = self.simulated(SEED)
        page, operation = self.with_problems(trace, 5)
        cards = page.locator("article.problem")
        self.assertEqual(["Problem 0", "Problem 1", "Problem 2"], cards.locator("h3").all_inner_texts())
        first = cards.first.inner_text()
        for text in ("1.00 ms", "50.0% of the steps", "This is why 0", "What to do: Call dataset.prefetch(0)", "likely"):
            self.assertIn(text, first)
        bar = page.locator(".devices .stacked").first.bounding_box()
        self.assertLess(bar["y"] + bar["height"], 720)
        self.assertLess(cards.first.bounding_box()["y"], bar["y"])
        self.assertGreater(page.locator(".health").bounding_box()["y"], bar["y"])
        self.assertEqual(2, page.locator(".problems li").count())
        page.get_by_role("button", name="Show me: Problem 0").click()
        page.wait_for_url(re.compile(r"view=timeline.*select=row:0:device_operations:\d+"))
        chosen = int(re.search(r"device_operations:(\d+)", page.url)[1])
        (row,) = self.query(trace, f"select duration_ns from device_operations where rowid = {chosen}")
        self.assertEqual(operation["duration_ns"], row["duration_ns"])

    def test_evidence_that_is_no_slice_selects_its_time_on_its_track(self):
        trace, truth = self.simulated(SEED)
        (state,) = self.query(trace, "select track, start_ns, duration_ns from states where duration_ns > 1000 "
                                     "order by duration_ns desc limit 1")
        start, length = state["start_ns"] + 100, state["duration_ns"] - 300
        page, _ = self.with_problems(trace, 1, proof={"what": "a part of it", "pid": 1, "tid": 1, "track": state["track"],
                                                      "start_ns": start, "duration_ns": length})
        page.get_by_role("button", name="Show me: Problem 0").click()
        page.wait_for_url(re.compile(r"view=timeline.*stretch="))
        begin, end = map(int, re.search(r"stretch=(\d+),(\d+)", page.url).groups())
        self.assertEqual((start - truth["first_ns"], length), (begin, end - begin))
        self.assertIn("area=", page.url)
        page.get_by_role("heading", name=f"{duration(length)} selected").wait_for()

    def test_names_keep_their_letters_and_what_is_before_the_steps_is_no_share(self):
        trace, _ = self.simulated(SEED)
        page, _ = self.with_problems(trace, 2)

        def answer(route):
            report = route.fetch().json()
            report["problems"] = [{
                "key": "retracing", "title": "Retracing", "time_ns": 10**6, "where": "", "remedy": "", "evidence": [],
                "share": {"of": "before", "whole_ns": 10**6, "permille": 1000}, "confidence": "sure",
                "why": "train_step was traced again"}]
            route.fulfill(json=report)

        page.route("**/traces/0/report?*", answer)
        page.reload()
        page.get_by_role("tab", name="Overview").click()
        card = page.locator("article.problem")
        card.wait_for()
        self.assertIn("train_step was traced again.", card.inner_text())
        self.assertIn("before the steps", card.inner_text())
        self.assertNotIn("%", card.inner_text())

    def test_one_switch_makes_all_views_show_the_steps_or_the_whole_run(self):
        trace = self.pipeline()
        reports = {scope: json.loads(subprocess.run(
            [browser.MILLRACE, "report", "--json", *options, trace], check=True, capture_output=True, timeout=60).stdout)
            for scope, options in (("Steps", []), ("Whole run", ["--whole"]))}
        spans = {scope: report["window"]["last_ns"] - report["window"]["first_ns"]
                 for scope, report in reports.items()}
        self.assertLess(spans["Steps"], spans["Whole run"])
        steps = self.query(trace, "select start_ns from steps")
        page = self.open(trace, "#view=timeline", scope=None)
        switch = page.get_by_role("group", name="What all views show")
        for scope in ("Steps", "Whole run", "Steps"):
            switch.get_by_role("button", name=scope, exact=True).click()
            page.get_by_role("tab", name="Timeline").click()
            page.wait_for_function("""(span) => {
                const {from, to} = document.querySelector(".timeline").dataset;
                return Math.abs(Number(to) - Number(from) - span) < 2;
            }""", arg=spans[scope])
            page.get_by_role("tab", name="Tables").click()
            page.goto(re.sub(r"&table=[^&]*|$", "&table=operations.by_node", page.url, count=1))
            (finding,) = (each for each in reports[scope]["findings"] if each["id"] == "operations")
            (table,) = (each for each in finding["tables"] if each["id"] == "by_node")
            wanted = f"{sum(row['count'] for row in table['rows']):,}"
            page.locator("tfoot td", has_text=re.compile(f"^{wanted}$")).first.wait_for()
            page.get_by_role("tab", name="Overview").click()
            page.get_by_text(f"how long these {duration(spans[scope])}" if scope == "Steps" else
                             "The chain of work and waits").first.wait_for()
            self.assertEqual(scope == "Steps", page.locator(".facts dt", has_text=re.compile("^before$")).is_visible())
            page.get_by_role("tab", name="Steps").click()
            window = reports[scope]["window"]
            inside = [step for step in steps if window["first_ns"] <= step["start_ns"] < window["last_ns"]]
            warned = ", without warm-up" if len(inside) < len(steps) else ""
            page.get_by_text(f"{len(inside):,} steps{warned}; the median").wait_for()
            page.get_by_role("tab", name="Memory").click()
            (memory,) = (each for each in reports[scope]["findings"] if each["id"] == "memory")
            peak = duration(memory["tables"][0]["rows"][0]["peak_after_ns"])
            page.locator("h3", has_text=f"at {peak};").first.wait_for()
            with page.expect_response(re.compile("/graph[?]")) as asked:
                page.get_by_role("tab", name="Graph").click()
            executed = sum(item["count"] for item in asked.value.json()["nodes"] if item["node"])
            self.assertEqual(sum(row["count"] for row in table["rows"]), executed)
            page.get_by_role("tab", name="Timeline").click()
        self.assertEqual("true", switch.get_by_role("button", name="Steps", exact=True).get_attribute("aria-pressed"))

    def test_bad_health_comes_before_the_verdict(self):
        trace, _ = self.simulated(SEED)
        page, _ = self.with_problems(trace, 1, "warning")
        self.assertLess(page.locator(".health").bounding_box()["y"],
                        page.locator("article.problem").bounding_box()["y"])

    def test_says_what_is_missing(self):
        trace, _ = self.simulated(SEED, "no-kernel")
        page = self.open(trace)
        page.get_by_text("Without the kernel level").wait_for()
        self.assertEqual(0, page.get_by_text("No device activity was recorded").count())

    def test_an_empty_trace(self):
        trace = self.folder / "empty.mill"
        if not trace.exists():
            subprocess.run([browser.MILLRACE, "record", "--levels", "dataflow", "-o", trace, "--", "/bin/true"],
                           check=True, capture_output=True, timeout=60)
        page = self.open(trace)
        page.get_by_text("No device activity was recorded").wait_for()
        for view, text in (("Steps", "No steps"), ("Memory", "The trace contains no allocations")):
            page.get_by_role("tab", name=view).click()
            page.get_by_role("heading", name=text).wait_for()
        page.get_by_role("tab", name="Tables").click()
        page.get_by_role("tabpanel", name="Tables").locator("nav, .empty").first.wait_for()


if __name__ == "__main__":
    harness.main()
