#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The dataflow graph: items are drawn where the server placed them, scopes open, selection works both ways, keys."""

import json
import re
import subprocess
import urllib.request

import browser
import harness


def graph_of(url, **parameters):
    query = "&".join(f"{name}={value}" for name, value in parameters.items())
    with urllib.request.urlopen(f"{url}traces/0/graph?{query}") as answer:
        return json.load(answer)


class Graph(browser.ViewerTest):
    def show(self, trace, fragment="#view=graph&graph=1"):
        page = self.open(trace, fragment)
        page.locator("#graph-status", has_text=re.compile(".")).wait_for()
        return page

    def place(self, page, item):
        """The middle of an item on the screen, by where the URL says the graph is looked at from."""
        x, y, scale = self.camera(page)
        box = page.locator("canvas.graph-canvas").bounding_box()
        # Of a box its upper border, below which others stand.
        middle = item["y"] + (4 if item["is_open"] else item["height"] / 2)
        return (box["x"] + box["width"] / 2 + (item["x"] + item["width"] / 2 - x) * scale,
                box["y"] + box["height"] / 2 + (middle - y) * scale)

    def camera(self, page):
        """From where the graph is looked at. The URL follows some time after the frame that shows it: what the page
        itself does still later comes after that, however slow it is."""
        page.wait_for_url(re.compile("[#&]at="))
        page.evaluate("""async () => {
            for (let i = 0; i < 2; i++)
                await new Promise((resolve) => requestAnimationFrame(resolve));
            await new Promise((resolve) => setTimeout(resolve, 350));
        }""")
        return map(float, re.search(r"[#&]at=([^&]*)", self.fragment(page))[1].split(","))

    def wait_for_items(self, page, count):
        """Until a graph of so many is shown."""
        page.locator(f'canvas.graph-canvas[aria-label$=": {count} items"]').wait_for()

    def named(self, graph, name):
        return next(item for item in graph["nodes"] if item["name"] == name)

    def wait_for_status(self, page, text):
        page.locator("#graph-status", has_text=text).wait_for()

    def test_answer_says_what_the_program_described(self):
        trace = self.scoped()
        graph = graph_of(self.serve(trace).url, graph=1)
        parents = {item["name"]: item["parent"] for item in graph["nodes"]}
        model, dense = self.named(graph, "model"), self.named(graph, "model/dense")
        self.assertEqual({"model/dense/MatMul", "model/dense/BiasAdd", "model/dense/Relu"},
                         {name for name, parent in parents.items() if parent == dense["id"]})
        self.assertEqual((5, 3, model["id"]), (model["children"], dense["children"], dense["parent"]))
        inputs = self.named(graph, "input_0")
        self.assertEqual((6, "Input", 0), (inputs["children"], inputs["type"], inputs["count"]))
        rows = self.query(trace, "select node_name, count(*) as count, sum(duration_ns) as total, sum(self_ns) as self "
                                 "from node_executions group by 1")
        self.assertEqual({row["node_name"]: (row["count"], row["total"], row["self"]) for row in rows},
                         {item["name"]: (item["count"], item["total_ns"], item["self_ns"])
                          for item in graph["nodes"] if item["node"] and item["count"]})
        self.assertEqual(sum(row["self"] for row in rows if row["node_name"].startswith("model/")), model["self_ns"])
        edges = {(edge["from"], edge["to"]): edge for edge in graph["edges"]}
        self.assertEqual(1, edges[self.named(graph, "model/dense/Relu")["id"],
                                  self.named(graph, "model/loss/Sum")["id"]]["count"])
        self.assertEqual(6, edges[inputs["id"], self.named(graph, "model/dense/MatMul")["id"]]["count"])
        self.assertTrue(graph["edges"])
        self.assertTrue(all(edge["bytes"] is None and edge["kind"] == "data" for edge in graph["edges"]))

    def test_click_selects_everywhere(self):
        trace = self.scoped()
        page = self.show(trace)
        relu = self.named(graph_of(self.serve(trace).url, graph=1), "model/dense/Relu")
        page.mouse.click(*self.place(page, relu))
        page.wait_for_url(re.compile(rf"select=node:0:{relu['node']}(&|$)"))
        self.wait_for_status(page, "model/dense/Relu · Relu · CPU:0 · 5 executions")
        page.get_by_role("heading", name="model/dense/Relu").wait_for()  # of the details

    def test_devices_have_lanes_if_that_is_wanted(self):
        trace = self.scoped("devices")
        url = self.serve(trace).url
        plain, graph = graph_of(url, graph=1), graph_of(url, graph=1, lanes=1)
        self.assertEqual((False, True), (plain["has_lanes"], graph["has_lanes"]))
        self.assertEqual({item["id"] for item in plain["nodes"]}, {item["id"] for item in graph["nodes"]})
        boxes = {}
        for item in graph["nodes"]:
            device = None if item["is_on_several"] else item["device"]
            boxes.setdefault(item["parent"], {}).setdefault(device, []).append(item)
        lanes = [sorted((min(item["x"] for item in items), max(item["x"] + item["width"] for item in items))
                        for items in box.values()) for box in boxes.values() if len(box) > 1]
        self.assertGreaterEqual(len(lanes), 3)  # of all, of the model, of what is in it
        for box in lanes:
            for (_, end), (begin, _) in zip(box, box[1:]):
                self.assertLess(end, begin)
        page = self.show(trace)
        button = page.get_by_role("button", name="Lanes")
        self.assertEqual("false", button.get_attribute("aria-pressed"))
        button.click()
        page.wait_for_url(re.compile("lanes=on"))
        page.locator('button[aria-pressed="true"]', has_text="Lanes").wait_for()
        self.assertTrue(page.locator("#graph-status", has_text="from one device to another").is_visible())
        page.locator("canvas.graph-canvas").focus()
        page.keyboard.press("l")
        page.locator('button[aria-pressed="false"]', has_text="Lanes").wait_for()
        page = self.show(self.scoped())
        self.assertFalse(page.get_by_role("button", name="Lanes").is_visible())

    def test_a_graph_begins_where_it_can_be_read(self):
        trace = self.scoped("2000")
        page = self.show(trace, "#view=graph&graph=2")
        x, y, scale = self.camera(page)
        self.assertGreaterEqual(scale, 0.55)  # so that there are two lines of text in each box
        graph = graph_of(self.serve(trace).url, graph=2)
        box = page.locator("canvas.graph-canvas").bounding_box()
        half = box["width"] / 2 / scale
        inside = [item for item in graph["nodes"] if abs(item["x"] + item["width"] / 2 - x) < half and
                  abs(item["y"] + item["height"] / 2 - y) < box["height"] / 2 / scale]
        self.assertGreater(len(inside), 3)
        if graph["width"] > 2 * half:  # nothing beside it
            self.assertGreaterEqual(x - half, -1)
            self.assertLessEqual(x + half, graph["width"] + 1)

    def test_selection_from_elsewhere_is_shown_here(self):
        trace = self.scoped("2000")
        row = self.query(trace, "select rowid from node_executions where node_name = 'train/Apply' limit 1")[0]["rowid"]
        page = self.show(trace, f"#view=graph&graph=2&select=row:0:node_executions:{row}")
        self.wait_for_status(page, "train/Apply · Apply")
        self.assertEqual("1", page.get_by_role("combobox", name="Graph").input_value())
        x, y = self.place(page, self.named(graph_of(self.serve(trace).url, graph=1), "train/Apply"))
        box = page.locator("canvas.graph-canvas").bounding_box()
        self.assertTrue(box["x"] < x < box["x"] + box["width"] and box["y"] < y < box["y"] + box["height"], (x, y, box))

    def test_selection_opens_the_scopes_around_it(self):
        trace = self.scoped()
        graph = graph_of(self.serve(trace).url, graph=1)
        relu, model = self.named(graph, "model/dense/Relu"), self.named(graph, "model")
        page = self.show(trace, f"#view=graph&graph=1&closed={model['scope']}&select=node:0:{relu['node']}")
        self.wait_for_status(page, "model/dense/Relu · Relu")
        page.wait_for_url(lambda url: "closed=" not in url)

    def test_scopes_open_and_close(self):
        trace = self.scoped()
        page = self.show(trace)
        url = self.serve(trace).url
        self.wait_for_status(page, "13 items")
        whole = graph_of(url, graph=1)
        dense, inputs = self.named(whole, "model/dense"), self.named(whole, "input_0")
        page.mouse.dblclick(*self.place(page, dense))
        page.wait_for_url(re.compile(rf"closed={dense['scope']}(&|$)"))
        closed = graph_of(url, graph=1, close=dense["scope"])
        self.assertEqual(10, len(closed["nodes"]))
        self.wait_for_items(page, 10)
        page.mouse.move(*self.place(page, self.named(closed, "model/dense")))
        self.wait_for_status(page, "model/dense · scope of 3 operations")
        page.mouse.dblclick(*self.place(page, self.named(closed, "model/dense")))
        page.wait_for_url(re.compile(rf"opened={dense['scope']}(&|$)"))
        self.assertNotIn("closed=", self.fragment(page))
        self.wait_for_items(page, 13)
        page.mouse.dblclick(*self.place(page, inputs))
        page.wait_for_url(re.compile(rf"unfolded={inputs['id'][1:]}(&|$)"))
        self.assertEqual(18, len(graph_of(url, graph=1, unfold=inputs["id"][1:])["nodes"]))
        page.get_by_role("button", name="Reset").click()
        page.wait_for_url(lambda url: "opened=" not in url)

    def test_keyboard_alone(self):
        page = self.show(self.scoped())
        page.get_by_role("application").focus()
        page.keyboard.press("f")
        page.keyboard.press("ArrowDown")  # to what is in the middle
        page.wait_for_url(re.compile("select=node"))
        for _ in range(12):
            page.keyboard.press("ArrowDown")
        self.wait_for_status(page, "step · NoOp")
        for _ in range(7):
            page.keyboard.press("ArrowUp")
        self.wait_for_status(page, "model/dense/MatMul · MatMul")
        page.keyboard.press("ArrowUp")
        self.wait_for_status(page, "input_0 · and 5 similar ones")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("unfolded="))

    def test_pan_zoom_and_reload(self):
        page = self.show(self.scoped())
        step = self.named(graph_of(self.serve(self.scoped()).url, graph=1), "step")
        before = self.place(page, step)
        page.mouse.move(*before)
        _, _, scale = self.camera(page)
        page.mouse.wheel(0, -300)
        page.wait_for_function("scale => Number(/[#&]at=[^&]*,([^&,]*)/.exec(location.hash)[1]) > scale", arg=scale)
        after = self.place(page, step)
        self.assertLess(max(abs(a - b) for a, b in zip(before, after)), 3)  # it stays under the pointer
        page.mouse.move(300, 500)
        page.mouse.down()
        page.mouse.move(420, 440, steps=4)
        page.mouse.up()
        moved = self.place(page, step)
        self.assertLess(max(abs(moved[0] - after[0] - 120), abs(moved[1] - after[1] + 60)), 4)
        page.reload()
        page.wait_for_selector("html[data-ready]")
        self.wait_for_status(page, "13 items")
        self.assertLess(max(abs(a - b) for a, b in zip(moved, self.place(page, step))), 2)

    def test_colours_are_explained(self):
        page = self.show(self.scoped())
        page.get_by_role("combobox", name="Colour by").select_option("device")
        page.get_by_text("CPU:0", exact=True).wait_for()
        page.get_by_role("combobox", name="Colour by").select_option("time")
        most = max(item["self_ns"] for item in graph_of(self.serve(self.scoped()).url, graph=1)["nodes"]
                   if not item["is_open"])
        page.locator(".graph-heat").wait_for()
        shown = page.locator(".graph-legend").inner_text()
        number, unit = re.search(r"([\d.]+) (µs|ms|s)$", shown).groups()
        self.assertAlmostEqual(float(number) * {"µs": 1e3, "ms": 1e6, "s": 1e9}[unit] / most, 1, delta=0.01)

    def test_highlight(self):
        page = self.show(self.scoped())
        page.get_by_role("searchbox", name="Highlight operations").fill("loss")
        page.get_by_text("2 shown").wait_for()
        page.keyboard.press("Enter")
        self.wait_for_status(page, "model/loss/Sum")

    def test_highlight_finds_what_is_in_closed_scopes(self):
        trace = self.scoped()
        graph = graph_of(self.serve(trace).url, graph=1)
        model, relu = self.named(graph, "model"), self.named(graph, "model/dense/Relu")
        page = self.show(trace, f"#view=graph&graph=1&closed={model['scope']}")
        closed = graph_of(self.serve(trace).url, graph=1, close=model["scope"])
        self.wait_for_items(page, len(closed["nodes"]))
        finder = page.get_by_role("searchbox", name="Highlight operations")
        finder.fill("RELU")
        page.get_by_text("0 shown, 1 in closed boxes").wait_for()
        finder.press("Enter")
        page.wait_for_url(re.compile(rf"select=node:0:{relu['node']}(&|$)"))
        self.wait_for_status(page, "model/dense/Relu · Relu")
        page.get_by_text("1 shown", exact=True).wait_for()
        finder.fill("nothing like it")
        page.get_by_text("no match").wait_for()

    def test_pixels_are_where_the_answer_says(self):
        """The longest operation is red in the middle of its left border; beside it is the page."""
        page = self.show(self.scoped())
        graph = graph_of(self.serve(self.scoped()).url, graph=1)
        hot = max((item for item in graph["nodes"] if not item["is_open"]), key=lambda item: item["self_ns"])
        x, y = self.place(page, hot)
        box = page.locator("canvas.graph-canvas").bounding_box()
        _, _, scale = self.camera(page)
        left = x - box["x"] - hot["width"] / 2 * scale
        # One reading: of many, Chromium complains.
        row = page.evaluate("""([x, y, width]) => [...document.querySelector('canvas.graph-canvas').getContext('2d')
            .getImageData(x, y, width, 1).data]""", [round(left) - 6, round(y - box["y"]), 12])
        outside, inside = row[:3], row[-4:-1]
        self.assertGreater(inside[0], inside[1] + 60, (inside, outside))
        self.assertLess(abs(outside[0] - outside[1]), 30, (inside, outside))

    def test_thousands_at_once(self):
        page = self.show(self.scoped("2000"), "#view=graph&graph=2")
        self.wait_for_status(page, "2,000 items")
        page.mouse.move(600, 400)
        page.mouse.wheel(0, 200)
        page.get_by_role("button", name="Fit").click()
        page.wait_for_url(re.compile("[#&]at="))
        page.wait_for_url(lambda url: float(re.search(r"at=[^,]*,[^,]*,([\d.e-]+)", url)[1]) < 0.02)

    def test_no_graph(self):
        trace = self.folder / "none.mill"
        if not trace.exists():
            subprocess.run([browser.MILLRACE, "record", "-o", trace, "--levels", "dataflow", "--", "true"], check=True,
                           capture_output=True, timeout=120)
        page = self.open(trace, "#view=graph")
        page.get_by_text("The trace has no dataflow graph.").wait_for()


if __name__ == "__main__":
    harness.main()
