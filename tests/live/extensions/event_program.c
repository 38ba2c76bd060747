/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes a made-up event, with what the schema makes of its entry: the struct, its number and the writer.
 */
#include "record/recorder.h"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	snprintf(mr_arena_path, sizeof mr_arena_path, "%s", getenv("MILLRACE_ARENA"));
	mr_process_attach();
	for (int i = 0; i < 3; i++)
		mr_emit_text(test_weather, "blue", .wind = (uint16_t)(10 + i), .temperature = -5,
			     .seen_by = MR_device_kind_gpu);
	return 0;
}
