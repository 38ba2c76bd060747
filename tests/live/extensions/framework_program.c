/* SPDX-License-Identifier: Apache-2.0
 *
 * Writes what the hook of a made-up framework would, and among it what others say: another framework, and a program.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "record/recorder.h"

static void weave(const char *name)
{
	mr_emit(loom_shuttle, .name = mr_define_string(name), .duration_ticks = mr_u48_from(5000));
}

static void say_traceme(const char *text)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	int64_t now_ns = now.tv_sec * 1000000000 + now.tv_nsec;
	mr_emit(traceme, .text = mr_define_string(text), .start = now_ns - 1000, .end = now_ns);
}

int main(void)
{
	snprintf(mr_arena_path, sizeof mr_arena_path, "%s", getenv("MILLRACE_ARENA"));
	mr_process_attach();
	say_traceme("said before");
	for (int i = 0; i < 3; i++)
		weave("weft");
	mr_emit(counter, .name = mr_define_string("threads"), .value = 12);
	say_traceme("said after");
	weave("warp");
	return 0;
}
