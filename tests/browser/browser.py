# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the viewer: a server, a real Chromium, and checks for everything that must not
happen: errors on the console, rejected promises, requests to anywhere but the server.

    class Tabs(browser.ViewerTest):
        def test_opens(self):
            page = self.open(self.pipeline())
            page.get_by_role("tab", name="Timeline").click()

Playwright is in a separate environment (tools/browser): importing this module restarts the test there.
"""

import contextlib
import decimal
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import harness

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"])
BUILD = pathlib.Path(os.environ["BUILD_DIR"])
MILLRACE = os.environ["MILLRACE"]
PATIENCE_MS = 60_000  # with a busy machine


def enter_environment():
    """Goes on with the Python that has playwright."""
    found = subprocess.run([SOURCE / "tools/browser"], capture_output=True, text=True, check=False)
    if found.returncode != 0:
        harness.skip(found.stderr.strip())
    if not shutil.which("chromium"):
        harness.skip("there is no chromium: run tools/setup browser")
    folder = found.stdout.strip()
    if not sys.prefix.startswith(folder):
        python = os.path.join(folder, "bin/python")
        os.execv(python, [python, *sys.argv])


enter_environment()

from playwright.sync_api import sync_playwright  # noqa: E402  (only there in the environment)


def rounded(value, digits):
    """As the pages round: what is in the middle goes up."""
    return str(decimal.Decimal(value).quantize(decimal.Decimal(1).scaleb(-digits), decimal.ROUND_HALF_UP))


def duration(ns):
    """As the pages write it: three digits."""
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if ns >= 0.9995 * size:
            value = ns / size
            return f"{rounded(value, 0 if value >= 99.95 else 1 if value >= 9.995 else 2)} {unit}"
    return f"{ns} ns"


class Server:
    """`millrace view` of a trace, which is loaded."""

    def __init__(self, trace, *options):
        self.process = subprocess.Popen([MILLRACE, "view", "--no-open", *options, str(trace)],
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(f"millrace view says: {self.process.communicate(timeout=60)[1]}")
        while self.is_loading():
            time.sleep(0.02)

    def is_loading(self):
        with urllib.request.urlopen(self.url + "traces/0/progress", timeout=PATIENCE_MS / 1000) as answer:
            return json.load(answer)["state"] == "loading"

    def stop(self):
        """Ends it as Ctrl-C does; returns its status and what it said."""
        self.process.send_signal(2)
        _, said = self.process.communicate(timeout=60)
        return self.process.returncode, said


class ViewerTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.resources = contextlib.ExitStack()
        cls.folder = pathlib.Path(cls.resources.enter_context(tempfile.TemporaryDirectory()))
        cls.servers = {}
        playwright = cls.resources.enter_context(sync_playwright())
        # As root Chromium runs only without its sandbox.
        cls.chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        cls.resources.callback(cls.chromium.close)

    @classmethod
    def tearDownClass(cls):
        ends = [server.stop() for server in cls.servers.values()]
        cls.resources.close()
        for status, said in ends:
            assert status == 0 and not said, f"millrace view ended with {status}: {said}"

    def setUp(self):
        self.problems = []
        self.expected = None  # a text in problems that are none
        self.contexts = []

    def tearDown(self):
        for context in self.contexts:
            context.close()
        self.assertEqual([], [each for each in self.problems if not self.expected or self.expected not in each])

    # ---- traces ----

    @classmethod
    def pipeline(cls):
        """A real recording, with all levels that are permitted here."""
        trace = cls.folder / "pipeline.mill"
        if not trace.exists():
            subprocess.run([MILLRACE, "record", "-o", trace, "--", BUILD / "examples/pipeline"], check=True,
                           capture_output=True, timeout=120)
        return trace

    @classmethod
    def simulated(cls, seed, *options):
        """A trace of a simulated program, and the truth about it."""
        trace = cls.folder / f"simulated-{'-'.join([str(seed), *options])}.mill"
        truth = trace.with_suffix(".json")
        if not trace.exists():
            truth.write_bytes(subprocess.run([BUILD / "tests/simulate", str(seed), trace, *options], check=True,
                                             capture_output=True, timeout=120).stdout)
        return trace, json.loads(truth.read_text())

    @classmethod
    def scoped(cls, *arguments):
        """A trace of scoped.c."""
        trace = cls.folder / f"scoped{'-'.join(arguments)}.mill"
        if not trace.exists():
            program = cls.folder / "scoped"
            subprocess.run(["cc", f"-I{SOURCE}/include", "-o", program,
                            pathlib.Path(__file__).with_name("scoped.c")], check=True, timeout=120)
            subprocess.run([MILLRACE, "record", "-o", trace, "--levels", "dataflow", "--", program, *arguments],
                           check=True, capture_output=True, timeout=120)
        return trace

    def query(self, trace, sql):
        """Rows of `millrace query`, as dictionaries."""
        done = subprocess.run([MILLRACE, "query", "--format", "json", trace, sql], check=True, capture_output=True,
                              text=True, timeout=120)
        return [json.loads(line) for line in done.stdout.splitlines()]

    # ---- pages ----

    def serve(self, trace):
        if trace not in self.servers:
            self.servers[trace] = Server(trace)
        return self.servers[trace]

    def open(self, trace, fragment="", width=1400, height=900, scope="whole", **options):
        """A page on the trace, loaded, in a context of its own. The truth is mostly known of the whole run: that is what
        the page shows, unless scope is None."""
        url = self.serve(trace).url
        context = self.chromium.new_context(viewport={"width": width, "height": height}, **options)
        self.contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        self.watch(page, url)
        if scope:
            fragment = f"{fragment or '#'}&scope={scope}"
        page.goto(url + fragment)
        page.wait_for_selector("html[data-ready]")
        return page

    def fragment(self, page):
        """What stands in the URL behind the #, as the page itself sees it: Playwright is told a little later."""
        return page.evaluate("location.hash")

    def wait_until(self, page, condition):
        """Waits until something has happened that the page reports."""
        for _ in range(PATIENCE_MS // 50):
            if condition():
                break
            page.wait_for_timeout(50)
        self.assertTrue(condition())

    def wait_for_problems(self, page, count):
        """Chromium reports failed requests on its console a little later."""
        self.wait_until(page, lambda: len(self.problems) >= count)

    def watch(self, page, url):
        origin = "/".join(url.split("/")[:3]) + "/"
        page.on("pageerror", lambda error: self.problems.append(f"uncaught: {error}"))
        page.on("console", lambda message: message.type in ("error", "warning") and
                self.problems.append(f"console: {message.text}"))
        page.on("request", lambda request: request.url.startswith((origin, "data:", "blob:")) or
                self.problems.append(f"request to {request.url}"))
