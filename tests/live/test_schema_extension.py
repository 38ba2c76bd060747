#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adding an event type is one edit in one file: here it is made in a copy of the sources, which are built;
the event is then written by a program, and read by babeltrace2 and by millrace."""

import harness
from extension import ExtensionTest, skip_unless_possible
from support import babeltrace

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


class SchemaExtension(ExtensionTest):
    def test_one_edit(self):
        self.insert("src/schema/events.def", "\n/* ---- any level", NEW_EVENT)
        self.check_documented("test_weather", "src/schema/events.def")
        (self.tree / "weather.c").write_text(PROGRAM)
        self.build("src/record/libmr_record.a", "src/schema/libmr_schema.a")
        self.compile("-Isrc", "weather.c", "build/src/record/libmr_record.a", "build/src/schema/libmr_schema.a",
                     "-pthread", "-o", "weather")
        self.millrace("record", "-o", "run.mill", "--", "./weather")

        lines = [line for line in babeltrace(str(self.tree / "run.mill")) if "test_weather" in line]
        self.assertEqual(len(lines), 3)
        for number, line in enumerate(lines):
            self.assertRegex(line, r"\{ wind = %d, temperature = -5, seen_by = \( \"gpu\" : .*\), "
                                   r"sky = \"blue\" \}" % (10 + number))
        dumped = self.millrace("dump", "--json", "run.mill")
        self.assertEqual(dumped.count('"event": "test_weather"'), 3)
        self.assertEqual(dumped.count('"temperature": -5, "seen_by": "gpu", "sky": "blue"'), 3)


if __name__ == "__main__":
    skip_unless_possible("babeltrace2")
    harness.main()
