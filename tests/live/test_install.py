#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`make install` puts everything where Debian looks for it, and what it installs works."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import harness

BUILD = pathlib.Path(os.environ["BUILD_DIR"])
ROOT = pathlib.Path(os.environ["SOURCE_DIR"])


def output(*command, **environment):
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=120,
                          env={**os.environ, **environment}).stdout


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="millrace-install-")
        cls.addClassCleanup(cls.folder.cleanup)
        output("meson", "install", "-C", BUILD, "--no-rebuild", "--destdir", cls.folder.name)
        root = pathlib.Path(cls.folder.name)
        cls.files = {path.name: path for path in root.rglob("*") if path.is_file()}
        cls.prefix = cls.files["millrace.pc"].parents[3]

    def test_program_runs(self):
        program = self.prefix / "bin/millrace"
        self.assertEqual(output(program, "version"), output(BUILD / "millrace", "version"))

    def test_library(self):
        self.assertEqual(self.files["libmillrace.so"].parent.name, "millrace")

    def test_every_manual_page(self):
        pages = [path.stem for path in ROOT.glob("doc/man/*.scd")]
        self.assertGreaterEqual(len(pages), 8)
        for page in pages:
            self.assertEqual(self.files[page].parent, self.prefix / f"share/man/man{page[-1]}")

    def test_completions_and_licence(self):
        share = self.prefix / "share"
        self.assertTrue((share / "bash-completion/completions/millrace").exists())
        self.assertTrue((share / "zsh/site-functions/_millrace").exists())
        self.assertIn("Apache License", (share / "doc/millrace/LICENSE").read_text())

    def test_header_compiles_as_pkg_config_says(self):
        flags = output("pkg-config", "--cflags", "--keep-system-cflags", "millrace",
                       PKG_CONFIG_PATH=str(self.files["millrace.pc"].parent),
                       PKG_CONFIG_SYSROOT_DIR=self.folder.name).split()
        for compiler, standard, language in (("cc", "c99", "c"), ("c++", "c++11", "c++")):
            subprocess.run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror",
                            *flags, "-x", language, "-fsyntax-only", "-"],
                           input="#include <millrace.h>\nint main(void) { return 0; }\n", text=True,
                           check=True)


if __name__ == "__main__":
    harness.main()
