/* SPDX-License-Identifier: Apache-2.0
 *
 * The functions of all hooks, by occasion.
 */
#include "hook/hook.h"
#include "record/recorder.h"

#define MR_KNOWN(name, ...)

#define MR_HOOK(name, ...) extern const struct mr_hook_functions mr_##name##_functions;
#include "hook/hooks.def"
#undef MR_HOOK

static const struct mr_hook_functions *const hooks[] = {
#define MR_HOOK(name, ...) &mr_##name##_functions,
#include "hook/hooks.def"
#undef MR_HOOK
};

#define call_all(occasion, ...)                        \
	for (size_t i = 0; i < mr_countof(hooks); i++) \
		if (hooks[i]->occasion)                \
	hooks[i]->occasion(__VA_ARGS__)

void mr_hooks_start(void)
{
	call_all(start);
}

void mr_hooks_leave(bool is_end)
{
	call_all(leave, is_end);
}

void mr_hooks_end(void)
{
	call_all(end);
}

void mr_hooks_note_missing(void)
{
	call_all(note_missing);
}
