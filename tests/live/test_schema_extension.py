#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adding an event type is one edit in one file: here it is made in a copy of the sources, which are built;
the event is then written by a program, and read by babeltrace2 and by millrace."""

import copied_tree
import harness
from support import LiveTest, babeltrace, run

NEW_EVENT = """
MR_EVENT(200, test_weather, core, "What the weather is like.",
	MR_FIELD(u16, wind, "kilometres per hour")
	MR_FIELD(i32, temperature, "degrees")
	MR_FIELD_ENUM(device_kind, seen_by, "who looked")
	MR_FIELD(str, sky, "in words"))
"""

# Uses what the schema made of the edit: the struct, its number and the writer.
PROGRAM = """
#include <stdlib.h>
#include "record/recorder.h"

int main(void)
{
	mr_process_attach(getenv("MILLRACE_ARENA"));
	for (int i = 0; i < 3; i++)
		mr_emit_text(test_weather, "blue", .wind = (uint16_t)(10 + i), .temperature = -5,
			     .seen_by = MR_device_kind_gpu);
	return 0;
}
"""


class SchemaExtension(LiveTest):
    def test_one_edit(self):
        tree = copied_tree.copy(self.folder)
        definitions = tree / "src/schema/events.def"
        text = definitions.read_text()
        place = text.index("\n/* ---- any level")
        definitions.write_text(text[:place] + NEW_EVENT + text[place:])
        (tree / "weather.c").write_text(PROGRAM)
        copied_tree.build(tree, "millrace", "libmillrace.so", "src/record/libmr_record.a", "src/schema/libmr_schema.a")
        archives = [str(path) for path in (tree / "build/src/record").glob("*.a")]
        archives += [str(path) for path in (tree / "build/src/schema").glob("*.a")]
        result = run("cc", "-std=gnu17", "-D_GNU_SOURCE", "-Isrc", "weather.c", *archives, "-pthread", "-o",
                     "weather", cwd=tree)
        self.assertEqual(result.returncode, 0, result.stderr)
        result = run("build/millrace", "record", "-o", "run.mill", "--", "./weather", cwd=tree)
        self.assertEqual(result.returncode, 0, result.stderr)

        lines = [line for line in babeltrace(str(tree / "run.mill")) if "test_weather" in line]
        self.assertEqual(len(lines), 3)
        for number, line in enumerate(lines):
            self.assertRegex(line, r"\{ wind = %d, temperature = -5, seen_by = \( \"gpu\" : .*\), "
                                   r"sky = \"blue\" \}" % (10 + number))
        result = run("build/millrace", "dump", "--json", "run.mill", cwd=tree)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count('"event": "test_weather"'), 3)
        self.assertEqual(result.stdout.count('"temperature": -5, "seen_by": "gpu", "sky": "blue"'), 3)


if __name__ == "__main__":
    copied_tree.skip_unless_possible("babeltrace2")
    harness.main()
