#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The frame of the viewer: tabs, search, keys, the state in the URL, light and dark."""

import re

import browser
import harness

VIEWS = ["Overview", "Timeline", "Graph", "Memory", "Tables", "Steps"]


class Shell(browser.ViewerTest):
    def shown(self, page):
        panels = page.get_by_role("tabpanel").all()
        return [panel.get_attribute("aria-label") for panel in panels if panel.is_visible()]

    def check_shown(self, page, name):
        """That view, and no other, as soon as the page has got to it."""
        page.get_by_role("tabpanel", name=name).wait_for()
        self.assertEqual([name], self.shown(page))

    def test_every_view_opens_by_its_tab_and_by_its_number(self):
        page = self.open(self.pipeline())
        self.check_shown(page, "Overview")
        for name in VIEWS:
            page.get_by_role("tab", name=name).click()
            self.check_shown(page, name)
            self.assertIn(f"view={name.lower()}", self.fragment(page))
        for number, name in enumerate(VIEWS, 1):
            page.get_by_role("tab", selected=True).blur()
            page.keyboard.press(str(number))
            self.check_shown(page, name)

    def test_the_way_back_leads_through_the_views(self):
        page = self.open(self.pipeline())
        page.get_by_role("tab", name="Tables").click()
        page.get_by_role("tab", name="Steps").click()
        page.go_back()
        self.check_shown(page, "Tables")
        page.reload()
        page.wait_for_selector("html[data-ready]")
        self.check_shown(page, "Tables")
        page.go_back()
        self.check_shown(page, "Overview")

    def test_tabs_by_arrow_keys(self):
        page = self.open(self.pipeline())
        page.get_by_role("tab", name="Overview").focus()
        page.keyboard.press("ArrowRight")
        self.check_shown(page, "Timeline")
        self.assertEqual("Timeline", page.evaluate("document.activeElement.textContent"))
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        self.check_shown(page, "Steps")

    def test_search_finds_and_selects_by_keyboard_alone(self):
        trace = self.pipeline()
        name = self.query(trace, "select node_name from node_executions group by 1 order by sum(duration_ns) desc "
                                 "limit 1")[0]["node_name"]
        page = self.open(trace)
        page.keyboard.press("/")
        self.assertEqual("Search", page.evaluate("document.activeElement.getAttribute('aria-label')"))
        page.keyboard.type(name)
        # An answer to the first letters may come before.
        page.get_by_role("option").first.filter(has_text=name).wait_for()
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"select=row:0:node_executions:\d+"))
        row = int(re.search(r"select=row:0:node_executions:(\d+)", page.url)[1])
        found = self.query(trace, f"select node_name from node_executions where rowid = {row}")
        self.assertEqual([{"node_name": name}], found)
        page.keyboard.press("Escape")
        page.wait_for_url(lambda url: "select=" not in url)

    def test_search_for_what_is_not_there(self):
        page = self.open(self.pipeline())
        page.get_by_role("combobox", name="Search").fill("no such thing anywhere")
        page.get_by_text("Nothing matches").wait_for()

    def test_help_lists_the_keys(self):
        page = self.open(self.pipeline())
        page.keyboard.press("?")
        dialog = page.get_by_role("dialog", name="Keys and gestures")
        dialog.wait_for()
        for about in ("search", "zoom in at the pointer", "go to an input", "go to the previous step"):
            self.assertIn(about, dialog.inner_text())
        memory = dialog.locator("section").filter(has=page.get_by_role("heading", name="Memory", exact=True))
        for about, keys in (("zoom in", ["w", "+", "="]), ("show the whole trace", ["f", "0", "Home"])):
            row = memory.get_by_role("row").filter(has_text=about)
            self.assertEqual(keys, [text.lower() if len(text) == 1 else text
                                    for text in row.locator("kbd").all_inner_texts()])
        page.keyboard.press("Escape")
        dialog.wait_for(state="detached")

    def test_light_and_dark(self):
        def background(page):
            return page.evaluate("getComputedStyle(document.body).backgroundColor")

        light = self.open(self.pipeline(), color_scheme="light")
        dark = self.open(self.pipeline(), color_scheme="dark")
        self.assertNotEqual(background(light), background(dark))
        wanted = background(dark)
        light.get_by_role("button", name="Light or dark").click()
        self.assertEqual(wanted, background(light))
        light.reload()
        light.wait_for_selector("html[data-ready]")
        self.assertEqual(wanted, background(light))

    def test_a_fragment_that_makes_no_sense_shows_the_overview(self):
        page = self.open(self.pipeline(), "#view=nonsense&from=9&to=1&select=row:x")
        self.check_shown(page, "Overview")

    def test_a_selection_that_is_not_there_is_told(self):
        page = self.open(self.pipeline(), "#select=row:0:node_executions:99999999")
        details = page.get_by_role("complementary", name="Details")
        details.get_by_role("alert").filter(has_text="99999999").wait_for()
        self.wait_for_problems(page, 1)
        self.assertEqual(1, len(self.problems))
        self.assertIn("404", self.problems.pop())

    def test_a_selection_of_another_trace_is_not_taken_for_one_of_this(self):
        page = self.open(self.pipeline(), "#select=row:1:node_executions:0")
        details = page.get_by_role("complementary", name="Details")
        details.get_by_role("alert").filter(has_text="trace 1 is not open here").wait_for()

    def test_a_trace_that_is_not_open(self):
        page = self.open(self.pipeline())
        page.goto(page.url.partition("#")[0] + "#trace=7")
        page.get_by_role("alert").filter(has_text="Trace 7 is not open here.").wait_for()
        self.wait_for_problems(page, 1)
        self.assertEqual(1, len(self.problems))
        self.assertIn("404", self.problems.pop())

    def test_enter_chooses_what_was_typed_last(self):
        trace = self.pipeline()
        page = self.open(trace)
        page.keyboard.press("/")
        page.keyboard.type("s")
        page.get_by_role("option").first.wait_for()
        name = self.query(trace, "select max(node_name) as name from node_executions where node_name not like 's%'")
        page.get_by_role("combobox", name="Search").fill(name[0]["name"])
        page.keyboard.press("Enter")
        page.locator(".details-title").filter(has_text=name[0]["name"]).wait_for()

    def test_all_controls_have_names(self):
        page = self.open(self.pipeline())
        for view in VIEWS:
            page.get_by_role("tab", name=view).click()
            page.wait_for_timeout(300)
            nameless = page.evaluate("""[...document.querySelectorAll(
                'button, input, select, [role=button], [role=tab], [role=treeitem], [tabindex="0"]')]
                .filter((each) => each.checkVisibility())
                .filter((each) => !(each.getAttribute('aria-label') || each.getAttribute('aria-labelledby') ||
                        each.textContent.trim() || each.title || each.labels?.length))
                .map((each) => each.outerHTML.slice(0, 120))""")
            self.assertEqual([], nameless, view)


if __name__ == "__main__":
    harness.main()
