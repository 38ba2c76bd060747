#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adding a runtime is a folder, its row in the table of hooks and its line for the build: here it is done for one that
does not exist. Doctor lists it, its library is seen, its variable is set, and its functions are called."""

import json
import os

import harness
from extension import ExtensionTest, skip_unless_possible
from support import run

ROW = """
MR_HOOK(example,
	.title = "Example", .level = MR_LEVEL_runtime,
	.libraries = {"libexample-runtime."},
	.variables = {{"EXAMPLE_INJECTION_PATH", NULL, false}},
	.probe = {.library = "libexample-runtime", .remedy = "make up an example"})
"""

# Says in the trace what was called, with a number of the correlations that all runtimes share.
HOOK = """/* SPDX-License-Identifier: Apache-2.0
 *
 * A runtime that does not exist.
 */
#include "hook/hook.h"
#include "hook/shared/correlation.h"
#include "record/recorder.h"

static void say(const char *what)
{
	if (mr_arena)
		mr_emit(counter, .name = mr_define_string(what), .value = (int64_t)mr_correlation_new());
}

static void start(void)
{
	say("started");
}

static void leave(bool is_end)
{
	say(is_end ? "left to end" : "left to execute");
}

static void end(void)
{
	say("ended");
}

static void note_missing(void)
{
	mr_define_event(MR_EVENT_hook_missing, NULL, 0, "examples: none is given");
}

const struct mr_hook_functions mr_example_functions = {
	.start = start, .leave = leave, .end = end, .note_missing = note_missing};
"""

PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void example(void);

int main(int count, char **arguments)
{
	const char *variable = getenv("EXAMPLE_INJECTION_PATH");
	example();
	printf("%s\\n", variable ? variable : "not set");
	fflush(stdout);
	if (count > 1 && strcmp(arguments[1], "exec") == 0)
		execl(arguments[0], arguments[0], "_exit", NULL);
	if (count > 1)
		_exit(0);
	return 0;
}
"""


class RuntimeExtension(ExtensionTest):
    def add_runtime(self):
        self.append("src/hook/hooks.def", ROW)
        self.write("src/hook/example/example.c", HOOK)
        self.insert("src/hook/meson.build", "    'exec.c',\n", "    'example/example.c',\n")
        self.check_documented("example", "src/hook/example/example.c", "src/hook/hooks.def", "src/hook/meson.build")

    def make_program(self):
        """A program and the library of the runtime that it uses."""
        (self.tree / "example.c").write_text("void example(void);\nvoid example(void) {}\n")
        (self.tree / "program.c").write_text(PROGRAM)
        self.compile("-shared", "-fPIC", "-Wl,-soname,libexample-runtime.so.1", "example.c", "-o",
                     "libexample-runtime.so.1")
        self.compile("program.c", "libexample-runtime.so.1", "-Wl,-rpath,$ORIGIN", "-o", "program")

    def record(self, name, *arguments, **variables):
        """What the program printed, and the events of its trace: (event, text) in order."""
        printed = self.millrace("record", "-q", "-o", name, "--levels=runtime,dataflow", "--",
                                str(self.tree / "program"), *arguments, env={**os.environ, **variables})
        events = map(json.loads, self.millrace("dump", "--json", name).splitlines())
        told = [(event["event"], event["fields"]["name"]) for event in events
                if event["event"] in ("runtime_seen", "hook_missing")]
        said = self.millrace("query", "--format=json", name, "select name from counters order by value")
        return printed.split(), told, [json.loads(line)["name"] for line in said.splitlines()]

    def test_one_folder_and_one_row(self):
        self.add_runtime()
        self.build()
        self.make_program()
        library = str(self.tree / "build/libmillrace.so")

        doctor = json.loads(self.millrace("doctor", "--json"))["capabilities"]
        (found,) = (each for each in doctor if each["name"] == "libexample-runtime")
        self.assertEqual(found, {"name": "libexample-runtime", "level": "runtime", "state": "missing",
                                 "reason": "not installed", "remedy": "make up an example"})
        self.assertEqual(run("ldd", "build/libmillrace.so", cwd=self.tree).stdout.count("=>"), 1, "libc alone")

        printed, told, said = self.record("exit.mill")
        self.assertEqual(printed, [library])
        self.assertEqual(told, [("runtime_seen", "libexample-runtime.so.1"), ("hook_missing", "examples: none is given")])
        self.assertEqual(said, ["started", "ended"])
        self.assertIn("millrace could not hook examples: none is given.", self.millrace("info", "exit.mill"))

        printed, told, said = self.record("exec.mill", "exec")
        self.assertEqual(printed, [library] * 2)
        self.assertIn(("runtime_seen", "libexample-runtime.so.1"), told)
        self.assertCountEqual(said, ["started", "left to execute", "started", "left to end"])

        # Somebody else's path stays, and the trace says what that means.
        printed, told, _ = self.record("taken.mill", EXAMPLE_INJECTION_PATH="/another/tool.so")
        self.assertEqual(printed, ["/another/tool.so"])
        self.assertIn(("hook_missing", "EXAMPLE_INJECTION_PATH, which held another library: Example is not traced"),
                      told)


if __name__ == "__main__":
    skip_unless_possible("ldd")
    harness.main()
