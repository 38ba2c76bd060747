#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adding something touches just the files that doc/design.md lists for its kind. Here a made-up one of each kind is added
to one copy of the sources, which is built once; then each is looked for in what millrace prints and answers.

    extension.py   the copy, and the lists
    extensions/    what is added, and the programs that are traced then"""

import gzip
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import urllib.request

import harness
from extension import MADE_UP, SOURCES, Tree, complaints, documented_kinds, why_impossible
from support import LiveTest, babeltrace, run, wait_until

# ---- what is added: functions of the copy, by the kind's title in doc/design.md ------------------------------------

EVENT = """
MR_EVENT(200, test_weather, core, "What the weather is like.",
	MR_FIELD(u16, wind, "kilometres per hour")
	MR_FIELD(i32, temperature, "degrees")
	MR_FIELD_ENUM(device_kind, seen_by, "who looked")
	MR_FIELD(str, sky, "in words"))
"""


def add_event(tree):
    tree.insert("src/schema/events.def", "\n/* ---- any level", EVENT)


RUNTIME = """
MR_HOOK(example,
	.title = "Example", .level = MR_LEVEL_runtime,
	.libraries = {"libexample-runtime."},
	.variables = {{"EXAMPLE_INJECTION_PATH", NULL, false}},
	.probe = {.library = "libexample-runtime", .remedy = "make up an example"})
"""


def add_runtime(tree):
    tree.add("src/hook/example/example.c", "runtime.c")
    tree.append("src/hook/hooks.def", RUNTIME)
    tree.insert("src/hook/meson.build", "    'exec.c',\n", "    'example/example.c',\n")


FRAMEWORK_EVENT = """
MR_EVENT(201, loom_shuttle, dataflow, "The loom has moved a shuttle.",
	MR_FIELD_ID(string, name, "string: the thread that it carries")
	MR_FIELD(u48, duration_ticks, "how long it took"))
"""


def add_framework(tree):
    tree.insert("src/schema/events.def", "\n/* ---- any level", FRAMEWORK_EVENT)
    tree.add("src/load/loom/loom.c", "framework.c")
    tree.append("src/load/frameworks.def", "MR_FRAMEWORK(loom)\n")
    tree.insert("src/load/meson.build", "    'memory.c',\n", "    'loom/loom.c',\n")


def add_format(tree):
    tree.add("src/import/example/example.c", "format.c")
    tree.append("src/import/formats.def", "MR_FORMAT(example)\n")
    tree.insert("src/import/meson.build", "    'faults.c',\n", "    'example/example.c',\n")


def add_analysis(tree):
    """The row stands second, and needs what stands further down."""
    tree.add("src/analysis/weather.c", "analysis.c")
    tree.insert("src/analysis/analyses.def", "\n/* Where the time went, in short",
                'MR_ANALYSIS(weather, "What the weather was like", "memory")\n')
    tree.insert("src/analysis/meson.build", "    'all.c',\n", "    'weather.c',\n")


PROBLEM_RULE = """
## `cloudy`: Cloudy

The sky is not blue.
"""


def add_problem(tree):
    tree.add("src/analysis/problem/cloudy.c", "problem.c")
    tree.insert("src/analysis/problem/problems.def", "\n/* Not what is wrong", 'MR_PROBLEM(cloudy, "Cloudy")\n')
    tree.insert("src/analysis/meson.build", "    'problem/case.c',\n", "    'problem/cloudy.c',\n")
    tree.append("doc/problems.md", PROBLEM_RULE)


# The model has this table, with durations; the timeline does not show it.
TIMELINE_TABLE = """
TABLE(collectives,
	.group = MR_GROUP_THREAD,
	.title = "gatherings",
	.noun = "gathering",
	.nouns = "gatherings of many",
	.label = "node",
	.lane_height = 13,
	.names = "gathering",
	.report = "gatherings.by_node",
	.same = "gathering=title run=run")
