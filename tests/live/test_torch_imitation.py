# SPDX-License-Identifier: Apache-2.0
"""The hook in front of libraries that look like PyTorch, and differ from it in one thing each: no harm, and health says what
is missing."""

import os
import platform

import harness
from support import LiveTest, dump, run

SOURCE = os.path.join(os.environ["SOURCE_DIR"], "tests", "live", "programs", "torch_imitation.c")
# Opens libraries as Python does, privately, and plays each; those after "-" are closed first.
MAIN = """
#include <dlfcn.h>
#include <string.h>
int main(int count, char **arguments)
{
	void *library = 0;
	for (int i = 1; i < count; i++) {
		if (strcmp(arguments[i], "-") == 0) {
			dlclose(library);
			continue;
		}
		library = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
		void (*play)(void) = library ? (void (*)(void))dlsym(library, "play") : 0;
		if (!play)
			return 9;
		play();
	}
	return 0;
}
"""
ALL = ["aten::addmm", "aten::linear", "aten::relu"]


class Imitation(LiveTest):
    def setUp(self):
        super().setUp()
        self.main = self.path("main")
        with open(self.path("main.c"), "w") as file:
            file.write(MAIN)
        run("cc", "-o", self.main, self.path("main.c"), "-ldl", check=True)

    def library(self, name, *options):
        path = self.path(name)
        run("cc", "-shared", "-fPIC", "-O1", *options, "-o", path, SOURCE, check=True)
        return path

    def play(self, *arguments):
        """What was recorded of a program that behaves as by itself: names of operators, and what is missing."""
        alone = run(self.main, *arguments)
        self.assertNotIn("another", alone.stdout)
        result = self.record(self.main, *arguments, options=("--levels", "dataflow"))
        self.assertEqual((result.returncode, result.stdout, alone.returncode), (0, alone.stdout, 0), result.stderr)
        events = dump(result.trace)
        return ([event["names"]["name"] for event in events if event["event"] == "torch_operation"],
                [event["fields"]["name"] for event in events if event["event"] == "hook_missing"])

    def test_as_expected(self):
        operators, missing = self.play(self.library("libtorch_cpu.so"))
        self.assertEqual(operators[:3], ALL)
        self.assertEqual(missing, [])

    def test_other_layout(self):
        """Where the observers are not found as expected, they are removed before anyone calls them."""
        operators, missing = self.play(self.library("libtorch_cpu.so", "-DSWAPPED"))
        self.assertEqual(operators, [])
        self.assertIn("not as expected", missing[0])

    def test_other_names(self):
        self.assertEqual(self.play(self.library("libtorch_cpu.so", "-DSHORT_NAMES"))[0], [])

    def test_disabled(self):
        """A thread that has observers disabled proves nothing: later it does."""
        operators, missing = self.play(self.library("libtorch_cpu.so", "-DDISABLED=2"))
        self.assertEqual((operators[:1], missing), (["aten::relu"], []))

    def test_twice(self):
        """Two in a process, of which the second differs: each asks its own, and the first is traced."""
        operators, missing = self.play(self.library("libtorch_cpu.so"), self.library("libother.so", "-DSWAPPED"))
        self.assertEqual(operators[:3], ALL)
        self.assertIn("a second PyTorch", missing[0])

    def test_closed(self):
        """The library is unloaded, and another comes instead."""
        self.play(self.library("libtorch_cpu.so"), "-", self.library("libother.so"))


if __name__ == "__main__":
    if platform.machine() != "x86_64":
        harness.skip("the imitation is made for x86-64")
    harness.main()
