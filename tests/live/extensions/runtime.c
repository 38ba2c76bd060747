/* SPDX-License-Identifier: Apache-2.0
 *
 * The hook of a runtime that does not exist. Says in the trace which of its functions were called, each with a number
 * of the correlations that all runtimes share.
 */
#include "hook/hook.h"
#include "hook/shared/correlation.h"
#include "record/recorder.h"

static void say(const char *what)
{
	if (mr_arena)
		mr_emit(counter, .name = mr_define_string(what),
			.value = (int64_t)mr_correlation_new());
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
