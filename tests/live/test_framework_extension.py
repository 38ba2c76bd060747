#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adding a framework to the reader is a folder, its line in meson.build and a row in a table: here it is made in a copy
of the sources, which are built. What a program of the framework records becomes rows of the general tables."""

import harness
from extension import ExtensionTest, skip_unless_possible

# What its hook would write.
EVENT = """
MR_EVENT(200, loom_weave, dataflow, "The loom has woven something.",
	MR_FIELD(u64, duration_ticks, "how long it took")
	MR_FIELD(str, pattern, "what it wove"))
"""

FOLDER = r"""/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "load/loader.h"

struct loom {
	struct mr_loader *loader;
	uint32_t woven;
};

static int start(struct mr_loader *loader, void **ret_state)
{
	struct loom *loom = calloc(1, sizeof *loom);

	if (!loom)
		return -ENOMEM;
	loom->loader = loader;
	*ret_state = loom;
	return 0;
}

static int add(void *state, const struct mr_event *event)
{
	struct loom *loom = state;
	struct mr_model *model = loom->loader->model;
	const struct mr_event_loom_weave *weave = event->payload;
	struct mr_span span =
		mr_loader_span_before(loom->loader, event->ticks, weave->duration_ticks);
	uint32_t name;

	if (mr_strings_intern(&model->survey->definitions.strings, event->text,
			      strlen(event->text), &name) < 0)
		return -ENOMEM;
	loom->woven++;
	return mr_scopes_append(&model->scopes,
				(struct mr_scopes_row){.track = loom->loader->track,
						       .start_ns = span.start_ns,
						       .duration_ns = span.duration_ns,
						       .parent = MR_NO_ROW,
						       .name = name});
}

/* How much was woven in all: known when everything is read. */
static int join(void *state)
{
	struct loom *loom = state;
	struct mr_scopes *scopes = &loom->loader->model->scopes;

	for (uint32_t row = 0; row < scopes->table.count; row++)
		scopes->key[row] = loom->woven;
	return 0;
}

static const uint8_t events[] = {MR_EVENT_loom_weave};

const struct mr_framework mr_framework_loom = {
	.name = "loom",
	.events = events,
	.event_count = 1,
	.start = start,
	.add = add,
	.stages = {[MR_FRAMEWORK_JOIN] = join},
	.end = free,
};
"""

PROGRAM = """
#include <stdlib.h>
#include "record/recorder.h"

int main(void)
{
	static const char *const patterns[] = {"twill", "satin", "twill"};

	mr_process_attach(getenv("MILLRACE_ARENA"));
	for (int i = 0; i < 3; i++)
		mr_emit_text(loom_weave, patterns[i], .duration_ticks = 1);
	return 0;
}
"""


class FrameworkExtension(ExtensionTest):
    def test_folder_and_row(self):
        self.insert("src/schema/events.def", "\n/* ---- any level", EVENT)
        self.write("src/load/loom/loom.c", FOLDER)
        self.insert("src/load/meson.build", "    'load.c',\n", "    'loom/loom.c',\n")
        self.append("src/load/frameworks.def", "MR_FRAMEWORK(loom)\n")
        self.check_documented("loom", "src/load/frameworks.def", "src/load/loom/loom.c", "src/load/meson.build",
                              "src/schema/events.def")
        (self.tree / "weaver.c").write_text(PROGRAM)
        self.build("src/record/libmr_record.a", "src/schema/libmr_schema.a")
        self.compile("-Isrc", "weaver.c", "build/src/record/libmr_record.a", "build/src/schema/libmr_schema.a",
                     "-pthread", "-o", "weaver")
        self.millrace("record", "--levels", "dataflow", "-o", "run.mill", "--", "./weaver")
        rows = self.millrace("query", "run.mill", "select name, key from scopes order by start_ns").split()
        self.assertEqual(rows, ["name", "key", "twill", "3", "satin", "3", "twill", "3"])


if __name__ == "__main__":
    skip_unless_possible()
    harness.main()
