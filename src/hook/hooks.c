/* SPDX-License-Identifier: Apache-2.0 */
#include "hook/hooks.h"

const struct mr_hook mr_hooks[MR_HOOKS] = {
#define MR_HOOK(identifier, ...)  {.name = #identifier, .is_traced = true, __VA_ARGS__},
#define MR_KNOWN(identifier, ...) {.name = #identifier, __VA_ARGS__},
#include "hook/hooks.def"
#undef MR_KNOWN
#undef MR_HOOK
};
