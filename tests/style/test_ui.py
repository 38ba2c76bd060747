#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page of the viewer: its types hold, and it needs nothing from elsewhere."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness

UI = pathlib.Path(os.environ["SOURCE_DIR"]) / "ui"
ASSETS = [path for path in sorted(UI.rglob("*")) if path.suffix in (".html", ".css", ".js", ".svg")]
MODULES = [path for path in ASSETS if path.suffix == ".js"]
MAX_LINE = 120


class Page(unittest.TestCase):
    def test_all_kinds_of_files_are_seen(self):
        self.assertEqual({path.suffix for path in ASSETS}, {".html", ".css", ".js", ".svg"})
        self.assertGreater(len(MODULES), 10)

    @unittest.skipUnless(shutil.which("tsc"), "there is no tsc: run tools/setup browser")
    def test_types(self):
        done = subprocess.run(["tsc", "-p", UI / "jsconfig.json"], capture_output=True, text=True, check=False)
        self.assertEqual("", done.stdout)
        self.assertEqual(0, done.returncode)

    def test_nothing_from_elsewhere(self):
        for path in ASSETS:
            addresses = re.findall(r"https?://[^\s\"'`)]+", path.read_text())
            self.assertEqual([], [address for address in addresses if address != "http://www.w3.org/2000/svg"], path)

    def test_imports_are_relative_and_exist(self):
        imports = [(path, name) for path in MODULES for name in
                   re.findall(r"^(?:import|export) [^;]*?from (\S+);$", path.read_text(), re.M | re.S)]
        self.assertGreater(len(imports), 20)
        for path, name in imports:
            self.assertRegex(name, r'^"\.\.?/[\w/.]+\.js"$', path)
            self.assertTrue((path.parent / name.strip('"')).exists(), f"{path}: {name}")

    def test_texts_never_become_markup(self):
        for path in MODULES:
            self.assertNotRegex(path.read_text(), r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(",
                                path)

    def test_lines(self):
        for path in ASSETS:
            text = path.read_text()
            self.assertIn("SPDX-License-Identifier: Apache-2.0", text[:200] if path.suffix != ".svg" else text[:400],
                          path)
            for number, line in enumerate(text.splitlines(), 1):
                self.assertLessEqual(len(line.expandtabs(4)), MAX_LINE, f"{path}:{number}")
                self.assertEqual(line.rstrip(), line, f"{path}:{number}")


class Bundle(unittest.TestCase):
    """Of what it does not understand, or would get wrong, it makes nothing."""

    def bundle(self, changed=None):
        """Runs it on ui/ with some files of ui/shared changed; its error."""
        with tempfile.TemporaryDirectory() as folder:
            copy = pathlib.Path(folder, "ui")
            shutil.copytree(UI, copy)
            for name, text in (changed or {}).items():
                (copy / "shared" / name).write_text(text)
            done = subprocess.run([sys.executable, "-B", UI.parent / "src/report/bundle.py", copy, pathlib.Path(folder, "d"),
                                   pathlib.Path(folder, "out.c")], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode == 0, pathlib.Path(folder, "out.c").exists())
            return done.stderr

    def test_what_is_there_is_understood(self):
        self.assertEqual("", self.bundle())

    def test_what_is_not_exported(self):
        self.assertIn("dom.js does not export nothing", self.bundle({"keys.js": 'import {nothing} from "./dom.js";\n'}))

    def test_modules_that_need_each_other(self):
        self.assertIn("needs itself", self.bundle({"dom.js": 'import {a} from "./format.js";\n',
                                                   "format.js": 'import {b} from "./dom.js";\n'}))

    def test_other_kinds_of_imports_and_exports(self):
        for line in ('import "./dom.js";', 'import all from "./dom.js";', "export default 1;", "export {x};",
                     "export let x = 1;", 'export * from "./dom.js";'):
            self.assertIn(f"not understood: {line}", self.bundle({"dom.js": line + "\n"}), line)

    def test_what_would_end_the_script(self):
        for text in ("</script", "</SCRIPT>", "<!--"):
            self.assertIn("not understood", self.bundle({"dom.js": f'const text = "{text}";\n'}), text)

    def test_a_text_of_several_lines(self):
        self.assertIn("not understood: const text = `one", self.bundle({"dom.js": "const text = `one\n\ttwo`;\n"}))

    def test_a_file_that_nothing_needs(self):
        self.assertIn("is part of no file", self.bundle({"forgotten.js": "const x = 1;\n"}))


if __name__ == "__main__":
    harness.main()
