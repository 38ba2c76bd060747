#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs alone: it asserts how soon the page answers
"""The page requests only what it shows: visible lanes, the first rows of tables, the other rows of the table that is
shown. If an answer does not arrive, it says so and asks again."""

import csv
import io
import json
import re
import urllib.parse

import browser
import harness

FUNCTIONS = 12_000
SHOWN_LANES = 6
KERNELS = 40
# Milliseconds that the page is busy with a key typed into the filter.
KEY = """text => {
	const field = document.querySelector(".table-tools input");
	const begin = performance.now();
	field.value = text;
	field.dispatchEvent(new Event("input"));
	return performance.now() - begin;
}"""


class Amounts(browser.ViewerTest):
    @classmethod
    def crowded(cls):
        """Many functions, and many kernels of one stream at a time."""
        trace = cls.folder / "crowded.json"
        if not trace.exists():
            calls = [{"ph": "X", "cat": "cuda_runtime", "name": f"function {i}", "ts": 10 * i, "dur": 5 + i % 3, "pid": 1,
                      "tid": 1} for i in range(FUNCTIONS)]
            kernels = [{"ph": "X", "cat": "kernel", "name": f"kernel {i}", "ts": 100 + i, "dur": 1000, "pid": 0, "tid": 7,
                        "args": {"device": 0, "stream": 7, "correlation": 5 + i}} for i in range(KERNELS)]
            trace.write_text(json.dumps(calls + kernels))
        return trace

    def start(self, trace, fragment, route=None, **options):
        """A page whose requests are listed, and may be dealt with, from the first on."""
        url = self.serve(trace).url
        context = self.chromium.new_context(viewport={"width": 1400, "height": 900}, **options)
        self.contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(browser.PATIENCE_MS)
        self.watch(page, url)
        self.asked = []
        page.on("request", lambda request: self.asked.append(urllib.parse.urlsplit(request.url)))
        if route:
            page.route(*route)
        page.goto(url + fragment)
        page.wait_for_selector("html[data-ready]")
        return page

    def questions(self, name):
        return [dict(urllib.parse.parse_qsl(each.query)) for each in self.asked if each.path.endswith(f"/traces/0/{name}")]

    def settle(self, page):
        page.wait_for_selector('.timeline[data-waiting="false"]')

    def test_only_lanes_in_sight_are_asked_for(self):
        page = self.start(self.crowded(), "#view=timeline")
        self.settle(page)
        self.assertTrue(self.questions("slices"))
        for question in self.questions("slices"):
            lanes = question["lanes"].split(",")
            self.assertEqual(len(question["bands"].split(",")), len(lanes))
            self.assertLessEqual(max(map(int, lanes)), SHOWN_LANES)
        more = page.get_by_text(re.compile(r"\d+ more lanes")).first
        hidden = int(more.inner_text().split()[0])
        self.asked.clear()
        more.click()
        page.wait_for_function("""() => location.hash.includes("lanes=")""")

        def most_lanes():
            return max((int(lanes) for question in self.questions("slices") for lanes in question["lanes"].split(",")),
                       default=0)

        self.wait_until(page, lambda: most_lanes() > SHOWN_LANES)
        self.settle(page)
        self.assertEqual(SHOWN_LANES + hidden, most_lanes())

    def test_failed_request_is_told_and_repeated(self):
        page = self.start(self.crowded(), "#view=timeline")
        self.settle(page)
        self.expected = "net::ERR_FAILED"
        page.route("**/traces/0/slices?*", lambda route: route.abort())
        page.locator(".timeline-canvas").focus()
        for _ in range(4):
            page.keyboard.press("+")
        told = page.locator(".timeline-failure")
        told.wait_for()
        page.wait_for_function("""() => document.querySelector(".timeline").dataset.waiting === "false" """)
        self.assertNotIn("has ended", told.inner_text())
        self.assertIn("slices", told.inner_text())
        self.assertIn("Retrying", told.inner_text())
        page.unroute("**/traces/0/slices?*")
        told.wait_for(state="hidden")
        self.settle(page)

    def test_end_of_the_server_is_told(self):
        page = self.start(self.crowded(), "#view=timeline")
        self.settle(page)
        self.expected = "net::ERR_FAILED"
        page.route("**/traces/0/**", lambda route: route.abort())
        page.locator(".timeline-canvas").focus()
        for _ in range(4):
            page.keyboard.press("+")
        page.locator(".timeline-failure", has_text="millrace view has ended").wait_for()

    def test_overview_asks_for_little_and_begins_with_what_ran(self):
        held = []
        trace = self.pipeline()
        page = self.start(trace, "", route=("**/traces/0/report*", lambda route: held.append(route)))
        header = page.locator(".overview header")
        header.get_by_text("recorded").wait_for()
        page.get_by_text("Analysing the trace").wait_for()
        early = header.inner_text()
        self.assertIn("exit status 0", early)
        self.wait_until(page, lambda: held)
        held[0].continue_()
        page.get_by_role("region", name="Trace health").or_(page.locator("section.health")).first.wait_for()
        page.get_by_text("Analysing the trace").wait_for(state="detached")
        self.assertEqual(early, header.inner_text()[:len(early)])  # what comes before and after the steps is added
        self.assertEqual([{"rows": "100", "scope": "steps"}], self.questions("report"))

    def test_large_table_comes_whole_when_it_is_shown(self):
        page = self.start(self.crowded(), "#view=tables&table=calls.by_name",
                          permissions=["clipboard-read", "clipboard-write"])
        page.locator(".table-tools").get_by_text(f"{FUNCTIONS:,} rows", exact=True).wait_for()
        whole = [question for question in self.questions("report") if "table" in question]
        self.assertEqual({"calls.by_name"}, {question["table"] for question in whole})
        page.get_by_role("searchbox", name="Filter Runtime calls").fill("function 1199")
        page.get_by_text(f"11 of {FUNCTIONS:,} rows").wait_for()
        page.get_by_role("searchbox", name="Filter Runtime calls").fill("")
        page.get_by_role("button", name="Copy Runtime calls: By name as CSV").click()
        page.get_by_text("Copied").wait_for()
        rows = list(csv.DictReader(io.StringIO(page.evaluate("navigator.clipboard.readText()"), newline="")))
        self.assertEqual({f"function {i}" for i in range(FUNCTIONS)}, {row["function"] for row in rows})

    def test_copy_waits_for_all_rows(self):
        held = []
        page = self.start(self.crowded(), "#view=tables&table=calls.by_name",
                          route=("**/traces/0/report?table*", lambda route: held.append(route)),
                          permissions=["clipboard-read", "clipboard-write"])
        page.get_by_text(f"100 of {FUNCTIONS:,} rows").wait_for()
        page.get_by_role("button", name="Copy Runtime calls: By name as CSV").click()
        while not page.get_by_text("Copied").is_visible():
            while held:
                held.pop().continue_()
            page.wait_for_timeout(50)
        text = page.evaluate("navigator.clipboard.readText()")
        self.assertEqual(FUNCTIONS + 1, text.count("\r\n"))

    def test_typing_into_the_filter_of_a_large_table(self):
        page = self.start(self.crowded(), "#view=tables&table=calls.by_name")
        page.locator(".table-tools").get_by_text(f"{FUNCTIONS:,} rows", exact=True).wait_for()
        taken = [page.evaluate(KEY, text) for text in ("f", "fu", "fun", "func", "funct", "functi") * 8]
        self.assertLess(min(taken), 50)  # the machine may be busy with something else most of the time


if __name__ == "__main__":
    harness.main()
