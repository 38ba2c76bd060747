#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# runs beside others: the times that it compares are those of one trace
"""Tables, steps and memory in the viewer, and the HTML report, against what the simulator knows to be true
and what SQL says about the same trace."""

import csv
import io
import json
import re
import subprocess

import browser
import harness
from browser import duration

SEED = 7


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
        page.wait_for_url(re.compile(r"select=label:0:calls:\d+"))
        plot = page.get_by_role("img", name=f"How long {function} took").first
        plot.wait_for()
        bars = [int(re.search(r": ([\d,]+)$", text)[1].replace(",", ""))
                for text in plot.locator(".bar-mark title").all_text_contents()]
        self.assertEqual(int(count.replace(",", "")), sum(bars))
        self.assertEqual("true", page.locator("table.data tbody tr").first.get_attribute("aria-selected"))
        page.reload()
        page.get_by_role("img", name=f"How long {function} took").first.wait_for()

    def test_a_row_is_of_its_own_node_though_another_has_its_name(self):
        trace = self.scoped("twin")
        nodes = {row["count"]: row["node"] for row in self.query(
            trace, "select node, count(*) as count from node_executions where node_name = 'model/dense/Relu' group by 1")}
        self.assertEqual({2, 5}, set(nodes))
        page = self.open_table(trace, "operations.by_node&filter=relu")
        marked = page.locator("table.data tr[aria-selected=true]")
        for index, graph in enumerate(self.column(page, 3)):
            row = page.locator("table.data tbody tr").nth(index)
            count = int(row.locator("td").nth(3).inner_text())
            row.click()
            page.wait_for_url(re.compile(f"select=node:0:{nodes[count]}(&|$)"))
            marked.filter(has_text=graph).wait_for()
            self.assertEqual(1, marked.count())

    def test_what_is_selected_elsewhere_stands_in_its_table(self):
        trace, _ = self.simulated(SEED)
        (kernel,) = self.query(trace, "select rowid as row, name from device_operations where kind = 'kernel' limit 1")
        (call,) = self.query(trace, "select function from calls limit 1")
        marked = "table.data tr[aria-selected=true] td:nth-child(1)"
        page = self.open(trace, f"#view=tables&select=row:0:device_operations:{kernel['row']}")
        page.wait_for_url(re.compile("table=device_operations.by_name"))
        page.locator(marked).wait_for()
        self.assertEqual([kernel["name"]], page.locator(marked).all_inner_texts())
        page = self.open(trace, "#view=timeline&table=system_calls.by_call")
        page.get_by_role("combobox", name="Search").fill(call["function"])
        page.get_by_role("option").first.wait_for()
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("select=row:0:calls"))
        page.keyboard.press("5")
        page.wait_for_url(re.compile("table=calls.by_name"))
        page.locator(marked).wait_for()
        self.assertEqual([call["function"]], page.locator(marked).all_inner_texts())
        page.get_by_role("navigation", name="Tables").get_by_role("button", name="By type").click()
        page.wait_for_url(re.compile("table=operations.by_type"))  # what is chosen here stays

    def test_what_cannot_be_chosen_is_marked_too(self):
        trace, _ = self.simulated(SEED)
        numbers = [str(row["step"]) for row in self.query(trace, "select step from steps order by start_ns")]
        page = self.open(trace, "#view=steps")
        page.get_by_role("img", name="Durations of steps").wait_for()
        for _ in range(3):
            page.keyboard.press("ArrowRight")
        said = page.get_by_text(re.compile(r"Step \d+ took"))
        said.wait_for()
        step = re.search(r"Step (\d+) took", said.inner_text())[1]
        self.assertIn(step, numbers)
        page.keyboard.press("5")
        page.wait_for_url(re.compile("table=steps.steps"))
        marked = page.locator("table.data tr[aria-current=true]")
        marked.wait_for()
        self.assertEqual(step, marked.locator("td").first.inner_text())

    def test_a_url_that_names_both_table_and_selection_is_obeyed(self):
        trace, _ = self.simulated(SEED)
        page = self.open_table(trace, "calls.by_name&select=row:0:device_operations:0")
        page.locator(".distribution h3").wait_for()
        self.assertIn("table=calls.by_name", self.fragment(page))

    def test_filter_and_order_are_in_the_url(self):
        trace, _ = self.simulated(SEED)
        page = self.open_table(trace, "calls.by_name")
        page.get_by_role("searchbox", name="Filter Runtime calls").fill("clEnq")
        page.get_by_role("columnheader", name="count").get_by_role("button").click()
        page.wait_for_url(re.compile(r"filter=clEnq.*sort=-count|sort=-count.*filter=clEnq"))
        rows = self.column(page, 1)
        page.reload()
        page.locator("table.data").wait_for()
        self.assertEqual(rows, self.column(page, 1))
        self.assertEqual("clEnq", page.get_by_role("searchbox", name="Filter Runtime calls").input_value())
        self.assertEqual("descending", page.get_by_role("columnheader", name="count").get_attribute("aria-sort"))
        page.get_by_role("navigation", name="Tables").get_by_role("button", name="By type").click()
        page.wait_for_url(lambda url: "filter=" not in url and "sort=" not in url)
        page.go_back()
        page.get_by_role("searchbox", name="Filter Runtime calls").wait_for()
        self.assertEqual(rows, self.column(page, 1))

    def long_names(self):
        """Operations whose names differ at their ends."""
        trace = self.folder / "long.json"
        names = [f"StatefulPartitionedCall/sequential_1/layer_{i}/convolution" for i in range(40)]
        names.append("__inference_multi_step_on_iterator_1982")
        trace.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [
            {"ph": "X", "cat": "cpu_op", "name": name, "ts": 100 * i, "dur": 90 - i, "pid": 1, "tid": 1}
            for i, name in enumerate(names)]}))
        return trace, names

    def test_names_are_cut_in_the_middle(self):
        trace, names = self.long_names()
        page = self.open_table(trace, "operations.by_node", width=800)
        self.assertEqual(set(names), set(self.column(page, 1)))
        for name, end in ((names[0], "/layer_0/convolution"), (names[-1], "iterator_1982")):
            cell = page.locator(f"table.data td[title='{name}']").first
            tail = cell.locator(".name-tail")
            self.assertTrue(tail.inner_text().endswith(end) or end.endswith(tail.inner_text()), tail.inner_text())
            self.assertTrue(cell.locator(".name-head").evaluate("(head) => head.scrollWidth > head.clientWidth"))
            self.assertTrue(tail.evaluate("(tail) => tail.scrollWidth <= tail.clientWidth"))
            # Else one pixel too few would replace all of the tail.
            self.assertEqual("clip", cell.locator(".name").evaluate("(name) => getComputedStyle(name).textOverflow"))
            inside, outside = tail.bounding_box(), cell.bounding_box()
            self.assertLessEqual(inside["x"] + inside["width"], outside["x"] + outside["width"])
        page.get_by_role("combobox", name="Search").fill("layer_1")
        page.get_by_role("option").first.wait_for()
        for tail in page.get_by_role("option").locator(".name-tail").all():
            self.assertTrue(tail.evaluate("(tail) => tail.scrollWidth <= tail.clientWidth"))
            self.assertIn("layer_1", tail.inner_text())

    def test_the_first_column_stays_in_sight(self):
        page = self.open_table(self.long_names()[0], "operations.by_node", width=800)
        self.assertEqual("share", page.get_by_role("columnheader", name="share of self").inner_text())
        cells = [page.locator(f"table.data {each}").first for each in ("th", "tbody td", "tfoot td")]
        before = [cell.bounding_box()["x"] for cell in cells]
        moved = page.locator(".table-box").evaluate("(box) => { box.scrollLeft = 200; return box.scrollLeft; }")
        self.assertGreater(moved, 50)
        self.assertEqual(before, [cell.bounding_box()["x"] for cell in cells])

    def test_what_is_selected_is_in_sight_of_a_small_window(self):
        trace, names = self.long_names()
        (last,) = self.query(trace, f"select node from node_executions where node_name = '{names[30]}'")
        page = self.open(trace, f"#view=tables&table=operations.by_node&select=node:0:{last['node']}", width=800,
                         height=700)
        page.locator(".distribution h3").wait_for()
        row = page.locator("table.data tr[aria-selected=true]")
        row.wait_for()
        self.assertTrue(row.evaluate("""(row) => {
            const {left, top, height} = row.getBoundingClientRect();
            return document.elementFromPoint(left + 40, top + height / 2)?.closest("tr") === row;
        }"""))

    def test_of_a_long_table_only_rows_in_sight_exist(self):
        trace, _ = self.simulated(SEED, "size=3000")
        page = self.open_table(trace, "idle.by_all")
        said = page.locator(".table-tools [role=status]").filter(has_text=re.compile(r"^[\d,]+ rows$"))
        rows = int(said.inner_text().removesuffix(" rows").replace(",", ""))
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
        begin, end = (int(re.search(rf"{name}=(-?\d+)", self.fragment(page))[1]) for name in ("from", "to"))
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

    def test_a_slice_chooses_the_step_that_it_belongs_to(self):
        trace = self.pipeline()
        (step,) = self.query(trace, "select step, duration_ns from steps order by start_ns limit 1 offset 3")
        (row,) = self.query(trace, f"select rowid as row from node_executions where step = {step['step']} limit 1")
        page = self.open(trace, f"#view=steps&select=row:0:node_executions:{row['row']}")
        page.get_by_text(f"Step {step['step']} took {duration(step['duration_ns'])}.").wait_for()

    def test_a_step_is_compared_with_the_median_one(self):
        trace = self.pipeline()
        page = self.open(trace, "#view=steps")
        page.get_by_role("button", name="Longest").click()
        page.get_by_role("heading", name=re.compile("compared with the median step")).wait_for()
        table = page.get_by_role("table", name="Operations, self time")
        table.wait_for()
        differences = table.locator("tbody td:nth-child(4)").all_inner_texts()
        self.assertGreater(len(differences), 0)
        units = {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}
        sizes = [abs(float(number)) * units[unit] for number, unit in (text.split() for text in differences)]
        self.assertEqual(sorted(sizes, reverse=True), sizes)

    def test_the_causes_of_a_step_sum_up_to_it(self):
        trace, _ = self.simulated(SEED)
        page = self.open(trace, "#view=steps")
        page.get_by_role("list", name="Causes").get_by_role("listitem").first.wait_for()
        causes, steps = (page.evaluate(f"fetch('traces/0/{name}').then((answer) => answer.json())")
                         for name in ("step_causes", "steps"))
        durations = [step["duration_ns"] for step in self.steps(trace)]
        self.assertEqual(sorted(durations), sorted(sum(flat[1::2]) for flat in causes["causes"]))
        self.assertEqual([step["to"] - step["from"] for step in steps["steps"]],
                         [sum(flat[1::2]) for flat in causes["causes"]])
        heights = page.locator(".stack-mark").evaluate_all("(all) => all.map((each) => Number(each.getAttribute('height')))")
        self.assertGreater(max(heights), 20)

    def test_a_step_far_longer_than_the_others_is_cut_and_listed(self):
        usual, long = 10_000, 900_000
        steps = [{"row": i, "number": i, "track": 1, "from": i * 10**6, "to": i * 10**6 + (long if i == 17 else usual)}
                 for i in range(40)]
        page = self.open(self.pipeline(), "#view=overview")
        page.route("**/traces/0/steps", lambda route: route.fulfill(
            json={"is_inferred": False, "steps": steps, "median_row": 3}))
        page.route("**/traces/0/step_causes", lambda route: route.fulfill(
            json={"causes": [[0, step["to"] - step["from"]] for step in steps]}))
        page.get_by_role("tab", name="Steps").click()
        page.get_by_text("1 step far longer than the others:").wait_for()
        page.get_by_text("(900 µs, 90.0 × the median)").wait_for()
        page.locator(".stack-mark").first.wait_for()
        self.assertEqual(1, page.locator(".cut-mark").count())
        heights = page.locator(".stack-mark").evaluate_all("(all) => all.map((each) => Number(each.getAttribute('height')))")
        self.assertGreater(min(heights), 100)  # of 220, though the long one is ninety times as long
        page.get_by_role("button", name="step 17").click()
        page.get_by_text("Step 17 took 900 µs.").wait_for()