"""


def add_timeline_table(tree):
    tree.insert("src/timeline/tables.def", "\nTABLE(states,", TIMELINE_TABLE)


def add_column(tree):
    tree.insert("src/model/table.h", '\tCOLUMN(uint32_t, step, "step number given by the program")',
                '\tCOLUMN(string, mood, "how the program felt") \\\n')


# kind: (name, function)
ADDITIONS = {
    "an event": ("test_weather", add_event),
    "a GPU runtime": ("example", add_runtime),
    "a framework": ("loom", add_framework),
    "a format of another tool": ("example", add_format),
    "an analysis": ("weather", add_analysis),
    "a problem": ("cloudy", add_problem),
    "a table of the timeline": ("collectives", add_timeline_table),
    "a column or a table of the model": ("mood", add_column),
}
TARGETS = ("millrace", "libmillrace.so", "src/record/libmr_record.a", "src/schema/libmr_schema.a", "doc/tables-doc",
           "tests/unit_test_gatherings")


class Lists(unittest.TestCase):
    """What compares the lists with what was touched can complain."""

    PLACES = ["src/hook/NAME/", "src/hook/hooks.def", "src/analysis/NAME.c"]
    TOUCHED = {"src/hook/sun/a.c": True, "src/hook/sun/b.c": True, "src/hook/hooks.def": False,
               "src/analysis/sun.c": True}

    def test_just_what_is_listed(self):
        self.assertEqual(complaints(self.PLACES, "sun", self.TOUCHED), [])

    def test_a_file_too_many(self):
        touched = {**self.TOUCHED, "src/hook/init.c": False}
        self.assertEqual(complaints(self.PLACES, "sun", touched), ["src/hook/init.c is not listed"])
        touched = {**self.TOUCHED, "src/hook/moon/a.c": True}
        self.assertEqual(complaints(self.PLACES, "sun", touched), ["src/hook/moon/a.c is not listed"])

    def test_a_file_too_few(self):
        for path in ("src/hook/hooks.def", "src/analysis/sun.c"):
            touched = {key: value for key, value in self.TOUCHED.items() if key != path}
            self.assertEqual(complaints(self.PLACES, "sun", touched), [f"{path} is listed, but not needed"])

    def test_a_folder_is_for_new_files(self):
        touched = {**self.TOUCHED, "src/hook/sun/a.c": False, "src/hook/sun/b.c": False}
        self.assertEqual(complaints(self.PLACES, "sun", touched),
                         ["src/hook/sun/a.c is not listed", "src/hook/sun/b.c is not listed",
                          "src/hook/sun/ is listed, but not needed"])

    def test_lists_are_found(self):
        text = "# A\n### … a sun\n\n- `x/NAME.c`: see `y.c`\n  and\n- `z/`\n\nOr `w`.\n\n### … a moon\n\n- `v`\n\n## B\n- `u`\n"
        self.assertEqual(documented_kinds(text), {"a sun": ["x/NAME.c", "z/"], "a moon": ["v"]})


def tables_of(report):
    """Rows by table."""
    return {table["id"]: table["rows"] for finding in report["findings"] for table in finding["tables"]}


class Extensions(LiveTest):
    @classmethod
    def setUpClass(cls):
        why = why_impossible()
        if why:
            raise unittest.SkipTest(why)
        folder = tempfile.mkdtemp(prefix="millrace-extensions-")
        cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
        cls.tree = Tree(f"{folder}/tree")
        cls.touched = {}
        for kind, (_, add) in ADDITIONS.items():
            with cls.tree.touched() as cls.touched[kind]:
                add(cls.tree)
        cls.tree.add("tests/unit/test_gatherings.c", "view_program.c")
        cls.tree.build(*TARGETS)

    def need(self, program):
        if not shutil.which(program):
            self.skipTest(f"not installed: {program}")

    def test_lists_are_complete(self):
        kinds = documented_kinds((SOURCES / "doc/design.md").read_text())
        self.assertEqual(sorted(kinds), sorted(ADDITIONS))
        for kind, (name, _) in ADDITIONS.items():
            with self.subTest(kind):
                self.assertEqual(complaints(kinds[kind], name, self.touched[kind]), [])

    # ---- an event

    def test_event(self):
        self.need("babeltrace2")
        self.tree.compile_recording("event_program.c", self.path("weather"))
        trace = self.path("run.mill")
        self.tree.millrace("record", "-o", trace, "--", self.path("weather"))
        lines = [line for line in babeltrace(trace) if "test_weather" in line]
        self.assertEqual(len(lines), 3)
        for number, line in enumerate(lines):
            self.assertRegex(line, r"\{ wind = %d, temperature = -5, seen_by = \( \"gpu\" : .*\), "
                                   r"sky = \"blue\" \}" % (10 + number))
        dumped = self.tree.millrace("dump", "--json", trace)
        self.assertEqual(dumped.count('"event": "test_weather"'), 3)
        self.assertEqual(dumped.count('"temperature": -5, "seen_by": "gpu", "sky": "blue"'), 3)

    # ---- a GPU runtime

    def record_example(self, name, *arguments, **variables):
        """What the program printed; which hooks and runtimes the trace names; what the made-up hook said."""
        trace = self.path(name)
        printed = self.tree.millrace("record", "-q", "-o", trace, "--levels=runtime,dataflow", "--",
                                     self.path("program"), *arguments, env={**os.environ, **variables})
        events = map(json.loads, self.tree.millrace("dump", "--json", trace).splitlines())
        named = [(event["event"], event["fields"]["name"]) for event in events
                 if event["event"] in ("runtime_seen", "hook_missing")]
        said = self.tree.query(trace, "select name from counters order by value")
        return printed.split(), named, [row["name"] for row in said]

    def test_runtime(self):
        self.need("ldd")
        doctor = json.loads(self.tree.millrace("doctor", "--json"))["capabilities"]
        (found,) = (each for each in doctor if each["name"] == "libexample-runtime")
        self.assertEqual(found, {"name": "libexample-runtime", "level": "runtime", "state": "missing",
                                 "reason": "not installed", "remedy": "make up an example"})
        self.assertEqual(self.tree.run("ldd", "build/libmillrace.so").count("=>"), 1, "libc alone")

        library = self.path("libexample-runtime.so.1")
        self.tree.compile("-shared", "-fPIC", "-Wl,-soname,libexample-runtime.so.1", MADE_UP / "runtime_library.c",
                          "-o", library)
        self.tree.compile(MADE_UP / "runtime_program.c", library, "-Wl,-rpath,$ORIGIN", "-o", self.path("program"))
        injected = str(self.tree.folder / "build/libmillrace.so")

        printed, named, said = self.record_example("exit.mill")
        self.assertEqual(printed, [injected])
        self.assertEqual(named, [("runtime_seen", "libexample-runtime.so.1"),
                                 ("hook_missing", "examples: none is given")])
        self.assertEqual(said, ["started", "ended"])
        self.assertIn("millrace could not hook examples: none is given.",
                      self.tree.millrace("info", self.path("exit.mill")))

        printed, named, said = self.record_example("exec.mill", "exec")
        self.assertEqual(printed, [injected] * 2)
        self.assertIn(("runtime_seen", "libexample-runtime.so.1"), named)
        self.assertCountEqual(said, ["started", "left to execute", "started", "left to end"])

        # Somebody else's path stays, and the trace says what that means.
        printed, named, _ = self.record_example("taken.mill", EXAMPLE_INJECTION_PATH="/another/tool.so")
        self.assertEqual(printed, ["/another/tool.so"])
        self.assertIn(("hook_missing", "EXAMPLE_INJECTION_PATH, which held another library: Example is not traced"),
                      named)

    # ---- a framework

    def test_framework(self):
        self.tree.compile_recording("framework_program.c", self.path("weave"))
        trace = self.path("run.mill")
        self.tree.millrace("record", "-o", trace, "--levels=runtime,dataflow", "--", self.path("weave"))
        self.assertEqual(self.tree.query(trace, "select node_name, n.type as type, count(*) as count, "
                                                "min(duration_ns) > 0 as has_time from node_executions e "
                                                "join nodes n on n.rowid = e.node group by 1, 2 order by 1"),
                         [{"node_name": "warp", "type": "Shuttle", "count": 1, "has_time": 1},
                          {"node_name": "weft", "type": "Shuttle", "count": 3, "has_time": 1}])
        self.assertEqual([(row["node_name"], row["run"]) for row in
                          self.tree.query(trace, "select node_name, run from node_executions order by start_ns")],
                         [("weft", 4), ("weft", 4), ("weft", 4), ("warp", 4)])
        tables = tables_of(self.tree.report(trace))
        self.assertCountEqual([(row["node"], row["count"]) for row in tables["by_node"]], [("weft", 3), ("warp", 1)])
        # What others say is theirs, wherever it stands.
        self.assertEqual(self.tree.query(trace, "select name from scopes order by start_ns"),
                         [{"name": "said before"}, {"name": "said after"}])
        self.assertEqual(self.tree.query(trace, "select name, value from counters where name = 'threads'"),
                         [{"name": "threads", "value": 12}])

    # ---- a format of another tool

    def test_format(self):
        content = (MADE_UP / "format.txt").read_bytes()
        plain, packed = (pathlib.Path(self.path(name)) for name in ("trace.json", "trace.gz"))
        plain.write_bytes(content)  # what it is called says nothing
        packed.write_bytes(gzip.compress(content))
        folder = pathlib.Path(self.path("folder"))
        folder.mkdir()
        (folder / "example.txt").write_bytes(content)
        for trace in plain, packed, folder:
            self.check_imported(trace, content.decode().index("this is not"))
        (folder / "manifest.json").write_text('{"format": "of the other tool"}')
        self.check_imported(folder, content.decode().index("this is not"))
        unknown = pathlib.Path(self.path("unknown"))
        unknown.write_text("example trace 2\n")
        self.assertEqual(run(self.tree.folder / "build/millrace", "report", unknown).stderr,
                         f"millrace: {unknown}: not a trace: it is neither a recording of millrace nor "
                         "Chrome trace JSON (Kineto, chrome://tracing), SQLite of Nsight Systems, Perfetto protobuf, "
                         "SQLite of rocprofv3 (rocpd), XPlane protobuf (TensorFlow, JAX) or Example trace\n")

    def check_imported(self, trace, bad_line):
        self.assertIn("Example NPU", self.tree.millrace("report", trace, statuses=(3,)))
        report = self.tree.report(trace)
        tables = tables_of(report)
        self.assertEqual([(row["node"], row["count"]) for row in tables["by_node"]], [("MatMul", 1)])
        self.assertEqual([(row["reason"], row["offset"]) for row in tables["damage"]],
                         [("a line that is none", bad_line)])
        (health,) = (finding for finding in report["findings"] if finding["id"] == "health")
        sentences = " ".join(each["text"] for each in health["sentences"])
        self.assertIn("Another tool wrote this trace.", sentences)
        self.assertNotIn("manifest", sentences)
        self.assertEqual(self.tree.query(trace, "select name, start_ns, duration_ns from device_operations"),
                         [{"name": "gemm", "start_ns": 1200000, "duration_ns": 500000}])
        self.assertEqual(self.tree.query(trace, "select name, kind from devices"),
                         [{"name": "Example NPU", "kind": "accelerator"}])
        self.assertEqual(self.tree.query(trace, "select state, start_ns, duration_ns, cpu from states "
                                                "where duration_ns > 0"),
                         [{"state": "RUN", "start_ns": 1000000, "duration_ns": 200000, "cpu": 2},
                          {"state": "BLOCKED", "start_ns": 1200000, "duration_ns": 600000, "cpu": 2},
                          {"state": "RUN", "start_ns": 1800000, "duration_ns": 200000, "cpu": 2}])

    # ---- a problem

    def test_problem(self):
        report = self.tree.report("tests/golden/small.mill")
        (cloudy,) = (problem for problem in report["problems"] if problem["key"] == "cloudy")
        self.assertEqual((cloudy["title"], cloudy["where"], cloudy["why"], cloudy["remedy"], cloudy["confidence"]),
                         ("Cloudy", "the sky", "The sky was grey.", "Wait.", "likely"))
        self.assertEqual(cloudy["time_ns"], cloudy["share"]["whole_ns"] // 2)
        (table,) = (table for finding in report["findings"] for table in finding["tables"] if table["id"] == "problems")
        self.assertEqual(sum(row["time_ns"] for row in table["rows"]), cloudy["share"]["whole_ns"])
        self.assertRegex(self.tree.millrace("report", "tests/golden/small.mill"),
                         r"\n1\. Cloudy: 1\.00 s, 50\.0% of the run\n   The sky was grey\.\n   > Wait\.\n")

    # ---- an analysis

    def ask(self, address, name):
        with urllib.request.urlopen(f"{address}traces/0/{name}", timeout=60) as answer:
            return json.load(answer)

    def ask_viewer(self):
        """What the viewer's server answers for the report."""
        view = subprocess.Popen(["build/millrace", "view", "--no-open", "tests/golden/small.mill"],
                                cwd=self.tree.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            address = view.stdout.readline().strip()
            self.assertRegex(address, r"^http://127\.0\.0\.1:\d+/[0-9a-f]+/$")
            self.assertTrue(wait_until(lambda: self.ask(address, "progress")["state"] != "loading"))
            return self.ask(address, "report")
        finally:
            view.terminate()
            view.wait()
            view.stdout.close()

    def test_analysis(self):
        self.assertRegex(self.tree.millrace("report", "tests/golden/small.mill"),
                         r"\n\nWhat the weather was like\n  - The sky was blue\.\n\nSky:\n"
                         r"  finding  sentences\n  Memory +7\n\nWhere the time went\n")
        for said in self.tree.report("tests/golden/small.mill"), self.ask_viewer():
            self.assertEqual([finding["id"] for finding in said["findings"][:3]], ["problems", "weather", "overview"])
            finding = said["findings"][1]
            self.assertEqual(finding["title"], "What the weather was like")
            self.assertEqual(finding["sentences"], [{"severity": "note", "text": "The sky was blue."}])
            (table,) = finding["tables"]
            self.assertEqual(table["rows"], [{"finding": "Memory", "sentences": 7}])

    # ---- a table of the timeline

    def test_timeline_table(self):
        bands, row, groups, find, trace = self.tree.run("build/tests/unit_test_gatherings").splitlines()
        self.assertEqual(["node_executions", "collectives"], bands.split())
        row = json.loads(row)
        self.assertEqual(("collectives", "all_reduce", 60, 90),
                         tuple(row[key] for key in ("table", "title", "from", "to")))
        self.assertIn("node", [field["name"] for field in row["fields"]])
        self.assertEqual([("all_reduce", 2, 60)], [(each["text"], each["count"], each["total_ns"])
                                                   for each in json.loads(groups)["rows"]])
        self.assertEqual({"operation", "gathering"}, {each["kind"] for each in json.loads(find)["results"]})
        described = json.loads(trace)["tables"]
        entry = next(each for each in described if each["table"] == "collectives")
        self.assertEqual("gatherings of many", entry["nouns"])
        self.need("node")
        self.check_page(described)

    def check_page(self, described):
        """The page gets the entry, and needs nothing else: its modules are those of the tree as it is."""
        folder = pathlib.Path(self.folder)
        (folder / "ui").symlink_to(self.tree.folder / "ui")
        (folder / "trace.json").write_text(json.dumps({"tables": described}))
        (folder / "package.json").write_text('{"type": "module"}')
        shutil.copy(MADE_UP / "page.js", folder)
        result = run("node", "--preserve-symlinks", "page.js", cwd=folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        page = json.loads(result.stdout)
        self.assertEqual(13, page["height"])
        self.assertRegex(page["colour"], r"^hsl\(")
        self.assertEqual("gatherings.by_node", page["report"])
        self.assertEqual(["collectives"], page["tables"])
        self.assertEqual([{"gathering": "all_reduce"}], page["about"])

    # ---- a column of the model

    def test_column(self):
        rows = self.tree.query("tests/golden/small.mill", "select mood, step from node_instants")
        self.assertGreater(len(rows), 0)
        self.assertEqual({row["mood"] for row in rows}, {None})
        self.assertIn("\n| mood | text | how the program felt |\n", self.tree.run("build/doc/tables-doc"))


if __name__ == "__main__":
    harness.main()
