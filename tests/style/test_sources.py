#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules for every source file: licence line, length, no loose ends, listed for the build, format. Each rule is a
function of a file's path and text that gives a reason or None, and is shown a bad file, too."""

import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import harness

ROOT = pathlib.Path(os.environ["SOURCE_DIR"])
FOLDERS = ["include", "src", "soft", "ui", "tests", "tools", "examples", "bench"]
MAX_LINES = 500
# One file on purpose: what programs include, or copy.
MAY_BE_LONGER = {ROOT / "include/millrace.h"}
LOOSE_ENDS = re.compile(rf"\b({'|'.join(('TO' + 'DO', 'FIX' + 'ME', 'XX' + 'X', 'HA' + 'CK'))})\b")


def files(*patterns):
    return [path for folder in FOLDERS for pattern in patterns for path in sorted((ROOT / folder).rglob(pattern))]


def is_in_kernel(path):
    """What is loaded into the kernel has a second licence, and nothing else has."""
    return path.parent == ROOT / "src/kernel" and \
        (re.search(r"\.bpf\.[ch]$", path.name) or path.name in ("kernel_types.h", "records.h"))


def wrong_licence(path, text):
    wanted = "Apache-2.0 OR GPL-2.0-only" if is_in_kernel(path) else "Apache-2.0"
    found = re.findall(r"SPDX-License-Identifier: ([^*\n]*[^* \n])", "\n".join(text.splitlines()[:3]))
    return None if found == [wanted] else f"licence {found}, not {wanted}"


def too_long(path, text):
    lines = len(text.splitlines())
    return f"{lines} lines, more than {MAX_LINES}" if lines > MAX_LINES and path not in MAY_BE_LONGER else None


def loose_end(_, text):
    return "a loose end" if LOOSE_ENDS.search(text) else None


def not_built(path, _):
    """In the meson.build of its own folder, or in one above by its path from there."""
    for folder in path.parents:
        listing = folder / "meson.build"
        if listing.exists() and f"'{path.relative_to(folder)}'" in listing.read_text():
            return None
        if (folder / "meson_options.txt").exists():
            break
    return "in no meson.build"


class Sources(unittest.TestCase):
    def check(self, paths, complaint):
        wrong = []
        self.assertGreater(len(paths), 100)
        for path in paths:
            reason = complaint(path, path.read_text())
            if reason:
                wrong.append(f"{path.relative_to(ROOT)}: {reason}")
        self.assertEqual(wrong, [])

    def test_licence_line(self):
        paths = files("*.c", "*.h", "*.def", "*.py", "*.build")
        self.assertGreater(len([path for path in paths if is_in_kernel(path)]), 2)
        self.check(paths, wrong_licence)
        self.assertIn('SEC("license") = "GPL"', (ROOT / "src/kernel/millrace.bpf.c").read_text())

    def test_length(self):
        paths = files("*.c", "*.h", "*.py", "*.js")
        self.assertEqual({path.suffix for path in paths}, {".c", ".h", ".py", ".js"})
        self.assertEqual({path.relative_to(ROOT).parts[0] for path in paths}, set(FOLDERS))
        self.check(paths, too_long)

    def test_no_loose_ends(self):
        self.check(files("*.c", "*.h", "*.def", "*.py", "*.build"), loose_end)

    def test_every_source_is_built(self):
        paths = sorted((ROOT / "src").rglob("*.c"))
        self.assertTrue(any(len(path.relative_to(ROOT).parts) > 3 for path in paths), "no nested folder is seen")
        self.check(paths, not_built)

    def test_format(self):
        result = subprocess.run([ROOT / "tools/format", "--check"], capture_output=True, text=True)
        wrong = sorted(set(re.findall(r"^(\S+?):\d+:\d+: error", result.stderr, re.M)))
        self.assertEqual((wrong, result.returncode), ([], 0), result.stderr[-2000:])


class Rules(unittest.TestCase):
    """Each of them can complain."""

    def test_length(self):
        path = ROOT / "src/base/error.c"
        self.assertIsNone(too_long(path, "line\n" * MAX_LINES))
        self.assertIsNotNone(too_long(path, "line\n" * (MAX_LINES + 1)))
        self.assertIsNotNone(too_long(path, "line\n" * MAX_LINES + "and one without an end"))

    def test_licence(self):
        line = "/* SPDX-License-Identifier: {} */\n"
        plain, kernel = ROOT / "src/base/error.c", ROOT / "src/kernel/millrace.bpf.c"
        self.assertIsNone(wrong_licence(plain, line.format("Apache-2.0")))
        self.assertIsNone(wrong_licence(kernel, line.format("Apache-2.0 OR GPL-2.0-only")))
        self.assertIsNotNone(wrong_licence(plain, line.format("Apache-2.0 OR GPL-2.0-only")))
        self.assertIsNotNone(wrong_licence(kernel, line.format("Apache-2.0")))
        self.assertIsNotNone(wrong_licence(plain, "int x;\n" * 3 + line.format("Apache-2.0")))

    def test_loose_ends(self):
        self.assertIsNotNone(loose_end(None, "/* TO" "DO: finish */"))
        self.assertIsNone(loose_end(None, "/* finished */"))

    def test_built(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            nested = root / "src" / "hook" / "made_up"
            nested.mkdir(parents=True)
            (root / "meson_options.txt").touch()
            (nested / "x.c").touch()
            (nested.parent / "meson.build").write_text("'y.c', 'x.c', 'other/x.c'")
            self.assertIsNotNone(not_built(nested / "x.c", ""))
            (nested.parent / "meson.build").write_text("'made_up/x.c'")
            self.assertIsNone(not_built(nested / "x.c", ""))
            (nested.parent / "meson.build").unlink()
            (nested / "meson.build").write_text("'x.c'")
            self.assertIsNone(not_built(nested / "x.c", ""))

    def test_format(self):
        text = "int f(void)\n{\n        return 0;\n}\n"
        done = subprocess.run(["clang-format", "--dry-run", "--Werror", f"--assume-filename={ROOT}/src/base/x.c"],
                              input=text, capture_output=True, text=True, cwd=ROOT)
        self.assertNotEqual(done.returncode, 0, "spaces in place of a tab are no fault")


if __name__ == "__main__":
    harness.main()