class Memory(browser.ViewerTest):
    def test_peak_and_live_set(self):
        trace = self.pipeline()
        page = self.open(trace, "#view=memory")
        plot = page.locator("svg.plot").first
        plot.locator(".area-fill").wait_for()
        peak = json.loads(subprocess.run([browser.MILLRACE, "report", "--whole", "--json", trace], check=True,
                                         capture_output=True, timeout=60).stdout)
        row = next(finding for finding in peak["findings"] if finding["id"] == "memory")["tables"][0]["rows"][0]
        self.assertIn(duration(row["peak_after_ns"]), page.locator("h3").first.inner_text())
        page.get_by_role("button", name=re.compile("^Peak of")).first.click()
        table = page.get_by_role("grid", name="Live memory by operation")
        table.wait_for()
        allocations = [int(row.locator("td.number").first.inner_text().replace(",", ""))
                       for row in table.locator("tbody tr").all()]
        said = page.get_by_role("heading", name=re.compile("^Live at")).inner_text()
        self.assertEqual(int(re.search(r"in ([\d,]+) allocations?$", said)[1].replace(",", "")), sum(allocations))
        at_peak = self.fragment(page)
        self.assertIn("moment=", at_peak)
        plot.click(position={"x": plot.bounding_box()["width"] / 4, "y": 60})
        page.wait_for_function("before => location.hash.slice(1) !== before", arg=at_peak.lstrip("#"))
        self.assertIn("moment=", self.fragment(page))

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
        subprocess.run([browser.MILLRACE, "report", "--whole", "--html", page_file, trace], check=True, timeout=60)
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
        self.assertIn(f"idle {100 * device['idle_ns'] / span:.1f}%",
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
    harness.main()
