#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`millrace report --html`: the page as a file. What it looks like in a browser is tested in tests/browser."""

import html.parser
import json
import os
import pathlib
import stat
import tempfile
import unittest

import harness
from support import BUILD, MILLRACE, run

ROWS = 500  # of a table in a page
HOSTILE = ["</script><script>window.broken=1</script>", '<img src=x onerror="window.broken=1">', "<!--", "]]>",
           'quoted "text", \\ and commas', "tab\tand\nline\x01", "%3Cscript%3E &lt;b&gt;", "\u2028line", "bad bytes"]


class Page(html.parser.HTMLParser):
    """The scripts and style sheets of a page, and every attribute that a browser would fetch."""

    def __init__(self, text):
        super().__init__()
        self.scripts, self.fetched, self.inside = {}, [], None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        self.fetched += [value for name, value in attributes.items() if name in ("src", "href", "action", "data")]
        if tag == "script":
            self.inside = attributes.get("type")
            self.scripts[self.inside] = ""

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.scripts[self.inside] += data

    @property
    def findings(self):
        return json.loads(self.scripts["application/json"])


def hostile_trace(folder):
    """A trace of PyTorch's profiler in which everything has a name that means harm."""
    events = []
    for i, name in enumerate(HOSTILE):
        begin = 1000 + 100 * i
        events += [
            {"ph": "X", "cat": "cpu_op", "name": name, "ts": begin, "dur": 90, "pid": 1, "tid": 1},
            {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": begin + 2, "dur": 5, "pid": 1,
             "tid": 1, "args": {"correlation": i + 1}},
            {"ph": "X", "cat": "kernel", "name": name, "ts": begin + 10, "dur": 50, "pid": 1, "tid": 7,
             "args": {"device": 0, "stream": 7, "correlation": i + 1}},
        ]
    trace = folder / "hostile.json"
    text = json.dumps({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "</b>GPU"}], "traceEvents": events})
    trace.write_bytes(text.encode().replace(b"bad bytes", b"bad \xff\xfe bytes"))
    return trace


class HtmlReport(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.temporary.cleanup)
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.trace = cls.folder / "simulated.mill"
        done = run(os.path.join(BUILD, "tests/simulate"), "7", cls.trace, "size=3000")
        assert done.returncode == 0, done.stderr

    def report(self, *options, status=0):
        done = run(MILLRACE, "report", "--whole", *options)
        self.assertEqual(status, done.returncode, done.stderr)
        return done.stdout if status == 0 else done.stderr

    def page(self, trace, *options):
        return self.report("--html", "-", *options, trace)

    def test_holds_the_findings_of_the_json(self):
        wanted = json.loads(self.report("--json", self.trace))
        found = Page(self.page(self.trace)).findings
        for key in ("trace", "command", "host", "wall_ns", "exit", "events", "first_ns", "window", "health"):
            self.assertEqual(wanted[key], found[key], key)
        for want, have in zip(wanted["devices"], found["devices"], strict=True):
            self.assertEqual(self.sums(want.pop("idle_causes")), have.pop("idle_causes"))
            self.assertEqual(want, have)
        path = wanted["critical_path"]
        self.assertEqual({**path, "shares": self.sums(path["shares"])}, found["critical_path"])
        self.assertEqual(len(wanted["findings"]), len(found["findings"]))
        cut = 0
        for want, have in zip(wanted["findings"], found["findings"]):
            for key in ("id", "title", "severity", "sentences", "evidence"):
                self.assertEqual(want[key], have[key])
            for full, short in zip(want["tables"], have["tables"], strict=True):
                self.assertEqual(full["columns"], short["columns"])
                self.assertEqual(full["rows"][:ROWS], short["rows"])
                self.assertEqual(max(len(full["rows"]) - ROWS, 0), short.get("left_out", 0))
                cut += "left_out" in short
        self.assertGreater(cut, 0, "the trace has no table that is long enough for this test")

    @staticmethod
    def sums(causes):
        """By kind, each with the culprit that comes first."""
        sums = {}
        for each in causes:
            of_kind = sums.setdefault(each["cause"], {"cause": each["cause"], "culprit": each["culprit"], "ns": 0})
            of_kind["culprit"] = of_kind["culprit"] or each["culprit"]
            of_kind["ns"] += each["ns"]
        return list(sums.values())

    def test_of_a_part(self):
        found = Page(self.page(self.trace, "--from", "100us", "--to", "300us")).findings
        self.assertEqual(200_000, found["window"]["last_ns"] - found["window"]["first_ns"])

    def test_needs_nothing_else(self):
        text = self.page(self.trace)
        page = Page(text)
        self.assertEqual([], page.fetched)
        self.assertNotRegex(text, r"@import|url\(")
        self.assertIn("default-src 'none'", text)
        code = len(text) - len(page.scripts["application/json"])
        self.assertLess(code, 400_000)

    def test_has_the_code_of_the_report_alone(self):
        code = Page(self.page(self.trace)).scripts["module"]
        self.assertIn("function renderOverview(", code)
        self.assertNotIn("function waitForTrace(", code)
        self.assertNotRegex(code, r"(?m)^(import|export)\b")

    def test_hostile_names_stay_inside_the_data(self):
        text = self.page(hostile_trace(self.folder))
        page = Page(text)
        self.assertNotIn("<", page.scripts["application/json"])
        self.assertEqual(2, text.count("<script"))
        self.assertEqual(2, text.count("</script>"))
        kernels = next(finding for finding in page.findings["findings"] if finding["id"] == "device_operations")
        names = {row["name"] for row in kernels["tables"][0]["rows"]}
        self.assertEqual({name.replace("bad ", "bad \ufffd\ufffd ") for name in HOSTILE}, names)

    def test_is_complete_or_not_there(self):
        for folder in ("there", "full"):
            (self.folder / folder).mkdir()
        page = self.folder / "there/report.html"
        page.write_text("old")
        self.assertEqual("", self.report("--html", page, self.trace))
        self.assertEqual(self.page(self.trace), page.read_text())
        self.assertEqual([page], list(page.parent.iterdir()))
        self.assertEqual(0o666 & ~self.umask(), stat.S_IMODE(page.stat().st_mode))

        page = self.folder / "full/report.html"
        page.write_text("old")
        limited = run("sh", "-c", 'ulimit -f 8; trap "" XFSZ; exec "$@"', "sh", MILLRACE, "report", "--whole", "--html", page,
                      self.trace)
        self.assertEqual(1, limited.returncode)
        self.assertRegex(limited.stderr, r"^millrace: .*File too large\n$")
        self.assertEqual("old", page.read_text())
        self.assertEqual([page], list(page.parent.iterdir()))

    def umask(self):
        mask = os.umask(0)
        os.umask(mask)
        return mask

    def test_what_is_no_file_stays_what_it_is(self):
        self.report("--html", "/dev/null", self.trace)
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))

    def test_refusals(self):
        self.assertIn("cannot be combined", self.report("--html", "-", "--json", self.trace, status=2))
        self.assertIn("No such file or directory",
                      self.report("--html", self.folder / "no/report.html", self.trace, status=1))
        self.assertIn("cannot open", self.report("--html", "-", self.folder / "no.mill", status=1))


if __name__ == "__main__":
    harness.main()
